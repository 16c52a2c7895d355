# right(level3-code): nothing is changed in place; a new document is built, saved, and only then taken over into the host's variable
import copy


def changed(state, item_id, name=None, spend=0, stage=None, **fields):
    new = copy.deepcopy(state)
    item = next(i for i in new["items"] if i["id"] == item_id)
    if name:
        item["steps"][name] = {**item["steps"][name], **fields}
    if stage:
        item["stage"] = stage
    new["budget"]["spent"] += spend
    return new


def take(state, new, save):
    save(new)
    state.clear()
    state.update(new)
    return state


def get(state, item_id):
    return next(i for i in state["items"] if i["id"] == item_id)


def handle(item, state, world, save):
    me = item["id"]
    if item["needs_approval"]:
        decisions = [a["decision"] for a in state["approvals"] if a["item"] == me]
        if not decisions:
            new = changed(state, me, stage="waiting_approval")
            entry = {"item": me, "action": "ticket", "requested_at": world.now(), "decision": None}
            new["approvals"] = [*new["approvals"], entry]
            take(state, new, save)
            return
        if decisions != ["approved"]:
            return
    for name in ("ticket", "notice"):
        if get(state, me)["steps"][name]["status"] == "todo":
            key = f"{state['task_id']}#{me}#{name}"
            take(state, changed(state, me, name, status="intent", idempotency_key=key), save)
        if get(state, me)["steps"][name]["status"] == "intent":
            if state["budget"]["spent"] + 1 > state["budget"]["limit"]:
                return
            take(state, changed(state, me, name, spend=1, status="started", at=world.now()), save)
            steps = get(state, me)["steps"]
            try:
                if name == "ticket":
                    receipt = world.create_ticket(me, item["text"], steps[name]["idempotency_key"])
                else:
                    about = steps["ticket"]["external_id"]
                    receipt = world.send_notice(me, about, steps[name]["idempotency_key"])
            except TimeoutError:
                return
            take(state, changed(state, me, name, status="done", external_id=receipt["id"], at=world.now()), save)
        if get(state, me)["steps"][name]["status"] != "done":
            return
    take(state, changed(state, me, stage="done"), save)


def recover(state, world, save):
    for me in [i["id"] for i in state["items"]]:
        for name in ("ticket", "notice"):
            step = get(state, me)["steps"][name]
            if step["status"] == "started":
                receipt = getattr(world, f"find_{name}")(step["idempotency_key"])
                if receipt is None:
                    take(state, changed(state, me, name, status="intent"), save)
                else:
                    take(state, changed(state, me, name, status="done", external_id=receipt["id"]), save)
        for place, entry in enumerate(state["approvals"]):
            if entry["item"] == me and entry["decision"] is None:
                decision = world.decision(me)
                if decision is not None:
                    new = changed(state, me, stage="rejected" if decision == "rejected" else "pending")
                    new["approvals"][place]["decision"] = decision
                    take(state, new, save)
                    break
