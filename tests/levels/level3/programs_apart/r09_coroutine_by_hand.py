# right(level3-code): coroutines driven by hand with send(None), no event loop needed
class Saved:
    def __init__(self, save, state):
        self.save, self.state = save, state

    def __await__(self):
        self.save(self.state)
        return iter(())
        yield


async def perform(item, name, state, world, save):
    step = item["steps"][name]
    if step["status"] == "todo":
        step["status"] = "intent"
        step["idempotency_key"] = f"{state['task_id']}/{name}/{item['id']}"
        await Saved(save, state)
    if step["status"] == "intent":
        if state["budget"]["spent"] >= state["budget"]["limit"]:
            return False
        state["budget"]["spent"] += 1
        step["status"], step["at"] = "started", world.now()
        await Saved(save, state)
        about = item["text"] if name == "ticket" else item["steps"]["ticket"]["external_id"]
        write = world.create_ticket if name == "ticket" else world.send_notice
        try:
            receipt = write(item["id"], about, step["idempotency_key"])
        except TimeoutError:
            return False
        step["status"], step["external_id"], step["at"] = "done", receipt["id"], world.now()
        await Saved(save, state)
    return step["status"] == "done"


async def work(item, state, world, save):
    if item["needs_approval"]:
        for entry in state["approvals"]:
            if entry["item"] == item["id"]:
                if entry["decision"] != "approved":
                    return
                break
        else:
            item["stage"] = "waiting_approval"
            state["approvals"].append(
                {"item": item["id"], "action": "ticket", "requested_at": world.now(), "decision": None}
            )
            await Saved(save, state)
            return
    if await perform(item, "ticket", state, world, save) and await perform(item, "notice", state, world, save):
        item["stage"] = "done"
        await Saved(save, state)


def drive(coroutine):
    try:
        while True:
            coroutine.send(None)
    except StopIteration as over:
        return over.value


def handle(item, state, world, save):
    drive(work(item, state, world, save))


async def look_back(state, world, save):
    for item in state["items"]:
        for name, finder in (("ticket", world.find_ticket), ("notice", world.find_notice)):
            step = item["steps"][name]
            if step["status"] == "started":
                receipt = finder(step["idempotency_key"])
                if receipt:
                    step["status"], step["external_id"] = "done", receipt["id"]
                else:
                    step["status"] = "intent"
                await Saved(save, state)
        for entry in state["approvals"]:
            if entry["item"] == item["id"] and entry["decision"] is None:
                said = world.decision(item["id"])
                if said:
                    entry["decision"] = said
                    item["stage"] = "pending" if said == "approved" else "rejected"
                    await Saved(save, state)


def recover(state, world, save):
    drive(look_back(state, world, save))
