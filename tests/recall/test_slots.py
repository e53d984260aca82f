"""Values that texts give to names."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.recall.slots import CHARACTERS_MAX, SLOTS_MAX, Slot, names, slots


def slot(name: str, value: str, *, setting: bool = False, changed: bool = False) -> Slot:
    return Slot(frozenset(name.split()), value, setting, changed)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The server port is 8080.", slot("server port", "8080")),
        ("the port is now 8443", slot("port", "8443", changed=True)),
        ("the port currently is 8443 for all hosts", slot("port", "8443", changed=True)),
        ("our budget was raised from $500 to $650", slot("budget", "$650", changed=True)),
        ("The deploy window moved to Friday at 5pm", slot("deploy window", "friday", changed=True)),
        ("Actually the branch is `trunk`, I think", slot("branch", "trunk", changed=True)),
        ("staging database is db-7.internal.example", slot("staging database", "db-7.internal.example")),
        ("I think the port of the staging server is 9000, not more", slot("port staging server", "9000")),
        ("all our ports are 80", slot("port", "80")),
        ("timeout_s: 30", slot("timeout", "30", setting=True)),
        ("a = 1\n  export DB_HOST=10.0.0.3 # new", slot("db host", "10.0.0.3", setting=True)),
        ('{"pool": {"max_size": 50}}', slot("max size", "50", setting=True)),
    ],
)
def test_what_says_a_value(text, expected):
    """Sentences, lines of settings and members of JSON are read as a name and its value."""
    assert expected in slots(text, names(text))


@pytest.mark.parametrize(
    "text",
    [
        "the game is great",
        "my favourite color is blue",
        "it is 5",
        "what is the port now?",
        "this is 5",
        "",
        "port 8080",
    ],
)
def test_what_says_none(text):
    """What praises, what a pronoun stands for, questions and bare words give no value."""
    assert slots(text, names(text)) == ()


def test_only_names_that_are_asked_for():
    """A slot whose name holds no word that is asked for is left out; endings do not matter."""
    text = "The port is 80. The host is db-1."
    assert slots(text, ["ports"]) == (slot("port", "80"),)
    assert slots(text, ["colour"]) == ()
    assert slots(text, ["80", "a"]) == ()


def test_the_last_value_of_a_name_stands():
    """A text that changes its mind says the last value."""
    assert slots("The port is 80. No: the port is 81.", ["port"]) == (slot("port", "81"),)


def test_a_text_has_at_most_so_many():
    """The number of slots and the characters that are read are bounded."""
    text = "\n".join(f"name_{number} = {number}" for number in range(1000))
    assert len(slots(text, ["name"])) == SLOTS_MAX
    assert slots("x" * CHARACTERS_MAX + "\nport = 5", ["port"]) == ()


@given(st.text(alphabet="port is now =:\"'.\n,;4AI\u0130\u00df", max_size=300))
def test_any_text_is_read(text):
    """No text raises, and every slot that is read has a name that is asked for and a value that stands in the text."""
    for one in slots(text, ["port", "now"]):
        assert one.name & {"port", "now"}
        assert one.value
        assert one.value in " ".join(text.lower().split()) or not text.isascii()


def test_reading_is_linear():
    """The worst texts of the allowed length are read in a moment."""
    for hostile in ("port is ", "a " * 3, "= ", '"a" : ', "changed from ", "port moved from x", "." * 4, "a_"):
        started = time.process_time()
        slots(hostile * 2_000, ["port", "a"])
        assert time.process_time() - started < 0.2
