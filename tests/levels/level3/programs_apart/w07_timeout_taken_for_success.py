# wrong(level3-code): a call that timed out is booked as done, with its key in place of the receipt's id
def handle(item, state, world, save):
    if item["needs_approval"]:
        entries = {e["item"]: e for e in state["approvals"]}
        if item["id"] not in entries:
            state["approvals"].append(
                {"item": item["id"], "action": "ticket", "requested_at": world.now(), "decision": None}
            )
            item["stage"] = "waiting_approval"
            save(state)
            return
        if entries[item["id"]]["decision"] != "approved":
            return
    ticket = item["steps"]["ticket"]
    for name in ("ticket", "notice"):
        step = item["steps"][name]
        if step["status"] == "done":
            continue
        if step["status"] == "todo":
            step.update(status="intent", idempotency_key=f"{state['task_id']}/{item['id']}/{name}")
            save(state)
        if state["budget"]["spent"] >= state["budget"]["limit"]:
            return
        state["budget"]["spent"] += 1
        step.update(status="started", at=world.now())
        save(state)
        try:
            if name == "ticket":
                proof = world.create_ticket(item["id"], item["text"], step["idempotency_key"])["id"]
            else:
                proof = world.send_notice(item["id"], ticket["external_id"], step["idempotency_key"])["id"]
        except TimeoutError:
            proof = step["idempotency_key"]
        step.update(status="done", external_id=proof, at=world.now())
        save(state)
    item["stage"] = "done"
    save(state)


def recover(state, world, save):
    for item in state["items"]:
        for name, step in item["steps"].items():
            if step["status"] == "started":
                receipt = (world.find_ticket if name == "ticket" else world.find_notice)(step["idempotency_key"])
                if receipt:
                    step.update(status="done", external_id=receipt["id"])
                else:
                    step.update(status="intent")
                save(state)
    for entry in state["approvals"]:
        decision = world.decision(entry["item"])
        if entry["decision"] is None and decision:
            entry["decision"] = decision
            item = next(i for i in state["items"] if i["id"] == entry["item"])
            item["stage"] = "pending" if decision == "approved" else "rejected"
            save(state)
