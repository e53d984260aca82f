"""Names and values in one spelling."""

from __future__ import annotations

from firsthand.consolidate.wording import canonical, is_supposed, kind_of, stems


def test_a_day_with_its_hour_is_one_value():
    """A date and a time beside each other are compared as one, however they are written."""
    assert canonical("March 22 at 3 PM") == canonical("22 March, 15:00") == "date:322 MM-DD at 900"
    assert canonical("March 22 at 3 PM") != canonical("March 22 at 4 PM")
    assert canonical("March 22") != canonical("March 22 at 3 PM")


def test_the_kind_of_a_value():
    """An amount has its kind; words have none, whatever signs stand in them."""
    assert [kind_of(canonical(one)) for one in ("$5", "3 days", "teal", "http://a", "a:b")] == [
        "money", "duration", "", "", "",
    ]  # fmt: skip


def test_the_words_that_say_something():
    """Common words say nothing, the others are each in one spelling."""
    assert stems("I've just downloaded Zotero's files, for the first time") == {"download", "zotero", "file"}


def test_what_leads_to_a_place_supposes_it():
    """A condition before it, a question mark behind it, and a made up head do; what is said plainly does not."""
    texts = ("if the port is 80", "is the port 80?", "Suppose so, the port is 80", "the port is 80")
    assert [is_supposed(one, one.index("the port"), one.index("80") + 2) for one in texts] == [True, True, True, False]
