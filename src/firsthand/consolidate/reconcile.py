"""What becomes of a turn when it comes in, and of facts when they are swept (total-recall 8.2 to 8.4, 8.6).

    hot(turn)                 ADD or NONE, for a whole turn, in microseconds
    sweep(window, working)    decisions of the ledger: which fact takes the place of which

The invariant: on the hot path nothing but ADD and NONE is answered, and NONE for whole
turns alone, whose every call has its result in the same turn; what is not whole is
added without asking. `AddAll` is the default: a store that is given it has the bytes of
a store without one. What a reconciler says NONE of never comes into the log.

It does not know where turns come from, nor how decisions are kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Literal, Protocol

from firsthand.consolidate.keys import Fact
from firsthand.consolidate.ledger import Decision, Ledger
from firsthand.consolidate.sweep import by_rule
from firsthand.errors import InvalidArgument
from firsthand.event import Draft, Event, Kind, to_text

Hot = Literal["ADD", "NONE"]
ADD: Hot = "ADD"
NONE: Hot = "NONE"
Turn = Sequence[Draft | Event]
READ_CHARACTERS_MAX = 2_000
"""Of a message, for what protects its turn; a longer one is never low in importance."""
PLAIN = frozenset({Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.REASONING})
"""Kinds that can be of low importance; a turn with any other, a tool's included, is kept."""

_compiled = cache(re.compile)
_PROTECTING = frozenset(
    """never must only always don't dont not no remember forget because name named call called address password deadline
    due wrong actually instead error todo later rule nie immer muss nur jamais toujours nunca siempre""".split()  # noqa: SIM905 - so many quoted words are harder to read
)
_PROTECTING_STEMS = ("decid", "chos", "prefer", "correct", "fail", "fix", "promis")
_PROTECTING_SIGNS = frozenset('0123456789/_`"=:@#')
_NAMES = r"[a-z][A-Z]|\w [A-Z][a-z]"


class Reconciler(Protocol):
    """Decides on a turn when it comes in, and on facts when the store sleeps."""

    @property
    def name(self) -> str:
        """What the ledger names as the one who decided."""
        ...

    def hot(self, turn: Turn) -> Hot:
        """Say whether a whole turn is kept."""
        ...

    def sweep(self, window: Sequence[Fact], working: Mapping[str, Fact], ledger: Ledger) -> tuple[Decision, ...]:
        """Say which facts take the place of which: ``window`` is new, ``working`` what stands, by key."""
        ...


class AddAll:
    """Keeps everything on the hot path, and sweeps by rule: the default."""

    name = "add-all"

    def hot(self, turn: Turn) -> Hot:  # noqa: ARG002 - it keeps whatever comes
        """Keep the turn."""
        return ADD

    def sweep(self, window: Sequence[Fact], working: Mapping[str, Fact], ledger: Ledger) -> tuple[Decision, ...]:
        """Decide by rule."""
        return by_rule(window, working, ledger)


class SizeAware:
    """Leaves out turns that are small talk once the store is over its budget (total-recall 8.6)."""

    name = "size-aware"

    def __init__(self, budget_bytes: int, used_bytes: Callable[[], int]) -> None:
        """Keep a store at a size.

        Args:
            budget_bytes: up to here everything is kept.
            used_bytes: says how large the store is now; it is asked at every turn that could be left out.
        """
        if budget_bytes < 0:
            raise InvalidArgument(f"a budget is a number of bytes from 0 on; got {budget_bytes:,}")
        self.budget_bytes, self._used_bytes = budget_bytes, used_bytes

    def hot(self, turn: Turn) -> Hot:
        """Say NONE of a turn without anything to protect, while the store is over its budget."""
        return NONE if is_low(turn) and self._used_bytes() >= self.budget_bytes else ADD

    def sweep(self, window: Sequence[Fact], working: Mapping[str, Fact], ledger: Ledger) -> tuple[Decision, ...]:
        """Decide by rule."""
        return by_rule(window, working, ledger)


def is_low(turn: Turn) -> bool:
    """Say whether a turn holds nothing to protect: words alone, and none that say a rule, a value, a reason, a name."""
    if not turn or any(one.kind not in PLAIN for one in turn):
        return False
    for one in turn:
        content = one.content
        if not isinstance(content, bytes) or len(content) > READ_CHARACTERS_MAX:
            return False  # a stream, an artifact, or a long message
        if _protects(to_text(content)):
            return False
    return True


def _protects(text: str) -> bool:
    """Say whether a text has a value, a name, or a word of rules and reasons; the cheap looks come first."""
    if not text.isascii() or not _PROTECTING_SIGNS.isdisjoint(text):
        return True
    low = text.lower()
    if low[1:] != text[1:] and _compiled(_NAMES).search(text) is not None:
        return True
    words = {one.strip(".,;!?()'") for one in low.split()}
    return not _PROTECTING.isdisjoint(words) or any(one.startswith(_PROTECTING_STEMS) for one in words)


def decide(reconciler: Reconciler, turn: Turn) -> Hot:
    """Ask a reconciler about a turn; one that is not whole is kept without asking.

    Raises:
        InvalidArgument: the reconciler answers what may not be decided on the hot path.
    """
    if not is_whole(turn):
        return ADD
    answer = reconciler.hot(turn)
    if answer not in (ADD, NONE):
        raise InvalidArgument(
            f"on the hot path a reconciler answers {ADD} or {NONE}; {reconciler.name} answered {answer!r:.40}. "
            "What takes the place of what is decided in the sweep."
        )
    return answer


class HotPath:
    """Asks a reconciler about the turns of a batch before it is appended: `Memory.hot_path`.

    What is appended event by event is never a whole turn, and is kept.

    Attributes:
        turns: how many whole turns it was asked about.
        left_out: how many of them did not come into the log.
        events_left_out: how many events these had.
    """

    def __init__(self, reconciler: Reconciler) -> None:
        self.reconciler = reconciler
        self.turns, self.left_out, self.events_left_out = 0, 0, 0

    def __call__(self, drafts: Sequence[Draft]) -> Sequence[Draft]:
        """Give the drafts that are kept, in order.

        Raises:
            InvalidArgument: the reconciler answers what may not be decided here.
        """
        kept: list[Draft] = []
        for turn in turns(drafts):
            self.turns += is_whole(turn)
            if decide(self.reconciler, turn) == ADD:
                kept += turn
                continue
            self.left_out += 1
            self.events_left_out += len(turn)
        return kept


def is_whole(turn: Turn) -> bool:
    """Say whether a turn begins with its user message, ends with an answer, and has a result for each of its calls."""
    if len(turn) < 2 or turn[0].kind is not Kind.USER_MESSAGE or turn[-1].kind is not Kind.AGENT_MESSAGE:
        return False
    if any(one.kind is Kind.USER_MESSAGE for one in turn[1:]):
        return False
    calls = [str(one.meta.get("call_id", "")) for one in turn if one.kind is Kind.TOOL_CALL]
    results = [str(one.meta.get("call_id", "")) for one in turn if one.kind is Kind.TOOL_RESULT]
    return sorted(calls) == sorted(results)


def turns(drafts: Sequence[Draft]) -> Iterator[tuple[Draft, ...]]:
    """Cut a batch into turns: each begins with a user message; what stands before the first one is a turn too."""
    begun = 0
    for place, one in enumerate(drafts):
        if one.kind is Kind.USER_MESSAGE and one.part == 0 and place > begun:
            yield tuple(drafts[begun:place])
            begun = place
    if drafts:
        yield tuple(drafts[begun:])
