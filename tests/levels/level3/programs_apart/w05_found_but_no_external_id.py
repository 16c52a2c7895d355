# wrong(level3-code): recovery marks a found write as done and forgets the receipt's id
def ready(item, state, world, save):
    if not item["needs_approval"]:
        return True
    for entry in state["approvals"]:
        if entry["item"] == item["id"]:
            return entry["decision"] == "approved"
    state["approvals"].append({"item": item["id"], "action": "ticket", "requested_at": world.now(), "decision": None})
    item["stage"] = "waiting_approval"
    save(state)
    return False


def handle(item, state, world, save):
    if not ready(item, state, world, save):
        return
    for name in ("ticket", "notice"):
        step = item["steps"][name]
        if step["status"] == "todo":
            step["idempotency_key"] = f"{state['task_id']}/{item['id']}/{name}"
            step["status"] = "intent"
            save(state)
        if step["status"] == "intent":
            if state["budget"]["spent"] >= state["budget"]["limit"]:
                return
            state["budget"]["spent"] += 1
            step["status"] = "started"
            save(state)
            try:
                if name == "ticket":
                    receipt = world.create_ticket(item["id"], item["text"], step["idempotency_key"])
                else:
                    receipt = world.send_notice(
                        item["id"], item["steps"]["ticket"]["external_id"], step["idempotency_key"]
                    )
            except TimeoutError:
                return
            step["external_id"] = receipt["id"]
            step["status"] = "done"
            save(state)
    if all(step["status"] == "done" for step in item["steps"].values()):
        item["stage"] = "done"
        save(state)


def recover(state, world, save):
    for item in state["items"]:
        if item["steps"]["ticket"]["status"] == "started":
            found = world.find_ticket(item["steps"]["ticket"]["idempotency_key"])
            item["steps"]["ticket"]["status"] = "done" if found else "intent"
            save(state)
        if item["steps"]["notice"]["status"] == "started":
            found = world.find_notice(item["steps"]["notice"]["idempotency_key"])
            item["steps"]["notice"]["status"] = "done" if found else "intent"
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
