# wrong(level3-code): a write that timed out is tried again with a new uuid, and nobody asked about the old one
import uuid


def put(item, name, state, world, save):
    step = item["steps"][name]
    if step["status"] == "done":
        return True
    while state["budget"]["spent"] < state["budget"]["limit"]:
        step.update(status="intent", idempotency_key=str(uuid.uuid4()), at=world.now())
        save(state)
        step["status"] = "started"
        state["budget"]["spent"] += 1
        save(state)
        try:
            if name == "ticket":
                receipt = world.create_ticket(item["id"], item["text"], step["idempotency_key"])
            else:
                receipt = world.send_notice(
                    item["id"], item["steps"]["ticket"]["external_id"], step["idempotency_key"]
                )
        except TimeoutError:
            continue
        step.update(status="done", external_id=receipt["id"], at=world.now())
        save(state)
        return True
    return False


def handle(item, state, world, save):
    if item["needs_approval"]:
        entry = next((e for e in state["approvals"] if e["item"] == item["id"]), None)
        if entry is None:
            entry = {"item": item["id"], "action": "ticket", "requested_at": world.now(), "decision": None}
            state["approvals"].append(entry)
            item["stage"] = "waiting_approval"
            save(state)
        if entry["decision"] != "approved":
            return
    if put(item, "ticket", state, world, save) and put(item, "notice", state, world, save):
        item["stage"] = "done"
        save(state)


def recover(state, world, save):
    for item in state["items"]:
        for name, step in item["steps"].items():
            if step["status"] == "started":
                find = world.find_ticket if name == "ticket" else world.find_notice
                receipt = find(step["idempotency_key"])
                if receipt:
                    step.update(status="done", external_id=receipt["id"], at=world.now())
                else:
                    step["status"] = "intent"
                save(state)
    for entry in state["approvals"]:
        if entry["decision"] is None and world.decision(entry["item"]):
            entry["decision"] = world.decision(entry["item"])
            item = next(i for i in state["items"] if i["id"] == entry["item"])
            item["stage"] = "pending" if entry["decision"] == "approved" else "rejected"
            save(state)
