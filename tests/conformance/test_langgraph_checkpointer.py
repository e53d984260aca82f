"""LangGraph's checkpointer: its packaged suite, and what the suite does not ask for."""

from __future__ import annotations

import asyncio
import operator
from typing import Annotated

import pytest

pytest.importorskip("langgraph.checkpoint.conformance")

from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.types import ERROR
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from loop_contract import Gone
from typing_extensions import TypedDict

from firsthand import Memory
from firsthand.adapters.langgraph_checkpointer import PREFIX, FirsthandSaver

SUITE = {
    "put": 17, "put_writes": 10, "get_tuple": 10, "list": 16, "delete_thread": 5, "delete_for_runs": 7,
    "copy_thread": 8, "prune": 8,
}  # fmt: skip


class State(TypedDict):
    steps: Annotated[list[str], operator.add]
    maybe: str | None


def added(state: list[str], writes: list[list[str]]) -> list[str]:
    return [*state, *(step for write in writes for step in write)]


class Differences(TypedDict):
    steps: Annotated[list[str], DeltaChannel(added, list, snapshot_frequency=4)]


def counting(saver, *, asks: bool = False):
    """Give a graph of three nodes that each add a step; the second one asks a person where that is wanted."""
    builder = StateGraph(State)
    builder.add_node("first", lambda _: {"steps": ["first"], "maybe": None})
    builder.add_node("second", lambda _: {"steps": [interrupt("go on?") if asks else "second"]})
    builder.add_node("third", lambda _: {"steps": ["third"]})
    builder.add_edge(START, "first")
    builder.add_edge("first", "second")
    builder.add_edge("second", "third")
    return builder.compile(checkpointer=saver)


def config(thread: str = "t") -> dict:
    return {"configurable": {"thread_id": thread}}


def put(saver, values: dict, versions: dict) -> dict:
    """Put a checkpoint of thread t with the values of some channels; give where it is."""
    point = empty_checkpoint() | {"channel_values": values, "channel_versions": versions}
    return saver.put({"configurable": {"thread_id": "t", "checkpoint_ns": ""}}, point, {"source": "loop"}, versions)


def test_the_packaged_suite_passes_in_full(tmp_path):
    """Every capability that the conformance suite knows is offered, and each of its tests passes."""

    @checkpointer_test(name="FirsthandSaver")
    async def saver():
        with Memory(tmp_path / "suite", embedder="none") as memory:
            yield FirsthandSaver(memory)
            assert memory.verify().problems == ()

    report = asyncio.run(validate(saver))
    assert {name: (result.failures, result.tests_passed) for name, result in report.results.items()} == {
        name: ([], count) for name, count in SUITE.items()
    }
    assert report.conformance_level() == "FULL"


@pytest.mark.parametrize("reopened", [False, True])
def test_a_graph_goes_on_where_it_stopped(memory, tmp_path, reopened):
    """A run that waits for a person goes on from its checkpoint, in another process too, as it does in memory."""
    results = []
    for saver in (FirsthandSaver(memory), InMemorySaver()):
        counting(saver, asks=True).invoke({"steps": ["begin"]}, config())
        if reopened and isinstance(saver, FirsthandSaver):
            with Memory.open(tmp_path / "store", embedder="none") as second:
                results.append(counting(FirsthandSaver(second), asks=True).invoke(Command(resume="yes"), config()))
            continue
        results.append(counting(saver, asks=True).invoke(Command(resume="yes"), config()))
    assert results[0] == results[1] == {"steps": ["begin", "first", "yes", "third"], "maybe": None}


def test_time_travel_and_forks_are_those_of_memory(memory):
    """The history of a thread, a state of the past, and a fork from it are as LangGraph's own saver gives them."""
    histories = []
    for saver in (FirsthandSaver(memory), InMemorySaver()):
        graph = counting(saver)
        graph.invoke({"steps": ["begin"]}, config())
        past = next(state for state in graph.get_state_history(config()) if state.next == ("second",))
        forked = graph.update_state(past.config, {"steps": ["changed"]})
        assert graph.invoke(None, forked)["steps"] == ["begin", "first", "changed", "second", "third"]
        histories.append([
            (state.values, state.next, state.metadata["source"], state.metadata["step"])
            for state in graph.get_state_history(config())
        ])  # fmt: skip
    assert histories[0] == histories[1]


def test_channel_values_of_any_kind_come_back(memory):
    """None, bytes, a large text and a falsy value are the channels' values again; what was not put is not there."""
    values = {"none": None, "bytes": b"\0\xff", "large": "x" * 50_000, "zero": 0, "empty": []}
    versions = {name: number for number, name in enumerate(values, 1)} | {"absent": 9}
    stored = put(FirsthandSaver(memory), values, versions)
    assert FirsthandSaver(memory).get_tuple(stored).checkpoint["channel_values"] == values


def test_versions_of_a_number_and_a_text_differ(memory):
    """A channel's version 1 is not its version "1"."""
    saver = FirsthandSaver(memory)
    stored = [put(saver, {"c": repr(version)}, {"c": version}) for version in (1, "1")]
    contents = [saver.get_tuple(where).checkpoint["channel_values"]["c"] for where in stored]
    assert contents == ["1", "'1'"]


def test_writes_of_a_step_come_in_the_order_of_its_tasks(memory):
    """Writes are ordered by path, task and place, the first of a place holds, and an error replaces the one before."""
    saver = FirsthandSaver(memory)
    stored = put(saver, {}, {})
    saver.put_writes(stored, [("c", "b0"), ("c", "b1")], "task-1", "path-b")
    saver.put_writes(stored, [("c", "a0"), (ERROR, "first")], "task-2", "path-a")
    saver.put_writes(stored, [("c", "again"), (ERROR, "second")], "task-2", "path-a")
    for handle in (saver, FirsthandSaver(memory)):
        assert [write[1:] for write in handle.get_tuple(stored).pending_writes] == [
            (ERROR, "second"), ("c", "a0"), ("c", "b0"), ("c", "b1"),
        ]  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*[Dd]elta.*")
def test_pruning_keeps_what_a_channel_of_differences_needs(memory):
    """After pruning to the newest checkpoint a channel that keeps differences gives the same state, and grows on."""
    saver = FirsthandSaver(memory)
    builder = StateGraph(Differences)
    builder.add_node("only", lambda _: {"steps": ["node"]})
    builder.add_edge(START, "only")
    graph = builder.compile(checkpointer=saver)
    for number in range(5):
        graph.invoke({"steps": [f"in {number}"]}, config())
    before = graph.get_state(config()).values
    assert len(before["steps"]) == 10
    count = len([*saver.list(config())])
    saver.prune(["t"])
    assert len([*saver.list(config())]) < count
    again = FirsthandSaver(memory)
    assert builder.compile(checkpointer=again).get_state(config()).values == before
    assert len(builder.compile(checkpointer=again).invoke({"steps": ["more"]}, config())["steps"]) == 12


def test_what_is_deleted_stays_in_the_log(memory):
    """A deleted thread is offered no more, after reopening too; its events are there, and a new run begins anew."""
    saver = FirsthandSaver(memory)
    counting(saver).invoke({"steps": ["begin"]}, config())
    events = len([*memory.events(f"{PREFIX}t")])
    saver.delete_thread("t")
    for handle in (saver, FirsthandSaver(memory)):
        assert (handle.get_tuple(config()), [*handle.list(None)]) == (None, [])
    assert len([*memory.events(f"{PREFIX}t")]) == events + 1
    assert counting(saver).invoke({"steps": ["anew"]}, config())["steps"] == ["anew", "first", "second", "third"]


def test_no_recall_finds_a_checkpoint(memory):
    """What stands in a checkpoint stands in the messages, too: recall finds those alone."""
    saver = FirsthandSaver(memory)
    counting(saver).invoke({"steps": ["pelican-7731 crossed"]}, config())
    put(saver, {"page": b"pelican-7731 crossed"}, {"page": "1"})
    assert [*memory.recall("pelican-7731 crossed")] == []
    memory.session("chat").user("pelican-7731 crossed")
    assert [hit.session for hit in memory.recall("pelican-7731 crossed")] == ["chat"]


def test_threads_of_any_name_and_two_namespaces_are_apart(tmp_path):
    """Threads whose names look alike are apart, and so are the same threads of two Firsthand namespaces."""
    names = ["a", "a*", "a/b", "a.b", "ü", "%41", "A", "x" * 600, "x" * 601]
    with Memory(tmp_path / "s", namespace="one") as first, Memory(tmp_path / "s", namespace="two") as second:
        savers = FirsthandSaver(first), FirsthandSaver(second)
        for saver, canary in zip(savers, ("canary-1", "canary-2"), strict=True):
            for name in names:
                counting(saver).invoke({"steps": [f"{canary} {name}"]}, config(name))
        for saver, canary in zip(savers, ("canary-1", "canary-2"), strict=True):
            for name in names:
                steps = saver.get_tuple(config(name)).checkpoint["channel_values"]["steps"]
                assert steps[0] == f"{canary} {name}"
            assert {state.config["configurable"]["thread_id"] for state in saver.list(None)} == {*names}
        assert first.verify().ok


def test_async_runs_and_many_threads_at_once(memory):
    """Twenty threads that run at once keep their own states, and a stream gives what a run gives."""
    graph = counting(FirsthandSaver(memory))

    async def run():
        states = [graph.ainvoke({"steps": [str(number)]}, config(str(number))) for number in range(20)]
        await asyncio.gather(*states)
        return [(await graph.aget_state(config(str(number)))).values["steps"] for number in range(20)]

    assert asyncio.run(run()) == [[str(number), "first", "second", "third"] for number in range(20)]


def test_more_threads_than_are_kept_in_mind(memory, monkeypatch):
    """A thread that is no longer kept in mind is read again from its session."""
    monkeypatch.setattr("firsthand.adapters.langgraph_checkpointer.THREADS_MAX", 2)
    saver = FirsthandSaver(memory)
    for name in "abcd":
        counting(saver).invoke({"steps": [name]}, config(name))
    assert [saver.get_tuple(config(name)).checkpoint["channel_values"]["steps"][0] for name in "abcd"] == [*"abcd"]


def test_an_erased_checkpoint_is_not_offered(memory):
    """An erased checkpoint is not offered, before and after reopening, and the one above it is the newest then."""
    saver = FirsthandSaver(memory)
    counting(saver).invoke({"steps": ["begin"]}, config())
    newest = saver.get_tuple(config()).checkpoint["id"]
    event = [event for event in memory.events(f"{PREFIX}t") if event.meta["langgraph"].get("id") == newest][-1]
    memory.erase([event.pointer])
    assert saver.get_tuple({"configurable": {"thread_id": "t", "checkpoint_id": newest}}) is None
    assert FirsthandSaver(memory).get_tuple(config()).checkpoint["id"] < newest


def test_a_thread_goes_on_while_the_store_fails_and_is_written_when_it_is_back(tmp_path, caplog):
    """A run goes on from what this process has, it is said once, and the store has every checkpoint in the end."""
    with Memory(tmp_path / "s") as memory:
        saver = FirsthandSaver(memory)
        graph = counting(saver)
        before = graph.invoke({"steps": ["begin"]}, config())["steps"]
        log, memory.log = memory.log, Gone()
        during = graph.invoke({"steps": ["while it fails"]}, config())["steps"]
        assert during[: len(before) + 1] == [*before, "while it fails"]
        assert graph.get_state(config()).values["steps"] == during
        assert (
            len(saver.faults)
            == len({record.getMessage() for record in caplog.records if "disk is gone" in record.getMessage()})
            > 0
        )
        memory.log = log
        after = graph.invoke({"steps": ["later"]}, config())["steps"]
        assert after[: len(during) + 1] == [*during, "later"]
        assert not any("missing" in fault for fault in saver.faults)
        kept = [state.config["configurable"]["checkpoint_id"] for state in saver.list(config())]
    with Memory(tmp_path / "s", create=False) as memory:
        assert counting(FirsthandSaver(memory)).get_state(config()).values["steps"] == after
        assert [
            state.config["configurable"]["checkpoint_id"] for state in FirsthandSaver(memory).list(config())
        ] == kept
        assert memory.verify().ok


@pytest.mark.parametrize("thread", ["t", "another"])
def test_what_has_no_proven_order_is_named_and_not_written(tmp_path, thread):
    """Where somebody else went on with the thread, or it was never read, what waited is missing, and is named."""
    with Memory(tmp_path / "s") as other, Memory(tmp_path / "s") as memory:
        saver = FirsthandSaver(memory)
        graph = counting(saver)
        if thread == "t":
            graph.invoke({"steps": ["begin"]}, config())
        else:
            counting(FirsthandSaver(other)).invoke({"steps": ["begin"]}, config())
        log, memory.log = memory.log, Gone()
        graph.invoke({"steps": ["while it fails"]}, config())
        missing = [state.config["configurable"]["checkpoint_id"] for state in saver.list(config(), limit=1)]
        theirs = counting(FirsthandSaver(other)).invoke({"steps": ["the other's"]}, config())["steps"]
        memory.log = log
        assert graph.get_state(config()).values["steps"] == theirs
        assert any("are missing" in fault and missing[0] in fault for fault in saver.faults)
        assert "while it fails" not in str(theirs)
        assert memory.verify().ok


@pytest.mark.parametrize("writes", [False, True])
def test_a_state_that_cannot_be_read_is_none_and_is_said(tmp_path, writes):
    """Another process has nothing of a thread: its run begins anew, says so, and overwrites nothing."""
    with Memory(tmp_path / "s") as memory:
        graph = counting(FirsthandSaver(memory))
        whole = graph.invoke({"steps": ["begin"]}, config())["steps"]
    with Memory(tmp_path / "s") as memory:
        saver = FirsthandSaver(memory)
        log, memory.log = memory.log, Gone(memory.log if writes else None)
        assert saver.get_tuple(config()) is None
        assert counting(saver).invoke({"steps": ["anew"]}, config())["steps"][0] == "anew"
        assert [fault for fault in saver.faults if "disk is gone" in fault]
        memory.log = log
        assert counting(saver).get_state(config()).values["steps"] == whole
        assert [fault for fault in saver.faults if "are missing" in fault]
        with pytest.raises(ValueError, match="keep_latest or delete"):
            saver.prune(["t"], strategy="oldest")
