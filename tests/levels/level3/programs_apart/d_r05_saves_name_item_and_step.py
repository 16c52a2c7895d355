# right(level3-design): each of the three saves also says which item and step it is about; keys are uuids drawn once
import json
import uuid

key = str(uuid.UUID(int=7))
three_saves = [
    {"item": "c-9", "step": "mail", "status": "intent", "idempotency_key": key, "external_id": None},
    {"item": "c-9", "step": "mail", "status": "started", "idempotency_key": key, "external_id": None},
    {"item": "c-9", "step": "mail", "status": "done", "idempotency_key": key, "external_id": "msg-20931"},
]
task_state = json.dumps(
    {
        "task_id": "tickets",
        "goal": "把 120 位客户的工单处理完",
        "plan": ["退款", "回信"],
        "created_at": "2026-09-01T09:00:00+08:00",
        "updated_at": "2026-09-01T15:00:00+08:00",
        "progress": {"total": 120, "done": 8, "failed": 0, "waiting_approval": 1, "pending": 111},
        "items": [
            {
                "id": "c-9",
                "stage": "refunded",
                "steps": {
                    "refund": {
                        "status": "done",
                        "idempotency_key": "r-9",
                        "external_id": "pay-311",
                        "at": "2026-09-01T14:58:00+08:00",
                    },
                    "mail": {"status": "started", "idempotency_key": key, "external_id": None, "at": "2026-09-01T15:00:00+08:00"},
                },
            }
        ],
        "approvals": [
            {"item": "c-10", "action": "退款 200 元", "requested_at": "2026-09-01T14:00:00+08:00", "decision": None}
        ],
        "artifacts": {"letters": "letters/2026-09/"},
        "budget": {"limit": 240, "spent": 17},
    },
    ensure_ascii=False,
    indent=1,
)
