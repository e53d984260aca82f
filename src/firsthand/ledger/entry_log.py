"""Entries of derived memory in the log: each is an event of the session ``entries`` (consolidation 3.7, 7).

The invariant: entries are appended, never changed, and only with the report of the
gate that let them in. An entry stands until a newer one takes its place, until it is
quarantined (a decision of the ledger, so that it can be undone), or until an event
that it stands on is erased, which erases it. Recall does not find entries: it finds
their sources.

It does not decide what becomes an entry: that is `consolidate.gate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firsthand.errors import Unresolvable
from firsthand.event import Draft, Event, IdMaker, Kind, Trust, texts, to_bytes
from firsthand.ledger.decision_log import LINEAGE, LedgerLog
from firsthand.ledger.decisions import Decision, Ledger
from firsthand.ledger.entries import Entry, check_lineage, descendants, identity_of
from firsthand.ledger.entry_gate import GateReport
from firsthand.notes.sources import SOURCES
from firsthand.notes.writer import OURS
from firsthand.space import Space

SESSION = "entries"
MEDIA = "text/vnd.firsthand.entry"
AGENT = "agent"
"""The fact in an entry's meta that says whose facts it was made of; empty for all of the namespace."""
GATE = "rule:gate"
"""Who decides when an entry that stood fails."""
_NAMES = ("scope", "by", "basis", "report", AGENT)
TRUSTS = {str(trust): trust for trust in Trust}


class EntriesLog:
    """The entries of an agent, or of all of a namespace; make one with `entries_of`."""

    def __init__(self, space: Space, agent: str = "") -> None:
        self.space, self.agent = space, agent

    def known(self, as_of: int | None = None) -> tuple[Entry, ...]:
        """Give every entry up to a position that is not erased, in order, those that do not stand among them."""
        before = None if as_of is None else as_of + 1
        events = self.space.events(SESSION, kind=Kind.ENTRY, before=before)
        return tuple(filter(None, (from_event(one, self.agent) for one in events)))

    def standing(self, as_of: int | None = None) -> tuple[Entry, ...]:
        """Give the entries that stand: not replaced by a newer one, not quarantined, and approved where they need it.

        Raises:
            InvalidArgument: the lineage goes round in a circle.
        """
        known = self.known(as_of)
        check_lineage(known)
        ledger = LedgerLog(self.space).at(as_of)
        there = [one for one in known if not _waits(one, ledger)]  # what waits takes the place of nothing
        replaced = {name for one in there for name in one.parents}
        return tuple(one for one in there if one.id not in replaced and f"fh:{one.id}" not in ledger.held)

    def waiting(self) -> tuple[Entry, ...]:
        """Give the entries on untrusted text whose approval was undone: they wait for the user's act."""
        ledger = LedgerLog(self.space).at()
        return tuple(one for one in self.known() if _waits(one, ledger))

    def barred(self) -> frozenset[str]:
        """Give what does not come in again by itself: ids that do not stand, and the texts that the user took out.

        What the gate took out itself may come in again when it passes.
        """
        ledger = LedgerLog(self.space).at()
        known = [one for one in self.known() if not _waits(one, ledger)]  # the gate asks for the approval itself
        held = ledger.held
        standing = {one.id for one in self.standing()}
        by_rule = {GATE, LINEAGE}
        by_gate = {one.id for one in known if f"fh:{one.id}" in held and held[f"fh:{one.id}"].by in by_rule}
        out = [one for one in known if one.id not in standing and one.id not in by_gate]
        return frozenset({one.id for one in out} | {one.text for one in out if f"fh:{one.id}" in held})

    def keep(self, report: GateReport) -> tuple[Entry, ...]:
        """Append the entries that the gate let in, all or none; give those that were not there before.

        One that the gate had taken out, and lets in again, is released. That the user approved of one on untrusted text
        is a decision of the ledger, kept behind the entry: without it, or when it is undone, the entry does not stand.
        """
        there = {one.id for one in self.known()}
        checks = {one.entry.id: one.checks for one in report.judged if one.accepted}
        new = [one for one in report.view.entries if one.id in checks and one.id not in there]
        told = {
            name: [[each.name, each.right, each.tried] for each in found] for name, found in checks.items()
        }  # fmt: skip
        again = [one for one in report.view.entries if one.id in checks and one.id in there]
        self._decide("release", again, "it passes its replay again", GATE)
        if new:
            self.space.append([self._draft(one, told[one.id], report) for one in new], session=SESSION)
        approved = LedgerLog(self.space).at().approved
        let_in = [one for one in (*new, *again) if one.trust is Trust.UNTRUSTED and f"fh:{one.id}" not in approved]
        self._decide("approve", let_in, "the user lets it in although it stands on untrusted text", "user")
        return tuple(new)

    def find(self, identity: str) -> Entry:
        """Give the entry of an id, or of the only id that begins or ends so.

        Raises:
            Unresolvable: there is none, or several.
        """
        named = identity.removeprefix("fh:").upper()
        found = [one for one in self.known() if one.id.startswith(named) or one.id.endswith(named)] if named else []
        if len(found) != 1:
            raise Unresolvable(
                f"expected the id of one entry; {identity!r:.40} fits {len(found)}. see: firsthand ledger entries"
            )
        return found[0]

    def quarantine(self, identity: str, *, reason: str = "", by: str = "user") -> tuple[Decision, ...]:
        """Take an entry out, with all that came of it; what it was made of is shown again.

        Returns:
            The decisions that are new; each can be undone.

        Raises:
            Unresolvable: there is no such entry.
        """
        one = self.find(identity)
        held = LedgerLog(self.space).at().held
        going = [each for each in (one, *descendants(self.known(), one.id)) if f"fh:{each.id}" not in held]
        return self._decide("quarantine", going, reason, by)

    def release(self, identity: str, *, reason: str = "", by: str = "user") -> tuple[Decision, ...]:
        """Let one entry in again that was quarantined; what came of it stays out.

        Raises:
            Unresolvable: there is no such entry.
        """
        one = self.find(identity)
        is_held = f"fh:{one.id}" in LedgerLog(self.space).at().held
        return self._decide("release", [one] if is_held else [], reason, by)

    def _decide(self, action: Any, entries: Sequence[Entry], reason: str, by: str) -> tuple[Decision, ...]:
        ids = IdMaker()
        return LedgerLog(self.space).keep(
            Decision(ids(), action, f"entry:{one.id}", f"fh:{one.id}", reason=reason, sources=(f"fh:{one.id}",), by=by)
            for one in entries
        )

    def _draft(self, one: Entry, checks: list[list[Any]], report: GateReport) -> Draft:
        meta = {
            SOURCES: list(one.sources), "parents": list(one.parents), "version": one.version, "scope": one.scope,
            "by": one.created_by, "basis": one.basis, "trust": one.trust, "report": one.report,
            "gate": {"checks": checks, "proposal": report.proposal, "replayed": report.replayed,
                     "solver": report.solver, "theta": report.settings.theta},
            AGENT: self.agent,
        }  # fmt: skip
        trust = max(one.trust, Trust.AGENT)  # derived text is not what the user wrote
        return Draft(Kind.ENTRY, to_bytes(one.text), MEDIA, meta, origin=OURS, trust=trust, id=one.id)


def _waits(one: Entry, ledger: Ledger) -> bool:
    """Say whether an entry stands on untrusted text, and the user's word for it is not there, or was undone."""
    return one.trust is Trust.UNTRUSTED and f"fh:{one.id}" not in ledger.approved


def entries_of(space: Space, agent: str = "") -> EntriesLog:
    """Give the entries that consolidation made of an agent's facts; an empty name means the whole namespace."""
    return EntriesLog(space, agent)


def from_event(event: Event, agent: str) -> Entry | None:
    """Read an entry of an agent; None for what was erased, is another's, or has not the id of what it says."""
    if event.erased or event.media != MEDIA or event.origin != OURS:
        return None
    meta = event.meta
    version, trust = meta.get("version"), TRUSTS.get(str(meta.get("trust")))
    names = [meta.get(name) for name in _NAMES]
    if type(version) is not int or trust is None or not all(isinstance(one, str) for one in names):
        return None
    scope, by, basis, report, of = map(str, names)
    sources, parents = (tuple(texts(meta.get(name))) for name in (SOURCES, "parents"))
    gate = meta.get("gate")
    solver = str(gate.get("solver", "")) if isinstance(gate, dict) else ""
    one = Entry(event.id, event.text, sources, scope, version, parents, by, basis, trust, report, solver)
    return one if of == agent and report and identity_of(one) == event.id else None
