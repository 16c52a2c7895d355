# right(level3-code): a state machine written with match; the last save books the notice and the item's stage together
def turn(item, state, world, save, name):
    """Take the step one status further; return False when it can't go on today."""
    step = item["steps"][name]
    match step:
        case {"status": "done"}:
            return False
        case {"status": "todo"}:
            step |= {"status": "intent", "idempotency_key": f"{item['id']}-{name}-{state['task_id']}"}
        case {"status": "intent"}:
            match state["budget"]:
                case {"limit": limit, "spent": spent} if spent >= limit:
                    return False
            state["budget"]["spent"] += 1
            step |= {"status": "started", "at": world.now()}
        case {"status": "started", "idempotency_key": key}:
            try:
                match name:
                    case "ticket":
                        receipt = world.create_ticket(item["id"], item["text"], key)
                    case "notice":
                        receipt = world.send_notice(item["id"], item["steps"]["ticket"]["external_id"], key)
            except TimeoutError:
                return False
            step |= {"status": "done", "external_id": receipt["id"], "at": world.now()}
            if name == "notice":
                item["stage"] = "done"
    save(state)
    return True


def handle(item, state, world, save):
    match (item["needs_approval"], [a for a in state["approvals"] if a["item"] == item["id"]]):
        case (True, []):
            state["approvals"].append(
                {"item": item["id"], "action": "ticket", "requested_at": world.now(), "decision": None}
            )
            item["stage"] = "waiting_approval"
            save(state)
            return
        case (True, [{"decision": None | "rejected"}]):
            return
    for name in ("ticket", "notice"):
        while turn(item, state, world, save, name):
            pass
        if item["steps"][name]["status"] != "done":
            return


def recover(state, world, save):
    for item in state["items"]:
        for name, step in item["steps"].items():
            match step:
                case {"status": "started", "idempotency_key": key}:
                    receipt = {"ticket": world.find_ticket, "notice": world.find_notice}[name](key)
                    match receipt:
                        case None:
                            step["status"] = "intent"
                        case {"id": number}:
                            step |= {"status": "done", "external_id": number, "at": world.now()}
                            if name == "notice":
                                item["stage"] = "done"
                    save(state)
        for entry in state["approvals"]:
            match entry:
                case {"item": name, "decision": None} if name == item["id"]:
                    match world.decision(name):
                        case "approved":
                            entry["decision"], item["stage"] = "approved", "pending"
                            save(state)
                        case "rejected":
                            entry["decision"], item["stage"] = "rejected", "rejected"
                            save(state)
