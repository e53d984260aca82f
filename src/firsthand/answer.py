"""What a recall asks and what it answers, as values that know no storage.

An empty answer says why (DESIGN 2.6), and every hit shows its score and the
parts of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from enum import StrEnum

from firsthand import moment
from firsthand.errors import QueryError
from firsthand.event import Kind, Trust
from firsthand.moment import Moment
from firsthand.value import field, short_repr, value

QUERY_CHARACTERS_MAX = 100_000
HITS_MAX = 200
SCOPE_NAMES_MAX = 200  # of each field of a scope: SQLite nests no more than some hundred conditions
SCOPE_SESSIONS_MAX = 20_000  # whole names of sessions are one value to SQLite
LINES_MAX = 64  # of each list of conditions
LINE_CHARACTERS_MAX = 2_000


class Outcome(StrEnum):
    """The type of an answer."""

    FOUND = "found"  # there are hits; `Answer.band` says how likely it is that they answer
    ABSENT = "absent"  # everything in scope was searched, and nothing matches
    FILTERED = "filtered"  # nothing in scope, but there is a match outside the scope or time asked for
    DEGRADED = "degraded"  # something was not looked at: `Answer.notes` says what and why


class Band(StrEnum):
    """How likely it is that one of the first ten hits answers; docs/recall.md says what each is worth."""

    UNLIKELY = "unlikely"
    POSSIBLE = "possible"  # the normal case, and no alarm
    LIKELY = "likely"

    def reaches(self, least: Band) -> bool:
        """Say whether this band is at least as likely as another one."""
        bands = list(Band)
        return bands.index(self) >= bands.index(least)


@value
class Scope:
    """Where a recall looks. Empty fields do not restrict; the namespace is named elsewhere, always.

    Attributes:
        sessions: session names; a name ending in ``*`` stands for all that begin so.
        agents: who spoke or acted.
        kinds: kinds of event; given as members or as their words, kept as members.
        since, until: event time, both inclusive; events of unknown time match neither.
        trust_max: the least trusted label still shown.
        after_position, before_position: exclusive bounds in the store's order.
        without_sessions: session names, as in ``sessions``, that are left out.

    Raises:
        QueryError: a field is of another type, names no kind, or has more than 200 members
            (of ``sessions`` 20,000, of which 200 may end in ``*``).
    """

    sessions: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    since: Moment | None = None
    until: Moment | None = None
    trust_max: Trust | None = None
    after_position: int | None = None
    before_position: int | None = None
    without_sessions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, most in (
            ("sessions", SCOPE_SESSIONS_MAX), ("agents", SCOPE_NAMES_MAX), ("without_sessions", SCOPE_NAMES_MAX),
        ):  # fmt: skip
            object.__setattr__(
                self, name, tuple(_name(text, name) for text in _listed(getattr(self, name), name, most))
            )
        _listed([session for session in self.sessions if session.endswith("*")], "sessions that end in *")
        object.__setattr__(self, "kinds", tuple(kind_of(kind) for kind in _listed(self.kinds, "kinds")))
        for name in ("since", "until"):
            _check(getattr(self, name), Moment, name, "a Moment; read text with moment.parse")
        _check(self.trust_max, Trust, "trust_max", "a Trust, such as Trust.AGENT")
        for name in ("after_position", "before_position"):
            value = getattr(self, name)
            if value is not None and (
                isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 62
            ):
                raise QueryError(f"{name} is a position, a whole number from 0; got {value!r}")

    @property
    def everything(self) -> bool:
        """True when nothing is restricted."""
        return self == Scope()


@value
class Conditions:
    """The task that a recall is asked for: what a hit's score is conditioned on (total-recall 4).

    Attributes:
        goal, phase: one text each; empty while unknown.
        open_loops: one text each.
        session: whose task it is; empty for none.

    Raises:
        QueryError: a field is of another type, or over its limit (64 lines, 2,000 characters each).
    """

    goal: str = ""
    phase: str = ""
    open_loops: tuple[str, ...] = ()
    session: str = ""

    def __post_init__(self) -> None:
        for name in ("goal", "phase", "session"):
            _check_line(getattr(self, name), name)
        lines = _listed(self.open_loops, "open_loops")
        if len(lines) > LINES_MAX:
            raise QueryError(f"open_loops has at most {LINES_MAX} lines; got {len(lines):,}")
        object.__setattr__(self, "open_loops", tuple(_check_line(line, "open_loops") for line in lines))


@value
class Query:
    """One question to the log.

    Attributes:
        text: any text at all; no character of it is an operator.
        hits_max: most hits to answer with, 1 to 200.
        budget_tokens_max: most tokens of previews, all together.
        skip: hits to pass over, to get more of the same answer.
        deadline_ms: after this long the search stops and says what it did not look at.
        conditions: the task it is asked for; None leaves the score to the query alone.
        now: what "yesterday" in the text is counted from; None is the moment of asking.

    Raises:
        QueryError: a number is out of its range, or the text is over 100,000 characters.
    """

    text: str
    scope: Scope = field(default_factory=Scope)
    hits_max: int = 10
    budget_tokens_max: int = 4_000
    skip: int = 0
    deadline_ms: int = 2_000
    conditions: Conditions | None = None
    now: Moment | None = None

    def __post_init__(self) -> None:
        _check_text(self.text)
        _check(self.conditions, Conditions, "conditions", "Conditions")
        _check(self.now, Moment, "now", "a Moment; read text with moment.parse")
        if not isinstance(self.scope, Scope):
            raise QueryError(f"scope is a Scope; got {self.scope!r}")
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
        pointer: expands to the exact bytes of all of it.
        score: from 0 to 1, higher is better; comparable within one answer only.
        parts: what the score is made of, by name.
        preview: the passages that match, as text, cut to the budget; of a tool call its values.
        spans: pointers of exactly those bytes that the preview shows, in its order.
        exact: the strings of the query that stand in the content, character for character.
        copies: pointers of further events with the same text; they are no hits of their own.
        companion_of: pointer of the hit that it belongs with, as a call's result does; empty for a hit of its own.
        replaces: pointer of the event whose place it took by the ledger; empty for none.
        claims: of a note, what a check says of its claims, such as ``1 worked out, 2 unproven``; empty for none.
    """

    pointer: str
    score: float
    parts: dict[str, float]
    preview: str
    spans: tuple[str, ...]
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
    copies: tuple[str, ...] = ()
    companion_of: str = ""
    replaces: str = ""
    claims: str = ""

    def __repr__(self) -> str:
        named = {"pointer": self.pointer, "score": round(self.score, 3), "kind": self.kind, "preview": self.preview}
        return short_repr("Hit", named)


@value
class Answer:
    """What a recall found, or why it found nothing.

    Attributes:
        outcome: its type.
        hits: best first.
        companions: what belongs with hits, as a call's result does; beside the hits, and of no score.
        said: up to five messages of the user on the question that stand by the ledger, in order of date; nothing else
            is decided about them.
        band: how likely it is that one of the first ten hits answers.
        likelihood: the same as a number from 0 to 1; 0 without hits.
        signals: what the likelihood is computed from, by name.
        attempts: the texts that were asked, in order: the question, and one more where that helped.
        more: True when a further page (`Query.skip`) has hits.
        truncated: True when the search was bounded before it had seen all matches.
        notes: sentences on what was not looked at, is behind or broken, or is left out since it no longer holds.
        through: the last position that was searched.
    """

    query: Query
    outcome: Outcome
    hits: tuple[Hit, ...]
    companions: tuple[Hit, ...] = ()
    said: tuple[Hit, ...] = ()
    band: Band = Band.UNLIKELY
    likelihood: float = 0.0
    signals: dict[str, float] = field(default_factory=dict)
    attempts: tuple[str, ...] = ()
    more: bool = False
    truncated: bool = False
    notes: tuple[str, ...] = ()
    through: int = 0

    def __repr__(self) -> str:
        named = {"outcome": self.outcome, "hits": len(self.hits), "likelihood": round(self.likelihood, 2)}
        return short_repr("Answer", named | {"query": self.query.text, "notes": self.notes})

    def __bool__(self) -> bool:
        return bool(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


When = Moment | str | float | None


def moment_of(value: When) -> Moment | None:
    """Read a time as it is given to a recall.

    Raises:
        QueryError: it is none.
    """
    if value is None or isinstance(value, Moment):
        return value
    parsed = moment.parse(value)
    if parsed is None:
        raise QueryError(f"expected a time such as 2026-01-31T12:00:00Z or an epoch number; got {value!r}")
    return parsed


def _listed(values: object, name: str, most: int = SCOPE_NAMES_MAX) -> Collection[object]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Collection):
        raise QueryError(f"{name} is a list or tuple; got {values!r}")
    if len(values) > most:
        raise QueryError(f"{name} has at most {most:,} members; got {len(values):,}")
    return values


def _name(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise QueryError(f"{name} is a list of names, which are text; got {value!r}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise QueryError(f"{name} holds names of valid Unicode; got a lone surrogate in {value[:40]!r}") from error
    return value


def _check_line(line: object, name: str) -> str:
    if not isinstance(line, str) or len(line) > LINE_CHARACTERS_MAX:
        raise QueryError(f"{name} is text of at most {LINE_CHARACTERS_MAX:,} characters; got {str(line)[:60]!r}")
    return line


def kind_of(value: object) -> Kind:
    """Read a kind as it is given to a recall: a member, or its word.

    Raises:
        QueryError: it is none.
    """
    try:
        return Kind(value)  # type: ignore[arg-type]
    except ValueError as error:
        raise QueryError(f"kinds are members of Kind, or of the words {', '.join(Kind)}; got {value!r}") from error


def _check(value: object, kind: type, name: str, expected: str) -> None:
    if value is not None and not isinstance(value, kind):
        raise QueryError(f"{name} is {expected}, or None; got {value!r}")


def _check_text(text: str) -> None:
    if not isinstance(text, str):
        raise QueryError(f"a query is text; got {type(text).__name__}")
    if len(text) > QUERY_CHARACTERS_MAX:
        raise QueryError(f"a query has at most {QUERY_CHARACTERS_MAX:,} characters; got {len(text):,}")
