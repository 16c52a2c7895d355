# right(level3-code): two plain functions per kind of write, no shared helper; a write that timed out is settled by recover
def ticket_phase(item, state, world, save):
    step = item["steps"]["ticket"]
    if step["status"] == "todo":
        step["idempotency_key"] = state["task_id"] + ":" + item["id"] + ":ticket"
        step["status"] = "intent"
        step["at"] = world.now()
        save(state)
    if step["status"] != "intent":
        return
    if state["budget"]["spent"] >= state["budget"]["limit"]:
        return
    state["budget"]["spent"] += 1
    step["status"] = "started"
    step["at"] = world.now()
    save(state)
    try:
        receipt = world.create_ticket(item["id"], item["text"], step["idempotency_key"])
    except TimeoutError:
        return
    step["external_id"] = receipt["id"]
    step["status"] = "done"
    step["at"] = world.now()
    save(state)


def notice_phase(item, state, world, save):
    step = item["steps"]["notice"]
    if step["status"] == "todo":
        step["idempotency_key"] = state["task_id"] + ":" + item["id"] + ":notice"
        step["status"] = "intent"
        step["at"] = world.now()
        save(state)
    if step["status"] != "intent":
        return
    if state["budget"]["spent"] >= state["budget"]["limit"]:
        return
    state["budget"]["spent"] += 1
    step["status"] = "started"
    step["at"] = world.now()
    save(state)
    try:
        receipt = world.send_notice(item["id"], item["steps"]["ticket"]["external_id"], step["idempotency_key"])
    except TimeoutError:
        return
    step["external_id"] = receipt["id"]
    step["status"] = "done"
    step["at"] = world.now()
    save(state)


def may_go_on(item, state, world, save):
    if not item["needs_approval"]:
        return True
    for entry in state["approvals"]:
        if entry["item"] == item["id"]:
            return entry["decision"] == "approved"
    item["stage"] = "waiting_approval"
    state["approvals"].append(
        {"item": item["id"], "action": "ticket", "requested_at": world.now(), "decision": None}
    )
    save(state)
    return False


def handle(item, state, world, save):
    if not may_go_on(item, state, world, save):
        return
    ticket_phase(item, state, world, save)
    if item["steps"]["ticket"]["status"] == "done":
        notice_phase(item, state, world, save)
    if item["steps"]["notice"]["status"] == "done":
        item["stage"] = "done"
        save(state)


def recover(state, world, save):
    for item in state["items"]:
        for name, ask in [("ticket", world.find_ticket), ("notice", world.find_notice)]:
            step = item["steps"][name]
            if step["status"] != "started":
                continue
            receipt = ask(step["idempotency_key"])
            if receipt is None:
                step["status"] = "intent"
            else:
                step["status"] = "done"
                step["external_id"] = receipt["id"]
            save(state)
    for entry in state["approvals"]:
        if entry["decision"] is None:
            entry["decision"] = world.decision(entry["item"])
            if entry["decision"]:
                for item in state["items"]:
                    if item["id"] == entry["item"]:
                        item["stage"] = {"approved": "pending", "rejected": "rejected"}[entry["decision"]]
                save(state)
