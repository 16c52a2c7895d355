# right(level3-code): a generator yields whenever the state must be on disk; handle only saves at each yield
def phases(item, state, world):
    def entry():
        return next((a for a in state["approvals"] if a["item"] == item["id"]), None)

    if item["needs_approval"] and entry() is None:
        item["stage"] = "waiting_approval"
        state["approvals"].append(
            dict(item=item["id"], action="ticket", requested_at=world.now(), decision=None)
        )
        yield "asked"
        return
    if item["needs_approval"] and entry()["decision"] != "approved":
        return
    for name in ("ticket", "notice"):
        step = item["steps"][name]
        if step["status"] == "todo":
            step.update(status="intent", idempotency_key=f"{name}/{item['id']}/{state['task_id']}", at=world.now())
            yield "intent"
        if step["status"] == "intent":
            if state["budget"]["spent"] == state["budget"]["limit"]:
                return
            state["budget"]["spent"] += 1
            step.update(status="started", at=world.now())
            yield "started"
            try:
                if name == "ticket":
                    receipt = world.create_ticket(item["id"], item["text"], step["idempotency_key"])
                else:
                    receipt = world.send_notice(
                        item["id"], item["steps"]["ticket"]["external_id"], step["idempotency_key"]
                    )
            except TimeoutError:
                return
            step.update(status="done", external_id=receipt["id"], at=world.now())
            yield "result"
        if step["status"] == "started":
            return
    item["stage"] = "done"
    yield "over"


def handle(item, state, world, save):
    for _ in phases(item, state, world):
        save(state)


def settled(state, world):
    find = {"ticket": world.find_ticket, "notice": world.find_notice}
    unsure = ((name, step) for item in state["items"] for name, step in item["steps"].items())
    for name, step in unsure:
        if step["status"] == "started":
            receipt = find[name](step["idempotency_key"])
            if receipt is None:
                step["status"] = "intent"
            else:
                step.update(status="done", external_id=receipt["id"], at=world.now())
            yield
    for item in state["items"]:
        for approval in state["approvals"]:
            if approval["item"] == item["id"] and not approval["decision"]:
                approval["decision"] = world.decision(item["id"])
                if approval["decision"]:
                    item["stage"] = "pending" if approval["decision"] == "approved" else "rejected"
                    yield


def recover(state, world, save):
    for _ in settled(state, world):
        save(state)
