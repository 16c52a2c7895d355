# wrong(level3-design): only seven rows: approvals, budget and artifacts are missing
task_state = {
    "goal": "Settle the complaints",
    "plan": ["refund", "mail"],
    "created_at": "2026-07-06T08:00:00Z",
    "updated_at": "2026-07-06T11:42:00Z",
    "progress": {"total": 120, "done": 41, "failed": 1, "waiting_approval": 1, "pending": 77},
    "items": [
        {
            "id": "c-42",
            "stage": "refunded",
            "steps": {
                "refund": {"status": "done", "idempotency_key": "a", "external_id": "R-1", "at": "2026-07-06T11:41:00Z"},
                "mail": {"status": "started", "idempotency_key": "b", "external_id": None, "at": "2026-07-06T11:42:00Z"},
            },
        }
    ],
}
three_saves = [
    {"status": "intent", "idempotency_key": "b", "external_id": None},
    {"status": "started", "idempotency_key": "b", "external_id": None},
    {"status": "done", "idempotency_key": "b", "external_id": "M-1"},
]
