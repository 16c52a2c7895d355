"""The small worlds in which the tests of minagent run."""

from minagent import Agent, FakeModel, Ledger, Tool, asks, says, start, tool_use, toolbox

TASK = "Add 2 and 3, multiply the sum by 4, and tell me the result."


def sums_script():
    return [
        asks(tool_use("c1", "add", {"a": 2, "b": 3})),
        asks(tool_use("c2", "multiply", {"a": 5, "b": 4})),
        says("The result is 20."),
    ]


def sums_tools():
    return toolbox(Tool("add", lambda a, b: a + b), Tool("multiply", lambda a, b: a * b))


def sums_agent() -> Agent:
    return start(TASK, FakeModel(sums_script()), sums_tools())


class Died(BaseException):
    """The process is gone. Only the tests raise it, and nothing in minagent may catch it and go on."""


def mail_world(path, dies="never"):
    """A tool that sends a mail, recorded in a ledger; it can die before or after it takes effect, once."""
    ledger = Ledger(path)
    deaths = {"left": 0 if dies == "never" else 1}

    def send_mail(to, call_id):
        if dies == "before" and deaths["left"]:
            deaths["left"] = 0
            raise Died
        result = ledger.record(call_id, f"mail to {to}", "sent")
        if dies == "after" and deaths["left"]:
            deaths["left"] = 0
            raise Died
        return result

    return ledger, toolbox(Tool("send_mail", send_mail, writes=True, find=ledger.find))


def mail_script():
    return [asks(tool_use("m1", "send_mail", {"to": "Ann"})), says("Sent.")]
