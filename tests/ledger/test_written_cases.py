"""Cases of a message: whole lines of a form, verbatim, and nothing that is said in words."""

from __future__ import annotations

import pytest

from firsthand import Memory
from firsthand.ledger.cases import CASES_OF_EVENT_MAX, cases


@pytest.fixture
def read(tmp_path):
    """Give the cases of a text with the bytes that their pointers open; the store is verified at the end."""
    with Memory.open(tmp_path / "store", embedder="none") as memory:

        def read(text):
            event = memory.event(memory.session("one").user(text).pointer)
            return [(case.case, case.answer, memory.expand(case.pointer).decode()) for case in cases(event)]

        yield read
        assert memory.verify().problems == ()


def test_a_line_of_a_form_is_a_case_and_its_pointer_gives_the_line(read):
    """Questions with answers and settings are cases, in order, after whatever letters; lines of words are none."""
    text = "Größe notieren:\ncase: birch level 7 => 23\n  export DB_HOST=db2.internal\nThe port is now 8443.\nPORT = 81"
    assert read(text) == [
        ("birch level 7", "23", "case: birch level 7 => 23"),
        ("DB_HOST", "db2.internal", "  export DB_HOST=db2.internal"),
        ("PORT", "81", "PORT = 81"),
    ]


@pytest.mark.parametrize(
    "text", ["I moved to Berlin.", "x == 3", "=> 3", "a => ", "if a=b then c", "", "=" * 500, "a => " + "b" * 161]
)
def test_what_is_of_no_form_is_no_case(read, text):
    """Statements, comparisons, half a case and what is too long give none."""
    assert read(text) == []


def test_a_message_gives_so_many_and_no_more(read):
    """A paste of settings is bounded."""
    assert len(read("\n".join(f"K{number}={number}" for number in range(500)))) == CASES_OF_EVENT_MAX
