"""The demo's long session: over 100,000 tokens read under a window of 8,000, and nothing of it lost.

An agent whose lines are scripted reads Python's own library, piece by piece. What it
reads is what is on this machine; when it asks for what was evicted, the answers come
from the same handler that answers a model's calls.
"""

from __future__ import annotations

import json
import re
import sysconfig
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from firsthand import Anatomy, Kind, Memory, Request, SessionWindow, difference
from firsthand.cli.anatomy import drawn
from firsthand.cli.demo_telling import Telling
from firsthand.cli.display import cut, shown
from firsthand.tokens import estimate
from firsthand.value import value

SESSION = "demo-long"
WINDOW_TOKENS = 8_000
SESSION_TOKENS_MIN = 100_000
LINES = 40  # of a file, in one tool result
ASKED = 4  # evicted strings that are asked for
_NAMED = re.compile(r"^(?:def|class) ([A-Za-z_]\w{9,40})", re.MULTILINE)


@value
class Read:
    """One piece of a file that the agent read."""

    path: str
    first_line: int
    text: str


def long_session(memory: Memory, tell: Telling) -> None:
    """Run the session, print its markers, ask for what was evicted, and show what one prompt was made of."""
    tell.head(f"7. A session of over {SESSION_TOKENS_MIN:,} tokens under a window of {WINDOW_TOKENS:,}")
    window = memory.session(SESSION, agent="demo-agent").window(WINDOW_TOKENS)
    started = time.perf_counter()
    reads, last = _run(window, tell)
    seconds = time.perf_counter() - started
    state = window.state
    said = sum(estimate(one.text) for one in memory.events(SESSION) if one.kind is not Kind.ANATOMY)
    tell.line(
        f"   {len(reads)} pieces of files read, {said:,} tokens, {state.cycle} compactions, {seconds:.1f} s; "
        f"the last prompt has {last.tokens:,} tokens"
    )
    tell.hold(said > SESSION_TOKENS_MIN, f"the session has {said:,} tokens only")
    tell.hold(state.cycle > 0, "nothing was evicted")
    for marker in state.markers:
        tell.line(f"   {shown(marker.text)}")
    _ask(window, reads, tell)
    _expand_all(memory, window, tell)
    _anatomy(memory, tell)


def _run(window: SessionWindow, tell: Telling) -> tuple[list[Read], Request]:
    reads: list[Read] = []
    tokens = largest = 0
    last = window.request([{"role": "user", "content": "Learn the library. Never change a file."}], model="scripted")
    window.add({"role": "assistant", "content": "I will read it piece by piece."})
    for number, read in enumerate(_pieces(), 1):
        window.add(_messages(number, read))
        last = window.request(model="scripted")
        window.add({"role": "assistant", "content": f"{read.path}: read from line {read.first_line} on."})
        reads.append(read)
        tokens += estimate(read.text)
        largest = max(largest, last.tokens)
        if tokens > SESSION_TOKENS_MIN:
            break
    tell.hold(largest <= WINDOW_TOKENS, f"a prompt had {largest:,} tokens")
    tell.facts["long_session"] = {"pieces": len(reads), "tokens": tokens, "largest_prompt_tokens": largest}
    return reads, last


def _pieces() -> Iterator[Read]:
    """Give pieces of the library's files, another file each time."""
    root = Path(sysconfig.get_path("stdlib"))
    for path in sorted([*root.glob("*.py"), *root.glob("[a-t]*/*.py")]):
        if {"site-packages", "dist-packages", "test"} & set(path.parts):
            continue
        lines = path.read_text("utf-8", "replace").splitlines(keepends=True)
        for first in range(60, len(lines) - LINES, 10 * LINES):
            text = "".join(lines[first : first + LINES])
            if text.strip():
                yield Read(str(path.relative_to(root)), first + 1, text)


def _messages(number: int, read: Read) -> list[dict[str, Any]]:
    arguments = json.dumps({"path": read.path, "line": read.first_line, "lines": LINES})
    call = {"id": f"read_{number}", "type": "function", "function": {"name": "read_file", "arguments": arguments}}
    return [
        {"role": "user", "content": f"What is in {read.path} from line {read.first_line} on?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"read_{number}", "content": read.text},
    ]


def _ask(window: SessionWindow, reads: list[Read], tell: Telling) -> None:
    """Ask for names that were read early, with the call that a model would make."""
    names = [(name, read) for read in reads[: len(reads) // 2] for name in _NAMED.findall(read.text)]
    chosen = names[:: max(1, len(names) // ASKED)][:ASKED]
    tell.hold(len(chosen) == ASKED, "too few names were read to ask for some")
    found = []
    for number, (name, read) in enumerate(chosen):
        prompt = json.dumps(window.request().body)
        window.add({"role": "user", "content": f"How does {name} begin?"})  # limits of recall are for each turn
        function = {"name": "recall", "arguments": json.dumps({"query": name})}
        call = {"id": f"ask_{number}", "type": "function", "function": function}
        started = time.perf_counter()
        (answer,) = window.answer({"role": "assistant", "content": None, "tool_calls": [call]})
        milliseconds = (time.perf_counter() - started) * 1000
        line = next(line for line in read.text.splitlines() if f" {name}" in line)
        right = line.strip() in answer["content"]
        word = tell.hold(right, f"{name} was not recalled from {read.path}")
        window.add([{"role": "assistant", "content": None, "tool_calls": [call]}, answer])
        window.add({"role": "assistant", "content": f"{line.strip()} ({read.path})"})
        where = "no longer in the prompt" if json.dumps(line.strip())[1:-1] not in prompt else "still in the prompt"
        tell.line(f"   recall({name!r}): {word}, {read.path}, {where} ({milliseconds:.0f} ms)")
        found.append({"name": name, "found": right})
    tell.facts["asked"] = found


def _expand_all(memory: Memory, window: SessionWindow, tell: Telling) -> None:
    """Expand every event that left, and compare it with what the log has."""
    here = {item.id for item in window.state.items}
    gone = [one for one in memory.events(SESSION) if one.kind is Kind.TOOL_RESULT and one.id not in here]
    same = sum(memory.expand(f"fh:{one.id}") == (one.content or b"") for one in gone)
    word = tell.hold(same == len(gone) > 0, f"{len(gone) - same} evicted results did not come back")
    tell.line(f"   {len(gone)} tool results left the window; each expands to its exact bytes: {word}")


def _anatomy(memory: Memory, tell: Telling) -> None:
    """Show one prompt as a bar, and why it grew or shrank."""
    calls = [*memory.anatomies(SESSION)]
    one = max(calls, key=lambda each: each.tokens)
    tell.line(f"   call {one.call:,}, {one.tokens:,} of {one.budget_tokens:,} tokens:")
    for line in drawn(one, tell.out):
        tell.line(f"   {line}")
    before, after = _around_a_compaction(calls)
    tell.line(f"   from call {before.call:,} to call {after.call:,}:")
    for sentence in difference(memory, before.pointer, after.pointer).sentences:
        tell.line(f"      {cut(shown(sentence), 150)}")
    replayed = memory.replay(one.pointer)
    tell.line(f"   call {one.call:,} put together again from the log: {tell.hold(replayed.same, replayed.note)}, "
              f"{one.bytes:,} bytes, sha256 {one.sha256[:16]}...")  # fmt: skip


def _around_a_compaction(calls: list[Anatomy]) -> tuple[Anatomy, Anatomy]:
    for before, after in pairwise(calls):
        if after.cycle > before.cycle:
            return before, after
    return calls[-2], calls[-1]
