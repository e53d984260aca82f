"""Consolidation of cases in a store: what somebody writes of them is tried, and kept where it stands (DESIGN 2.9).

    lines that were written as cases -> episodes -> who writes (a model, a person, a rule) -> gate -> entries in the log

Nothing calls it unasked: it is off by default. The invariants: who writes is shown raw
cases alone, read from the log anew; entries are appended, never changed, all or none, and
with the report of the gate that let them in; what is shown is tried once more when it is
read. An entry stands until a newer one takes its place, until it is quarantined (a decision
of the ledger, so that it can be undone), or until an event that it stands on is erased,
which erases it. Recall finds what entries are made of, and not them.

It decides nothing itself: who writes is the caller's, who lets in is the gate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from firsthand.errors import Unresolvable
from firsthand.event import Draft, Event, Kind, Trust, texts, to_bytes
from firsthand.fence import blanked
from firsthand.ledger.decision_log import LINEAGE, LedgerLog
from firsthand.ledger.decisions import Decision
from firsthand.ledger.entries import BETWEEN, CASE, Entry, Episode, View, Written, identity_of, versions
from firsthand.ledger.entry_gate import GateReport, GateSettings, Judged, check
from firsthand.ledger.lineage import Lineage
from firsthand.ledger.solver import Weak, shape_of
from firsthand.notes.sources import PARENTS, SOURCES
from firsthand.notes.writer import OURS
from firsthand.space import Space
from firsthand.value import value

Writer = Callable[[Sequence[Episode]], Iterable[Written]]
"""Writes entries of all raw cases, in order; it is shown no entry."""
SESSION, MEDIA = "entries", "text/vnd.firsthand.entry"
GATE = "rule:gate"
"""Who decides when an entry that stood fails."""
CASES_OF_EVENT_MAX, CASE_CHARACTERS_MAX, ANSWER_CHARACTERS_MAX = 64, 200, 160
_SETTING = re.compile(r"(?:export )?([A-Za-z_][\w.-]{0,99}) ?= ?([^\s=>](?:.*\S)?)\s*\Z")


@value
class Consolidated:
    """What a consolidation did, or would do.

    Attributes:
        report: what the gate says of what was written.
        kept: entries that are new in the log.
        quarantined: decisions about entries that stood, and fail now.
    """

    report: GateReport
    kept: tuple[Entry, ...] = ()
    quarantined: tuple[Decision, ...] = ()


def consolidate_in(
    space: Space, write: Writer, by: str, *, settings: GateSettings | None = None, keep: bool = False
) -> Consolidated:
    """Try entries that somebody writes of cases, and keep those that the gate lets in.

    Args:
        write: what it raises goes on to the caller, and nothing is written.
        by: who it is; each entry names it as its maker.
        keep: without it nothing is written.
    """
    episodes, standing = episodes_of(space), entries_standing(space)
    proposed = versions(write(episodes), standing, episodes, by=by)
    report = check(proposed, standing, episodes, Weak(), settings=settings, barred=_barred(space))
    if not keep:
        return Consolidated(report)
    # Who fails goes first: a process that ends in between leaves fewer entries, and none that fails.
    lineage, fallen = Lineage(space), list[Decision]()
    for name in report.fallen:
        fallen += lineage.quarantine(f"fh:{name}", reason="it fails its replay", by=GATE)
    there = {entry.id for entry in entries_known(space)}
    accepted = [judged for judged in report.judged if judged.accepted]
    new = [judged for judged in accepted if judged.entry.id not in there]
    for judged in accepted:
        if judged.entry.id in there:
            lineage.release(f"fh:{judged.entry.id}", reason="it passes its replay again", by=GATE)
    if new:
        space.append([_draft(judged) for judged in new], session=SESSION)
    return Consolidated(report, tuple(judged.entry for judged in new), tuple(fallen))


def consolidated_view(space: Space, *, as_of: int | None = None) -> View:
    """Give what stands, entries first and then the raw cases that none of them covers, as of a position."""
    return check((), entries_standing(space, as_of), episodes_of(space, as_of), Weak()).view


# entries in the log ----------------------------------------------------------------------------------


def entries_known(space: Space, as_of: int | None = None) -> tuple[Entry, ...]:
    """Give every entry up to a position that is not erased, in order, those that do not stand among them."""
    events = space.events(SESSION, kind=Kind.ENTRY, before=None if as_of is None else as_of + 1)
    return tuple(filter(None, map(_from_event, events)))


def entries_standing(space: Space, as_of: int | None = None) -> tuple[Entry, ...]:
    """Give the entries that stand: not replaced by a newer one, and not quarantined."""
    known, quarantined = entries_known(space, as_of), LedgerLog(space).at(as_of).quarantined
    replaced = {name for entry in known for name in entry.parents}
    return tuple(entry for entry in known if entry.id not in replaced and f"fh:{entry.id}" not in quarantined)


def entry_named(space: Space, identity: str) -> Entry:
    """Give the entry of an id, or of the only id that begins or ends so.

    Raises:
        Unresolvable: there is none, or several.
    """
    named = identity.removeprefix("fh:").upper()
    matches = [entry for entry in entries_known(space) if entry.id.startswith(named) or entry.id.endswith(named)]
    if not named or len(matches) != 1:
        raise Unresolvable(
            f"expected the id of one entry; {identity!r:.40} fits {len(matches)}. see: firsthand ledger entries"
        )
    return matches[0]


def _barred(space: Space) -> frozenset[str]:
    """Give what does not come in again by itself: ids that do not stand, and the texts that the user took out.

    What the gate or the undoing of a decision took out may come in again when it passes.
    """
    quarantined, standing = LedgerLog(space).at().quarantined, entries_standing(space)
    barred: set[str] = set()
    for entry in entries_known(space):
        decision = quarantined.get(f"fh:{entry.id}")
        if entry not in standing and (decision is None or decision.by not in {GATE, LINEAGE}):
            barred |= {entry.id} if decision is None else {entry.id, entry.text}
    return frozenset(barred)


def _draft(judged: Judged) -> Draft:
    entry, checks = judged.entry, [[made.name, made.right, made.tried] for made in judged.checks]
    meta = {
        SOURCES: list(entry.sources), PARENTS: list(entry.parents), "version": entry.version, "scope": entry.scope,
        "by": entry.created_by, "basis": entry.basis, "report": entry.report, "gate": {"checks": checks},
    }  # fmt: skip
    return Draft(Kind.ENTRY, to_bytes(entry.text), MEDIA, meta, origin=OURS, trust=Trust.AGENT, id=entry.id)


def _from_event(event: Event) -> Entry | None:
    """Read an entry; None for what was erased, or has not the id of what it says, or no report of the gate."""
    meta = event.meta
    version, *named = (meta.get(name) for name in ("version", "scope", "by", "basis", "report"))
    if event.erased or event.media != MEDIA or event.origin != OURS or type(version) is not int:
        return None
    if not all(isinstance(name, str) for name in named) or not named[-1]:
        return None
    scope, by, basis, report = map(str, named)
    sources, parents = (tuple(texts(meta.get(name))) for name in (SOURCES, PARENTS))
    entry = Entry(event.id, event.text, sources, scope, version, parents, by, basis, report)
    return entry if identity_of(entry) == event.id else None


# cases -----------------------------------------------------------------------------------------------


def episodes_of(space: Space, as_of: int | None = None) -> tuple[Episode, ...]:
    """Give the cases that users wrote and that stand, in order of position.

    What an agent, a tool, a page or Firsthand itself said is no case, and takes the place of none.
    """
    ledger, before = LedgerLog(space).at(as_of), None if as_of is None else as_of + 1
    episodes = [
        case for kind in (Kind.USER_MESSAGE, Kind.NOTE) for event in space.events(kind=kind, before=before)
        if event.trust is Trust.TRUSTED and event.origin != OURS and event.is_searchable and not event.erased
        for case in cases(event) if ledger.stands(case.pointer)
    ]  # fmt: skip
    return tuple(sorted(episodes, key=lambda case: case.position))


def cases(event: Event) -> Iterator[Episode]:
    """Yield the lines of an event that are written as ``question => answer`` or ``NAME = value``, the first ones."""
    return islice(_cases(event), CASES_OF_EVENT_MAX)


def _cases(event: Event) -> Iterator[Episode]:
    start = 0
    text = event.text
    for whole, line in zip(text.split("\n"), blanked(text).split("\n"), strict=False):
        size = len(to_bytes(whole))
        asked, between, answer = line.strip().removeprefix(CASE).rpartition(BETWEEN)
        if not between and (setting := _SETTING.match(line.strip())) is not None:
            asked, answer = setting[1], setting[2]
        asked, answer = asked.strip(), answer.strip()
        if 0 < len(asked) <= CASE_CHARACTERS_MAX and 0 < len(answer) <= ANSWER_CHARACTERS_MAX:
            scope = shape_of(" ".join(asked.casefold().split()))[0]
            yield Episode(f"fh:{event.id}@{start}-{start + size}", scope, asked, answer, event.position)
        start += size + 1
