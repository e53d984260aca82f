"""The pages of what is decided and of what is put before an agent unasked.

The invariant: the preamble that is shown is the one that the next session would read, made by
the code that makes it; a page shows it without writing it. What a form changes is an event, or
a switch in the user's own settings.
"""

from __future__ import annotations

from typing import Any, cast

from firsthand import Memory
from firsthand.agent_space import AgentSpace, agent_names
from firsthand.agents import injections, preamble_source, settings, validity
from firsthand.errors import FirsthandError, InvalidArgument
from firsthand.event import Event, Kind, to_text
from firsthand.event import texts as strings
from firsthand.ledger.decision_log import ledger_of
from firsthand.ledger.decisions import Decision, State
from firsthand.ledger.facts import facts_standing
from firsthand.ledger.lineage import lineage_of
from firsthand.moment import parse as parse_time
from firsthand.pointer import find
from firsthand.server.inspector import texts
from firsthand.server.inspector.page import Asked, Page, Place
from firsthand.tokens import estimate
from firsthand.unasked.volunteer import Piece
from firsthand.window import BUDGET_TOKENS_MAX

DECISIONS_MAX, SHOWN_MAX, HELD_MAX = 100, 40, 60
CALLS_READ_MAX = 60
AROUND_QUOTE = 240
_TAKEN_OUT = {"supersede": "superseded", "retract": "retracted", "quarantine": "quarantined"}
DAY_US = 86_400 * 1_000_000
UNASKED = {
    "preamble": "what a session reads first",
    "recall": "messages of earlier sessions on a prompt",
    "cues": "names of episodes that fit a prompt",
    "actions": "a warning before a command that failed before",
    "episodes": "a summary of each session, to be found later",
}
"""The switches of what is put before an agent unasked."""


# the ledger ------------------------------------------------------------------------------------------


def ledger(place: Place, asked: Asked) -> Page:
    """Show what is decided: what waits first, then the newest; what stands, what it replaced, who says so."""
    space = place.memory
    as_of, opened = asked.text("as_of").strip(), asked.text("open")
    at = _position(place, as_of)
    log = ledger_of(space)
    decisions, undone = log.decisions(at), log.at(at).undone
    newest = sorted(decisions, key=lambda decision: (not _is_disputed(decision, undone), -decision.position))
    fields: dict[str, Any] = {
        "decisions": [_decision(place, decision, undone, decisions, opened) for decision in newest[:DECISIONS_MAX]],
        "number": len(decisions), "facts": [*facts_standing(space, as_of=at)], "as_of": as_of, "at": at,
        "waiting": [
            {"entry": entry, "out": place.effect.is_out(entry.pointer, entry.text)}
            for entry in (lineage_of(space).waiting() if at is None else ())
        ],
        "position": space.position,
        "proof": place.form, "opened": opened,
    }  # fmt: skip
    return Page("ledger.html", "Ledger", fields)


def undo(place: Place, asked: Asked) -> Page:
    """Undo a decision, as if it had never been."""
    ledger_of(place.memory).undo(asked.text("decision"), following=asked.has("following"), reason=asked.text("reason"))
    return Page("", "ledger", {"to": f"{place.base}/ledger"}, 303)


def approve(place: Place, asked: Asked) -> Page:
    """Let in what waits for the user."""
    lineage_of(place.memory).approve(asked.text("target"), reason=asked.text("reason"))
    return Page("", "ledger", {"to": f"{place.base}/ledger"}, 303)


def _position(place: Place, as_of: str) -> int | None:
    """Read what a ledger is asked for as of: a position, a time, or a day to its end; None for now."""
    if not as_of:
        return None
    if as_of.replace(",", "").isdigit() and len(as_of) < 15:
        return min(int(as_of.replace(",", "")), place.memory.position) or None
    moment = parse_time(as_of)
    if moment is None:
        raise InvalidArgument(f"expected as_of as a position, or a time such as 2026-01-31; got {as_of!r:.60}")
    end = DAY_US if len(as_of) == len("2026-01-31") else 0
    return place.memory.census().position_at(moment.microseconds + end) or 1


def _is_disputed(decision: Decision, undone: Any) -> bool:
    return decision.state not in {State.IN_FORCE, State.REFUSED} and decision.id not in undone


def _decision(place: Place, decision: Decision, undone: Any, every: Any, opened: str) -> dict[str, Any]:
    state = "undone" if decision.id in undone else str(decision.state)
    about = {
        "id": decision.id, "pointer": decision.pointer, "action": "undo" if decision.undoes else decision.action,
        "state": state, "stands": state == State.IN_FORCE, "by": decision.by, "time": decision.time,
        "why": decision.why, "reason": decision.reason, "subject": decision.key, "text": decision.text,
        "quotes": decision.quotes, "position": decision.position, "undoes": decision.undoes,
        "old": _words(place, decision.target), "new": _words(place, decision.by_fact), "opened": None,
        "out": place.effect.is_out(decision.target, "\n".join((decision.text, *decision.quotes))),
    }  # fmt: skip
    if decision.id == opened:
        named = list(dict.fromkeys(filter(None, (decision.target, decision.by_fact, *decision.sources))))
        history = (other for other in every if other.key == decision.key or other.undoes == decision.id)
        about["opened"] = {
            "sources": [_quoted(place, pointer, decision.quotes) for pointer in named[:HELD_MAX]],
            "history": [
                {"pointer": other.pointer, "action": "undo" if other.undoes else other.action, "time": other.time,
                 "by": other.by, "here": other.id == decision.id, "undone": other.id in undone}
                for other in history
            ],
        }  # fmt: skip
    return about


def _quoted(place: Place, pointer: str, quotes: tuple[str, ...]) -> dict[str, Any]:
    """Give an event that a decision rests on with the quote marked in it, and what was checked of it now."""
    try:
        event, text = place.memory.event(pointer), to_text(place.memory.expand(pointer))
    except FirsthandError as error:
        return {"pointer": pointer, "fault": str(error)}
    quote = next((quote for quote in quotes if quote in text), "")
    start = text.find(quote) if quote else 0
    return {
        **place.line(event), "pointer": pointer, "fault": "", "quote": quote,
        "before": text[max(0, start - AROUND_QUOTE) : start], "after": text[start + len(quote) :][:AROUND_QUOTE],
        "decided": place.effect.mark(event).strip(),
    }  # fmt: skip


def _words(place: Place, pointer: str) -> dict[str, Any]:
    """Give the first words of what a pointer names, or why they are not to be had."""
    if not pointer:
        return {"pointer": "", "line": "", "out": False}
    try:
        event, text = place.memory.event(pointer), to_text(place.memory.expand(pointer))
    except FirsthandError as error:
        return {"pointer": pointer, "line": f"not to be had: {error}", "out": False}
    left = place.effect.text(event) if event.pointer == pointer else event
    line = texts.first_line(left.text if left not in (None, event) else text)
    return {"pointer": pointer, "line": line, "out": left is None or place.effect.is_out(pointer, line)}


# what is volunteered ---------------------------------------------------------------------------------


def volunteered(place: Place, asked: Asked) -> Page:
    """Show what the next session of an agent would read first, what is held back, and what was put before agents."""
    space = place.memory
    agents = agent_names(space)
    name = asked.text("agent") or (agents[-1] if agents else "")
    if name and name not in agents:
        raise InvalidArgument(f"expected an agent of this namespace: {', '.join(agents)[:200] or 'there is none'}")
    chosen = settings.load(space.path)
    tokens = asked.number("tokens", chosen.preamble_tokens_max, low=1)
    tried = asked.has("try")
    ticked = {switch: asked.has(switch) for switch in UNASKED}
    on = ticked if tried else {switch: bool(getattr(chosen, switch)) for switch in UNASKED}
    fields: dict[str, Any] = {
        "agents": agents, "agent": name, "next": _next(place, name, min(tokens, BUDGET_TOKENS_MAX)) if name else None,
        "switches": [
            {"name": switch, "on": on[switch], "says": says, "saved": bool(getattr(chosen, switch))}
            for switch, says in UNASKED.items()
        ],
        "on": on["preamble"], "file": str(settings.user_file(space.path)), "faults": chosen.faults, "tokens": tokens,
        "saved_tokens": chosen.preamble_tokens_max, "held": _held(place, name) if name else [], "proof": place.form,
        "shown": [_shown(place, injection) for injection in place.newest(Kind.INJECTION, SHOWN_MAX)], "tried": tried,
    }  # fmt: skip
    return Page("volunteered.html", "Volunteered", fields)


def switch(place: Place, asked: Asked) -> Page:
    """Turn the mechanisms that a form names on, and the others off, in the user's settings."""
    agent, named = asked.text("agent"), [name for name in asked.text("on").split(",") if name]
    if unknown := [name for name in named if name not in UNASKED]:
        raise InvalidArgument(f"expected on to name some of {', '.join(UNASKED)}; got {unknown[0]!r:.60}")
    chosen = settings.load(place.memory.path)
    for name in UNASKED:
        if getattr(chosen, name) != (name in named):
            settings.switch(settings.user_file(place.memory.path), name, on=name in named)
    return Page("", "volunteered", {"to": f"{place.base}/volunteered?agent={texts.query(agent)}"}, 303)


def not_again(place: Place, asked: Asked) -> Page:
    """Put what was shown out of what is volunteered and believed: a quarantine, which the ledger undoes."""
    lineage_of(place.memory).quarantine(
        asked.text("pointer"), reason="not again, said on the page of what is volunteered"
    )
    return Page("", "volunteered", {"to": f"{place.base}/volunteered"}, 303)


def _reading(place: Place) -> Memory:
    """Open the store to read alone, so that nothing is written; what a handle reads once is read once for all."""
    memory = Memory(place.memory.path, namespace=place.memory.namespace, read_only=True, embedder="none")
    memory.read_once = cast("dict[tuple[str, str], tuple[int, Any]]", place.memo.setdefault(("read once",), {}))
    return memory


def _next(place: Place, name: str, tokens_max: int) -> dict[str, Any]:
    """Give the preamble of an agent's next session, line by line with the pointers in it."""
    try:
        with _reading(place) as reading:
            made = preamble_source.preamble_of(AgentSpace(reading, name), tokens_max=tokens_max)
    except InvalidArgument as error:  # so few tokens are asked for
        return {"text": "", "tokens": 0, "lines": [], "left_out": {}, "fault": str(error)}
    return {
        "text": made.text, "tokens": estimate(made.text) if made.text else 0, "left_out": dict(made.left_out),
        "lines": [{"text": line, "pointers": find(line)} for line in made.text.split("\n")], "fault": "",
    }  # fmt: skip


def _held(place: Place, name: str) -> list[dict[str, Any]]:
    """Say what is held back and why: what the ledger took out, whose words they are, what is masked in them."""
    held: list[dict[str, Any]] = []
    state = ledger_of(place.memory).at()
    for pointer, decision in sorted({**state.out, **state.quarantined}.items(), key=lambda pair: -pair[1].position):
        why = f"{_TAKEN_OUT.get(decision.action, decision.action)} by {decision.by}"
        held.append({"pointer": pointer, "why": why, "by": decision.pointer})
    with _reading(place) as reading:
        pieces = preamble_source.pieces_of(AgentSpace(reading, name))
        funnel = validity.funnel(reading)
        for piece in pieces:
            passed = next(iter(funnel.passed([piece])), None)
            if piece.pointers and (why := _why_held(piece, passed)):
                held.append({"pointer": piece.pointers[0], "why": why, "by": ""})
    return held[:HELD_MAX]


def _why_held(piece: Piece, passed: Piece | None) -> str:
    if passed is None:
        return "out by the ledger, or erased"
    if passed.withheld:
        return f"words of {passed.origin or 'somebody else'}: its pointer alone"
    is_masked = "[secret:" in f"{passed.words}{passed.title}" and "[secret:" not in piece.words
    return "a secret in it is masked" if is_masked else ""


def _shown(place: Place, event: Event) -> dict[str, Any]:
    """Give one record of what was shown: where, why, its pointers with their words, and whether it was used later."""
    about = injections.fields_of(event)
    pointers = strings(about.get("shown"))[:8]
    later = [
        other
        for kind in ((Kind.TOOL_CALL, Kind.AGENT_MESSAGE) if pointers else ())
        for other in place.memory.events(event.session, kind=kind, after=event.position, limit=CALLS_READ_MAX)
    ]
    return {
        "pointer": event.pointer, "time": event.time or event.ingested, "session": event.session, "turn": event.turn,
        "surface": str(event.meta.get("event", "")), "source": str(event.meta.get("source", "")),
        "tokens": about.get("tokens"), "pieces": [_piece(place, pointer, later) for pointer in pointers],
    }  # fmt: skip


def _piece(place: Place, pointer: str, later: list[Event]) -> dict[str, Any]:
    kinds = {event.kind for event in later if pointer[3:29] in event.text}
    used = "opened" if Kind.TOOL_CALL in kinds else "quoted" if kinds else ""
    try:
        return {**place.line(place.memory.event(pointer)), "used": used}
    except FirsthandError as error:
        return {"pointer": pointer, "line": f"not to be had: {error}", "used": used}
