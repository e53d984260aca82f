"""A correction is held against the claims that it may concern: exact arithmetic with its values, and no verdict."""

from __future__ import annotations

import pytest

from firsthand import Memory, Proof

ORDER = "7 notebooks at $4 each, 9 pens at $2 each, one stapler at $12.50"
CLAIM = {"says": "the total is $58.50", "quotes": [ORDER], "work": "7 * $4 + 9 * $2 + $12.50 = $58.50"}


@pytest.fixture
def memory(tmp_path):
    with Memory(tmp_path / "store", embedder="none") as opened:
        opened.session("s").user(f"Please order: {ORDER}")
        opened.session("s").user("The party is on 2026-05-01; invitations go out 10 days before.")
        yield opened
        assert opened.verify().problems == ()


@pytest.fixture
def note(memory):
    return memory.note("The order comes to $58.50.", claims=[CLAIM], within=["s"]).pointer


def substitutions(memory: Memory, correction: str) -> list[tuple[str, str, str]]:
    claims = memory.check_correction(correction).claims
    return [(each.old, each.new, each.gives) for claim in claims for each in claim.substitutions]


def test_the_value_that_was_wrong_is_replaced_in_the_work(memory, note):
    """The correction's value that stands in the work gives way to its other one, and the result is exact."""
    assert substitutions(memory, "the stapler cost $15, not $12.50") == [("$12.50", "$15", "61 USD")]
    assert substitutions(memory, "not 7 notebooks but 8") == [("7", "8", "62.5 USD")]


def test_every_operand_of_the_unit_is_tried_where_the_wrong_one_is_not_said(memory, note):
    """Without the old value all readings are given, and none is chosen."""
    tried = [("$4", "$15", "135.5 USD"), ("$2", "$15", "175.5 USD"), ("$12.50", "$15", "61 USD")]
    assert substitutions(memory, "the stapler was $15") == tried
    assert substitutions(memory, "the stapler was 15 kg") == []


def test_evidence_and_source_come_with_the_claim(memory, note):
    """The claim, its proof and the whole lines that it quotes are given, and what a recall by the correction finds."""
    check = memory.check_correction("the stapler cost $15, not $12.50")
    (claim,) = check.claims
    assert (claim.note, claim.checked.proof, claim.gives) == (note, Proof.WORKED_OUT, "58.5 USD")
    assert claim.checked.quoted[0].line == f"Please order: {ORDER}"
    assert ORDER in check.sources[0].preview


def test_nothing_is_decided_and_nothing_is_written(memory, note):
    """The log is what it was, and the claim stands as it stood."""
    head = memory.head()
    memory.check_correction("the stapler cost $15, not $12.50")
    assert (memory.head(), memory.check(note)[0].proof) == (head, Proof.WORKED_OUT)


def test_a_note_that_is_named_is_the_one(memory, note):
    """With a pointer only that note's claims are looked at; a correction of nothing has no claims."""
    other = memory.note("10 days", claims=[{"says": "10 days before", "quotes": ["10 days before"]}], within=["s"])
    claims = memory.check_correction("it is 12 days", note=other.pointer).claims
    assert [(claim.note, claim.gives, claim.substitutions) for claim in claims] == [(other.pointer, "", ())]
    assert memory.check_correction("quetzal").claims == ()
