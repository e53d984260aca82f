"""The pages of the store itself: health with its stages, and erasure with its proof."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Any

from firsthand import environment
from firsthand.agents import health_line
from firsthand.agents.side_files import files_holding
from firsthand.answer import Query, Scope
from firsthand.errors import InvalidArgument
from firsthand.event import Event, Kind
from firsthand.health import canary, doctor, surroundings
from firsthand.health.proof import drawn, proof_of, whole_records
from firsthand.health.report import HealthReport, Severity, Stage
from firsthand.hosts.installation import installed
from firsthand.ledger.ledger_recall import recall
from firsthand.moment import parse as parse_time
from firsthand.pointer import parse
from firsthand.server.inspector import texts
from firsthand.server.inspector.page import Asked, Page, Place
from firsthand.server.inspector.session_pages import store_bytes
from firsthand.space import Space

LOOKS, STRIP_CELLS = 13, 48
BAD = (Severity.BROKEN, Severity.DEGRADED)
DAY_US = 86_400 * 1_000_000
FIGURES = {
    Stage.STORE: ("free on the disk",), Stage.HOOKS: ("fired",), Stage.LOG: ("events", "last event"),
    Stage.INDEX: ("text index",), Stage.VECTORS: ("vectors by",),
}  # fmt: skip
"""Which figures of a look belong to which stage, by how their names begin."""
REACHED = re.compile(r"through ([\d,]+) of ([\d,]+)")
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
    look = surroundings.Look(canary=False, keep=False, measures=False, installed=places, cwd=str(home))
    report = doctor.examine(space.path, namespace=space.namespace, look=look)
    worst = dict.fromkeys(report.looked_at, Severity.NOTE)
    for finding in reversed(report.findings):
        worst[finding.stage] = finding.severity
    looks = health_line.looks(space.path)
    stages = [_stage(place, stage, worst.get(stage), report, looks) for stage in Stage]
    sent = [each for each in canary.kept(space.path) if _ago_us(place, each.time) < DAY_US]
    fields: dict[str, Any] = {
        "report": report, "stages": sorted(stages, key=lambda stage: stage["order"]), "bytes": store_bytes(space.path),
        "sessions": len(space.sessions()), "head": space.head(), "position": space.position, "cells": STRIP_CELLS,
        "looks": [
            {"time": parse_time(each["time"]), "severity": each.get("severity"), "stages": each.get("stages")}
            for each in looks[:-LOOKS:-1]
        ],
        "canaries": canary.silent(space.path), "sent": len(sent), "lost": sum(bool(each.lost) for each in sent),
        "verified": place.memo.get(("verified",)), "verifying": None,
    }  # fmt: skip
    return Page("health.html", "Health", fields)


def _stage(
    place: Place, stage: Stage, state: Severity | None, report: HealthReport, looks: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Give a stage with its state, when it was last seen well, its figures, and its strip of the last day."""
    cells = [""] * STRIP_CELLS
    well = str(report.time) if state is Severity.NOTE else ""
    for look in looks:  # the oldest first
        is_bad = str(stage) in (look.get("stages") or ())
        ago = _ago_us(place, look["time"])
        if 0 <= ago < DAY_US:
            cell = STRIP_CELLS - 1 - ago * STRIP_CELLS // DAY_US
            bad = "f" if look.get("severity") == Severity.BROKEN else "c"
            cells[cell] = bad if is_bad else cells[cell] or "k"
        well = well if is_bad or state is Severity.NOTE else look["time"]
    figures = {name: figure for name, figure in report.figures.items() if name.startswith(FIGURES.get(stage, ("\0",)))}
    reached = next((REACHED.search(figure) for figure in figures.values() if REACHED.search(figure)), None)
    behind = int(reached[2].replace(",", "")) - int(reached[1].replace(",", "")) if reached else None
    missed = None
    if reached and behind and state in BAD:
        missed = next(place.memory.events(after=int(reached[1].replace(",", "")), limit=1), None)
    return {
        "name": str(stage), "state": state, "well": parse_time(well), "figures": figures, "behind": behind,
        "cells": "".join(cell or "-" for cell in cells), "missed": missed.pointer if missed is not None else "",
        "order": BAD.index(state) if state in BAD else len(BAD),
    }  # fmt: skip


def _ago_us(place: Place, time: str) -> int:
    moment = parse_time(time)
    return place.now.microseconds - moment.microseconds if moment is not None else DAY_US


def verify(place: Place, asked: Asked) -> Page:
    """Derive every hash and chain again, and show the page of health with what came of it."""
    verified = place.memory.verify()
    place.memo["verified",] = {"time": place.now, "position": place.memory.position, "ok": verified.ok}
    page = health(place, asked)
    return Page(page.template, page.title, {**page.fields, "verifying": verified})


# erasure ---------------------------------------------------------------------------------------------


def erase(place: Place, asked: Asked) -> Page:
    """Show what an erasure would take, as far as pointers, a session or words name it."""
    pointers, session, words = asked.text("pointers"), asked.text("session"), asked.text("words")
    going = _going(place.memory, pointers, session, words)
    fields: dict[str, Any] = {
        "pointers": pointers, "session": session, "words": words, "number": len(going), "proof": place.form,
        "going": [place.line(event) for event in going[:LISTED_MAX]], "bytes": sum(event.size_bytes for event in going),
        "artifacts": sum(event.artifact is not None for event in going), "done": None,
        "asked_for": bool(pointers or session or words),
        "past": [place.line(event) for event in place.newest(Kind.ERASURE, ERASURES_SHOWN)],
        "kinds": Counter(texts.kind_name(event.kind) for event in going),
        "touched": len({event.session for event in going}),
        "vectors": [vector.embedder for vector in place.memory.vectors()],
        "calls": len(files_holding(place.memory.path, words)) if words else 0,
    }  # fmt: skip
    return Page("erase.html", "Erase", fields)


def erase_now(place: Place, asked: Asked) -> Page:
    """Erase what was shown and prove that it is gone; where another number was typed, nothing is erased."""
    pointers, session, words = asked.text("pointers"), asked.text("session"), asked.text("words")
    reason, typed = asked.text("reason"), asked.text("count").replace(",", "").strip()
    going = _going(place.memory, pointers, session, words)
    if not going or typed != str(len(going)):
        raise InvalidArgument(_CONFIRM.format(f"{len(going):,}", typed))
    strings = drawn(place.memory, going)
    erasure = place.memory.erase([event.pointer for event in going], reason=reason, containing=words)
    proved = proof_of(place.memory, erasure.erased, strings)
    page = erase(place, Asked({}))
    return Page(page.template, page.title, {**page.fields, "done": erasure, "proved": proved, "number": len(going)})


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
