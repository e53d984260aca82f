"""The pages that lead to the source: recall, and one event with its exact bytes."""

from __future__ import annotations

import re
import time
from hashlib import sha256
from typing import Any

from markupsafe import Markup

from firsthand.answer import Answer, Hit, Scope
from firsthand.errors import InvalidArgument
from firsthand.event import Event, Kind, to_text
from firsthand.fence import LABEL
from firsthand.moment import parse as parse_time
from firsthand.pointer import parse
from firsthand.recall.search import query_of
from firsthand.server.inspector import texts
from firsthand.server.inspector.page import Asked, Page, Place
from firsthand.tokens import estimate

HITS_SHOWN = 10
CANDIDATES_MAX = 40
BUDGET_TOKENS_MAX = 4_000
LINES_MAX = 400
BYTES_MAX = 60_000
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
        "line": texts.first_line(hit.preview),
    }  # fmt: skip
    if not short:
        about["marked"] = marked(hit.preview[:_MARKED_CHARACTERS_MAX], answer.query.text, hit.exact, place.base)
    return about


def marked(text: str, question: str, exact: tuple[str, ...], base: str) -> Markup:
    """Write a text with what it has of a question marked: words by their first signs, exact strings anywhere."""
    stems = tuple({word.casefold()[: max(4, len(word) - 2)] for word in _WORD.findall(question)})
    spans = [match.span() for string in exact if string for match in re.finditer(re.escape(string), text)]
    spans += [match.span() for match in _WORD.finditer(text) if match[0].casefold().startswith(stems)]
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
    text = asked.text("pointer")
    first_line = asked.number("line", 1, low=1)
    address = parse(text if text.startswith("fh:") else f"fh:{text}")
    space = place.memory
    source = space.event(address)
    fields: dict[str, Any] = {
        "pointer": str(address), "event": source, "kind": texts.kind_name(source.kind), "meta": dict(source.meta),
        "class": texts.kind_class(source.kind), "around": _around(place, source), "lines": [], "fault": "",
        "erasure": _erasure(place, source) if source.erased else None, "where": _where(place, source),
        "span": address.last is not None, "part": bool(address.unit or address.source), "line": first_line,
    }  # fmt: skip
    if source.erased and address.last is None:
        return Page("event.html", f"{source.kind} erased", fields)
    data = b""
    digest = sha256()
    long = 0
    for piece in space.stream(address):
        digest.update(piece)
        long += len(piece)
        if len(data) < (first_line - 1) * 200 + 8 * BYTES_MAX:
            data += piece
    lines = to_text(data).split("\n")
    room = texts.Room(BYTES_MAX)
    shown: list[tuple[int, str]] = []
    for number, line in enumerate(lines[first_line - 1 : first_line - 1 + LINES_MAX], first_line):
        cut = room.cut(line, lines_max=1, mask=False)
        if room.left < 0:
            break
        shown.append((number, cut.text))
    fields |= {
        "lines": shown, "bytes": long, "sha256": digest.hexdigest(), "lines_all": len(lines),
        "next": shown[-1][0] + 1 if shown and shown[-1][0] < len(lines) else 0, "cut": long > len(data),
        "is_text": "�" not in to_text(data[:4096]),
    }  # fmt: skip
    return Page("event.html", f"{source.kind} {texts.short(source.pointer)}", fields)


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
        {
            "pointer": near.pointer, "kind": texts.kind_name(near.kind), "class": texts.kind_class(near.kind),
            "line": "erased" if near.erased else texts.first_line(near.text, 160), "time": near.time,
            "bytes": near.size_bytes, "here": near.position == source.position, "turn": near.turn,
        }
        for near in [*reversed(before), source, *after]
    ]  # fmt: skip


def _erasure(place: Place, source: Event) -> str:
    """Give the pointer of the erasure that names an event; empty where none does any more."""
    erasures = place.memory.events(source.session, kind=Kind.ERASURE, after=source.position)
    return next((erasure.pointer for erasure in erasures if source.id in to_text(erasure.content or b"")), "")


def _where(place: Place, source: Event) -> list[dict[str, Any]]:
    """Say where an event was used, as its session and the ledger tell."""
    looks: tuple[tuple[str, str | None, Kind], ...] = (
        ("volunteered", source.session, Kind.INJECTION), ("named by a compaction", source.session, Kind.RECEIPT),
        ("a decision of the ledger", None, Kind.LEDGER),
    )  # fmt: skip
    return [
        {"what": what, "pointer": later.pointer}
        for what, session, kind in looks
        for later in place.memory.events(session, kind=kind, after=source.position, limit=USES_READ_MAX)
        if source.id in to_text(later.content or b"")
    ][:USES_MAX]
