# right(level3-code): a time-out is let through and ends this life of the process; the next one asks
def step_on(item, name, state, world, save):
    step = item["steps"][name]
    if step["status"] == "todo":
        step["status"] = "intent"
        step["idempotency_key"] = f"{state['task_id']}/{item['id']}/{name}"
        save(state)
    if step["status"] == "intent" and state["budget"]["spent"] < state["budget"]["limit"]:
        state["budget"]["spent"] += 1
        step["status"] = "started"
        save(state)
        if name == "ticket":
            receipt = world.create_ticket(item["id"], item["text"], step["idempotency_key"])
        else:
            receipt = world.send_notice(item["id"], item["steps"]["ticket"]["external_id"], step["idempotency_key"])
        step["status"] = "done"
        step["external_id"] = receipt["id"]
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
    if step_on(item, "ticket", state, world, save) and step_on(item, "notice", state, world, save):
        item["stage"] = "done"
        save(state)


def recover(state, world, save):
    for item in state["items"]:
        for name, step in item["steps"].items():
            if step["status"] == "started":
                receipt = world.find_ticket(step["idempotency_key"]) if name == "ticket" else world.find_notice(
                    step["idempotency_key"]
                )
                step["status"] = "done" if receipt else "intent"
                step["external_id"] = receipt["id"] if receipt else None
                save(state)
    for entry in state["approvals"]:
        decision = entry["decision"] or world.decision(entry["item"])
        if decision != entry["decision"]:
            entry["decision"] = decision
            next(i for i in state["items"] if i["id"] == entry["item"])["stage"] = (
                "pending" if decision == "approved" else "rejected"
            )
            save(state)
