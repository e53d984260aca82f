"""Memory for LLM agents that keeps the source: a lossless log, exact recall, proof that nothing changed.

All public names stand here. Each is imported when it is first asked for, so that a
command that only recalls does not pay for the import of transcripts.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from firsthand.agent_space import sessions_like
    from firsthand.agents.agent import Agent, agent_in, agents_of
    from firsthand.agents.agent_digest import DigestWritten, digest_of, write_digest
    from firsthand.agents.agent_tools import AgentTools, Told
    from firsthand.agents.cues import Cues
    from firsthand.agents.episode import Episode
    from firsthand.agents.episode_writer import CaughtUp, Closed
    from firsthand.agents.files import Followed
    from firsthand.agents.health_line import looks
    from firsthand.agents.hook_answer import Answered, after_hook, answer_hook
    from firsthand.agents.hosted_session import Brought, HostedSession
    from firsthand.agents.installation import Installed, installed
    from firsthand.agents.installer import Change, Plan, backups, plan_install, plan_uninstall
    from firsthand.agents.jobs import next_due_ms, pending
    from firsthand.agents.pauses import pause, resume
    from firsthand.agents.preamble import Preamble
    from firsthand.agents.recording_rules import learn_secrets
    from firsthand.agents.settings import session_file, switch, user_file
    from firsthand.agents.side_files import erased_at, files_holding, record_waiting
    from firsthand.agents.sleep import Slept, last_page, sleep
    from firsthand.agents.sleep_jobs import begin_sleep, next_at, sleeps_waiting
    from firsthand.agents.sleep_log import SleepRecord, sleeps
    from firsthand.agents.sleep_steps import SleepStep
    from firsthand.agents.waiting_calls import KeptCalls
    from firsthand.answer import Answer, Conditions, Hit, Hop, Outcome, Query, Scope
    from firsthand.context.anatomy import Anatomy
    from firsthand.context.anatomy_diff import Difference
    from firsthand.context.anatomy_use import Use, use_of
    from firsthand.context.executors import Below, Executor
    from firsthand.context.must_stay import Stay
    from firsthand.context.prompt import Replay
    from firsthand.context.receipt import Receipt
    from firsthand.context.replay import difference
    from firsthand.context.request import Request
    from firsthand.context.session_window import SessionWindow
    from firsthand.context.task_state import TaskState
    from firsthand.context.tools import PullLimits
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
    from firsthand.health.doctor import Look, examine
    from firsthand.health.finding import AgentHealth, Finding, HealthReport
    from firsthand.health.job_runner import Done, run_due
    from firsthand.health.modes import Failure, name_failure
    from firsthand.health.proof import accept_head
    from firsthand.health.surroundings import DaemonState
    from firsthand.hosts.import_report import ImportReport, Progress, SourceReport
    from firsthand.hosts.places import UsualPlace, usual_places
    from firsthand.index.dense import VectorSpace
    from firsthand.index.embed.port import Embedder, callable_embedder
    from firsthand.index.stats import Stats
    from firsthand.ledger.consolidation import Consolidated, consolidate_in, consolidated_view
    from firsthand.ledger.consolidators import Consolidator
    from firsthand.ledger.decision_log import LedgerLog, ledger_of
    from firsthand.ledger.decisions import Decision, Ledger, LedgerChange, ledger_difference
    from firsthand.ledger.digest import Digest
    from firsthand.ledger.entries import Entry
    from firsthand.ledger.entry_gate import GateReport, GateSettings
    from firsthand.ledger.entry_log import EntriesLog, entries_of
    from firsthand.ledger.lineage import Lineage, Waiting, lineage_of
    from firsthand.ledger.model_consolidator import ByModel, ModelSolver
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
    from firsthand.pointer import Pointer
    from firsthand.session import Session
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
    "agents_of",
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
    "health.surroundings": ("DaemonState",),
    "health.doctor": ("Look", "examine"),
    "health.finding": ("AgentHealth", "Finding", "HealthReport"),
    "health.modes": ("Failure", "name_failure"),
    "agents.health_line": ("looks",),
    "index.dense": ("VectorSpace",),
    "index.embed.port": ("Embedder", "callable_embedder"),
    "hosts.import_report": ("ImportReport", "Progress", "SourceReport"),
    "log.append": ("Appended",),
    "log.backup": ("Backup",),
    "log.erase": ("Erasure",),
    "log.export": ("Exported", "export_salvage"),
    "log.read": ("SessionInfo",),
    "log.rebuild": ("Rebuilt",),
    "health.proof": ("accept_head",),
    "log.signature": ("KeptHead", "kept_head", "read_head"),
    "log.verify": ("Problem", "Verification"),
    "memory": ("Memory",),
    "session": ("Session",),
    "moment": ("Moment",),
    "hosts.places": ("UsualPlace", "usual_places"),
    "pointer": ("Pointer",),
    "index.stats": ("Stats",),
    "context.anatomy_diff": ("Difference",),
    "context.anatomy": ("Anatomy",),
    "context.prompt": ("Replay",),
    "context.anatomy_use": ("Use", "use_of"),
    "context.receipt": ("Receipt",),
    "context.must_stay": ("Stay",),
    "ledger.model_consolidator": ("ByModel", "ModelSolver"),
    "ledger.consolidators": ("Consolidator",),
    "ledger.digest": ("Digest",),
    "ledger.entries": ("Entry",),
    "ledger.entry_gate": ("GateReport", "GateSettings"),
    "ledger.decisions": ("Decision", "Ledger", "LedgerChange", "ledger_difference"),
    "ledger.consolidation": ("Consolidated", "consolidate_in", "consolidated_view"),
    "ledger.entry_log": ("EntriesLog", "entries_of"),
    "agents.agent_digest": ("DigestWritten", "digest_of", "write_digest"),
    "ledger.decision_log": ("LedgerLog", "ledger_of"),
    "ledger.lineage": ("Lineage", "Waiting", "lineage_of"),
    "agents.sleep": ("Slept", "last_page", "sleep"),
    "agents.sleep_jobs": ("begin_sleep", "next_at", "sleeps_waiting"),
    "agents.sleep_log": ("SleepRecord", "sleeps"),
    "agents.sleep_steps": ("SleepStep",),
    "agents.installation": ("Installed", "installed"),
    "agents.installer": ("Change", "Plan", "backups", "plan_install", "plan_uninstall"),
    "agents.agent": ("Agent", "agent_in", "agents_of"),
    "agent_space": ("sessions_like",),
    "agents.episode_writer": ("CaughtUp", "Closed"),
    "agents.episode": ("Episode",),
    "agents.agent_tools": ("AgentTools", "Told"),
    "agents.hosted_session": ("Brought", "HostedSession"),
    "agents.files": ("Followed",),
    "notes.distill": ("distill",),
    "notes.note": ("Evidence", "Note"),
    "agents.cues": ("Cues",),
    "agents.preamble": ("Preamble",),
    "agents.hook_answer": ("Answered", "after_hook", "answer_hook"),
    "health.job_runner": ("Done", "run_due"),
    "agents.jobs": ("next_due_ms", "pending"),
    "agents.waiting_calls": ("KeptCalls",),
    "agents.side_files": ("erased_at", "files_holding", "record_waiting"),
    "agents.pauses": ("pause", "resume"),
    "agents.recording_rules": ("learn_secrets",),
    "agents.settings": ("session_file", "switch", "user_file"),
    "context.replay": ("difference",),
    "context.request": ("Request",),
    "context.session_window": ("SessionWindow",),
    "context.tools": ("PullLimits",),
    "context.executors": ("Below", "Executor"),
    "context.task_state": ("TaskState",),
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
