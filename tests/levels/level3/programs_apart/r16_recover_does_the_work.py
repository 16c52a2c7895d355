# right(level3-code): recover already carries every begun item as far as it goes; handle is the same function
def key_of(state, item, name):
    return "{task_id}/{0}/{1}".format(item["id"], name, **{"task_id": state["task_id"]})


def push(item, state, world, save):
    waits = {entry["item"]: entry for entry in state["approvals"]}
    if item["needs_approval"]:
        if item["id"] not in waits:
            item["stage"] = "waiting_approval"
            state["approvals"].append(
                {"item": item["id"], "action": "ticket", "requested_at": world.now(), "decision": None}
            )
            save(state)
            return
        entry = waits[item["id"]]
        if entry["decision"] is None:
            said = world.decision(item["id"])
            if said is None:
                return
            entry["decision"] = said
            item["stage"] = "rejected" if said == "rejected" else "pending"
            save(state)
        if entry["decision"] == "rejected":
            return
    for name in ("ticket", "notice"):
        step = item["steps"][name]
        if step["status"] == "started":
            receipt = world.find_ticket(step["idempotency_key"]) if name == "ticket" else (
                world.find_notice(step["idempotency_key"])
            )
            if receipt is not None:
                step.update(external_id=receipt["id"], status="done", at=world.now())
            else:
                step.update(status="intent")
            save(state)
        if step["status"] == "todo":
            step.update(status="intent", idempotency_key=key_of(state, item, name), at=world.now())
            save(state)
        if step["status"] == "intent":
            if state["budget"]["spent"] >= state["budget"]["limit"]:
                return
            state["budget"]["spent"] += 1
            step.update(status="started", at=world.now())
            save(state)
            try:
                receipt = (
                    world.create_ticket(item["id"], item["text"], step["idempotency_key"])
                    if name == "ticket"
                    else world.send_notice(
                        item["id"], item["steps"]["ticket"]["external_id"], step["idempotency_key"]
                    )
                )
            except TimeoutError:
                return
            step.update(external_id=receipt["id"], status="done", at=world.now())
            save(state)
    item["stage"] = "done"
    save(state)


def handle(item, state, world, save):
    push(item, state, world, save)


def recover(state, world, save):
    for item in state["items"]:
        begun = any(step["status"] != "todo" for step in item["steps"].values())
        if item["stage"] not in ("done", "rejected") and begun:
            push(item, state, world, save)
