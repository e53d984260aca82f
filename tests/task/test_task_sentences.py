"""Sentences are cut exactly, and masking moves nothing."""

from __future__ import annotations

from firsthand.task.sentences import FENCES_MAX, Sentence, masked, said, without_code, without_recalled


def test_sentences_end_where_they_end():
    """Full stops before white space, line ends and signs of other scripts end a sentence; a file name does not."""
    text = "Read a.py and v1.2 first. (Then stop!) 好的。 1. one; two\n- three"
    assert [one.text for one in said(text)] == [
        "Read a.py and v1.2 first.", "(Then stop!)", "好的。", "1.", "one;", "two", "three",
    ]  # fmt: skip


def test_a_sentence_says_what_to_look_at():
    """Code becomes a name, a quotation a gap, white space one space and a curly apostrophe a straight one."""
    text = "  don\u2019t   call `rm -rf`   or “boom”  now"
    assert said(text) == (Sentence(text.strip(), 2, len(text), "don't call `______` or now"),)


def test_masking_keeps_places():
    """What is masked has the length and the lines of the text."""
    text = "a\n```\ncode\n```\nb: TypeError: x\n> q\n\tdef f():\n- item"
    assert masked(text) == "a\n   \n    \n   \nb:             \n   \n         \n- item"


def test_a_fence_ends_with_its_own_mark():
    """Backticks inside tildes do not close them."""
    assert without_code("~~~\na\n```\nb\n~~~\nc") == "   \n \n   \n \n   \nc"


def test_recalled_text_goes_whatever_its_mark():
    """A fence of recalled text is blanked up to its own end mark, or to the end; of a flood nothing stays."""
    mark, other = "0" * 32, "1" * 32
    text = f"a <<firsthand {mark}: x>> b <<end {other}>> c <<end {mark}>> d"
    assert without_recalled(text).split() == ["a", "d"]
    assert len(without_recalled(text)) == len(text)
    assert without_recalled(f"a <<firsthand {mark}: x>> b").split() == ["a"]
    assert without_recalled(f"<<firsthand {mark}: x>><<end {mark}>>" * (FENCES_MAX + 1)) == ""
