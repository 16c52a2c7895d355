# wrong(level3-code): any answer of the person lets the item go on, a rejection too
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
        if not entry["decision"]:
            return
    for name in ("ticket", "notice"):
        step = item["steps"][name]
        if step["status"] == "todo":
            step["status"] = "intent"
            step["idempotency_key"] = f"{state['task_id']}/{item['id']}/{name}"
            save(state)
        if step["status"] == "intent":
            if state["budget"]["spent"] >= state["budget"]["limit"]:
                return
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
            step["status"], step["external_id"] = "done", receipt["id"]
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
                    step["status"], step["external_id"] = "done", receipt["id"]
                else:
                    step["status"] = "intent"
                save(state)
    for entry in state["approvals"]:
        if not entry["decision"]:
            entry["decision"] = world.decision(entry["item"])
            if entry["decision"]:
                next(i for i in state["items"] if i["id"] == entry["item"])["stage"] = "pending"
                save(state)
