# right(level3-code): an approved item keeps the stage waiting_approval until it is done; its entry says that it may go on
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
        if entry["decision"] is None and world.decision(item["id"]):
            entry["decision"] = world.decision(item["id"])
            if entry["decision"] == "rejected":
                item["stage"] = "rejected"
            save(state)
        if entry["decision"] != "approved":
            return
    budget = state["budget"]
    for name in ("ticket", "notice"):
        step = item["steps"][name]
        if step["status"] == "done":
            continue
        if step["status"] == "todo":
            step["idempotency_key"] = f"{state['task_id']}/{item['id']}/{name}"
            step["status"] = "intent"
            save(state)
        if step["status"] != "intent" or budget["spent"] >= budget["limit"]:
            return
        budget["spent"] += 1
        step["status"] = "started"
        step["at"] = world.now()
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
        step["at"] = world.now()
        save(state)
    item["stage"] = "done"
    save(state)


def recover(state, world, save):
    finders = {"ticket": "find_ticket", "notice": "find_notice"}
    for item in state["items"]:
        for name, step in item["steps"].items():
            if step["status"] == "started":
                receipt = getattr(world, finders[name])(step["idempotency_key"])
                if receipt is None:
                    step["status"] = "intent"
                else:
                    step["external_id"] = receipt["id"]
                    step["status"] = "done"
                save(state)
