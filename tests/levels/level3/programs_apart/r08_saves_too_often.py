# right(level3-code): saves before and after everything, asks before every call, looks before it writes
def find(world, name, key):
    return world.find_ticket(key) if name == "ticket" else world.find_notice(key)


def book(step, receipt, world):
    step["external_id"] = receipt["id"]
    step["at"] = world.now()
    step["status"] = "done"


def do(item, name, state, world, save):
    save(state)
    step = item["steps"][name]
    if step["status"] == "done":
        return True
    if step["status"] == "todo":
        step["idempotency_key"] = f"{state['task_id']}-{item['id']}-{name}"
        step["status"] = "intent"
        save(state)
        save(state)
    known = find(world, name, step["idempotency_key"])
    if known is None:
        if not state["budget"]["spent"] < state["budget"]["limit"]:
            return False
        step["status"] = "started"
        step["at"] = world.now()
        state["budget"]["spent"] += 1
        save(state)
        save(state)
        try:
            if name == "ticket":
                known = world.create_ticket(item_id=item["id"], text=item["text"], key=step["idempotency_key"])
            else:
                known = world.send_notice(
                    item_id=item["id"],
                    ticket_id=item["steps"]["ticket"]["external_id"],
                    key=step["idempotency_key"],
                )
        except TimeoutError:
            known = find(world, name, step["idempotency_key"])
            if known is None:
                step["status"] = "intent"
                save(state)
                return False
    book(step, known, world)
    save(state)
    save(state)
    return True


def handle(item, state, world, save):
    save(state)
    if item["needs_approval"]:
        mine = [entry for entry in state["approvals"] if entry["item"] == item["id"]]
        if len(mine) == 0:
            entry = {"item": item["id"], "action": "ticket", "requested_at": world.now(), "decision": None}
            state["approvals"].append(entry)
            item["stage"] = "waiting_approval"
            save(state)
            save(state)
            return
        if mine[0]["decision"] is None:
            return
    if do(item, "ticket", state, world, save):
        if do(item, "notice", state, world, save):
            item["stage"] = "done"
            save(state)
    save(state)


def recover(state, world, save):
    save(state)
    for item in state["items"]:
        for name in ("ticket", "notice"):
            step = item["steps"][name]
            if step["status"] == "started":
                receipt = find(world, name, step["idempotency_key"])
                if receipt is not None:
                    book(step, receipt, world)
                else:
                    step["status"] = "intent"
                save(state)
    for entry in state["approvals"]:
        save(state)
        if entry["decision"] is None:
            decision = world.decision(entry["item"])
            if decision is not None:
                entry["decision"] = decision
                item = [one for one in state["items"] if one["id"] == entry["item"]][0]
                item["stage"] = "pending" if decision == "approved" else "rejected"
                save(state)
