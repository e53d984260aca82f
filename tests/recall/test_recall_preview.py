"""How a passage is cut for showing."""

from __future__ import annotations

import pytest

from firsthand.recall.preview import Mark, cut
from firsthand.tokens import estimate

LINES = "".join(f"line {n} says nothing much about ü\n" for n in range(400)).encode()


def none_asked() -> dict[int, Mark]:
    raise AssertionError("all of it is shown: where it matches is not asked")


def test_a_short_content_is_shown_whole():
    """What fits is not cut, and where it matches is not looked for."""
    found = cut("grüße".encode(), 7, none_asked, 50)
    assert (found.text, found.start) == ("grüße", 7)


@pytest.mark.parametrize("tokens_max", [1, 5, 40, 333])
@pytest.mark.parametrize("needle", [b"line 0 ", b"line 200 ", b"line 399 "])
def test_the_preview_holds_the_match_within_the_budget(tokens_max, needle):
    """Whole signs of the content, at the offset said, with the match in it when there is room, under the budget."""
    at = LINES.index(needle)
    found = cut(LINES, 0, lambda: {at: Mark("needle", 5.0), 40: Mark("other", 1.0)}, tokens_max)
    data = found.text.encode()
    assert LINES[found.start : found.start + len(data)] == data
    assert found.tokens == estimate(found.text)
    if tokens_max >= 40:
        assert found.tokens <= tokens_max
        assert needle in data


def test_signs_are_never_torn():
    """A cut falls between signs, however wide they are."""
    data = "東京".encode() * 500
    for at in range(0, 3_000, 301):
        found = cut(data, 0, lambda at=at: {at - at % 3: Mark("sign", 1.0)}, 30)
        assert "\ufffd" not in found.text


def test_where_different_words_stand_together_wins_over_one_that_is_repeated():
    """A preview shows the place with the most of the query's words, each counted once, and of such the closest."""
    data = b"disk " * 400 + b"filler " * 2_000 + b"the disk of worker nine failed " + b"filler " * 2_000 + b"failed"
    marks = {at: Mark("disk", 2.0) for at in range(0, 2_000, 5)}
    start = data.index(b"the disk of worker")
    marks |= {start + 4: Mark("disk", 2.0), start + 12: Mark("worker", 1.0), start + 24: Mark("failed", 1.0)}
    marks[data.rindex(b"failed")] = Mark("failed", 1.0)
    assert "the disk of worker nine failed" in cut(data, 0, lambda: marks, 40).text
