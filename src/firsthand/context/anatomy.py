"""What one prompt was made of, recorded before it is sent (total-recall 9.6, A.4).

The invariant: the bytes of the shares sum to the bytes that are sent, whose hash the
record holds; a record that does not add up cannot be made. So each byte of a prompt
belongs to one contributor, and a replay can prove that it is the prompt of that call.

Pure: nothing here knows a store, how a prompt is composed, or what the model answered.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from firsthand import window as parts
from firsthand.errors import FormatError, InvalidArgument, MalformedPointer
from firsthand.event import CONTENT_INLINE_MAX, NAME_BYTES_MAX, Event, Kind
from firsthand.moment import Moment
from firsthand.pointer import parse
from firsthand.value import fields, value
from firsthand.window import Budget, Share, Window, together

VERSION = 1
MEDIA = "application/json"
NUMBER_MAX = (1 << 63) - 1
NAME_CHARACTERS_MAX = 200  # format, model, counter, topic
MARKERS_MAX = 100  # far more than merging leaves
RECORD_BYTES_MAX = CONTENT_INLINE_MAX  # it stands in the log itself

_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
_UNWRITTEN = {"pointer", "time"}  # the log knows them


@value
class Anatomy:
    """What one call of a model was sent, part by part.

    Attributes:
        session: the owning session (sessionId of A.4).
        call: number of this call in its session, from 1.
        turn: number of the turn.
        turn_id: id of the turn's first event, which sorts by time (turnId of A.4); empty before the first.
        cycle: compactions of the session so far.
        budget_tokens: that the window was given.
        bytes: of the body as canonical JSON.
        sha256: of these bytes, 64 digits.
        shares: what each contributor has of them, in the order of `window.PARTS`, each once.
        events: events of the history that stand in the prompt.
        markers: pointers of the markers that stand in it, in order.
        through: the session's last position that the prompt has seen; 0 for none.
        receipt: pointer of the last compaction before it; empty for none.
        format: of the body: ``openai-chat``, ``openai-responses`` or ``anthropic``.
        model: as it was named; empty when it was not.
        counter: what counted the tokens.
        topic: label of what the session is about now; None while it cannot be told.
        transition: the topic changed since the call before.
        recalls, expands: how often the model asked for them since the call before.
        pointer: of the record itself; empty while it is not in the log.
        time: when the log took it in; None while it is not in the log.

    Raises:
        InvalidArgument: a field is out of its range, or the shares do not sum to the bytes.
    """

    session: str
    call: int
    turn: int
    turn_id: str
    cycle: int
    budget_tokens: int
    bytes: int
    sha256: str
    shares: tuple[Share, ...]
    events: int
    markers: tuple[str, ...]
    through: int
    receipt: str
    format: str
    model: str
    counter: str
    topic: str | None = None
    transition: bool = False
    recalls: int = 0
    expands: int = 0
    pointer: str = ""
    time: Moment | None = None

    def __post_init__(self) -> None:
        for name in ("turn", "cycle", "bytes", "events", "through", "recalls", "expands"):
            _whole(getattr(self, name), name, 0)
        _whole(self.call, "call", 1)
        _whole(self.budget_tokens, "budget_tokens", 1)
        _text(self.session, "session", NAME_BYTES_MAX)
        for name in ("format", "model", "counter", "turn_id"):
            _text(getattr(self, name), name)
        if self.topic is not None:
            _text(self.topic, "topic")
        if not isinstance(self.transition, bool):
            raise InvalidArgument(f"transition is True or False; got {self.transition!r}")
        if not isinstance(self.sha256, str) or not _DIGEST.match(self.sha256):
            raise InvalidArgument(f"sha256 is 64 digits of 0-9 and a-f; got {self.sha256!r:.80}")
        self._check_pointers()
        _check_shares(self.shares, self.bytes)

    def _check_pointers(self) -> None:
        if not isinstance(self.markers, tuple) or len(self.markers) > MARKERS_MAX:
            raise InvalidArgument(f"markers is a tuple of at most {MARKERS_MAX:,} pointers; got {self.markers!r:.80}")
        for address in (*self.markers, *([self.receipt] if self.receipt != "" else [])):
            try:
                parse(address)
            except MalformedPointer as error:
                raise InvalidArgument(f"markers and receipt are pointers; {error}") from error

    @property
    def tokens(self) -> int:
        """Tokens of all parts together."""
        return sum(share.tokens for share in self.shares)

    @property
    def utilisation_percent(self) -> float:
        """Tokens used of the budget, in percent (contextUtilPct of A.4); over 100 when it is overdrawn."""
        return round(100 * self.tokens / self.budget_tokens, 1)

    @property
    def marker_count(self) -> int:
        """Markers in the prompt (markerCount of A.4)."""
        return len(self.markers)

    def share(self, name: str) -> Share:
        """Give one contributor's share, by its name in `window.PARTS`; nothing at all when it has none."""
        return next((share for share in self.shares if share.name == name), Share(name, 0, 0, 0))

    @property
    def fields_of_the_paper(self) -> dict[str, Any]:
        """The record under the names of A.4."""
        return {
            "turnId": self.turn_id,
            "sessionId": self.session,
            "compactionCycle": self.cycle,
            "contextUtilPct": self.utilisation_percent,
            "systemPromptBytes": self.share(parts.SYSTEM).bytes,
            "workspaceFileBytes": self.share(parts.FILES).bytes,
            "skillBytes": self.share(parts.SKILLS).bytes,
            "toolSchemaBytes": self.share(parts.TOOLS).bytes,
            "historyEventCount": self.events,
            "markerCount": self.marker_count,
            "userMessageBytes": self.share(parts.NEWEST).bytes,
            "topicLabel": self.topic,
            "topicTransition": self.transition,
        }


def make(
    sent: bytes,
    shares: Sequence[Share],
    window: Window,
    budget: Budget,
    *,
    session: str,
    call: int,
    turn: int,
    turn_id: str,
    format: str,  # noqa: A002 - the word that all of the package uses for it
    model: str = "",
    counter: str,
    receipt: str = "",
    topic: str | None = None,
    transition: bool = False,
    recalls: int = 0,
    expands: int = 0,
) -> Anatomy:
    """Take apart a prompt that is about to be sent.

    Args:
        sent: the body as canonical JSON (`formats.canonical.dump`).
        shares: of all its contributors; those of one name are added up.
        window: that it was composed from.

    Raises:
        InvalidArgument: the shares do not sum to ``sent``, or a field is out of its range.
    """
    return Anatomy(
        session=session, call=call, turn=turn, turn_id=turn_id, cycle=window.cycle, budget_tokens=budget.tokens_max,
        bytes=len(sent), sha256=hashlib.sha256(sent).hexdigest(),
        shares=tuple(share for share in together(shares) if share.bytes or share.tokens),
        events=len(window.items), markers=tuple(marker.pointer for marker in window.markers), through=window.through,
        receipt=receipt, format=format, model=model, counter=counter, topic=topic, transition=transition,
        recalls=recalls, expands=expands,
    )  # fmt: skip


# as bytes ------------------------------------------------------------------------------------------


def to_json(anatomy: Anatomy) -> bytes:
    """Write a record as compact JSON; `from_json` is the inverse, but for what the log knows (pointer, time).

    Raises:
        InvalidArgument: its names take so many bytes that the log would not keep it inline.
    """
    written: dict[str, Any] = {"anatomy": VERSION}
    written |= {name: getattr(anatomy, name) for name in _written()}
    written["shares"] = {share.name: [share.bytes, share.tokens, share.count] for share in anatomy.shares}
    data = json.dumps(written, separators=(",", ":")).encode("ascii")
    if len(data) > RECORD_BYTES_MAX:
        raise InvalidArgument(
            f"an anatomy has at most {RECORD_BYTES_MAX:,} bytes; got {len(data):,}: shorten its names"
        )
    return data


def from_json(data: bytes) -> Anatomy:
    """Read a record.

    Raises:
        FormatError: the bytes are no record, or one whose parts do not sum to its bytes.
    """
    members = _object(data)
    if members.pop("anatomy", None) != VERSION:
        raise FormatError(f'expected an anatomy, a JSON object with "anatomy":{VERSION}; got {data!r:.80}')
    names = _written()
    if set(members) != set(names):
        wrong = ", ".join(sorted(set(members) ^ set(names)))
        raise FormatError(f"an anatomy has exactly the fields {', '.join(names)}; missing or unknown: {wrong:.200}")
    shares, markers = members.pop("shares"), members.pop("markers")
    if not isinstance(shares, dict) or not all(
        isinstance(share, list) and len(share) == 3 for share in shares.values()
    ):
        raise FormatError(f"shares of an anatomy are [bytes, tokens, count] by part; got {shares!r:.80}")
    if not isinstance(markers, list):
        raise FormatError(f"markers of an anatomy are a list of pointers; got {markers!r:.80}")
    try:
        return Anatomy(
            **members,
            shares=tuple(Share(name, *numbers) for name, numbers in shares.items()),
            markers=tuple(markers),
        )
    except InvalidArgument as error:
        raise FormatError(f"not an anatomy as it was written: {error}") from error


def from_event(event: Event) -> Anatomy:
    """Read the record that an event of the log holds, with its pointer and time.

    Raises:
        FormatError: the event is of another kind, was erased, or holds no record.
    """
    if event.kind is not Kind.ANATOMY or event.content is None:
        what = "erased" if event.erased else f"an event of kind {event.kind}"
        raise FormatError(f"expected an anatomy's pointer; fh:{event.id} is {what}; see: firsthand session anatomy")
    read = from_json(event.content)
    members = {name: getattr(read, name) for name in _written()}
    return Anatomy(**members, pointer=f"fh:{event.id}", time=event.time or event.ingested)


def _written() -> tuple[str, ...]:
    return tuple(name for name in fields(Anatomy) if name not in _UNWRITTEN)


def _object(data: bytes) -> dict[str, Any]:
    if len(data) > RECORD_BYTES_MAX:
        raise FormatError(f"an anatomy has at most {RECORD_BYTES_MAX:,} bytes; got {len(data):,}")
    try:
        members = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"expected an anatomy as JSON; got {data!r:.80} ({error})") from error
    if not isinstance(members, dict):
        raise FormatError(f"expected an anatomy as a JSON object; got {data!r:.80}")
    return members


# checks --------------------------------------------------------------------------------------------


def _check_shares(shares: object, bytes_sent: int) -> None:
    if not isinstance(shares, tuple) or not all(isinstance(share, Share) for share in shares):
        raise InvalidArgument(f"shares is a tuple of Share; got {shares!r:.80}")
    for share in shares:
        for number in (share.bytes, share.tokens, share.count):
            _whole(number, f"the share of {share.name!r}", 0)
    order: Mapping[str, int] = {name: number for number, name in enumerate(parts.PARTS)}
    places = [order.get(share.name, -1) for share in shares]
    if -1 in places or places != sorted(set(places)):
        names = ", ".join(repr(share.name) for share in shares)
        raise InvalidArgument(f"each share has its own name of window.PARTS, in their order; got {names:.400}")
    total = sum(share.bytes for share in shares)
    if total != bytes_sent:
        raise InvalidArgument(
            f"the shares sum to what is sent: {bytes_sent:,} bytes; they have {total:,}: "
            "a contributor was left out or counted twice"
        )


def _whole(number: object, name: str, low: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int) or not low <= number <= NUMBER_MAX:
        raise InvalidArgument(f"{name} is a whole number from {low}; got {number!r:.80}")


def _text(text: object, name: str, characters_max: int = NAME_CHARACTERS_MAX) -> None:
    if not isinstance(text, str) or len(text) > characters_max:
        raise InvalidArgument(f"{name} is a text of at most {characters_max} characters; got {text!r:.80}")
