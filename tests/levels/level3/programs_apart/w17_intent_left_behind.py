# wrong(level3-code): only a step that is todo is begun; one that a crash left as intent is never taken up again
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
    for name in ("ticket", "notice"):
        step = item["steps"][name]
        if step["status"] == "todo":
            if state["budget"]["spent"] >= state["budget"]["limit"]:
                return
            step["status"] = "intent"
            step["idempotency_key"] = f"{state['task_id']}/{item['id']}/{name}"
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
                return
            step["status"] = "done"
            step["external_id"] = receipt["id"]
            save(state)
        if step["status"] != "done":
            return
    item["stage"] = "done"
    save(state)


def recover(state, world, save):
    for item in state["items"]:
        for name, step in item["steps"].items():
            if step["status"] == "started":
                receipt = (world.find_ticket if name == "ticket" else world.find_notice)(step["idempotency_key"])
                if receipt:
                    step["status"] = "done"
                    step["external_id"] = receipt["id"]
                else:
                    step["status"] = "todo"
                save(state)
    for entry in state["approvals"]:
        if entry["decision"] is None and (decision := world.decision(entry["item"])):
            entry["decision"] = decision
            item = next(i for i in state["items"] if i["id"] == entry["item"])
            item["stage"] = "pending" if decision == "approved" else "rejected"
            save(state)
