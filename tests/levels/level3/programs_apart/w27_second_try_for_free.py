# wrong(level3-code): after a time-out the system is asked and the call made again at once, but the second call is not counted
def send(item, name, world):
    step = item["steps"][name]
    if name == "ticket":
        return world.create_ticket(item["id"], item["text"], step["idempotency_key"])
    return world.send_notice(item["id"], item["steps"]["ticket"]["external_id"], step["idempotency_key"])


def find(name, key, world):
    return world.find_ticket(key) if name == "ticket" else world.find_notice(key)


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
            step.update(status="intent", idempotency_key=f"{state['task_id']}/{item['id']}/{name}")
            save(state)
        if step["status"] == "intent" and state["budget"]["spent"] < state["budget"]["limit"]:
            step.update(status="started", at=world.now())
            state["budget"]["spent"] += 1
            save(state)
            receipt = None
            for _ in range(2):
                try:
                    receipt = send(item, name, world)
                except TimeoutError:
                    receipt = find(name, step["idempotency_key"], world)
                if receipt:
                    break
            if receipt is None:
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
                receipt = find(name, step["idempotency_key"], world)
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
