"""testing/asserting.py and reclaiming.py: each assertion holds for what it should and fails for what it should."""

from __future__ import annotations

from pathlib import Path

import pytest

import firsthand_evals.testing
from firsthand.errors import InvalidArgument, ModelUnavailable
from firsthand_evals.reclaim import ours, readers, seam
from firsthand_evals.testing import assert_correctable, assert_lossless, assert_no_silent_partial, assert_probe
from firsthand_evals.testing.reclaiming import address, correctable, no_silent_partial

SAID = [
    {"role": "user", "content": "7 notebooks at $4 each, 9 pens at $2 each. What is the total?"},
    {"role": "assistant", "content": "The total is $55."},
]


class Keeps:
    """Keeps every message, carries nothing, says so, and answers with all of them."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def write(self, messages, budget):
        said = [one["content"] for one in messages if one["role"] != "system"]
        self.said += [one for one in said if not one.startswith((readers.RECALL, readers.RECALLED))]
        return "nothing is carried; ask"

    def recall(self, query):
        return "\n".join(self.said)


def concludes(messages, budget):
    """Carry what the assistant said last of the answer."""
    return "You concluded: " + next((one["content"] for one in messages if one["role"] == "assistant"), "nothing")


def part(messages, budget):
    """Carry the beginning of what the user said, and no word of the rest."""
    return " ".join(one["content"] for one in messages if one["role"] == "user")[:budget]


def told_part(messages, budget):
    """Carry the same, and say that it is not all."""
    return f"Kept 1 of 9 statements; the rest was not kept. {part(messages, budget - 60)}"


def raises(messages, budget):
    """Fail."""
    raise KeyError("no such session")


def keeper():
    """Make a memory."""
    return Keeps()


@pytest.mark.parametrize("memory", [Keeps, keeper, ours.pointers()])
def test_a_memory_that_keeps_its_source_passes_all(memory):
    """A class, a factory and Firsthand itself keep everything, and every assertion holds."""
    assert_correctable(memory, problems=1)
    assert_no_silent_partial(memory, problems=1)
    assert_lossless(memory, sessions=2)


@pytest.mark.parametrize(
    ("memory", "recovered", "silent"),
    [(concludes, 0, 9), (part, 1, 9), (told_part, 0, 0), (raises, 0, 9), (lambda messages, budget: "", 0, 0)],
)
def test_what_breaks_which_assertion(memory, recovered, silent):
    """A conclusion, a part that looks whole, a part that says so, a fault, and nothing: each breaks what it should."""
    asked = correctable(memory, problems=1, budget=150)
    assert (len(asked.asked), len(asked.broken), asked.held) == (8, 8 - recovered, False)
    partial = no_silent_partial(memory, problems=1, budget=150)
    assert (len(partial.asked), len(partial.broken), partial.held) == (9, silent, silent == 0)


class Late:
    """Carries the last purchase alone until the fourth session, and everything from then on."""

    def __init__(self) -> None:
        self.bought: list[str] = []
        self.sessions = 0

    def write(self, messages, budget):
        self.sessions += 1
        self.bought += [one["content"] for one in messages if one["role"] == "user"]
        return "\n".join(self.bought if self.sessions > 3 else self.bought[-1:])


def test_what_went_wrong_on_the_way_counts():
    """A chain whose end is right is broken by a wrong answer on the way."""
    partial = no_silent_partial(Late, problems=1, budget=5_000)
    chains = [one for one in partial.broken if one.case.hops]
    assert [(one.item.outcome, one.item.blast > 0) for one in chains] == [("recovered", True)] * 2


def test_a_share_may_be_enough():
    """With ``least`` a share of the items is enough, and one more than that share is not."""
    asked = {"problems": 1, "budget": 250}
    assert len(correctable(part, **asked).broken) == 5
    assert_correctable(part, least=3 / 8, **asked)
    with pytest.raises(AssertionError, match=r": 3 of 8 items were brought back, at least 0\.5 of them were wanted\n"):
        assert_correctable(part, least=0.5, **asked)


def test_a_reader_of_ones_own_answers():
    """The reader that is given is the one that is asked: one that believes brings nothing back from a source."""
    assert_correctable(Keeps, problems=1, reader=readers.Recomputing())
    with pytest.raises(AssertionError, match="0 of 8 items were brought back"):
        assert_correctable(Keeps, problems=1, reader=readers.Believing())


def test_what_cannot_be_asked_is_no_finding():
    """No memory, a budget below zero, a share of nothing, no problem: errors of the test, not of the memory."""
    for call in (
        lambda: assert_correctable(7),
        lambda: assert_correctable(part, budget=-1),
        lambda: assert_correctable(part, least=0),
        lambda: assert_correctable(part, problems=0),
        lambda: assert_no_silent_partial(part, problems=0),
        lambda: assert_lossless(part, sessions=0),
        lambda: assert_lossless(part, sessions=17),
        lambda: assert_probe(7, SAID),
        lambda: assert_probe("x", []),
    ):
        with pytest.raises(InvalidArgument):
            call()


def test_a_model_without_a_reply_is_no_finding():
    """When a memory's model gives no reply, that error goes on: nothing was found out about the memory."""

    def asks(messages, budget):
        raise ModelUnavailable("no reply")

    for check in (assert_correctable, assert_no_silent_partial, assert_lossless):
        with pytest.raises(ModelUnavailable):
            check(asks)


def test_a_note_holds_or_leads_to_its_source():
    """A note passes with its source, and with a pointer to it; its conclusion alone does not."""
    assert_probe("7 notebooks at $4 each, 9 pens at $2 each.", SAID)
    at = "fh:01KFTCF62089XV0YPBC48CYZZG"
    assert_probe(
        f"The total is $55 ({at}).", SAID, expand=lambda address: SAID[0]["content"] if address == at else None
    )
    with pytest.raises(AssertionError):
        assert_probe(f"The total is $55 ({at}).", SAID, expand=lambda address: None)


def test_an_address_is_given_where_there_is_one(monkeypatch):
    """A function or class has an address that the command line takes; what is made on the spot has none."""
    assert address(part) == f"{__name__}:part"
    assert address(Keeps) == f"{__name__}:Keeps"
    assert address(Keeps()) == ""
    assert address(lambda messages, budget: "") == ""
    monkeypatch.chdir(Path(__file__).parent)
    assert address(part) == f"./{Path(__file__).name}:part"
    assert seam.named(address(part)).__code__.co_firstlineno == part.__code__.co_firstlineno


def test_the_names_of_the_package_are_there():
    """Every name of the package is imported when it is asked for, and no other one is."""
    assert [type(getattr(firsthand_evals.testing, name)).__name__ for name in dir(firsthand_evals.testing)] == [
        "type", "function", "function", "function", "function",
    ]  # fmt: skip
    with pytest.raises(AttributeError, match="has no attribute 'assert_perfect'"):
        _ = firsthand_evals.testing.assert_perfect
