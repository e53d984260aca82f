"""What a recall asks and what it answers, as values that know no storage.

An empty answer says why (DESIGN 2.5), and every hit shows its score and the
parts of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from .errors import QueryError
from .event import Kind, Trust
from .moment import Moment
from .value import field, value

QUERY_CHARACTERS_MAX = 100_000
HITS_MAX = 1_000


class Outcome(StrEnum):
    """The type of an answer."""

    FOUND = "found"
    WEAK = "weak"  # below the confidence gate, and shown as such
    ABSENT = "absent"  # searched everything in scope, nothing matches
    FILTERED = "filtered"  # nothing in scope, but there is a match outside the scope or time asked for
    DEGRADED = "degraded"  # a stage is behind or broken: `Answer.notes` names it


@value
class Scope:
    """Where a recall looks. Empty fields do not restrict; the namespace is named elsewhere, always.

    Attributes:
        sessions: session names; a name ending in ``*`` stands for all that begin so.
        agents: who spoke or acted.
        kinds: kinds of event.
        since, until: event time, both inclusive; events of unknown time match neither.
        trust_max: the least trusted label still shown.
        after_position, before_position: exclusive bounds in the store's order.
    """

    sessions: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    since: Moment | None = None
    until: Moment | None = None
    trust_max: Trust | None = None
    after_position: int | None = None
    before_position: int | None = None

    @property
    def everything(self) -> bool:
        """True when nothing is restricted."""
        return self == Scope()


@value
class Query:
    """One question to the log.

    Attributes:
        text: any text at all; no character of it is an operator.
        hits_max: most hits to answer with, 1 to 1,000.
        budget_tokens_max: most tokens of previews, all hits together.
        skip: hits to pass over, to get more of the same answer.
        deadline_ms: after this long the search stops and says `truncated`.

    Raises:
        QueryError: a number is out of its range, or the text is over 100,000 characters.
    """

    text: str
    scope: Scope = field(default_factory=Scope)
    hits_max: int = 10
    budget_tokens_max: int = 4_000
    skip: int = 0
    deadline_ms: int = 2_000

    def __post_init__(self) -> None:
        _check_text(self.text)
        for name, low, high in (
            ("hits_max", 1, HITS_MAX),
            ("budget_tokens_max", 1, 10_000_000),
            ("skip", 0, 100_000),
            ("deadline_ms", 1, 3_600_000),
        ):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise QueryError(f"{name} is a whole number from {low} to {high}; got {value!r}")


@value
class Hit:
    """One event that answers.

    Attributes:
        pointer: expands to the exact bytes.
        score: the sum of ``parts``, higher is better; comparable within one answer only.
        parts: what the score is made of, by name.
        preview: the passage that matches, as text; cut to the budget.
        preview_start: byte offset of the preview in the content.
        exact: the strings of the query that stand in the content, character for character.
    """

    pointer: str
    score: float
    parts: dict[str, float]
    preview: str
    preview_start: int
    exact: tuple[str, ...]
    position: int
    kind: Kind
    session: str
    turn: int
    agent: str
    origin: str
    trust: Trust
    time: Moment | None
    size_bytes: int


@value
class Answer:
    """What a recall found, or why it found nothing.

    Attributes:
        outcome: its type.
        hits: best first.
        more: True when a further page (`Query.skip`) has hits.
        truncated: True when the search was bounded before it had seen all matches.
        notes: sentences on what was bounded, behind or broken.
        through: the last position that was searched.
    """

    query: Query
    outcome: Outcome
    hits: tuple[Hit, ...]
    more: bool = False
    truncated: bool = False
    notes: tuple[str, ...] = ()
    through: int = 0

    def __bool__(self) -> bool:
        return bool(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


def _check_text(text: str) -> None:
    if not isinstance(text, str):
        raise QueryError(f"a query is text; got {type(text).__name__}")
    if len(text) > QUERY_CHARACTERS_MAX:
        raise QueryError(f"a query has at most {QUERY_CHARACTERS_MAX:,} characters; got {len(text):,}")
