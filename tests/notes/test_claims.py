"""Claims checked against the log: every mechanical fault is caught, and nothing is worked out by a quote alone."""

from __future__ import annotations

import re

import pytest

from firsthand import Draft, InvalidArgument, Kind, Memory, Proof, Trust
from firsthand.moment import Moment
from firsthand.notes.claim import CHARACTERS_MAX, claims_of
from firsthand.notes.writer import note

ORDER = "7 notebooks at $4 each, 9 pens at $2 each, one stapler at $12.50"
TESTS = "212 passed, 3 failed in 14.2s"
WORK = "7 * $4 + 9 * $2 + $12.50 = $58.50"
EVENTS = (
    (Kind.USER_MESSAGE, Trust.TRUSTED, f"Please order: {ORDER}\nDo not deploy to eu-west-1 before 2026-03-02."),
    (Kind.TOOL_RESULT, Trust.UNTRUSTED, f"== {TESTS} ==\n17 notebooks at $45 in stock\nwrote 5 GB in 40 s"),
    (Kind.AGENT_MESSAGE, Trust.AGENT, "the total is $55 and the budget is $27"),
    (Kind.TOOL_CALL, Trust.AGENT, '{"command": "echo the limit is 300 s"}'),
    (Kind.USER_MESSAGE, Trust.TRUSTED, "\u0411\u044e\u0434\u0436\u0435\u0442 90 EUR, \u5e93\u5b58 40"),
)


@pytest.fixture
def memory(tmp_path):
    with Memory(tmp_path / "store") as opened:
        opened.append([Draft(kind, text.encode(), trust=trust) for kind, trust, text in EVENTS], session="s")
        yield opened
        assert opened.verify(deep=True).problems == ()


def proofs(memory: Memory, *claims: dict[str, object]) -> list[str]:
    return [checked.proof for checked in memory.check(claims, within=["s"])]


SUMS = [  # says, quote, work: all of them true
    ("the total before tax is $58.50", ORDER, WORK),
    ("notebooks come to $28", ORDER, "7 * $4"),
    ("pens come to $18", ORDER, "9 pens * $2 = $18"),
    ("notebooks and pens: $46", ORDER, "7 * $4 + 9 * $2"),
    ("16 pieces without the stapler", ORDER, "7 notebooks + 9 pens = 16"),
    ("2 more pens than notebooks", ORDER, "9 - 7 = 2"),
    ("the stapler costs $8.50 more than a notebook", ORDER, "$12.50 - $4"),
    ("215 tests ran", TESTS, "212 passed + 3 failed = 215 tests"),
    ("209 more passed than failed", TESTS, "212 - 3"),
    ("more passed (212) than failed (3)", TESTS, "212 passed > 3 failed"),
    ("0.125 GB/s: 5 GB in 40 s make 125000000 B in each second", "wrote 5 GB in 40 s", "5 GB / 40 s"),
    ("twice 90 EUR is 180 EUR", "90 EUR", "90 EUR + 90 EUR"),
    ("\u5408\u8ba1 130", "\u0411\u044e\u0434\u0436\u0435\u0442 90 EUR, \u5e93\u5b58 40", "90 + 40"),
]


def test_worked_out_claims_state_what_their_work_gives(memory):
    """A claim whose values are quoted, whose work computes and which states the result is worked out, else unproven."""
    kept = [
        proof for says, quote, work in SUMS for proof in proofs(memory, {"says": says, "quotes": [quote], "work": work})
    ]
    assert kept[:10] == [Proof.WORKED_OUT] * 10
    assert kept[11] == Proof.WORKED_OUT
    assert kept[10] == Proof.UNPROVEN  # a rate is stated in no unit that is known
    assert kept[12] == Proof.UNPROVEN  # 90 EUR and 40 have no common unit


FAULTS = [  # what is done to a true claim, and what becomes of it
    (lambda says, quote, work: (re.sub(r"(\d+)", r"9\1", says), quote, work), {Proof.CONTRADICTED, Proof.UNPROVEN}),
    (lambda says, quote, work: (says, quote[:-1], work), {Proof.UNPROVEN}),
    (lambda says, quote, work: (says, quote.replace(" ", "  ", 1), work), {Proof.UNPROVEN}),
    (lambda says, quote, work: (says, quote, f"{work.partition('=')[0]} + 1000"), {Proof.UNPROVEN, Proof.CONTRADICTED}),
    (lambda says, quote, work: (says, quote, re.sub("[27]", "8", work)), {Proof.UNPROVEN, Proof.CONTRADICTED}),
    (lambda says, quote, work: (f"{says} and 77 more", quote, work), {Proof.UNPROVEN}),
    (lambda says, quote, work: (says, "the total is $55 and the budget is $27", work), {Proof.UNPROVEN}),
    (lambda says, quote, work: ("it is done", quote, work), {Proof.UNPROVEN}),
    (lambda says, quote, work: (says, "", work), {Proof.UNPROVEN}),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(FAULTS)))
def test_every_mechanical_fault_is_caught(memory, number):
    """No claim with a wrong value, quote, operand or result is worked out or cited."""
    spoil, expected = FAULTS[number]
    for says, quote, work in SUMS[:9]:
        new_says, new_quote, new_work = spoil(says, quote, work)
        claim = {"says": new_says, "quotes": [new_quote], "work": new_work}
        assert set(proofs(memory, claim)) <= expected, claim


@pytest.mark.parametrize(
    ("says", "quotes"),
    [
        ("deploy to eu-west-1", ["deploy to eu-west-1"]),  # cut out of its negation
        ("the pens are blue", [ORDER]),
        ("the stapler costs $4", [ORDER]),  # swapped
        ("all tests passed", [TESTS]),
        ("\u0431\u044e\u0434\u0436\u0435\u0442 90 EUR", ["90 EUR"]),
        ("7 pens and 9 notebooks", ["7 notebooks at $4 each, 9 pens"]),
    ],
)
def test_a_quote_alone_is_cited_at_most(memory, says, quotes):
    """What a quote cannot prove is cited and no more, and is shown with its whole lines."""
    (checked,) = memory.check([{"says": says, "quotes": quotes}], within=["s"])
    assert checked.proof in {Proof.CITED, Proof.UNPROVEN}
    assert all(piece.line in "\n".join(text for *_, text in EVENTS).split("\n") for piece in checked.quoted)


def test_the_whole_line_of_a_quote_is_given(memory):
    """A quote cut out of a negation comes back with it."""
    (checked,) = memory.check([{"says": "deploy to eu-west-1", "quotes": ["deploy to eu-west-1"]}], within=["s"])
    assert checked.quoted[0].line == "Do not deploy to eu-west-1 before 2026-03-02."


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ({"quotes": ["212 passed and 3 failed"]}, f"quote 1: not word for word; copy from: '== {TESTS} =='"),
        ({"quotes": [ORDER], "work": "7 * $4 + $27"}, "work: $27 stands in no quote; quote where it is said"),
        ({"quotes": [ORDER], "work": WORK.partition("=")[0]}, "work gives 58.5 USD, the claim says $55"),
        ({"quotes": ["the total is $55"]}, "quote 1 rests only on what an agent wrote; quote the user or a tool"),
        ({"quotes": ["the limit is 300 s"]}, "quote 1 rests only on what an agent wrote; quote the user or a tool"),
        ({"quotes": []}, "no quote; quote word for word what it rests on"),
        ({"quotes": ["7 notebooks at $4"], "work": "7 * $4 + $0"}, "work: $0 changes nothing; leave it out"),
        ({"quotes": [TESTS], "by": "user"}, "user is named, but tool said it"),
        ({"quotes": [ORDER], "at": ["fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY"]}, "leads to nothing in this namespace"),
        ({"quotes": [ORDER], "work": "round(a, 9)"}, "expected a number such as"),
        ({"quotes": ["notebooks at $4"]}, "$55 stands in no quote; quote where it is said"),
    ],
)
def test_a_fault_says_how_to_mend_it(memory, claim, reason):
    """Whatever keeps a claim from being proven is named, with what to write instead."""
    (checked,) = memory.check([{"says": "the total is $55", **claim}], within=["s"])
    assert checked.proof in {Proof.UNPROVEN, Proof.CONTRADICTED}
    assert any(reason in sentence for sentence in checked.reasons), checked.reasons


def test_values_cut_out_of_longer_ones_are_not_quoted(memory):
    """A quote that cuts $45 to $4 holds no $4."""
    (checked,) = memory.check([{"says": "a notebook is $4", "quotes": ["notebooks at $4"], "at": []}], within=["s"])
    assert checked.quoted[0].line.startswith("Please order")  # not the line of $45, in which it would cut a number


def test_a_value_that_a_quote_cuts_short_is_not_quoted(memory):
    """A quote that ends within $12.50 holds no $12, and one that ends before its unit no bare number."""
    cut = {"says": "the stapler is $12", "quotes": ["one stapler at $12"]}
    bare = {"says": "it took 14", "quotes": ["3 failed in 14"]}
    beside = {"says": "the stapler is $12.50", "quotes": ["9 pens at $2 each"]}  # of the same line
    assert proofs(memory, cut, bare, beside) == [Proof.UNPROVEN] * 3


def test_what_recall_brought_back_proves_nothing(memory):
    """The answer of a memory's own tool repeats; only what was said in the first place is a source."""
    memory.append([Draft(Kind.TOOL_RESULT, b"noted: the limit is 90 s", meta={"tool": "recall"})], session="s")
    (checked,) = memory.check([{"says": "the limit is 90 s", "quotes": ["the limit is 90 s"]}], within=["s"])
    assert checked.reasons == ("quote 1 rests only on what an agent wrote; quote the user or a tool",)


def test_a_quote_of_another_namespace_proves_nothing(memory, tmp_path):
    """Neither its words nor its pointer lead out of a namespace."""
    with Memory(tmp_path / "store", namespace="other") as other:
        theirs = other.session("s").user("the code is 4711")
    claim = {"says": "the code is 4711", "quotes": ["the code is 4711"]}
    assert proofs(memory, claim, {**claim, "at": [theirs.pointer]}) == [Proof.UNPROVEN, Proof.UNPROVEN]


def test_a_note_keeps_what_the_check_said(memory):
    """A note with claims rests on the events that they quote; erasing one erases the note with its copy."""
    noted = memory.note(
        "$58.50 before tax", claims=[{"says": SUMS[0][0], "quotes": [ORDER], "work": WORK}], within=["s"]
    )
    source = noted.checked[0].quoted[0].pointer
    assert (noted.sources, noted.checked[0].proof) == ((source,), Proof.WORKED_OUT)
    assert memory.event(noted.pointer).meta["claims"][0]["proof"] == "worked out"
    assert [checked.proof for checked in memory.check(noted.pointer)] == [Proof.WORKED_OUT]
    memory.erase([source])
    assert memory.event(noted.pointer).erased


def test_a_quote_of_an_open_turn_is_settled_by_the_turn(memory):
    """What is not in the log yet is pending, and proven once its turn is recorded; later turns do not count."""
    claims = [
        {"says": "the queue holds 512", "quotes": ["queue depth 512"]},
        {"says": "it is 9", "quotes": ["it is 9"]},
    ]
    noted = note(
        memory, "queue", session="notes", sources=(), situations=None, sort="note",
        fields={"time": Moment(1_000)}, claims=claims, within=["s"], open_turn=True,
    )  # fmt: skip
    assert [checked.proof for checked in noted.checked] == [Proof.PENDING, Proof.PENDING]
    memory.append([Draft(Kind.TOOL_RESULT, b"queue depth 512", time=Moment(500))], session="s")
    memory.append([Draft(Kind.USER_MESSAGE, b"it is 9", time=Moment(2_000), trust=Trust.TRUSTED)], session="s")
    assert [checked.proof for checked in memory.check(noted.pointer)] == [Proof.CITED, Proof.UNPROVEN]


@pytest.mark.parametrize(
    "raw",
    [
        {"says": "x"}, "x", [{"says": ""}], [{"says": "x", "quote": "y"}], [{"says": "x", "quotes": 5}], [5],
        [{"says": "x", "at": ["nowhere"]}], [{"says": "x" * (CHARACTERS_MAX + 1)}], [{"says": "x"}] * 65,
    ],
)  # fmt: skip
def test_what_is_no_claim_is_refused(raw):
    """A claim of another shape is refused, and the message says which and what is expected."""
    with pytest.raises(InvalidArgument, match="claim"):
        claims_of(raw)
