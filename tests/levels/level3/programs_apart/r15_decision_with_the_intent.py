# right(level3-code): handle reads the decision itself and saves it in one document with the ticket's intent
def handle(item, state, world, save):
    ticket, notice = item["steps"]["ticket"], item["steps"]["notice"]
    budget = state["budget"]
    if item["needs_approval"]:
        entry = next((e for e in state["approvals"] if e["item"] == item["id"]), None)
        if entry is None:
            entry = {"item": item["id"], "action": "ticket", "requested_at": world.now(), "decision": None}
            state["approvals"].append(entry)
            item["stage"] = "waiting_approval"
            save(state)
            return
        if entry["decision"] is None:
            decision = world.decision(item["id"])
            if decision is None:
                return
            entry["decision"] = decision
            if decision == "rejected":
                item["stage"] = "rejected"
                save(state)
                return
            item["stage"] = "pending"
            ticket.update(status="intent", idempotency_key=f"{state['task_id']}/{item['id']}/ticket", at=world.now())
            save(state)
    if ticket["status"] == "todo":
        ticket.update(status="intent", idempotency_key=f"{state['task_id']}/{item['id']}/ticket", at=world.now())
        save(state)
    if ticket["status"] == "intent" and budget["spent"] < budget["limit"]:
        budget["spent"] += 1
        ticket.update(status="started", at=world.now())
        save(state)
        try:
            receipt = world.create_ticket(item["id"], item["text"], ticket["idempotency_key"])
        except TimeoutError:
            return
        # the ticket's proof and the notice's intent in one document
        ticket.update(status="done", external_id=receipt["id"], at=world.now())
        notice.update(status="intent", idempotency_key=f"{state['task_id']}/{item['id']}/notice", at=world.now())
        save(state)
    if ticket["status"] != "done":
        return
    if notice["status"] == "todo":
        notice.update(status="intent", idempotency_key=f"{state['task_id']}/{item['id']}/notice", at=world.now())
        save(state)
    if notice["status"] == "intent" and budget["spent"] < budget["limit"]:
        budget["spent"] += 1
        notice.update(status="started", at=world.now())
        save(state)
        try:
            receipt = world.send_notice(item["id"], ticket["external_id"], notice["idempotency_key"])
        except TimeoutError:
            return
        notice.update(status="done", external_id=receipt["id"], at=world.now())
        save(state)
    if notice["status"] == "done":
        item["stage"] = "done"
        save(state)


def recover(state, world, save):
    for item in state["items"]:
        for step, find in zip(item["steps"].values(), (world.find_ticket, world.find_notice)):
            if step["status"] == "started":
                receipt = find(step["idempotency_key"])
                if receipt:
                    step.update(status="done", external_id=receipt["id"], at=world.now())
                else:
                    step.update(status="intent", at=world.now())
                save(state)
