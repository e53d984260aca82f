"""TaskState: goal, phase, open loops, premises, key events and constraints of the current task (total-recall 3.1).

The invariant: a state has at most `ENTRIES_MAX` entries a field, each at most
`CHARACTERS_MAX` long, and fits into `BYTES_MAX` bytes of JSON, so that an event
holds it inline. What went over a limit is counted by field in ``dropped``. What the
caller set outlasts what was observed. Each entry says where it comes from: the
pointer of its source, its turn, and on which `Basis` it stands there.

It does not know events, nor how a state is shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from firsthand.errors import FormatError, InvalidArgument
from firsthand.event import to_bytes
from firsthand.printable import shown
from firsthand.value import field, replace, value

MEDIA = "application/vnd.firsthand.task-state+json"
VERSION = 1
FIELDS = ("goal", "phase", "open_loops", "premises", "key_events", "constraints")
LISTS = FIELDS[2:]
ENTRIES_MAX: Mapping[str, int] = {"open_loops": 24, "premises": 12, "key_events": 24, "constraints": 24}
CHARACTERS_MAX: Mapping[str, int] = {
    "goal": 400, "phase": 160, "open_loops": 200, "premises": 240, "key_events": 200, "constraints": 320,
}  # fmt: skip
BYTES_MAX = 10_000  # of all entries together as JSON; with the calls less than an event holds inline
CALLS_MAX = 12  # calls without a result that are remembered
CALLS_BYTES_MAX = 4_000  # of all of them as JSON
CALL_CHARACTERS_MAX = 80  # of what a call did, of its tool's name and of its id
KEY_CHARACTERS_MAX = 100
POINTER_CHARACTERS_MAX = 100


class Basis(StrEnum):
    """Why an entry stands in the state."""

    SET = "set"  # by the caller, or by the agent's tool
    NAMED = "named"  # the user called it the goal
    FIRST = "first message"  # the session's first request, since none was named
    PLAN = "plan"  # an item of the agent's plan tool
    BOX = "check box"  # an open box in an agent's message
    QUESTION = "question"  # of the user, no answer yet
    ASKED = "asked"  # of the agent, waits for the user
    COMMITMENT = "commitment"  # what the agent said it will do later
    PREMISE = "premise"  # what the user said to take as given
    FAILURE = "failure"
    DECISION = "decision"
    COMMIT = "commit"
    RULE = "rule"


@value
class Entry:
    """One line of the state.

    Attributes:
        text: one line, at most `CHARACTERS_MAX` of its field.
        pointer: of the event, or the part of it, that it comes from; empty when set by the caller without one.
        turn: of that event.
        basis: why it is here.
        key: what it is known by when a later event closes it; empty for its text.
    """

    text: str
    pointer: str = ""
    turn: int = 0
    basis: Basis = Basis.SET
    key: str = ""


@value
class Call:
    """A tool call whose result has not been seen yet: what its result will be told of.

    Attributes:
        call_id, tool: one line each, at most `CALL_CHARACTERS_MAX`.
        said: the agent's own words for it (a command's first line); as long.
    """

    call_id: str
    tool: str
    said: str


@value
class TaskState:
    """The current task at one position of the session.

    Attributes:
        goal, phase: None while unknown.
        open_loops, premises, key_events, constraints: oldest first.
        dropped: how many entries went over a limit so far, by field.
        calls: without a result yet, oldest first; not shown.
        through: the last position that was observed; 0 for none.
        turn: the last turn that was observed.
        requests: user messages that asked for something; 0 lets the next one be the goal.
    """

    goal: Entry | None = None
    phase: Entry | None = None
    open_loops: tuple[Entry, ...] = ()
    premises: tuple[Entry, ...] = ()
    key_events: tuple[Entry, ...] = ()
    constraints: tuple[Entry, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    calls: tuple[Call, ...] = ()
    through: int = 0
    turn: int = 0
    requests: int = 0

    @property
    def is_empty(self) -> bool:
        """True when there is nothing to show."""
        return not any(getattr(self, name) for name in FIELDS)


def changed(state: TaskState, *, pointer: str = "", turn: int | None = None, **given: object) -> TaskState:
    """Set fields as the caller, or a tool for the agent, says.

    Args:
        pointer: of the event that says so, if there is one.
        turn: of that event; None is the last one observed.
        given: by field of `FIELDS`; a text for goal and phase (empty clears it), a list of texts or entries for
            the others, which replaces the whole field. None leaves a field as it is.

    Raises:
        InvalidArgument: there is no such field, or a value is of the wrong type or over its limit.
    """
    unknown = [name for name in given if name not in FIELDS]
    if unknown:
        raise InvalidArgument(f"a task state has the fields {', '.join(FIELDS)}; got {unknown[0]!r:.60}")
    at = state.turn if turn is None else turn
    new: dict[str, Any] = {}
    for name, what in given.items():
        if what is None:
            continue
        if name in LISTS:
            new[name] = _listed(name, what, pointer, at)
        else:
            new[name] = _entry(name, what, pointer, at) if what != "" else None
    if not new:
        return state
    made = replace(state, **new, dropped={name: n for name, n in state.dropped.items() if name not in new})
    fitting = _fit(made, by_caller=True)
    if fitting is None:
        raise InvalidArgument(f"what is set of a task state has at most {BYTES_MAX:,} bytes together; say it shorter")
    return fitting


def line(text: str, characters_max: int) -> str:
    """Make one line of a text: white space runs become a space, what hides is shown, what is too long ends in "..."."""
    looked_at = text[: 2 * characters_max + 200]
    clean = shown(" ".join(looked_at.split()))
    if len(clean) <= characters_max and len(looked_at) == len(text):
        return clean
    cut = clean[: characters_max - 3]
    at_word = cut.rfind(" ", characters_max // 2)
    return (cut[:at_word] if at_word > 0 else cut).rstrip(" ,;:.") + "..."


def called(state: TaskState, call: Call) -> TaskState:
    """Remember a call until its result comes; where there are too many, the oldest is forgotten."""
    others = [one for one in state.calls if one.call_id != call.call_id]
    calls = [*others[1 - CALLS_MAX :], call]
    while sum(len(_dump(_call_packed(one))) for one in calls) > CALLS_BYTES_MAX:
        del calls[0]
    return replace(state, calls=tuple(calls))


def added(state: TaskState, name: str, entries: Iterable[Entry]) -> TaskState:
    """Add observed entries to a field; one that is there already stays where it is.

    Over a limit the oldest observed entry goes first, and is counted.
    """
    held = getattr(state, name)
    known = {_same(entry) for entry in held}
    new = []
    for entry in entries:
        if _same(entry) not in known:
            known.add(_same(entry))
            new.append(entry)
    return fitted(state, name, (*held, *new)) if new else state


def fitted(state: TaskState, name: str, entries: Sequence[Entry]) -> TaskState:
    """Put entries in a field's place, as many as its limits take."""
    over = len(entries) - ENTRIES_MAX[name]
    kept: list[Entry] = []
    gone = 0
    for entry in entries:
        if gone < over and entry.basis is not Basis.SET:
            gone += 1
        else:
            kept.append(entry)
    gone += len(kept) - ENTRIES_MAX[name] if len(kept) > ENTRIES_MAX[name] else 0
    made = replace(state, **{name: tuple(kept[: ENTRIES_MAX[name]])})
    made = dropped(made, name, gone)
    return _fit(made) or made


def without(state: TaskState, name: str, keep: Iterable[Entry]) -> TaskState:
    """Keep only some entries of a field; the others are closed, not dropped."""
    kept = tuple(keep)
    return state if kept == getattr(state, name) else replace(state, **{name: kept})


def dropped(state: TaskState, name: str, number: int) -> TaskState:
    """Count entries of a field that went over a limit."""
    if not number:
        return state
    return replace(state, dropped={**state.dropped, name: state.dropped.get(name, 0) + number})


def size_bytes(entry: Entry) -> int:
    """Measure an entry as JSON."""
    return len(_dump(_packed(entry))) + 1


# JSON --------------------------------------------------------------------------------------------------


def to_json(state: TaskState) -> bytes:
    """Write a state as canonical JSON; `from_json` is its inverse."""
    shape: dict[str, Any] = {"task_state": VERSION, "through": state.through, "turn": state.turn}
    shape["requests"] = state.requests
    for name in FIELDS:
        held = getattr(state, name)
        if name in LISTS:
            shape[name] = [_packed(entry) for entry in held]
        elif held is not None:
            shape[name] = _packed(held)
    shape["dropped"] = dict(state.dropped)
    shape["calls"] = [_call_packed(call) for call in state.calls]
    return _dump(shape)


def from_json(data: bytes) -> TaskState:
    """Read a state back.

    Raises:
        FormatError: it is no task state, one of a newer version, or one over its limits.
    """
    try:
        shape = json.loads(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"expected the JSON of a task state; got {data[:40]!r}") from error
    if not isinstance(shape, dict) or not _count(shape.get("task_state")):
        raise FormatError(f"expected the JSON of a task state, an object with its version; got {data[:40]!r}")
    if shape["task_state"] > VERSION:
        raise FormatError(
            f"this task state has version {shape['task_state']}, known is {VERSION}: use a newer firsthand"
        )
    try:
        return _state(shape)
    except (TypeError, KeyError, ValueError) as error:
        raise FormatError(f"the task state of version {VERSION} is not whole: {error}") from error


def _state(shape: Mapping[str, Any]) -> TaskState:
    numbers = {name: _checked(_count(shape[name]), shape[name], name) for name in ("through", "turn", "requests")}
    held: dict[str, Any] = {}
    for name in FIELDS:
        if name in LISTS:
            held[name] = tuple(_unpacked(name, one) for one in shape[name])
            _checked(len(held[name]) <= ENTRIES_MAX[name], len(held[name]), f"number of {name}")
        else:
            held[name] = _unpacked(name, shape[name]) if name in shape else None
    dropped = shape["dropped"]
    _checked(
        isinstance(dropped, dict) and set(dropped) <= set(LISTS) and all(map(_count, dropped.values())),
        dropped, "dropped",
    )  # fmt: skip
    calls = tuple(_call(one) for one in shape["calls"])
    size = sum(len(_dump(_call_packed(call))) for call in calls)
    _checked(len(calls) <= CALLS_MAX and size <= CALLS_BYTES_MAX, size, "size of calls")
    state = TaskState(**held, dropped=dropped, calls=calls, **numbers)
    size = sum(map(size_bytes, _entries(state)))
    _checked(size <= BYTES_MAX, size, "size in bytes")
    return state


def _packed(entry: Entry) -> list[Any]:
    return [entry.text, entry.pointer, entry.turn, entry.basis.value, entry.key]


def _unpacked(name: str, packed: Any) -> Entry:
    text, pointer, turn, basis, key = packed
    _checked(_is_line(text, CHARACTERS_MAX[name]) and text != "", text, f"text in {name}")
    _checked(_is_line(pointer, POINTER_CHARACTERS_MAX), pointer, f"pointer in {name}")
    _checked(_is_line(key, KEY_CHARACTERS_MAX), key, f"key in {name}")
    return Entry(text, pointer, _checked(_count(turn), turn, f"turn in {name}"), Basis(basis), key)


def _call_packed(call: Call) -> list[str]:
    return [call.call_id, call.tool, call.said]


def _call(packed: Any) -> Call:
    _checked(len(packed) == 3 and all(_is_line(one, CALL_CHARACTERS_MAX) for one in packed), packed, "call")
    return Call(*packed)


def _checked(holds: bool, got: Any, what: str) -> Any:
    if not holds:
        raise ValueError(f"its {what} is {got!r:.60}")
    return got


def _is_line(text: object, characters_max: int) -> bool:
    return isinstance(text, str) and len(text) <= characters_max and shown(text) == text


def _count(number: object) -> bool:
    return type(number) is int and 0 <= number < 1 << 63


def _dump(shape: Any) -> bytes:
    return to_bytes(json.dumps(shape, ensure_ascii=False, sort_keys=True, separators=(",", ":")))


# limits ------------------------------------------------------------------------------------------------


def _listed(name: str, what: object, pointer: str, turn: int) -> tuple[Entry, ...]:
    if isinstance(what, (str, bytes)) or not isinstance(what, Iterable):
        raise InvalidArgument(f"{name} is a list of texts; got {what!r:.60}")
    entries: dict[str, Entry] = {}
    for one in what:
        entry = one if isinstance(one, Entry) else _entry(name, one, pointer, turn)
        _unpacked_or_refused(name, entry)
        entries.setdefault(entry.text, entry)
        if len(entries) > ENTRIES_MAX[name]:
            raise InvalidArgument(
                f"{name} has at most {ENTRIES_MAX[name]} entries; put several into one, or leave some out"
            )
    return tuple(entries.values())


def _unpacked_or_refused(name: str, entry: Entry) -> None:
    try:
        _unpacked(name, _packed(entry))
    except (ValueError, TypeError, AttributeError) as error:
        raise InvalidArgument(f"an entry of {name} is one line with its pointer and turn: {error}") from error


def _entry(name: str, what: object, pointer: str, turn: int) -> Entry:
    limit = CHARACTERS_MAX[name]
    if not isinstance(what, str) or not what.strip():
        raise InvalidArgument(f"{name} is made of text that is not empty; got {what!r:.60}")
    if len(what) > limit:
        raise InvalidArgument(f"a text of {name} has at most {limit} characters; got {len(what):,}: say it shorter")
    return Entry(line(what, limit), pointer, turn)


def _entries(state: TaskState) -> list[Entry]:
    found: list[Entry] = [entry for entry in (state.goal, state.phase) if entry is not None]
    for name in LISTS:
        found += getattr(state, name)
    return found


def _fit(state: TaskState, *, by_caller: bool = False) -> TaskState | None:
    """Drop observed entries, the oldest of the largest field first, until the state fits; None when it cannot."""
    held = {name: list(getattr(state, name)) for name in LISTS}
    sizes = {name: sum(map(size_bytes, entries)) for name, entries in held.items()}
    spare = BYTES_MAX - sum(size_bytes(entry) for entry in (state.goal, state.phase) if entry is not None)
    if sum(sizes.values()) <= spare:
        return state
    gone = dict.fromkeys(LISTS, 0)
    while sum(sizes.values()) > spare:
        able = [name for name in LISTS if any(entry.basis is not Basis.SET for entry in held[name])]
        if not able and by_caller:
            return None
        name = max(able or LISTS, key=lambda one: sizes[one])
        oldest = next((entry for entry in held[name] if entry.basis is not Basis.SET), held[name][0])
        held[name].remove(oldest)
        sizes[name] -= size_bytes(oldest)
        gone[name] += 1
    made = replace(state, **{name: tuple(entries) for name, entries in held.items()})
    for name, number in gone.items():
        made = dropped(made, name, number)
    return made


def _same(entry: Entry) -> tuple[str, str]:
    return entry.key, entry.text.casefold()
