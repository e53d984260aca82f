"""The probe: what a note carries is compared by exact values and quotations with what a correction takes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand import Note
from firsthand.errors import InvalidArgument
from firsthand_evals.probe.probe import HOPS_MAX, REGIMES, needs, probe
from firsthand_evals.probe.statements import SESSION_CHARACTERS_MAX, Value, follows, read, statements

AT, OTHER = f"fh:{'0' * 25}1", f"fh:{'0' * 25}2"
SAID = [
    {"role": "system", "content": "Answer in 3 words."},
    {"role": "user", "content": "We bought 7 notebooks at $4 each. And 9 pens at $2 each. What is the total?"},
    {"role": "assistant", "content": "The total is $55."},
]
PEN, BOOK = "And 9 pens at $2 each.", "We bought 7 notebooks at $4 each."


def regime(note: str, messages=SAID, **more) -> str:
    """Give what the probe says of a note."""
    return probe(note, messages, **more).regime


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("7 notebooks at $4.50", [("number", "7"), ("number", "9/2")]),
        ("1,234.50 and 1.234,50", [("number", "2469/2"), ("number", "2469/2")]),
        ("by 9:45 on 2021-04-01", [("time", "09:45"), ("date", "2021-04-01")]),
        ("see run-031 in /srv/a/b.csv", [("string", "run-031"), ("string", "/srv/a/b.csv")]),
        ("`make test` at v1.2rc3", [("string", "make test"), ("string", "v1.2rc3")]),
        (f"the list is at {AT}", []),
        ("seven notebooks on Monday", []),
    ],
)
def test_exact_values_are_read(text, found):
    """Numbers, times, dates and strings of one writing are values; words and pointers are none."""
    assert [(it.kind, it.key) for it in read(text)] == found


def test_values_are_equal_whatever_their_writing():
    """A price is the number that it says, with or without a currency and a zero behind."""
    assert read("$4.50") == read("4.5") == read("€4,50")
    assert read("4.05") != read("4.5")


@pytest.mark.parametrize(
    ("said", "wanted", "places"),
    [
        (["7 at $4", "9 at $2"], ("number", "46"), [0, 1]),
        (["3 lamps at $12 and 2 rugs at $40"], ("number", "116"), [0]),
        (["10", "20", "36"], ("number", "22"), [0, 1, 2]),
        (["from 2021-01-31", "for 36 months"], ("date", "2024-01-31"), [0, 1]),
        (["2021-04-01", "5 of them"], ("date", "2021-04-06"), [0, 1]),
        (["gate 12", "or rather gate 14", "dock 12"], ("number", "12"), [2]),
        (["8 rows", "of 40 each"], ("number", "5"), [0, 1]),
        (["7 at $4", "9 at $2"], ("number", "47"), []),
        (["on 2021-99-99", "36 months"], ("date", "2024-04-01"), []),
        ([], ("number", "1"), []),
    ],
)
def test_what_follows_is_named_with_what_it_follows_from(said, wanted, places):
    """Sums, products, means, differences, quotients and later dates; what was said stands on its last statement."""
    source = statements([{"role": "user", "content": text} for text in said])
    found = follows(Value(*wanted), source)
    assert sorted(source.index(statement) for statement in found) == places


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        (f"{BOOK} {PEN}", "correctable"),
        ("2 dollars a pen for 9, 4 a notebook for 7", "correctable"),
        ("The total is $55.", "uncorrectable_silent"),
        (BOOK, "uncorrectable_silent"),
        (f"1 of 2 lines: {BOOK}", "uncorrectable_loud"),
        (f"{BOOK} 1/2", "uncorrectable_loud"),
        (f"2 of 2 lines: {BOOK}", "uncorrectable_silent"),
        ("They talked about stationery.", "uncorrectable_loud"),
        ("", "uncorrectable_loud"),
    ],
)
def test_a_note_is_in_one_of_four_regimes(note, expected):
    """All of the source, its conclusion alone, a part that says so or not, and nothing."""
    assert regime(note) == expected


def test_what_is_missing_is_named():
    """The statements that are not there are named as they were said."""
    verdict = probe(BOOK, SAID)
    assert (verdict.missing, verdict.needed, verdict.correctable) == ((PEN,), 2, False)


def test_a_value_that_only_the_agent_said_is_no_source():
    """A note with the agent's figures alone is silent, even when they are right."""
    right = [*SAID[:2], {"role": "assistant", "content": "28 and 18, together $46."}]
    assert regime("28 and 18, together $46.", right) == "uncorrectable_silent"
    assert regime(f"{BOOK} {PEN}", right) == "correctable"


def test_a_looked_up_value_stands_on_the_last_word_for_it():
    """What the agent gave and the user had said takes the statement that has it, and no other one."""
    said = [
        {"role": "user", "content": "The gate is 12. Breakfast is at 07:15."},
        {"role": "assistant", "content": "You board at gate 12."},
    ]
    assert regime("The gate is 12.", said) == "correctable"
    assert regime("Breakfast is at 07:15.", said) == "uncorrectable_silent"


def test_a_session_without_figures_takes_what_relates_names_word_for_word():
    """Clues of a puzzle are quotations: each must stand there as it was said."""
    clues = ["Ada stands before Finn.", "Finn stands before Hugo.", "It is a puzzle."]
    said = [{"role": "user", "content": " ".join(clues)}, {"role": "assistant", "content": "Hugo."}]
    assert regime("ada stands before  Finn; Finn stands before Hugo", said) == "correctable"
    assert probe("Ada stands before Finn", said).missing == (clues[1],)


def test_words_of_a_claim_choose_among_turns():
    """Where nothing follows by arithmetic, turns that share a word with what is asked for are meant."""
    said = [
        {"role": "user", "content": "The freight weighs 40 kg."},
        {"role": "user", "content": "Parking costs $9."},
        {"role": "assistant", "content": "Noted."},
    ]
    assert [it.text for it in needs(said, "what parking costs")] == ["Parking costs $9."]
    assert len(needs(said, "something else")) == len(needs(said)) == 2


def test_pointers_are_followed_and_not_believed():
    """What stands behind a pointer counts where the session has it; a derived text only by its own pointers."""
    source, derived = SAID[1]["content"], f"a summary, see {AT}"
    assert regime(f"$55 ({AT})", expand={AT: source}.get) == "reachable"
    assert regime(f"$55 ({OTHER})", expand={AT: source, OTHER: derived}.get) == "reachable"
    assert regime(f"$55 ({AT})", expand={AT: "7 at $4, 9 at $2"}.get) == "uncorrectable_silent"
    assert regime(f"$55 ({AT})", expand=lambda _: None) == "uncorrectable_silent"
    pointed = [{**SAID[1], "pointer": AT}, SAID[2]]
    assert regime(f"$55 ({AT})", pointed) == "reachable"
    chain = {f"fh:{n:026}": f"fh:{n + 1:026}" for n in range(HOPS_MAX)} | {f"fh:{HOPS_MAX:026}": source}
    assert regime(f"$55 fh:{0:026}", expand=chain.get) == "uncorrectable_silent"


def test_a_note_of_the_package_is_judged_by_its_text():
    """A Note counts as the text that it renders; one with a part says how much it has, and is loud."""
    part = Note(f"1 of 2 statements kept; the rest was not kept.\n- {BOOK}", 1, 2)
    assert probe(part, SAID).regime == "uncorrectable_loud"


def test_what_cannot_be_judged_is_refused():
    """No text, no session, and a message without a text are errors."""
    for note, messages in ((5, SAID), ("x", []), ("x", [{"role": "user", "content": 5}])):
        with pytest.raises(InvalidArgument):
            probe(note, messages)


def test_what_is_not_read_is_told():
    """Of a session over the bound the verdict says how much was read."""
    long = [{"role": "user", "content": "x " * SESSION_CHARACTERS_MAX}]
    assert f"of what it stands on {SESSION_CHARACTERS_MAX:,} of" in probe("x", long).detail


@given(st.text(max_size=80), st.lists(st.text(max_size=80), min_size=1, max_size=4))
def test_any_text_has_a_verdict_and_a_whole_copy_is_correctable(note, said):
    """Whatever is written of whatever session has one regime, and the session itself has what it takes."""
    messages = [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(said)]
    assert regime(note, messages) in REGIMES
    assert regime("\n".join(said), messages) == "correctable"
