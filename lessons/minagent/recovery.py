"""From an agent to a checkpoint and back, and how a task goes on after a crash."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from .agent import Agent, Save, book, no_save, run
from .errors import PendingMismatch, UnsettledCall
from .history import dangling, validate
from .messages import Call, blocks, calls_in
from .model import Model
from .savefile import VERSION, Document, load_checkpoint, save_checkpoint
from .session import Session
from .tools import NOT_RUN, Ran, Tools, execute, find_out

# -- agent <-> document --------------------------------------------------------------------------------------


def checkpoint(agent: Agent) -> Document:
    """Return everything a new process needs: the protocol's six fields and minagent's three extras."""
    session = agent.session.snapshot()
    messages = session.pop("messages")
    return {
        "version": VERSION,
        "task": agent.task,
        "turns": agent.turns,
        "tokensUsed": agent.tokens_used,
        "messages": messages,
        "pendingToolUse": pack_pending(agent.pending),
        "modelCursor": agent.model.cursor,
        "steps": [dict(step) for step in agent.steps],
        "session": session,
    }


def pack_pending(calls: list[Call]) -> Call | list[Call] | None:
    """Write the pending calls as the protocol does: null, the one call, or a list of several."""
    if not calls:
        return None
    return dict(calls[0]) if len(calls) == 1 else [dict(call) for call in calls]


def unpack_pending(field: Call | list[Call] | None) -> list[Call]:
    """Read `pendingToolUse` in any of its three forms."""
    if field is None:
        return []
    return [field] if isinstance(field, dict) else list(field)


def restore(document: Document, model: Model, tools: Tools) -> Agent:
    """Make an agent from a document.

    The model's cursor is set to an absolute position in its whole script. Each field has a default here, as
    in much real code; that none is missing is `load_checkpoint`'s business.
    """
    messages = document.get("messages") or [{"role": "user", "content": document.get("task", "")}]
    answers = sum(message["role"] == "assistant" for message in messages)
    model.cursor = document.get("modelCursor", answers)
    return Agent(
        task=document.get("task", ""),
        model=model,
        tools=tools,
        session=Session.restore({**document.get("session", {}), "messages": messages}),
        turns=document.get("turns", 0),
        tokens_used=document.get("tokensUsed", 0),
        pending=unpack_pending(document.get("pendingToolUse")),
        steps=[dict(step) for step in document.get("steps", [])],
    )


def saver(path: str | os.PathLike[str], *, gzip_above: int | None = None) -> Save:
    """Return the `save` that keeps the agent's checkpoint at `path`."""
    return lambda agent: save_checkpoint(checkpoint(agent), path, gzip_above=gzip_above)


# -- going on ------------------------------------------------------------------------------------------------


def report(agent: Agent) -> str:
    """Say in one sentence, for the user, what is being resumed and where it stands."""
    task = f"the task “{agent.task}”" if agent.task else "a task whose name was not saved"
    waiting = ", ".join(f"{call['name']} ({call['id']})" for call in agent.pending) or "nothing"
    return f"Resuming {task} after turn {agent.turns}, {agent.tokens_used} tokens used; unsettled: {waiting}."


def check_pending(agent: Agent) -> None:
    """Raise PendingMismatch unless the pending calls are the ones the history leaves open, at its end."""
    open_calls = dangling(agent.messages)
    open_ids = [call["id"] for call in open_calls]
    if open_calls != agent.pending:
        pending_ids = [call["id"] for call in agent.pending]
        raise PendingMismatch(
            f"The history leaves {open_ids or 'no call'} open, but pendingToolUse names {pending_ids or 'no call'}."
        )
    last = agent.messages[-1] if agent.messages else {"role": "nobody", "content": ""}
    if agent.pending and not calls_in(last) and not blocks(last, "tool_result"):
        raise PendingMismatch(f"The history goes on after the calls {open_ids}, which have no result yet.")


def forget_open_calls(agent: Agent) -> None:
    """Drop a last message whose calls were never answered, and ask the model again.

    Much recovery code repairs a history like this when it does not know of a pending call. The tool may have
    run: this is how a mail is sent twice.
    """
    if not agent.pending and agent.messages[-1]["role"] == "assistant" and not validate(agent.messages):
        agent.messages.pop()
        agent.model.cursor -= 1


def reconcile(agent: Agent, save: Save = no_save, *, unknown: str = "refuse") -> None:
    """Ask what became of each pending call: book the result of one that ran, run one that did not.

    When nobody knows, ``unknown`` decides: "refuse" raises UnsettledCall, "rerun" runs the call again (right
    for a call that may run twice), "book_error" tells the model that the outcome is unknown.
    """
    for call in agent.pending:
        found = find_out(agent.tools, call)
        if isinstance(found, Ran):
            result = found.result
        elif found == NOT_RUN or unknown == "rerun":
            result = execute(agent.tools, call)
        elif unknown == "book_error":
            result = "Error: the process died while this tool ran; whether it took effect is unknown."
        else:
            raise UnsettledCall(
                f"The call {call['id']} to {call['name']} was under way when the process died, and nobody can"
                " say whether it ran: look, then choose unknown='rerun' or unknown='book_error'."
            )
        book(agent, call, result)
        save(agent)


def resume(
    path: str | os.PathLike[str],
    model: Model,
    tools: Tools,
    *,
    unknown: str = "refuse",
    forgiving: bool = False,
) -> Agent:
    """Load the checkpoint, check it, settle what was under way, and return an agent that can go on.

    Its ``notices`` hold the sentence for the user, and why a previous copy was used if one was. A pure tool
    is run again; a tool with side effects never without asking. ``forgiving`` does with missing fields what
    careless recovery code does.
    """
    notices: list[str] = []
    document = load_checkpoint(path, forgiving=forgiving, on_fallback=notices.append)
    return resume_document(document, model, tools, saver(path), notices=notices, unknown=unknown, forgiving=forgiving)


def resume_document(
    document: Document,
    model: Model,
    tools: Tools,
    save: Save = no_save,
    *,
    notices: Sequence[str] = (),
    unknown: str = "refuse",
    forgiving: bool = False,
) -> Agent:
    """Do what `resume` does with a document that is loaded already, wherever it came from."""
    validate(document.get("messages", []))
    agent = restore(document, model, tools)
    agent.notices = [*notices, report(agent)]
    if forgiving:
        forget_open_calls(agent)
    else:
        check_pending(agent)
    reconcile(agent, save, unknown=unknown)
    return agent


def resume_and_run(
    path: str | os.PathLike[str], model: Model, tools: Tools, *, unknown: str = "refuse", **limits: Any
) -> Agent:
    """Resume the task and run it to its end, saving as it goes."""
    agent = resume(path, model, tools, unknown=unknown)
    run(agent, saver(path), **limits)
    return agent
