# wrong(level3-code): the notice goes out although nobody knows whether its ticket was made, with the key where the ticket's id belongs
def send(item, name, state, world, save):
    step, ticket = item["steps"][name], item["steps"]["ticket"]
    if step["status"] == "todo":
        step.update(status="intent", idempotency_key=f"{state['task_id']}/{item['id']}/{name}", at=world.now())
        save(state)
    if step["status"] != "intent" or state["budget"]["spent"] >= state["budget"]["limit"]:
        return
    step.update(status="started", at=world.now())
    state["budget"]["spent"] += 1
    save(state)
    try:
        if name == "ticket":
            receipt = world.create_ticket(item["id"], item["text"], step["idempotency_key"])
        else:
            about = ticket["external_id"] or ticket["idempotency_key"]
            receipt = world.send_notice(item["id"], about, step["idempotency_key"])
    except TimeoutError:
        return
    step.update(status="done", external_id=receipt["id"], at=world.now())
    save(state)


def handle(item, state, world, save):
    if item["needs_approval"]:
        entry = next((e for e in state["approvals"] if e["item"] == item["id"]), None)
        if entry is None:
            item["stage"] = "waiting_approval"
            state["approvals"].append(
                {"item": item["id"], "action": "ticket", "requested_at": world.now(), "decision": None}
            )
            save(state)
            return
        if entry["decision"] != "approved":
            return
    for name in ("ticket", "notice"):
        send(item, name, state, world, save)
    if all(step["status"] == "done" for step in item["steps"].values()):
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
                    step.update(status="intent", external_id=None)
                save(state)
    for entry in state["approvals"]:
        if entry["decision"] is None and (said := world.decision(entry["item"])):
            entry["decision"] = said
            next(i for i in state["items"] if i["id"] == entry["item"])["stage"] = (
                "pending" if said == "approved" else "rejected"
            )
            save(state)
