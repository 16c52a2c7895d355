# right(level3-code): recovery collects everything it learns in memory and saves once; asking twice after a crash does no harm
def handle(item, state, world, save):
    approval = None
    for entry in state["approvals"]:
        if entry["item"] == item["id"]:
            approval = entry
    if item["needs_approval"] and approval is None:
        item["stage"] = "waiting_approval"
        state["approvals"].insert(
            0, {"item": item["id"], "action": "ticket", "requested_at": world.now(), "decision": None}
        )
        save(state)
        return
    if item["needs_approval"] and approval["decision"] is None:
        return
    budget = state["budget"]
    for name in ("ticket", "notice"):
        step = item["steps"][name]
        if step["status"] == "todo":
            step["status"] = "intent"
            step["idempotency_key"] = f"{item['id']}/{name}@{state['created_at']}"
            save(state)
        if step["status"] == "intent":
            if budget["spent"] >= budget["limit"]:
                return
            step["status"] = "started"
            budget["spent"] += 1
            save(state)
            try:
                if name == "ticket":
                    receipt = world.create_ticket(item["id"], item["text"], step["idempotency_key"])
                elif name == "notice":
                    receipt = world.send_notice(
                        item["id"], item["steps"]["ticket"]["external_id"], step["idempotency_key"]
                    )
            except TimeoutError:
                return
            else:
                step["status"] = "done"
                step["external_id"] = receipt["id"]
                step["at"] = world.now()
                if name == "notice":
                    item["stage"] = "done"
                save(state)
        elif step["status"] == "started":
            return
    if item["stage"] != "done":
        item["stage"] = "done"
        save(state)


def recover(state, world, save):
    learned = 0
    for item in state["items"]:
        ticket, notice = item["steps"]["ticket"], item["steps"]["notice"]
        if ticket["status"] == "started":
            learned += 1
            if (receipt := world.find_ticket(ticket["idempotency_key"])) is not None:
                ticket["status"] = "done"
                ticket["external_id"] = receipt["id"]
            else:
                ticket["status"] = "intent"
        if notice["status"] == "started":
            learned += 1
            if (receipt := world.find_notice(notice["idempotency_key"])) is not None:
                notice["status"] = "done"
                notice["external_id"] = receipt["id"]
            else:
                notice["status"] = "intent"
        for entry in state["approvals"]:
            if entry["item"] == item["id"] and entry["decision"] is None:
                decision = world.decision(item["id"])
                if decision is not None:
                    learned += 1
                    entry["decision"] = decision
                    item["stage"] = "pending" if decision == "approved" else "rejected"
    if learned:
        save(state)
