"""LangGraph's store: what its contract asks of a store, on the log; written from the contract."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime

import pytest

pytest.importorskip("langgraph.store.base")

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from loop_contract import Gone
from typing_extensions import TypedDict

from firsthand import Memory
from firsthand.adapters.langgraph_store import FirsthandStore, Incomplete, session_of
from firsthand.errors import FirsthandError, InvalidArgument

HOSTILE = ["ключ", "鍵 with spaces", "'; DROP TABLE event; --", "a*", "a/b", "50%", "line\nbreak", "k" * 2_000, ""]


@pytest.fixture
def store(memory):
    return FirsthandStore(memory)


def keys(items):
    return [item.key for item in items]


def test_a_value_comes_back_as_it_was_put(store):
    """A get gives the value, its place and its times; of what is not there it gives None."""
    before = datetime.now(UTC)
    content = {"text": 'Grüße "quoted" \\ \t', "n": [1, 2.5, None, True], "nested": {"a": {"b": "c"}}}
    store.put(("users", "ada"), "prefs", content)
    item = store.get(("users", "ada"), "prefs")
    assert (item.value, item.key, item.namespace) == (content, "prefs", ("users", "ada"))
    assert before <= item.created_at == item.updated_at <= datetime.now(UTC)
    assert [store.get(("users", "ada"), "other"), store.get(("users",), "prefs")] == [None, None]


def test_an_update_replaces_and_keeps_the_time_of_creation(store, memory):
    """A second put of a key gives its own value, a later time of update, and the first one's time of creation."""
    store.put(("n",), "k", {"v": 1})
    first = store.get(("n",), "k")
    store.put(("n",), "k", {"v": 2})
    second = store.get(("n",), "k")
    assert (second.value, second.created_at) == ({"v": 2}, first.created_at)
    assert second.updated_at > first.updated_at
    assert [json.loads(memory.expand(event.pointer)) for event in store.history(("n",), "k")] == [{"v": 1}, {"v": 2}]


def test_a_delete_takes_away_and_keeps_the_history(store, memory):
    """What was deleted is in no answer any more, its words stay in the log, and a new put begins anew."""
    store.put(("n",), "k", {"text": "the code of the door is 4471"})
    created = store.get(("n",), "k").created_at
    store.delete(("n",), "k")
    assert store.get(("n",), "k") is None
    assert store.search(("n",), query="code of the door") == store.search(("n",)) == store.list_namespaces() == []
    was, deleted = store.history(("n",), "k")
    assert b"4471" in memory.expand(was.pointer)
    assert deleted.meta["deleted"] is True
    store.put(("n",), "k", {"text": "new"})
    assert store.get(("n",), "k").created_at > created
    store.delete(("n",), "never there")
    assert len(store.history(("n",), "k")) == 3
    assert store.history(("n",), "never there") == []


def test_a_batch_reads_what_was_before_it_and_its_last_put_wins(store, memory):
    """Every read of a batch sees the store before its puts, wherever it stands; of two puts the later one holds."""
    store.put(("n",), "k", {"v": "old"})
    results = store.batch([
        PutOp(("n",), "k", {"v": "first"}), GetOp(("n",), "k"), PutOp(("n",), "k", {"v": "last"}),
        SearchOp(("n",)), PutOp(("m",), "gone", {"v": 1}), PutOp(("m",), "gone", None), ListNamespacesOp(),
    ])  # fmt: skip
    assert [results[0], results[2], results[4], results[5]] == [None] * 4
    assert (results[1].value, results[3][0].value, results[6]) == ({"v": "old"}, {"v": "old"}, [("n",)])
    assert store.get(("n",), "k").value == {"v": "last"}
    assert store.get(("m",), "gone") is None
    assert store.batch([]) == []


def test_a_batch_is_appended_whole_or_not_at_all(store, memory):
    """Where one put of a batch cannot be kept, none is."""
    position = memory.position
    with pytest.raises(TypeError):
        store.batch([PutOp(("a",), "k", {"v": 1}), PutOp(("b",), "k", {"v": object()})])
    with pytest.raises(FirsthandError):
        store.batch([PutOp(("a",), "k", {"v": 1}), PutOp(("b" * 600,), "k", {"v": 1})])
    assert (memory.position, store.get(("a",), "k")) == (position, None)


def test_filters_compare_as_langgraph_says(store):
    """Equality, nested objects, lists and each operator choose the items; an unknown operator is refused."""
    for number, (name, level) in enumerate([("a", 1), ("b", 2.5), ("c", 4), ("d", None)]):
        store.put(("f",), name, {"level": level, "kind": "even" if number % 2 == 0 else "odd", "at": {"x": [number]}})
    asked = {
        "ac": {"kind": "even"}, "b": {"level": 2.5}, "bd": {"kind": {"$ne": "even"}}, "bc": {"level": {"$gt": 1}},
        "abc": {"level": {"$gte": 1}}, "a": {"level": {"$lt": 2}}, "ab": {"level": {"$lte": 2.5, "$gt": 0}},
        "c": {"kind": {"$eq": "even"}, "at": {"x": [2]}}, "": {"at": {"x": [1, 2]}}, "cd": {"kind": {"$gt": ""}, "at":
        {"x": {"$ne": [0]}}, "level": {"$ne": 2.5}}, "d": {"level": None},
    }  # fmt: skip
    asked |= {"none": {"kind": {"$gt": 3}}}
    chosen = {name: "".join(sorted(keys(store.search(("f",), filter=wanted)))) for name, wanted in asked.items()}
    assert chosen == {name: name for name in asked} | {"none": ""}
    with pytest.raises(InvalidArgument, match="expected one of the operators"):
        store.search(("f",), filter={"level": {"$regex": "."}})


def test_pages_of_a_search_join_to_the_whole(store):
    """Without a query items come newest first; limit and offset cut the same list, with and without a filter."""
    for number in range(30):
        store.put(("p", str(number % 3)), f"k{number}", {"n": number, "third": number % 3 == 0})
    whole = keys(store.search(("p",), limit=100))
    assert whole == [f"k{number}" for number in reversed(range(30))]
    pages = [keys(store.search(("p",), limit=7, offset=offset)) for offset in range(0, 35, 7)]
    assert [key for page in pages for key in page] == whole
    third = {"third": True}
    assert keys(store.search(("p",), filter=third, limit=3, offset=2)) == ["k21", "k18", "k15"]
    assert len(store.search(("p",))) == 10
    assert store.search(("p",), limit=0) == []


def test_a_query_ranks_by_recall(store):
    """What the words of a query stand in comes first, with scores; the rest follows without one."""
    store.put(("docs",), "rain", {"text": "umbrellas are in the cupboard by the door"})
    store.put(("docs",), "port", {"text": "the staging database listens on port 5544"})
    store.put(("docs",), "tea", {"text": "green tea at four"})
    items = store.search(("docs",), query="which port does staging listen on?")
    assert keys(items) == ["port", "tea", "rain"]
    assert items[0].score > 0
    assert [item.score for item in items[1:]] == [None, None]
    assert keys(store.search(("docs",), query="port staging", limit=1)) == ["port"]
    assert keys(store.search(("docs",), query="port staging", limit=1, offset=1)) == ["tea"]
    assert keys(store.search(("docs",), query="port", filter={"text": "green tea at four"})) == ["tea"]


def test_a_query_finds_what_stands_now(store):
    """A value that was replaced does not stand in for the new one, and equal values of two keys are both found."""
    for number in range(40):
        store.put(("v",), "port", {"text": f"port {5500 + number} of the gateway"})
    store.put(("v",), "same 1", {"text": "the lighthouse keeper"})
    store.put(("w",), "same 2", {"text": "the lighthouse keeper"})
    items = store.search((), query="gateway port 5500")
    assert (items[0].key, items[0].value["text"]) == ("port", "port 5539 of the gateway")
    scored = [item for item in store.search((), query="lighthouse keeper") if item.score]
    assert sorted(keys(scored)) == ["same 1", "same 2"]


def test_a_value_kept_out_of_the_index_is_not_ranked(store, memory):
    """What was put with index=False is got and listed, but no query and no recall finds it by its words."""
    store.put(("s",), "open", {"text": "pelican crossing"})
    store.put(("s",), "closed", {"text": "pelican crossing"}, index=False)
    items = store.search(("s",), query="pelican")
    assert [(item.key, item.score is None) for item in items] == [("open", False), ("closed", True)]
    assert len(memory.recall("pelican crossing")) == 1
    assert store.get(("s",), "closed").value == {"text": "pelican crossing"}


def test_a_search_stays_below_its_prefix(store):
    """A prefix is of whole labels: neither a longer label nor a sibling is searched, with or without a query."""
    for namespace in [("a",), ("a", "b"), ("a", "b", "c"), ("ab",), ("a*",), ("b", "a")]:
        store.put(namespace, "/".join(namespace), {"text": "heron"})
    below = {"a", "a/b", "a/b/c"}
    assert set(keys(store.search(("a",)))) == set(keys(store.search(("a",), query="heron"))) == below
    assert set(keys(store.search(("a*",), query="heron"))) == {"a*"}
    assert set(keys(store.search((), query="heron"))) == below | {"ab", "a*", "b/a"}


def test_namespaces_are_listed_by_conditions(store):
    """Prefix, suffix, wildcards, depth, limit and offset choose among the namespaces that hold something."""
    names = [("a", "b", "c"), ("a", "b", "d"), ("a", "x", "c"), ("f", "c"), ("f",)]
    for name in names:
        store.put(name, "k", {})
    assert store.list_namespaces() == sorted(names)
    assert store.list_namespaces(prefix=("a", "b")) == names[:2]
    assert store.list_namespaces(suffix=("c",)) == [names[0], names[2], names[3]]
    assert store.list_namespaces(prefix=("a", "*", "c")) == [names[0], names[2]]
    assert store.list_namespaces(prefix=("a",), suffix=("b", "*")) == names[:2]
    assert store.list_namespaces(max_depth=2) == [("a", "b"), ("a", "x"), ("f",), ("f", "c")]
    assert store.list_namespaces(limit=2, offset=1) == sorted(names)[1:3]
    assert store.batch([ListNamespacesOp((MatchCondition("suffix", ("f",)),))]) == [[("f",)]]


@pytest.mark.parametrize("key", HOSTILE, ids=range(len(HOSTILE)))
def test_any_key_and_label_comes_back(store, memory, key):
    """Keys and labels of any signs stand for themselves alone, after reopening too."""
    namespace = ("base", key.replace(".", "")[:100].replace("\0", "") or "x")
    store.put(namespace, key, {"at": key})
    store.put(namespace, f"{key}!", {"at": "other"})
    again = FirsthandStore(memory)
    assert (again.get(namespace, key).value, again.get(namespace, f"{key}!").value) == ({"at": key}, {"at": "other"})
    assert again.list_namespaces() == [namespace]
    assert {item.key for item in again.search(namespace)} == {key, f"{key}!"}


def test_namespaces_that_langgraph_refuses_are_refused(store):
    """Empty labels, labels with a period, an empty namespace and the root label langgraph are no namespaces."""
    for namespace in [(), ("",), ("a.b",), ("a", ""), ("langgraph", "x")]:
        with pytest.raises(InvalidNamespaceError):
            store.put(namespace, "k", {"v": 1})
    for op in [PutOp(("a.b",), "k", {}), GetOp(("",), "k"), SearchOp(("a.b",)), PutOp((), "k", {})]:
        with pytest.raises(InvalidNamespaceError):
            store.batch([op])
    with pytest.raises(InvalidArgument, match="expected an operation"):
        store.batch(["get"])


def test_nothing_expires(store):
    """A time to live is refused, by the method and in a batch, and nothing is kept of it."""
    assert store.supports_ttl is False
    with pytest.raises(Exception, match="TTL is not supported"):
        store.put(("n",), "k", {"v": 1}, ttl=5)
    with pytest.raises(InvalidArgument, match="put without ttl"):
        store.batch([PutOp(("n",), "k", {"v": 1}, ttl=5.0)])
    assert store.get(("n",), "k") is None


def test_what_another_handle_puts_is_seen(store, memory, tmp_path):
    """Two handles of one store read each other's puts and deletes at once, and a third one after reopening."""
    with Memory.open(tmp_path / "store", embedder="none") as second:
        other = FirsthandStore(second)
        store.put(("n",), "k", {"v": 1})
        assert other.get(("n",), "k").value == {"v": 1}
        other.put(("n",), "k", {"v": 2})
        assert store.get(("n",), "k").value == {"v": 2}
        other.delete(("n",), "k")
        assert store.get(("n",), "k") is None


def test_what_was_erased_does_not_come_back(store, memory):
    """An erased value is gone from every answer, and the value that it replaced does not take its place."""
    store.put(("n",), "k", {"text": "first"})
    store.put(("n",), "k", {"text": "the secret"})
    assert store.get(("n",), "k").value == {"text": "the secret"}
    memory.erase([store.history(("n",), "k")[-1].pointer])
    for handle in (store, FirsthandStore(memory)):
        assert handle.get(("n",), "k") is None
        assert handle.search(("n",), query="secret") == []


def test_large_values_come_back(store, memory):
    """A value that is kept out of line is read, searched and filtered as any other."""
    store.put(("big",), "k", {"text": "filler " * 20_000 + "needle-7731", "n": 1})
    assert store.history(("big",), "k")[0].artifact is not None
    assert store.get(("big",), "k").value["text"].endswith("needle-7731")
    assert store.search(("big",), query="needle-7731", filter={"n": 1})[0].score > 0


def test_two_namespaces_never_see_each_other(tmp_path):
    """Of two Firsthand namespaces in one store no get, search or list gives the other's canary."""
    with Memory(tmp_path / "s", namespace="a") as first, Memory(tmp_path / "s", namespace="b") as second:
        stores = FirsthandStore(first), FirsthandStore(second)
        for store, canary in zip(stores, ("canary-a", "canary-b"), strict=True):
            store.put(("n", canary), "k", {"text": f"shared words {canary}"})
        for store, canary in zip(stores, ("canary-b", "canary-a"), strict=True):
            answers = [store.search((), query=f"shared words {canary}"), store.list_namespaces()]
            assert canary not in repr(answers)
            assert store.get(("n", canary), "k") is None
        assert first.verify().ok


def test_async_verbs_do_the_same(store):
    """Each async verb gives what the plain one gives, many at a time."""

    async def run():
        await asyncio.gather(*(store.aput(("n",), f"k{number}", {"n": number}) for number in range(20)))
        items = await asyncio.gather(*(store.aget(("n",), f"k{number}") for number in range(20)))
        await store.adelete(("n",), "k0")
        return items, await store.asearch(("n",), query="n", limit=50), await store.alist_namespaces()

    items, rest, names = asyncio.run(run())
    assert [item.value["n"] for item in items] == [*range(20)]
    assert (len(rest), names) == (19, [("n",)])


def test_a_graph_reads_and_writes_it(store, memory):
    """Nodes of a graph reach the store through the runtime, and what they put is in the log."""

    class State(TypedDict):
        user: str
        answer: str

    def remember(state: State, runtime: Runtime) -> dict:
        known = runtime.store.search(("users", state["user"]), query="drink")
        runtime.store.put(("users", state["user"]), "tea", {"text": "their drink is oolong tea"})
        return {"answer": known[0].value["text"] if known else "unknown"}

    builder = StateGraph(State)
    builder.add_node("remember", remember)
    builder.add_edge(START, "remember")
    graph = builder.compile(store=store)
    assert [graph.invoke({"user": "ada"})["answer"] for _ in range(2)] == ["unknown", "their drink is oolong tea"]
    assert graph.invoke({"user": "bob"})["answer"] == "unknown"
    assert [hit.session for hit in memory.recall("oolong")][:1] == [session_of(("users", "ada"))]


def test_a_store_that_fails_answers_from_this_process_and_says_so(tmp_path, caplog):
    """Reads give what this process put or read, a list says that it may lack something, and puts wait for the log."""
    with Memory(tmp_path / "s") as memory:
        store = FirsthandStore(memory)
        store.put(("n",), "k", {"v": 1})
        assert not isinstance(store.search(("n",)), Incomplete)
        log, memory.log = memory.log, Gone()
        store.put(("n",), "late", {"v": 2})
        store.delete(("n",), "k")
        assert (store.get(("n",), "k"), store.get(("n",), "late").value) == (None, {"v": 2})
        results = store.search(("n",), query="v")
        assert ([item.key for item in results], isinstance(results, Incomplete)) == (["late"], True)
        assert ("disk is gone" in results.why, "disk is gone" in caplog.text, store.faults != []) == (True,) * 3
        memory.log = log
        assert [item.key for item in store.search(("n",))] == ["late"]
        assert not any("missing" in fault for fault in store.faults)
    with Memory(tmp_path / "s", create=False) as memory:
        store = FirsthandStore(memory)
        assert (store.get(("n",), "k"), store.get(("n",), "late").value) == (None, {"v": 2})
        assert len(store.history(("n",), "k")) == 2
        assert memory.verify().ok


def test_a_put_that_rests_on_nothing_overwrites_nothing(tmp_path):
    """Where a namespace was never read, or somebody else wrote to it, what was put meanwhile is missing, and named."""
    with Memory(tmp_path / "s") as other, Memory(tmp_path / "s") as memory:
        theirs = FirsthandStore(other)
        theirs.put(("n",), "k", {"v": "theirs"})
        log, memory.log = memory.log, Gone()
        store = FirsthandStore(memory)
        assert store.get(("n",), "k") is None
        store.put(("n",), "k", {"v": "a default"})
        assert store.get(("n",), "k").value == {"v": "a default"}
        memory.log = log
        assert store.get(("n",), "k").value == {"v": "theirs"}
        assert any("are missing" in fault and "langgraph:n" in fault for fault in store.faults)
        assert memory.verify().ok
