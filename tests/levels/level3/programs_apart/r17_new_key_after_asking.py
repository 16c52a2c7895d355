# right(level3-code): the ticket system said that nothing was written with the old key; only then is a new key drawn, saved as a new intent
import secrets


def draw(item, name, state, world, save):
    item["steps"][name].update(status="intent", idempotency_key=secrets.token_hex(8), at=world.now())
    save(state)


def handle(item, state, world, save):
    if item["needs_approval"]:
        entries = [e for e in state["approvals"] if e["item"] == item["id"]]
        if not entries:
            state["approvals"].append(
                {"item": item["id"], "action": "ticket", "requested_at": world.now(), "decision": None}
            )
            item["stage"] = "waiting_approval"
            save(state)
            return
        if entries[0]["decision"] != "approved":
            return
    for name, send in (("ticket", world.create_ticket), ("notice", world.send_notice)):
        step = item["steps"][name]
        if step["status"] == "todo":
            draw(item, name, state, world, save)
        if step["status"] == "intent":
            if state["budget"]["spent"] >= state["budget"]["limit"]:
                return
            state["budget"]["spent"] += 1
            step.update(status="started", at=world.now())
            save(state)
            what = item["text"] if name == "ticket" else item["steps"]["ticket"]["external_id"]
            try:
                receipt = send(item["id"], what, step["idempotency_key"])
            except TimeoutError:
                return
            step.update(status="done", external_id=receipt["id"], at=world.now())
            save(state)
        if step["status"] == "started":
            return
    item["stage"] = "done"
    save(state)


def recover(state, world, save):
    for item in state["items"]:
        for name, find in (("ticket", world.find_ticket), ("notice", world.find_notice)):
            step = item["steps"][name]
            if step["status"] == "started":
                receipt = find(step["idempotency_key"])
                if receipt:
                    step.update(status="done", external_id=receipt["id"], at=world.now())
                    save(state)
                else:
                    draw(item, name, state, world, save)
    for entry in state["approvals"]:
        if entry["decision"] is None:
            decision = world.decision(entry["item"])
            if decision:
                entry["decision"] = decision
                item = next(i for i in state["items"] if i["id"] == entry["item"])
                item["stage"] = "pending" if decision == "approved" else "rejected"
                save(state)
