"""evals/stream/own_*: questions mined from a store, how they are read, and what the checks say."""

from __future__ import annotations

import random

import pytest

from firsthand import Memory
from firsthand.errors import InvalidArgument
from firsthand.value import replace
from firsthand_evals.stream import own_memories, own_pack, packs
from firsthand_evals.stream.own_memories import ARMS, KEEP_ALL, NO_MEMORY, RECALLED, REWRITTEN, Reader, merged, within
from firsthand_evals.stream.own_questions import GAP, Source, parts, strings
from firsthand_evals.stream.packs import Options

NOUNS = ("wheel", "archive", "index", "report", "ledger", "picture", "bundle", "schema", "backup", "mirror")
VERBS = ("built", "copied", "checked", "signed", "moved", "packed", "printed", "measured", "rotated", "sealed")
PLACES = ("staging", "archive", "harbour", "cellar", "attic", "garden", "office", "tower", "bridge", "station")


def line(chance: random.Random, number: int) -> str:
    """Give a line that no other one is like, with a number that stands nowhere else."""
    words = [chance.choice(one) for one in (VERBS, NOUNS, PLACES, NOUNS, PLACES, VERBS)]
    return f"{' '.join(words)} in {10_000 + 7 * number} turns of the mill"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store of six sessions, 180 lines in all."""
    path = tmp_path_factory.mktemp("own") / "store"
    chance = random.Random(5)
    with Memory.open(path, embedder="none") as memory:
        for session in range(6):
            one = memory.session(f"day-{session}")
            for turn in range(5):
                one.user(f"Go on with part {turn}.")
                text = "\n".join(line(chance, session * 40 + turn * 6 + at) for at in range(6))
                one.agent(f"This came of it:\n{text}")
        assert memory.verify().ok
    return path


@pytest.fixture
def memory(store):
    """The store, to read; it is as it was when the test is over."""
    with Memory.open(store, read_only=True, embedder="none") as opened:
        before = opened.head()
        yield opened
        assert opened.head() == before
        assert opened.verify().ok


def told(*texts: str) -> list[Source]:
    """Give events of two sessions."""
    return [Source(f"{at:026d}", f"s{at % 2}", at + 1, text) for at, text in enumerate(texts)]


def test_every_answer_is_the_bytes_of_its_pointer(memory):
    """The key of a question is in the log: its pointer gives the answer, byte for byte, and the line has a gap."""
    made = own_pack.ask(memory, own_pack.chosen([NO_MEMORY]), updates=4, questions=10)
    assert len(made.questions) == 40
    for one in made.questions:
        assert memory.expand(one.pointer).decode() == one.answer
        assert one.answer not in one.text
        assert f"{one.before}{one.answer}{one.after}" in memory.event(one.pointer.partition("@")[0]).text


def test_only_what_stands_once_is_asked():
    """A string that is said twice, a line that has a twin, and a line of few words are no questions."""
    once = "the nightly archive was rotated after 48211 minutes of waiting"
    twice = (
        "somebody counted about 77123 barrels within that cellar",
        "again there were 77123 barrels counted by nobody",
    )
    twins = "the mirror was sealed with 11111 grains of wax", "the mirror was sealed with 22222 grains of wax"
    (part,) = parts(told(once, *twice, *twins, "took 99821 ms"), 1, 50)
    assert [(one.answer, one.text) for one in part.questions] == [
        ("48211", f"the nightly archive was rotated after {GAP} minutes of waiting")
    ]


def test_a_pointer_counts_bytes_and_not_signs():
    """What stands before an answer may be of several bytes a sign."""
    text = "größere Bögen:\nthe bridge of Łódź took 48211 minutes to open today"
    (part,) = parts(told(text), 1, 5)
    start, end = part.questions[0].pointer.rpartition("@")[2].split("-")
    assert text.encode()[int(start) : int(end)] == b"48211"


def test_exact_strings_do_not_overlap():
    """A number in a path is of the path; flags, ids and numbers are told apart."""
    text = "ran /srv/a4/run-77123.log with --dry-run at 3fa91bc77 for 48,211 ms"
    assert [(sort, text[start:end]) for sort, start, end in strings(text)] == [
        ("path", "/srv/a4/run-77123.log"), ("flag", "--dry-run"), ("id", "3fa91bc77"), ("number", "48,211"),
    ]  # fmt: skip


def test_a_reader_takes_the_line_that_is_alike_and_else_none():
    """Of like lines the one that is asked for, of two strings on it the one in the gap; nothing for another line."""
    text = "the bridge took 48211 minutes and 99120 workers to open today\nthe mill took 55555 hours of another week"
    (part,) = parts(told(text), 1, 5)
    asked = {one.answer: one for one in part.questions}
    lines = Reader(frozenset(word for one in part.questions for word in one.words), [text])
    assert {one: lines.answer(asked[one]) for one in asked} == {one: one for one in ("48211", "99120", "55555")}
    other = Reader(asked["48211"].words, ["nobody knows what 12345 barrels of the cellar hold"])
    assert other.answer(asked["48211"]) is None


def test_nothing_holds_more_than_its_budget(memory):
    """Whatever a memory is, a reader is given no more than the budget; keep all is given all."""
    made = own_pack.ask(memory, updates=4, questions=5, budget=600)
    for one in made.streams:
        for point in one.points:
            assert one.arm == KEEP_ALL or point.characters <= 600
    assert made.stream(KEEP_ALL).points[-1].characters > 10_000


def test_the_figures_of_the_plain_memories_are_known(memory):
    """All lines answer everything, none answer nothing, the newest forget; what is recalled is answered."""
    made = own_pack.ask(memory, updates=5, questions=6, budget=2_000)
    ends = {one.arm: made.after(one.arm).mean for one in made.streams}
    assert (ends[NO_MEMORY], ends[KEEP_ALL], ends[RECALLED]) == (0.0, 1.0, 1.0)
    assert ends["newest"] < 0.4
    assert made.stream("newest").points[-1].regressed > 0.5
    assert made.stream(KEEP_ALL).points[-1].regressed == 0.0
    for one in made.streams:
        for point in one.points:
            assert point.seen + point.wrong + point.abstained == pytest.approx(1)
    assert [one.held for one in own_pack.checks(made)] == [True] * 4


def test_the_same_store_gives_the_same_run(memory):
    """Two runs are equal, another seed asks other questions."""
    one, same, other = (own_pack.ask(memory, updates=3, questions=8, seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert one.questions != other.questions


@pytest.mark.parametrize(("name", "broken"), [("S1", KEEP_ALL), ("S2", NO_MEMORY), ("S3", ""), ("S4", RECALLED)])
def test_every_check_can_fail(memory, name, broken):
    """A reader that cannot read, a memory without memory that answers, luck, and a recall that finds nothing."""
    made = own_pack.ask(memory, own_pack.chosen([RECALLED, REWRITTEN]), updates=2, questions=20)
    if not broken:
        made = replace(made, shuffled=0.5)
    outcome = own_pack.RIGHT if broken == NO_MEMORY else own_pack.ABSTAINED
    streams = tuple(
        replace(one, points=tuple(replace(it, outcomes=dict.fromkeys(it.outcomes, outcome)) for it in one.points))
        if one.arm == broken else one for one in made.streams
    )  # fmt: skip
    assert [one.name for one in own_pack.checks(replace(made, streams=streams)) if not one.held] == [name]


def test_a_store_with_too_little_is_refused(tmp_path):
    """It says how many lines it found and what to do; numbers out of range and unknown memories are refused too."""
    with Memory.open(tmp_path / "store", embedder="none") as memory:
        memory.session("one").user("the bridge of the harbour took 48211 minutes to open today")
        with pytest.raises(InvalidArgument, match=r"1 events of this store have 1\. Import sessions first"):
            own_pack.ask(memory)
        with pytest.raises(InvalidArgument, match="updates of own sessions are 1 to 200; got 0"):
            own_pack.ask(memory, updates=0)
        with pytest.raises(InvalidArgument, match="at least 1 character; got 0"):
            own_pack.ask(memory, budget=0)
        assert memory.verify().ok
    with pytest.raises(InvalidArgument, match="no arm 'x'; these are: no memory, keep all"):
        own_pack.chosen(["x"])
    with pytest.raises(InvalidArgument, match="name one with --store"):
        own_pack.run(Options())


def test_lines_that_differ_in_exact_strings_alone_are_one():
    """Merging keeps the last of its kind, the most frequent kind first; a line that does not fit is passed over."""
    lines = ["one took 11111 ms", "two took 22222 ms", "one took 33333 ms"]
    assert merged(lines, 100) == ["one took 33333 ms", "two took 22222 ms"]
    assert within(["a" * 50, "b"], 10) == ["b"]
    assert own_memories.newest(["first", "second", "third"], 13) == ["second", "third"]


def test_the_report_has_tables_and_curves_with_both_plain_memories(store):
    """No memory and keep all are in every table and picture; markup in a check's words stays text."""
    found = packs.run(
        "own-sessions",
        Options(arm=("newest",), updates=2, questions=20, store=lambda: Memory.open(store, read_only=True)),
    )
    assert [row[0] for row in found.sections[0].rows] == ["memory", NO_MEMORY, KEEP_ALL, "newest"]
    assert found.failed == []
    assert found.markdown().count("| keep all |") == 1
    page = found.html()
    assert page.count("<svg") == 3
    assert "<script" not in page
    assert [one.name for one in ARMS if f'<td class="name">{one.name}</td>' in page] == [NO_MEMORY, KEEP_ALL, "newest"]
