# right(level3-design): the state is built by functions over many items, with fields of its own
from datetime import datetime, timedelta

START = datetime(2026, 11, 9, 6, 30)


def at(minutes):
    return (START + timedelta(minutes=minutes)).isoformat() + "Z"


def step(item, name, status, number=None, minute=None):
    return {
        "status": status,
        "idempotency_key": f"answers/{item}/{name}" if status != "todo" else None,
        "external_id": number,
        "at": at(minute) if minute is not None else None,
        "attempts": 0 if status == "todo" else 1,
    }


def finished(number):
    name = f"case-{number:03}"
    steps = {
        "answer": step(name, "answer", "done", f"A-{500 + number}", number),
        "mail": step(name, "mail", "done", f"M-{700 + number}", number + 1),
    }
    return {"id": name, "customer": f"c{number}", "stage": "done", "steps": steps}


items = [finished(number) for number in range(1, 31)]
items.append(
    {
        "id": "case-031",
        "stage": "pending",
        "steps": {
            "answer": step("case-031", "answer", "started", minute=40),
            "mail": step("case-031", "mail", "todo"),
        },
    }
)
items.append({"id": "case-032", "stage": "waiting_approval", "steps": {"answer": step("case-032", "answer", "todo")}})
task_state = dict(
    version=1,
    task_id="answers",
    goal="Answer 120 customers",
    plan=["answer", "mail"],
    created_at=at(0),
    updated_at=at(40),
    progress=dict(total=120, done=30, failed=0, waiting_approval=1, pending=89),
    items=items,
    approvals=[dict(item="case-032", action="refund 150 EUR", requested_at=at(35), decision=None, asked="lea")],
    artifacts={"drafts": "drafts/answers/"},
    budget=dict(limit=300, spent=61, currency="calls"),
    owner="lea",
)
three_saves = [
    step("case-031", "answer", "intent", minute=39),
    step("case-031", "answer", "started", minute=40),
    step("case-031", "answer", "done", "A-531", 41),
]
