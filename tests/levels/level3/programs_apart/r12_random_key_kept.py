# right(level3-code): the key is a uuid, drawn once at the intent, saved with it, and read from the state ever after
import uuid
from contextlib import suppress


def handle(item, state, world, save):
    if item["needs_approval"]:
        entry = next(filter(lambda a: a["item"] == item["id"], state["approvals"]), None)
        if entry is None:
            state["approvals"].append(
                {"item": item["id"], "action": "ticket", "requested_at": world.now(), "decision": None}
            )
            item["stage"] = "waiting_approval"
            return save(state)
        if entry["decision"] != "approved":
            return None
    for name in ["ticket", "notice"]:
        step = item["steps"][name]
        if step["status"] == "done":
            continue
        if step["status"] == "started":
            return None
        if step["idempotency_key"] is None:
            step["idempotency_key"] = str(uuid.uuid4())
            step["status"] = "intent"
            save(state)
        if state["budget"]["spent"] >= state["budget"]["limit"]:
            return None
        state["budget"]["spent"] += 1
        step["status"] = "started"
        save(state)
        with suppress(TimeoutError):
            key = step["idempotency_key"]
            if name == "ticket":
                receipt = world.create_ticket(item["id"], item["text"], key)
            else:
                receipt = world.send_notice(item["id"], item["steps"]["ticket"]["external_id"], key)
            step["external_id"] = receipt["id"]
            step["status"] = "done"
            step["at"] = world.now()
            save(state)
        if step["status"] != "done":
            return None
    item["stage"] = "done"
    return save(state)


def recover(state, world, save):
    for item in state["items"]:
        for name in ["ticket", "notice"]:
            step = item["steps"][name]
            if step["status"] == "started":
                look = world.find_ticket if name == "ticket" else world.find_notice
                receipt = look(step["idempotency_key"])
                step["status"] = "intent" if receipt is None else "done"
                if receipt is not None:
                    step["external_id"] = receipt["id"]
                    step["at"] = world.now()
                save(state)
        for entry in state["approvals"]:
            if entry["item"] == item["id"] and entry["decision"] is None:
                decision = world.decision(item["id"])
                if decision == "approved":
                    entry["decision"] = "approved"
                    item["stage"] = "pending"
                    save(state)
                if decision == "rejected":
                    entry["decision"] = "rejected"
                    item["stage"] = "rejected"
                    save(state)
