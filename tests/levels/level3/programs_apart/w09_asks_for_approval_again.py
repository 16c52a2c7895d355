# wrong(level3-code): whether a person was asked is read from the stage, which is pending again once the approval is there
def handle(item, state, world, save):
    if item["needs_approval"]:
        if item["stage"] == "waiting_approval":
            return
        approved = [e for e in state["approvals"] if e["item"] == item["id"] and e["decision"] == "approved"]
        begun = item["steps"]["ticket"]["status"] != "todo"
        if not begun and not (approved and item.get("asked")):
            item["stage"] = "waiting_approval"
            item["asked"] = bool(approved)
            state["approvals"].append(
                {"item": item["id"], "action": "ticket", "requested_at": world.now(), "decision": None}
            )
            save(state)
            return
    for name, send in (("ticket", world.create_ticket), ("notice", world.send_notice)):
        step = item["steps"][name]
        if step["status"] == "todo":
            step.update(status="intent", idempotency_key=f"{state['task_id']}/{item['id']}/{name}")
            save(state)
        if step["status"] == "intent" and state["budget"]["spent"] < state["budget"]["limit"]:
            step.update(status="started", at=world.now())
            state["budget"]["spent"] += 1
            save(state)
            about = item["text"] if name == "ticket" else item["steps"]["ticket"]["external_id"]
            try:
                receipt = send(item["id"], about, step["idempotency_key"])
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
                receipt = getattr(world, "find_" + name)(step["idempotency_key"])
                if receipt:
                    step.update(status="done", external_id=receipt["id"], at=world.now())
                else:
                    step["status"] = "intent"
                save(state)
        for entry in state["approvals"]:
            if entry["item"] == item["id"] and entry["decision"] is None and world.decision(item["id"]):
                entry["decision"] = world.decision(item["id"])
                item["stage"] = "pending" if entry["decision"] == "approved" else "rejected"
                save(state)
