# wrong(level3-design): the three saves carry three different keys, so a question with the last finds nothing
import uuid

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
    "approvals": [{"item": "c-43", "action": "refund", "requested_at": "2026-07-06T10:00:00Z", "decision": None}],
    "artifacts": {"letters": "letters/"},
    "budget": {"limit": 3000, "spent": 1210},
}
three_saves = [
    {"status": status, "idempotency_key": str(uuid.uuid4()), "external_id": "M-1" if status == "done" else None}
    for status in ("intent", "started", "done")
]
