"""Pointers: the grammar, whole, and what is refused."""

from __future__ import annotations

import pytest

from firsthand import pointer
from firsthand.errors import MalformedPointer
from firsthand.pointer import Pointer

ID, LAST = "01J8ZQ4T9M6V3K2N7P5R8S1WXY", "01J8ZQ4T9M6V3K2N7P5R8S1WXZ"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"fh:{ID}", Pointer(ID)),
        (ID.lower(), Pointer(ID)),
        (f"fh:{ID}#source", Pointer(ID, source=True)),
        (f"fh:{ID}@0-0", Pointer(ID, unit="bytes")),
        (f"fh:{ID}@100-200", Pointer(ID, unit="bytes", start=100, end=200)),
        (f"fh:{ID}@L1-9", Pointer(ID, unit="lines", start=1, end=9)),
        (f"fh:{ID}..{LAST}", Pointer(ID, LAST)),
    ],
)
def test_the_grammar(text, expected):
    """Each form of a pointer reads as this value."""
    assert pointer.parse(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "fh:", ID[:-1], ID + "0", "FH:" + ID, f"fh:{ID}@", f"fh:{ID}@5", f"fh:{ID}@5-4", f"fh:{ID}@L0-4",
     f"fh:{ID}@-1-4",
     f"fh:{ID}@l1-4", f"fh:{ID}#Source", f"fh:{ID}..", f"fh:{ID}..{LAST}@1-2", f"fh:{ID}#source@1-2", "8" + ID[1:],
     f"fh:{ID}@1-{'9' * 19}", f"fh:{ID} x", f"fh:{ID}\0", "../../etc/passwd", "fh:" + "é" * 26, f"fh:{ID}@٣-٤", None, 5,
     b"fh:" + ID.encode(), "x" * 100_000],
    ids=lambda text: repr(text)[:40],
)  # fmt: skip
def test_what_is_no_pointer(text):
    """Anything else is refused with an example of what a pointer looks like, or with what is wrong about its range."""
    with pytest.raises(MalformedPointer, match=r"expected a pointer such as|a range runs forward"):
        pointer.parse(text)


def test_pointers_are_found_in_a_text():
    """Pointers that stand in a text are found as they stand there."""
    text = f"see fh:{ID}, (fh:{ID}@L1-9), fh:{ID}..{LAST}. And {ID}, fh:short, fh:{ID}#source"
    assert pointer.find(text) == [f"fh:{ID}", f"fh:{ID}@L1-9", f"fh:{ID}..{LAST}", f"fh:{ID}#source"]
