"""A decision as an event of the log: what is written, and what is read as one.

The invariant: reading what was written gives the decision again; what another program, an
import or an older edition wrote is read as far as it is a decision, and decides nothing else.
"""

from __future__ import annotations

import json
from typing import Any

from firsthand import moment
from firsthand.errors import InvalidArgument
from firsthand.event import Draft, Event, Kind, Trust, texts
from firsthand.ledger.decisions import Decision, State, checked
from firsthand.notes.sources import SOURCES

MEDIA = "application/vnd.firsthand.decision+json"
_NAMES = ("action", "key", "target", "by_fact", "reason", "by", "undoes")
_PROPOSED = ("text", "session", "state", "why")
_AT_ONCE, _PROPOSAL = 1, 2
"""The form; an edition that knows no proposals passes the second one over."""
_OLD_WORDS = {"tombstone": "retract"}


def draft_of(decision: Decision) -> Draft:
    """Write a decision as it goes into the log."""
    is_proposal = bool(decision.session) or decision.state is not State.IN_FORCE
    fields: dict[str, Any] = {"decision": _PROPOSAL if is_proposal else _AT_ONCE}
    fields |= {name: getattr(decision, name) for name in (*_NAMES, "through")}
    fields |= {name: str(value) for name in _PROPOSED if (value := getattr(decision, name))}
    fields |= {"quotes": list(decision.quotes)} if decision.quotes else {}
    content = json.dumps(fields, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return Draft(
        Kind.LEDGER, content, MEDIA, {SOURCES: list(decision.sources)}, origin="firsthand", trust=Trust.TRUSTED,
        time=decision.time or moment.now(), id=decision.id,
    )  # fmt: skip


def from_event(event: Event) -> Decision | None:
    """Read a decision; None for what was erased, or is another program's."""
    if event.erased or event.media != MEDIA or event.trust is not Trust.TRUSTED:  # an import decides nothing
        return None
    try:
        fields = json.loads(event.text)
        names = [fields[name] for name in _NAMES] + [fields.get(name, "") for name in _PROPOSED]
        if fields["decision"] not in (_AT_ONCE, _PROPOSAL) or not all(isinstance(name, str) for name in names):
            return None
        action, key, target, by_fact, reason, by, undoes, text, session, state, why = names
        return checked(Decision(
            event.id, _OLD_WORDS.get(action, action), key, target, by_fact, reason,
            tuple(texts(event.meta.get(SOURCES))), by, int(fields["through"]), undoes, event.position, event.time,
            text, tuple(texts(fields.get("quotes"))), session, State(state or State.IN_FORCE), why,
        ))  # fmt: skip
    except (ValueError, KeyError, TypeError, RecursionError, InvalidArgument):
        return None  # `firsthand session append --kind ledger` takes any text
