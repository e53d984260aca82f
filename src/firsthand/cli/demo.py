"""The command demo: an agent's session, a second one that is reminded of it, an exact string, and a damaged copy.

It asks nothing, sends nothing and needs no key. The agent's words are made up; the command it runs, what the hook puts
before the second session and what is found are real. Whatever does not come out as it should makes the exit code 3.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from firsthand import Memory, Outcome
from firsthand.agents.agent import agent_in
from firsthand.agents.hook_answer import answer_hook
from firsthand.cli.arguments import Parser
from firsthand.cli.display import count, cut, shown, size
from firsthand.cli.exits import DAMAGED, DONE, USAGE
from firsthand.cli.inspect import link
from firsthand.cli.output import Output
from firsthand.environment import NAMESPACE, for_commands
from firsthand.log.sqlite.salvage import Salvage
from firsthand.moment import now

SESSION = "claude-code:monday"
ASKED = "Deploy the broker. It listens at amqps://broker-7.internal:48213, and its retry limit stays at 7."
ANSWERED = "The deploy failed: the certificate of broker-7 has expired. Nothing was changed."
ASKED_LATER = "At which address does the broker listen, and what is its retry limit?"
NEVER_WRITTEN = "rollback-4417.sh"
LINES_MAX = 12  # of what a hook answers
DEPLOY = """import hashlib, sys
for step in range(1000):
    print(f"[{step:04}] copied layer {hashlib.sha256(b'%d' % step).hexdigest()[:32]}")
sys.exit("error: certificate of broker-7 expired on 2026-11-01")
"""
"""The program that the agent runs: 50 kB of output, and it fails."""


class Story:
    """What the demo says, and what did not come out as it should."""

    def __init__(self, out: Output) -> None:
        self.out = out
        self.failures: list[str] = []

    def head(self, text: str) -> None:
        self.line()
        self.line(self.out.style(text, "strong"))

    def line(self, text: str = "") -> None:
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
    parser.describe(_demo, "Record a session, remind the next one, find a string, damage a copy.", "firsthand demo")


def _demo(chosen: argparse.Namespace, out: Output) -> int:
    if chosen.store or chosen.namespace:
        out.warn("firsthand: the demo makes a store of its own; leave --store and --namespace away")
        return USAGE
    folder = Path(tempfile.mkdtemp(prefix="firsthand-demo-"))
    store, project, story = folder / "store", folder / "broker", Story(out)
    project.mkdir()
    story.line("What is said here is made up; the command, the answers of the hook and all that is checked are real.")
    with Memory(store, embedder="none") as memory:
        printed, address = record(memory, project, story)
        _remind(memory, project, story)
        _find(memory, printed, address, story)
        _damage_a_copy(memory, folder / "damaged-copy", story)
        story.check(memory.verify().ok, "the demo's own store does not verify")
    page = link(store, NAMESPACE, f"session?name={SESSION.replace(':', '%3A')}", out)
    story.head("Next: firsthand install (connect your agents), firsthand import (take in their past sessions)")
    story.line(f"  remove this demo: rm -r {shown(shlex.quote(str(folder)))}")
    story.line("  look at its store in a browser:")
    if not out.as_json:
        out.line(f"  {shown(page)}")  # whole, however narrow the terminal: it is there to be opened
    if out.as_json:
        out.json({"store": str(store), "page": page, "failures": story.failures, "ok": not story.failures})
    for failure in story.failures:
        out.warn(f"firsthand: this did not come out as it should: {failure}")
    return DAMAGED if story.failures else DONE


def record(memory: Memory, project: Path, story: Story) -> tuple[bytes, str]:
    """Record a session whose command fails; give what the command printed, and its pointer."""
    story.head("1. An agent works. Each message, call and result is recorded, byte for byte")
    (project / "deploy.py").write_text(DEPLOY, encoding="utf-8")
    agent = agent_in(memory, str(project))
    session = memory.session(SESSION, agent=agent.name)
    asked = session.user(ASKED, time=now())
    call = session.tool_call("Bash", {"command": "python deploy.py"}, time=now())
    ran = subprocess.run(
        [sys.executable, "deploy.py"], cwd=project, env=for_commands(PYTHONUNBUFFERED="1"), check=False,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    meta = {"exit_code": ran.returncode, "error": True}
    result = session.tool_result(call, ran.stdout, tool="Bash", meta=meta, time=now())
    answered = session.agent(ANSWERED, time=now())
    story.line(f"  {asked.pointer}  user: {ASKED}")
    story.line(f"  {result.pointer}  ran: python deploy.py ({size(len(ran.stdout))}, exit code {ran.returncode})")
    story.line(f"  {answered.pointer}  agent: {ANSWERED}")
    agent.enrol(SESSION)
    story.check(agent.close(SESSION).verified, "the episode of the session was not found by its own topic")
    return ran.stdout, result.pointer


def _remind(memory: Memory, project: Path, story: Story) -> None:
    story.head("2. A new session begins. Its agent asks for nothing; the hook puts this before it")
    preamble = hook_text(memory, project, "SessionStart", source="startup")
    story.check("failed" in preamble, "the second session did not read what had failed")
    reminder = hook_text(memory, project, "UserPromptSubmit", prompt=ASKED_LATER)
    story.check("broker-7.internal:48213" in reminder, "the second session was not reminded of the address")
    for text, said in ((preamble, ""), (reminder, f"  user: {ASKED_LATER}")):
        if said:
            story.line(said)
        for line in text.splitlines()[:LINES_MAX]:
            story.line(f"    {shown(line)}")


def hook_text(memory: Memory, project: Path, event: str, **fields: str) -> str:
    """Answer a hook as the server does; give the text that its host puts before the model."""
    payload = {
        "session_id": "tuesday", "transcript_path": str(project / "tuesday.jsonl"), "cwd": str(project),
        "permission_mode": "default", "hook_event_name": event, **fields,
    }  # fmt: skip
    output = answer_hook("claude-code", json.dumps(payload).encode(), memory, deadline_ms=10_000).output
    text: str = json.loads(output)["hookSpecificOutput"]["additionalContext"] if output else ""
    return "\n".join(line for line in text.splitlines() if not line.startswith("<<"))


def _find(memory: Memory, printed: bytes, address: str, story: Story) -> None:
    story.head("3. An exact string from the middle of the output is found, and every byte of it comes back")
    string = printed.decode().splitlines()[500].split()[-1]
    started = time.perf_counter()
    answer = memory.recall(string)
    milliseconds = (time.perf_counter() - started) * 1000
    word = story.check(any(hit.pointer == address and hit.exact for hit in answer), f"{string} was not found")
    story.line(f"  recall {string}: {word}, in {milliseconds:.0f} ms")
    word = story.check(memory.expand(address) == printed, "the output did not come back as it was printed")
    story.line(f"  expand {address}: {size(len(printed))}, as printed: {word}")
    never = memory.recall(NEVER_WRITTEN)
    word = story.check(never.outcome is Outcome.ABSENT, f"a string that was never written is {never.outcome.value}")
    story.line(f"  recall {NEVER_WRITTEN}: {never.outcome.value}, since all of it was searched: {word}")


def _damage_a_copy(memory: Memory, copy: Path, story: Story) -> None:
    story.head("4. One bit of a copy is changed in its file. `firsthand store verify` names the event")
    events = memory.backup(copy).events
    _flip(copy / "firsthand.db", position=1)
    with Memory(copy, read_only=True, create=False) as damaged:
        problems = damaged.verify().problems
    story.line(f"  {cut(shown(str(problems[0])) if problems else 'nothing', 150)}")
    word = story.check({problem.position for problem in problems} == {1}, "verify did not name that event alone")
    story.line(f"  that event and no other, of {count(events, 'event')}: {word}")


def _flip(file: Path, position: int) -> None:
    """Change one bit in the middle of an event's body, in the database file itself."""
    body = Salvage(file).rows[position][18]
    assert isinstance(body, bytes), "the event was just recorded"
    changed = bytearray(body)
    changed[len(body) // 2] ^= 1
    # A page that SQLite has split still holds what moved away: the remains are changed along with the event.
    file.write_bytes(file.read_bytes().replace(body, bytes(changed)))
