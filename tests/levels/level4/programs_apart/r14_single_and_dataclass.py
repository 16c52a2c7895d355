# right(level4-code): one copy that is refused when it is damaged, under a dataclass
import hashlib
import json
import os
import tempfile

FILE = "task.state"


def save(state):
    """One copy. When it is damaged, load says so: nothing older is kept."""
    if state["version"] != 2:
        raise ValueError(state["version"])
    body = json.dumps(state, sort_keys=True)
    with tempfile.NamedTemporaryFile("w", dir=".", prefix=".task-", delete=False, encoding="utf-8") as file:
        file.write(hashlib.md5(body.encode()).hexdigest() + body)
        file.flush()
        os.fsync(file.fileno())
    os.replace(file.name, FILE)
    fd = os.open(".", os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)


def load():
    if os.path.exists("checkpoint.json"):
        with open("checkpoint.json", encoding="utf-8") as file:
            document = json.load(file)
        match document:
            case {"version": 1, "pendingToolUse": None}:
                document["pendingToolUse"] = []
            case {"version": 1, "pendingToolUse": dict() as call}:
                document["pendingToolUse"] = [call]
            case {"version": 1, "pendingToolUse": list()}:
                pass
            case _:
                raise ValueError("checkpoint.json: a version or a shape that is not known")
        document["version"] = 2
    else:
        document = None
    try:
        with open(FILE, encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        return document
    if hashlib.md5(text[32:].encode()).hexdigest() != text[:32]:
        raise ValueError("task.state is damaged")
    return json.loads(text[32:])


from dataclasses import asdict, dataclass, field


@dataclass
class Task:
    task: str
    version: int = 2
    turns: int = 0
    tokensUsed: int = 0  # noqa: N815
    messages: list = field(default_factory=list)
    pendingToolUse: list = field(default_factory=list)  # noqa: N815

    @classmethod
    def begin(cls, task):
        return cls(task, messages=[{"role": "user", "content": task}])

    def hear(self, answer):
        self.messages.append({"role": "assistant", "content": answer["content"]})
        self.tokensUsed += answer["tokens"]
        self.pendingToolUse = [
            dict(id=b["id"], name=b["name"], input=b["input"]) for b in answer["content"] if b["type"] == "tool_use"
        ]
        self.turns += not self.pendingToolUse

    def booked(self):
        last = self.messages[-1]
        if last["role"] != "user" or isinstance(last["content"], str):
            self.messages.append({"role": "user", "content": []})
        return self.messages[-1]["content"]

    @property
    def over(self):
        return self.messages[-1]["role"] == "assistant" and not self.pendingToolUse


def resume(task, world):
    found = load()
    job = Task(**found) if found else Task.begin(task)
    if job.over:
        return asdict(job)
    claim = world.claim()
    if claim is None:
        raise RuntimeError("the task is held by somebody else")

    def mine(save_it=False):
        if not world.renew(claim):
            raise RuntimeError("the claim ran out")
        if save_it:
            save(asdict(job))

    while not job.over:
        if job.pendingToolUse:
            for call in tuple(job.pendingToolUse):
                result = world.find_result(call["id"])
                if result is None:
                    mine()
                    result = world.run_tool(call)
                job.booked().append({"type": "tool_result", "tool_use_id": call["id"], "content": result})
                job.pendingToolUse.remove(call)
                job.turns += not job.pendingToolUse
                mine(save_it=True)
        else:
            mine()
            answer = world.call_model(job.messages)
            job.hear(answer)
            mine(save_it=True)
    world.release(claim)
    return asdict(job)
