# right(level3-code): a table from (step, status) to a function; recovery and work share it
NAMES = ["ticket", "notice"]


def intend(job, step, name):
    step["idempotency_key"] = "/".join([job["state"]["task_id"], job["item"]["id"], name])
    step["status"] = "intent"
    return True


def begin(job, step, name):
    budget = job["state"]["budget"]
    if budget["spent"] >= budget["limit"]:
        return False
    budget["spent"] = budget["spent"] + 1
    step["status"] = "started"
    step["at"] = job["world"].now()
    job["called"] = False
    return True


def call(job, step, name):
    item, world = job["item"], job["world"]
    send = {
        "ticket": lambda: world.create_ticket(item["id"], item["text"], step["idempotency_key"]),
        "notice": lambda: world.send_notice(
            item["id"], item["steps"]["ticket"]["external_id"], step["idempotency_key"]
        ),
    }
    if job["called"]:
        return False
    job["called"] = True
    try:
        receipt = send[name]()
    except TimeoutError:
        return False
    step["external_id"] = receipt["id"]
    step["status"] = "done"
    step["at"] = world.now()
    return True


WORK = {"todo": intend, "intent": begin, "started": call}


def advance(item, state, world, save):
    job = {"item": item, "state": state, "world": world, "called": True}
    for name in NAMES:
        step = item["steps"][name]
        while step["status"] in WORK and WORK[step["status"]](job, step, name):
            save(state)
        if step["status"] != "done":
            return False
    return True


def approved(item, state):
    if not item["needs_approval"]:
        return True
    return {a["item"]: a["decision"] for a in state["approvals"]}.get(item["id"], "ask")


def handle(item, state, world, save):
    answer = approved(item, state)
    if answer == "ask":
        now = world.now()
        state["approvals"].append({"item": item["id"], "action": "ticket", "requested_at": now, "decision": None})
        item["stage"] = "waiting_approval"
        save(state)
    elif answer in (True, "approved") and advance(item, state, world, save):
        item["stage"] = "done"
        save(state)


def recover(state, world, save):
    finders = dict(zip(NAMES, (world.find_ticket, world.find_notice)))
    for item in state["items"]:
        for name in NAMES:
            step = item["steps"][name]
            if step["status"] == "started":
                receipt = finders[name](step["idempotency_key"])
                step["status"] = "done" if receipt else "intent"
                step["external_id"] = receipt["id"] if receipt else None
                save(state)
        waiting = [a for a in state["approvals"] if a["item"] == item["id"] and a["decision"] is None]
        for entry in waiting:
            decision = world.decision(item["id"])
            if decision:
                entry["decision"] = decision
                item["stage"] = "rejected" if decision == "rejected" else "pending"
                save(state)
