"""The command demo: a new store, real work recorded in it, found again, and a broken copy that is caught.

It asks nothing, sends nothing and needs no key. What it prints is measured; whatever does
not come out as it should is said, and makes the exit code 3.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import secrets
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import apsw

from firsthand import Appended, Memory, Outcome, Query
from firsthand.cli.arguments import Parser
from firsthand.cli.display import count, cut, shown, size
from firsthand.cli.exits import DAMAGED, DONE, REFUSED, USAGE
from firsthand.cli.output import Output
from firsthand.environment import for_commands
from firsthand.moment import now
from firsthand.value import field, value

SESSION = "demo"
COMMAND_SECONDS_MAX = 20
LONG_BYTES = 5_000
"""An output from here on is asked for a string from its middle."""
_SETTINGS = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8", "PAGER": "cat", "COLUMNS": "100"}
_BROKEN_SETTINGS = '{"retries": 3, "timeout_s": 30,}'
_WORK = (
    ("Starting our tool feels slow. Which imports cost the time?", "I will measure the imports.",
     ("-X", "importtime", "-c", "import asyncio, http.client, unittest.mock")),
    ("Show me how our options are read.", "This is the reference of the modules that read them.",
     ("-m", "pydoc", "argparse", "subprocess", "logging")),
    ("Now read the settings of the last deployment.", "Reading them.",
     ("-c", f"import json; json.loads({_BROKEN_SETTINGS!r})")),
)  # fmt: skip
"""What the user asks, what the agent says, and the real command of this machine's Python that it runs."""
_TOKEN = re.compile(r"(?<![\w.:-])[A-Za-z_][A-Za-z0-9_.]{9,60}[A-Za-z0-9_]")


@value
class Result:
    """A command as people would type it, what it printed, and where that was recorded."""

    command: str
    printed: bytes
    appended: Appended


@value(frozen=False)
class Report:
    """What the demo says, and what did not come out as it should."""

    out: Output
    facts: dict[str, Any] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def head(self, text: str) -> None:
        """Begin a part."""
        self.line()
        self.line(self.out.style(text, "strong"))

    def line(self, text: str = "") -> None:
        """Say a line, unless the answer is JSON."""
        if not self.out.as_json:
            self.out.line(cut(text, self.out.width))

    def check(self, true: bool, failure: str) -> str:
        """Remember what failed; give the word for it."""
        if true:
            return self.out.style("yes", "good")
        self.failures.append(failure)
        return self.out.style("NO", "bad")


def add(parser: Parser) -> None:
    """Add the arguments."""
    parser.describe(
        _demo, "Record real commands in a new store, find strings, break a copy. No key, no network.",
        """
        firsthand demo
        firsthand demo --into tryout
        """,
    )  # fmt: skip
    parser.add_argument("--into", metavar="DIR", help="a new or empty folder; default firsthand-demo-TIME here")


def _demo(chosen: argparse.Namespace, out: Output) -> int:
    if chosen.store or chosen.namespace:
        out.warn("firsthand: the demo makes a store of its own; name its folder with --into DIR")
        return USAGE
    folder = _folder(chosen.into)
    if folder is None:
        out.warn(f"firsthand: {shown(chosen.into)} holds something; expected a new or empty folder")
        return REFUSED
    started, store, report = time.monotonic(), folder / "store", Report(out)
    with Memory(store) as memory:
        results = _record(memory, report)
        _find(memory, results, report)
        _break_a_copy(memory, results, folder / "broken-copy", report)
        verified = memory.verify()
        report.check(verified.ok, "the demo's own store does not verify")
    report.head(f"Done in {time.monotonic() - started:.1f} s. Type next:")
    place = shown(shlex.quote(str(store)))
    for words in (f"timeline --store {place}", f"recall JSONDecodeError --store {place}"):
        report.line(f"  firsthand {words}")
    report.line("  firsthand install                 connect your own agents; firsthand import takes in their past")
    report.line(f"  rm -r {shown(shlex.quote(str(folder)))}")
    report.facts |= {
        "store": str(store), "events": verified.events, "head": verified.head, "failures": report.failures,
        "ok": not report.failures, "seconds": time.monotonic() - started,
    }  # fmt: skip
    if out.as_json:
        out.json(report.facts)
    for failure in report.failures:
        out.warn(f"firsthand: this did not come out as it should: {failure}")
    return DAMAGED if report.failures else DONE


def _folder(named: str | None) -> Path | None:
    """Give the demo's folder; None when the one that was named holds something."""
    if named is not None:
        folder = Path(named).expanduser().absolute()
        return None if folder.exists() and (not folder.is_dir() or any(folder.iterdir())) else folder
    name = f"firsthand-demo-{time.strftime('%Y%m%d-%H%M%S')}"
    try:
        (Path.cwd() / name).mkdir()
    except OSError:  # the current folder cannot be written; the lines at the end name the other one
        return Path(tempfile.mkdtemp(prefix=f"{name}-"))
    return Path.cwd() / name


def _record(memory: Memory, report: Report) -> list[Result]:
    report.head("1. An agent works; every byte that its commands print is recorded")
    session = memory.session(SESSION, agent="demo-agent")
    results: list[Result] = []
    for asked, answered, words in _WORK:
        command = shlex.join(("python", *words))
        session.user(asked, time=now())
        session.agent(answered, time=now())
        call = session.tool_call("bash", {"command": command}, time=now())
        ran = subprocess.run(
            [sys.executable, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=for_commands(**_SETTINGS), timeout=COMMAND_SECONDS_MAX, check=False,
        )  # fmt: skip
        meta = {"exit_code": ran.returncode}
        appended = session.tool_result(call, ran.stdout, tool="bash", meta=meta, time=now())
        results.append(Result(command, ran.stdout, appended))
        report.line(f"  {size(len(ran.stdout)):>9}  exit {ran.returncode}  {appended.pointer}  {shown(command)}")
    report.facts["commands"] = [
        {"command": result.command, "pointer": result.appended.pointer, "bytes": len(result.printed)}
        for result in results
    ]
    return results


def _find(memory: Memory, results: list[Result], report: Report) -> None:
    report.head("2. A string from the middle of an output is found again, and its source comes back byte for byte")
    recalled = []
    for result in results:
        string = _string_from_middle(result.printed) if len(result.printed) >= LONG_BYTES else None
        if string is None:
            continue
        started = time.perf_counter()
        answer = memory.recall(Query(string, hits_max=20))
        milliseconds = (time.perf_counter() - started) * 1000
        is_exact = any(hit.pointer == result.appended.pointer and hit.exact for hit in answer)
        word = report.check(is_exact, f"{string} was not found in {result.appended.pointer}")
        report.line(f"  {shown(string)}: {word}, in {result.appended.pointer} ({milliseconds:.0f} ms)")
        recalled.append({"string": string, "found": is_exact, "milliseconds": milliseconds})
    report.check(bool(recalled), "no output was long enough to draw a string from")
    longest = max(results, key=lambda result: len(result.printed))
    data = memory.expand(longest.appended)
    word = report.check(data == longest.printed, "the longest output did not come back as it was printed")
    report.line(f"  {len(data):,} bytes, SHA-256 {hashlib.sha256(data).hexdigest()[:16]}..., as printed: {word}")
    never = memory.recall(secrets.token_hex(16))
    word = report.check(never.outcome is Outcome.ABSENT, f"a string that was never said is {never.outcome.value}")
    report.line(f"  what was never said: {never.outcome.value} ({word}, all of it was searched)")
    report.facts |= {"recalled": recalled, "absent": never.outcome is Outcome.ABSENT}


def _string_from_middle(printed: bytes) -> str | None:
    """Draw a string that stands in an output once, from as near its middle as there is one."""
    text = printed.decode("utf-8", "replace")
    middle = len(text) // 2
    tokens = sorted(_TOKEN.finditer(text), key=lambda match: abs(match.start() - middle))
    return next((match[0] for match in tokens[:200] if text.count(match[0]) == 1), None)


def _break_a_copy(memory: Memory, results: list[Result], copy: Path, report: Report) -> None:
    report.head("3. One bit is changed in a copy of the store, in its file")
    events = memory.backup(copy).events
    victim = results[0].appended.position - 1  # the first call of a tool
    _flip(copy / "firsthand.db", victim)
    with Memory(copy, read_only=True, create=False) as broken:
        problems = broken.verify().problems
    named = {problem.position for problem in problems}
    for problem in problems[:2]:
        report.line(f"  wrong  {cut(shown(str(problem)), 150)}")
    word = report.check(victim in named, f"verify named positions {named}, not {victim}")
    report.line(f"  firsthand store verify names it, of {count(events, 'event')}: {word}")
    report.facts["broken"] = {"expected": victim, "named": sorted(position for position in named if position)}


def _flip(file: Path, position: int) -> None:
    """Change one bit in the middle of an event's body, in the database file itself."""
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
