"""Mails: one file a message, a Maildir, an mbox; and the Enron-Spam files that keep only the subject line.

The content of a mail is its exact bytes where a person can read them. Where they
are encoded (base64, quoted-printable, several parts, encoded headers) it is a
reading form, headers and text decoded, and ``meta.decoded`` says so; attachments
are events of their own. The exact bytes are the source record either way.

A folder is one session: mails of one folder follow each other, and threads cross.
"""

from __future__ import annotations

import email
import email.header
import email.message
import email.utils
import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from firsthand.errors import SourceRejected
from firsthand.event import Draft, Kind, to_bytes
from firsthand.formats.fields import picked, to_name
from firsthand.hosts.lines import LINE_BYTES_MAX, Line, kept, split
from firsthand.hosts.transcript import HEAD_BYTES, Place, Reading, Source
from firsthand.moment import Moment, parse
from firsthand.record import Record, make, whole

MAIL_BYTES_MAX = LINE_BYTES_MAX
ATTACHMENTS_MAX = 1_000
ADDRESSES_MAX = 1_000  # characters of an address list in meta; the whole list is in the content
_ENRON = re.compile(r"\d+\.(\d{4}-\d\d-\d\d)\.[^/]*\.txt\Z")
_HEADER = re.compile(rb"([!-9;-~]+):")
_BETWEEN = re.compile(rb"From (?:[^\n]*\d:\d\d[^\n]*)?\r?\n")
_HEADERS_END = re.compile(rb"\r?\n\r?\n")
_KNOWN = frozenset({
    b"from", b"to", b"subject", b"date", b"message-id", b"received", b"return-path", b"mime-version",
    b"delivered-to", b"content-type", b"reply-to", b"sender", b"x-mailer",
})  # fmt: skip
_IDENTITY_ENCODINGS = frozenset({"", "7bit", "8bit", "binary"})


class Mail:
    """The host of files that hold one mail."""

    name = "mail"
    places: tuple[Place, ...] = ()
    resumable = False
    spans_sessions = True

    def recognises(self, path: str, head: bytes) -> bool:
        place = PurePosixPath(path)
        if _ENRON.match(place.name):
            return head.startswith(b"Subject:")
        known = _known_headers(head)
        return known >= 3 or (known >= 1 and (place.suffix == ".eml" or place.parent.name in ("cur", "new")))

    def session(self, path: str, head: bytes) -> str:  # noqa: ARG002 (the port's shape)
        folder = PurePosixPath(path).parent
        return to_name(folder.parent.name if folder.name in ("cur", "new") else folder.name) or "mail"

    def read(self, pieces: Iterable[bytes], source: Source) -> Iterator[Reading]:
        data = bytearray()
        for piece in pieces:
            data += piece
            if len(data) > MAIL_BYTES_MAX:
                raise SourceRejected(
                    f"a mail has at most {MAIL_BYTES_MAX:,} bytes; {source.path} has more. "
                    "If it is an mbox, its first line must begin with 'From '"
                )
        if data:
            name = PurePosixPath(source.path).name
            enron = _ENRON.match(name)
            yield Reading(_enron(bytes(data), name, enron[1]) if enron else _record(bytes(data), b""), 0, 1)


class Mbox:
    """The host of mbox files, a mail after the other, each under a line ``From ...``."""

    name = "mail"
    places: tuple[Place, ...] = ()
    resumable = False  # nothing says that the last mail is whole: its end is the next one's beginning
    spans_sessions = True

    def recognises(self, path: str, head: bytes) -> bool:  # noqa: ARG002 (the port's shape)
        first = _BETWEEN.match(head)
        return first is not None and _known_headers(head[first.end() :]) >= 1

    def session(self, path: str, head: bytes) -> str:  # noqa: ARG002 (the port's shape)
        return to_name(PurePosixPath(path).name.removesuffix(".mbox")) or "mail"

    def read(self, pieces: Iterable[bytes], source: Source) -> Iterator[Reading]:
        waiting: list[Line] = []
        size = 0
        blank = True
        for line in split(pieces):
            begins = blank and _BETWEEN.match(line.raw) is not None
            if waiting and (begins or size + len(line.raw) > MAIL_BYTES_MAX):
                yield _reading(
                    waiting, fault="" if begins else f"a mail over {MAIL_BYTES_MAX:,} bytes is kept in pieces"
                )
                waiting, size = [], 0
            waiting.append(line)
            size += len(line.raw)
            blank = not line.raw.strip(b"\r\n")
        if waiting:
            yield _reading(waiting, torn=not (source.final or blank))


def _reading(waiting: list[Line], *, fault: str = "", torn: bool = False) -> Reading:
    """Make one mail of its lines; the last of a file is torn unless an empty line ends it."""
    raw = b"".join(line.raw for line in waiting)
    first = _BETWEEN.match(raw)
    if first is None:
        fault = fault or "expected a line 'From ...' before a mail"
    record = kept(raw, Mbox.name, fault) if fault or first is None else _record(raw, raw[: first.end()])
    return Reading(record, waiting[0].offset_bytes, waiting[0].number, torn)


def _known_headers(head: bytes) -> int:
    """Count the well-known headers that a mail begins with; 0 when it does not begin with headers."""
    known: set[bytes] = set()
    lines = head.split(b"\n")
    for line in lines[:-1] if len(head) >= HEAD_BYTES else lines:  # a cut head cuts its last line
        if not line.strip(b"\r"):
            break
        match = _HEADER.match(line)
        if match is not None:
            known.add(match[1].lower())
        elif line[:1] not in (b" ", b"\t"):
            return 0
    return len(known & _KNOWN)


def _enron(raw: bytes, name: str, day: str) -> Record:
    """Make the record of a mail of which only subject and text are left."""
    subject = raw.split(b"\n", 1)[0].removeprefix(b"Subject:").strip().decode("utf-8", "replace")
    meta = picked({}, subject=subject, date=day, file=name)
    identity = to_bytes(name) + b"\0" + raw  # equal texts were sent on different days
    return whole(raw, Draft(Kind.DOCUMENT, b"", meta=meta, origin="mail", time=parse(day)), identity=identity)


def _record(raw: bytes, between: bytes) -> Record:
    body = raw[len(between) :]
    identity = hashlib.sha256(body.rstrip(b"\r\n")).digest()
    try:
        drafts = _drafts(body)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        # The standard library's parser fails in many ways on hostile mails; the mail is kept and reported.
        return kept(raw, Mail.name, f"a mail that cannot be taken apart: {type(error).__name__}: {error}")
    return make(raw, drafts, identity=identity)


def _drafts(body: bytes) -> list[Draft]:
    message = email.message_from_bytes(body)
    headers = {name: _header(message, name) for name in ("subject", "from", "to", "cc", "date")}
    meta = picked({}, **{name: value[:ADDRESSES_MAX] for name, value in headers.items()})
    meta |= picked({}, message_id=_header(message, "message-id"), in_reply_to=_header(message, "in-reply-to"))
    time = _time(headers["date"])
    agent = to_name(headers["from"])
    files = [part for part in message.walk() if _is_file(part)] if message.is_multipart() else []
    plain = _is_plain(message, body)
    if not plain:
        meta["decoded"] = True
    if files:
        meta["attachments"] = len(files)
    content = body if plain else to_bytes(_reading_form(message, headers))
    drafts = [Draft(Kind.DOCUMENT, content, meta=meta, agent=agent, origin="mail", time=time)]
    for part in files[:ATTACHMENTS_MAX]:
        about = picked({}, filename=part.get_filename(), content_id=_header(part, "content-id"))
        media = to_name(part.get_content_type()) or "application/octet-stream"
        drafts.append(Draft(Kind.ATTACHMENT, _payload(part), media, about, agent=agent, origin="mail", time=time))
    return drafts


def _is_plain(message: email.message.Message, body: bytes) -> bool:
    """Say whether a person can read the mail as it is written."""
    if message.is_multipart() or message.get_content_maintype() != "text" or b"=?" in _HEADERS_END.split(body, 1)[0]:
        return False
    if str(message.get("content-transfer-encoding", "")).strip().lower() not in _IDENTITY_ENCODINGS:
        return False
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _is_file(part: email.message.Message) -> bool:
    if part.is_multipart():
        return False
    return part.get_content_maintype() != "text" or part.get_content_disposition() == "attachment"


def _reading_form(message: email.message.Message, headers: dict[str, str]) -> str:
    """Write the mail for reading: the headers that matter, then its text; HTML only where there is no other."""
    parts = [part for part in message.walk() if not part.is_multipart() and not _is_file(part)]
    plain = [part for part in parts if part.get_content_subtype() == "plain"]
    head = "".join(f"{name.capitalize()}: {value}\n" for name, value in headers.items() if value)
    return head + "\n" + "\n".join(_text(part) for part in plain or parts)


def _text(part: email.message.Message) -> str:
    data = _payload(part)
    charset = part.get_content_charset("utf-8")
    for name in (charset, "utf-8"):
        try:
            return data.decode(name)
        except (LookupError, UnicodeDecodeError):
            continue
    return data.decode("latin-1")  # every byte is a sign there; the exact bytes are the source record


def _payload(part: email.message.Message) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _header(message: email.message.Message, name: str) -> str:
    """Read a header on one line, encoded words decoded."""
    value = message.get(name)
    if value is None:
        return ""
    words: list[str] = []
    for piece, charset in email.header.decode_header(value):
        if isinstance(piece, str):
            words.append(piece)
            continue
        try:
            words.append(piece.decode(charset or "utf-8"))
        except (LookupError, UnicodeDecodeError):
            words.append(piece.decode("latin-1"))
    return " ".join("".join(words).split())


def _time(date: str) -> Moment | None:
    try:
        return parse(email.utils.parsedate_to_datetime(date).isoformat()) if date else None
    except (ValueError, TypeError, IndexError):
        return None  # no time; the header is in the content
