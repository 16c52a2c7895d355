# wrong(level3-code): asks after a time-out, but a step that a crash left as started is taken for done
def write(item, name, state, world, save):
    step = item["steps"][name]
    if step["status"] in ("started", "done"):
        return True
    if step["status"] == "todo":
        step.update(status="intent", idempotency_key=f"{state['task_id']}/{item['id']}/{name}")
        save(state)
    if state["budget"]["spent"] >= state["budget"]["limit"]:
        return False
    state["budget"]["spent"] += 1
    step.update(status="started", at=world.now())
    save(state)
    key = step["idempotency_key"]
    try:
        if name == "ticket":
            receipt = world.create_ticket(item["id"], item["text"], key)
        else:
            receipt = world.send_notice(item["id"], item["steps"]["ticket"]["external_id"], key)
    except TimeoutError:
        receipt = world.find_ticket(key) if name == "ticket" else world.find_notice(key)
    if receipt is None:
        step["status"] = "intent"
        save(state)
        return False
    step.update(status="done", external_id=receipt["id"], at=world.now())
    save(state)
    return True


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
    for entry in state["approvals"]:
        if entry["decision"] is None and (decision := world.decision(entry["item"])):
            entry["decision"] = decision
            item = next(i for i in state["items"] if i["id"] == entry["item"])
            item["stage"] = "pending" if decision == "approved" else "rejected"
            save(state)
