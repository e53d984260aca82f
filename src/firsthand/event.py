"""What one event is, and the bytes its hashes are taken over.

The invariant: an event's content is bytes, kept exactly; everything read out of
them (text, JSON) is derived. Each event has a salted commitment to its body and
a link in its session's hash chain; the chain covers header and commitment, never
the body itself, so a body can be erased and the chain still verifies.

This module knows no storage. Byte layouts: docs/log-format.md.
"""

from __future__ import annotations

import json
import os
import struct
import threading
import time
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache
from hashlib import sha256
from typing import Any, Protocol, Self

from firsthand.errors import InvalidDraft
from firsthand.moment import Moment
from firsthand.value import cut, field, value

NAME_BYTES_MAX = 512  # namespace, session, agent, origin, media type
META_BYTES_MAX = 262_144
CONTENT_INLINE_MAX = 16_384  # larger payloads become artifacts (total-recall 9.3)
SALT_BYTES = 16

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = tuple(high + low for high in _ALPHABET for low in _ALPHABET)  # ten bits at a time
_DIGITS = "0123456789abcdefghijklmnopqrstuv"  # as int() reads base 32
_TO_DIGITS = {ord(c): "!" for c in map(chr, range(33, 127))} | {
    ord(c): d for letters in (_ALPHABET, _ALPHABET.lower()) for c, d in zip(letters, _DIGITS, strict=True)
}


class _NumberedWord(StrEnum):
    """A closed set of words, each with the number that stands for it in headers and rows."""

    number: int

    def __new__(cls, word: str, number: int | None = None) -> Self:
        assert number is not None  # a look-up by word alone does not come here
        member = str.__new__(cls, word)
        member._value_ = word
        member.number = number
        return member

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    @classmethod
    def of(cls, number: int) -> Self:
        """Give the member that a number stands for.

        Raises:
            ValueError: it stands for none.
        """
        member: Self | None = _by_number(cls).get(number)
        if member is None:
            raise ValueError(f"{number!r} is the number of no {cls.__name__}")
        return member


@cache
def _by_number(words: type[_NumberedWord]) -> dict[int, Any]:
    return {member.number: member for member in words}


class Kind(_NumberedWord):
    """The closed set of things that can happen: words, so ``event.kind == "tool_call"`` holds.

    The numbers are on disk; never reuse one.
    """

    USER_MESSAGE = "user_message", 1
    AGENT_MESSAGE = "agent_message", 2
    REASONING = "reasoning", 3
    TOOL_CALL = "tool_call", 4
    TOOL_RESULT = "tool_result", 5
    SYSTEM = "system", 6
    PERSONA = "persona", 7
    TASK_STATE = "task_state", 8
    NOTE = "note", 9
    RECEIPT = "receipt", 10
    SUMMARY = "summary", 11  # a host's own summary that replaced history in its window
    ATTACHMENT = "attachment", 12  # an image, document or other file of a message
    DOCUMENT = "document", 13  # a text that is no dialogue: a mail, a page
    EPISODE = "episode", 14
    LEDGER = "ledger", 15  # one decision on which fact takes the place of which; pointers, not their words
    ERASURE = "erasure", 16
    SESSION = "session", 17  # what a host says about the session itself: model, folder, settings
    OTHER = "other", 18  # kept verbatim, not understood
    ANATOMY = "anatomy", 19  # what one prompt was made of, recorded before it was sent
    INJECTION = "injection", 20  # which events were put before an agent unasked, and why; pointers, not their words
    ENTRY = "entry", 21  # one line of derived memory that the gate of consolidation let in
    TUNING = "tuning", 22  # of older stores: a decision on a value that recall used; nothing writes one any more
    LOSS = "loss", 23  # which acknowledged events are missing; takes the position behind the last of them


UNSEARCHABLE = frozenset({Kind.RECEIPT, Kind.ANATOMY, Kind.INJECTION, Kind.LEDGER, Kind.ENTRY, Kind.TUNING, Kind.LOSS})
"""Kinds that repeat what other events say: recall would find the copy instead of the source."""
INJECTED = "injected"
"""The fact in an event's meta which says that Firsthand itself put its words there (DESIGN 2.9)."""
REPEATS = "repeats"
"""The fact in an event's meta which says that its host wrote there once more what it has said elsewhere."""
PART = "part"
"""The fact in an event's meta which names the part of a prompt that it was given for, to be replayed from."""
BEHIND, REPLACES, STANDS_FOR = "behind", "replaces", "stands_for"
"""The facts in an event's meta which say that its message came into the middle of the caller's list: the event that it
stands behind (empty for the beginning); the first event of the one message that it was rewritten from, which the window
no longer shows; or the pointer of the run that it was given in place of."""
LIST = "list"
"""The fact in an event's meta which names the list that it belongs to, where callers give several of one session."""


class Trust(_NumberedWord):
    """How far the words of an event may be believed as instructions; what is more trusted is less.

    They are ordered by trust, not by the alphabet: ``Trust.TRUSTED < Trust.AGENT < Trust.UNTRUSTED``, and
    ``event.trust <= "agent"`` compares with a word.
    """

    TRUSTED = "trusted", 1  # the user or the operator wrote it
    AGENT = "agent", 2  # a model wrote it
    UNTRUSTED = "untrusted", 3  # a tool, a page, a file, a mail brought it

    def __lt__(self, other: str) -> bool:
        return self.number < Trust(other).number

    def __le__(self, other: str) -> bool:
        return self.number <= Trust(other).number

    def __gt__(self, other: str) -> bool:
        return self.number > Trust(other).number

    def __ge__(self, other: str) -> bool:
        return self.number >= Trust(other).number


class ByteSource(Protocol):
    """A payload that is read once, in pieces, such as an open binary file."""

    def read(self, size: int, /) -> bytes: ...


@value
class Draft:
    """An event as its writer hands it in; the log adds place, time of ingest and hashes.

    Attributes:
        kind: what happened.
        content: its exact bytes, or a source to stream them from.
        media: media type of the content.
        meta: small facts about it (``call_id``, ``tool``, ``model``, ``role`` ...), JSON values.
        envelope: how to put the source record together again (see `record`); empty for none.
        part: 0, or k for the k-th further event of the same source record.
        agent: who spoke or acted, as shown to people; empty if unknown.
        origin: where the words come from: ``user``, ``agent``, ``tool:bash``, ``mail`` ...
        trust: how far they may be believed.
        time: when it happened, if known; None is kept as unknown.
        id: 26-character id; None lets the log make one.
        turn: None counts user messages; a number places it.
    """

    kind: Kind
    content: bytes | ByteSource
    media: str = "text/plain"
    meta: Mapping[str, Any] = field(default_factory=dict)
    envelope: bytes = b""
    part: int = 0
    agent: str = ""
    origin: str = ""
    trust: Trust = Trust.UNTRUSTED
    time: Moment | None = None
    id: str | None = None
    turn: int | None = None


@value
class Artifact:
    """A payload kept out of line.

    Attributes:
        digest: SHA-256 of the bytes, 32 bytes; its address within the namespace.
        size_bytes: of the payload as it came.
        preview: head, tail and lines with errors; UTF-8.
    """

    digest: bytes
    size_bytes: int
    preview: bytes


@value
class Event:
    """One event as the log holds it.

    ``content`` is None when the payload is an artifact (then ``artifact`` says
    which) or was erased (then ``erased`` is true and meta, envelope and artifact
    are empty). ``unchecked`` says why the header could not be checked when it was
    read; it is empty when it was, and such an event is never of a trust above untrusted.
    """

    position: int
    id: str
    namespace: str
    session: str
    sequence: int
    part: int
    turn: int
    kind: Kind
    agent: str
    origin: str
    trust: Trust
    time: Moment | None
    ingested: Moment
    media: str
    meta: Mapping[str, Any]
    envelope: bytes
    content: bytes | None
    artifact: Artifact | None
    erased: bool
    commitment: bytes
    chain: bytes
    unchecked: str = ""

    def __repr__(self) -> str:
        session = self.session if len(self.session) <= 24 else f"{self.session[:21]}..."
        head = f"Event({self.position}, {self.kind}, {self.pointer}, {session!r}, "
        return f"{head}{'erased' if self.erased else cut(repr(self.text[:120]), 119 - len(head))})"

    @property
    def pointer(self) -> str:
        """The event's address."""
        return f"fh:{self.id}"

    @property
    def size_bytes(self) -> int:
        """Size of the payload, wherever it is kept; 0 when erased."""
        if self.artifact is not None:
            return self.artifact.size_bytes
        return len(self.content or b"")

    @property
    def is_searchable(self) -> bool:
        """False for what only repeats other events, where recall finds those, and for parts of a prompt."""
        meta = self.meta
        is_copy = meta.get(INJECTED) is True or meta.get(REPEATS) is True
        return not (self.kind in UNSEARCHABLE or is_copy or isinstance(meta.get(PART), str))

    @property
    def text(self) -> str:
        """The content as text; an artifact gives its preview, what is not UTF-8 shows U+FFFD."""
        data = self.artifact.preview if self.artifact is not None else self.content
        return to_text(data or b"")


def to_bytes(text: str) -> bytes:
    """Encode text exactly; lone surrogates survive (`to_text` gives them back)."""
    return text.encode("utf-8", "surrogatepass")


def spellings(text: str) -> tuple[bytes, ...]:
    """Give the ways in which a text stands in bytes: as it is, and inside of JSON."""
    spelled = (text, json.dumps(text, ensure_ascii=False)[1:-1], json.dumps(text)[1:-1])
    return tuple(dict.fromkeys(_bytes_typed(form) for form in spelled))


def _bytes_typed(text: str) -> bytes:
    """Encode text as a terminal gave it; other lone surrogates than a terminal's survive."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return to_bytes(text)


def texts(values: object) -> list[str]:
    """Give the texts of a list in an event's meta or content, in order; none of anything else."""
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []


def to_text(data: bytes) -> str:
    """Decode bytes for reading; what is not text shows as U+FFFD."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass  # it may hold lone surrogates: the next way reads them
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


# ids ---------------------------------------------------------------------------------------------


def id_text(raw: bytes) -> str:
    """Write 16 id bytes as 26 characters that sort the same way."""
    number = int.from_bytes(raw, "big")
    return "".join([_PAIRS[number >> shift & 1023] for shift in range(120, -1, -10)])


def id_bytes(text: str) -> bytes:
    """Read a 26-character id.

    Raises:
        InvalidDraft: it is not one.
    """
    try:
        number = int(text.translate(_TO_DIGITS), 32) if len(text) == 26 and text.isascii() else -1
    except (ValueError, TypeError, AttributeError):
        number = -1
    if not 0 <= number < 1 << 128:
        raise InvalidDraft(f"an event id is 26 characters of {_ALPHABET}, starting with 0 to 7; got {str(text)[:40]!r}")
    return number.to_bytes(16, "big")


class IdMaker:
    """Makes ids that sort by time and never run backwards within one maker (total-recall 9.2).

    48 bits of milliseconds, then 80 random bits; within one millisecond, or while
    the clock stands or runs backwards, the random part counts up. Safe to share
    between threads.
    """

    def __init__(self, clock_ms: Callable[[], int] | None = None) -> None:
        self._clock_ms = clock_ms or (lambda: time.time_ns() // 1_000_000)
        self._lock = threading.Lock()
        self._last = 0
        self._pid = os.getpid()

    def __call__(self) -> str:
        fresh = (self._clock_ms() & (1 << 48) - 1) << 80 | int.from_bytes(os.urandom(10), "big") >> 1
        with self._lock:
            if self._pid != os.getpid():  # a forked child must not count on from its parent's last id
                self._pid, self._last = os.getpid(), 0
            ahead = fresh >> 80 > self._last >> 80
            self._last = fresh if ahead else self._last + 1
            return id_text(self._last.to_bytes(16, "big"))


def derived_id(moment: Moment | None, *key: bytes) -> str:
    """Make the id that the same key always gets, so that a second import is a retry.

    The time part is the event's own time (zero when unknown or before 1970), the
    rest a hash of the key.
    """
    named = b"".join(struct.pack("<Q", len(field_bytes)) + field_bytes for field_bytes in key)
    milliseconds = max(0, moment.milliseconds) if moment is not None else 0
    return id_text((milliseconds & (1 << 48) - 1).to_bytes(6, "big") + sha256(named).digest()[:10])


# canonical bytes ---------------------------------------------------------------------------------

_U32 = struct.Struct("<I")
_U64 = struct.Struct("<Q")
_HEADER = struct.Struct("<16sQIIBBqhqh")
_NO_TIME = -(1 << 63)
INLINE, OUT_OF_LINE = 0, 1
_ARTIFACT_BYTES_MIN = 40  # digest and size


def encode_body(media: bytes, meta: bytes, envelope: bytes, payload: bytes | Artifact) -> bytes:
    """Lay a body out: a tag, then four length-prefixed fields. The inverse is `decode_body`."""
    if isinstance(payload, Artifact):
        tag, last = OUT_OF_LINE, payload.digest + _U64.pack(payload.size_bytes) + payload.preview
    else:
        tag, last = INLINE, payload
    return b"".join(
        (bytes((tag,)), _U32.pack(len(media)), media, _U32.pack(len(meta)), meta,
         _U64.pack(len(envelope)), envelope, _U64.pack(len(last)), last)
    )  # fmt: skip


@value
class Body:
    """The four fields of an event's body, as bytes."""

    media: bytes
    meta: bytes
    envelope: bytes
    payload: bytes | Artifact


def decode_body(data: bytes) -> Body:
    """Take a body apart.

    Raises:
        ValueError: the bytes are not a body.
    """
    try:
        tag, at = data[0], 1
        fields: list[bytes] = []
        for prefix in (_U32, _U32, _U64, _U64):
            (length,) = prefix.unpack_from(data, at)
            at += prefix.size
            fields.append(data[at : at + length])
            at += length
        if at != len(data) or tag not in (INLINE, OUT_OF_LINE):
            raise ValueError("lengths do not add up")
    except (IndexError, struct.error) as error:
        raise ValueError("not an event body") from error
    media, meta, envelope, last = fields
    if tag == INLINE:
        return Body(media, meta, envelope, last)
    if len(last) < _ARTIFACT_BYTES_MIN:
        raise ValueError("not an event body: its artifact is cut off")
    return Body(media, meta, envelope, Artifact(last[:32], _U64.unpack_from(last, 32)[0], last[40:]))


def commit_to(salt: bytes, body: bytes) -> bytes:
    """Commit to a body: 32 bytes that say nothing of it once salt and body are destroyed."""
    return sha256(b"firsthand commitment 1\0" + salt + body).digest()


def genesis(namespace: str, session: str) -> bytes:
    """The link before a session's first event."""
    names = namespace.encode(), session.encode()
    return sha256(b"firsthand session 1\0" + _sized(names[0]) + _sized(names[1])).digest()


def link(previous: bytes, event: Header, commitment: bytes) -> bytes:
    """Chain one event to the one before it in its session."""
    return sha256(b"firsthand chain 1\0" + previous + event.canonical() + commitment).digest()


def roll(previous: bytes, position: int, chain: bytes) -> bytes:
    """Carry a namespace's head over one more event: every position, in order."""
    return sha256(b"firsthand store 1\0" + previous + _U64.pack(position) + chain).digest()


@value
class Header:
    """All of an event that stays when its body is erased, except position and hashes."""

    id: bytes
    sequence: int
    turn: int
    part: int
    kind: int
    trust: int
    time: Moment | None
    ingested: Moment
    agent: str
    origin: str

    def canonical(self) -> bytes:
        moment = self.time
        fixed = _HEADER.pack(
            self.id, self.sequence, self.turn, self.part, self.kind, self.trust,
            _NO_TIME if moment is None else moment.microseconds, 0 if moment is None else moment.offset_minutes,
            self.ingested.microseconds, self.ingested.offset_minutes,
        )  # fmt: skip
        return fixed + _sized(self.agent.encode()) + _sized(self.origin.encode())


def _sized(data: bytes) -> bytes:
    return _U32.pack(len(data)) + data
