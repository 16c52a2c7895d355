# right(level3-design): the state as JSON text in camelCase, the saves as dicts in the same style
task_state = """
{
  "taskId": "refunds-nov",
  "goal": "Settle 120 complaints",
  "plan": ["check", "refund", "mail"],
  "createdAt": "2026-11-01T07:00:00Z",
  "updatedAt": "2026-11-03T13:30:00Z",
  "progress": {"total": 120, "done": 58, "failed": 2, "waitingApproval": 1, "pending": 59},
  "items": [
    {"id": "k-58", "stage": "done", "steps": {
      "refund": {"status": "done", "idempotencyKey": "refunds-nov:k-58:refund", "externalId": "P-77", "at": "2026-11-03T13:10:00Z"},
      "mail":   {"status": "done", "idempotencyKey": "refunds-nov:k-58:mail", "externalId": "M-12", "at": "2026-11-03T13:12:00Z"}}},
    {"id": "k-59", "stage": "refunding", "steps": {
      "refund": {"status": "started", "idempotencyKey": "refunds-nov:k-59:refund", "externalId": null, "at": "2026-11-03T13:30:00Z"},
      "mail":   {"status": "todo", "idempotencyKey": null, "externalId": null, "at": null}}}
  ],
  "approvals": [
    {"item": "k-60", "action": "refund of 230 EUR", "requestedAt": "2026-11-03T09:00:00Z", "decision": null}
  ],
  "artifacts": {"letters": "s3://complaints/letters/"},
  "budget": {"limit": 4000, "spent": 1985.5}
}
"""

three_saves = [
    {"status": "intent", "idempotencyKey": "refunds-nov:k-59:refund", "externalId": None},
    {"status": "started", "idempotencyKey": "refunds-nov:k-59:refund", "externalId": None},
    {"status": "done", "idempotencyKey": "refunds-nov:k-59:refund", "externalId": "P-78"},
]
