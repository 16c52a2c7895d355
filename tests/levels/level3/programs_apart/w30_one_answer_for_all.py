# wrong(level3-code): the first entry's decision is given to every entry that waits
def approval_of(item, state):
    return next((e for e in state["approvals"] if e["item"] == item["id"]), None)


def handle(item, state, world, save):
    if item["needs_approval"]:
        entry = approval_of(item, state)
        if entry is None:
            state["approvals"].append(
                {"item": item["id"], "action": "ticket", "requested_at": world.now(), "decision": None}
            )
            item["stage"] = "waiting_approval"
            save(state)
            return
        if entry["decision"] != "approved":
            return
    for name in ("ticket", "notice"):
        step = item["steps"][name]
        if step["status"] == "todo":
            step.update(status="intent", idempotency_key=f"{state['task_id']}/{item['id']}/{name}")
            save(state)
        if step["status"] == "intent" and state["budget"]["spent"] < state["budget"]["limit"]:
            step.update(status="started", at=world.now())
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
                return
            step.update(status="done", external_id=receipt["id"], at=world.now())
            save(state)
        if step["status"] != "done":
            return
    item["stage"] = "done"
    save(state)


def recover(state, world, save):
    for item in state["items"]:
        for name, step in item["steps"].items():
            if step["status"] == "started":
                receipt = getattr(world, f"find_{name}")(step["idempotency_key"])
                if receipt:
                    step.update(status="done", external_id=receipt["id"], at=world.now())
                else:
                    step.update(status="intent")
                save(state)
    decision = None
    for entry in state["approvals"]:
        if entry["decision"] is None:
            decision = decision or world.decision(entry["item"])
            if decision:
                entry["decision"] = decision
                item = next(i for i in state["items"] if i["id"] == entry["item"])
                item["stage"] = "pending" if decision == "approved" else "rejected"
                save(state)
