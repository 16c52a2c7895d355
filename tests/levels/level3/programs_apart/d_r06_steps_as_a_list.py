# right(level3-design): the steps of an item are a list of dicts with names
task_state = {
    "goal": "Mend the shop's titles",
    "plan": ["ticket", "notice"],
    "created_at": "2026-05-01T08:00:00Z",
    "updated_at": "2026-05-02T08:00:00Z",
    "progress": {"total": 3, "done": 1, "failed": 0, "waiting_approval": 1, "pending": 1},
    "items": [
        {
            "id": "p1",
            "stage": "done",
            "steps": [
                {"name": "ticket", "status": "done", "idempotency_key": "t/p1/1", "external_id": "T-1", "at": "2026-05-01T08:05:00Z"},
                {"name": "notice", "status": "done", "idempotency_key": "t/p1/2", "external_id": "N-1", "at": "2026-05-01T08:06:00Z"},
            ],
        },
        {
            "id": "p2",
            "stage": "pending",
            "steps": [
                {"name": "ticket", "status": "started", "idempotency_key": "t/p2/1", "external_id": None, "at": "2026-05-02T08:00:00Z"},
                {"name": "notice", "status": "todo", "idempotency_key": None, "external_id": None, "at": None},
            ],
        },
    ],
    "approvals": [{"item": "p3", "action": "ticket", "requested_at": "2026-05-01T09:00:00Z", "decision": None}],
    "artifacts": {"report": "report.html"},
    "budget": {"limit": 10, "spent": 3},
}
three_saves = [
    {"name": "ticket", "status": "intent", "idempotency_key": "t/p2/1", "external_id": None},
    {"name": "ticket", "status": "started", "idempotency_key": "t/p2/1", "external_id": None},
    {"name": "ticket", "status": "done", "idempotency_key": "t/p2/1", "external_id": "T-2"},
]
