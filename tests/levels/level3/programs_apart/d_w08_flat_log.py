# wrong(level3-design): a log of what was done instead of items with steps; keys and ids stand at the top
task_state = {
    "goal": "Settle the complaints",
    "plan": ["refund", "mail"],
    "created_at": "2026-07-06T08:00:00Z",
    "updated_at": "2026-07-06T11:42:00Z",
    "progress": {"total": 120, "done": 41, "failed": 1, "waiting_approval": 1, "pending": 77},
    "log": ["c-41 refunded as R-5520", "c-41 mailed", "c-42 refund started"],
    "status": "started",
    "idempotency_key": "refunds/c-42/refund",
    "external_id": "R-5520",
    "approvals": [{"item": "c-43", "action": "refund", "requested_at": "2026-07-06T10:00:00Z", "decision": None}],
    "artifacts": {"letters": "letters/"},
    "budget": {"limit": 3000, "spent": 1210},
}
three_saves = [
    {"status": "intent", "idempotency_key": "b", "external_id": None},
    {"status": "started", "idempotency_key": "b", "external_id": None},
    {"status": "done", "idempotency_key": "b", "external_id": "M-1"},
]
