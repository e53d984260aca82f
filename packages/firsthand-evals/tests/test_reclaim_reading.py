"""The eye of the deterministic readers sees the same source in every way that a memory may keep it."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand_evals.reclaim import corrections, drift, readers, reading, tasks

FORMATS = {
    "lines": lambda said: "\n".join(one["content"] for one in said),
    "strings of JSON": lambda said: json.dumps([one["content"] for one in said]),
    "messages of JSON": lambda said: json.dumps(said, indent=1),
    "lines of JSON": lambda said: "\n".join(json.dumps(one) for one in said),
    "JSON that was cut": lambda said: json.dumps(said)[:-30],
    "tags": lambda said: "".join(f"<turn role='{one['role']}'>{one['content']}</turn>" for one in said),
    "YAML": lambda said: "\n".join(f"- role: {one['role']}\n  text: {one['content']}" for one in said),
    "Markdown": lambda said: "\n\n".join(f"**{one['role'].title()}**: {one['content']}" for one in said),
}
PROBLEMS = (*tasks.arithmetic(6), *tasks.logic(6), *tasks.ledger(2, 8), *tasks.noisy(2, 6))


@pytest.mark.parametrize("form", FORMATS)
def test_what_a_user_said_is_read_in_every_form(form):
    """From what the user said, kept in any of these forms, the right answer is worked out."""
    wrong = []
    for problem in PROBLEMS:
        for place in drift.PLACES:
            said = [one for one in drift.dialogue(problem, filler=2, source_at=place) if one["role"] == "user"]
            found = reading.recompute(FORMATS[form](said), problem.ask)
            if found.value != problem.answer:
                wrong.append((problem.id, place, found.value, problem.answer))
    assert wrong == []


def test_readable_writes_out_escapes_and_leaves_plain_text():
    """Escapes and tags are written out once; a plain text, a price and a Windows path stay as they are."""
    assert reading.readable('["5 jars at \\u20ac29.50 each.", "\\"so\\""]') == '["5 jars at €29.50 each."\n""so""]'
    assert reading.readable("<user>5 < 6</user>") == "\nuser: 5 < 6\n"
    for plain in ("3 pens at $2 each; 4 cups at $1", r"C:\new\total", "a < b and c > d", ""):
        assert reading.readable(plain) == plain


def _asks(carried: str, *answers: str) -> str:
    """Give what the reader says after it asked a memory that carries this and answers that."""
    system = f"{readers.SYSTEM} {readers.MAY_RECALL}\n\n{readers.MEMORY_HEAD}\n{carried}"
    messages = [{"role": "system", "content": system}, {"role": "user", "content": corrections.asking(PROBLEMS[0])}]
    for answer in answers:
        messages.append({"role": "assistant", "content": f"{readers.RECALL} {PROBLEMS[0].ask}"})
        messages.append({"role": "user", "content": f"{readers.RECALLED}\n{answer}"})
    return readers.Recomputing().answer(messages)


def test_an_answer_that_brings_all_statements_is_believed():
    """With 2 of 3 statements carried, the reader asks; it is sure when the third comes back, and not before."""
    note = "7 mugs at $4 each\n9 pens at $2 each\n2 of 3 statements kept."
    assert _asks(note) == "RECALL: the total before tax"
    same = "7 mugs at $4 each\n9 pens at $2 each"
    assert _asks(note, same) == "ANSWER: unknown"
    assert _asks(note, f"{same}\nThank you") == "ANSWER: 46"
    assert _asks(note.replace("of 3", "of 4"), f"{same}\nThank you") == "ANSWER: unknown"
    assert _asks(note.replace("of 3", "of 4"), "3 cups at $1 each") == "ANSWER: 49"


HOSTILE = (
    "y", "Aa", "ä-", "1am", "3x", "9", "1,", "\n", "-\n", "\r\n", "Ab, ", "Ab and ", "{", '"', "<a", "\ud800", "\u0301",
    "10:45 ", "fh:", "3 pens at $4 ", "a | 1 | 1\n", "user: ", "3 of 4 ", " ",
    "\u017fix pens at $4; ", "s\u0131x pens at $4; ",
)  # fmt: skip
SECONDS_MAX = 20
"""Of processor time for all of `HOSTILE`; it takes under one, and took minutes a piece where words had no bound."""


def test_a_long_and_hostile_text_is_read_in_bounded_time():
    """What a memory answers may be 20,000 signs of anything: it is read in seconds, and no number in it stops a run."""
    begun = time.process_time()
    for piece in HOSTILE:
        text = (piece * 20_000)[:20_000]
        for ask in ("the total before tax", "who is first?", "the time of the booking"):
            reading.recompute(text, ask)
            reading.concluded(text, ask)
        reading.tag(text)
    assert time.process_time() - begun < SECONDS_MAX


@given(
    st.lists(st.sampled_from((*HOSTILE, "9" * 5_000, " of 7 items kept", " at $", ": ", "six ", "each")), max_size=12)
)
def test_whatever_a_text_holds_it_is_read(pieces):
    """No text makes the eye of the readers fail."""
    text = "".join(pieces)
    for ask in ("the total before tax", "who is first?", "the time of the booking"):
        reading.recompute(text, ask)
        reading.concluded(text, ask)
    assert reading.tag(text) is None or min(reading.tag(text)) >= 0
    assert all(count >= 0 for count, _ in reading.items(text).values())
