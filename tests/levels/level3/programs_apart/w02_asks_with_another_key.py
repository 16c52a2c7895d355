# wrong(level3-code): recovery asks with a key that it makes afresh and that lacks the step's name
def make_key(*parts):
    return "/".join(parts)


def write(item, name, state, world, save):
    step, budget = item["steps"][name], state["budget"]
    if step["status"] == "todo":
        step["status"] = "intent"
        step["idempotency_key"] = make_key(state["task_id"], item["id"], name)
        save(state)
    if step["status"] == "intent":
        if budget["spent"] >= budget["limit"]:
            return
        budget["spent"] += 1
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
        step["status"], step["external_id"], step["at"] = "done", receipt["id"], world.now()
        save(state)


def handle(item, state, world, save):
    if item["needs_approval"]:
        mine = [e for e in state["approvals"] if e["item"] == item["id"]]
        if not mine:
            state["approvals"].append(
                {"item": item["id"], "action": "ticket", "requested_at": world.now(), "decision": None}
            )
            item["stage"] = "waiting_approval"
            save(state)
            return
        if mine[0]["decision"] != "approved":
            return
    write(item, "ticket", state, world, save)
    if item["steps"]["ticket"]["status"] == "done":
        write(item, "notice", state, world, save)
    if item["steps"]["notice"]["status"] == "done":
        item["stage"] = "done"
        save(state)


def recover(state, world, save):
    for item in state["items"]:
        for name, step in item["steps"].items():
            if step["status"] == "started":
                key = make_key(state["task_id"], item["id"])
                receipt = world.find_ticket(key) if name == "ticket" else world.find_notice(key)
                step["status"] = "done" if receipt else "intent"
                step["external_id"] = receipt["id"] if receipt else None
                save(state)
        for entry in state["approvals"]:
            if entry["item"] == item["id"] and entry["decision"] is None:
                entry["decision"] = world.decision(item["id"])
                if entry["decision"]:
                    item["stage"] = "pending" if entry["decision"] == "approved" else "rejected"
                    save(state)
