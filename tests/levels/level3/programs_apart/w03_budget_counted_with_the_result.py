# wrong(level3-code): the call is counted in the save of its result, so one whose answer is lost was never counted
class Runner:
    def __init__(self, item, state, world, save):
        self.item, self.state, self.world, self.save = item, state, world, save

    def send(self, name, key):
        if name == "ticket":
            return self.world.create_ticket(self.item["id"], self.item["text"], key)
        return self.world.send_notice(self.item["id"], self.item["steps"]["ticket"]["external_id"], key)

    def step(self, name):
        step = self.item["steps"][name]
        if step["status"] == "todo":
            step.update(status="intent", idempotency_key=f"{self.state['task_id']}/{self.item['id']}/{name}")
            self.save(self.state)
        if step["status"] == "intent" and self.state["budget"]["spent"] < self.state["budget"]["limit"]:
            step.update(status="started", at=self.world.now())
            self.save(self.state)
            try:
                receipt = self.send(name, step["idempotency_key"])
            except TimeoutError:
                return False
            self.state["budget"]["spent"] += 1
            step.update(status="done", external_id=receipt["id"], at=self.world.now())
            self.save(self.state)
        return step["status"] == "done"


def handle(item, state, world, save):
    if item["needs_approval"]:
        entry = next((e for e in state["approvals"] if e["item"] == item["id"]), None)
        if entry is None:
            state["approvals"].append(
                {"item": item["id"], "action": "ticket", "requested_at": world.now(), "decision": None}
            )
            item["stage"] = "waiting_approval"
            save(state)
            return
        if entry["decision"] != "approved":
            return
    runner = Runner(item, state, world, save)
    if runner.step("ticket") and runner.step("notice"):
        item["stage"] = "done"
        save(state)


def recover(state, world, save):
    find = {"ticket": world.find_ticket, "notice": world.find_notice}
    for item in state["items"]:
        for name, step in item["steps"].items():
            if step["status"] == "started":
                receipt = find[name](step["idempotency_key"])
                if receipt:
                    step.update(status="done", external_id=receipt["id"], at=world.now())
                else:
                    step["status"] = "intent"
                save(state)
    for entry in state["approvals"]:
        if entry["decision"] is None and (decision := world.decision(entry["item"])):
            entry["decision"] = decision
            item = next(i for i in state["items"] if i["id"] == entry["item"])
            item["stage"] = "pending" if decision == "approved" else "rejected"
            save(state)
