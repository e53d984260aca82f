"""Distilling: source first, verbatim, within any budget, and enough to recompute the answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from note_sessions import order, puzzle

from firsthand import Note, distill
from firsthand.errors import InvalidArgument
from firsthand.event import Trust
from firsthand.notes.determine import claim_of
from firsthand.notes.solve import recompute
from firsthand.notes.statements import MESSAGE_STATEMENTS_MAX, statements
from firsthand.tokens import estimate

ONE, TWO, THREE, FOUR = (f"fh:01J8ZQ4T9M6V3K2N7P5R8S1WX{last}" for last in "0123")
ORDERS, PUZZLES = 60, 40


def answer(note: Note, what: str):
    """Recompute what is asked for out of the evidence that holds, and nothing else."""
    held = "\n".join(one.text for one in note.evidence if one.standing == "holds")
    said = statements([{"role": "note", "content": held}])
    return recompute(said, claim_of(said, what))


def with_pointers(messages):
    made = "fh:01J8ZQ4T9M6V3K2N7P5R8S{:04}"
    return [{**message, "pointer": made.format(place)} for place, message in enumerate(messages)]


def test_the_source_comes_first_and_the_conclusion_only_when_all_fits():
    """With room there are decoys, replaced words and the conclusion too; with less, these go and the source stays."""
    messages = [
        {
            "role": "user",
            "content": "We bought 7 pads at $4, 9 pens at $2, but not the 5 lamps at $9. The total?",
            "pointer": ONE,
        },
        {"role": "assistant", "content": "The total comes to $50.", "pointer": TWO},
        {"role": "user", "content": "Correction: 8 pads at $4.", "pointer": THREE},
    ]
    whole = distill(messages, 400)
    assert whole.text == (
        f"2 of 2 statements kept.\n{ONE}\n- 9 pens at $2\n{THREE}\n- Correction: 8 pads at $4.\n{ONE}\n"
        "- replaced: We bought 7 pads at $4\n- not chosen: not the 5 lamps at $9.\nConcluded: The total comes to $50."
    )
    assert distill(messages, 160).conclusion == ""
    assert [one.text for one in distill(messages, 140).evidence] == ["9 pens at $2", "Correction: 8 pads at $4."]


@pytest.mark.parametrize(
    ("said", "concluded", "carried"),
    [
        ("7 pads at $4 and 9 pens at $2. The total?", "The total comes to $46.", "The total comes to $46."),
        ("7 pads at $4 and 9 pens at $2. The total?", "The total comes to $55.", ""),
        ("7 pads at $4 and 9 pens at $2. The total?", "The total comes to 46.", "The total comes to 46."),
        ("The gate code is K7-5521. What is the gate code?", "The gate code is K7-5512.", ""),
    ],
)
def test_a_conclusion_that_its_own_source_contradicts_is_not_carried(said, concluded, carried):
    """What the kept statements give is compared with what an agent concluded of them; the source stays."""
    note = distill([{"role": "user", "content": said}, {"role": "assistant", "content": concluded}], 400)
    assert note.conclusion == carried
    assert note.kept == note.of > 0


def test_every_budget_is_kept_one_by_one():
    """At each budget, from nothing to more than all, the text fits, with pointers and without."""
    session = order(2, items=3, decoys=2)
    for messages in (session.messages, with_pointers(session.messages)):
        assert all(len(distill(messages, budget).text) <= budget for budget in range(520))


def test_a_piece_that_is_too_long_gives_way_to_shorter_ones():
    """Where one long statement does not fit, the shorter ones behind it are still kept."""
    long = "7 pads at $4 for the room at the very end of the corridor behind the stairs to the second cellar"
    note = distill([{"role": "user", "content": f"{long}. 9 pens at $2. 3 cups at $1. What is the total?"}], 90)
    assert [one.text for one in note.evidence] == ["9 pens at $2.", "3 cups at $1."]


def test_what_does_not_fit_is_pointed_to():
    """Where the budget does not hold all, the note says k of n, and the rest is one span of the session."""
    goods = ("ropes", "lamps", "oars", "tarps", "crates", "quilts", "brooms", "anvils")
    said = [f"We took {n + 2} {good} at ${n + 3} each." for n, good in enumerate(goods)]
    messages = with_pointers([{"role": "user", "content": one} for one in [*said, "What is the total?"]])
    note = distill(messages, 200)
    pointers = [message["pointer"] for message in messages]
    assert (note.kept, note.of, note.rest) == (1, 8, "reachable")
    assert note.text == (
        f"1 of 8 statements kept; the rest is at {pointers[1]}..{pointers[7][3:]}.\n{pointers[0]}\n- {said[0]}"
    )
    lost = distill([{key: said for key, said in message.items() if key != "pointer"} for message in messages], 100)
    assert (lost.kept, lost.rest) == (1, "lost")
    assert "the rest was not kept" in lost.text


def test_a_note_says_whose_words_it_carries_when_it_is_signed():
    """Signed, a note is as trusted as the least trusted of its sources."""
    messages = [{"role": "user", "content": "The port is 8443."}, {"role": "tool", "content": "port: 9000\nhost: a1"}]
    assert distill(messages[:1], 200, origin="me").trust is Trust.TRUSTED
    assert distill(messages[1:], 200, origin="me").trust is Trust.UNTRUSTED


def test_a_budget_may_be_of_tokens():
    """A budget is counted as the caller counts."""
    session = order(1, items=6)
    note = distill(session.messages, 60, count=estimate)
    assert 0 < estimate(note.text) <= 60


def test_generated_orders_are_recomputed_from_their_notes():
    """Of sums in six ways of writing, the source anywhere, at least .95 are right where the budget holds the source."""
    right = held = 0
    for number in range(ORDERS):
        session = order(number, items=2 + number % 7, decoys=number % 4 * 3)
        note = distill(session.messages, 420)
        if note.kept == note.of:
            held += 1
            found = answer(note, session.asked)
            right += found is not None and found.amount == session.answer
    assert held >= ORDERS * 0.8
    assert right >= 0.95 * held


def test_generated_puzzles_are_recomputed_from_their_notes():
    """Of puzzles with scattered clues at least .95 are right, and no conclusion of the agent is evidence."""
    right = 0
    for number in range(PUZZLES):
        session = puzzle(number, people=3 + number // 2 % 2)
        note = distill(session.messages, 420)
        found = answer(note, session.asked)
        right += found is not None and found.text == session.answer
        assert not any("Therefore" in one.text for one in note.evidence)
    assert right >= 0.95 * PUZZLES


@pytest.mark.parametrize("decoys", [0, 8, 32])
def test_what_was_bought_is_kept_among_decoys(decoys):
    """Under 32 decoys and 420 characters the bought items are all there (the naive note fails: table 15)."""
    for number in range(12):
        session = order(number, items=4, decoys=decoys)
        note = distill(session.messages, 420)
        assert note.kept == note.of
        found = answer(note, session.asked)
        assert found is not None
        assert found.amount == session.answer


_CONTENT = st.text(max_size=120) | st.sampled_from(
    [
        "7 pads at $4, 9 pens at $2",
        "| a | b |\n|---|---|\n| pens | 7 |",
        '{"a": [1, {"b": 2}]}',
        "The total is $55.",
        "not 7 but 9 pens",
        "What is the total?",
        "a: 1\n  b: 2",
        "Ana, Ben and Cleo have one job each: cook, clerk and guard. Ana is not the cook. Who is the cook?",
    ]
)
_MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "tool", "system", "odd"]), "content": _CONTENT},
        optional={"pointer": st.sampled_from(["", ONE, TWO, THREE, FOUR, f"{ONE}@1-2"])},
    ),
    max_size=8,
)


@given(_MESSAGES, st.integers(min_value=0, max_value=400))
def test_any_budget_is_kept_and_all_evidence_is_verbatim(messages, budget):
    """Whatever messages and budget: no error, never over it, each piece a substring, read back as it was made."""
    note = distill(messages, budget)
    assert len(note.text) <= budget
    assert all(any(one.text in message["content"] for message in messages) for one in note.evidence)
    assert all(
        any(message.get("pointer") == one.pointer for message in messages) for one in note.evidence if one.pointer
    )
    assert Note.read(note.text) == note
    assert note.conclusion == "" or note.kept == note.of


@given(st.integers(min_value=0, max_value=300), st.integers(min_value=0, max_value=300), st.booleans())
def test_more_room_never_keeps_less(one, more, pointed):
    """A larger budget holds at least as many of the determining statements, however they are pointed to."""
    session = order(4, items=7)
    messages = with_pointers(session.messages) if pointed else session.messages
    small, large = distill(messages, one), distill(messages, one + more)
    assert small.kept <= large.kept or small.kept == small.of


@pytest.mark.parametrize("budget", [0, 1, 10])
def test_a_tiny_budget_gives_a_blank_note(budget):
    """Where not even the completeness fits, nothing is written: a note that asserts nothing."""
    assert distill(order(0).messages, budget).text == ""


def test_a_negative_budget_is_refused():
    """A budget below 0 is a mistake of the caller."""
    with pytest.raises(InvalidArgument, match="a budget is 0 or more"):
        distill([], -1)


def test_what_a_user_proposes_is_kept():
    """A value that is asked for in the place of another one determines what was booked, though it is a question."""
    said = [
        {"role": "user", "content": "Could you book a table for 6 people at 14:15 on Wednesday?"},
        {"role": "assistant", "content": "There is nothing free at that time."},
        {"role": "user", "content": "How about 13:15 instead?"},
        {"role": "assistant", "content": "Your table is booked. Confirmed: the time of the table is 14:15."},
        {"role": "user", "content": "How about the weather, by the way?"},
    ]
    evidence = [one.text for one in distill(said, 400).evidence]
    assert "How about 13:15 instead?" in evidence
    assert "How about the weather, by the way?" not in evidence


def test_a_note_of_a_message_that_was_not_read_whole_says_so():
    """A message beyond a limit counts as a statement that was left out, and the note leads to it."""
    dense = "7 pads at $4 each, 9 pens at $2 each.\n" + "x: 1\n" * (MESSAGE_STATEMENTS_MAX + 5)
    pointer = "fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY"
    made = distill(
        [
            {"role": "user", "content": dense, "pointer": pointer},
            {"role": "user", "content": "What is the total?"},
            {"role": "assistant", "content": "The total comes to $46."},
        ],
        2_000_000,
    )
    assert made.kept < made.of
    assert made.rest == "reachable"
    assert pointer in made.sources
