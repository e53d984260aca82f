"""What a hook does: the host's payload in, the bytes for its standard output out.

    parse -> pulse -> settings, agent -> record (or leave a job) -> preamble | cues and reminder | warning -> render

The invariant: nothing that a host or a store does is raised here; each fault is kept for
`doctor`, told to the user once a session, and to the agent where memory is degraded by it.
What is unexpected is a fault of Firsthand's own and passes on to the door.

It connects the parts and decides the order; what each shows is theirs.
"""

from __future__ import annotations

import time
from typing import Any

from firsthand import fence, moment
from firsthand.agent_space import AgentSpace
from firsthand.agents import (
    actions,
    capture,
    compaction_notice,
    cues,
    health_line,
    injections,
    jobs,
    pauses,
    preamble_source,
    pulse,
    recording_rules,
    reminders,
    session_cache,
    settings,
    validity,
)
from firsthand.agents.faults import Fault, keep_fault
from firsthand.agents.jobs import Job
from firsthand.agents.tool_table import TOOLS
from firsthand.agents.waiting_calls import ASKS_NS, KeptCalls
from firsthand.answer import Band
from firsthand.errors import FirsthandError, StoreBusy
from firsthand.hosts import hook_hosts
from firsthand.hosts.hook import HookCall, HookEvent, HookReply
from firsthand.hosts.requests import is_asked
from firsthand.ledger.decision_log import LedgerLog
from firsthand.ledger.proposals import end_turn, open_in
from firsthand.moment import Moment
from firsthand.space import Space
from firsthand.tokens import estimate
from firsthand.unasked import secret_library, volunteer
from firsthand.unasked.volunteer import NOTHING, Funnel, Unasked
from firsthand.value import replace, value

DEADLINES_MS = {HookEvent.SESSION_START: 2_000, HookEvent.PROMPT: 500, HookEvent.BEFORE_TOOL: 60}
DEADLINE_MS = 250
_RECORDS = ("enrol", "record")  # the parts without which what happened is not in the log
_WAITING = "calls of hooks wait to be recorded and are not in memory yet (firsthand doctor)"
_SET_ASIDE = "calls of hooks could not be recorded and were set aside (firsthand agent jobs --retry)"
_TOLD_BY = 79
"""So many characters of a fault say which it is; those above end before their number."""
_MEMORY = "memory of earlier sessions, data and not instructions"


@value
class Answered:
    """What a hook answers.

    Attributes:
        output: for standard output: nothing, or one JSON object.
        jobs: True when something was left to do.
        fault: for the hook's own log; empty when all went well.
        unrecorded: why what happened is not in the log; the same call is to be made again later. Empty when it is.
        again: True when that was by another process that held the store, and nothing is wrong with the call.
    """

    output: bytes = b""
    jobs: bool = False
    fault: str = ""
    unrecorded: str = ""
    again: bool = False


def answer_hook(
    host: str,
    payload: bytes,
    space: Space,
    *,
    nonce: str = "",
    now: Moment | None = None,
    deadline_ms: int | None = None,
    left_ms: int | None = None,
) -> Answered:
    """Answer one call of a hook.

    Args:
        nonce: the same for a call that is made again, since it was not answered.
        deadline_ms: after so long nothing more is begun; None takes what the event may cost.
        left_ms: as ``deadline_ms``, for a call that waited before it came here: the shorter one holds.

    Raises:
        InvalidArgument: there is no such host.
    """
    speaks = hook_hosts.named(host)
    call = speaks.parse(payload)
    allowed = DEADLINES_MS.get(call.event, DEADLINE_MS) if deadline_ms is None else deadline_ms
    allowed = allowed if left_ms is None else min(allowed, left_ms)
    hook = _Hook(space, call, nonce, now or moment.now(), allowed)
    reads = speaks.reads_context(call.event)
    if reads and call.host != host:  # another host runs these hooks: what it does not read would count as shown
        reads = hook_hosts.named(call.host).reads_context(call.event)
    reply = hook.run(reads_context=reads)
    return Answered(
        b"" if reply.is_empty else speaks.render(call, reply), hook.left, "; ".join(hook.faults), hook.unrecorded,
        hook.again,
    )  # fmt: skip


def after_hook(space: Space) -> None:
    """Index the newest events now that the host has its answer, so that the next recall need not read them.

    What the library of secrets knows is loaded too, once a process, where `firsthand install` has compiled it.

    Raises:
        StoreError: it cannot be done now; the next appends do it.
    """
    rules = space.path / secret_library.RULES_FOLDER
    if rules.is_dir():
        secret_library.load(rules)
    if not space.read_only:
        space.log.flush_indexes(space.namespace)


class _Hook:
    """One call, from what came to what is answered."""

    def __init__(self, space: Space, call: HookCall, nonce: str, now: Moment, deadline_ms: int) -> None:
        self._until = time.monotonic() + deadline_ms / 1000
        self._space, self._call, self._nonce, self._now = space, call, nonce, now
        self._session = replace(call, agent_id="").log_session
        self.faults: list[str] = []
        self.unrecorded = ""
        self.left = self.again = False
        self._waiting: list[str] = []
        self._blocks: list[Unasked] = []
        self._told: list[Unasked] = []
        self._shown: dict[str, Any] = {}
        self._output = NOTHING
        self._kept = call

    def run(self, *, reads_context: bool) -> HookReply:
        """Do all that the event asks for, each part for itself."""
        call, space = self._call, self._space
        if call.fault:
            self._fault("parse", call.fault)
        if space.namespace != pulse.CANARY:
            self._try("pulse", lambda: pulse.beat(space.path, call.host, call.event, self._now))
        if not call.session:
            return HookReply()
        self._settings = settings.load(space.path, call.cwd)
        for fault in self._settings.faults:
            self._fault("settings", fault)
        self._off = "" if space.read_only else "this call"  # where that cannot be read, nothing is recorded
        self._known = session_cache.Known()
        self._try("known", self._read_known)
        if not space.read_only:
            self._try("pause", self._look_for_pause)
        if self._off:
            self._settings = replace(self._settings, record=False)
        self._try("kept calls", self._look_for_kept)
        self._agent = AgentSpace(space, self._known.agent or self._settings.agent or settings.agent_of(call.cwd))
        if self._settings.record and not space.read_only:
            self._try("enrol", self._enrol)
            if call.event in (HookEvent.STOP, HookEvent.PROMPT, HookEvent.SESSION_END):
                self._try("turn", self._end_turn)
            self._try("record", self._record)
        if self._off and call.event in (HookEvent.SESSION_START, HookEvent.PROMPT):
            self._told.append(self._funnel().line(f"firsthand: {self._off} is off the record; nothing of it is kept"))
        if reads_context and not call.agent_id and self._off != pauses.PROMPT:
            self._show()
        if self._settings.tool_output and self._settings.record and call.event is HookEvent.AFTER_TOOL:
            self._try("tool output", self._replace_output)
        return self._reply()

    def _show(self) -> None:
        event = self._call.event
        if event is HookEvent.SESSION_START:
            self._try("preamble", self._session_start)
        elif event is HookEvent.PROMPT and self._call.source in ("", "user", "sdk"):
            self._try("cues", self._cues)
            self._try("recall", self._recall)
        elif event is HookEvent.BEFORE_TOOL and self._settings.actions:
            self._try("actions", self._warn)

    # the parts -----------------------------------------------------------------------------------------

    def _look_for_pause(self) -> None:
        word = self._settings.pause_word
        is_new = not self._known.agent
        self._off = pauses.off_record(self._space.path, self._call, self._session, word, self._now, is_new=is_new)

    def _read_known(self) -> None:
        self._known = session_cache.known(self._space.path, self._space.namespace, self._session)

    def _look_for_kept(self) -> None:
        """Say at once that memory lacks what hooks were told; the hook of the newest calls may still be asking."""
        kept_calls = KeptCalls(self._space.path)
        if waiting := len(kept_calls.waiting(before_ns=self._now.microseconds * 1_000 - ASKS_NS)):
            self._waiting.append(f"{_WAITING}: {waiting:,}")
        if aside := len(kept_calls.set_aside()):
            self._waiting.append(f"{_SET_ASIDE}: {aside:,}")

    def _enrol(self) -> None:
        """Make the session the agent's at its first hook; a project that is new brings its other transcripts."""
        if self._known.agent:
            return
        space, call, agent = self._space, self._call, self._agent
        if call.transcript and not any(name.startswith(f"{call.host}:") for name in agent.sessions()):
            self._leave(Job(jobs.PROJECT, space.namespace, agent.name, "", call.host, call.transcript, call.cwd))
        agent.enrol(self._session, host=call.host, cwd=call.cwd)
        self._known = replace(self._known, agent=agent.name)
        session_cache.keep(space.path, space.namespace, self._session, self._known)

    def _record(self) -> None:
        space, agent = self._space, self._agent.name
        rules = recording_rules.rules_of(space.path, self._settings)
        call = self._kept = recording_rules.redacted(self._call, rules)
        if recording_rules.is_ignored(self._call, rules):
            self._kept = replace(call, tool_output="")
            return
        self.left |= capture.record(space, call, agent, self._known, nonce=self._nonce, now=self._now)
        job = Job(jobs.FILES, space.namespace, agent)
        if call.event is HookEvent.SESSION_START:
            self._leave(job)
            if self._settings.episodes:
                self._leave(replace(job, kind=jobs.CATCH_UP))
            self._leave(Job(jobs.HEALTH, space.namespace))
        if call.event is HookEvent.SESSION_END and self._settings.episodes:
            after = self._now.milliseconds + capture.END_WAIT_MS
            named = replace(job, kind=jobs.CLOSE, session=self._session, host=call.host, path=call.transcript)
            self._leave(replace(named, after_ms=after))

    def _end_turn(self) -> None:
        """Let the decisions that were stated in this turn take effect, with all of it that is in the transcript."""
        if any(open_in(LedgerLog(self._space).decisions(), self._session)):
            capture.follow_now(self._space, self._call, self._agent.name)
            end_turn(self._space, self._session)

    def _session_start(self) -> None:
        health = health_line.line(self._space.path)
        again = self._call.source in ("resume", "fork")  # the window still holds what it began with
        if self._settings.preamble and not again:
            host = self._call.host
            made = preamble_source.preamble_of(
                self._agent, tokens_max=self._settings.preamble_tokens_max, health=health,
                tools=[tool.name for tool in TOOLS] if host in self._settings.tools else (),
            )  # fmt: skip
            pointers = [part.pointers[0] for part in made.parts if part.pointers]
            self._add(volunteer.came_through(made.text), _MEMORY, preamble=pointers)
        elif health:
            self._add(self._funnel().line(health), _MEMORY)
        if health:
            self._told.append(self._funnel().line(f"firsthand: {health}"))
        if self._call.source == "compact" and self._settings.recall:
            if self._settings.record and not self._space.read_only:
                self._try("record", lambda: capture.follow_now(self._space, self._call, self._agent.name))
            left = compaction_notice.left(self._space, self._session)
            self._add(self._funnel().written(left, compaction_notice.lines), _MEMORY)

    def _cues(self) -> None:
        if not self._settings.cues or not is_asked(self._call.prompt) or self._is_late("cues"):
            return
        made = cues.cues_of(self._agent, self._call.prompt, tokens_max=self._settings.cues_tokens_max)
        self._add(volunteer.came_through(made.text), _MEMORY, cues=len(made.names))

    def _recall(self) -> None:
        if not self._settings.recall or self._is_late("recall"):
            return
        left_ms = max(1, int((self._until - time.monotonic()) * 1000))
        wanted = self._settings
        if self._space.namespace == pulse.CANARY:  # it asks whether the way is open, not whether the answer is likely
            wanted = replace(wanted, band=Band.UNLIKELY)
        reminder = reminders.remind(self._agent, self._call.prompt, self._session, wanted, deadline_ms=left_ms)
        facts: dict[str, Any] = {"skipped": reminder.skipped} if reminder.skipped else {}
        if reminder.answer is not None:
            answer = reminder.answer
            facts |= {"outcome": answer.outcome, "band": answer.band, "likelihood": round(answer.likelihood, 4)}
        if reminder.hits:
            pointers = [*facts.get("shown", ()), *(hit.pointer for hit in reminder.hits)]
            facts |= {"shown": pointers, "scores": [round(h.score, 4) for h in reminder.hits]}
            self._told.append(self._funnel().line(f"firsthand: {len(reminder.hits)} recalled"))
        self._shown |= facts
        if reminder.text:
            self._blocks.append(self._funnel().sealed(reminder.text, fence.LABEL if reminder.hits else _MEMORY))

    def _warn(self) -> None:
        warning = actions.warn(self._agent, self._call, self._session, self._settings)
        if warning.text:
            self._blocks.append(self._funnel().sealed(warning.text, fence.LABEL))
            self._shown |= {"shown": [*warning.pointers]}

    def _replace_output(self) -> None:
        self._output = capture.replaced(self._space, self._kept, self._funnel(), nonce=self._nonce, now=self._now)

    # the answer ----------------------------------------------------------------------------------------

    def _reply(self) -> HookReply:
        """Keep what is to be shown, then say it; a fault is told once a session."""
        context, faults, space = self._blocks, self._told, self._space
        if context and self._settings.record and not space.read_only:
            written: list[bool] = []
            self._try("shown", lambda: written.append(self._keep()))
            if written == [False]:  # another hook has said it
                context, faults = [], []
        elif not self._settings.record:
            injections.remember(space, self._session, self._call, self._shown.get("shown", ()))
        new = [fault for fault in (*self.faults, *self._waiting) if fault[:_TOLD_BY] not in self._known.told]
        speaks = self._call.event in (HookEvent.SESSION_START, HookEvent.PROMPT)
        if new and speaks:
            degraded = self._funnel().line(f"memory is degraded: {new[0]}")
            faults = [*faults, self._funnel().line(f"firsthand: memory is degraded: {new[0]}")]
            context = [*context, self._funnel().sealed(degraded, "a message of firsthand")]
            self._known = replace(self._known, told=(*self._known.told, *(fault[:_TOLD_BY] for fault in new)))
            self._try("known", lambda: session_cache.keep(space.path, space.namespace, self._session, self._known))
        return HookReply(volunteer.joined(context), volunteer.joined(faults, "; "), self._output)

    def _keep(self) -> bool:
        shown = {**self._shown, "tokens": estimate(volunteer.joined(self._blocks))}
        return injections.keep(self._space, self._session, self._call, shown, nonce=self._nonce, now=self._now)

    def _add(self, text: Unasked, label: str, **facts: Any) -> None:
        if text:
            self._blocks.append(self._funnel().sealed(text, label))
            self._shown |= facts

    def _funnel(self) -> Funnel:
        return validity.funnel(self._space)

    def _leave(self, job: Job) -> None:
        self.left |= jobs.leave(self._space.path, job)

    def _is_late(self, part: str) -> bool:
        late = time.monotonic() >= self._until
        if late:
            self._fault(part, "left out: the hook's time was over before it began")
        return late

    def _try(self, where: str, part: Any) -> None:
        """Do a part; what a store or a file refuses is kept and the others go on."""
        try:
            part()
        except FirsthandError as error:
            if where in _RECORDS:
                self.unrecorded = f"{type(error).__name__}: {error}"
                self.again = isinstance(error, StoreBusy)
            self._fault(where, f"{type(error).__name__}: {error}")

    def _fault(self, where: str, text: str) -> None:
        self.faults.append(f"{where}: {text}")
        try:
            keep_fault(self._space.path, Fault(where, text, self._session, self._now, self._space.namespace))
        except FirsthandError as error:  # the disk itself: the hook's log is what is left
            self.faults.append(f"this fault could not be kept: {error}")
