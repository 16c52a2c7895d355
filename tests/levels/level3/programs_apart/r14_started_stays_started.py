# right(level3-code): a write that never arrived stays `started` on disk; the next try is counted and saved again as `started`
class Unsure(Exception):
    """Nobody knows what became of the call."""


class Wait(Exception):
    """Nothing can be done for this item in this life."""


def gate(item, state, world, save):
    if item["needs_approval"]:
        for entry in state["approvals"]:
            if entry["item"] == item["id"]:
                if entry["decision"] == "approved":
                    return
                raise Wait
        state["approvals"].append(
            {"item": item["id"], "action": "ticket", "requested_at": world.now(), "decision": None}
        )
        item["stage"] = "waiting_approval"
        save(state)
        raise Wait


def write(step, find, send, label, state, world, save):
    if step["status"] == "done":
        return
    if step["status"] == "todo":
        step["status"] = "intent"
        step["idempotency_key"] = label
        save(state)
    if step["status"] == "started":
        receipt = find(label)
        if receipt is not None:
            step.update(status="done", external_id=receipt["id"], at=world.now())
            save(state)
            return
    if state["budget"]["spent"] >= state["budget"]["limit"]:
        raise Wait
    state["budget"]["spent"] += 1
    step.update(status="started", at=world.now())
    save(state)
    try:
        receipt = send(label)
    except TimeoutError as error:
        raise Unsure from error
    step.update(status="done", external_id=receipt["id"], at=world.now())
    save(state)


def handle(item, state, world, save):
    ticket, notice = item["steps"]["ticket"], item["steps"]["notice"]
    label = f"{state['task_id']}/{item['id']}/"
    try:
        gate(item, state, world, save)
        write(
            ticket,
            world.find_ticket,
            lambda key: world.create_ticket(item["id"], item["text"], key),
            label + "ticket",
            state,
            world,
            save,
        )
        write(
            notice,
            world.find_notice,
            lambda key: world.send_notice(item["id"], ticket["external_id"], key),
            label + "notice",
            state,
            world,
            save,
        )
    except (Unsure, Wait):
        return
    item["stage"] = "done"
    save(state)


def recover(state, world, save):
    for entry in state["approvals"]:
        if entry["decision"] is None and world.decision(entry["item"]) is not None:
            entry["decision"] = world.decision(entry["item"])
            item = next(item for item in state["items"] if item["id"] == entry["item"])
            item["stage"] = "rejected" if entry["decision"] == "rejected" else "pending"
            save(state)
