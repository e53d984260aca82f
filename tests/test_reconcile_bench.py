"""The bench of reconciliation: its gold is what it says, and the rules keep to it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

import pytest

from firsthand.consolidate.keys import Reading
from firsthand.consolidate.sweep import by_rule
from reconcile_bench import NEVER, UNSEEN, Tally, arranged, generated, table
from reconcile_real import LOSSES, Dialogues, Pairs, _dialogue, _kind_of_update, _says
from reconcile_said import said


@pytest.mark.parametrize("others", [UNSEEN, NEVER])
def test_no_fact_that_holds_is_taken_out_of_generated_sessions(others):
    """Among questions, quotations, tools and like names no decision takes out a fact that still holds."""
    tally = generated(20, others)
    assert tally.wrong == 0
    assert tally.right > 0.9 * tally.decided
    assert tally.found > 0.6 * tally.gold
    assert tally == generated(20, others)
    assert (tally.losses.total(), tally.losses["found"]) == (tally.gold, tally.found)


def test_no_count_or_booking_that_holds_is_taken_out():
    """Among other people's, questions, refusals and further bookings no decision takes out what still holds."""
    tally = arranged(20)
    assert tally.wrong == 0
    assert tally.right > 0.8 * tally.decided
    assert tally.found > 0.8 * tally.gold


def test_a_row_says_what_was_counted():
    """Shares are of what they say, and nothing decided is no division by zero."""
    row = Tally(facts=200, decided=10, right=8, wrong=2, gold=16, found=4).row("made")
    assert (row[0], row[3], row[4], row[5][:6], row[6]) == ("made", "8 (0.800)", "2", "1.00 %", "4 of 16 (0.250)")
    assert Tally().row("none")[3] == "0 (0.000)"
    assert table(("a", "b"), [("1", "2")]).splitlines() == ["| a | b |", "| --- | --- |", "| 1 | 2 |"]


def turn(text, **hotel):
    """Make a turn of a user, and the one behind it with the belief state."""
    state = {"hotel": {"semi": {}, "book": hotel}}
    return [{"text": text, "metadata": {}}, {"text": "Noted.", "metadata": state}]


def test_each_overwrite_of_a_dialogue_is_of_one_kind():
    """What is decided is found; what nobody said cannot be; what was said in no known words is not read."""
    log = [
        *turn("I need a hotel for 3 nights.", stay="3"),
        *turn("Let's make it 2 nights.", stay="2"),
        *turn("Yes, please.", stay="4"),
        *turn("Could it also be 5 nights?", stay="5"),
        *turn("Hm, it will be 6 instead of that, I fear.", stay="6"),
    ]  # fmt: skip
    tally = Dialogues()
    _dialogue("made", log, tally, show=False)
    assert (tally.gold, tally.found, tally.right, tally.wrong) == (4, 1, 1, 0)
    assert {name: tally.losses[name] for name in LOSSES if tally.losses[name]} == {
        "found": 1, "undecidable": 2, "not read": 1,
    }  # fmt: skip
    assert tally.lost("made") == ("made", "4", "1", "0", "2", "1", "0", "0", "0.500")


def test_what_a_text_says_of_a_value():
    """A number is a word of its own, a time is one however it is written, anything else a run of letters."""
    assert [_says("for four people at 9:15 pm in a guest house", one) for one in ("4", "21:15", "guesthouse", "1")] == [
        True, True, True, False,
    ]  # fmt: skip


def test_an_update_is_of_one_kind():
    """An update whose new value the message does not hold is undecidable; one without a fact is not read."""
    users = {1: "The port is 80.", 2: "The port is now 81.", 3: "So, 82?", 4: "What is it now?"}
    told = [*Reading().read(said(place, text, "s") for place, text in users.items())]
    pairs = Pairs.of(told, by_rule(told, {}))
    kinds = [
        _kind_of_update([1], [new], answer, users, told, pairs) for new, answer in ((2, "81"), (3, "82"), (4, "83"))
    ]
    assert kinds == ["found", "not read", "undecidable"]
