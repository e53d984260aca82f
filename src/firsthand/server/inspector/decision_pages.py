"""The pages of what is decided and of what is put before an agent unasked.

The invariant: the preamble that is shown is the one that the next session would read, made by
the code that makes it; a page shows it without writing it. What a form changes is an event, or
a switch in the user's own settings.
"""

from __future__ import annotations

import json
from typing import Any

from firsthand import Memory
from firsthand.agent_space import AgentSpace, agent_names
from firsthand.agents import preamble_source, settings
from firsthand.errors import FirsthandError, InvalidArgument
from firsthand.event import Event, Kind, to_text
from firsthand.event import texts as strings
from firsthand.ledger.decision_log import ledger_of
from firsthand.ledger.decisions import Decision, State
from firsthand.ledger.facts import facts_standing
from firsthand.ledger.lineage import lineage_of
from firsthand.server.inspector import texts
from firsthand.server.inspector.page import Asked, Page, Place
from firsthand.tokens import estimate

DECISIONS_MAX, SHOWN_MAX = 200, 40
CALLS_READ_MAX = 60
UNASKED = ("preamble", "cues", "recall", "actions", "episodes")
"""The switches of what is put before an agent unasked."""


# the ledger ------------------------------------------------------------------------------------------


def ledger(place: Place, asked: Asked) -> Page:
    """Show what is decided, the newest first: what stands, what it replaced, who says so; and what waits."""
    space = place.memory
    as_of = asked.number("as_of", 0, low=0)
    at = min(as_of, space.position) or None
    log = ledger_of(space)
    decisions = log.decisions(at)
    undone = log.at(at).undone
    fields: dict[str, Any] = {
        "decisions": [_decision(place, decision, undone) for decision in reversed(decisions[-DECISIONS_MAX:])],
        "number": len(decisions), "facts": [*facts_standing(space, as_of=at)], "as_of": as_of, "proof": place.form,
        "waiting": lineage_of(space).waiting() if at is None else (), "position": space.position,
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


def _decision(place: Place, decision: Decision, undone: Any) -> dict[str, Any]:
    state = "undone" if decision.id in undone else str(decision.state)
    return {
        "id": decision.id, "pointer": decision.pointer, "action": "undo" if decision.undoes else decision.action,
        "state": state, "stands": state == State.IN_FORCE, "by": decision.by, "time": decision.time,
        "why": decision.why, "reason": decision.reason, "subject": decision.key, "text": decision.text,
        "quotes": decision.quotes, "position": decision.position, "undoes": decision.undoes,
        "old": _words(place, decision.target), "new": _words(place, decision.by_fact),
    }  # fmt: skip


def _words(place: Place, pointer: str) -> dict[str, str]:
    """Give the first words of what a decision names, or why they are not to be had."""
    if not pointer:
        return {"pointer": "", "line": ""}
    try:
        return {"pointer": pointer, "line": texts.first_line(to_text(place.memory.expand(pointer)))}
    except FirsthandError as error:
        return {"pointer": pointer, "line": f"not to be had: {error}"}


# what is volunteered ---------------------------------------------------------------------------------


def volunteered(place: Place, asked: Asked) -> Page:
    """Show what the next session of an agent would read first, and what was put before agents."""
    space = place.memory
    agents = agent_names(space)
    name = asked.text("agent") or (agents[-1] if agents else "")
    if name and name not in agents:
        raise InvalidArgument(f"expected an agent of this namespace: {', '.join(agents)[:200] or 'there is none'}")
    chosen = settings.load(space.path)
    injections = [*space.events(kind=Kind.INJECTION, newest_first=True, limit=SHOWN_MAX)]
    fields: dict[str, Any] = {
        "agents": agents, "agent": name, "next": _next(place, name, chosen) if name else None, "proof": place.form,
        "switches": [{"name": switch, "on": getattr(chosen, switch)} for switch in UNASKED],
        "file": str(settings.user_file(space.path)), "faults": chosen.faults,
        "shown": [_shown(place, injection) for injection in injections],
    }  # fmt: skip
    return Page("volunteered.html", "Volunteered", fields)


def switch(place: Place, asked: Asked) -> Page:
    """Turn a mechanism on or off in the user's settings."""
    name, on = asked.choice("switch", UNASKED), asked.choice("to", ("off", "on")) == "on"
    agent = asked.text("agent")
    settings.switch(settings.user_file(place.memory.path), name, on=on)
    return Page("", "volunteered", {"to": f"{place.base}/volunteered?agent={texts.query(agent)}"}, 303)


def not_again(place: Place, asked: Asked) -> Page:
    """Put what was shown out of what is volunteered and believed: a quarantine, which the ledger undoes."""
    lineage_of(place.memory).quarantine(
        asked.text("pointer"), reason="not again, said on the page of what is volunteered"
    )
    return Page("", "volunteered", {"to": f"{place.base}/volunteered"}, 303)


def _next(place: Place, name: str, chosen: settings.Settings) -> dict[str, Any]:
    """Give the preamble of an agent's next session; a handle of its own, so that nothing is written."""
    with Memory(place.memory.path, namespace=place.memory.namespace, read_only=True, embedder="none") as reading:
        made = preamble_source.preamble_of(AgentSpace(reading, name), tokens_max=chosen.preamble_tokens_max)
    return {
        "text": made.text, "tokens": estimate(made.text) if made.text else 0, "left_out": dict(made.left_out),
        "pointers": {part.text: part.pointers for part in made.parts}, "on": chosen.preamble,
    }  # fmt: skip


def _shown(place: Place, event: Event) -> dict[str, Any]:
    """Give one record of what was shown: where, why, its pointers with their words, and whether it was used later."""
    try:
        about = json.loads(to_text(event.content or b"{}"))
    except ValueError:
        about = {}
    pointers = strings(about.get("shown"))[:8] if isinstance(about, dict) else []
    later = place.memory.events(event.session, kind=Kind.TOOL_CALL, after=event.position, limit=CALLS_READ_MAX)
    opened = "".join(call.text for call in later if pointers)
    return {
        "pointer": event.pointer, "time": event.time or event.ingested, "session": event.session, "turn": event.turn,
        "surface": str(event.meta.get("event", "")), "source": str(event.meta.get("source", "")),
        "tokens": about.get("tokens") if isinstance(about, dict) else None,
        "pieces": [{**_words(place, pointer), "used": pointer[3:29] in opened} for pointer in pointers],
    }  # fmt: skip
