"""The assertions: what each of them asks, and the error that says what came of it.

The invariant: an assertion raises ``AssertionError`` and nothing else for a memory that
does not hold; what cannot be asked at all (no memory, a budget below zero) is an
`InvalidArgument`, so that a broken test is no finding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from firsthand_evals.probe.probe import probe
from firsthand_evals.testing import reclaiming, telling
from firsthand_evals.testing.reclaiming import Lossless, Reclaimed

if TYPE_CHECKING:
    from firsthand import Note
    from firsthand_evals.reclaim.readers import Reader

Result = Reclaimed | Lossless


def assert_correctable(
    memory: Any, *, budget: int = 600, problems: int = 6, seed: int = 0, least: float = 1.0,
    reader: Reader | None = None,
) -> None:  # fmt: skip
    """Assert that what a memory carries out of a session that went wrong lets a correction bring the truth back.

    Sums and puzzles are said in a session that concludes wrongly, their source first, in the middle, late or
    scattered; what the memory carries, and what it answers when asked, is all that a fresh session has.

    Args:
        memory: a function ``write(messages, budget) -> str``, or a class of memories with such a method and,
            optionally, ``recall(query) -> str``; an object is used for all problems as it is.
        budget: characters that may be carried.
        problems: of each of 2 families, at 4 places of the source.
        least: share of the items that must be brought back.
        reader: who answers; by default one that works the answer out of what stands before it, or abstains.

    Raises:
        AssertionError: fewer were brought back; the message shows one that was not.
        InvalidArgument: it is no memory, or a number is out of its range.
    """
    __tracebackhide__ = True
    hold(reclaiming.correctable(memory, budget=budget, problems=problems, seed=seed, least=least, reader=reader))


def assert_no_silent_partial(
    memory: Any, *, budget: int = 300, problems: int = 3, seed: int = 0, reader: Reader | None = None
) -> None:
    """Assert that where the source does not fit, what is carried says so, and no wrong value comes of it.

    Ledgers outgrow the budget, purchases hide among what was only considered, and sessions follow one another
    without any error in them. To bring nothing back is no fault here; to look whole is one.

    Args:
        memory, budget, reader: see `assert_correctable`.
        problems: of each of 9 sorts.

    Raises:
        AssertionError: a wrong value was given, or a note that concludes without its source does not say so.
        InvalidArgument: it is no memory, or a number is out of its range.
    """
    __tracebackhide__ = True
    hold(reclaiming.no_silent_partial(memory, budget=budget, problems=problems, seed=seed, reader=reader))


def assert_lossless(memory: Any, *, budget: int = 600, sessions: int = 5, seed: int = 0) -> None:
    """Assert that all that was said can be had back word for word: from what is carried, or by asking.

    Ports, checksums, paths, tracebacks and other scripts are said over several sessions; at the end each message
    is asked for in words, and by the pointers that stand in what is carried and answered.

    Args:
        memory, budget: see `assert_correctable`; without a ``recall``, what is carried must hold everything.
        sessions: 1 to 16, of 7 messages each.

    Raises:
        AssertionError: a message is gone, or came back in other words.
        InvalidArgument: it is no memory, or a number is out of its range.
    """
    __tracebackhide__ = True
    hold(reclaiming.lossless(memory, budget=budget, sessions=sessions, seed=seed))


def assert_probe(
    note: str | Note, messages: Sequence[Mapping[str, str]], *, claim: str | None = None,
    expand: Callable[[str], str | None] | None = None,
) -> None:  # fmt: skip
    """Assert that a note can be corrected, from its own text or through its pointers.

    Args:
        note, messages, claim, expand: see `firsthand_evals.probe.probe`.

    Raises:
        AssertionError: what it takes is not there; the message lists what is missing.
        InvalidArgument: the note is no text, or a message has no text as its content.
    """
    __tracebackhide__ = True
    verdict = probe(note, messages, claim=claim, expand=expand)
    if not verdict.correctable:
        raise AssertionError(telling.of_note(note if isinstance(note, str) else note.text, verdict))


def hold(result: Result) -> None:
    """Raise when a result does not hold.

    Raises:
        AssertionError: it does not.
    """
    __tracebackhide__ = True
    if not result.held:
        raise AssertionError(telling.of_reclaimed(result) if isinstance(result, Reclaimed) else telling.of_lost(result))


class Reclaim:
    """The assertions of one test.

    Args:
        problems, seed: in place of what an assertion is called with; None leaves that.
        kept: gets a name and a sentence for each assertion; pytest writes them into the JUnit report.
    """

    def __init__(self, *, problems: int | None, seed: int | None, kept: list[tuple[str, object]]) -> None:
        self._problems, self._seed, self._kept = problems, seed, kept

    def assert_correctable(self, memory: Any, **options: Any) -> None:
        __tracebackhide__ = True
        self._hold(reclaiming.correctable(memory, **self._chosen(options, counted=True)))

    def assert_lossless(self, memory: Any, **options: Any) -> None:
        __tracebackhide__ = True
        self._hold(reclaiming.lossless(memory, **self._chosen(options, counted=False)))

    def assert_no_silent_partial(self, memory: Any, **options: Any) -> None:
        __tracebackhide__ = True
        self._hold(reclaiming.no_silent_partial(memory, **self._chosen(options, counted=True)))

    def _chosen(self, options: dict[str, Any], *, counted: bool) -> dict[str, Any]:
        """Let the command line go before what a test says."""
        typed = {"seed": self._seed} | ({"problems": self._problems} if counted else {})
        return options | {name: given for name, given in typed.items() if given is not None}

    def _hold(self, checked: Result) -> None:
        __tracebackhide__ = True
        self._kept.append((f"firsthand {checked.of} {checked.name}", checked.figures))
        hold(checked)
