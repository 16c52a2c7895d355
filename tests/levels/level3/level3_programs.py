# ruff: noqa: E501
"""Answers to Level 3's code as people write them, right and wrong, and the problem each wrong one must be told of.

They were written from the exercise's text. A wrong one is often a right one with one change, so that nothing else
can be what fails.
"""

from dataclasses import dataclass, field

PLAIN = """
def key_of(item, name, state):
    return f"{state['task_id']}/{item['id']}/{name}"


def handle(item, state, world, save):
    budget = state["budget"]
    if item["needs_approval"]:
        entries = [entry for entry in state["approvals"] if entry["item"] == item["id"]]
        if not entries:
            state["approvals"].append(
                {"item": item["id"], "action": "ticket", "requested_at": world.now(), "decision": None}
            )
            item["stage"] = "waiting_approval"
            save(state)
            return
        if entries[0]["decision"] != "approved":
            return
    ticket = item["steps"]["ticket"]
    if ticket["status"] == "todo":
        ticket["status"] = "intent"
        ticket["idempotency_key"] = key_of(item, "ticket", state)
        save(state)
    if ticket["status"] == "intent":
        if budget["spent"] >= budget["limit"]:
            return
        ticket["status"] = "started"
        budget["spent"] += 1
        save(state)
        try:
            receipt = world.create_ticket(item["id"], item["text"], ticket["idempotency_key"])
        except TimeoutError:
            return
        ticket["status"] = "done"
        ticket["external_id"] = receipt["id"]
        save(state)
    if ticket["status"] != "done":
        return
    notice = item["steps"]["notice"]
    if notice["status"] == "todo":
        notice["status"] = "intent"
        notice["idempotency_key"] = key_of(item, "notice", state)
        save(state)
    if notice["status"] == "intent":
        if budget["spent"] >= budget["limit"]:
            return
        notice["status"] = "started"
        budget["spent"] += 1
        save(state)
        try:
            receipt = world.send_notice(item["id"], ticket["external_id"], notice["idempotency_key"])
        except TimeoutError:
            return
        notice["status"] = "done"
        notice["external_id"] = receipt["id"]
        save(state)
    if notice["status"] == "done":
        item["stage"] = "done"
        save(state)


def recover(state, world, save):
    for item in state["items"]:
        ticket, notice = item["steps"]["ticket"], item["steps"]["notice"]
        if ticket["status"] == "started":
            receipt = world.find_ticket(ticket["idempotency_key"])
            if receipt:
                ticket["status"] = "done"
                ticket["external_id"] = receipt["id"]
            else:
                ticket["status"] = "intent"
            save(state)
        if notice["status"] == "started":
            receipt = world.find_notice(notice["idempotency_key"])
            if receipt:
                notice["status"] = "done"
                notice["external_id"] = receipt["id"]
            else:
                notice["status"] = "intent"
            save(state)
    for entry in state["approvals"]:
        if entry["decision"] is None:
            decision = world.decision(entry["item"])
            if decision:
                entry["decision"] = decision
                for item in state["items"]:
                    if item["id"] == entry["item"]:
                        item["stage"] = "pending" if decision == "approved" else "rejected"
                save(state)
"""

TABLE = '''
class Write:
    """One write of one item, wherever it stands."""

    def __init__(self, name, item, state, world, save):
        self.name, self.item, self.state, self.world = name, item, state, world
        self.step = item["steps"][name]
        self.save = lambda: save(state)

    def call(self):
        key = self.step["idempotency_key"]
        if self.name == "ticket":
            return self.world.create_ticket(item_id=self.item["id"], text=self.item["text"], key=key)
        about = self.item["steps"]["ticket"]["external_id"]
        return self.world.send_notice(item_id=self.item["id"], ticket_id=about, key=key)

    def ask(self):
        find = self.world.find_ticket if self.name == "ticket" else self.world.find_notice
        return find(self.step["idempotency_key"])

    def book(self, receipt):
        self.step |= {"status": "done", "external_id": receipt["id"], "at": self.world.now()}
        self.save()

    def advance(self):
        if self.step["status"] == "todo":
            self.step |= {"status": "intent", "idempotency_key": "|".join([self.item["id"], self.name])}
            self.save()
        if self.step["status"] == "started":
            receipt = self.ask()
            if receipt is not None:
                return self.book(receipt)
            self.step["status"] = "intent"
        if self.step["status"] == "intent":
            if self.state["budget"]["spent"] >= self.state["budget"]["limit"]:
                return None
            self.step["status"] = "started"
            self.state["budget"]["spent"] += 1
            self.save()
            try:
                receipt = self.call()
            except TimeoutError:
                receipt = self.ask()
            if receipt is not None:
                self.book(receipt)


def waits(item, state, world, save):
    if not item["needs_approval"]:
        return False
    for entry in state["approvals"]:
        if entry["item"] == item["id"]:
            if entry["decision"] is None and (decision := world.decision(item["id"])):
                entry["decision"] = decision
                item["stage"] = "pending" if decision == "approved" else "rejected"
                save(state)
            return entry["decision"] != "approved"
    item["stage"] = "waiting_approval"
    state["approvals"].append(dict(item=item["id"], action="ticket", requested_at=world.now(), decision=None))
    save(state)
    return True


def handle(item, state, world, save):
    if waits(item, state, world, save):
        return
    for name in ("ticket", "notice"):
        write = Write(name, item, state, world, save)
        write.advance()
        if write.step["status"] != "done":
            return
    item["stage"] = "done"
    save(state)


def recover(state, world, save):
    for item in state["items"]:
        for name in item["steps"]:
            write = Write(name, item, state, world, save)
            if write.step["status"] == "started":
                write.advance()
'''


def changed(program: str, *edits: tuple[str, str]) -> str:
    """Return a program with every place of an edit's old text replaced."""
    for old, new in edits:
        assert old in program, old
        program = program.replace(old, new)
    return program


SPEND = '        budget["spent"] += 1\n'
SETTLE_TICKET = """            else:
                ticket["status"] = "intent"
"""

RIGHT: dict[str, str] = {
    "plain": PLAIN,
    "table": TABLE,
    "a random key, saved with the intent": "import uuid\n"
    + changed(PLAIN, ("""return f"{state['task_id']}/{item['id']}/{name}\"""", "return str(uuid.uuid4())")),
    "a hash of the intent": "import hashlib, json\n"
    + changed(
        PLAIN,
        (
            """return f"{state['task_id']}/{item['id']}/{name}\"""",
            """return hashlib.sha256(json.dumps([state["task_id"], item["id"], name]).encode()).hexdigest()[:12]""",
        ),
    ),
    "a timeout ends the process": changed(
        PLAIN,
        (
            "        try:\n            receipt = world.create_ticket(",
            "        if True:\n            receipt = world.create_ticket(",
        ),
        (
            "        try:\n            receipt = world.send_notice(",
            "        if True:\n            receipt = world.send_notice(",
        ),
        ("        except TimeoutError:\n            return\n", ""),
    ),
    "a log and a count of lives in the state": changed(
        PLAIN,
        (
            "def recover(state, world, save):\n",
            'def recover(state, world, save):\n    state["lives"] = state.get("lives", 0) + 1\n    state["last_checkpoint"] = world.now()\n    save(state)\n',
        ),
        (
            '        item["stage"] = "done"\n',
            '        item["stage"] = "done"\n        state.setdefault("log", []).append(item["id"])\n',
        ),
    ),
    "progress kept up to date": changed(
        PLAIN,
        (
            "def handle(item",
            """def counted(state):
    stages = [item["stage"] for item in state["items"]]
    state["progress"] = {"total": len(stages), "done": stages.count("done"), "failed": 0,
                         "waiting_approval": stages.count("waiting_approval"),
                         "pending": stages.count("pending")}
    return state


def handle(item""",
        ),
        ("save(state)\n", "save(counted(state))\n"),
    ),
    "asks before every call": changed(
        PLAIN,
        (
            "            receipt = world.create_ticket(item",
            '            receipt = world.find_ticket(ticket["idempotency_key"]) or world.create_ticket(item',
        ),
    ),
    "recover calls again by itself": changed(
        PLAIN,
        (
            """            else:
                ticket["status"] = "intent"
            save(state)
""",
            """            else:
                state["budget"]["spent"] += 1
                save(state)
                try:
                    receipt = world.create_ticket(item["id"], item["text"], ticket["idempotency_key"])
                except TimeoutError:
                    continue
                ticket.update(status="done", external_id=receipt["id"])
            save(state)
""",
        ),
        (
            'if ticket["status"] == "started":\n',
            'if ticket["status"] == "started" and state["budget"]["spent"] < state["budget"]["limit"]:\n',
        ),
    ),
    "coroutines": changed(PLAIN, ("def handle", "async def handle"), ("def recover", "async def recover")),
    "the intent of the ticket saved with its approval": changed(
        PLAIN,
        (
            '            item["stage"] = "waiting_approval"\n',
            '            item["stage"] = "waiting_approval"\n'
            '            item["steps"]["ticket"].update(status="intent", idempotency_key=key_of(item, "ticket", state))\n',
        ),
    ),
    "one key for both writes of an item": changed(PLAIN, ("/{name}", "")),
    "a deep copy is saved": "from copy import deepcopy\n"
    + changed(PLAIN, ("save(state)\n", "save(deepcopy(state))\n")),
    "times and attempts in every step": changed(
        PLAIN,
        ('["status"] = "started"\n', '["status"] = "started"; item["attempts"] = item.get("attempts", 0) + 1\n'),
    ),
}


RIGHT["asks and tries again, three times, in one life"] = """
NAMES = ("ticket", "notice")


def ask(world, name, key):
    return {"ticket": world.find_ticket, "notice": world.find_notice}[name](key)


def call(world, item, name, key):
    if name == "ticket":
        return world.create_ticket(item["id"], item["text"], key)
    return world.send_notice(item["id"], item["steps"]["ticket"]["external_id"], key)


def sure(world, item, name, state, save):
    step = item["steps"][name]
    for _ in range(3):
        receipt = ask(world, name, step["idempotency_key"])
        if receipt is None:
            if state["budget"]["spent"] >= state["budget"]["limit"]:
                return False
            state["budget"]["spent"] += 1
            step["status"] = "started"
            save(state)
            try:
                receipt = call(world, item, name, step["idempotency_key"])
            except TimeoutError as error:
                print("again:", error)
                continue
        step["external_id"], step["status"], step["at"] = receipt["id"], "done", world.now()
        if all(item["steps"][n]["status"] == "done" for n in NAMES):
            item["stage"] = "done"
        save(state)
        return True
    return False


def handle(item, state, world, save):
    mine = next((a for a in state["approvals"] if a["item"] == item["id"]), None)
    if item["needs_approval"] and mine is None:
        mine = {"item": item["id"], "action": "ticket", "requested_at": world.now(), "decision": None}
        state["approvals"] = state["approvals"] + [mine]
        item["stage"] = "waiting_approval"
        save(state)
    if mine is not None and mine["decision"] is None:
        return
    if any(item["steps"][n]["status"] == "todo" for n in NAMES):
        for n in NAMES:
            if item["steps"][n]["status"] == "todo":
                item["steps"][n]["status"] = "intent"
                item["steps"][n]["idempotency_key"] = ":".join([state["task_id"], n, item["id"]])
        save(state)
    for n in NAMES:
        if item["steps"][n]["status"] != "done" and not sure(world, item, n, state, save):
            return


def recover(state, world, save):
    changed = False
    for a in state["approvals"]:
        answer = a["decision"] or world.decision(a["item"])
        if answer != a["decision"]:
            a["decision"], changed = answer, True
            item = [i for i in state["items"] if i["id"] == a["item"]][0]
            item["stage"] = {"approved": "pending", "rejected": "rejected"}[answer]
    if changed:
        save(state)
"""

RIGHT["objects, turned into plain data at each save"] = """
from dataclasses import asdict, dataclass
from functools import partial


@dataclass
class Step:
    status: str
    idempotency_key: str | None
    external_id: str | None
    at: str | None


def step_of(item, name):
    return Step(**item["steps"][name])


def put(state, save, item, name, step, **more):
    item["steps"][name] = asdict(step)
    item.update(more)
    save(state)


def move(item, name, state, world, save):
    step, store = step_of(item, name), partial(put, state, save, item, name)
    budget = state["budget"]
    while step.status != "done":
        match step.status:
            case "todo":
                step.status, step.idempotency_key = "intent", f"{name} of {item['id']} in {state['task_id']}"
                store(step)
            case "intent" if budget["limit"] - budget["spent"] < 1:
                return False
            case "intent":
                step.status, step.at = "started", world.now()
                budget["spent"] = budget["spent"] + 1
                store(step)
                about = item["text"] if name == "ticket" else step_of(item, "ticket").external_id
                tool = world.create_ticket if name == "ticket" else world.send_notice
                try:
                    step.external_id = tool(item["id"], about, step.idempotency_key)["id"]
                    step.status = "done"
                    store(step)
                except TimeoutError:
                    pass
            case "started":
                found = (world.find_ticket if name == "ticket" else world.find_notice)(step.idempotency_key)
                step.status, step.external_id = ("done", found["id"]) if found else ("intent", None)
                store(step)
    return True


def handle(item, state, world, save):
    if item["needs_approval"] and not any(a["item"] == item["id"] for a in state["approvals"]):
        state["approvals"].append({"item": item["id"], "action": "open a ticket", "requested_at": world.now(),
                                   "decision": None, "asked_of": "mei"})
        item["stage"] = "waiting_approval"
        return save(state)
    if item["stage"] == "waiting_approval":
        return None
    if move(item, "ticket", state, world, save) and move(item, "notice", state, world, save):
        item["stage"] = "done"
        save(state)


def recover(state, world, save):
    by_id = {item["id"]: item for item in state["items"]}
    for approval in [a for a in state["approvals"] if not a["decision"]]:
        match world.decision(approval["item"]):
            case None:
                continue
            case "approved" as decision:
                by_id[approval["item"]]["stage"] = "pending"
            case decision:
                by_id[approval["item"]]["stage"] = "rejected"
        approval["decision"] = decision
        save(state)
"""


@dataclass(frozen=True)
class Wrong:
    """A wrong program: the problem it must be told of, and a word of the advice."""

    source: str
    kinds: tuple[str, ...]
    says: str = ""
    also: tuple[str, ...] = field(default=())


AS_FOUND = """
import uuid


def handle(item, state, world, save):
    ticket, notice = item["steps"]["ticket"], item["steps"]["notice"]
    key = str(uuid.uuid4())
    receipt = world.create_ticket(item["id"], item["text"], key)
    ticket.update(status="done", external_id=receipt["id"], at=world.now())
    receipt = world.send_notice(item["id"], receipt["id"], key)
    notice.update(status="done", external_id=receipt["id"], at=world.now())
    state["budget"]["spent"] += 2
    item["stage"] = "done"
    save(state)


def recover(state, world, save):
    pass
"""

NO_RECOVERY = PLAIN[: PLAIN.index("def recover")] + "def recover(state, world, save):\n    pass\n"

WRONG: dict[str, Wrong] = {
    "as it was found": Wrong(AS_FOUND, ("unapproved",), "needs an approval"),
    "saves only what is done": Wrong(
        changed(
            PLAIN,
            ('= key_of(item, "ticket", state)\n        save(state)', '= key_of(item, "ticket", state)'),
            ('        budget["spent"] += 1\n        save(state)\n', '        budget["spent"] += 1\n'),
        ),
        ("twice", "budget-short"),
        "`started`",
    ),
    "no started for the ticket": Wrong(
        changed(PLAIN, ('        ticket["status"] = "started"\n', "")), ("twice",), "Save the step as `started`"
    ),
    "started set and not saved": Wrong(
        changed(
            PLAIN,
            (
                '        notice["status"] = "started"\n        budget["spent"] += 1\n        save(state)\n',
                '        notice["status"] = "started"\n        budget["spent"] += 1\n',
            ),
        ),
        ("twice", "budget-short"),
    ),
    "a new key at every try": Wrong(
        "import uuid\n"
        + changed(
            PLAIN,
            (
                '        ticket["status"] = "started"\n',
                '        ticket["status"] = "started"\n        ticket["idempotency_key"] = str(uuid.uuid4())\n',
            ),
            (
                '            receipt = world.find_ticket(ticket["idempotency_key"])\n',
                "            receipt = world.find_ticket(str(uuid.uuid4()))\n",
            ),
        ),
        ("twice",),
        "Make the key from the item and the action",
    ),
    "recover does nothing": Wrong(NO_RECOVERY, ("stuck",), "recover"),
    "recover starts again without asking": Wrong(
        changed(
            PLAIN,
            ('            receipt = world.find_ticket(ticket["idempotency_key"])\n', "            receipt = None\n"),
        ),
        ("twice",),
        "Ask find_ticket",
    ),
    "recover starts the notice again": Wrong(
        changed(
            PLAIN,
            ('            receipt = world.find_notice(notice["idempotency_key"])\n', "            receipt = None\n"),
        ),
        ("twice",),
        "Ask find_notice",
    ),
    "recover takes started for done": Wrong(
        changed(PLAIN, (SETTLE_TICKET, '            else:\n                ticket["status"] = "done"\n')),
        ("done-unproven",),
        "receipt in hand",
    ),
    "recover leaves what was not done": Wrong(
        changed(PLAIN, (SETTLE_TICKET, "")), ("stuck",), "settle every `started`"
    ),
    "recover asks and then calls again": Wrong(
        changed(
            PLAIN,
            (
                '            if receipt:\n                ticket["status"] = "done"\n                ticket["external_id"] = receipt["id"]\n            else:\n',
                "            if receipt is not None or True:\n",
            ),
        ),
        ("twice",),
        "had answered with the receipt",
    ),
    "a timeout is a no": Wrong(
        changed(
            PLAIN,
            (
                """        except TimeoutError:
            return
        ticket""",
                """        except TimeoutError:
            receipt = world.create_ticket(item["id"], item["text"], ticket["idempotency_key"])
        ticket""",
            ),
        ),
        ("twice",),
        "A timeout is not a no",
    ),
    "a timeout is a yes": Wrong(
        changed(
            PLAIN,
            (
                """        except TimeoutError:
            return
        ticket""",
                """        except TimeoutError:
            receipt = {"id": None}
        ticket""",
            ),
        ),
        ("done-unproven",),
    ),
    "a timeout sets the step back": Wrong(
        changed(
            PLAIN,
            (
                """        except TimeoutError:
            return
        notice""",
                """        except TimeoutError:
            notice["status"] = "intent"
            save(state)
            return
        notice""",
            ),
        ),
        ("twice",),
    ),
    "a timeout is a failure": Wrong(
        changed(
            PLAIN,
            (
                """        except TimeoutError:
            return
        ticket""",
                """        except TimeoutError:
            ticket["status"] = "failed"
            save(state)
            return
        ticket""",
            ),
        ),
        ("shape",),
        "`todo`, `intent`, `started`",
    ),
    "done before the call": Wrong(
        changed(PLAIN, ('        ticket["status"] = "started"\n', '        ticket["status"] = "done"\n')),
        ("done-unproven",),
    ),
    "done with the key as proof": Wrong(
        changed(
            PLAIN,
            (
                '        ticket["external_id"] = receipt["id"]\n        save',
                '        ticket["external_id"] = receipt["key"]\n        save',
            ),
        ),
        ("done-unproven",),
    ),
    "the stage is done too early": Wrong(
        changed(
            PLAIN,
            (
                '        ticket["status"] = "done"\n        ticket["ext',
                '        ticket["status"] = "done"\n        item["stage"] = "done"\n        ticket["ext',
            ),
        ),
        ("done-early",),
    ),
    "the budget starts again": Wrong(
        changed(
            PLAIN,
            (
                "def recover(state, world, save):\n",
                'def recover(state, world, save):\n    state["budget"]["spent"] = 0\n    save(state)\n',
            ),
        ),
        ("budget-reset",),
        "stays spent",
    ),
    "the budget starts again in memory": Wrong(
        changed(
            PLAIN,
            (
                "def recover(state, world, save):\n",
                'def recover(state, world, save):\n    state["budget"]["spent"] = 0\n',
            ),
        ),
        ("budget-reset",),
    ),
    "what a lost answer cost is forgotten": Wrong(
        changed(
            PLAIN,
            (SPEND, ""),
            (
                '["external_id"] = receipt["id"]\n        save(state)',
                '["external_id"] = receipt["id"]\n        budget["spent"] += 1\n        save(state)',
            ),
        ),
        ("budget-short", "over-budget"),
    ),
    "the spending booked with the result": Wrong(
        changed(
            PLAIN,
            (SPEND, ""),
            (
                '["external_id"] = receipt["id"]\n        save(state)',
                '["external_id"] = receipt["id"]\n        budget["spent"] += 1\n        save(state)',
            ),
            (
                '["external_id"] = receipt["id"]\n            else',
                '["external_id"] = receipt["id"]\n                state["budget"]["spent"] += 1\n            else',
            ),
        ),
        ("budget-short", "over-budget"),
        "in the save that says `started`",
    ),
    "the budget has no limit": Wrong(
        changed(PLAIN, ('budget["spent"] >= budget["limit"]', "False")), ("over-budget",), "used up"
    ),
    "the limit is raised": Wrong(
        changed(
            PLAIN,
            (
                '        if budget["spent"] >= budget["limit"]:\n            return\n',
                '        budget["limit"] = max(budget["limit"], budget["spent"] + 1)\n',
            ),
        ),
        ("budget-limit",),
    ),
    "every call costs two": Wrong(changed(PLAIN, (SPEND, '        budget["spent"] += 2\n')), ("budget-wrong",)),
    "no approval is asked": Wrong(
        changed(PLAIN, ('    if item["needs_approval"]:\n', "    if False:\n")), ("unapproved",)
    ),
    "the stage is saved before the approval": Wrong(
        changed(
            PLAIN,
            (
                '            state["approvals"].append(\n',
                '            item["stage"] = "waiting_approval"\n            save(state)\n            state["approvals"].append(\n',
            ),
            (
                "        if not entries:\n",
                '        if item["stage"] == "waiting_approval":\n            return\n        if not entries:\n',
            ),
        ),
        ("approval-apart",),
        "one and the same save",
    ),
    "the approval is never saved": Wrong(
        changed(
            PLAIN,
            (
                '            item["stage"] = "waiting_approval"\n            save(state)\n',
                '            item["stage"] = "waiting_approval"\n',
            ),
        ),
        ("stuck", "approval-twice"),
    ),
    "asked again in every life": Wrong(
        changed(PLAIN, ("        if not entries:\n", '        if not entries or entries[0]["decision"] is None:\n')),
        ("approval-twice",),
    ),
    "the approval is thrown away": Wrong(
        changed(
            PLAIN,
            ('                entry["decision"] = decision\n', ""),
            (
                "                save(state)\n",
                '                state["approvals"].remove(entry)\n                save(state)\n',
            ),
        ),
        ("approval-lost",),
    ),
    "the decision is taken for approved": Wrong(
        changed(PLAIN, ('entry["decision"] = decision\n', 'entry["decision"] = decision = "approved"\n')),
        ("approval-invented",),
    ),
    "silence is consent": Wrong(
        changed(
            PLAIN,
            (
                '            decision = world.decision(entry["item"])\n',
                '            decision = world.decision(entry["item"]) or "approved"\n',
            ),
        ),
        ("approval-invented",),
    ),
    "rejected, and done all the same": Wrong(
        changed(
            PLAIN,
            (
                '        if entries[0]["decision"] != "approved":\n            return\n',
                '        if entries[0]["decision"] is None:\n            return\n',
            ),
            ('"pending" if decision == "approved" else "rejected"', '"pending"'),
        ),
        ("unapproved",),
    ),
    "rejected, and open for ever": Wrong(
        changed(PLAIN, ('"pending" if decision == "approved" else "rejected"', '"pending"')), ("stuck",)
    ),
    "the decision is only in memory": Wrong(
        changed(
            PLAIN,
            (
                '"pending" if decision == "approved" else "rejected"\n                save(state)\n',
                '"pending" if decision == "approved" else "rejected"\n',
            ),
        ),
        ("approval-not-saved", "stuck"),
    ),
    "one key for all": Wrong(
        changed(PLAIN, ("""return f"{state['task_id']}/{item['id']}/{name}\"""", "return name")),
        ("done-unproven", "wrong-ticket"),
    ),
    "a key that is not saved": Wrong(
        changed(
            PLAIN,
            ('        ticket["idempotency_key"] = key_of(item, "ticket", state)\n', ""),
            ('ticket["idempotency_key"]', 'key_of(item, "ticket", state)'),
        ),
        ("key-not-saved",),
        "the disk holds",
    ),
    "no intent": Wrong(
        changed(
            PLAIN,
            (
                '        notice["idempotency_key"] = key_of(item, "notice", state)\n        save(state)\n',
                '        notice["idempotency_key"] = key_of(item, "notice", state)\n',
            ),
        ),
        ("no-intent",),
        "three times",
    ),
    "saves the item": Wrong(
        changed(PLAIN, ("        save(state)\n", "        save(item)\n")), ("shape",), "whole state"
    ),
    "the notice names the key": Wrong(
        changed(
            PLAIN,
            (
                'world.send_notice(item["id"], ticket["external_id"]',
                'world.send_notice(item["id"], ticket["idempotency_key"]',
            ),
        ),
        ("wrong-ticket",),
    ),
    "remembers in memory what is sent": Wrong(
        """
SENT = set()


def handle(item, state, world, save):
    if item["needs_approval"] and world.decision(item["id"]) != "approved":
        if item["id"] not in SENT:
            SENT.add(item["id"])
            state["approvals"].append({"item": item["id"], "action": "ticket", "requested_at": world.now(), "decision": None})
            item["stage"] = "waiting_approval"
            save(state)
        return
    for name in ("ticket", "notice"):
        if (item["id"], name) in SENT:
            continue
        key = item["id"] + name
        if name == "ticket":
            receipt = world.create_ticket(item["id"], item["text"], key)
        else:
            receipt = world.send_notice(item["id"], item["steps"]["ticket"]["external_id"], key)
        SENT.add((item["id"], name))
        item["steps"][name] |= {"status": "done", "external_id": receipt["id"], "idempotency_key": key}
        state["budget"]["spent"] += 1
        save(state)
    item["stage"] = "done"
    save(state)


def recover(state, world, save):
    pass
""",
        ("twice", "approval-twice", "budget-short"),
    ),
    "waits for the person inside": Wrong(
        changed(
            PLAIN,
            (
                '        if entries[0]["decision"] != "approved":\n            return\n',
                '        while world.decision(item["id"]) is None:\n            pass\n',
            ),
        ),
        ("stopped", "unapproved"),
        "loop",
    ),
    "an index that is not there": Wrong(
        changed(
            PLAIN,
            ("def recover(state, world, save):\n", 'def recover(state, world, save):\n    state["checkpoints"][-1]\n'),
        ),
        ("raised",),
        "KeyError",
    ),
    "leaves the process": Wrong(
        "import sys\n"
        + changed(PLAIN, ("            return\n        if entries", "            sys.exit()\n        if entries")),
        ("raised", "stopped"),
    ),
    "the notice only after a ticket of this life": Wrong(
        changed(
            PLAIN,
            (
                '    if ticket["status"] != "done":\n        return\n',
                '    if item["id"] not in FRESH:\n        return\n',
            ),
            (
                '        ticket["external_id"] = receipt["id"]\n        save(state)\n',
                '        ticket["external_id"] = receipt["id"]\n        FRESH.append(item["id"])\n        save(state)\n',
            ),
        )
        + "\n\nFRESH = []\n",
        ("stuck",),
    ),
    "only the first item": Wrong(
        changed(
            PLAIN,
            (
                "def handle(item, state, world, save):\n",
                'def handle(item, state, world, save):\n    item = state["items"][0]\n',
            ),
        ),
        ("stuck",),
    ),
    "everything swallowed": Wrong(
        changed(
            PLAIN,
            (
                "        except TimeoutError:\n            return\n        notice",
                "        except BaseException:\n            receipt = {'id': 'N-0'}\n        notice",
            ),
        ),
        ("done-unproven",),
    ),
    "saved once before the call and once after": Wrong(
        changed(
            PLAIN,
            (
                '        ticket["status"] = "intent"\n        ticket["idempotency_key"] = key_of(item, "ticket", state)\n        save(state)\n',
                '        ticket["status"] = "intent"\n        ticket["idempotency_key"] = key_of(item, "ticket", state)\n',
            ),
        ),
        ("no-intent",),
    ),
    "asks only in the first recovery": Wrong(
        changed(
            PLAIN,
            (
                '            receipt = world.find_ticket(ticket["idempotency_key"])\n',
                '            receipt = None if "asked" in item else world.find_ticket(ticket["idempotency_key"])\n'
                '            item["asked"] = True\n',
            ),
        ),
        ("twice",),
        "Later: ",
    ),
    "recovers the first three items only": Wrong(
        changed(
            PLAIN,
            (
                '    for item in state["items"]:\n        ticket, notice',
                '    for item in state["items"][:3]:\n        ticket, notice',
            ),
        ),
        ("stuck",),
        "drawn by chance with seed 0",
    ),
}
