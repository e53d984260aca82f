"""The pages of the store itself: health with its stages, and erasure with its proof."""

from __future__ import annotations

from itertools import islice
from typing import Any

from firsthand import environment
from firsthand.agents import health_line
from firsthand.agents.installation import installed
from firsthand.answer import Query, Scope
from firsthand.errors import InvalidArgument
from firsthand.event import Event, Kind
from firsthand.health import canary
from firsthand.health.doctor import Look, examine
from firsthand.health.erasure import drawn, proof_of, whole_records
from firsthand.health.report import Severity, Stage
from firsthand.ledger.ledger_recall import recall
from firsthand.pointer import parse
from firsthand.server.inspector import texts
from firsthand.server.inspector.page import Asked, Page, Place
from firsthand.server.inspector.session_pages import store_bytes
from firsthand.space import Space

LOOKS_SHOWN = 24
LISTED_MAX = 100
FOUND_MAX = 200
ERASURES_SHOWN = 50
_CONFIRM = "expected the number of events, {}, typed to confirm; got {!r}. Nothing was erased"


# health ----------------------------------------------------------------------------------------------


def health(place: Place, asked: Asked) -> Page:  # noqa: ARG001 - the shape of a page
    """Look at each stage of an event's way; nothing is written, and no canary sent."""
    space = place.memory
    home = environment.home()
    places = installed(home, home, environment.host_folders())
    look = Look(canary=False, keep=False, measures=False, installed=places, cwd=str(home))
    report = examine(space.path, namespace=space.namespace, look=look)
    worst = dict.fromkeys(report.looked_at, Severity.NOTE)
    for finding in reversed(report.findings):
        worst[finding.stage] = finding.severity
    stages = [{"name": stage, "state": worst.get(stage)} for stage in Stage]
    looks = [
        {name: earlier.get(name) for name in ("time", "severity", "stages")}
        for earlier in health_line.looks(space.path)[-LOOKS_SHOWN:]
    ]
    fields: dict[str, Any] = {
        "report": report, "stages": stages, "looks": looks[::-1], "bytes": store_bytes(space.path),
        "sessions": len(space.sessions()), "head": space.head(),
        "canaries": canary.silent(space.path), "verified": None,
    }  # fmt: skip
    return Page("health.html", "Health", fields)


def verify(place: Place, asked: Asked) -> Page:
    """Derive every hash and chain again, and show the page of health with what came of it."""
    verified = place.memory.verify()
    page = health(place, asked)
    return Page(page.template, page.title, {**page.fields, "verified": verified})


# erasure ---------------------------------------------------------------------------------------------


def erase(place: Place, asked: Asked) -> Page:
    """Show what an erasure would take, as far as pointers, a session or words name it."""
    pointers, session, words = asked.text("pointers"), asked.text("session"), asked.text("words")
    going = _going(place.memory, pointers, session, words)
    past = place.memory.events(kind=Kind.ERASURE, newest_first=True, limit=ERASURES_SHOWN)
    fields: dict[str, Any] = {
        "pointers": pointers, "session": session, "words": words, "number": len(going), "proof": place.form,
        "going": [_line(event) for event in going[:LISTED_MAX]], "bytes": sum(event.size_bytes for event in going),
        "artifacts": sum(event.artifact is not None for event in going), "done": None,
        "asked_for": bool(pointers or session or words),
        "past": [_line(event) for event in past],
    }  # fmt: skip
    return Page("erase.html", "Erase", fields)


def erase_now(place: Place, asked: Asked) -> Page:
    """Erase what was shown, when its number was typed, and prove that it is gone.

    Raises:
        InvalidArgument: another number was typed, or something else would go now.
    """
    pointers, session, words = asked.text("pointers"), asked.text("session"), asked.text("words")
    reason, typed = asked.text("reason"), asked.text("count").replace(",", "").strip()
    going = _going(place.memory, pointers, session, words)
    if not going or typed != str(len(going)):
        raise InvalidArgument(_CONFIRM.format(f"{len(going):,}", typed))
    strings = drawn(place.memory, going)
    erasure = place.memory.erase([event.pointer for event in going], reason=reason, containing=words)
    proved = proof_of(place.memory, erasure.erased, strings)
    page = erase(place, Asked({}))
    return Page(page.template, page.title, {**page.fields, "done": erasure, "proved": proved})


def _going(space: Space, pointers: str, session: str, words: str) -> list[Event]:
    """Give the events that would go, whole records, in order; words are looked for by recall, exactly."""
    named: dict[int, Event] = {}
    for text in pointers.split():
        address = parse(text)
        first = space.event(address)
        last = space.event(f"fh:{address.last}") if address.last is not None else first
        span = space.events(first.session, after=first.position - 1, before=last.position + 1)
        named |= {event.position: event for event in span}
    if session:
        named |= {event.position: event for event in islice(space.events(session), 10_000)}
    if words:
        hits = recall(space, Query(words, Scope(), hits_max=FOUND_MAX, budget_tokens_max=200_000)).hits
        exact = (hit for hit in hits if words in hit.exact or words in hit.preview)
        named |= {event.position: event for hit in exact for event in map(space.event, (hit.pointer, *hit.copies))}
    return whole_records(space, [event for _, event in sorted(named.items())])


def _line(event: Event) -> dict[str, Any]:
    return {
        "pointer": event.pointer, "class": texts.kind_class(event.kind), "kind": texts.kind_name(event.kind),
        "time": event.time, "bytes": event.size_bytes, "session": event.session, "line": texts.first_line(event.text),
    }  # fmt: skip
