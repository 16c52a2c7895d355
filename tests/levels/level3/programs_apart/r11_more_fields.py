# right(level3-code): counts tries, keeps a log, progress and the person's answer time in the state; asks the world again inside handle too
def count(state):
    stages = [item["stage"] for item in state["items"]]
    state["progress"] = {
        "total": len(stages),
        "done": stages.count("done") + stages.count("rejected"),
        "failed": 0,
        "waiting_approval": stages.count("waiting_approval"),
        "pending": stages.count("pending"),
    }
    state["last_checkpoint"] = state.get("last_checkpoint", 0) + 1


def put(state, save, line=None):
    if line:
        state.setdefault("log", []).append(line)
    count(state)
    save(state)


def collect(item, state, world, save):
    for entry in state["approvals"]:
        if entry["item"] == item["id"] and entry["decision"] is None:
            decision = world.decision(item["id"])
            if decision is not None:
                entry["decision"] = decision
                entry["decided_at"] = world.now()
                item["stage"] = "pending" if decision == "approved" else "rejected"
                put(state, save, f"{item['id']}: {decision}")


def settle(item, name, state, world, save):
    step = item["steps"][name]
    receipt = getattr(world, "find_" + name)(step["idempotency_key"])
    if receipt:
        step["status"] = "done"
        step["external_id"] = receipt["id"]
        step["at"] = world.now()
        put(state, save, f"{item['id']}: {name} found")
    else:
        step["status"] = "intent"
        put(state, save, f"{item['id']}: {name} never arrived")


def handle(item, state, world, save):
    if item["needs_approval"]:
        if not any(entry["item"] == item["id"] for entry in state["approvals"]):
            state["approvals"].append(
                {"item": item["id"], "action": "ticket", "requested_at": world.now(), "decision": None, "by": None}
            )
            item["stage"] = "waiting_approval"
            put(state, save, f"{item['id']}: asked")
        collect(item, state, world, save)
        decision = next(entry["decision"] for entry in state["approvals"] if entry["item"] == item["id"])
        if decision != "approved":
            return
    for name in ("ticket", "notice"):
        step = item["steps"][name]
        step.setdefault("tries", 0)
        if step["status"] == "todo":
            step["status"] = "intent"
            step["idempotency_key"] = f"{state['task_id']}/{item['id']}/{name}"
            put(state, save)
        if step["status"] == "intent" and state["budget"]["spent"] < state["budget"]["limit"]:
            step["tries"] += 1
            step["status"] = "started"
            step["at"] = world.now()
            state["budget"]["spent"] += 1
            put(state, save, f"{item['id']}: {name}, try {step['tries']}")
            try:
                if name == "ticket":
                    receipt = world.create_ticket(item["id"], item["text"], step["idempotency_key"])
                else:
                    ticket_id = item["steps"]["ticket"]["external_id"]
                    receipt = world.send_notice(item["id"], ticket_id, step["idempotency_key"])
                step["status"] = "done"
                step["external_id"] = receipt["id"]
                step["at"] = world.now()
                put(state, save)
            except TimeoutError as error:
                step["error"] = str(error)
                put(state, save)
                settle(item, name, state, world, save)
        if step["status"] != "done":
            return
    item["stage"] = "done"
    put(state, save, f"{item['id']}: over")


def recover(state, world, save):
    for item in state["items"]:
        for name in item["steps"]:
            if item["steps"][name]["status"] == "started":
                settle(item, name, state, world, save)
        collect(item, state, world, save)
