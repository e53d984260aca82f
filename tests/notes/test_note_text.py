"""The note's text: what `render` writes, `parse` reads back, whatever stands in the evidence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.errors import InvalidArgument
from firsthand.event import Trust
from firsthand.notes.note import BLANK, Evidence, Note, parse, render

ONE, TWO = "fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY", "fh:01J8ZQ4T9M6V3K2N7P5R8S1WXZ"


def test_a_note_reads_as_the_module_says():
    """Completeness comes first, evidence below its pointers, what does not count marked, the conclusion last."""
    note = Note(
        (Evidence("7 pads at $4", ONE), Evidence("9 pens at $2", ONE), Evidence("5 pens at $2", TWO, "replaced"),
         Evidence("3 lamps\nat $5", "", "not chosen")),
        "the total is $46", 2, 2, "none", (ONE, TWO), "claude-code", Trust.AGENT,
    )  # fmt: skip
    assert note.text == (
        f"2 of 2 statements kept. From claude-code (agent).\n{ONE}\n- 7 pads at $4\n- 9 pens at $2\n{TWO}\n"
        "- replaced: 5 pens at $2\nfh:\n- not chosen: 3 lamps\n  at $5\nConcluded: the total is $46"
    )
    assert Note.read(note.text) == note


def test_the_rest_is_named_or_said_to_be_gone():
    """What is left out is at pointers, or was not kept."""
    kept = (Evidence("7 pads at $4"),)
    assert render(Note(kept, "", 1, 3, "lost")) == "1 of 3 statements kept; the rest was not kept.\n- 7 pads at $4"
    reachable = Note(kept, "", 1, 3, "reachable", (f"{ONE}..{TWO[3:]}",))
    assert render(reachable).startswith(f"1 of 3 statements kept; the rest is at {ONE}..{TWO[3:]}.")
    assert parse(render(reachable)) == reachable


def test_a_blank_note_is_an_empty_text():
    """Nothing at all is written where nothing fits, and read back as that."""
    assert render(BLANK) == ""
    assert parse("") == BLANK


@pytest.mark.parametrize(
    "fields",
    [
        {"kept": 1, "of": 1},
        {"evidence": (Evidence("a"),), "kept": 1, "of": 2},
        {"evidence": (Evidence("a"),), "kept": 1, "of": 1, "rest": "lost"},
        {"of": 1, "rest": "reachable"},
        {"of": 1, "rest": "lost", "sources": (ONE,)},
        {"evidence": (Evidence("a", ONE),), "kept": 1, "of": 1},
        {"of": 1, "rest": "reachable", "sources": ("elsewhere",)},
        {"evidence": (Evidence(""),), "kept": 1, "of": 1},
        {"origin": "a\nb"},
    ],
)
def test_a_note_that_contradicts_itself_is_refused(fields):
    """Counts, rest and sources that do not go together make no note."""
    with pytest.raises(InvalidArgument):
        Note(**fields)


@pytest.mark.parametrize(
    "text",
    [
        "The total is $46.",
        "2 of 2 statements kept.\n- one",
        "1 of 1 statements kept.\n  a\n- b",
        "1 of 1 statements kept.\nx",
        "1 of 2 statements kept.\n- a",
        "0 of 0 statements kept.\nConcluded: a\n- b",
    ],
)
def test_other_texts_are_no_notes(text):
    """A text that `render` did not write is not read as a note."""
    assert parse(text) is None


_TEXTS = st.text(min_size=1, max_size=40) | st.sampled_from(
    [
        "- a",
        "  b",
        "Concluded: x",
        "not chosen: y",
        "holds: z",
        "fh:",
        ONE,
        "a\n- b",
        "a\n\n  b",
        "1 of 1 statements kept.",
        "\r",
        "\u2028",
    ]
)
_EVIDENCE = st.builds(
    Evidence, _TEXTS, st.sampled_from(["", ONE, TWO]), st.sampled_from(["holds", "replaced", "not chosen"])
)


@given(
    st.lists(_EVIDENCE, max_size=6), st.just("") | _TEXTS, st.sampled_from(["none", "lost", "reachable"]), st.booleans()
)
def test_parse_is_the_inverse_of_render(evidence, conclusion, rest, signed):
    """Any note is read back from its text, whatever its pieces look like."""
    kept = sum(one.standing == "holds" for one in evidence)
    shown = tuple(dict.fromkeys(one.pointer for one in evidence if one.pointer))
    beyond = tuple(one for one in (ONE, TWO) if one not in shown) if rest == "reachable" else ()
    of = kept + (rest != "none")
    if (rest == "reachable" and not (shown + beyond)) or of + len(evidence) == 0:
        return
    trust = Trust.AGENT if signed else Trust.UNTRUSTED
    note = Note(tuple(evidence), conclusion, kept, of, rest, shown + beyond, "me" if signed else "", trust)
    assert parse(render(note)) == note
