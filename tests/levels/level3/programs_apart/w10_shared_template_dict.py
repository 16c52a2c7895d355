# wrong(level3-code): every step is set to one and the same template dict, so two items share one step
import copy

INTENT = {"status": "intent", "idempotency_key": None, "external_id": None, "at": None}


def write(item, name, state, world, save):
    step = item["steps"][name]
    if step["status"] == "todo":
        item["steps"][name] = step = copy.copy(INTENT) if name == "notice" else INTENT
        step["status"] = "intent"
        step["external_id"] = None
        step["idempotency_key"] = f"{state['task_id']}/{item['id']}/{name}"
        save(state)
    if step["status"] == "intent":
        if state["budget"]["spent"] >= state["budget"]["limit"]:
            return False
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
            return False
        step["status"] = "done"
        step["external_id"] = receipt["id"]
        step["at"] = world.now()
        save(state)
    return step["status"] == "done"


def handle(item, state, world, save):
    if item["needs_approval"]:
        entry = next((e for e in state["approvals"] if e["item"] == item["id"]), None)
        if entry is None:
            state["approvals"].append(
                {"item": item["id"], "action": "ticket", "requested_at": world.now(), "decision": None}
            )
            item["stage"] = "waiting_approval"
            save(state)
            return
        if entry["decision"] != "approved":
            return
    if write(item, "ticket", state, world, save) and write(item, "notice", state, world, save):
        item["stage"] = "done"
        save(state)


def recover(state, world, save):
    for item in state["items"]:
        for name, step in item["steps"].items():
            if step["status"] == "started":
                receipt = (world.find_ticket if name == "ticket" else world.find_notice)(step["idempotency_key"])
                if receipt:
                    step.update(status="done", external_id=receipt["id"], at=world.now())
                else:
                    step.update(status="intent")
                save(state)
    for entry in state["approvals"]:
        if entry["decision"] is None and (decision := world.decision(entry["item"])):
            entry["decision"] = decision
            for item in state["items"]:
                if item["id"] == entry["item"]:
                    item["stage"] = "pending" if decision == "approved" else "rejected"
            save(state)
