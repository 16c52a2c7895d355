# wrong(level3-code): compares with > where >= is needed, so one call is made after the limit is spent
def over(budget):
    return budget["spent"] > budget["limit"]


def attempt(item, name, send, state, world, save):
    step = item["steps"][name]
    if step["status"] == "todo":
        step.update(status="intent", idempotency_key=f"{state['task_id']}:{name}:{item['id']}")
        save(state)
    if step["status"] == "intent":
        if over(state["budget"]):
            return False
        state["budget"]["spent"] += 1
        step.update(status="started", at=world.now())
        save(state)
        try:
            receipt = send(step["idempotency_key"])
        except TimeoutError:
            return False
        step.update(status="done", external_id=receipt["id"], at=world.now())
        save(state)
    return step["status"] == "done"


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
    ticket = item["steps"]["ticket"]
    if not attempt(
        item, "ticket", lambda key: world.create_ticket(item["id"], item["text"], key), state, world, save
    ):
        return
    if attempt(
        item, "notice", lambda key: world.send_notice(item["id"], ticket["external_id"], key), state, world, save
    ):
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
        if entry["decision"] is None and (decision := world.decision(entry["item"])):
            entry["decision"] = decision
            item = next(i for i in state["items"] if i["id"] == entry["item"])
            item["stage"] = "pending" if decision == "approved" else "rejected"
            save(state)
