"""The pages that lead to the source: recall, and one event with its exact bytes."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import accumulate, pairwise
from typing import Any

from markupsafe import Markup

from firsthand.answer import Answer, Hit, Scope
from firsthand.errors import InvalidArgument
from firsthand.event import Event, Kind, to_text
from firsthand.fence import LABEL
from firsthand.moment import parse as parse_time
from firsthand.pointer import Pointer, parse
from firsthand.recall.search import query_of
from firsthand.recall.stop_words import STOP_WORDS
from firsthand.server.inspector import texts
from firsthand.server.inspector.page import Asked, Page, Place
from firsthand.tokens import estimate
from firsthand.value import replace

HITS_SHOWN = 10
CANDIDATES_MAX = 40
BUDGET_TOKENS_MAX = 4_000
LINES_MAX = 400
BYTES_MAX = 60_000
READ_BYTES_MAX = 16 << 20
"""Of a content, that is looked through for the lines of its page."""
LINES_BEFORE_MARK = 3
AROUND = 4
USES_READ_MAX, USES_MAX = 500, 20
_MARKED_CHARACTERS_MAX = 4_000
_WORD = re.compile(r"\w{3,}")


# recall ----------------------------------------------------------------------------------------------


def recall(place: Place, asked: Asked) -> Page:
    """Ask a question, and show why each hit came."""
    words = asked.text("q").strip()
    session, kinds = asked.text("session"), tuple(word for word in asked.text("kinds").split(",") if word)
    since, until = asked.text("since"), asked.text("until")
    fenced = asked.has("fenced")
    fields: dict[str, Any] = {
        "words": words, "session": session, "kinds": ",".join(kinds), "since": since, "until": until,
        "fenced": fenced, "answer": None,
    }  # fmt: skip
    if not words:
        return Page("recall.html", "Recall", fields)
    if (pointer := _pointer(words)) is not None:
        return event(place, Asked({"pointer": [pointer]}))
    query = query_of(
        words, sessions=(session,) if session else (), kinds=kinds, since=_time(since, "since"),
        until=_time(until, "until"), hits_max=CANDIDATES_MAX, budget_tokens_max=BUDGET_TOKENS_MAX,
    )  # fmt: skip
    begun = time.process_time()
    answer = place.memory.recall(query)
    took_ms = (time.process_time() - begun) * 1000
    fields |= {
        "answer": answer, "hits": [_hit(place, answer, hit) for hit in answer.hits[:HITS_SHOWN]],
        "lost": [_hit(place, answer, hit, short=True) for hit in answer.hits[HITS_SHOWN:]],
        "said": [_hit(place, answer, hit) for hit in answer.said], "took_ms": took_ms,
        "searched": place.memory.position,
        "companions": {
            hit.pointer: [_hit(place, answer, near) for near in answer.companions if near.companion_of == hit.pointer]
            for hit in answer.hits[:HITS_SHOWN]
        },
        "parts": sorted({name for hit in answer.hits for name in hit.parts}), "scoped": query.scope != Scope(),
    }  # fmt: skip
    if fenced:
        text = place.memory.fenced(answer)
        fields |= {"as_sent": text, "as_sent_tokens": estimate(text), "label": LABEL}
    return Page("recall.html", f"Recall: {words[:60]}", fields)


def _hit(place: Place, answer: Answer, hit: Hit, *, short: bool = False) -> dict[str, Any]:
    about = {
        "pointer": hit.pointer, "score": hit.score, "parts": hit.parts, "kind": texts.kind_name(hit.kind),
        "class": texts.kind_class(hit.kind), "session": hit.session, "turn": hit.turn, "time": hit.time,
        "trust": str(hit.trust), "origin": hit.origin, "bytes": hit.size_bytes, "exact": hit.exact,
        "replaces": hit.replaces, "copies": hit.copies, "preview": hit.preview,
        "line": texts.first_line(hit.preview), "claims": hit.claims,
    }  # fmt: skip
    if not short:
        about["marked"] = marked(hit.preview[:_MARKED_CHARACTERS_MAX], answer.query.text, hit.exact, place.base)
    return about


def marked(text: str, question: str, exact: tuple[str, ...], base: str) -> Markup:
    """Write a text with what it has of a question marked: words by their first signs, exact strings anywhere."""
    words = {word.casefold() for word in _WORD.findall(question)} - STOP_WORDS
    stems = tuple(word[: max(4, len(word) - 2)] for word in words) or ("\0",)
    spans = [match.span() for string in exact if string for match in re.finditer(re.escape(string), text)]
    spans += [
        match.span() for match in _WORD.finditer(text)
        if match[0].casefold().startswith(stems) and match[0].casefold() not in STOP_WORDS
    ]  # fmt: skip
    written, at = Markup(""), 0
    for start, end in sorted(spans):
        if start >= at:
            written += texts.linked(texts.finalized(text[at:start]), base)
            written += Markup("<mark>{}</mark>").format(texts.finalized(text[start:end]))
            at = end
    return written + texts.linked(texts.finalized(text[at:]), base)


def _pointer(words: str) -> str | None:
    """Give what was typed as a pointer; None where it is words."""
    text = words if words.startswith("fh:") else f"fh:{words}" if len(words) == 26 and words.isalnum() else ""
    if not text:
        return None
    parse(text)
    return text


def _time(text: str, name: str) -> Any:
    moment = parse_time(text) if text else None
    if text and moment is None:
        raise InvalidArgument(f"expected {name} as a time such as 2026-01-31 or 2026-01-31T12:00:00Z; got {text!r:.60}")
    return moment


# one event -------------------------------------------------------------------------------------------


def event(place: Place, asked: Asked) -> Page:
    """Show an event: what is known of it, its exact bytes with line numbers, and what stands around it."""
    address = _address(asked)
    space = place.memory
    source = space.event(address)
    fields: dict[str, Any] = {
        **_about(place, source, address), "event": source, "meta": dict(source.meta), "lines": [],
        "around": _around(place, source), "where": _where(place, source), "span": address.last is not None,
        "part": address.source,
    }  # fmt: skip
    chosen_line = asked.number("line", 0, low=0)
    if source.erased and address.last is None:
        return Page("event.html", f"{source.kind} erased", fields)
    whole = replace(address, unit="", start=0, end=0)
    digest, data = sha256(), bytearray()
    for piece in space.stream(whole):
        digest.update(piece)
        data += piece[: max(0, READ_BYTES_MAX - len(data))]
    marks = _marks(place, source, address, bytes(data))
    begin = min((start for start, _, style in marks if style == "hit"), default=0)
    first = chosen_line or max(1, data.count(b"\n", 0, begin) - LINES_BEFORE_MARK)
    room = texts.Room(BYTES_MAX)
    lines: list[tuple[int, list[tuple[str, str]]]] = []
    split, number = data.split(b"\n"), first
    at = sum(map(len, split[: first - 1])) + first - 1
    for line in split[first - 1 : first - 1 + LINES_MAX]:
        pieces = [(room.cut(text, lines_max=1, mask=False).text, style) for text, style in _pieces(line, at, marks)]
        if room.left < 0:
            break
        lines.append((number, pieces))
        number, at = number + 1, at + len(line) + 1
    fields |= {
        "lines": lines, "bytes": source.size_bytes if address.last is None else len(data), "sha256": digest.hexdigest(),
        "lines_all": len(split), "next": number if lines and number <= len(split) else 0,
        "cut": len(data) >= READ_BYTES_MAX, "is_text": "\ufffd" not in to_text(bytes(data[:4096])),
        "marked": f"{address.unit} {address.start:,} to {address.end:,}" if address.unit else "",
    }  # fmt: skip
    return Page("event.html", f"{source.kind} {texts.short(source.pointer)}", fields)


def source(place: Place, asked: Asked) -> Page:
    """Give what a pointer leads to in a few lines, which the script shows where the pointer stands."""
    address = _address(asked)
    event = place.memory.event(address)
    about = _about(place, event, address)
    if event.erased:
        return Page("source.html", "erased", {**about, "cut": None})
    data = bytearray()
    for piece in place.memory.stream(address):
        data += piece
        if len(data) >= BYTES_MAX:
            break
    cut = texts.Room(BYTES_MAX).cut(to_text(bytes(data)))
    return Page("source.html", texts.short(event.pointer), {**about, "cut": cut, "about": event})


def _address(asked: Asked) -> Pointer:
    text = asked.text("pointer")
    return parse(text if text.startswith("fh:") else f"fh:{text}")


def _about(place: Place, event: Event, address: Pointer) -> dict[str, Any]:
    decided = "" if event.erased else place.effect.mark(event).strip()
    return {**place.line(event), "pointer": str(address), "decided": decided}


def _marks(place: Place, event: Event, address: Pointer, data: bytes) -> list[tuple[int, int, str]]:
    """Give the bytes that a pointer names, and those that no longer hold."""
    marks = [(part.start, part.end, "out") for part in place.effect.ranges(event)] if address.last is None else []
    if not event.erased and place.effect.instead(event):
        marks = [(0, len(data), "out")]
    if address.unit == "lines":
        lengths = [0, *accumulate(len(line) + 1 for line in data.split(b"\n"))]
        ends = [lengths[min(line, len(lengths) - 1)] for line in (address.start - 1, address.end)]
        marks.append((ends[0], ends[1], "hit"))
    elif address.unit:
        marks.append((address.start, address.end, "hit"))
    return marks


def _pieces(line: bytes | bytearray, at: int, marks: Sequence[tuple[int, int, str]]) -> Iterator[tuple[str, str]]:
    """Cut a line, which begins at a byte, where a mark begins or ends: each piece with the styles that it has."""
    edges = {edge - at for start, end, _ in marks for edge in (start, end) if at < edge < at + len(line)}
    for low, high in pairwise(sorted({0, len(line), *edges}) if line else [0, 0]):
        styles = (style for start, end, style in marks if start <= at + low and at + high <= end)
        yield to_text(bytes(line[low:high])), " ".join(sorted(set(styles)))


def raw(place: Place, asked: Asked) -> Page:
    """Give the exact bytes that a pointer addresses, or those of its source record."""
    pointer = asked.text("pointer") + ("#source" if asked.has("source") else "")
    return Page("", pointer, {"data": place.memory.expand(pointer)})


def _around(place: Place, source: Event) -> list[dict[str, Any]]:
    """Give the events around one, a line each, in order."""
    space = place.memory
    before = [*space.events(source.session, before=source.position, newest_first=True, limit=AROUND)]
    after = [*space.events(source.session, after=source.position, limit=AROUND)]
    return [
        {**place.line(near), "here": near.position == source.position} for near in [*reversed(before), source, *after]
    ]


def _where(place: Place, source: Event) -> list[dict[str, Any]]:
    """Say where an event was used, as its session and the ledger tell."""
    looks: tuple[tuple[str, str | None, Kind], ...] = (
        ("volunteered", source.session, Kind.INJECTION), ("named by a compaction", source.session, Kind.RECEIPT),
        ("a decision of the ledger", None, Kind.LEDGER), ("erased by", source.session, Kind.ERASURE),
    )  # fmt: skip
    return [
        {"what": what, "pointer": later.pointer}
        for what, session, kind in looks
        for later in place.memory.events(session, kind=kind, after=source.position, limit=USES_READ_MAX)
        if source.id in to_text(later.content or b"")
    ][:USES_MAX]
