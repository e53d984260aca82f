"""TaskState: what the user asked last, what was set of the task, open calls, files and commands (total-recall 3.1).

Goal, phase, open loops, premises, key events and constraints are what a caller, or the
agent by its tool, sets; nothing of them is read out of sentences. The invariant: a state
has at most `ENTRIES_MAX` entries a field, each at most `CHARACTERS_MAX` long, and fits
into an event that holds its content inline; what went over a limit is counted by field
in ``dropped``. Each entry says where it comes from: the pointer of its source and its turn.

It does not know events, nor how a state is shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from firsthand.answer import LINES_MAX, Conditions
from firsthand.errors import FormatError, InvalidArgument
from firsthand.event import to_bytes
from firsthand.printable import shown
from firsthand.value import field, replace, value

MEDIA = "application/vnd.firsthand.task-state+json"
VERSION = 2
FIELDS = ("goal", "phase", "open_loops", "premises", "key_events", "constraints")
"""What a caller sets."""
LISTS = FIELDS[2:]
SEEN = ("files", "commands")
"""Lists that are observed."""
ENTRIES_MAX: Mapping[str, int] = {
    "open_loops": 24, "premises": 12, "key_events": 24, "constraints": 24, "files": 16, "commands": 8,
}  # fmt: skip
CHARACTERS_MAX: Mapping[str, int] = {
    "goal": 400, "phase": 160, "open_loops": 200, "premises": 240, "key_events": 200, "constraints": 320,
    "request": 600, "files": 160, "commands": 160,
}  # fmt: skip
BYTES_MAX = 10_000  # of all that is set together as JSON; with the rest less than an event holds inline
SEEN_BYTES_MAX = 6_000  # of all that is observed as JSON
CALLS_MAX = 12  # calls without a result that are remembered
CALL_CHARACTERS_MAX = 80  # of what a call did, of its tool's name and of its id
POINTER_CHARACTERS_MAX = 100
_FIRST_SET = "set"  # of version 1: why an entry that a caller set stands there


@value
class Entry:
    """One line of the state.

    Attributes:
        text: one line, at most `CHARACTERS_MAX` of its field.
        pointer: of the event that it comes from; empty when set by the caller without one.
        turn: of that event.
    """

    text: str
    pointer: str = ""
    turn: int = 0


@value
class Call:
    """A tool call whose result has not been seen yet.

    Attributes:
        call_id, tool: one line each, at most `CALL_CHARACTERS_MAX`.
        said: the agent's own words for it (a command's first line); as long.
        pointer: of the call.
    """

    call_id: str
    tool: str
    said: str
    pointer: str = ""


@value
class TaskState:
    """The current task at one position of the session.

    Attributes:
        goal, phase: as they were set; None while nobody did.
        open_loops, premises, key_events, constraints: as they were set, oldest first.
        request: what the user asked last, verbatim.
        files: that calls named last, the newest last; ``commands``: that ran last, with the exit code of one that
            failed.
        calls: without a result yet, oldest first.
        dropped: how many files and commands went over a limit so far, by field.
        through: the last position that was observed; 0 for none.
        turn: the last turn that was observed.
    """

    goal: Entry | None = None
    phase: Entry | None = None
    open_loops: tuple[Entry, ...] = ()
    premises: tuple[Entry, ...] = ()
    key_events: tuple[Entry, ...] = ()
    constraints: tuple[Entry, ...] = ()
    request: Entry | None = None
    files: tuple[Entry, ...] = ()
    commands: tuple[Entry, ...] = ()
    calls: tuple[Call, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    through: int = 0
    turn: int = 0

    @property
    def is_set(self) -> bool:
        """True when somebody set a field."""
        return any(getattr(self, name) for name in FIELDS)

    @property
    def is_empty(self) -> bool:
        """True when there is nothing to show."""
        return not (self.is_set or self.request or self.files or self.commands or self.calls)


def of_task(state: TaskState, session: str = "") -> Conditions:
    """Give a session's task as the conditions of a recall: what was set; without a goal, the last request."""
    aim = state.goal or state.request
    return Conditions(
        goal=aim.text if aim is not None else "",
        phase=state.phase.text if state.phase is not None else "",
        open_loops=tuple(entry.text for entry in state.open_loops)[:LINES_MAX],
        session=session,
    )


def changed(state: TaskState, *, pointer: str = "", turn: int | None = None, **values: object) -> TaskState:
    """Set fields as the caller, or a tool for the agent, says.

    Args:
        pointer: of the event that says so, if there is one.
        turn: of that event; None is the last one observed.
        given: by field of `FIELDS`; a text for goal and phase (empty clears it), a list of texts or entries for
            the others, which replaces the whole field. None leaves a field as it is.

    Raises:
        InvalidArgument: there is no such field, or a value is of the wrong type or over its limit.
    """
    unknown = [name for name in values if name not in FIELDS]
    if unknown:
        raise InvalidArgument(f"a task state has the fields {', '.join(FIELDS)}; got {unknown[0]!r:.60}")
    at = state.turn if turn is None else turn
    new: dict[str, Any] = {}
    for name, what in values.items():
        if what is None:
            continue
        if name in LISTS:
            new[name] = _listed(name, what, pointer, at)
        else:
            new[name] = _entry(name, what, pointer, at) if what != "" else None
    made = replace(state, **new)
    if _bytes_set(made) > BYTES_MAX:
        raise InvalidArgument(f"what is set of a task state has at most {BYTES_MAX:,} bytes together; say it shorter")
    return made


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
    others = [known for known in state.calls if known.call_id != call.call_id]
    return _fit(replace(state, calls=(*others[1 - CALLS_MAX :], call)))


def seen(state: TaskState, name: str, entry: Entry) -> TaskState:
    """Put a file or command behind the others; the same one moves there, and the oldest one over a limit goes."""
    entries = [known for known in getattr(state, name) if known.text != entry.text]
    over = max(0, len(entries) + 1 - ENTRIES_MAX[name])
    return _fit(_dropped(replace(state, **{name: (*entries[over:], entry)}), name, over))


def _fit(state: TaskState) -> TaskState:
    """Drop what was observed first until the rest fits."""
    while len(_dump(_observed(state))) > SEEN_BYTES_MAX:
        name = max(("calls", *SEEN), key=lambda each: len(getattr(state, each)))
        state = _dropped(replace(state, **{name: getattr(state, name)[1:]}), name, name in SEEN)
    return state


def _dropped(state: TaskState, name: str, number: int) -> TaskState:
    if not number:
        return state
    return replace(state, dropped={**state.dropped, name: state.dropped.get(name, 0) + number})


# JSON --------------------------------------------------------------------------------------------------


def to_json(state: TaskState) -> bytes:
    """Write a state as canonical JSON; `from_json` is its inverse."""
    shape: dict[str, Any] = {"task_state": VERSION, "through": state.through, "turn": state.turn}
    return _dump({**shape, **_set(state), **_observed(state), "dropped": dict(state.dropped)})


def from_json(data: bytes) -> TaskState:
    """Read a state back; of version 1 what a caller set, since the rest was read out of sentences.

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
        return _state(_of_first(shape) if shape["task_state"] == 1 else shape)
    except (TypeError, KeyError, ValueError) as error:
        raise FormatError(f"the task state of version {shape['task_state']} is not whole: {error}") from error


def _of_first(shape: Mapping[str, Any]) -> dict[str, Any]:
    """Give the shape of a state of version 1 in that of today."""
    new: dict[str, Any] = {"through": shape["through"], "turn": shape["turn"], "dropped": {}, "calls": []}
    new |= {name: [] for name in SEEN}
    for name in FIELDS:
        entries = shape.get(name, [])
        own = [
            entry[:3]
            for entry in (entries if name in LISTS else [entries] if entries else [])
            if entry[3] == _FIRST_SET
        ]
        if name in LISTS:
            new[name] = own
        elif own:
            new[name] = own[0]
    return new


def _state(shape: Mapping[str, Any]) -> TaskState:
    numbers = {name: _checked(_count(shape[name]), shape[name], name) for name in ("through", "turn")}
    members: dict[str, Any] = {}
    for name in (*FIELDS, "request", *SEEN):
        if name in ENTRIES_MAX:
            members[name] = tuple(_unpacked(name, entry) for entry in shape[name])
            _checked(len(members[name]) <= ENTRIES_MAX[name], len(members[name]), f"number of {name}")
        else:
            members[name] = _unpacked(name, shape[name]) if name in shape else None
    dropped = shape["dropped"]
    _checked(
        isinstance(dropped, dict) and set(dropped) <= set(SEEN) and all(map(_count, dropped.values())),
        dropped, "dropped",
    )  # fmt: skip
    calls = tuple(map(_call, shape["calls"]))
    _checked(len(calls) <= CALLS_MAX, len(calls), "number of calls")
    state = TaskState(**members, dropped=dropped, calls=calls, **numbers)
    size = _bytes_set(state)
    _checked(size <= BYTES_MAX and len(_dump(_observed(state))) <= SEEN_BYTES_MAX, size, "size in bytes")
    return state


def _set(state: TaskState) -> dict[str, Any]:
    """Give the shape of what callers set."""
    lists = {name: [*map(_packed, getattr(state, name))] for name in LISTS}
    return lists | {name: _packed(entry) for name in FIELDS[:2] if (entry := getattr(state, name)) is not None}


def _bytes_set(state: TaskState) -> int:
    return len(_dump(_set(state)))


def _observed(state: TaskState) -> dict[str, Any]:
    """Give the shape of what was observed."""
    packed: dict[str, Any] = {name: [*map(_packed, getattr(state, name))] for name in SEEN}
    packed["calls"] = [[call.call_id, call.tool, call.said, call.pointer] for call in state.calls]
    return packed | ({"request": _packed(state.request)} if state.request is not None else {})


def _packed(entry: Entry) -> list[Any]:
    return [entry.text, entry.pointer, entry.turn]


def _unpacked(name: str, packed: Any) -> Entry:
    text, pointer, turn = packed
    _checked(_is_line(text, CHARACTERS_MAX[name]) and text != "", text, f"text in {name}")
    _checked(_is_line(pointer, POINTER_CHARACTERS_MAX), pointer, f"pointer in {name}")
    return Entry(text, pointer, _checked(_count(turn), turn, f"turn in {name}"))


def _call(packed: Any) -> Call:
    _checked(len(packed) == 4 and all(_is_line(text, POINTER_CHARACTERS_MAX) for text in packed), packed, "call")
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


# what is set ---------------------------------------------------------------------------------------------


def _listed(name: str, what: object, pointer: str, turn: int) -> tuple[Entry, ...]:
    if isinstance(what, (str, bytes)) or not isinstance(what, Iterable):
        raise InvalidArgument(f"{name} is a list of texts; got {what!r:.60}")
    entries: dict[str, Entry] = {}
    for item in what:
        entry = item if isinstance(item, Entry) else _entry(name, item, pointer, turn)
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
