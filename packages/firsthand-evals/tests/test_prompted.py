"""notes/prompted.py: a model's note keeps nothing that the session does not have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.errors import InvalidArgument, ModelUnavailable
from firsthand_evals.probe.statements import read
from firsthand_evals.reclaim.writers import ModelNote, distill_by_model, prompt, unsupported

SESSION = [
    {"role": "user", "content": 'We took 7 notebooks at $4 each and 9 pens at $2. Ship to "Dock 12" by 9:45 pm.'},
    {"role": "assistant", "content": "The total is $46. The list is in /srv/orders/may.csv, 2.5 kg in all."},
]


@pytest.mark.parametrize(
    ("text", "lacking"),
    [
        ("7 notebooks at $4 each; 9 pens at $2 each.", ()),
        ("seven notebooks at 4 dollars, nine pens at 2", ()),
        ("1. 7 notebooks\n2) 9 pens\n- at 9:45", ()),
        ("8 notebooks at $4", ("8",)),
        ("7 notebooks at $5 each", ("5",)),
        ("ship by 9:54 pm", ("9:54",)),
        ("3 kg in all", ("3",)),
        ("list in /srv/orders/may.csv", ()),
        ("list in /srv/orders/june.csv", ("/srv/orders/june.csv",)),
        ('to "dock  12"', ()),
        ('to "Dock 6"', ("6", "Dock 6")),
        ("\u201cat the gate\u201d", ("at the gate",)),
        ("no values at all", ()),
        ("", ()),
    ],
)
def test_what_the_session_does_not_have_is_named(text, lacking):
    """Values are compared as values, in any spelling; exact strings and quotations as texts."""
    assert unsupported(text, SESSION) == lacking


def test_a_note_keeps_what_holds_and_tells_what_it_dropped():
    """Pieces with something made up are left out, whole, and what it was is said; the others stay in order."""
    said = "- 7 notebooks at $4 each\n- 9 pens at $3 each. Ship by 9:45 pm.\n- total $46, tax $5\n"
    asked = []
    text = "- 7 notebooks at $4 each\nShip by 9:45 pm."
    assert distill_by_model(SESSION, 600, lambda told: asked.append(told) or said) == ModelNote(
        text, ("- 9 pens at $3 each.", "- total $46, tax $5"), ("3", "5")
    )
    assert asked == [prompt(SESSION, 600)]
    assert asked[0].endswith(
        "At most 600 characters, and nothing but the note.\n\n"
        f"user: {SESSION[0]['content']}\nassistant: {SESSION[1]['content']}"
    )


def test_what_the_budget_does_not_hold_is_dropped_whole():
    """No piece is cut in two; a later one that fits is kept."""
    said = "7 notebooks at $4 each\n9 pens at $2 each\n$46"
    written = distill_by_model(SESSION, 27, lambda _: said)
    text = "7 notebooks at $4 each\n$46"
    assert written == ModelNote(text, ("9 pens at $2 each",), ())
    assert distill_by_model(SESSION, 0, lambda _: said).text == ""
    assert [distill_by_model(SESSION, budget, lambda _: "a\nb\nc").text for budget in (3, 4, 5)] == [
        "a\nb", "a\nb", "a\nb\nc",
    ]  # fmt: skip


@given(text=st.text(max_size=200), budget=st.integers(0, 80), source=st.text(max_size=120))
def test_no_text_gets_past_the_check_or_over_the_budget(text, budget, source):
    """Whatever a model says of whatever session: what is kept is supported and fits, and nothing vanishes untold."""
    messages = [{"role": "user", "content": source}]
    written = distill_by_model(messages, budget, lambda _: text)
    assert len(written.text) <= budget
    assert unsupported(written.text, messages) == ()
    told = "".join((written.text + "".join(written.dropped)).split())
    assert sorted(told) == sorted("".join(text.split()))


@given(text=st.text(max_size=200))
def test_a_session_supports_itself(text):
    """Nothing of a text is missing from itself when it has no quotation over a line."""
    assert [one for one in unsupported(text, [{"role": "user", "content": text}]) if read(one)] == []


def test_what_a_model_raises_goes_on():
    """An error of the model, a reply that is no text, and a budget below nothing are errors."""

    def fails(_: str) -> str:
        raise ModelUnavailable("not there")

    with pytest.raises(ModelUnavailable):
        distill_by_model(SESSION, 100, fails)
    with pytest.raises(InvalidArgument, match="a model gives text; got int"):
        distill_by_model(SESSION, 100, lambda _: 5)
    with pytest.raises(InvalidArgument, match="a budget is 0 or more; got -1"):
        distill_by_model(SESSION, -1, str)


def test_a_message_that_only_calls_a_tool_says_nothing_and_one_of_parts_is_refused():
    """What has no content is left out of the prompt and supports nothing; a list of parts is an error, as elsewhere."""
    called = [{"role": "assistant", "content": None}, {"role": "assistant"}, *SESSION]
    assert prompt(called, 50) == prompt(SESSION, 50)
    assert unsupported("None of 7 notebooks", called) == ()
    assert unsupported('"None"', called[:2]) == ("None",)
    with pytest.raises(InvalidArgument, match=r"content of a message is text; got list: give it part by part"):
        prompt([{"role": "user", "content": [{"type": "text"}]}], 50)
