"""evals/stream/port.py: anybody's memory under the stream, the memories of examples/memories, and errors in them."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import ClassVar

import pytest
from json_server import JsonServer
from stream_models import completion

from firsthand.errors import MemoryFault
from firsthand.ledger.entries import Episode
from firsthand.value import replace
from firsthand_evals.stream import arms, checks, evaluation, measure, port
from firsthand_evals.stream.arms import KEEP_ALL, NO_MEMORY, Arm
from firsthand_evals.stream.options import Options
from firsthand_evals.stream.port import Port, readable
from firsthand_evals.stream.report import report_of
from firsthand_evals.stream.run import run, stream
from firsthand_evals.stream.world import world

EXAMPLES = Path(__file__).parents[3] / "examples" / "memories"
EPISODE = Episode("fh:a", "birch", "birch level 7", "23", 1)


class Lines:
    """Keeps every line."""

    def __init__(self):
        self.lines = []

    def update(self, episodes):
        self.lines += episodes

    def view(self):
        return "\n".join(self.lines)


class Answers(Lines):
    """Answers what it was told by the bare answer, and says nothing of anything else."""

    def ask(self, question):
        told = dict(line.split(" => ") for line in self.lines)
        return told.get(question, "")


class Raises(Lines):
    def update(self, episodes):
        raise KeyError("full")


class Waits(Lines):
    async def view(self):
        return ""


class Counts(Lines):
    def view(self):
        return 3


class Asked(Lines):
    def ask(self, question):
        return None


class Long(Lines):
    def view(self):
        return "x" * (port.TEXT_CHARACTERS_MAX + 1)


@pytest.mark.parametrize(
    ("memory", "words"),
    [
        (Raises, ("raised in update() at update 1 of stream 5 (expected: update(episodes) takes a list of lines",
                  "KeyError: 'full' (test_stream_port.py:")),
        (Waits, ("Waits.view() at update 1 of stream 5 gave coroutine", "not async", "expected: view() gives")),
        (Counts, ("Counts.view() at update 1 of stream 5 gave int: return a str",)),
        (Asked, ("Asked.ask() at update 1 of stream 5 gave NoneType", "expected: ask(question) gives text")),
        (Long, ("Long.view() at update 1 of stream 5 gave 1,000,001 characters", "at most 1,000,000")),
    ],
)  # fmt: skip
def test_an_error_names_the_verb_the_update_and_what_was_expected(memory, words):
    """Whatever goes wrong in somebody's class says where, what came and what a verb is to do."""
    tested = Port(memory.__name__, memory, 5)
    with pytest.raises(MemoryFault) as told:
        _ = tested.update([EPISODE]), tested.ask(EPISODE.case)
    assert [part for part in words if part not in str(told.value)] == []


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Missing", "has no view() (see docs/stream.md)"),
        ("made", "expected a class, or a function that makes one without arguments"),
        ("Broken", "could not be made: ValueError: no key"),
        ("nobody", "has no 'nobody'"),
    ],
)
def test_what_is_no_memory_is_refused_by_the_command(shell, tmp_path, name, told):
    """A class without a verb, an object, a class that cannot be made and a name that is not there are told apart."""
    file = tmp_path / "mine.py"
    file.write_text("class Missing:\n    def update(self, episodes): ...\nmade = Missing()\n"
                    "class Broken:\n    def __init__(self): raise ValueError('no key')\n")  # fmt: skip
    found = shell("eval", "stream", "--memory", f"{file}:{name}", "--episodes", "8", "--streams", "1")
    assert found.code
    assert told in found.error
    assert shell("eval", "stream", "--memory", f"{file}:made", "--model", "local").code == 5


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("birch level 7 => 23", "case: birch level 7 => 23"),
        ("case: birch level 7 => 23", "case: birch level 7 => 23"),
        ("  - `birch level 7 => 23`", "case: birch level 7 => 23"),
        ("12. User: birch level 7 => 23", "case: birch level 7 => 23"),
        ("birch level N => 3 * N + 2", "rule: birch level N => 3 * N + 2"),
        ("- rule: * level N => 3 * N", "rule: * level N => 3 * N"),
        ("The birches go up by three.", "The birches go up by three."),
    ],
)
def test_lines_are_read_however_a_memory_lists_them(line, read):
    """Bullets, numbers and speakers before a line are passed over; what is no line of question and answer stays."""
    assert readable(line) == read


def test_a_memory_is_asked_in_the_words_of_each_question():
    """Bare answers count as answers; a wording that the memory does not know is not answered by it."""
    asked = Arm("mine", lambda seed: Port("mine", Answers, seed), shows="own")
    none, mine = (stream(arm, world(3, 48), "stream") for arm in (arms.ARMS[0], asked))
    assert (mine.end("seen weak"), mine.end("seen strong"), mine.end("kept")) == (1.0, 1.0, 1.0)
    assert mine.end("variant weak") == none.end("variant weak") < 1
    assert (mine.end("p0 weak"), mine.end("regressed weak")) == (1.0, 0.0)


def test_a_memory_stands_beside_ours_in_one_run(shell, tmp_path):
    """The command runs a file's class on the worlds of our own memories, and says that the port changes nothing."""
    (tmp_path / "mine.py").write_text(
        "class Mine:\n    lines = ()\n    def update(self, episodes):\n        print('told')\n"
        "        self.lines = (*self.lines, *episodes)[-8:]\n    def view(self):\n"
        "        return '\\n'.join(self.lines)\n"
    )
    mine = f"{tmp_path}/mine.py:Mine"
    found = shell("eval", "stream", "--memory", mine, "--streams", "2", "--episodes", "64")
    assert (found.code, "told" in found.text) == (0, False)
    rows = {line.split("  ")[0]: line.split()[-10:] for line in found.lines[4:10]}
    assert [*rows] == [NO_MEMORY, KEEP_ALL, "rules plus exceptions", "gate + rules plus exceptions",
                       arms.THROUGH_PORT, mine]  # fmt: skip
    assert rows[arms.THROUGH_PORT] == rows[KEEP_ALL] != rows[mine]
    assert any(line.startswith("C2 held") for line in found.lines)


@pytest.mark.parametrize(
    ("file", "package"),
    [("chroma_memory", "chromadb"), ("mem0_memory", "mem0"), ("langchain_summary", "langchain.agents.middleware"),
     ("memory_files", "anthropic")],
)  # fmt: skip
def test_an_example_says_what_to_install(shell, monkeypatch, file, package):
    """Without its package an example is refused by a sentence with the command that installs it."""
    monkeypatch.setitem(sys.modules, package, None)
    found = shell("eval", "stream", "--memory", f"{EXAMPLES}/{file}.py:Any")
    assert (found.code, "run: pip install " in found.error) == (5, True)


def test_firsthand_through_the_port_is_worth_what_its_parts_are():
    """Raw and asked it answers all that was said; consolidated it is the gated memory, to the figure."""
    raw, consolidated = (f"{EXAMPLES}/firsthand_memory.py:{name}" for name in ("Raw", "Consolidated"))
    chosen = [*arms.chosen([arms.GATED]), *arms.under_test([raw, consolidated])]
    ends = {one.arm: one.points[-1] for one in run(chosen, [1], episodes=40)}
    assert (ends[raw]["seen weak"], ends[raw]["p0 weak"]) == (1.0, 1.0)
    assert ends[raw]["characters"] < ends[KEEP_ALL]["characters"]
    for figure in ("seen weak", "rule weak", "p0 weak", "characters"):
        assert ends[consolidated][figure] == ends[arms.GATED][figure]


def test_a_block_is_what_the_model_replied_last(monkeypatch):
    """The block that a model edits is shown its own text and what is new, and is cut to its size."""
    pytest.importorskip("httpx", reason="the extra 'models' is not installed")
    server = JsonServer(lambda body: completion(f"{body['messages'][0]['content'][-19:]}\n" + "x" * 9_000))
    monkeypatch.setenv("MODEL", f"{server.url}#scripted")
    block = Port("block", port.load(f"{EXAMPLES}/block.py:Block"), 0)
    assert block.update([EPISODE]).text.startswith("case: birch level 7 => 23\n")
    assert len(block.update([EPISODE]).text) <= 4_010
    assert "The block:\nbirch level 7 => 23" in server.seen[1][1]["messages"][0]["content"]
    block.close()
    server.close()
    monkeypatch.delenv("MODEL")
    with pytest.raises(MemoryFault, match="set MODEL=URL#NAME"):
        Port("block", port.load(f"{EXAMPLES}/block.py:Block"), 0)


class Lies(Lines):
    """Gives another answer than it was told."""

    def view(self):
        return "\n".join(f"{line}0" for line in self.lines)


class Breaks(Lines):
    worlds = 0

    def __init__(self):
        super().__init__()
        Breaks.worlds += 1

    def update(self, episodes):
        super().update(episodes)
        if Breaks.worlds == 2 and len(self.lines) > 10:
            raise RuntimeError("disk full")


class Shared(Lines):
    """Keeps the lines of all streams in its class."""

    everything: ClassVar[list[str]] = []

    def update(self, episodes):
        Shared.everything += episodes
        self.lines = Shared.everything


class SharedAnswers(Answers):
    """Shows nothing, and answers by what all streams were told."""

    everything: ClassVar[list[str]] = []
    update = Shared.update

    def view(self):
        return ""


def beside(*memories):
    """Run memories beside no memory and keep all as the command does, on two small worlds."""
    own = [Arm(it.__name__, partial(Port, it.__name__, it), shows="own") for it in (Lines, *memories)]
    there = [(evaluation.CHECKED, [*arms.chosen([KEEP_ALL]), replace(own[0], name=arms.THROUGH_PORT), *own[1:]])]
    return report_of(evaluation.ran(there, range(2), 32, Options(), measure.readers, checks.checks))


def test_the_verdict_is_about_the_memory_under_test():
    """What it makes of what was seen and of what needs none stands first, beside no memory and keep all."""
    words = beside(Lies).page.verdict
    assert words.startswith("After 4 updates Lies answers 0.00 of what was seen (no memory 0.31: ")
    assert "keep all 1.00: too few) and 1.00 of what needs no memory (p0) (no memory 1.00: too few" in words


@pytest.mark.parametrize(
    ("memory", "words"),
    [
        (Breaks, "Breaks raised in update() at update 2 of stream 1 "),
        (Shared, "Shared at update 1 of stream 1 knows '"), (SharedAnswers, "another stream alone was told"),
    ],
)  # fmt: skip
def test_a_fault_of_a_memory_ends_its_row_alone(memory, words):
    """The other rows stand, the finished stream is kept, and the report fails by what went wrong and where."""
    report = beside(memory, Answers)
    rows = [row[0] for row in report.page.sections[0].tables[0].rows]
    assert rows == [NO_MEMORY, KEEP_ALL, arms.THROUGH_PORT, "Answers"]
    assert len(report.failed) == 1
    assert words in report.failed[0]
    assert f"{memory.__name__} was ended by an error of its own" in report.page.verdict
    assert [it["seed"] for it in report.kept["streams"] if it["arm"] == memory.__name__] == [0]


class Refuses(Answers):
    """Shows nothing, and says something short to what it was not told."""

    def view(self):
        return ""

    def ask(self, question):
        return super().ask(question) or "7"


class Floods(Answers):
    """Shows a word, and answers what it was told by everything."""

    def view(self):
        return "x"

    def ask(self, question):
        return "\n".join(self.lines) if super().ask(question) else "7"


def test_a_memory_that_is_asked_has_its_length():
    """What it gives to every question counts, and beside it what it keeps, however little it shows or says."""
    lines, asked, refuses, floods = (
        stream(Arm("mine", partial(Port, "mine", it), shows="own"), world(3, 48), "stream")
        for it in (Lines, Answers, Refuses, Floods)
    )
    assert asked.end("characters") < refuses.end("characters") < lines.end("characters") / 10
    assert lines.end("characters") == lines.end("whole") == asked.end("whole") == floods.end("whole")
    assert 0.5 * lines.end("whole") < refuses.end("whole") <= lines.end("whole")
    assert floods.end("characters") > 0.3 * lines.end("whole")
