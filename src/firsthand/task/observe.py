"""The fold that keeps a task state up from the events of its session, without a model.

    for event in session.events():
        state = observe(state, event)

The invariant: the same events in the same order give the same state, however they
are handed over, and an event that was observed changes nothing a second time. One
event costs time linear in what is read of it, and the state stays within its
limits. What the caller set is not overwritten; only what is done closes. Words of
tool results, of recalled text and of untrusted writers never enter; those of an
erased event leave.

It does not know who keeps the state, nor when it is written down.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from firsthand.event import Event, Kind, Trust, to_bytes
from firsthand.fence import blanked
from firsthand.task import constraints, plans, sentences, signs
from firsthand.task.sentences import Sentence
from firsthand.task.state import (
    CALL_CHARACTERS_MAX,
    CHARACTERS_MAX,
    KEY_CHARACTERS_MAX,
    LISTS,
    MEDIA,
    Basis,
    Call,
    Entry,
    TaskState,
    added,
    called,
    dropped,
    fitted,
    from_json,
    line,
    without,
)
from firsthand.value import replace

PROMISE_TURNS = 8  # a promise is shown that long; nothing tells whether it was kept
STEPS_MAX = 12  # of a plan; how many come behind them is said
BOXES_MAX = 6
QUESTIONS_MAX = 4
PROMISES_MAX = 4
FAILURES_MAX = 6
DECISIONS_MAX = 8
COMMITS_MAX = 10
READ_CHARACTERS = 20_000  # of a message
_FURTHER = "+"  # the key of the line that tells of items behind those shown


def observe(state: TaskState, event: Event) -> TaskState:
    """Take one event of the session into the state.

    An event of kind TASK_STATE that this package wrote is taken over; when other events came between what its
    writer saw and it, only what a caller set in it is.

    Raises:
        FormatError: a task state of this package is damaged, or of a newer version.
    """
    if event.position <= state.through:
        return state
    seen = replace(state, through=event.position, turn=max(state.turn, event.turn))
    if event.erased or event.meta.get("injected") is True:
        return seen
    if event.kind is Kind.TASK_STATE:
        return _task_state(seen, event, state.through)
    reading = _READINGS.get(event.kind)
    return seen if reading is None else reading(seen, event)


def _task_state(state: TaskState, event: Event, through: int) -> TaskState:
    if event.media != MEDIA or event.content is None:
        return state  # another program's
    told = from_json(event.content)
    if told.through >= through:  # its writer had seen all that was seen here
        return replace(told, through=state.through, turn=max(told.turn, state.turn))
    for name in LISTS:
        given = tuple(entry for entry in getattr(told, name) if entry.basis is Basis.SET)
        observed = (entry for entry in getattr(state, name) if entry.basis is not Basis.SET)
        state = fitted(state, name, (*given, *observed))
    return replace(state, **{name: _if_set(getattr(told, name)) or getattr(state, name) for name in ("goal", "phase")})


def _if_set(entry: Entry | None) -> Entry | None:
    return entry if entry is not None and entry.basis is Basis.SET else None


# what the user says ------------------------------------------------------------------------------------


def _user_message(state: TaskState, event: Event) -> TaskState:
    if event.trust is Trust.UNTRUSTED:
        return state
    text = blanked(event.text[:READ_CHARACTERS])
    said = sentences.said(text)
    gone = {Basis.ASKED}
    state = without(state, "open_loops", (e for e in state.open_loops if e.basis not in gone and not _is_old(e, event)))
    state = _goal(state, event, text, said)
    if event.trust is not Trust.TRUSTED:
        return state  # an agent's words to its sub-agent are a task, but set no rules
    asked = signs.question(said)
    if asked is not None:
        state = _newest(state, "open_loops", _entry("open_loops", asked.text, event, Basis.QUESTION), QUESTIONS_MAX)
    rules = constraints.rules(text)
    state = added(state, "constraints", (_rule(event, text, rule) for rule in rules))
    ruled = {rule.start for rule in rules}
    premises = (one for one in signs.premises(said) if one.start not in ruled)
    state = added(state, "premises", (_entry("premises", one.text, event, Basis.PREMISE) for one in premises))
    return _decisions(state, event, said, by_user=True)


def _goal(state: TaskState, event: Event, text: str, said: tuple[Sentence, ...]) -> TaskState:
    if not text.strip() or signs.is_greeting(text):
        return state
    first = state.requests == 0
    state = replace(state, requests=state.requests + 1)
    if _if_set(state.goal) is not None:
        return state
    named = signs.goal(said)
    if named is not None:
        return replace(state, goal=_entry("goal", named.text, event, Basis.NAMED))
    if first and state.goal is None:
        return replace(state, goal=_entry("goal", text, event, Basis.FIRST))
    return state


def _rule(event: Event, text: str, rule: Sentence) -> Entry:
    """Point at the very sentence where the event holds its text inline."""
    entry = _entry("constraints", rule.text, event, Basis.RULE)
    if event.content is None or to_bytes(event.text) != event.content:
        return entry
    start = len(to_bytes(text[: rule.start]))
    return replace(entry, pointer=f"{entry.pointer}@{start}-{start + len(to_bytes(rule.text))}")


# what the agent says -----------------------------------------------------------------------------------


def _agent_message(state: TaskState, event: Event) -> TaskState:
    text = event.text[:READ_CHARACTERS]
    if not text.strip():
        return state
    if not text.rstrip().endswith((":", "...", "\u2026")):  # it announces what it does next, and answers nothing yet
        state = without(state, "open_loops", (e for e in state.open_loops if e.basis is not Basis.QUESTION))
    said = sentences.said(text)
    state = _boxes(state, event, text)
    asked = signs.asked(said)
    if asked is not None:
        others = (entry for entry in state.open_loops if entry.basis is not Basis.ASKED)
        state = without(state, "open_loops", others)
        state = _newest(state, "open_loops", _entry("open_loops", asked.text, event, Basis.ASKED), 1)
    promised = [one for one in signs.promises(said) if asked is None or one.start != asked.start]
    for one in promised:
        basis = Basis.ASKED if signs.waits_for_user(one) else Basis.COMMITMENT
        state = _newest(state, "open_loops", _entry("open_loops", one.text, event, basis), PROMISES_MAX)
    return _decisions(state, event, said, by_user=False)


def _decisions(state: TaskState, event: Event, said: tuple[Sentence, ...], *, by_user: bool) -> TaskState:
    for one in signs.decisions(said, by_user=by_user):
        entry = _entry("key_events", one.text, event, Basis.DECISION)
        state = _newest(state, "key_events", entry, DECISIONS_MAX)
    return state


def _boxes(state: TaskState, event: Event, text: str) -> TaskState:
    """Take check boxes over: a list that repeats a known item goes on with it, any other begins a new one."""
    steps = plans.boxes(text)
    if not steps:
        return state
    known = {entry.text for entry in state.open_loops if entry.basis is Basis.BOX}
    told = {line(step.text, CHARACTERS_MAX["open_loops"]): step for step in steps}
    goes_on = bool(known & told.keys())
    kept = [
        entry
        for entry in state.open_loops
        if entry.basis is not Basis.BOX or (goes_on and (entry.text not in told or told[entry.text].open))
    ]
    kept = [e for e in kept if e.basis is not Basis.SET or e.text not in told or told[e.text].open]
    new = [_entry("open_loops", t, event, Basis.BOX) for t, step in told.items() if step.open and t not in known]
    return _planned(without(state, "open_loops", kept), new, BOXES_MAX, whole=True)


# what the agent does -----------------------------------------------------------------------------------


def _tool_call(state: TaskState, event: Event) -> TaskState:
    tool, call_id = _meta(event, "tool"), _meta(event, "call_id")
    arguments = event.text
    plan = plans.of_call(tool, arguments)
    if plan is not None:
        state = _plan(state, event, plan)
    if not call_id:
        return state
    told = plans.subject(tool, arguments) or signs.doing(arguments)
    return called(state, Call(*(line(one, CALL_CHARACTERS_MAX) for one in (call_id, tool, told))))


def _plan(state: TaskState, event: Event, plan: plans.Plan) -> TaskState:
    """Take a plan over: what is said of an item replaces it in its place; a whole list replaces all."""
    held = {_name(entry): entry for entry in state.open_loops if entry.basis is Basis.PLAN}
    listed = {} if plan.whole else dict(held)
    done: set[str] = set()
    active: Entry | None = None
    for step in plan.steps:
        before = held.get(step.key) if step.key else None
        if not step.text and before is None:
            continue  # an item that is not known by its id
        entry = _entry("open_loops", step.text or (before or held[step.key]).text, event, Basis.PLAN, step.key)
        same = held.get(_name(entry))
        if not step.open:
            listed.pop(_name(entry), None)
            done.add(entry.text)
            continue
        listed[_name(entry)] = same if same is not None and same.text == entry.text else entry
        active = entry if step.active and active is None else active
    others = (
        e for e in state.open_loops if e.basis is not Basis.PLAN and not (e.basis is Basis.SET and e.text in done)
    )
    state = _planned(without(state, "open_loops", others), [*listed.values()], STEPS_MAX, whole=plan.whole)
    if _if_set(state.phase) is not None:
        return state
    if active is not None:
        return replace(state, phase=replace(active, text=line(active.text, CHARACTERS_MAX["phase"])))
    over = state.phase is not None and (plan.whole or state.phase.text in done)
    return replace(state, phase=None) if over else state


def _tool_result(state: TaskState, event: Event) -> TaskState:
    call_id = line(_meta(event, "call_id"), CALL_CHARACTERS_MAX)
    call = next((one for one in state.calls if call_id and one.call_id == call_id), None)
    if call is not None:
        state = replace(state, calls=tuple(one for one in state.calls if one is not call))
    tool = _meta(event, "tool") or (call.tool if call is not None else event.origin.removeprefix("tool:"))
    said = call.said if call is not None else ""
    head = event.text[: signs.HEAD_CHARACTERS]
    key = line(f"{tool}: {said}" if said else tool, KEY_CHARACTERS_MAX)
    failed = signs.failure(event.meta, event.text, said)
    if failed is not None:
        return _failed(state, event, key, failed)
    if said:  # the same call went well: its failure is over
        over = (e for e in state.key_events if e.basis is not Basis.FAILURE or e.key != key)
        state = without(state, "key_events", over)
    if plans.creates(tool) and said and (number := plans.number(head)):
        entry = _entry("open_loops", said, event, Basis.PLAN, number)
        held = [one for one in state.open_loops if one.basis is Basis.PLAN]
        others = (one for one in state.open_loops if one.basis is not Basis.PLAN)
        return _planned(without(state, "open_loops", others), [*held, entry], STEPS_MAX, whole=False)
    made = signs.commit(said, head)
    if made is None:
        return state
    message = said.removeprefix(signs.COMMITTED)
    text = f"{made.name[:12]} on {made.branch}" + (f": {message}" if message != said else "")
    return _newest(state, "key_events", _entry("key_events", text, event, Basis.COMMIT), COMMITS_MAX)


def _failed(state: TaskState, event: Event, key: str, failed: signs.Failure) -> TaskState:
    """Take a failure over; the same call failing again is told once, as of now."""
    text = f"{key or 'a tool'} (exit code {failed.code})" if failed.code else key or "a tool"
    others = (entry for entry in state.key_events if entry.basis is not Basis.FAILURE or entry.key != key)
    entry = _entry("key_events", text, event, Basis.FAILURE, key)
    return _newest(without(state, "key_events", others), "key_events", entry, FAILURES_MAX)


def _erasure(state: TaskState, event: Event) -> TaskState:
    """Drop what quotes an erased event, and the words of calls that wait."""
    try:
        told = json.loads(event.text)
    except ValueError:
        return state  # none of the log's own: those are JSON
    erased = told.get("erased") if isinstance(told, dict) else None
    gone = {f"fh:{one}" for one in erased} if isinstance(erased, list) else set()
    for name in LISTS:
        state = without(state, name, (entry for entry in getattr(state, name) if not _cites(entry, gone)))
    goal, phase = (None if _cites(entry, gone) else entry for entry in (state.goal, state.phase))
    return replace(state, goal=goal, phase=phase, calls=())  # which call was whose is not known here


def _cites(entry: Entry | None, pointers: set[str]) -> bool:
    return entry is not None and entry.pointer.partition("@")[0] in pointers


# helpers -----------------------------------------------------------------------------------------------


def _entry(name: str, text: str, event: Event, basis: Basis, key: str = "") -> Entry:
    words = line(text, CHARACTERS_MAX[name]) or "(no words)"
    return Entry(words, f"fh:{event.id}", max(event.turn, 0), basis, line(key, KEY_CHARACTERS_MAX))


def _newest(state: TaskState, name: str, entry: Entry, entries_max: int) -> TaskState:
    """Add an entry behind those of its basis; where they are too many, the oldest is dropped."""
    others = [e for e in getattr(state, name) if e.basis is not entry.basis or e.text != entry.text]
    same = [e for e in others if e.basis is entry.basis]
    over = same[: max(0, len(same) + 1 - entries_max)]
    return added(dropped(without(state, name, (e for e in others if e not in over)), name, len(over)), name, [entry])


def _planned(state: TaskState, steps: list[Entry], steps_max: int, *, whole: bool) -> TaskState:
    """Add items of a plan in their order: those that come last are left out, and a whole list says how many."""
    behind = len(steps) - steps_max
    if behind <= 0:
        return added(state, "open_loops", steps)
    if not whole:
        return added(dropped(state, "open_loops", behind), "open_loops", steps[:steps_max])
    last = steps[-1]
    further = f"{behind:,} further item{'s' if behind != 1 else ''} of this list"
    return added(
        state, "open_loops", [*steps[:steps_max], Entry(further, last.pointer, last.turn, last.basis, _FURTHER)]
    )


def _is_old(entry: Entry, event: Event) -> bool:
    return entry.basis is Basis.COMMITMENT and event.turn - entry.turn > PROMISE_TURNS


def _name(entry: Entry) -> str:
    return entry.key or entry.text


def _meta(event: Event, name: str) -> str:
    told = event.meta.get(name)
    return told if isinstance(told, str) else ""


_READINGS: Mapping[Kind, Callable[[TaskState, Event], TaskState]] = {
    Kind.USER_MESSAGE: _user_message,
    Kind.AGENT_MESSAGE: _agent_message,
    Kind.TOOL_CALL: _tool_call,
    Kind.TOOL_RESULT: _tool_result,
    Kind.ERASURE: _erasure,
}
