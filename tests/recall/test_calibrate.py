"""Questions made of a store, and the gate that is learned from them."""

from __future__ import annotations

import random

import pytest

from firsthand import Memory
from firsthand.event import Draft, Kind
from firsthand.index import learned
from firsthand.recall import kept_gate
from firsthand.recall.attempt import Scored
from firsthand.recall.calibrate import EVENTS_MIN, Tried, calibrate, learn, sample, truth_of
from firsthand.recall.gate import DEFAULT, Gate
from firsthand.recall.made import SHARES, Made, Told, class_of, make, telling
from firsthand.recall.rank import Match
from firsthand.recall.signals import NAMES, Signals

THINGS = "harbour lantern violin orchard tunnel compass glacier furnace meadow anchor saddle telescope".split()  # noqa: SIM905
DEEDS = "repaired painted measured borrowed inspected described photographed delivered polished weighed".split()  # noqa: SIM905
PLACES = "Lisbon Oslo Quebec Nairobi Kyoto Lima Tunis Perth".split()  # noqa: SIM905


def sentence(chance: random.Random, number: int) -> str:
    thing, other = chance.sample(THINGS, 2)
    deed, place = chance.choice(DEEDS), chance.choice(PLACES)
    return (
        f"Yesterday the {thing} near {place} was {deed} beside a {other}. Ticket T-{number:04} cost {number * 7} euros."
    )


def fill(memory: Memory, count: int, *, seed: int = 1) -> None:
    chance = random.Random(seed)
    for part in range(0, count, 20):
        drafts = [
            Draft(Kind.USER_MESSAGE, sentence(chance, number).encode(), agent=("Ann", "Bob")[number % 2])
            for number in range(part, min(count, part + 20))
        ]
        memory.append(drafts, session=f"s{part}")


@pytest.fixture
def memory(tmp_path):
    """A store of 160 events by two agents."""
    with Memory.open(tmp_path / "store", embedder="none") as one:
        fill(one, 160)
        yield one


def runs_of(count: int) -> list[list[Told]]:
    chance = random.Random(3)
    told = [Told(at, "s", ("Ann", "Bob")[at % 2], sentence(chance, at)) for at in range(1, count + 1)]
    return [told[at : at + 5] for at in range(0, count, 5)]


def test_the_same_runs_give_the_same_questions():
    """Runs, seed and count decide every question; another seed gives others; none comes twice."""
    runs = runs_of(100)
    first = make(runs, "seed", 120)
    assert first == make(runs, "seed", 120)
    assert first != make(runs, "other", 120)
    assert len({one.text for one in first}) == len(first) == 120


def test_every_kind_of_question_is_made_as_it_says():
    """Each kind comes; only those of an event have an answer, and only those left out leave any out."""
    made = make(runs_of(200), "seed", 300)
    assert {one.how for one in made} == set(SHARES)
    assert all(one.answer for one in made if one.how == "own")
    assert not any(one.answer for one in made if one.how not in {"own", "verbatim"})
    assert all(bool(one.without) == (one.how == "left out") for one in made)


def test_a_question_of_an_event_holds_words_of_it():
    """What is called its own stands in the event that answers."""
    runs = runs_of(100)
    texts = {told.position: told.text for run in runs for told in run}
    own = [one for one in make(runs, "seed", 200) if one.how == "own"]
    assert all(word in texts[one.answer] for one in own for word in one.own)
    assert all(len(one.own) >= 2 for one in own)


def test_events_of_few_words_give_no_question():
    """Where no event has words enough to be told by, nothing is made."""
    assert make([[Told(1, "s", "", "ok"), Told(2, "s", "", "yes, thanks a lot")]], "seed", 50) == ()


def test_words_are_classed_by_what_could_stand_in_their_place():
    """Numbers, identifiers, names and plain words are told apart; stop words and contractions are no telling words."""
    assert [class_of(word) for word in ("42", "T-0042", "src/a.py", "Lisbon", "harbour")] == [
        "number", "identifier", "identifier", "name", "",
    ]  # fmt: skip
    assert telling("I've seen the T-0042 at 42 of it, don't") == ["seen", "T-0042", "42"]


def test_a_sample_reads_runs_from_all_over_a_namespace(memory):
    """Runs are consecutive events of one session, from the first to the last tenth, the same for the same seed."""
    reader = memory.log.reader
    runs = sample(reader, "default", 160, "seed")
    positions = [told.position for run in runs for told in run]
    assert runs == sample(reader, "default", 160, "seed")
    assert all(len({told.session for told in run}) == 1 for run in runs)
    assert len(set(positions)) == len(positions)
    assert min(positions) <= 16
    assert max(positions) > 144


def test_a_sample_leaves_out_what_is_not_searched(tmp_path):
    """No question is made of an erased event, nor of what only repeats others."""
    with Memory.open(tmp_path / "store", embedder="none") as memory:
        session = memory.session("s")
        events = [session.user(f"message {number}") for number in range(10)]
        memory.erase([events[4].pointer])
        receipt = session.append(Kind.RECEIPT, "message 3 left")
        head, _ = memory.log.reader.head("default")
        told = [one.position for run in sample(memory.log.reader, "default", head, "seed") for one in run]
        assert told == [*(one.position for one in events if one != events[4]), 11]  # the erasure is an event too
        assert head == receipt.position == 12


def test_a_gate_is_learned_on_the_store_itself(memory):
    """A store of events enough learns a gate of its own, says so in every answer, and keeps it for other handles."""
    assert memory.recall("harbour").gate == DEFAULT.sentence(160)
    memory.follow()
    gate = memory.recall("harbour").gate
    assert gate.startswith("learned on ")
    assert "questions made of this store at position 160; calibration error ." in gate
    with Memory.open(memory.path, read_only=True, embedder="none") as other:
        assert other.recall("harbour").gate == gate
    assert memory.verify().ok


def test_the_learned_gate_tells_known_from_unknown(memory):
    """On questions that it did not see, what stands there is likelier than what stands nowhere."""
    memory.follow()
    told = [event.text.split(". ")[1].split()[1] for event in memory.events(limit=40)]
    known = [memory.recall(one).confidence for one in told]
    unknown = [memory.recall(f"the zeppelin of {place} in 1931").confidence for place in PLACES]
    assert min(known) > max(unknown)


def test_a_gate_is_learned_anew_only_when_it_is_due(memory):
    """Following again changes nothing; after growth by half the old one is said to be old, then replaced."""
    memory.follow()
    first = memory.recall("harbour").gate
    memory.follow()
    assert memory.recall("harbour").gate == first
    fill(memory, 80, seed=2)
    assert memory.recall("harbour").gate == f"{first}; old, the store is at 240 now: run 'firsthand store follow'"
    memory.follow()
    assert "at position 240;" in memory.recall("harbour").gate


def test_a_small_store_keeps_the_first_gate(tmp_path):
    """With fewer events than a sample needs nothing is learned."""
    with Memory.open(tmp_path / "store", embedder="none") as one:
        fill(one, EVENTS_MIN - 10)
        one.follow()
        assert one.recall("harbour").gate == DEFAULT.sentence(EVENTS_MIN - 10)


def test_an_erasure_drops_the_gate(memory):
    """What was learned of an erased event is gone with it."""
    memory.follow()
    memory.erase([f"fh:{next(memory.events()).id}"])
    assert memory.recall("harbour").gate == DEFAULT.sentence(161)


def keep(memory: Memory, version: str, json: str) -> None:
    def write(db):
        with db:
            learned.write(db, 1, kept_gate.NAME, learned.Lesson(160, version, json))

    memory.log.exclusively(write)


def test_a_gate_that_cannot_be_read_is_not_used_and_told(memory):
    """Recall goes on with the first gate and says why; following learns anew."""
    keep(memory, kept_gate.lesson_of(DEFAULT).version, "{")
    gate = memory.recall("harbour").gate
    assert gate.startswith(DEFAULT.sentence(160))
    assert "the gate learned on this store cannot be read" in gate
    memory.follow()
    assert "made of this store" in memory.recall("harbour").gate


def test_a_gate_of_other_signals_or_vectors_is_told(memory):
    """One of another version is not used; one of other vectors is, and says so."""
    keep(memory, "0:", Gate(1.0, position=160).to_json())
    assert memory.recall("harbour").gate == DEFAULT.sentence(160)
    keep(memory, kept_gate.lesson_of(DEFAULT).version, Gate(1.0, questions=99, position=160, embedder="m").to_json())
    assert memory.recall("harbour").gate.endswith("; learned with other vectors than now: run 'firsthand store follow'")


def test_the_prior_is_kept_where_questions_say_nothing():
    """Truths drawn by lot leave the weights nearer to the prior than truths that follow one signal."""
    chance = random.Random(5)
    rows = [tuple(chance.random() for _ in NAMES) for _ in range(120)]
    lots = [chance.random() < 0.5 for _ in rows]
    by_first = [row[0] > 0.5 for row in rows]
    first, noise = learn(rows, by_first, DEFAULT, position=1), learn(rows, lots, DEFAULT, position=1)
    assert first.weights[NAMES[0]] > DEFAULT.weights.get(NAMES[0], 0.0) + 1
    assert first.brier < noise.brier
    assert (first.questions, first.position) == (120, 1)


def test_a_left_out_event_that_others_repeat_is_not_counted():
    """Where a row holds all that was the event's own, the truth cannot be known; where none does, nothing was found."""
    made = Made("red boat", 0, frozenset({"red", "boat"}), frozenset({7}), "left out")
    keys = {"red": "red", "boat": "boat"}

    def tried(held: str) -> Tried:
        match = Match(dict.fromkeys(held.split(), 1), 5, (), ())
        return Tried((Scored(9, 0.5, {}, {}, 0.5, match),), Signals(), keys)

    assert (truth_of(made, tried("red boat")), truth_of(made, tried("boat"))) == (None, False)


def test_a_broken_stage_teaches_nothing():
    """Signals that a fault has touched give no gate; the same without the fault do."""

    def ask(fault: str):
        chance = random.Random(2)
        return lambda _text, _without: Tried(
            (Scored(9, 0.5, {}, {}, 0.5, Match({}, 5, (), ())),), Signals(held=chance.random(), whole=1.0), {}, fault
        )

    runs = runs_of(150)
    assert calibrate(ask("vectors: the embedder failed"), runs, "seed", position=150) is None
    gate = calibrate(ask(""), runs, "seed", position=150)
    assert gate is not None
    assert gate.position == 150
