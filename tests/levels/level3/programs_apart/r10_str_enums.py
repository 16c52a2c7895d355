# right(level3-code): the statuses are members of a str enum, which json writes as their text
from enum import Enum


class Status(str, Enum):
    TODO = "todo"
    INTENT = "intent"
    STARTED = "started"
    DONE = "done"


class Stage(str, Enum):
    PENDING = "pending"
    WAITING = "waiting_approval"
    DONE = "done"
    REJECTED = "rejected"


def write(item, name, send, state, world, save):
    step = item["steps"][name]
    if Status(step["status"]) is Status.TODO:
        step.update(status=Status.INTENT, idempotency_key=f"{state['task_id']}:{item['id']}:{name}")
        save(state)
    if Status(step["status"]) is Status.INTENT and state["budget"]["spent"] < state["budget"]["limit"]:
        state["budget"]["spent"] += 1
        step.update(status=Status.STARTED, at=world.now())
        save(state)
        try:
            receipt = send(step["idempotency_key"])
        except TimeoutError:
            return False
        step.update(status=Status.DONE, external_id=receipt["id"], at=world.now())
        save(state)
    return Status(step["status"]) is Status.DONE


def handle(item, state, world, save):
    if item["needs_approval"]:
        entry = next((e for e in state["approvals"] if e["item"] == item["id"]), None)
        if not entry:
            item["stage"] = Stage.WAITING
            state["approvals"].append(
                {"item": item["id"], "action": "ticket", "requested_at": world.now(), "decision": None}
            )
            save(state)
            return
        if entry["decision"] != "approved":
            return
    ticket = item["steps"]["ticket"]
    if not write(item, "ticket", lambda key: world.create_ticket(item["id"], item["text"], key), state, world, save):
        return
    tell = lambda key: world.send_notice(item["id"], ticket["external_id"], key)  # noqa: E731
    if write(item, "notice", tell, state, world, save):
        item["stage"] = Stage.DONE
        save(state)


def recover(state, world, save):
    for item in state["items"]:
        for name, step in item["steps"].items():
            if Status(step["status"]) is Status.STARTED:
                if receipt := (world.find_ticket if name == "ticket" else world.find_notice)(step["idempotency_key"]):
                    step.update(status=Status.DONE, external_id=receipt["id"], at=world.now())
                else:
                    step.update(status=Status.INTENT)
                save(state)
    stages = {"approved": Stage.PENDING, "rejected": Stage.REJECTED}
    for entry in state["approvals"]:
        if entry["decision"] is None and (decision := world.decision(entry["item"])):
            entry["decision"] = decision
            for item in state["items"]:
                if item["id"] == entry["item"]:
                    item["stage"] = stages[decision]
            save(state)
