# right(level3-code): begins an item only while the budget allows both of its writes; what has begun may use the rest
def left(state):
    return state["budget"]["limit"] - state["budget"]["spent"]


def send_it(item, name, state, world, save):
    step = item["steps"][name]
    if step["status"] == "todo":
        step.update(status="intent", idempotency_key=f"{state['task_id']}/{item['id']}/{name}")
        save(state)
    if step["status"] == "intent":
        if left(state) <= 0:
            return
        state["budget"]["spent"] += 1
        step.update(status="started", at=world.now())
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


def handle(item, state, world, save):
    ticket, notice = item["steps"]["ticket"], item["steps"]["notice"]
    if item["needs_approval"]:
        mine = [entry for entry in state["approvals"] if entry["item"] == item["id"]]
        if not mine:
            state["approvals"].append(
                {"item": item["id"], "action": "ticket", "requested_at": world.now(), "decision": None}
            )
            item["stage"] = "waiting_approval"
            save(state)
            return
        if mine[0]["decision"] != "approved":
            return
    if ticket["status"] == "todo" and left(state) < 2:
        return
    send_it(item, "ticket", state, world, save)
    if ticket["status"] == "done":
        send_it(item, "notice", state, world, save)
    if notice["status"] == "done":
        item["stage"] = "done"
        save(state)


def recover(state, world, save):
    for item in state["items"]:
        for name, step in item["steps"].items():
            if step["status"] == "started":
                receipt = (world.find_ticket if name == "ticket" else world.find_notice)(step["idempotency_key"])
                if receipt:
                    step.update(status="done", external_id=receipt["id"], at=world.now())
                else:
                    step.update(status="intent")
                save(state)
        for entry in state["approvals"]:
            if entry["item"] == item["id"] and entry["decision"] is None:
                decision = world.decision(item["id"])
                if decision:
                    entry["decision"] = decision
                    item["stage"] = "pending" if decision == "approved" else "rejected"
                    save(state)
