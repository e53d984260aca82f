"""evals/reclaim/seam.py: a memory is a function, an object or a class; it is held to its budget and to text."""

from __future__ import annotations

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.errors import InvalidArgument, MemoryFault, ModelUnavailable
from firsthand_evals.reclaim import seam
from firsthand_evals.reclaim.seam import Carried, Pull

MESSAGES = [{"role": "user", "content": "7 mugs at $4 each"}]


def write(messages, budget):
    return messages[0]["content"]


class Counting:
    """A memory that counts what it was asked, and can be asked."""

    name = "counting"

    def __init__(self) -> None:
        self.written = 0

    def write(self, messages, budget):
        self.written += 1
        return str(self.written)

    def recall(self, query):
        return query * 2


class Wanting(Counting):
    """A memory that cannot be made without more."""

    def __init__(self, model) -> None:
        self.model = model


def test_a_function_an_object_a_class_and_a_factory_are_memories():
    """All four can be given; a class and a factory make a fresh memory each time, an object is one for all."""

    def made():
        return Counting()

    one = Counting()
    for thing, fresh in ((write, None), (Counting, True), (made, True), (one, False)):
        subject = seam.subject(thing)
        texts = [seam.carry(subject.make(), MESSAGES, 20).text for _ in range(2)]
        assert texts == {None: ["7 mugs at $4 each"] * 2, True: ["1", "1"], False: ["1", "2"]}[fresh]
    assert (seam.subject(write).name, seam.subject(one).name, seam.subject(one, "mine").name) == (
        "write", "counting", "mine",
    )  # fmt: skip


@given(st.text(max_size=40))
def test_a_function_that_can_be_called_either_way_is_a_write(text):
    """Behind a decorator that forgets its arguments, or with a default for each, a function still writes."""

    def decorated(*arguments, **named):
        return text if len(arguments) == 2 else Counting()

    def at_ease(messages=(), budget=10):
        return text if messages else Counting()

    for thing in (decorated, at_ease):
        assert seam.carry(seam.subject(thing).make(), MESSAGES, 20).text == text[:20]


@given(st.text(max_size=200), st.integers(0, 250))
def test_what_is_carried_is_never_over_the_budget(text, budget):
    """Whatever is written, at most the budget is carried; that it was cut, and how much there was, is kept."""
    found = seam.carry(seam.memory(lambda messages, budget: text), MESSAGES, budget)
    kept = text[:budget]
    assert found == Carried(kept, budget, len(kept), len(text), len(text) > budget)


@pytest.mark.parametrize(
    ("thing", "says"),
    [
        (Wanting, "without arguments"),
        (3, "write"),
        (lambda one: "", "function"),
        (lambda: 3, "write"),
        (object(), "write"),
        (lambda *, messages, budget: "", "function"),
        (lambda messages, budget, more: "", "function"),
        (max, "function"),
    ],
)
def test_what_is_no_memory_is_refused(thing, says):
    """The message says what a memory is."""
    with pytest.raises(InvalidArgument, match=says):
        seam.subject(thing).make()


@pytest.mark.parametrize("budget", [-1, True, 1_000_001])
def test_a_budget_that_is_none_is_refused(budget):
    """It is a number of characters, with a least and a most value."""
    with pytest.raises(InvalidArgument, match="whole number of characters"):
        seam.carry(seam.memory(write), MESSAGES, budget)


class Theirs(str):
    """A text that lies about itself."""

    __slots__ = ()

    def __len__(self):
        return 0

    def __getitem__(self, part):
        raise LookupError(part)


def test_a_text_of_a_class_of_theirs_is_taken_as_text():
    """What is carried and answered is held to its length by its signs, whatever its own methods say."""

    class Lying(Counting):
        def write(self, messages, budget):
            return Theirs("abcdef")

        def recall(self, query):
            return Theirs("abcdef")

    assert seam.carry(Lying(), MESSAGES, 4) == Carried("abcd", 4, 4, 6, over=True)
    assert type(seam.carry(Lying(), MESSAGES, 9).text) is str
    assert seam.pull(Lying(), "it") == Pull("it", "abcdef", 6, cut=False)


def test_an_error_that_cannot_say_what_it_is_is_named_and_a_long_one_is_cut():
    """A fault is told in a bounded sentence, even when its own words fail."""

    class Mute(Exception):
        def __str__(self):
            raise RuntimeError

    for error, told in ((Mute(), "str.. failed"), (ValueError("x" * 5_000), "x … 4,012 more characters")):

        def broken(messages, budget, error=error):
            raise error

        with pytest.raises(MemoryFault, match=told):
            seam.carry(seam.memory(broken), MESSAGES, 10)


@pytest.mark.parametrize("given", [None, ["a"], b"a"])
def test_a_memory_that_writes_no_text_is_at_fault(given):
    """What is no text is named with its type; the fault is the memory's, not the caller's."""
    with pytest.raises(MemoryFault, match=f"write gives text; <lambda> gave {type(given).__name__}"):
        seam.carry(seam.memory(lambda messages, budget: given), MESSAGES, 10)


def test_an_async_memory_is_told_what_to_give():
    """What would have to be awaited is no text; it is closed, and the message says what to do."""

    class Async:
        async def write(self, messages, budget):
            return "text"

        async def recall(self, query):
            return "text"

    for call in (lambda: seam.carry(Async(), MESSAGES, 10), lambda: seam.pull(Async(), "words")):
        with pytest.raises(MemoryFault, match=r"gave coroutine: give a function that is not async, .* asyncio\.run$"):
            call()


def test_whatever_a_memory_raises_is_its_fault_but_a_models_error_goes_on():
    """An error in making, writing, recalling or closing names the memory; a model without a reply is another matter."""

    class Broken(Counting):
        wrong = KeyError("x")

        def write(self, messages, budget):
            raise self.wrong

        def recall(self, query):
            raise self.wrong

        def close(self):
            raise self.wrong

    def unmade():
        raise Broken.wrong

    for failing, says in (
        (
            lambda: seam.carry(Broken(), MESSAGES, 10),
            r"Broken raised in write\(\): KeyError: 'x' \(test_reclaim_seam.py:\d+\); mend it",
        ),
        (lambda: seam.pull(Broken(), "a"), r"Broken raised in recall\(\)"),
        (lambda: seam.made(seam.subject(unmade, "mine"), None).__enter__(), "mine could not be made"),
    ):
        with pytest.raises(MemoryFault, match=says):
            failing()
    with pytest.raises(MemoryFault, match="mine could not be closed"), seam.made(seam.subject(Broken, "mine"), None):
        pass
    Broken.wrong = SystemExit(3)  # as a command line's main() does: it must not end the run
    with pytest.raises(MemoryFault, match=r"Broken raised in write\(\): SystemExit: 3"):
        seam.carry(Broken(), MESSAGES, 10)
    Broken.wrong = ModelUnavailable("busy")
    with pytest.raises(ModelUnavailable, match="busy"):
        seam.carry(Broken(), MESSAGES, 10)


def test_a_memory_cannot_change_the_session():
    """What is given to a memory is a copy: the next one gets what was said."""

    def spoiling(messages, budget):
        messages[0]["content"] = "spoiled"
        return ""

    said = [dict(one) for one in MESSAGES]
    seam.carry(seam.memory(spoiling), said, 10)
    assert said == MESSAGES


def test_what_is_pulled_is_counted_and_cut():
    """An answer of the memory is kept with its length; a very long one is cut, and says so."""
    assert seam.recalls(Counting())
    assert not seam.recalls(seam.memory(write))
    assert seam.pull(Counting(), "ab") == Pull("ab", "abab", 4, cut=False)
    long = seam.pull(Counting(), "a" * 15_000)
    assert (long.characters, long.cut) == (seam.RECALLED_CHARACTERS_MAX, True)

    class Mute(Counting):
        def recall(self, query):
            return None

    with pytest.raises(MemoryFault, match=r"recall gives text; Mute.recall gave NoneType"):
        seam.pull(Mute(), "a")


def test_a_memory_is_loaded_by_its_address(tmp_path, monkeypatch):
    """A file or an installed module gives a memory; what cannot be imported, found or used is told apart."""
    file = tmp_path / "my_reclaim_memory.py"
    file.write_text("def write(messages, budget):\n    return 'x'\nnumber = 3\n")
    named = seam.load(f"{file}:write")
    assert (named.name, seam.carry(named.make(), MESSAGES, 5).text) == (f"{file}:write", "x")
    monkeypatch.syspath_prepend(str(tmp_path))
    installed = seam.load("my_reclaim_memory:write")
    assert (installed.name, seam.carry(installed.make(), MESSAGES, 5).text) == ("my_reclaim_memory:write", "x")
    for address, says in (
        ("my_reclaim_memory", "file.py:name"),
        ("no_such_module_here:write", "cannot import"),
        ("my_reclaim_memory:nothing", "has no 'nothing'"),
        ("my_reclaim_memory:number", "write"),
    ):
        with pytest.raises(InvalidArgument, match=says):
            seam.load(address).make()


def test_a_file_is_one_module_for_all_its_names(tmp_path):
    """Two names of a file share its module, and a file called as a library is called leaves the library alone."""
    file = tmp_path / "json.py"
    file.write_text(
        "class Notes:\n    def write(self, messages, budget):\n        return ''\nclass More(Notes): pass\n"
    )
    notes, more = seam.named(f"{file}:Notes"), seam.named(f"{file}:More")
    assert issubclass(more, notes)
    assert sys.modules["json"] is json
