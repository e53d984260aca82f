"""What reaches a reader: a world is lived through hooks, and a prompt gets what a hook pushes for it.

The sessions of a world are written as a host's transcripts and told to the hooks of
Claude Code, the jobs that hooks leave are run, and rules are noted as an agent notes
them. The invariant: nothing is put before a reader that a hook did not answer, but in
the condition `ideal`; each prompt is asked of a fresh copy of the store, so that no
answer changes another one.

It knows no reader and no score.
"""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from firsthand import Kind, Memory, Moment, Unresolvable
from firsthand.agents.hook_answer import answer_hook
from firsthand.health.job_runner import run_due
from firsthand.tokens import estimate
from firsthand.value import value
from firsthand_evals.cases import Case, Past, World
from firsthand_evals.readers import values

HOST = "claude-code"
HEALTH = "health"
PUSHES = ("preamble", "cues", "recall", "actions")
_SECOND = 1_000_000


@value
class Condition:
    """What is switched on while a prompt is asked; ``ideal`` puts the right content there by hand instead."""

    name: str
    on: tuple[str, ...] = ()
    ideal: bool = False


CONDITIONS = (
    Condition("none"), Condition("preamble", ("preamble",)), Condition("cues", ("cues",)),
    Condition("recall", ("recall",)), Condition("all", ("preamble", "cues", "recall")), Condition("ideal", ideal=True),
)  # fmt: skip


@value
class Pushed:
    """What stands before a reader.

    Attributes:
        start: pushed when the session began; ``message``: pushed with the prompt.
        hits: pointers that implicit recall showed; ``needed``: how many of them hold the value asked for.
        confidence: of that recall, from 0 to 1; 0 when it showed nothing.
        tokens_start, tokens_message: by the estimate.
        fault: what a hook said went wrong.
    """

    start: str = ""
    message: str = ""
    hits: tuple[str, ...] = ()
    needed: int = 0
    confidence: float = 0.0
    tokens_start: int = 0
    tokens_message: int = 0
    fault: str = ""

    @property
    def text(self) -> str:
        """All of it, in the order in which the reader gets it."""
        return "\n\n".join(one for one in (self.start, self.message) if one)


Push = Callable[[World, Case, Condition, int], Pushed]
"""Gives what is pushed for the prompt of a case, its repetition counted from 0."""


@contextmanager
def hooks(worlds: tuple[World, ...], folder: Path) -> Iterator[Push]:
    """Live the worlds through hooks in a folder, and give what asks them."""
    stores = {world.seed: live(world, folder / f"world-{world.seed}") for world in worlds}

    def push(world: World, case: Case, condition: Condition, repetition: int) -> Pushed:
        return ask(stores[world.seed], world, case, condition, repetition)

    yield push


def live(world: World, folder: Path) -> Path:
    """Live a world's sessions; give the store that remembers them."""
    store, transcripts = folder / "store", folder / "transcripts"
    transcripts.mkdir(parents=True)
    with Memory(store, namespace="default", embedder="none") as memory:
        _switch(store, world, Condition("none"))
        for past in world.sessions:
            _session(memory, world, past, transcripts / f"{past.name}.jsonl")
            _lessons(memory, world, past)
    # Weeks were lived in seconds: what watches over the hooks has compared their times with the clock's, and would
    # tell every session that they are broken. What it keeps is derived.
    if (store / HEALTH).is_dir():
        shutil.rmtree(store / HEALTH)
    return store


def ask(store: Path, world: World, case: Case, condition: Condition, repetition: int) -> Pushed:
    """Begin a new session on a copy of the store, type the prompt, and give what the hooks pushed."""
    copy = store.parent / "copy"
    if copy.exists():
        shutil.rmtree(copy)
    shutil.copytree(store, copy)
    with Memory(copy, namespace="default", embedder="none") as memory:
        if condition.ideal:
            text = memory.fence(case.ideal) if case.ideal else ""
            return Pushed(message=text, tokens_message=estimate(text))
        _switch(copy, world, condition)
        name = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{case.name} {repetition}"))
        prompt = case.asked[repetition % len(case.asked)]
        hook = _Hooks(memory, world, name, str(store.parent / "transcripts" / f"{name}.jsonl"))
        start = hook.call("SessionStart", world.now, source="startup")
        message = hook.call("UserPromptSubmit", Moment(world.now.microseconds + _SECOND), prompt=prompt)
        hits, confidence = _hits(memory, f"{HOST}:{name}")
        needed = sum(_holds(memory, hit, case) for hit in hits)
        fault = "; ".join(hook.faults)
        return Pushed(start, message, hits, needed, confidence, estimate(start), estimate(message), fault)


class _Hooks:
    """Calls hooks as the host of one session does."""

    def __init__(self, memory: Memory, world: World, session: str, transcript: str) -> None:
        self._memory, self._session, self._transcript = memory, session, transcript
        self._cwd = f"/home/dev/{world.project}"
        self.faults: list[str] = []

    def call(self, event: str, now: Moment, **more: str) -> str:
        """Call one hook; give the context that the host would take from its answer."""
        told = {"session_id": self._session, "transcript_path": self._transcript, "cwd": self._cwd}
        payload = json.dumps({**told, "hook_event_name": event, **more}).encode()
        nonce = f"{self._session} {event} {now.microseconds}"
        # a busy machine must not make another result: a part is left out only after a minute
        answered = answer_hook(HOST, payload, self._memory, nonce=nonce, now=now, deadline_ms=60_000)
        if answered.fault:
            self.faults.append(f"{event}: {answered.fault}")
        if not answered.output:
            return ""
        specific: Mapping[str, Any] = json.loads(answered.output).get("hookSpecificOutput", {})
        return str(specific.get("additionalContext", ""))


def _switch(store: Path, world: World, condition: Condition) -> None:
    switches: dict[str, object] = {name: name in condition.on for name in PUSHES}
    (store / "settings.json").write_text(json.dumps({"agent": world.project, **switches}), encoding="utf-8")


def _session(memory: Memory, world: World, past: Past, transcript: Path) -> None:
    """Live one session: it begins, the host writes its transcript, it ends; then what hooks left is done."""
    hook = _Hooks(memory, world, past.name, str(transcript))
    hook.call("SessionStart", past.begun, source="startup")
    lines = list(_transcript(world, past))
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    ended = Moment(past.begun.microseconds + (len(lines) + 1) * 20 * _SECOND)
    hook.call("UserPromptSubmit", ended, prompt=past.turns[-1].asked)
    hook.call("Stop", ended)
    hook.call("SessionEnd", ended, reason="other")
    run_due(memory)


def _transcript(world: World, past: Past) -> Iterator[dict[str, Any]]:
    """Write a session as Claude Code does: a line a message, results as user messages."""
    parent: str | None = None
    number = 0

    def line(role: str, content: Any) -> dict[str, Any]:
        nonlocal parent, number
        own = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{past.name} {number}"))
        at = Moment(past.begun.microseconds + number * 20 * _SECOND)
        message: dict[str, Any] = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": f"msg_{number}", "type": "message", "model": "scripted"}
        made = {
            "parentUuid": parent, "isSidechain": False, "type": role, "message": message, "uuid": own,
            "timestamp": str(at), "userType": "external", "cwd": f"/home/dev/{world.project}",
            "sessionId": past.name, "version": "2.1.329", "gitBranch": "main",
        }  # fmt: skip
        parent, number = own, number + 1
        return made

    for turn in past.turns:
        yield line("user", turn.asked)
        if turn.command:
            call = f"toolu_{past.name[:8]}_{number}"
            use = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": turn.command}}
            yield line("assistant", [use])
            result = {"type": "tool_result", "tool_use_id": call, "content": turn.output, "is_error": turn.failed}
            yield line("user", [result])
        yield line("assistant", [{"type": "text", "text": turn.reply}])


def _lessons(memory: Memory, world: World, past: Past) -> None:
    """Note what was learned in a session, with the user's messages that it rests on."""
    for lesson in world.lessons:
        if lesson.session != past.name:
            continue
        events = memory.events(f"{HOST}:{past.name}", kind=Kind.USER_MESSAGE)
        sources = [f"fh:{event.id}" for event in events if event.text in lesson.sources]
        if len(sources) < len(lesson.sources):
            raise Unresolvable(
                f"the lesson {lesson.text!r:.60} rests on {len(lesson.sources)} messages of session {past.name}; "
                f"{len(sources)} of them are in the store. Its transcript was not followed; see 'firsthand agent jobs'."
            )
        memory.note(lesson.text, sources=sources, sort=lesson.sort, time=Moment(past.begun.microseconds))


def _hits(memory: Memory, session: str) -> tuple[tuple[str, ...], float]:
    """Read which pointers implicit recall has shown in a session, and how sure it was."""
    found: list[str] = []
    confidence = 0.0
    for event in memory.events(session, kind=Kind.INJECTION):
        if event.meta.get("event") == "prompt":
            told = json.loads(event.text)
            found += told.get("shown", ())
            confidence = told.get("confidence", 0.0) if found else 0.0
    return tuple(found), confidence


def _holds(memory: Memory, pointer: str, case: Case) -> bool:
    text = memory.expand(pointer).decode("utf-8", "replace")
    return bool(case.ideal) and case.right in values(text, case.wanted)
