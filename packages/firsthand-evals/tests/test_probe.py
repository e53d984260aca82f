"""The verdict on a note: what it takes, what leads to it, how it fails."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand import Evidence, InvalidArgument, Note
from firsthand_evals.probe.probe import (
    NOTHING,
    REGIMES,
    ClaimVerdict,
    ProbeReport,
    Verdict,
    probe,
    probe_alone,
    probe_report,
)

ID = "fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY"
OTHER = "fh:01J8ZQ4T9M6V3K2N7P5R8S1WXZ"
BOUGHT = "We bought 7 notebooks at $4, 9 pens at $2 and 5 mugs at $6. What is the total before tax?"
SESSION = (
    {"role": "user", "content": BOUGHT, "pointer": ID},
    {"role": "assistant", "content": "The total comes to $70.", "pointer": OTHER},
)
CLAIM = "the total before tax"
WHOLE = "7 notebooks at $4, 9 pens at $2, 5 mugs at $6"


def regime(note: str, claim: str | None = CLAIM, **options: object) -> str:
    return probe(note, SESSION, claim=claim, **options).regime


@pytest.mark.parametrize(
    ("note", "wanted"),
    [
        (WHOLE, "correctable"),
        (f"{WHOLE}. The total was $70.", "correctable"),
        (
            "| item | qty | each |\n|---|---|---|\n| mugs | 5 | $6 |\n| pens | 9 | $2 |\n| notebooks | 7 | $4 |",
            "correctable",
        ),
        ("seven notebooks at four dollars each, nine pens at $2, five mugs at $6", "correctable"),
        ("Subtotals: notebooks $28, pens $18, mugs $30.", "correctable"),
        ("User: " + BOUGHT, "correctable"),
        ("The total was $70.", "uncorrectable_silent"),
        ("The total was $76.", "uncorrectable_silent"),
        ("It may have been $70; better check it.", "uncorrectable_silent"),
        ("7 notebooks at $4, 9 pens at $2", "uncorrectable_silent"),
        ("7 notebooks at $4, 9 pens at $2, 5 mugs at $7", "uncorrectable_silent"),
        ("7 notebooks at $4, 9 pens at $2, 5 mugs at $", "uncorrectable_silent"),
        (f"{WHOLE}, 3 rulers at $1", "uncorrectable_silent"),
        (f"{WHOLE}. Not bought: 3 rulers at $1.", "correctable"),
        ("7 notebooks at $4, 9 pens at $2\n[3/3 kept]", "uncorrectable_silent"),
        ("7 notebooks at $4, 9 pens at $2\n[2/3 kept]", "uncorrectable_loud"),
        ("7 notebooks at $4, 9 pens at $2. The rest was not kept.", "uncorrectable_loud"),
        ("The total was $70. Basis not kept.", "uncorrectable_loud"),
        ("", "uncorrectable_loud"),
        ("The user said good morning.", "uncorrectable_loud"),
    ],
)
def test_a_note_is_as_correctable_as_its_source_is_whole(note, wanted):
    """What gives the session's sum again is correctable in any form; a conclusion, a part, an altered number is not."""
    assert regime(note) == wanted


@pytest.mark.parametrize(
    ("note", "wanted"),
    [
        (f"The total was $70 ({ID})", "reachable"),
        (f"7 notebooks at $4; the rest: {ID}", "reachable"),
        (f"The total was $70 ({OTHER})", "uncorrectable_silent"),
        ("The total was $70 (fh:00000000000000000000000000)", "uncorrectable_silent"),
        ("7 notebooks at $4; the rest: fh:00000000000000000000000000", "uncorrectable_loud"),
        (f"7 notebooks at $4, 9 pens at $2, 5 mugs at $8. Exact prices: {ID}", "reachable"),
    ],
)
def test_a_pointer_is_worth_what_it_leads_to(note, wanted):
    """A pointer to the source makes a note reachable; one that dangles, or leads to a conclusion, does not."""
    assert regime(note) == wanted


def test_two_hops_are_followed_and_derived_text_is_no_source():
    """What stands behind a pointer counts where the session has it; a note behind one counts by its own pointers."""
    first, second = "fh:" + "1" * 26, "fh:" + "2" * 26
    behind = {first: f"A note: the total is $70. [from {ID}]", second: f"A note: {WHOLE}.", ID: BOUGHT}
    assert regime(f"It was $70. {first}", expand=behind.get) == "reachable"
    assert regime(f"It was $70. {second}", expand=behind.get) == "uncorrectable_silent"
    third = "fh:" + "3" * 26
    assert regime(f"It was $70. {third}", expand=(behind | {third: f"see {first}"}).get) == "uncorrectable_silent"


def test_what_is_missing_is_named_in_the_sessions_words():
    """A verdict names the statements that the note takes and does not have."""
    found = probe("7 notebooks at $4", SESSION, claim=CLAIM)
    missing = ("9 pens at $2", "5 mugs at $6.")
    silent = "what it takes is not there, and the note looks as if it were whole"
    assert found == Verdict(
        "uncorrectable_silent", missing, (ClaimVerdict(CLAIM, "uncorrectable_silent", missing),), silent
    )
    assert not found.correctable
    assert probe(WHOLE, SESSION, claim=CLAIM).missing == ()


PUZZLE = (
    {
        "role": "user",
        "content": "Ana, Ben and Cleo sit in seats 1 to 3, from left to right. Ana sits directly to the left of Ben. "
        "Cleo is not in seat 1. Somebody told me that Cleo sits in seat 2. Who sits in seat 2?",
    },
    {"role": "assistant", "content": "Cleo sits in seat 2."},
)


@pytest.mark.parametrize(
    ("note", "wanted"),
    [
        ("Ben is immediately to the right of Ana; seat 1 is not Cleo's", "correctable"),
        ("Ana is directly left of Ben, and Cleo does not sit in seat 1", "correctable"),
        ("Ana sits directly to the left of Ben", "uncorrectable_silent"),
        ("Ana is not directly left of Ben; Cleo is not in seat 1", "uncorrectable_silent"),
        ("Cleo sits in seat 2.", "uncorrectable_silent"),
        ("Ben sits in seat 2.", "uncorrectable_silent"),
        ("Who sits where was not kept.", "uncorrectable_loud"),
    ],
)
def test_a_puzzle_needs_clues_that_leave_one_answer(note, wanted):
    """Clues in other words count; fewer, negated, or the answer alone do not, even when it is right."""
    assert probe(note, PUZZLE, claim="who sits in seat 2").regime == wanted


TABLE = (
    {"role": "user", "content": "I need a table for 4 people. It must be 9:30 pm."},
    {"role": "assistant", "content": "Booked: a table for 4 people, 10:15 pm. Reference 9ZN3KG."},
)


@pytest.mark.parametrize(
    ("note", "wanted"),
    [
        ("A table for 4, time: 21:30.", "correctable"),
        ("The user asked for a table at 21h30; the confirmation said 10:15 pm.", "correctable"),
        ("Booked a table for 4: 22:15.", "uncorrectable_silent"),
        ("The user wanted a table for 4 people.", "uncorrectable_loud"),
    ],
)
def test_a_slot_is_what_the_user_said(note, wanted):
    """The user's value in any spelling is the source; what the agent confirmed is not."""
    assert probe(note, TABLE, claim="the time of a table that the user asked for").regime == wanted


PHONE = (
    {"role": "user", "content": "My new number is +49 30 901820 77, please keep it."},
    {"role": "assistant", "content": "Saved: +49 30 901820 71."},
)


def test_an_exact_string_is_the_same_in_any_spelling():
    """A telephone number is its digits; one that is not the source's is a conclusion."""
    asked = "the user's new number"
    assert probe("Phone of the user: +49-30-90182077", PHONE, claim=asked).regime == "correctable"
    assert probe("Phone: 004930 901820 71", PHONE, claim=asked).regime == "uncorrectable_silent"


CAUSE = (
    {"role": "user", "content": "Why did the import stop at night?"},
    {"role": "tool", "content": "02:14:07 ERROR importer: quota exceeded on /var/spool (49152 inodes used of 49152)"},
    {"role": "assistant", "content": "The disk was full, so I would add disk space."},
)


def test_what_cannot_be_worked_out_is_looked_for():
    """A reason is there when the words and values of the tool's result are; the agent's own reading is no source."""
    asked = "why the import stopped"
    kept = "importer log: quota exceeded on /var/spool (49152 inodes used of 49152)"
    assert probe(kept, CAUSE, claim=asked).regime == "correctable"
    assert probe("The import stopped since the disk was full.", CAUSE, claim=asked).regime != "correctable"
    assert probe("The reason has to be looked up again.", CAUSE, claim=asked).regime == "uncorrectable_loud"


def test_without_a_claim_a_note_is_as_good_as_the_worst_that_it_speaks_of():
    """Every claim of the session is judged; what the note does not speak of is told, and does not count against it."""
    session = (*SESSION, *TABLE)
    found = probe(f"{WHOLE}. Booked a table for 4: 22:15.", session)
    assert found.regime == "uncorrectable_silent"
    assert {one.regime for one in found.claims} >= {"correctable", "uncorrectable_silent"}
    assert probe(WHOLE, session).regime == "correctable"
    assert any(not one.spoken_of for one in probe(WHOLE, session).claims)


@pytest.mark.parametrize(
    ("note", "wanted"),
    [
        ("The total was $55.", "uncorrectable_silent"),
        ("The total was $55; the line items were not kept.", "uncorrectable_loud"),
        ("7 notebooks at $4, 9 pens at $2. The total was $55.", "correctable"),
        ("Look at the lock table before a restart.", "correctable"),
        ("", "correctable"),
    ],
)
def test_a_note_of_unknown_origin_is_judged_by_what_it_concludes(note, wanted):
    """Without a session a note stands on itself: a conclusion without anything it rests on is a silent failure."""
    assert probe(note).regime == wanted
    assert (probe(note).detail == NOTHING) == (probe(note).claims == ())


def test_a_note_of_unknown_origin_stands_on_what_it_cites():
    """Without a session, what pointers lead to is what a note rests on."""
    cited = f"The total was $55 ({ID})."
    assert probe(cited, expand={ID: "7 notebooks at $4 and 9 pens at $2"}.get).regime == "reachable"
    assert probe(cited, expand={}.get).regime == "uncorrectable_silent"
    source = [{"role": "user", "content": "7 notebooks at $4 and 9 pens at $2"}]
    assert probe_alone("The total was $55.", source).regime == "reachable"
    assert probe_alone("The total was $55.", [{"role": "assistant", "content": "It is $55."}]).regime == (
        "uncorrectable_silent"
    )


def test_a_note_as_a_value_is_its_text():
    """A `Note` is judged as what it renders to."""
    pieces = tuple(Evidence(text, ID) for text in ("7 notebooks at $4", "9 pens at $2", "5 mugs at $6."))
    assert probe(Note(pieces, kept=3, of=3, sources=(ID,)), SESSION, claim=CLAIM).regime == "correctable"
    part = Note(pieces[:1], kept=1, of=3, rest="lost", sources=(ID,))
    assert probe(part, SESSION, claim=CLAIM, expand={}.get).regime == "uncorrectable_loud"


def test_a_report_counts_every_regime():
    """A minority is counted, not outvoted."""
    verdicts = [probe(note, SESSION, claim=CLAIM) for note in (WHOLE, WHOLE, "It was $70.", "")]
    counts = (("correctable", 2), ("reachable", 0), ("uncorrectable_loud", 1), ("uncorrectable_silent", 1))
    assert probe_report(verdicts) == ProbeReport(4, counts)
    assert probe_report(verdicts).of("uncorrectable_silent") == 1
    assert probe_report([]).n == 0


def test_what_is_no_note_is_refused():
    """A note is a text, and a message has one."""
    with pytest.raises(InvalidArgument, match="a note is a text or a Note; got int"):
        probe(5)
    with pytest.raises(InvalidArgument, match="content is text"):
        probe("x", [{"role": "user", "content": 5}])


TEXTS = st.text(max_size=200) | st.lists(
    st.sampled_from(
        [
            "7 pens at $4",
            "total $55",
            ID,
            "fh:",
            "~~",
            "[2/4 kept]",
            "User:",
            "AI: ",
            "\n",
            "{",
            '"a": 1',
            "|",
            "not",
            "3 of 4",
            "Ana sits left of Ben",
            "\u0663 x \u0664",
            "…",
            "$",
            "half past",
            "\x00",
            "\ud800",
        ]
    ),
    max_size=12,
).map(" ".join)


@settings(max_examples=150, deadline=None)
@given(TEXTS, TEXTS, st.none() | st.sampled_from([CLAIM, "who sits left", "why", ""]))
def test_any_text_has_a_verdict(note, content, claim):
    """No note and no session, whatever stands in them, is beyond a verdict; and the same ones have the same."""
    session = [{"role": "user", "content": content}, {"role": "assistant", "content": "The total is $55."}]
    found = probe(note, session, claim=claim, expand={ID: content}.get)
    assert found.regime in REGIMES
    assert found == probe(note, session, claim=claim, expand={ID: content}.get)
    assert probe(note).regime in REGIMES


THINGS = ("pens", "mugs", "rulers", "lamps", "hinges", "bowls")


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(THINGS), st.integers(2, 60), st.integers(2, 90)),
        min_size=2, max_size=6, unique_by=lambda line: line[0],
    ),
    st.data(),
)  # fmt: skip
def test_leaving_out_any_line_is_a_silent_failure(lines, data):
    """The list of any order is correctable, in any order; without any one of its lines, it is not, and looks whole."""
    told = [f"{count} {name} at ${price}" for name, count, price in lines]
    session = [
        {"role": "user", "content": f"We bought {', '.join(told[:-1])} and {told[-1]}. What is the total?"},
        {"role": "assistant", "content": "The total comes to $1."},
    ]
    order = data.draw(st.permutations(told))
    assert probe("\n".join(f"- {line}" for line in order), session, claim="the total").regime == "correctable"
    found = probe("\n".join(f"- {line}" for line in order[1:]), session, claim="the total")
    assert found.regime == "uncorrectable_silent"
    assert any(order[0] in text for text in found.missing)


def test_what_is_too_long_is_read_up_to_a_bound_and_told():
    """A megabyte takes seconds, since a bound is read; the verdict says so, and what the user said is read first."""
    line = "The 14 barrels of type B-17 were painted by Mr Quint.\n"
    big = line * (1_000_000 // len(line))
    begun = time.perf_counter()
    found = probe(f"{WHOLE}.\n{big}", [*SESSION, {"role": "tool", "content": big}], claim=CLAIM)
    assert time.perf_counter() - begun < 60
    assert found.regime == "correctable"
    assert "of which 100,000 were read" in found.detail
    assert "of what it stands on 400,000 characters were read" in found.detail
    assert "of one message the first 10,000 with 10,000 values" in found.detail


def test_a_note_of_many_lines_is_judged_in_time():
    """The time grows with the number of lines, not with its square."""
    told = [f"{count} things of sort {'x' * (count % 9)}q{count}z at $3" for count in range(2, 800)]
    session = [{"role": "user", "content": "\n".join(f"- {one}" for one in told)}]
    begun = time.perf_counter()
    found = probe("\n".join(told[:-1]), session, claim=CLAIM)
    assert (found.regime, found.correctable) == ("uncorrectable_silent", False)
    assert time.perf_counter() - begun < 60
