"""The demo: a new store, real work recorded in it, found again, and a broken copy that is caught.

It asks nothing, sends nothing, and needs no key. Every time it prints is
measured, and whatever does not come out as it should is said and makes the exit
code 3.
"""

from __future__ import annotations

import argparse
import hashlib
import secrets
import shlex
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw

from firsthand import (
    Appended,
    ImportReport,
    Memory,
    Moment,
    Outcome,
    Query,
    Scope,
    Session,
    SourceRejected,
    StoreDamaged,
    usual_places,
)
from firsthand.cli.demo_reminded import reminded
from firsthand.cli.demo_telling import Telling
from firsthand.cli.demo_window import SESSION as LONG_SESSION
from firsthand.cli.demo_window import long_session
from firsthand.cli.demo_work import Ran, Step, run, steps, string_from_middle
from firsthand.cli.display import clock, count, cut, shown, size
from firsthand.cli.exits import DAMAGED, DONE, REFUSED, USAGE
from firsthand.cli.output import Output
from firsthand.cli.stores import Damaged, walk
from firsthand.moment import now
from firsthand.value import value

SESSION = "demo"
IMPORT_SECONDS_MAX = 15.0  # of the user's own sessions, newest first; the rest is left to `firsthand import`
IMPORT_FILE_BYTES_MAX = 32 << 20
IMPORT_GROUP_BYTES = 4 << 20
PROBLEM_COLUMNS = 170
LONG_BYTES = 20_000  # an output from here on is asked for a string from its middle


@value
class Result:
    """One command's recorded output."""

    step: Step
    appended: Appended
    size_bytes: int
    sha256: str
    exit_code: int
    string: str | None


def demo(chosen: argparse.Namespace, out: Output) -> int:
    """Show Firsthand at work."""
    if chosen.store or chosen.namespace:
        out.warn("firsthand: the demo makes a store of its own; name its folder with --into DIR")
        return USAGE
    folder = _folder(chosen.into)
    if folder is None:
        out.warn(f"firsthand: {shown(chosen.into)} holds something; expected a new or empty folder")
        return REFUSED
    started = time.monotonic()
    tell = Telling(out)
    store = folder / "store"
    tell.facts["store"] = str(store)
    with Memory.open(store) as memory:
        tell.line(f"Firsthand makes a store of its own for this: {shown(str(store))}")
        if chosen.into is None and folder.parent != Path.cwd():
            tell.line("(in a temporary folder, since the current one cannot be written)")
        _import_sessions(memory, tell)
        results = _record(memory.session(SESSION, agent="demo-agent"), tell)
        _recall(memory, results, tell)
        _expand(memory, results, tell)
        _ask_in_vain(memory, tell)
        _break_a_copy(memory, results, folder / "broken-copy", tell)
        long_session(memory, tell)
        reminded(memory, folder / "project", tell)
    _close(store, folder, started, tell)
    for failure in tell.failures:
        out.warn(f"firsthand: this did not come out as it should: {failure}")
    return DAMAGED if tell.failures else DONE


def _folder(named: str | None) -> Path | None:
    """Give the demo's folder; None when the one that was named holds something."""
    if named is not None:
        folder = Path(named).expanduser().absolute()
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            return None
        return folder
    name = f"firsthand-demo-{time.strftime('%Y%m%d-%H%M%S')}"
    try:
        (Path.cwd() / name).mkdir()
    except OSError:  # the current folder cannot be written; `demo` says so
        return Path(tempfile.mkdtemp(prefix=f"{name}-"))
    return Path.cwd() / name


# 1) the user's own sessions --------------------------------------------------------------------------


def _import_sessions(memory: Memory, tell: Telling) -> None:
    places = usual_places()
    hosts = ", ".join(dict.fromkeys(place.host for place in places))
    tell.head("1. Your own agent sessions")
    files = _newest_first()
    tell.facts["sessions_found"] = len(files)
    if not files:
        tell.line(f"   none found in the usual places ({hosts}); the demo goes on without")
        tell.facts["sessions_imported"] = tell.facts["events_imported"] = 0
        return
    started = time.monotonic()
    taken = 0
    reports: list[ImportReport] = []
    for group in _groups(files):
        if time.monotonic() - started > IMPORT_SECONDS_MAX:
            break
        taken += len(group)
        try:
            reports.append(memory.import_paths(group))
        except SourceRejected as error:  # a file by itself that is no transcript; the demo needs none
            tell.line(f"   refused: {shown(str(error))}")
    events = sum(report.events_new for report in reports)
    quarantined = sum(report.quarantined_count for report in reports)
    seconds = time.monotonic() - started
    tell.line(f"   {taken:,} of {count(len(files), 'file')} ({hosts}): {count(events, 'event')} in {seconds:.1f} s")
    if quarantined:
        tell.line(f"   {count(quarantined, 'record')} not understood, kept word for word")
    for refused in [one for report in reports for one in report.refused][:3]:
        tell.line(f"   refused: {shown(refused.refused)}")
    if taken < len(files):
        tell.line("   the others can wait: firsthand import takes in all of them")
    tell.facts |= {"sessions_imported": taken, "events_imported": events}


def _newest_first() -> list[Path]:
    """List the sessions in the usual places that are small enough for a demo."""
    found: dict[Path, float] = {}
    for place in usual_places():
        for path in place.folder.glob(place.pattern) if place.exists else ():
            if path.is_symlink() or not path.is_file():
                continue
            status = path.stat()
            if status.st_size <= IMPORT_FILE_BYTES_MAX:
                found[path] = status.st_mtime
    return sorted(found, key=lambda path: (-found[path], str(path)))


def _groups(files: list[Path]) -> Iterator[list[Path]]:
    group: list[Path] = []
    size_bytes = 0
    for path in files:
        group.append(path)
        size_bytes += path.stat().st_size
        if size_bytes >= IMPORT_GROUP_BYTES:
            yield group
            group, size_bytes = [], 0
    if group:
        yield group


# 2) a live session -----------------------------------------------------------------------------------


def _record(session: Session, tell: Telling) -> list[Result]:
    tell.head("2. A live session: real commands on this machine, every byte they print")
    tell.line("   (the agent's lines are scripted; commands and outputs are real)")
    results: list[Result] = []
    for step in steps():
        if step.asks:
            session.user(step.asks, time=now())
        session.agent(step.says, time=now())
        call = session.tool_call("bash", {"command": step.shown}, time=now())
        ran = run(step)
        with ran.output:
            results.append(_keep(session, step, call, ran, results))
        last = results[-1]
        tell.line(f"   {size(last.size_bytes):>9}  exit {last.exit_code}  {last.appended.pointer}  {shown(step.title)}")
    failed = [result for result in results if result.exit_code]
    said = f"{len(results)} commands ran, {len(failed)} failed: " + ", ".join(one.appended.pointer for one in failed)
    session.agent(said, time=now())
    tell.facts["commands"] = [
        {"pointer": one.appended.pointer, "bytes": one.size_bytes, "sha256": one.sha256, "command": one.step.shown}
        for one in results
    ]
    return results


def _keep(session: Session, step: Step, call: Appended, ran: Ran, before: list[Result]) -> Result:
    """Append a command's output as it is streamed from its file, and draw a string from its middle."""
    appended = session.tool_result(call, ran.output, tool="bash", meta={"exit_code": ran.exit_code}, time=now())
    string = None
    if ran.size_bytes >= LONG_BYTES:
        ran.output.seek(0)
        string = string_from_middle(ran.output.read(), [one.string for one in before if one.string])
    return Result(step, appended, ran.size_bytes, ran.sha256, ran.exit_code, string)


# 3) find again ---------------------------------------------------------------------------------------


def _recall(memory: Memory, results: list[Result], tell: Telling) -> None:
    tell.head("3. Exact strings from the middle of those outputs, recalled")
    found: list[dict[str, Any]] = []
    for result in results:
        if result.string is None:
            continue
        started = time.perf_counter()
        answer = memory.recall(Query(result.string, hits_max=20))
        milliseconds = (time.perf_counter() - started) * 1000
        hit = next((one for one in answer if one.pointer == result.appended.pointer and one.exact), None)
        tell.line(f"   {shown(result.string)}")
        word = tell.hold(hit is not None, f"{result.string} was not found in {result.appended.pointer}")
        where = f"{hit.pointer} at byte {hit.preview_start:,}, {clock(hit.time)}" if hit else answer.outcome.value
        tell.line(f"      found: {word}  {where}  ({milliseconds:.0f} ms)")
        found.append({"string": result.string, "found": hit is not None, "milliseconds": milliseconds})
    tell.facts["recalled"] = found
    tell.hold(bool(found), "no output was long enough to draw a string from")


def _expand(memory: Memory, results: list[Result], tell: Telling) -> None:
    tell.head("4. The longest output, expanded to its bytes")
    longest = max(results, key=lambda one: one.size_bytes)
    started = time.perf_counter()
    digest, size_bytes = hashlib.sha256(), 0
    for piece in memory.stream(longest.appended):
        digest.update(piece)
        size_bytes += len(piece)
    milliseconds = (time.perf_counter() - started) * 1000
    same = (digest.hexdigest(), size_bytes) == (longest.sha256, longest.size_bytes)
    tell.line(f"   SHA-256 of what the command printed  {longest.sha256}")
    tell.line(f"   SHA-256 of what the log gives back   {digest.hexdigest()}")
    word = tell.hold(same, "the longest output did not come back as it was printed")
    tell.line(f"   the same: {word}  {size_bytes:,} bytes in {milliseconds:.0f} ms")
    tell.facts["expanded"] = {"pointer": longest.appended.pointer, "same": same, "bytes": size_bytes}


def _ask_in_vain(memory: Memory, tell: Telling) -> None:
    tell.head("5. An empty answer says why it is empty")
    never_said, earlier = secrets.token_hex(16), Scope(until=Moment(0))
    for text, query, expected in (
        (f"{never_said}, which nobody ever said", Query(never_said), Outcome.ABSENT),
        ("'settings', but only before 1970", Query("settings", earlier), Outcome.FILTERED),
    ):
        answer = memory.recall(query)
        word = tell.hold(answer.outcome is expected, f"{text}: {answer.outcome.value} instead of {expected.value}")
        tell.line(f"   {text}: {answer.outcome.value} (as it should be: {word})")
        tell.facts[expected.value] = answer.outcome is expected


# 6) a broken copy ------------------------------------------------------------------------------------


def _break_a_copy(memory: Memory, results: list[Result], copy: Path, tell: Telling) -> None:
    tell.head("6. A copy of the store, with one byte changed in an event and one in an artifact")
    made = memory.backup(copy)
    tell.line(f"   copied {count(made.events, 'event')}, {size(made.size_bytes)}; the store itself stays as it is")
    victim = results[0].appended.position - 1  # the first tool call
    longest = max(results, key=lambda one: one.size_bytes).appended
    expected = {victim, longest.position}
    _flip_in_event(copy, victim)
    _flip_in_artifact(copy, memory, longest)
    with Memory.open(copy, read_only=True, create=False) as broken:
        verified = broken.verify()
        for problem in verified.problems[:4]:
            tell.line(f"   wrong  {cut(shown(str(problem)), PROBLEM_COLUMNS)}")
        named = {problem.position for problem in verified.problems}
        word = tell.hold(expected <= named, f"verify named positions {sorted(named)}, not {sorted(expected)}")
        tell.line(f"   verify names both: {word}")
        whole, damaged = _read_all(broken)
    right = damaged == len(expected) and whole == made.events - damaged
    word = tell.hold(right, f"{whole} of {made.events} events of the copy could be read")
    tell.line(f"   and every other event is still read, byte for byte: {word} ({whole:,} of {made.events:,})")
    tell.facts["broken"] = {"named": sorted(named), "expected": sorted(expected), "whole": whole, "damaged": damaged}


def _flip_in_event(store: Path, position: int) -> None:
    """Change one bit in the middle of an event's body, in the database file itself."""
    file = store / "firsthand.db"
    database = apsw.Connection(str(file))
    try:
        body = database.execute("SELECT body FROM event WHERE key = ?", (position,)).get
    finally:
        database.close()
    assert isinstance(body, bytes), "the event was just recorded"
    data = file.read_bytes()
    assert body in data, "a small body lies on one page"
    broken = bytearray(body)
    broken[len(body) // 2] ^= 1
    # A page that SQLite has split still holds what moved away: the remains are changed along with the event.
    file.write_bytes(data.replace(body, bytes(broken)))


def _flip_in_artifact(store: Path, memory: Memory, appended: Appended) -> None:
    """Change one bit in the middle of an artifact's file."""
    artifact = memory.event(appended).artifact
    assert artifact is not None, "the longest output is large enough to be an artifact"
    (file,) = store.rglob(f"{artifact.digest.hex()}.zst")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def _read_all(memory: Memory) -> tuple[int, int]:
    """Read every event to its last byte; give how many are whole and how many are damaged."""
    whole = damaged = 0
    for one in walk(memory):
        if isinstance(one, Damaged):
            damaged += 1
            continue
        try:
            for _ in memory.stream(f"fh:{one.id}"):
                pass
        except StoreDamaged:
            damaged += 1
        else:
            whole += 1
    return whole, damaged


# 8) what is there, and what to type next -------------------------------------------------------------


def _close(store: Path, folder: Path, started: float, tell: Telling) -> None:
    """Open the store again, as the next process will, and say what is in it."""
    with Memory.open(store, read_only=True, create=False) as memory:
        verified = memory.verify()
        stats = memory.stats()
        text = sum(one.size_bytes for one in memory.events())
    seconds = time.monotonic() - started
    disk = stats.database_bytes + stats.wal_bytes + stats.artifact_bytes
    word = tell.hold(verified.ok, "the demo's own store does not verify")
    tell.head("9. The store")
    tell.line(
        f"   {count(stats.events, 'event')}, {size(text)} of content, {size(disk)} on disk with its index; "
        f"it verifies: {word}"
    )
    tell.line(f"   head {verified.head}")
    tell.line(f"   all of this took {seconds:.1f} s")
    place = shown(shlex.quote(str(store)))
    tell.head("Type next")
    for words in (
        "sessions", f"timeline --session {SESSION}", "recall Traceback settings", f"anatomy {LONG_SESSION}",
        f"window {LONG_SESSION}", "verify",
    ):  # fmt: skip
        tell.line(f"   firsthand {words} --store {place}")
    tell.line("   firsthand import                      your own sessions, into your own store")
    tell.line(f"   rm -r {shown(shlex.quote(str(folder)))}")
    tell.facts |= {
        "events": stats.events, "content_bytes": text, "disk_bytes": disk, "head": verified.head,
        "ok": verified.ok and not tell.failures, "seconds": seconds, "failures": tell.failures,
    }  # fmt: skip
    if tell.out.as_json:
        tell.out.json(tell.facts)
