"""Lesson 10: what it says of LangGraph, and what it does where Redis or LangGraph is not installed."""

import os
import sys
import threading
from pathlib import Path
from typing import Any, TypedDict

import nbformat
import pytest
from nbclient import NotebookClient

LESSON = Path(__file__).resolve().parents[2] / "lessons" / "10_beyond_one_process.ipynb"


class Talk(TypedDict, total=False):
    answer: str


def graph_with(node: Any, saver: Any) -> Any:
    from langgraph.graph import END, START, StateGraph

    graph = StateGraph(Talk)
    graph.add_node("before", lambda state: {})
    graph.add_node("act", node)
    graph.add_edge(START, "before")
    graph.add_edge("before", "act")
    graph.add_edge("act", END)
    return graph.compile(checkpointer=saver)


def test_a_paused_node_runs_again_from_its_first_line_and_only_that_node(tmp_path: Path) -> None:
    pytest.importorskip("langgraph.checkpoint.sqlite", reason="langgraph is not installed")
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.types import Command, interrupt

    effects: list[str] = []
    config = {"configurable": {"thread_id": "t1"}}

    def node(state: Talk) -> Talk:
        effects.append("before the pause")
        answer = interrupt("May I?")
        effects.append("after the pause")
        return {"answer": answer}

    path = str(tmp_path / "graph.db")
    with SqliteSaver.from_conn_string(path) as saver:
        paused = graph_with(node, saver).invoke({}, config)
    assert paused["__interrupt__"][0].value == "May I?" and effects == ["before the pause"]
    with SqliteSaver.from_conn_string(path) as saver:
        assert graph_with(node, saver).invoke(Command(resume="yes"), config)["answer"] == "yes"
    assert effects == ["before the pause", "before the pause", "after the pause"]


def test_two_that_resume_one_thread_both_end_well_and_the_chain_forks(tmp_path: Path) -> None:
    pytest.importorskip("langgraph.checkpoint.sqlite", reason="langgraph is not installed")
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.types import Command, interrupt

    barrier, ends, path = threading.Barrier(2), [], str(tmp_path / "graph.db")
    config = {"configurable": {"thread_id": "t1"}}

    def node(state: Talk) -> Talk:
        answer = interrupt("May I?")
        barrier.wait(30)
        return {"answer": answer}

    def host(answer: str) -> None:
        with SqliteSaver.from_conn_string(path) as saver:
            ends.append(graph_with(node, saver).invoke(Command(resume=answer), config)["answer"])

    with SqliteSaver.from_conn_string(path) as saver:
        graph_with(node, saver).invoke({}, config)
    hosts = [threading.Thread(target=host, args=(answer,)) for answer in ("yes", "no")]
    for one in hosts:
        one.start()
    for one in hosts:
        one.join()
    assert sorted(ends) == ["no", "yes"]
    with SqliteSaver.from_conn_string(path) as saver:
        before = [one.parent_config for one in saver.list(config)]
    parents = [one["configurable"]["checkpoint_id"] for one in before if one]
    assert len(parents) == len(set(parents)) + 1


def test_without_redis_and_langgraph_the_lesson_says_so_and_runs_to_its_end(tmp_path: Path) -> None:
    absent = tmp_path / "absent"
    for name in ("redis", "langgraph"):
        (absent / name).mkdir(parents=True)
        (absent / name / "__init__.py").write_text(f'raise ImportError("No module named {name!r}")')
    notebook = nbformat.read(LESSON, as_version=4)
    (tmp_path / "work").mkdir()
    client = NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path / "work")}})
    client.execute(env={**os.environ, "PYTHONPATH": str(absent), "CRASH_COURSE_LANG": "en"})
    printed = "".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", []))
    assert "Redis is left out of this lesson: The Python package redis is not installed" in printed
    assert "LangGraph is left out of this lesson: No module named 'langgraph'" in printed
    assert "stores: files sqlite\n" in printed
    assert not list((tmp_path / "work").iterdir()), "nothing is left where the learner works"


def test_without_the_server_the_sentence_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("redis", reason="the Python package redis is not installed")
    from minagent.course import NoRedis, start_redis

    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    with pytest.raises(NoRedis, match="apt install redis-server"):
        start_redis()


def test_the_server_listens_on_the_loopback_only_and_leaves_nothing_behind() -> None:
    from minagent.course import NoRedis, start_redis

    try:
        server = start_redis()
    except NoRedis as reason:
        pytest.skip(str(reason))
    folder = Path(server.client.config_get("dir")["dir"])
    try:
        assert server.client.config_get("bind")["bind"] == "127.0.0.1"
        assert server.client.config_get("save")["save"] == ""
        assert server.client.config_get("appendonly")["appendonly"] == "no"
        server.client.set("a", "1")
        assert list(folder.iterdir()) == []
    finally:
        server.stop()
    assert not folder.exists()
    import redis

    with pytest.raises(redis.ConnectionError):
        redis.Redis(host="127.0.0.1", port=server.port).ping()
