# wrong(level3-code): the approval is only in memory while the ticket is made; it reaches the disk with the ticket's result
def perform(step, send, state, world, save, remember=None):
    step.update(status="started", at=world.now())
    state["budget"]["spent"] += 1
    save(state)
    try:
        receipt = send(step["idempotency_key"])
    except TimeoutError:
        return False
    if remember:
        remember()
    step.update(status="done", external_id=receipt["id"], at=world.now())
    save(state)
    return True


def intend(step, key, state, save):
    if step["status"] == "todo":
        step.update(status="intent", idempotency_key=key)
        save(state)


def handle(item, state, world, save):
    entry = None
    decision = "approved"
    if item["needs_approval"]:
        entry = next((e for e in state["approvals"] if e["item"] == item["id"]), None)
        if entry is None:
            state["approvals"].append(
                {"item": item["id"], "action": "ticket", "requested_at": world.now(), "decision": None}
            )
            item["stage"] = "waiting_approval"
            save(state)
            return
        decision = entry["decision"] or world.decision(item["id"])
        if decision == "rejected":
            entry["decision"] = "rejected"
            item["stage"] = "rejected"
            save(state)
        if decision != "approved":
            return

    def remember():
        if entry:
            entry["decision"] = decision
            item["stage"] = "pending"

    ticket, notice = item["steps"]["ticket"], item["steps"]["notice"]
    budget = state["budget"]
    intend(ticket, f"{state['task_id']}/{item['id']}/ticket", state, save)
    if ticket["status"] == "intent" and budget["spent"] < budget["limit"]:
        perform(
            ticket,
            lambda key: world.create_ticket(item["id"], item["text"], key),
            state,
            world,
            save,
            remember,
        )
    if ticket["status"] != "done":
        return
    remember()
    intend(notice, f"{state['task_id']}/{item['id']}/notice", state, save)
    if notice["status"] == "intent" and budget["spent"] < budget["limit"]:
        perform(notice, lambda key: world.send_notice(item["id"], ticket["external_id"], key), state, world, save)
    if notice["status"] == "done":
        item["stage"] = "done"
        save(state)


def recover(state, world, save):
    for item in state["items"]:
        for name, find in (("ticket", world.find_ticket), ("notice", world.find_notice)):
            step = item["steps"][name]
            if step["status"] == "started":
                receipt = find(step["idempotency_key"])
                if receipt:
                    step.update(status="done", external_id=receipt["id"])
                else:
                    step.update(status="intent")
                save(state)
