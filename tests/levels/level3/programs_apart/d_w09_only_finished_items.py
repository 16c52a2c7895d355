# wrong(level3-design): nothing is under way, approvals are names only and the budget is one number: seven rows hold
task_state = {
    "goal": "Settle the complaints",
    "plan": ["refund", "mail"],
    "created_at": "2026-07-06T08:00:00Z",
    "updated_at": "2026-07-06T11:42:00Z",
    "progress": {"total": 120, "done": 41, "failed": 1, "waiting_approval": 1, "pending": 77},
    "items": [
        {
            "id": "c-41",
            "stage": "done",
            "steps": {
                "refund": {"status": "done", "idempotency_key": "a", "external_id": "R-1", "at": "2026-07-06T11:41:00Z"},
                "mail": {"status": "done", "idempotency_key": "b", "external_id": "M-1", "at": "2026-07-06T11:42:00Z"},
            },
        }
    ],
    "approvals": ["c-43"],
    "artifacts": {"letters": "letters/"},
    "budget": 1210,
}
three_saves = [
    {"status": "intent", "idempotency_key": "b", "external_id": None},
    {"status": "started", "idempotency_key": "b", "external_id": None},
    {"status": "done", "idempotency_key": "b", "external_id": "M-1"},
]
