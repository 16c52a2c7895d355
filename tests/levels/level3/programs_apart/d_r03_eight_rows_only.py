# right(level3-design): no artifacts and no progress; the other eight rows are there
KEY = "jobs/7/page-3/notice"
task_state = {
    "goal": "Tell every owner what is wrong with their page.",
    "plan": ["look", "ticket", "notice"],
    "created_at": "2026-10-05T10:00:00Z",
    "updated_at": "2026-10-05T12:00:00Z",
    "items": [
        {
            "id": "page-3",
            "stage": "pending",
            "steps": {
                "ticket": {
                    "status": "done",
                    "idempotency_key": "jobs/7/page-3/ticket",
                    "external_id": "T-9",
                    "at": "2026-10-05T11:58:00Z",
                },
                "notice": {"status": "started", "idempotency_key": KEY, "external_id": None, "at": "2026-10-05T12:00:00Z"},
            },
        }
    ],
    "approvals": [
        {"item": "page-4", "action": "ticket", "requested_at": "2026-10-05T11:00:00Z", "decision": "approved"}
    ],
    "budget": {"limit": 60, "spent": 7},
}
base = {"status": "intent", "idempotency_key": KEY, "external_id": None, "at": "2026-10-05T11:59:59Z"}
three_saves = [base, {**base, "status": "started"}, {**base, "status": "done", "external_id": "N-5"}]
