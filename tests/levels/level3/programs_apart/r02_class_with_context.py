# right(level3-code): a class holds state, world and save; an uncertain write is settled at once, then tried again within the budget
class Job:
    def __init__(self, state, world, save):
        self.state, self.world, self._save = state, world, save

    def save(self):
        self.state["updated_at"] = self.world.now()
        self._save(self.state)

    def entry(self, item):
        found = [e for e in self.state["approvals"] if e["item"] == item["id"]]
        return found[0] if found else None

    def ask(self, item):
        item["stage"] = "waiting_approval"
        self.state["approvals"] += [
            {"item": item["id"], "action": "ticket", "requested_at": self.world.now(), "decision": None}
        ]
        self.save()

    def settle(self, item, name):
        step = item["steps"][name]
        find = self.world.find_ticket if name == "ticket" else self.world.find_notice
        receipt = find(step["idempotency_key"])
        if receipt:
            self.proved(step, receipt)
        else:
            step["status"] = "intent"
            self.save()

    def proved(self, step, receipt):
        step["status"], step["external_id"], step["at"] = "done", receipt["id"], self.world.now()
        self.save()

    def attempt(self, item, name):
        step = item["steps"][name]
        budget = self.state["budget"]
        while step["status"] != "done":
            if step["status"] == "todo":
                step["idempotency_key"] = f"{self.state['task_id']}|{item['id']}|{name}"
                step["status"] = "intent"
                self.save()
            elif step["status"] == "started":
                self.settle(item, name)
            else:
                if budget["spent"] >= budget["limit"]:
                    return False
                budget["spent"] += 1
                step["status"], step["at"] = "started", self.world.now()
                self.save()
                try:
                    if name == "ticket":
                        receipt = self.world.create_ticket(item["id"], item["text"], step["idempotency_key"])
                    else:
                        about = item["steps"]["ticket"]["external_id"]
                        receipt = self.world.send_notice(item["id"], about, step["idempotency_key"])
                except TimeoutError:
                    continue
                self.proved(step, receipt)
        return True

    def work(self, item):
        if item["needs_approval"]:
            entry = self.entry(item)
            if entry is None:
                return self.ask(item)
            if entry["decision"] != "approved":
                return None
        if all(self.attempt(item, name) for name in ("ticket", "notice")):
            item["stage"] = "done"
            self.save()
        return None


def handle(item, state, world, save):
    Job(state, world, save).work(item)


def recover(state, world, save):
    job = Job(state, world, save)
    for item in state["items"]:
        for name in item["steps"]:
            if item["steps"][name]["status"] == "started":
                job.settle(item, name)
    for item in state["items"]:
        entry = job.entry(item)
        if entry and entry["decision"] is None and (said := world.decision(item["id"])):
            entry["decision"] = said
            item["stage"] = "rejected" if said == "rejected" else "pending"
            job.save()
