"""What the factors of a score are measured on: cases with a task, values that changed, pairs.

A case with a task is a point in a real session: the words that stand there are the query, the
task state as it was then is the condition, and what the agent went on to use (files, settings,
ids that the next calls name and the query does not) is what a recall should bring back. Only
what earlier events hold can be brought back, and only earlier events are searched.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from firsthand import Conditions, Event, Kind, Memory
from firsthand.recall.complement import names
from firsthand.recall.conditions import of_task
from firsthand.task import signs
from firsthand.task.observe import observe
from firsthand.task.state import TaskState
from firsthand.value import replace

SEED = 5
CALLS_AFTER = 6  # that show what was used
STEPS_APART = 5  # between two cases of one run that has no user turns
QUERY_CHARACTERS = 400
EARLIER_EVENTS_MIN = 8
PHASE_EVENTS, EDIT_CHARACTERS = 6, 300
"""None of these sessions names its phase: it is read from so many events, see `_phase`."""
CASES_MAX = 400  # of one set
TASK_SETS = {"pi-sessions": Kind.USER_MESSAGE, "tau-airline": Kind.USER_MESSAGE, "swe-agent": Kind.AGENT_MESSAGE}
"""Where cases are taken from, and the kind of event whose words are the query."""
UPDATES = 60


@dataclass(frozen=True, slots=True)
class Case:
    """A point in a session.

    Attributes:
        used: names that the next calls hold, that an earlier event of the session held and the query does not.
        position: of the query; what stands from there on is not searched.
    """

    query: str
    conditions: Conditions
    used: frozenset[str]
    position: int


def cases(memory: Memory, kind: Kind) -> list[Case]:
    """Take the cases of every session of a store, at most `CASES_MAX`, drawn evenly."""
    found = [case for session in memory.sessions() for case in _of_session(list(memory.events(session.name)), kind)]
    chosen = random.Random(SEED).sample(range(len(found)), min(CASES_MAX, len(found)))
    return [found[number] for number in sorted(chosen)]


def _of_session(events: Sequence[Event], kind: Kind) -> Iterator[Case]:
    state = TaskState()
    earlier: set[str] = set()
    last = 0
    for number, event in enumerate(events):
        query = event.text[:QUERY_CHARACTERS].strip()
        if event.kind is kind and query and number >= EARLIER_EVENTS_MIN and (
            kind is Kind.USER_MESSAGE or number - last >= STEPS_APART
        ):  # fmt: skip
            used = frozenset(_used(events[number + 1 :], kind)) & earlier - names(query)
            if used:
                last = number
                conditions = replace(
                    of_task(state, event.session), phase=_phase(events[max(0, number - PHASE_EVENTS) : number])
                )
                yield Case(query, conditions, used, event.position)
        state = observe(state, event)
        earlier |= names(event.text)


def _phase(events: Sequence[Event]) -> str:
    """Tell a phase by the last events: a failure is being debugged, an edit is made, else something is explored."""
    if any(one.kind is Kind.TOOL_RESULT and signs.failure(one.meta, one.text, "") is not None for one in events):
        return "debug"
    edits = any(one.kind is Kind.TOOL_CALL and "edit" in one.text[:EDIT_CHARACTERS] for one in events)
    return "implement" if edits else "explore"


def _used(events: Sequence[Event], kind: Kind) -> Iterator[str]:
    calls = 0
    for event in events:
        if kind is Kind.USER_MESSAGE and event.kind is kind:
            return
        if event.kind is Kind.TOOL_CALL:
            yield from names(event.text)
            calls += 1
            if calls == CALLS_AFTER:
                return


def held(memory: Memory, pointers: Sequence[str], used: frozenset[str]) -> float:
    """Say what share of the names some events hold."""
    found = {name for pointer in pointers for name in names(memory.event(pointer).text)}
    return len(used & found) / len(used)


def imported(folder: Path, data: Path) -> Memory:
    """Make a store of a folder of sessions."""
    memory = Memory.open(folder)
    memory.import_paths([data])
    return memory


# values that changed -----------------------------------------------------------------------------------

_NAMES = [
    "port", "host", "default branch", "region", "log level", "owner", "deadline", "release day", "retry limit",
    "bucket", "time zone", "staging database", "admin address", "page size", "queue",
]  # fmt: skip
_OF = ["billing service", "search cluster", "mobile app", "report job"]
_OLD = ["the {0} of the {1} is {2}.", "For the record: the {0} of the {1} is {2}.", "the {0} of the {1} was set to {2}"]
_NEW = ["the {0} of the {1} is now {2}.", "We moved: the {0} of the {1} is {2}.", "the {0} of the {1} changed to {2}"]
_TALK = ["Who knows the {0} of the {1}?", "The {0} of the {1} matters a lot.", "I asked about the {0} of the {1}."]


@dataclass(frozen=True, slots=True)
class Update:
    """A value that changed: the query, and the texts of its session with the places of the old and the new value."""

    query: str
    texts: tuple[str, ...]
    old: int
    new: int


def updates() -> list[Update]:
    """Generate facts that change once, each in a session of its own."""
    chance = random.Random(SEED)
    made = []
    for number in range(UPDATES):
        name, of = _NAMES[number % len(_NAMES)], _OF[number // len(_NAMES) % len(_OF)]
        old, new = (f"{chance.choice('abcdefgh')}{chance.randrange(100, 9_000)}" for _ in range(2))
        texts = [text.format(name, of) for text in chance.sample(_TALK, len(_TALK))]
        at = sorted(chance.sample(range(len(texts) + 1), 2))
        texts.insert(at[0], _OLD[number % len(_OLD)].format(name, of, old))
        texts.insert(at[1] + 1, _NEW[number // 2 % len(_NEW)].format(name, of, new))
        made.append(Update(f"what is the {name} of the {of}?", tuple(texts), at[0], at[1] + 1))
    return made
