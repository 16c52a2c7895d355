# wrong(level3-code): recovery asks find_ticket about a notice too, and the notice goes out a second time
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
    steps = item["steps"]
    sends = [
        ("ticket", lambda step: world.create_ticket(item["id"], item["text"], step["idempotency_key"])),
        ("notice", lambda step: world.send_notice(item["id"], steps["ticket"]["external_id"], step["idempotency_key"])),
    ]
    for name, send in sends:
        step = steps[name]
        if step["status"] == "todo":
            step.update(status="intent", idempotency_key=f"{state['task_id']}/{item['id']}/{name}", at=world.now())
            save(state)
        if step["status"] == "intent":
            if state["budget"]["spent"] >= state["budget"]["limit"]:
                return
            state["budget"]["spent"] += 1
            step.update(status="started", at=world.now())
            save(state)
            try:
                receipt = send(step)
            except TimeoutError:
                return
            step.update(status="done", external_id=receipt["id"], at=world.now())
            save(state)
        if step["status"] != "done":
            return
    item["stage"] = "done"
    save(state)


def recover(state, world, save):
    for item in state["items"]:
        for step in item["steps"].values():
            if step["status"] == "started":
                receipt = world.find_ticket(step["idempotency_key"])
                if receipt:
                    step.update(status="done", external_id=receipt["id"], at=world.now())
                else:
                    step.update(status="intent")
                save(state)
    for entry in state["approvals"]:
        if entry["decision"] is None and (decision := world.decision(entry["item"])):
            entry["decision"] = decision
            item = next(i for i in state["items"] if i["id"] == entry["item"])
            item["stage"] = "pending" if decision == "approved" else "rejected"
            save(state)
