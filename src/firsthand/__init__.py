"""Memory for LLM agents that keeps the source: a lossless log, exact recall, proof that nothing changed.

All public names stand here; docs/api.md shows each. Each is imported when it is first
asked for, so that a command that only recalls does not pay for the import of transcripts.
What is not here is imported from its room, such as `firsthand.errors`, and may change.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from firsthand.agents.agent import Agent
    from firsthand.agents.agent_tools import AgentTools
    from firsthand.answer import Answer, Band, Conditions, Hit, Outcome, Query, Scope
    from firsthand.async_memory import AsyncMemory, AsyncSession
    from firsthand.client import AsyncClient, Client
    from firsthand.context.anatomy import Anatomy
    from firsthand.context.executors import Executor
    from firsthand.context.receipt import Receipt
    from firsthand.context.request import Request
    from firsthand.context.session_window import SessionWindow
    from firsthand.context.task_state import TaskState
    from firsthand.context.tools import PullLimits
    from firsthand.errors import (
        AppendError,
        Erased,
        FirsthandError,
        FormatError,
        InvalidArgument,
        NotAStore,
        PointerError,
        QueryError,
        StoreBusy,
        StoreDamaged,
        StoreError,
        Unresolvable,
    )
    from firsthand.event import Draft, Event, Kind, Trust
    from firsthand.hosts.import_report import ImportReport
    from firsthand.index.embed.port import Embedder, callable_embedder
    from firsthand.index.stats import Stats
    from firsthand.log.export import Exported
    from firsthand.log.results import Appended, Erasure, Verification
    from firsthand.memory import Memory
    from firsthand.moment import Moment
    from firsthand.notes.check import Checked
    from firsthand.notes.claim import Claim, Proof
    from firsthand.notes.distill import Note, distill
    from firsthand.pointer import Pointer
    from firsthand.session import Session
    from firsthand.window import Budget

__version__ = "0.1.0"

__all__ = [
    "Agent", "AgentTools", "Anatomy", "Answer", "AppendError", "Appended", "AsyncClient", "AsyncMemory", "AsyncSession",
    "Band", "Budget", "Checked",
    "Claim", "Client", "Conditions", "Draft", "Embedder", "Erased", "Erasure", "Event", "Executor", "Exported",
    "FirsthandError", "FormatError", "Hit", "ImportReport", "InvalidArgument", "Kind", "Memory", "Moment", "NotAStore",
    "Note", "Outcome", "Pointer", "PointerError", "Proof", "PullLimits", "Query", "QueryError", "Receipt", "Request",
    "Scope", "Session", "SessionWindow", "Stats", "StoreBusy", "StoreDamaged", "StoreError", "TaskState", "Trust",
    "Unresolvable", "Verification", "__version__", "callable_embedder", "distill",
]  # fmt: skip

_ROOMS = {
    "agents.agent": ("Agent",),
    "agents.agent_tools": ("AgentTools",),
    "answer": ("Answer", "Band", "Conditions", "Hit", "Outcome", "Query", "Scope"),
    "async_memory": ("AsyncMemory", "AsyncSession"),
    "client": ("AsyncClient", "Client"),
    "context.anatomy": ("Anatomy",),
    "context.executors": ("Executor",),
    "context.receipt": ("Receipt",),
    "context.request": ("Request",),
    "context.session_window": ("SessionWindow",),
    "context.task_state": ("TaskState",),
    "context.tools": ("PullLimits",),
    "errors": (
        "AppendError", "Erased", "FirsthandError", "FormatError", "InvalidArgument", "NotAStore", "PointerError",
        "QueryError", "StoreBusy", "StoreDamaged", "StoreError", "Unresolvable",
    ),
    "event": ("Draft", "Event", "Kind", "Trust"),
    "hosts.import_report": ("ImportReport",),
    "index.embed.port": ("Embedder", "callable_embedder"),
    "index.stats": ("Stats",),
    "log.export": ("Exported",),
    "log.results": ("Appended", "Erasure", "Verification"),
    "memory": ("Memory",),
    "moment": ("Moment",),
    "notes.check": ("Checked",),
    "notes.claim": ("Claim", "Proof"),
    "notes.distill": ("Note", "distill"),
    "pointer": ("Pointer",),
    "session": ("Session",),
    "window": ("Budget",),
}  # fmt: skip
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a public name where it is at home (PEP 562)."""
    if name not in _ROOM_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    member: object = getattr(import_module(f"{__name__}.{_ROOM_OF[name]}"), name)
    globals()[name] = member
    return member


def __dir__() -> list[str]:
    return __all__
