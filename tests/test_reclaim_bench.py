"""bench/reclaim_bench.py: peers see what they may, replies are kept, figures follow from items, better is said."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

import reclaim_bench
from firsthand.errors import ModelUnavailable
from firsthand_evals.reclaim import items, ours, run, tasks
from firsthand_evals.reclaim.drift import PLACES
from firsthand_evals.reclaim.items import Case
from firsthand_evals.reclaim.policies import LOSSY, policy
from firsthand_evals.reclaim.readers import Recomputing
from firsthand_evals.reclaim.seam import Subject
from reclaim_peers import peers, process, report
from reclaim_peers.peers import Kind, Process
from reclaim_peers.writer import Writer

BENCH = Path(reclaim_bench.__file__).parent
TOY = Kind("toy", "A toy", "toy", "toy", writes=False, asked=True)
SCRIPT = """
import json, pathlib, sys
folder = pathlib.Path(sys.argv[2])
held = {}
for line in sys.stdin:
    asked = json.loads(line)
    with (folder.parent / "seen.jsonl").open("a") as seen:
        seen.write(line)
    number, told = asked["memory"], {"text": ""}
    if asked["do"] == "write":
        held[number] = "\\n".join(one["content"] for one in asked["said"])
        told = {"text": held[number][: asked["budget"]]}
        if "raise" in held[number]:
            told = {"error": "ValueError: it was told to"}
        if "die" in held[number]:
            sys.exit(3)
    if asked["do"] == "recall":
        told = {"text": held.get(number, "")}
    print(json.dumps(told), flush=True)
"""
SAID = [
    {"role": "system", "content": "Memory of earlier sessions:\nwhat was carried"},
    {"role": "user", "content": "2 urns at $3 each"},
    {"role": "assistant", "content": "RECALL: urns"},
    {"role": "user", "content": "Recalled:\n2 urns"},
    {"role": "assistant", "content": "6"},
]


@pytest.fixture
def toy(tmp_path: Path) -> Iterator[Process]:
    with toy_process(tmp_path, keeps=True) as made:
        yield made


def toy_process(folder: Path, *, keeps: bool, writer: Writer | None = None) -> Process:
    (folder / "toy.py").write_text(SCRIPT)
    return Process(TOY, Path(sys.executable), folder, {}, writer, keeps=keeps, script=folder / "toy.py")


def seen_by(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "seen.jsonl").read_text().splitlines()]


# peers -----------------------------------------------------------------------------------------------


def test_peer_sees_what_was_said_alone(toy, tmp_path):
    """A peer gets what user and assistant said: not what it carried, was asked or answered itself."""
    memory = peers.Asked(toy)
    assert memory.write(SAID, 12) == "2 urns at $3"
    assert memory.recall("urns") == "2 urns at $3 each\n6"
    talk = [{"role": "user", "content": "2 urns at $3 each"}, {"role": "assistant", "content": "6"}]
    assert seen_by(tmp_path) == [
        {"do": "open", "memory": 1},
        {"do": "write", "memory": 1, "said": talk, "budget": 12},
        {"do": "recall", "memory": 1, "query": "urns"},
    ]


def test_session_is_written_once_for_all_readers(toy, tmp_path):
    """A memory of the same session and budget is written once and asked by each reader; another budget is another."""
    first, again, other = (peers.Asked(toy) for _ in range(3))
    assert [first.write(SAID, 12), again.write(SAID, 12), other.write(SAID, 6)] == ["2 urns at $3"] * 2 + ["2 urns"]
    again.close()
    assert again.recall("x") == first.recall("x")
    assert [one["do"] for one in seen_by(tmp_path)] == ["open", "write", "open", "write", "recall", "recall"]


def test_chain_writes_into_a_memory_of_its_own(tmp_path):
    """In a chain memories of the same session are two, each is closed, and one may be asked before it is written."""
    with toy_process(tmp_path, keeps=False) as process_:
        for _ in range(2):
            memory = peers.Carrying(process_)
            memory.write(SAID, 12)
            memory.close()
        first = peers.Asked(process_)
        assert (first.recall("total"), first.write(SAID, 6), first.recall("total")[:6]) == ("", "2 urns", "2 urns")
    numbers = [(one["do"], one["memory"]) for one in seen_by(tmp_path)][:6]
    assert numbers == [("open", 1), ("write", 1), ("close", 1), ("open", 2), ("write", 2), ("close", 2)]


def test_peer_that_fails_costs_its_item(toy):
    """What a peer raises, or that it died, is the fault of its item; the next case starts it anew."""
    problem = tasks.arithmetic(1)[0]
    broken = [Subject(f"toy {word}", lambda: peers.Asked(toy)) for word in ("raise", "die", "well")]
    for word, fault in (("raise", "ValueError: it was told to"), ("die", "its process ended with 3"), ("well", "")):
        subject = broken.pop(0)
        about = f"Please {word}. {problem.about}" if word != "well" else problem.about
        asked = [Case("systems", subject, reclaim_bench.replace(problem, about=about))]
        (item,) = run.run(asked, Recomputing())
        assert (item.outcome == "failed", fault in item.fault) == (bool(fault), True)


def test_writer_that_cannot_be_reached_ends_the_run(tmp_path):
    """No reply of the writer's server is no fault of the peer: it is raised, not counted."""
    with Writer("small", "http://127.0.0.1:9/v1", tmp_path / "replies.jsonl") as writer:
        httpx.post(f"{writer.address('toy')}/chat/completions", json={"messages": []})
        with toy_process(tmp_path, keeps=True, writer=writer) as process_, pytest.raises(ModelUnavailable, match="toy"):
            peers.Asked(process_).write(SAID, 12)


def test_what_stores_carry_fits():
    """The best hits that fit are carried in their order, and a first one that is too long is cut."""
    ranked = [(3, "ccc"), (1, "aaaaaa"), (2, "bb")]
    assert process.fitted(ranked, 6) == "bb\nccc"
    assert process.fitted(ranked, 13) == "aaaaaa\nbb\nccc"
    assert process.fitted(ranked, 2) == "bb"
    assert process.fitted(ranked, 1) == "c"
    assert process.fitted([], 5) == ""


def test_exchanges_lose_nothing():
    """What the user said is paired with its answer; without one, with an empty one."""
    said = [{"role": role, "content": content} for role, content in (("user", "a"), ("user", "b"), ("assistant", "c"))]
    assert list(process.exchanges([*said, {"role": "user", "content": "d"}])) == [("a", ""), ("b", "c"), ("d", "")]


# the writer ------------------------------------------------------------------------------------------


@pytest.fixture
def model_server() -> Iterator[tuple[str, list[dict[str, object]]]]:
    asked: list[dict[str, object]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            told = {"choices": [{"message": {"content": f"reply {len(asked)}"}}],
                    "usage": {"prompt_tokens": 7, "completion_tokens": 2}}  # fmt: skip
            self.send_response(200 if asked[-1]["messages"] else 400)
            self.end_headers()
            self.wfile.write(json.dumps(told).encode())

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1", asked
    server.shutdown()
    server.server_close()


def test_same_request_is_asked_once_and_replayed(tmp_path, model_server):
    """A request gets its first reply again, in the next run too and without a model; another one is refused there."""
    url, asked = model_server
    file = tmp_path / "replies.jsonl"
    body = {"model": "whatever", "messages": [{"role": "user", "content": "hi"}], "stream": False}
    with Writer("small", url, file) as writer:
        first, again = (httpx.post(f"{writer.address('mem0')}/chat/completions", json=body).json() for _ in range(2))
        assert (first, asked) == (again, [{"model": "small", "messages": body["messages"]}])
        assert (dict(writer.calls), dict(writer.prompt_tokens)) == ({"mem0": 1}, {"mem0": 7})
    with file.open("a") as opened:
        opened.write('{"request": "cut o')
    with Writer("small", None, file) as replayed:
        address = f"{replayed.address('mem0')}/chat/completions"
        assert httpx.post(address, json=body).json() == first
        assert (httpx.post(address, json={"messages": []}).status_code, "not recorded" in replayed.fault) == (404, True)
        assert dict(replayed.reply_tokens) == {"mem0": 2}


def test_refused_request_is_the_peers(tmp_path, model_server):
    """What the model's server refuses comes back to the peer as it is, and is kept: it would be refused again."""
    url, asked = model_server
    with Writer("small", url, tmp_path / "replies.jsonl") as writer:
        told = [httpx.post(f"{writer.address('mem0')}/chat/completions", json={"messages": []}) for _ in range(2)]
    assert ([one.status_code for one in told], len(asked), writer.fault) == ([400, 400], 1, "")


# readers and cases -----------------------------------------------------------------------------------


def test_reader_that_asks_first_asks_once():
    """It asks what is asked for before it looks at anything, and then reads as the other one does."""
    problem = tasks.arithmetic(1, reclaim_bench.SEED)[0]
    asked = [Case("systems", ours.pointers(), problem, budget=reclaim_bench.BUDGET)]
    (first,), (plain,) = (list(run.run(asked, reader)) for reader in (reclaim_bench.AsksFirst(), Recomputing()))
    assert first.pulls[0]["query"] == problem.ask
    assert problem.ask not in [pull["query"] for pull in plain.pulls]
    assert (first.outcome, plain.outcome, first.carried[:20]) == ("recovered", "recovered", plain.carried[:20])


def test_every_memory_is_asked_the_same():
    """Within a part the memories differ in nothing; each problem stands at every place, or at one in turn."""
    memories = (policy(LOSSY), ours.note_alone())
    whole = reclaim_bench.systems(memories, 4, reclaim_bench.SHORT)
    in_turn = reclaim_bench.systems(memories, 4, reclaim_bench.SHORT, places=1)
    for made, each in ((whole, 4), (in_turn, 1)):
        asked = [{(one.problem.id, one.source_at) for one in made if one.subject is memory} for memory in memories]
        assert asked[0] == asked[1]
        assert len(asked[0]) == len(made) / 2 == 8 * each
        assert {place for _, place in asked[0]} == set(PLACES)


# the report ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with items: a memory that keeps all beside ours, which it beats where the budget is large."""
    folder = tmp_path_factory.mktemp("work")
    keeps = Subject("chromadb", lambda: Keeps(4_000))
    broken = Subject("mem0_raw", lambda: Keeps(0))
    made = reclaim_bench.systems(
        (policy(LOSSY), ours.note_alone(), ours.pointers(), keeps, broken), 2, {"depth": 1, "filler": 0}
    )
    list(items.keep(run.run(made, Recomputing()), folder / "short.jsonl"))
    return folder


class Keeps:
    """Keeps so many characters of a session, and raises when they are none."""

    def __init__(self, most: int) -> None:
        self._most = most

    def write(self, messages, budget):
        return "\n".join(one["content"] for one in ours.said(messages))[: budget // (self._most and 1)]


def test_figures_are_counted_from_items(work):
    """Shares, problems and faults of the report are those of the items of the file."""
    own = tuple(items.load(work / "short.jsonl").values())
    told = report.part("short", own, work)
    for row in told["cells"]:
        of_memory = [item for item in own if item.parameters["memory"] == row["labels"]["memory"]]
        outcomes = [item.outcome for item in of_memory]
        assert (row["n"], row["problems"]) == (16, 4)
        assert row["recovered"] == outcomes.count("recovered") / 16
        assert row["failed"] == outcomes.count("failed")
    (fault,) = told["faults"]["mem0_raw"]
    assert (told["faults"]["mem0_raw"][fault], "ZeroDivisionError" in fault) == (16, True)
    minus = {(one["ours"], one["other"]): one["mean"] for one in told["pairs"] if one["about"] == "recovered"}
    shares = {row["labels"]["memory"]: row["recovered"] for row in told["cells"]}
    assert minus == {
        (mine, other): pytest.approx(shares[mine] - shares[other])
        for mine in (report.OURS, report.ALONE) for other in shares if other != mine
    }  # fmt: skip


def test_report_says_where_another_is_better(work, tmp_path):
    """A memory that recovers more, or answers wrongly less often, is named with its interval; a worse one is not."""
    report.write(work, tmp_path, "`measured`", {"chromadb": "1.5.9"}, reclaim_bench.PARTS)
    told = json.loads((tmp_path / "reclaim.json").read_text())
    markdown = (tmp_path / "RECLAIM.md").read_text()
    assert markdown == report.markdown(told)
    assert "mem0 (infer=False) failed: 16 times" in markdown
    assert "ChromaDB over turns recovers more than Firsthand: note and store" not in markdown
    for pair in told["parts"]["short"]["pairs"]:
        if (pair["ours"], pair["other"], pair["about"]) == ("firsthand", "chromadb", "recovered"):
            pair |= {"mean": -0.25, "low": -0.5, "high": -0.01}
    better = report.markdown(told)
    found = "- ChromaDB over turns recovers more than Firsthand: note and store (recomputing): by 0.25 [0.01, 0.50]"
    assert f"{found}, 4 problems\n" in better


def test_run_that_broke_off_compares_like_with_like(work):
    """Of a problem that one memory was not asked at every place nothing is counted, of the other memories neither."""
    own = tuple(items.load(work / "short.jsonl").values())
    last = own[-1].parameters["problem"]
    left = report.asked_of_all(own[:-1])
    assert {item.parameters["problem"] for item in own} - {item.parameters["problem"] for item in left} == {last}
    assert {item.parameters["memory"] for item in left} == {item.parameters["memory"] for item in own}
    assert report.asked_of_all(own) == own


def test_committed_report_is_made_of_its_numbers():
    """RECLAIM.md and the table in docs are what the script writes of reclaim.json, character by character."""
    told = json.loads((BENCH / "reclaim.json").read_text(encoding="utf-8"))
    assert (BENCH / "RECLAIM.md").read_text(encoding="utf-8") == report.markdown(told)
    page = (BENCH.parent / report.PAGE).read_text(encoding="utf-8")
    assert report.BEGIN in page
    assert report.filled(page, told) == page
