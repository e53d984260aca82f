"""Recording what happens in a host's session: from its transcript where there is one, else from what hooks are told.

The invariant: never both for the same thing. A transcript is followed by the importer,
so its events have the ids that a later ``firsthand import`` gives them. While the file is
not there (Claude Code makes it after the first prompt) what hooks are told waits in a
spool; it is recorded only when the session has none a minute later, and from then on
that session is recorded from what hooks are told.

It decides nothing about what is shown.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from firsthand import event, fence
from firsthand.agent_space import AgentSpace
from firsthand.agents import jobs, session_cache, small_files
from firsthand.agents.faults import Fault, keep_fault
from firsthand.agents.jobs import Job
from firsthand.agents.transcripts import import_paths
from firsthand.errors import FirsthandError, IdConflict, SourceRejected, StoreFull
from firsthand.event import Draft, Kind, Trust, to_bytes
from firsthand.hosts.hook import HookCall, HookEvent
from firsthand.hosts.intake_rules import REDACTED
from firsthand.log.preview import preview
from firsthand.moment import Moment
from firsthand.space import Space
from firsthand.unasked import secrets, volunteer
from firsthand.unasked.volunteer import Funnel, Piece, Unasked
from firsthand.value import asdict, replace

TRANSCRIBED = ("claude-code", "codex", "gemini")
SPOOL_BYTES_MAX = 64 << 20
NOW_BYTES_MAX = 32 << 20
SPOOL_WAIT_MS = 60_000
OUTPUT_CHARACTERS_MIN = 16_384
"""A tool result above this may be replaced by its preview."""
TOOL_WAIT_MS = 5_000
"""After a tool the transcript is followed this much later, once for all tools meanwhile."""
END_WAIT_MS = 3_000
"""After a session's end: the host writes its last lines when the hook is over."""
PROJECT_FILES_MAX = 1_000


def record(space: Space, call: HookCall, agent: str, known: session_cache.Known, *, nonce: str, now: Moment) -> bool:
    """Record a call, or leave what will; True when a job was left.

    Raises:
        StoreError: it can be recorded nowhere.
    """
    session = call.log_session
    job = _job_of(space, call, agent)
    if call.host not in TRANSCRIBED or not call.transcript or known.payloads:
        _append(space, session, drafts(call, session, space, nonce=nonce, now=now))
        return False
    if small_files.is_file(call.transcript):
        wait = TOOL_WAIT_MS if call.event in (HookEvent.AFTER_TOOL, HookEvent.TOOL_FAILED) else 0
        return jobs.leave(space.path, replace(job, after_ms=now.milliseconds + wait if wait else 0))
    path = spool_of(space, job.session)

    def full() -> None:
        raise StoreFull(f"expected at most {SPOOL_BYTES_MAX:,} bytes in {path}. Run 'firsthand agent jobs'.")

    line = json.dumps({"call": asdict(call), "nonce": nonce, "now": [now.microseconds, now.offset_minutes]})
    small_files.add_line(path, line.encode(), bytes_max=SPOOL_BYTES_MAX, over=full)
    return jobs.leave(space.path, replace(job, kind=jobs.SPOOL, after_ms=now.milliseconds + SPOOL_WAIT_MS))


def follow(space: Space, job: Job) -> None:
    """Import what is new in a transcript and in those of its subagents; the sessions in it become the agent's.

    Raises:
        SourceRejected: the host's parser does not know the file.
    """
    if not job.path or not small_files.is_file(job.path):
        return
    transcript = Path(job.path)
    below = transcript.with_suffix("") / "subagents"
    _import(space, job, [transcript, *([below] if below.is_dir() else [])])
    small_files.remove(spool_of(space, job.session))


def is_short(job: Job) -> bool:
    """Say whether a transcript can be followed while somebody waits; True where there is none.

    Raises:
        StoreError: it cannot be looked at.
    """
    if not job.path or not small_files.is_file(job.path):
        return True
    with small_files.ours(f"look at {job.path}"):
        return Path(job.path).stat().st_size <= NOW_BYTES_MAX


def follow_now(space: Space, call: HookCall, agent: str) -> None:
    """Read what is new in a transcript within the hook, since its end is needed at once.

    A transcript above `NOW_BYTES_MAX` is left to the job.
    """
    job = _job_of(space, call, agent)
    if call.host in TRANSCRIBED and is_short(job):
        follow(space, job)


def _job_of(space: Space, call: HookCall, agent: str) -> Job:
    """Make the job of following the transcript that a call names."""
    session = replace(call, agent_id="").log_session
    return Job(jobs.FOLLOW, space.namespace, agent, session, call.host, call.transcript, call.cwd)


def settle(space: Space, job: Job) -> None:
    """Record a spool whose session still has no transcript; else follow the transcript and drop the spool."""
    if small_files.is_file(job.path):
        follow(space, job)
        return
    path = spool_of(space, job.session)
    if not small_files.is_file(str(path)):
        return
    known = session_cache.known(space.path, space.namespace, job.session)
    session_cache.keep(space.path, space.namespace, job.session, replace(known, agent=job.agent, payloads=True))
    with small_files.ours(f"read {path}"):
        lines = (small_files.beginning(path, 2 * SPOOL_BYTES_MAX) or b"").splitlines()
    for number, line in enumerate(lines, 1):
        try:
            payload = json.loads(line)
            call = HookCall(**(payload["call"] | {"event": HookEvent(payload["call"]["event"])}))
            nonce, at = str(payload["nonce"]), Moment(*payload["now"])
        except (ValueError, KeyError, TypeError) as error:  # torn by a full disk or a crash: the others count
            text = f"line {number} of {path} is lost: {error}"
            keep_fault(space.path, Fault("record", text, job.session, namespace=space.namespace))
            continue
        session = call.log_session
        _append(space, session, drafts(call, session, space, nonce=nonce, now=at))
    small_files.remove(path)


def take_project(space: Space, job: Job) -> None:
    """Import the other transcripts of a project that is seen for the first time; memory works from the first day."""
    folder = Path(job.path).parent
    if job.host == "claude-code" and folder.is_dir():
        with small_files.ours(f"list {folder}"):
            files = sorted(folder.glob("*.jsonl"), key=lambda path: path.stat().st_mtime_ns)[-PROJECT_FILES_MAX:]
        if files:
            _import(space, job, files)


def drafts(call: HookCall, session: str, space: Space, *, nonce: str, now: Moment) -> list[Draft]:
    """Draft the events that a call tells of; trust and origin as the importer gives them."""
    key = space.log.reader.fence_key()
    about = call.key or nonce
    made = []
    for part, draft in enumerate(_told(call)):
        rest = fence.unwrap(event.to_text(draft.content) if isinstance(draft.content, bytes) else "", key)
        if rest.only:
            continue
        meta = {**draft.meta, **({"unfenced": len(rest.marks)} if rest.marks else {}), "hook": call.name}
        if marks := secrets.marks_in("\n".join([rest.text, *map(str, draft.meta.values())])):
            meta[REDACTED] = marks
        names = (b"hook", session.encode(), call.event.value.encode(), about.encode("utf-8", "surrogatepass"))
        words = to_bytes(call.prompt + call.message) if call.event is not HookEvent.AFTER_TOOL else b""
        identity = event.derived_id(None, *names, words, b"%d" % part) if about else None
        content = to_bytes(rest.text) if rest.marks else draft.content
        made.append(replace(draft, content=content, meta=meta, time=now, id=identity))
    return made


def _told(call: HookCall) -> list[Draft]:
    host = f"host:{call.host}"
    if call.event is HookEvent.PROMPT and call.prompt:
        user = call.source in ("", "user", "sdk")
        kind, origin, trust = (
            (Kind.USER_MESSAGE, "user", Trust.TRUSTED) if user else (Kind.SYSTEM, host, Trust.UNTRUSTED)
        )
        return [Draft(kind, to_bytes(call.prompt), origin=origin, trust=trust)]
    if call.event in (HookEvent.AFTER_TOOL, HookEvent.TOOL_FAILED):
        facts: dict[str, Any] = {"tool": call.tool} | ({"call_id": call.call_id} if call.call_id else {})
        failed = {"is_error": True} if call.event is HookEvent.TOOL_FAILED else {}
        asked = Draft(
            Kind.TOOL_CALL, to_bytes(call.tool_input), "application/json", facts,
            agent=call.host, origin="agent", trust=Trust.AGENT,
        )  # fmt: skip
        return [asked, result(call, facts | failed)]
    if call.event in (HookEvent.STOP, HookEvent.SUBAGENT_STOP) and call.message:
        return [Draft(Kind.AGENT_MESSAGE, to_bytes(call.message), agent=call.host, origin="agent", trust=Trust.AGENT)]
    if call.event is HookEvent.AFTER_COMPACT and call.message:
        return [Draft(Kind.SUMMARY, to_bytes(call.message), origin=host, trust=Trust.AGENT)]
    if call.event in (HookEvent.SESSION_START, HookEvent.SESSION_END):
        return [Draft(Kind.SESSION, b"", meta={"event": call.event.value, "cwd": call.cwd}, origin=host)]
    return []


def result(call: HookCall, facts: dict[str, Any]) -> Draft:
    """Draft the result of a tool call."""
    output = call.tool_output or call.error
    media = "application/json" if output[:1] in ("{", "[") else "text/plain"
    return Draft(Kind.TOOL_RESULT, to_bytes(output), media, facts, origin=f"tool:{call.tool}", trust=Trust.UNTRUSTED)


def replaced(space: Space, call: HookCall, funnel: Funnel, *, nonce: str, now: Moment) -> Unasked:
    """Record a large tool result, then give what may stand in its place: its preview and pointer, fenced.

    Fenced, so that the transcript, which will hold the stub, does not bring it into the log as the
    result: the importer takes it out, and the original is the one result of the call.
    """
    if len(call.tool_output) <= OUTPUT_CHARACTERS_MIN or call.host != "claude-code":
        return volunteer.NOTHING
    facts: dict[str, Any] = {"tool": call.tool} | ({"call_id": call.call_id} if call.call_id else {})
    session, about = call.log_session, (call.key or nonce).encode("utf-8", "surrogatepass")
    identity = event.derived_id(None, b"tool output", session.encode(), about, call.call_id.encode())
    with suppress(IdConflict):  # kept by the first of two hooks
        space.append([replace(result(call, facts), id=identity, time=now)], session=session)
    earlier = space.event(f"fh:{identity}")
    text = event.to_text(preview([event.to_bytes(call.tool_output)]))
    head = f'[{earlier.size_bytes:,} bytes, kept whole: expand("fh:{identity}")]\n'
    piece = Piece(text, (f"fh:{identity}",), head=head, answers=True)
    written = funnel.written([piece], lambda pieces: head + pieces[0].words)
    return funnel.sealed(written, "a preview of a tool result")


def _append(space: Space, session: str, made: list[Draft]) -> None:
    if not made:
        return
    try:
        space.append(made, session=session)
    except IdConflict:  # told before, at another moment: a repeat changes nothing
        return


def _import(space: Space, job: Job, paths: list[Path]) -> None:
    """Import transcripts; the sessions in them become the agent's."""
    report, agent = import_paths(space, paths, folder=job.cwd), AgentSpace(space, job.agent)
    for source in report.sources:
        for session in source.sessions:
            agent.enrol(session, host=job.host, cwd=job.cwd)
    refused = [source.refused for source in report.sources if source.refused]
    if refused:
        raise SourceRejected(refused[0])


def spool_of(space: Space, session: str) -> Path:
    """Give the file of what hooks were told of a session whose transcript is not there yet."""
    name = event.derived_id(None, space.namespace.encode(), session.encode())
    return space.path / "hooks" / "waiting" / f"{name}.jsonl"


def is_unread(agent: AgentSpace) -> bool:
    """Bring the log up to the turn in which an agent is, where a host's transcript runs ahead of it.

    Returns:
        True when that cannot be done: what the turn has read is not known then.
    """
    space = agent.space
    try:
        for job in jobs.pending(space.path):
            if (job.namespace, job.agent) != (space.namespace, agent.name):
                continue
            if job.kind == jobs.SPOOL or (job.kind == jobs.FOLLOW and not is_short(job)):
                return True
            if job.kind == jobs.FOLLOW:
                follow(space, job)  # the job stays: what comes after this is left to it
    except FirsthandError:  # whoever does the jobs tells of it; here it says that the turn is not known
        return True
    return False
