# wrong(level3-design): the text is not JSON: single quotes, None and a comma too many
task_state = """{
  'goal': 'Settle the complaints', 'plan': ['refund', 'mail'],
  'items': [{'id': 'c-42', 'stage': 'pending', 'steps': {'mail': {'status': 'started', 'idempotency_key': 'b', 'external_id': None}}},],
}"""
three_saves = [
    {"status": "intent", "idempotency_key": "b", "external_id": None},
    {"status": "started", "idempotency_key": "b", "external_id": None},
    {"status": "done", "idempotency_key": "b", "external_id": "M-1"},
]
