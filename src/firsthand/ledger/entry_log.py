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
        return tuple(filter(None, (from_event(event, self.agent) for event in events)))

    def standing(self, as_of: int | None = None) -> tuple[Entry, ...]:
        """Give the entries that stand: not replaced by a newer one, not quarantined, and approved where they need it.

        Raises:
            InvalidArgument: the lineage goes round in a circle.
        """
        known = self.known(as_of)
        check_lineage(known)
        ledger = LedgerLog(self.space).at(as_of)
        there = [entry for entry in known if not _waits(entry, ledger)]  # what waits takes the place of nothing
        replaced = {name for entry in there for name in entry.parents}
        return tuple(
            entry for entry in there if entry.id not in replaced and f"fh:{entry.id}" not in ledger.quarantined
        )

    def waiting(self) -> tuple[Entry, ...]:
        """Give the entries on untrusted text whose approval was undone: they wait for the user's act."""
        ledger = LedgerLog(self.space).at()
        return tuple(entry for entry in self.known() if _waits(entry, ledger))

    def barred(self) -> frozenset[str]:
        """Give what does not come in again by itself: ids that do not stand, and the texts that the user took out.

        What the gate took out itself may come in again when it passes.
        """
        ledger = LedgerLog(self.space).at()
        known = [entry for entry in self.known() if not _waits(entry, ledger)]  # the gate asks for the approval itself
        quarantines = ledger.quarantined
        standing = {entry.id for entry in self.standing()}
        by_rule = {GATE, LINEAGE}
        by_gate = {
            entry.id
            for entry in known
            if f"fh:{entry.id}" in quarantines and quarantines[f"fh:{entry.id}"].by in by_rule
        }
        out = [entry for entry in known if entry.id not in standing and entry.id not in by_gate]
        return frozenset({entry.id for entry in out} | {entry.text for entry in out if f"fh:{entry.id}" in quarantines})

    def keep(self, report: GateReport) -> tuple[Entry, ...]:
        """Append the entries that the gate let in, all or none; give those that were not there before.

        One that the gate had taken out, and lets in again, is released. That the user approved of one on untrusted text
        is a decision of the ledger, kept behind the entry: without it, or when it is undone, the entry does not stand.
        """
        there = {entry.id for entry in self.known()}
        checks = {judgement.entry.id: judgement.checks for judgement in report.judged if judgement.accepted}
        new = [entry for entry in report.view.entries if entry.id in checks and entry.id not in there]
        tallies = {
            name: [[each.name, each.right, each.tried] for each in made] for name, made in checks.items()
        }  # fmt: skip
        again = [entry for entry in report.view.entries if entry.id in checks and entry.id in there]
        self._decide("release", again, "it passes its replay again", GATE)
        if new:
            self.space.append([self._draft(entry, tallies[entry.id], report) for entry in new], session=SESSION)
        approved = LedgerLog(self.space).at().approved
        let_in = [
            entry for entry in (*new, *again) if entry.trust is Trust.UNTRUSTED and f"fh:{entry.id}" not in approved
        ]
        self._decide("approve", let_in, "the user lets it in although it stands on untrusted text", "user")
        return tuple(new)

    def find(self, identity: str) -> Entry:
        """Give the entry of an id, or of the only id that begins or ends so.

        Raises:
            Unresolvable: there is none, or several.
        """
        named = identity.removeprefix("fh:").upper()
        matches = (
            [entry for entry in self.known() if entry.id.startswith(named) or entry.id.endswith(named)] if named else []
        )
        if len(matches) != 1:
            raise Unresolvable(
                f"expected the id of one entry; {identity!r:.40} fits {len(matches)}. see: firsthand ledger entries"
            )
        return matches[0]

    def quarantine(self, identity: str, *, reason: str = "", by: str = "user") -> tuple[Decision, ...]:
        """Take an entry out, with all that came of it; what it was made of is shown again.

        Returns:
            The decisions that are new; each can be undone.

        Raises:
            Unresolvable: there is no such entry.
        """
        entry = self.find(identity)
        quarantines = LedgerLog(self.space).at().quarantined
        going = [each for each in (entry, *descendants(self.known(), entry.id)) if f"fh:{each.id}" not in quarantines]
        return self._decide("quarantine", going, reason, by)

    def release(self, identity: str, *, reason: str = "", by: str = "user") -> tuple[Decision, ...]:
        """Let one entry in again that was quarantined; what came of it stays out.

        Raises:
            Unresolvable: there is no such entry.
        """
        entry = self.find(identity)
        is_held = f"fh:{entry.id}" in LedgerLog(self.space).at().quarantined
        return self._decide("release", [entry] if is_held else [], reason, by)

    def _decide(self, action: Any, entries: Sequence[Entry], reason: str, by: str) -> tuple[Decision, ...]:
        ids = IdMaker()
        return LedgerLog(self.space).keep(
            Decision(
                ids(), action, f"entry:{entry.id}", f"fh:{entry.id}", reason=reason, sources=(f"fh:{entry.id}",), by=by
            )
            for entry in entries
        )

    def _draft(self, entry: Entry, checks: list[list[Any]], report: GateReport) -> Draft:
        meta = {
            SOURCES: list(entry.sources), "parents": list(entry.parents), "version": entry.version,
            "scope": entry.scope, "by": entry.created_by, "basis": entry.basis, "trust": entry.trust,
            "report": entry.report,
            "gate": {"checks": checks, "proposal": report.proposal, "replayed": report.replayed,
                     "solver": report.solver, "theta": report.settings.theta},
            AGENT: self.agent,
        }  # fmt: skip
        trust = max(entry.trust, Trust.AGENT)  # derived text is not what the user wrote
        return Draft(Kind.ENTRY, to_bytes(entry.text), MEDIA, meta, origin=OURS, trust=trust, id=entry.id)


def _waits(entry: Entry, ledger: Ledger) -> bool:
    """Say whether an entry stands on untrusted text, and the user's word for it is not there, or was undone."""
    return entry.trust is Trust.UNTRUSTED and f"fh:{entry.id}" not in ledger.approved


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
    if type(version) is not int or trust is None or not all(isinstance(name, str) for name in names):
        return None
    scope, by, basis, report, of = map(str, names)
    sources, parents = (tuple(texts(meta.get(name))) for name in (SOURCES, "parents"))
    gate = meta.get("gate")
    solver = str(gate.get("solver", "")) if isinstance(gate, dict) else ""
    entry = Entry(event.id, event.text, sources, scope, version, parents, by, basis, trust, report, solver)
    return entry if of == agent and report and identity_of(entry) == event.id else None
