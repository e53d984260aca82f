"""Memory for LLM agents that keeps the source: a lossless log, exact recall, proof that nothing changed.

All public names stand here. Each is imported when it is first asked for, so that a
command that only recalls does not pay for the import of transcripts.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from firsthand.anatomy.diff import Difference
    from firsthand.anatomy.record import Anatomy
    from firsthand.anatomy.replay import Replay
    from firsthand.anatomy.use import Use, use_of
    from firsthand.answer import Answer, Conditions, Hit, Hop, Outcome, Query, Scope
    from firsthand.compact.receipt import Receipt
    from firsthand.compact.stays import Stay
    from firsthand.consolidate.by_model import ByModel, ModelSolver
    from firsthand.consolidate.consolidators import Consolidator
    from firsthand.consolidate.digest import Digest
    from firsthand.consolidate.entries import Entry
    from firsthand.consolidate.gate import GateReport, GateSettings
    from firsthand.consolidate.ledger import Decision, Ledger, LedgerChange, ledger_difference
    from firsthand.errors import (
        AppendError,
        Erased,
        FirsthandError,
        FormatError,
        IdConflict,
        InvalidArgument,
        InvalidDraft,
        MalformedPointer,
        NotAStore,
        PointerError,
        QueryError,
        SourceRejected,
        StaleExpectation,
        StoreBusy,
        StoreClosed,
        StoreDamaged,
        StoreError,
        StoreFailed,
        StoreFull,
        StoreNewer,
        StoreOlder,
        StoreReadOnly,
        Unresolvable,
    )
    from firsthand.event import Artifact, ByteSource, Draft, Event, Kind, Trust
    from firsthand.health.around import DaemonState
    from firsthand.health.doctor import Look, examine
    from firsthand.health.finding import AgentHealth, Finding, HealthReport
    from firsthand.health.modes import Failure, name_failure
    from firsthand.health.status import looks
    from firsthand.index.dense import VectorSpace
    from firsthand.index.embed.port import Embedder, callable_embedder
    from firsthand.intake.report import ImportReport, Progress, SourceReport
    from firsthand.lifecycle.agent import Agent, agent_in, agents, sessions_like
    from firsthand.lifecycle.agent_tools import AgentTools, Told
    from firsthand.lifecycle.closing import CaughtUp, Closed
    from firsthand.lifecycle.consolidating import Consolidated, consolidate_in, consolidated_view
    from firsthand.lifecycle.digesting import DigestWritten, digest_of, write_digest
    from firsthand.lifecycle.doing import Done, run_due
    from firsthand.lifecycle.entries_log import EntriesLog, entries_of
    from firsthand.lifecycle.episode import Episode
    from firsthand.lifecycle.files import Followed
    from firsthand.lifecycle.hooking import Answered, after_hook, answer_hook
    from firsthand.lifecycle.hosted import Brought, HostedSession
    from firsthand.lifecycle.installed import Installed, installed
    from firsthand.lifecycle.installing import Change, Plan, backups, plan_install, plan_uninstall
    from firsthand.lifecycle.jobs import next_due_ms, pending
    from firsthand.lifecycle.kept_calls import KeptCalls
    from firsthand.lifecycle.ledger_log import LedgerLog, ledger_of
    from firsthand.lifecycle.lineage import Lineage, Waiting, lineage_of
    from firsthand.lifecycle.pauses import pause, resume
    from firsthand.lifecycle.recording import learn_secrets
    from firsthand.lifecycle.settings import session_file, switch, user_file
    from firsthand.lifecycle.side_files import erased_at, files_holding, record_waiting
    from firsthand.lifecycle.sleeping import Slept, last_page, sleep
    from firsthand.lifecycle.sleeping_jobs import begin_sleep, next_at, sleeps_waiting
    from firsthand.lifecycle.sleeping_log import SleepRecord, sleeps
    from firsthand.lifecycle.sleeping_steps import SleepStep
    from firsthand.live.replay import difference
    from firsthand.live.request import Request
    from firsthand.live.window import SessionWindow
    from firsthand.log.append import Appended
    from firsthand.log.backup import Backup
    from firsthand.log.erase import Erasure
    from firsthand.log.export import Exported, export_salvage
    from firsthand.log.read import SessionInfo
    from firsthand.log.rebuild import Rebuilt
    from firsthand.log.signature import KeptHead, kept_head, read_head
    from firsthand.log.verify import Problem, Verification
    from firsthand.memory import Memory
    from firsthand.moment import Moment
    from firsthand.notes.distill import distill
    from firsthand.notes.note import Evidence, Note
    from firsthand.pack.cues import Cues
    from firsthand.pack.preamble import Preamble
    from firsthand.places import UsualPlace, usual_places
    from firsthand.pointer import Pointer
    from firsthand.proof import accept_head
    from firsthand.pull import PullLimits
    from firsthand.scopes import Below, Executor
    from firsthand.session import Session
    from firsthand.stats import Stats
    from firsthand.task.state import TaskState
    from firsthand.window import Budget, Item, Marker, Share, Window

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "AgentHealth",
    "AgentTools",
    "Anatomy",
    "Answer",
    "Answered",
    "AppendError",
    "Appended",
    "Artifact",
    "Backup",
    "Below",
    "Brought",
    "Budget",
    "ByModel",
    "ByteSource",
    "CaughtUp",
    "Change",
    "Closed",
    "Conditions",
    "Consolidated",
    "Consolidator",
    "Cues",
    "DaemonState",
    "Decision",
    "Difference",
    "Digest",
    "DigestWritten",
    "Done",
    "Draft",
    "Embedder",
    "EntriesLog",
    "Entry",
    "Episode",
    "Erased",
    "Erasure",
    "Event",
    "Evidence",
    "Executor",
    "Exported",
    "Failure",
    "Finding",
    "FirsthandError",
    "Followed",
    "FormatError",
    "GateReport",
    "GateSettings",
    "HealthReport",
    "Hit",
    "Hop",
    "HostedSession",
    "IdConflict",
    "ImportReport",
    "Installed",
    "InvalidArgument",
    "InvalidDraft",
    "Item",
    "KeptCalls",
    "KeptHead",
    "Kind",
    "Ledger",
    "LedgerChange",
    "LedgerLog",
    "Lineage",
    "Look",
    "MalformedPointer",
    "Marker",
    "Memory",
    "ModelSolver",
    "Moment",
    "NotAStore",
    "Note",
    "Outcome",
    "Plan",
    "Pointer",
    "PointerError",
    "Preamble",
    "Problem",
    "Progress",
    "PullLimits",
    "Query",
    "QueryError",
    "Rebuilt",
    "Receipt",
    "Replay",
    "Request",
    "Scope",
    "Session",
    "SessionInfo",
    "SessionWindow",
    "Share",
    "SleepRecord",
    "SleepStep",
    "Slept",
    "SourceRejected",
    "SourceReport",
    "StaleExpectation",
    "Stats",
    "Stay",
    "StoreBusy",
    "StoreClosed",
    "StoreDamaged",
    "StoreError",
    "StoreFailed",
    "StoreFull",
    "StoreNewer",
    "StoreOlder",
    "StoreReadOnly",
    "TaskState",
    "Told",
    "Trust",
    "Unresolvable",
    "Use",
    "UsualPlace",
    "VectorSpace",
    "Verification",
    "Waiting",
    "Window",
    "__version__",
    "accept_head",
    "after_hook",
    "agent_in",
    "agents",
    "answer_hook",
    "backups",
    "begin_sleep",
    "callable_embedder",
    "consolidate_in",
    "consolidated_view",
    "difference",
    "digest_of",
    "distill",
    "entries_of",
    "erased_at",
    "examine",
    "export_salvage",
    "files_holding",
    "installed",
    "kept_head",
    "last_page",
    "learn_secrets",
    "ledger_difference",
    "ledger_of",
    "lineage_of",
    "looks",
    "name_failure",
    "next_at",
    "next_due_ms",
    "pause",
    "pending",
    "plan_install",
    "plan_uninstall",
    "read_head",
    "record_waiting",
    "resume",
    "run_due",
    "session_file",
    "sessions_like",
    "sleep",
    "sleeps",
    "sleeps_waiting",
    "switch",
    "use_of",
    "user_file",
    "usual_places",
    "write_digest",
]

_ROOMS = {
    "answer": ("Answer", "Conditions", "Hit", "Hop", "Outcome", "Query", "Scope"),
    "errors": (
        "AppendError",
        "Erased",
        "FirsthandError",
        "FormatError",
        "IdConflict",
        "InvalidArgument",
        "InvalidDraft",
        "MalformedPointer",
        "NotAStore",
        "PointerError",
        "QueryError",
        "SourceRejected",
        "StaleExpectation",
        "StoreBusy",
        "StoreClosed",
        "StoreDamaged",
        "StoreError",
        "StoreFailed",
        "StoreFull",
        "StoreNewer",
        "StoreOlder",
        "StoreReadOnly",
        "Unresolvable",
    ),
    "event": ("Artifact", "ByteSource", "Draft", "Event", "Kind", "Trust"),
    "health.around": ("DaemonState",),
    "health.doctor": ("Look", "examine"),
    "health.finding": ("AgentHealth", "Finding", "HealthReport"),
    "health.modes": ("Failure", "name_failure"),
    "health.status": ("looks",),
    "index.dense": ("VectorSpace",),
    "index.embed.port": ("Embedder", "callable_embedder"),
    "intake.report": ("ImportReport", "Progress", "SourceReport"),
    "log.append": ("Appended",),
    "log.backup": ("Backup",),
    "log.erase": ("Erasure",),
    "log.export": ("Exported", "export_salvage"),
    "log.read": ("SessionInfo",),
    "log.rebuild": ("Rebuilt",),
    "proof": ("accept_head",),
    "log.signature": ("KeptHead", "kept_head", "read_head"),
    "log.verify": ("Problem", "Verification"),
    "memory": ("Memory",),
    "session": ("Session",),
    "moment": ("Moment",),
    "places": ("UsualPlace", "usual_places"),
    "pointer": ("Pointer",),
    "stats": ("Stats",),
    "anatomy.diff": ("Difference",),
    "anatomy.record": ("Anatomy",),
    "anatomy.replay": ("Replay",),
    "anatomy.use": ("Use", "use_of"),
    "compact.receipt": ("Receipt",),
    "compact.stays": ("Stay",),
    "consolidate.by_model": ("ByModel", "ModelSolver"),
    "consolidate.consolidators": ("Consolidator",),
    "consolidate.digest": ("Digest",),
    "consolidate.entries": ("Entry",),
    "consolidate.gate": ("GateReport", "GateSettings"),
    "consolidate.ledger": ("Decision", "Ledger", "LedgerChange", "ledger_difference"),
    "lifecycle.consolidating": ("Consolidated", "consolidate_in", "consolidated_view"),
    "lifecycle.entries_log": ("EntriesLog", "entries_of"),
    "lifecycle.digesting": ("DigestWritten", "digest_of", "write_digest"),
    "lifecycle.ledger_log": ("LedgerLog", "ledger_of"),
    "lifecycle.lineage": ("Lineage", "Waiting", "lineage_of"),
    "lifecycle.sleeping": ("Slept", "last_page", "sleep"),
    "lifecycle.sleeping_jobs": ("begin_sleep", "next_at", "sleeps_waiting"),
    "lifecycle.sleeping_log": ("SleepRecord", "sleeps"),
    "lifecycle.sleeping_steps": ("SleepStep",),
    "lifecycle.installed": ("Installed", "installed"),
    "lifecycle.installing": ("Change", "Plan", "backups", "plan_install", "plan_uninstall"),
    "lifecycle.agent": ("Agent", "agent_in", "agents", "sessions_like"),
    "lifecycle.closing": ("CaughtUp", "Closed"),
    "lifecycle.episode": ("Episode",),
    "lifecycle.agent_tools": ("AgentTools", "Told"),
    "lifecycle.hosted": ("Brought", "HostedSession"),
    "lifecycle.files": ("Followed",),
    "notes.distill": ("distill",),
    "notes.note": ("Evidence", "Note"),
    "pack.cues": ("Cues",),
    "pack.preamble": ("Preamble",),
    "lifecycle.hooking": ("Answered", "after_hook", "answer_hook"),
    "lifecycle.doing": ("Done", "run_due"),
    "lifecycle.jobs": ("next_due_ms", "pending"),
    "lifecycle.kept_calls": ("KeptCalls",),
    "lifecycle.side_files": ("erased_at", "files_holding", "record_waiting"),
    "lifecycle.pauses": ("pause", "resume"),
    "lifecycle.recording": ("learn_secrets",),
    "lifecycle.settings": ("session_file", "switch", "user_file"),
    "live.replay": ("difference",),
    "live.request": ("Request",),
    "live.window": ("SessionWindow",),
    "pull": ("PullLimits",),
    "scopes": ("Below", "Executor"),
    "task.state": ("TaskState",),
    "window": ("Budget", "Item", "Marker", "Share", "Window"),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a public name where it is at home (PEP 562)."""
    if name not in _ROOM_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{_ROOM_OF[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
