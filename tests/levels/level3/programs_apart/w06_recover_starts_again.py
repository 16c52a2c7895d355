# wrong(level3-code): recovery turns every started step back into an intent without asking
def approval(item, state):
    return next((e for e in state["approvals"] if e["item"] == item["id"]), None)


def handle(item, state, world, save):
    if item["needs_approval"]:
        entry = approval(item, state)
        if not entry:
            state["approvals"].append(
                {"item": item["id"], "action": "ticket", "requested_at": world.now(), "decision": None}
            )
            item["stage"] = "waiting_approval"
            save(state)
            return
        if entry["decision"] != "approved":
            return
    for name in item["steps"]:
        step = item["steps"][name]
        if step["status"] == "todo":
            step.update(status="intent", idempotency_key=f"{item['id']}/{name}")
            save(state)
        if step["status"] == "intent":
            if state["budget"]["spent"] >= state["budget"]["limit"]:
                return
            state["budget"]["spent"] += 1
            step.update(status="started", at=world.now())
            save(state)
            key = step["idempotency_key"]
            try:
                receipt = (
                    world.create_ticket(item["id"], item["text"], key)
                    if name == "ticket"
                    else world.send_notice(item["id"], item["steps"]["ticket"]["external_id"], key)
                )
            except TimeoutError:
                # ask at once: the key is here
                receipt = world.find_ticket(key) if name == "ticket" else world.find_notice(key)
                if receipt is None:
                    step.update(status="intent")
                    save(state)
                    return
            step.update(status="done", external_id=receipt["id"], at=world.now())
            save(state)
    item["stage"] = "done"
    save(state)


def recover(state, world, save):
    for item in state["items"]:
        for step in item["steps"].values():
            if step["status"] == "started":
                step["status"] = "intent"  # it was interrupted
                save(state)
        entry = approval(item, state)
        if entry and entry["decision"] is None and world.decision(item["id"]):
            entry["decision"] = world.decision(item["id"])
            item["stage"] = {"approved": "pending"}.get(entry["decision"], "rejected")
            save(state)
