"""evals/reclaim/run.py, ask.py, items.py, drift.py: what is asked, what is kept of it, and that a run goes on."""

from __future__ import annotations

import itertools
from typing import ClassVar

import pytest

from firsthand.errors import FormatError, InvalidArgument
from firsthand.value import asdict, replace
from firsthand_evals.reclaim import ask, corrections, drift, policies, readers, run, tables, tasks
from firsthand_evals.reclaim import items as kept
from firsthand_evals.reclaim.readers import Believing, Guessing, Recomputing

SUMS = tasks.arithmetic(4, 1)
PUZZLES = tasks.logic(4, 1)


class Whole:
    """A memory that carries nothing and answers with all that it saw; it counts how often it was closed."""

    closed = 0

    def write(self, messages, budget):
        self.seen = messages
        return f"0 of {len(messages)} statements kept"

    def recall(self, query):
        return "\n".join(one["content"] for one in self.seen if one["role"] == "user")

    def close(self):
        type(self).closed += 1


class Failing(Recomputing):
    """A reader that breaks off after some answers."""

    def __init__(self, answers: int) -> None:
        super().__init__()
        self.left = answers

    def answer(self, messages):
        if not self.left:
            raise InvalidArgument("no more")
        self.left -= 1
        return super().answer(messages)


# the session ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", drift.PLACES)
@pytest.mark.parametrize("depth", [1, 2, 4, 8])
@pytest.mark.parametrize("wording", drift.WORDINGS)
def test_every_line_is_said_once_wherever_the_source_stands(place, depth, wording):
    """Lines, note and wrong conclusion stand in the session; the truth does not; the length is as asked."""
    for problem in (*SUMS, *PUZZLES):
        session = drift.dialogue(problem, depth, filler=3, source_at=place, wording=wording)
        text = "\n".join(one["content"] for one in session)
        assert [text.count(f"{line};") + text.count(f"{line}.") for line in problem.listed] == [1] * len(problem.listed)
        assert len(session) == 1 + 2 * (1 + depth + 3)
        said = [one["content"] for one in session if one["role"] == "assistant"][: depth + 1]
        assert all(problem.attractor in one for one in said)
        assert problem.premise in session[1]["content"]
        if problem.kind == tasks.NUMBER:
            assert problem.shown(problem.answer) not in text.replace(problem.shown(problem.attractor), "")


def test_where_the_source_stands():
    """First, middle, late and scattered put the lines into different messages of the user."""
    places = {}
    for place in drift.PLACES:
        session = drift.dialogue(SUMS[0], 4, source_at=place)
        said = [one["content"] for one in session if one["role"] == "user"]
        places[place] = sorted({next(n for n, text in enumerate(said) if line in text) for line in SUMS[0].listed})
    assert places == {"first": [0], "middle": [2], "late": [4], "scattered": list(range(len(SUMS[0].listed)))}


def test_the_two_wordings_share_no_sentence_of_the_drift():
    """What is said about the wrong conclusion is said in other words, and nothing else differs."""
    said = [
        {part for one in drift.dialogue(SUMS[0], 8, wording=wording)[1:] for part in one["content"].splitlines()}
        for wording in drift.WORDINGS
    ]
    assert said[0] & said[1] == {f"ANSWER: {SUMS[0].attractor}"}


def test_a_session_can_be_said_by_somebody_else():
    """Without a premise no note stands there, and every answer is asked for with what came before."""
    asked = []

    def say(messages):
        asked.append(len(messages))
        return "ANSWER: 1"

    session = drift.dialogue(SUMS[0], 2, premise=False, say=say)
    assert asked == [2, 4, 6]
    assert "note" not in session[1]["content"]
    assert [one["content"] for one in session if one["role"] == "assistant"] == ["ANSWER: 1"] * 3


@pytest.mark.parametrize(
    "wrong", [{"depth": 0}, {"depth": 9}, {"filler": 65}, {"source_at": "nowhere"}, {"wording": 2}]
)
def test_a_session_that_cannot_be_is_refused(wrong):
    """A depth, a distance or a place that is none says what there is."""
    with pytest.raises(InvalidArgument, match=r"depth|stands|wording"):
        drift.dialogue(SUMS[0], **wrong)


@pytest.mark.parametrize("kind", corrections.KINDS)
def test_a_correction_tells_no_more_than_its_kind(kind):
    """Only the handed value gives the truth, and only the three that mislead give the wrong conclusion."""
    for problem in SUMS:
        said = " ".join(corrections.correction(kind, problem))
        assert (f"{problem.shown(problem.answer)}." in said) == (kind == corrections.HANDED)
        assert (problem.shown(problem.attractor) in said) == (
            kind in {"confident_wrong", "sustained", "fabricated_source"}
        )
        assert (problem.locus in said) == (kind == corrections.DIRECTED)
        assert (problem.sound in said) == (kind == corrections.FALSE_LOCUS)
    assert len(corrections.correction(corrections.SUSTAINED, SUMS[0])) == 4


# the question --------------------------------------------------------------------------------------


def test_an_item_keeps_everything():
    """Session, carried text, pulls, turns, replies and outcome of a question stand in its item."""
    problem = SUMS[0]
    item = ask.ask(
        run.cases(Whole, [problem], budget=100)[0], Recomputing(), probe=lambda text, session, memory: "reachable"
    )
    session = drift.dialogue(problem)
    recalled = "\n".join(one["content"] for one in session if one["role"] == "user")
    assert asdict(item) == {
        "key": item.key,
        "parameters": {
            "version": kept.VERSION, "experiment": "reclaim", "memory": "Whole", "reader": "recomputing",
            "temperature": 0.0, "problem": "a1-0", "family": "arithmetic", "correction": "directed", "depth": 4,
            "filler": 0, "source_at": "first", "premise": True, "wording": 0, "budget": 100, "repetition": 0, "hops": 0,
            "said_by": "",
        },
        "session_sha256": kept.sha256(session), "carried": "0 of 11 statements kept", "used": 23, "written": 23,
        "over": False,
        "pulls": ({"query": problem.ask, "text": recalled, "characters": len(recalled), "cut": False},),
        "turns": corrections.correction("directed", problem), "replies": (f"ANSWER: {problem.answer}",),
        "outcome": "recovered", "given": problem.answer, "hedged": False, "answer": problem.answer,
        "attractor": problem.attractor, "regime": "reachable", "hops": (),
        "fault": "",
    }  # fmt: skip
    assert item.key == kept.sha256(item.parameters)[:24]


def test_a_fresh_session_has_nothing_but_what_was_carried():
    """The reader sees the note and the correction; no word of the first session that was not carried."""
    seen = []

    class Looking(Recomputing):
        def answer(self, messages):
            seen.append([dict(one) for one in messages])
            return super().answer(messages)

    ask.ask(run.cases(policies.policy(policies.LOSSY), SUMS[:1])[0], Looking())
    system, correction = seen[0]
    note = policies.Handmade(policies.POLICIES[policies.LOSSY], SUMS[0], 0.1).write([], 600)
    assert system["content"] == f"{readers.SYSTEM}\n\n{readers.MEMORY_HEAD}\n{note}"
    assert correction["content"] == corrections.correction("directed", SUMS[0])[0]
    assert len(seen) == 1


def test_a_memory_is_closed_even_when_asking_fails():
    """Each memory is made for one case, and closed after it, a failed one too."""
    Whole.closed = 0
    list(run.run(run.cases(Whole, SUMS), Recomputing()))
    assert Whole.closed == 4
    with pytest.raises(InvalidArgument):
        list(run.run(run.cases(Whole, SUMS), Failing(0)))
    assert Whole.closed == 5


def test_pulls_are_bounded():
    """A reader that asks for ever is told to stop, and its last reply is scored, whatever it is."""

    class Asking(Recomputing):
        def answer(self, messages):
            return f"RECALL: more {len(messages)}"

    item = ask.ask(run.cases(Whole, SUMS[:1])[0], Asking())
    assert (len(item.pulls), item.outcome) == (ask.PULLS_MAX, "malformed")


def test_every_turn_of_a_sustained_correction_is_answered():
    """Four turns get four replies, and the last one counts."""
    item = ask.ask(
        run.cases(policies.policy(policies.SOURCE_FIRST), SUMS[:1], corrections=("sustained",))[0], Recomputing()
    )
    assert (len(item.turns), len(item.replies), item.outcome) == (4, 4, "recovered")


def test_what_a_session_concluded_by_itself_is_its_attractor():
    """Where the agent goes wrong by itself, repeating its value is told apart from another wrong one."""
    carried = {
        "own": "You concluded, for the total before tax: $77.",
        "other": "You concluded, for the total before tax: $78.",
    }
    found = {}
    for name, text in carried.items():
        case = run.cases(
            lambda messages, budget, text=text: text, SUMS[:1], premise=False, depth=1, say=lambda _: "ANSWER: 77"
        )
        found[name] = ask.ask(case[0], Believing())
    assert {name: (one.outcome, one.attractor) for name, one in found.items()} == {
        "own": ("attractor", "77"), "other": ("wrong", "77"),
    }  # fmt: skip


# the run -------------------------------------------------------------------------------------------


def test_a_run_that_broke_off_goes_on_and_adds_up(tmp_path):
    """Items are in the file as they were made; going on asks only the rest, and gives what one run would have given."""
    file = tmp_path / "items.jsonl"
    cases = run.cases(policies.policy(policies.SOURCE_FIRST), (*SUMS, *PUZZLES), corrections=("directed", "generic"))
    with pytest.raises(InvalidArgument, match="no more"):
        list(kept.keep(run.run(cases, Failing(5)), file))
    assert len(kept.load(file)) == 5
    with file.open("a") as torn:
        torn.write('{"key": "cut o')  # as a power cut leaves it
    reader = Failing(11)
    items = list(kept.keep(run.run(cases, reader, known=kept.load(file)), file))
    assert (reader.left, len(items)) == (0, 16)
    assert items == list(run.run(cases, Recomputing()))
    assert list(kept.load(file).values()) == items
    assert len(file.read_text().splitlines()) == 16


def test_a_key_has_every_parameter():
    """Changing any field of a case, or the reader or its temperature, changes the key."""
    case = run.cases(policies.policy(policies.LOSSY), SUMS)[0]

    class Warm(Recomputing):
        temperature = 0.7

    changed = [
        replace(case, **{name: it})
        for name, it in {
            "experiment": "b", "subject": policies.policy(policies.BLANK), "problem": SUMS[1], "correction": "generic",
            "depth": 2, "filler": 1, "source_at": "late", "premise": False, "budget": 10, "repetition": 1,
            "wording": 1, "hops": 1, "extra": (("items", 2),), "said_by": "me",
        }.items()
    ]  # fmt: skip
    keys = [kept.key(one, Recomputing()) for one in (case, *changed)]
    keys += [kept.key(case, Believing()), kept.key(case, Warm())]
    assert len(set(keys)) == len(keys)


def test_a_file_that_is_no_items_is_named(tmp_path):
    """A whole line that is no item is an error with its place; a file that is not there has no items."""
    assert kept.load(tmp_path / "none.jsonl") == {}
    file = tmp_path / "items.jsonl"
    file.write_text('{"key": 1}\n')
    with pytest.raises(FormatError, match=r"items.jsonl:1 is no item"):
        kept.load(file)
    file.write_text("[" * 100_000 + "\n")
    with pytest.raises(FormatError, match=r"items.jsonl:1 is no item"):
        kept.load(file)


def test_a_line_longer_than_any_item_is_named_and_not_taken_for_the_end(tmp_path, monkeypatch):
    """A line over the limit is an error with its place; what stands behind it is not dropped without a word."""
    monkeypatch.setattr(kept, "LINE_BYTES_MAX", 40)
    file = tmp_path / "items.jsonl"
    file.write_text(f'{{"key": "{"x" * 100}"}}\n')
    with pytest.raises(FormatError, match=r"items.jsonl:1 is no item"):
        kept.load(file)


@pytest.mark.parametrize("reader", [Recomputing(), Guessing()])
def test_what_no_utf8_can_write_is_kept_and_read_back(tmp_path, reader):
    """A memory that carries and answers half a character breaks no run, with its error or its text, in a chain too."""

    class Half:
        def write(self, messages, budget):
            return f"{messages[-1]['content'][:20]} \ud800 one of a, \udfff."[:budget]

        def recall(self, query):
            return f"\ud800 {query}"

    class Fails(Half):
        def write(self, messages, budget):
            raise ValueError("\ud800")

    file = tmp_path / "items.jsonl"
    cases = [
        replace(case, hops=hops) for memory in (Half, Fails) for case in run.cases(memory, SUMS[:1]) for hops in (0, 2)
    ]
    made = list(kept.keep(run.run(cases, reader), file))
    assert list(kept.load(file).values()) == made
    assert "\ud800" in made[0].carried
    assert "\ud800" in made[2].fault


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: run.cases(Whole, []), "at least one problem"),
        (lambda: run.cases(Whole, SUMS, corrections=()), "at least one problem"),
        (lambda: run.cases(Whole, SUMS, repetitions=0), "repetitions"),
        (lambda: list(run.run(run.cases(Whole, SUMS) * 2, Recomputing())), "all different"),
        (
            lambda: list(run.run(run.cases(Whole, SUMS, corrections=("gentle",)), Recomputing())),
            "no correction 'gentle'",
        ),
        (lambda: policies.policy("sorce_first"), "no policy 'sorce_first'"),
        (lambda: policies.policy(policies.LOSSY, 2), "integrity"),
    ],
)
def test_what_cannot_be_asked_is_refused(make, says):
    """A misspelt name never silently means another one."""
    with pytest.raises(InvalidArgument, match=says):
        make()


def test_a_memory_that_fails_is_counted_and_the_run_goes_on(tmp_path):
    """An error in a stranger's code, or a text over a strict budget, is an item that says so; nothing is lost."""

    class Sometimes(Whole):
        made = 0

        def __init__(self) -> None:
            type(self).made += 1
            if self.made == 2:
                raise OSError("no disk")

    file = tmp_path / "items.jsonl"
    cases = run.cases(Sometimes, SUMS)
    items = list(kept.keep(run.run(cases, Recomputing()), file))
    assert [one.outcome for one in items] == ["recovered", "failed", "recovered", "recovered"]
    line = Sometimes.__init__.__code__.co_firstlineno + 3
    told = f"OSError: no disk (test_reclaim_run.py:{line})"
    assert items[1].fault == f"Sometimes could not be made: {told}; mend it and run again"
    assert list(kept.load(file).values()) == items
    (cell,) = tables.cells(items, ("memory",))
    assert (str(cell.recovered), cell.failed.hits, cell.n) == ("0.750 [0.301, 0.954] (3 of 4)", 1, 4)


def test_progress_is_told():
    """Each case done is told, with how many there are."""
    told = []
    cases = run.cases(policies.policy(policies.LOSSY), SUMS)
    list(itertools.islice(run.run(cases, Recomputing(), progress=lambda *it: told.append(it)), 4))
    list(run.run(cases, Recomputing(), progress=lambda *it: told.append(it)))
    assert told[-4:] == [(1, 4), (2, 4), (3, 4), (4, 4)]


class Collects:
    """Answers by the lines of every session of this process."""

    lines: ClassVar[list[str]] = []

    def write(self, messages, budget):
        self.lines.extend(message["content"] for message in messages if message["role"] == "user")
        return "ask"

    def recall(self, query):
        return "\n".join(self.lines)


def test_a_memory_that_knows_another_problem_is_told_so():
    """What a class keeps for all problems fails every item but the first; one object may serve for all of them."""
    Collects.lines.clear()
    fresh = [*run.run(run.cases(Collects, SUMS), Recomputing())]
    assert [item.outcome for item in fresh[1:]] == ["failed"] * 3
    assert "sessions of another problem alone said: each problem has a memory of its own" in fresh[1].fault
    assert not any(item.fault for item in run.run(run.cases(Collects(), SUMS), Recomputing()))
