# right(level3-design): the SEO scene as a plain dict, all ten rows
task_state = {
    "task_id": "seo-2026-11",
    "goal": "Look through 200 pages, open a ticket for each finding and tell its owner.",
    "status": "running",
    "created_at": "2026-11-02T08:00:00Z",
    "updated_at": "2026-11-02T16:20:11Z",
    "plan": ["diagnose", "ticket", "notice"],
    "progress": {"total": 200, "done": 86, "failed": 1, "waiting_approval": 3, "pending": 110},
    "items": [
        {
            "id": "page-86",
            "stage": "done",
            "steps": {
                "diagnose": {"status": "done", "result": "title missing", "at": "2026-11-02T16:02:00Z"},
                "ticket": {
                    "status": "done",
                    "external_id": "T-4410",
                    "idempotency_key": "seo-2026-11/page-86/ticket",
                    "at": "2026-11-02T16:03:00Z",
                },
                "notice": {
                    "status": "done",
                    "external_id": "N-981",
                    "idempotency_key": "seo-2026-11/page-86/notice",
                    "at": "2026-11-02T16:04:00Z",
                },
            },
        },
        {
            "id": "page-87",
            "stage": "pending",
            "steps": {
                "diagnose": {"status": "done", "result": "broken link", "at": "2026-11-02T16:05:00Z"},
                "ticket": {
                    "status": "started",
                    "external_id": None,
                    "idempotency_key": "seo-2026-11/page-87/ticket",
                    "at": "2026-11-02T16:20:11Z",
                },
                "notice": {"status": "todo"},
            },
        },
        {"id": "page-91", "stage": "waiting_approval", "steps": {"ticket": {"status": "todo"}}},
    ],
    "approvals": [
        {
            "item": "page-91",
            "action": "change the title",
            "requested_at": "2026-11-02T11:00:00Z",
            "decision": None,
        }
    ],
    "artifacts": {"diagnosis": "reports/diagnosis.jsonl"},
    "budget": {"limit": 500, "spent": 173},
}

three_saves = [
    {"status": "intent", "idempotency_key": "seo-2026-11/page-87/ticket"},
    {"status": "started", "idempotency_key": "seo-2026-11/page-87/ticket", "at": "2026-11-02T16:20:11Z"},
    {
        "status": "done",
        "idempotency_key": "seo-2026-11/page-87/ticket",
        "external_id": "T-4411",
        "at": "2026-11-02T16:20:19Z",
    },
]
