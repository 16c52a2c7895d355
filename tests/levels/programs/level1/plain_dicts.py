# A dict of the same keys, a tuple, a list, names in snake_case, JavaScript's words: the same answer in other forms.
missing = dict(
    version=("format-unknown", "misread", "Nothing in the file tells an old format from a new one, so the loader can neither refuse nor migrate it; it parses on luck."),
    task={"consequence": "task-unknown", "prediction": "unnamed-finishes", "why": "The host doesn't know which task of the user this is, so it can't tell the user what is being resumed."},
    turns=["stop-late", 7 + 12, "The count starts again at 0. The limit of 12 then stops it too late, after 7 + 12 = 19 turns in all."],
    tokens_used=("compaction-late", 10, "The total used so far is lost and can't be recomputed, since past usage wasn't kept. So compaction is decided on a wrong total and comes too late."),
    pending_tool_use=dict(consequence="call-repeated", prediction=6, why="After a crash between the naming of the tool and the booking of its result, recovery doesn't know that a call is open. Did it run? It can't settle that and runs it again."),
)
