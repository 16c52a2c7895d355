# right(level3-code): works on dataclasses and writes them back into the host's dicts before every save
import dataclasses
from dataclasses import dataclass


@dataclass
class Step:
    status: str
    idempotency_key: str | None
    external_id: str | None
    at: str | None

    @property
    def open(self):
        return self.status != "done"


@dataclass
class Ask:
    item: str
    action: str
    requested_at: str
    decision: str | None = None


def load_steps(item):
    return {name: Step(**fields) for name, fields in item["steps"].items()}


def commit(item, steps, state, save):
    item["steps"] = {name: dataclasses.asdict(step) for name, step in steps.items()}
    save(state)


def handle(item, state, world, save):
    if item["needs_approval"]:
        asks = {entry["item"]: Ask(**entry) for entry in state["approvals"]}
        ask = asks.get(item["id"])
        if ask is None:
            state["approvals"].append(dataclasses.asdict(Ask(item["id"], "ticket", world.now())))
            item["stage"] = "waiting_approval"
            save(state)
            return
        if ask.decision != "approved":
            return
    steps = load_steps(item)
    calls = {
        "ticket": lambda: world.create_ticket(item["id"], item["text"], steps["ticket"].idempotency_key),
        "notice": lambda: world.send_notice(
            item["id"], steps["ticket"].external_id, steps["notice"].idempotency_key
        ),
    }
    for name, call in calls.items():
        step = steps[name]
        if step.status == "todo":
            steps[name] = step = dataclasses.replace(
                step, status="intent", idempotency_key=f"{state['task_id']}.{item['id']}.{name}"
            )
            commit(item, steps, state, save)
        if step.status == "intent":
            if state["budget"]["limit"] - state["budget"]["spent"] < 1:
                return
            state["budget"]["spent"] += 1
            step.status, step.at = "started", world.now()
            commit(item, steps, state, save)
            try:
                receipt = call()
            except TimeoutError:
                return
            step.status, step.external_id, step.at = "done", receipt["id"], world.now()
            commit(item, steps, state, save)
        if step.open:
            return
    item["stage"] = "done"
    commit(item, steps, state, save)


def recover(state, world, save):
    for item in state["items"]:
        steps = load_steps(item)
        for name, step in steps.items():
            if step.status == "started":
                receipt = (world.find_ticket if name == "ticket" else world.find_notice)(step.idempotency_key)
                if receipt:
                    step.status, step.external_id, step.at = "done", receipt["id"], world.now()
                else:
                    step.status = "intent"
                commit(item, steps, state, save)
    by_id = {item["id"]: item for item in state["items"]}
    for entry in state["approvals"]:
        if entry["decision"] is None and (decision := world.decision(entry["item"])) is not None:
            entry["decision"] = decision
            by_id[entry["item"]]["stage"] = "pending" if decision == "approved" else "rejected"
            save(state)
