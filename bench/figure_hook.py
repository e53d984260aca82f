"""A hook's process from its start to its end, with a daemon and without, beside a bare interpreter.

One at a time, and many: prompts of ``SESSIONS`` sessions that come at random moments, so many a
second, and as many at the very same moment; each of them as a row, with the slowest.

The store holds ``EVENTS`` real texts. Prompts are words of them, recalled for in all
sessions of the store; each hook records its event as well. Prompts and a session's end
are Claude Code's; tool results are Cursor's, whose hooks record them themselves.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count as numbers
from pathlib import Path
from typing import Any

from setting import Setting
from table import Bound, Row, Target
from timing import interleave, percentile, say

EVENTS = 100_000
PROMPTS = 60
LARGE_BYTES = 1 << 20
SESSIONS = 50
RATES = (5, 10, 20)  # prompts a second, of all sessions together
RATE_SECONDS = 6
HOST_MS = 1_500  # what Claude Code gives all hooks of a session's end; the shortest time of any host
Times = dict[str, list[float]]
BARE = "a bare `python -I -S -E -c pass`"


def measure(setting: Setting) -> list[Row]:
    count = setting.scaled(EVENTS)
    folder = setting.fresh("hook")
    try:
        return _measured(setting, count, folder)
    finally:
        setting.drop(folder)


def _measured(setting: Setting, count: int, folder: Path) -> list[Row]:
    shutil.copytree(setting.store(count), folder / "store")
    (folder / "store" / "settings.json").write_text('{"across": true}')
    users = {name: _user(folder, name) for name in ("daemon", "cold")}
    prompts = [_prompt(text, number) for number, text in enumerate(_sentences(setting))]
    say(f"{len(prompts)} prompts to a store of {count:,} events")
    for user in users.values():  # the first hook enrols the agent and starts the daemon
        _hook(user, prompts[0], "claude-code")
    _wait_for_daemon(users["daemon"])
    bare = [sys.executable, "-I", "-S", "-E", "-c", "pass"]
    large = [_tool_result(number) for number in range(20)]
    small = [_tool_result(number, 200) for number in range(20)]
    try:
        of_prompts = interleave(
            {
                "bare": lambda _: subprocess.run(bare, check=True),
                "daemon": lambda prompt: _hook(users["daemon"], prompt, "claude-code"),
            },
            prompts[1:],
        )
        of_tools = interleave(
            {"small": lambda k: _hook(users["daemon"], small[k]), "large": lambda k: _hook(users["daemon"], large[k])},
            range(len(small)),
        )
        ends = interleave({"daemon": lambda k: _hook(users["daemon"], _end(k), "claude-code")}, range(20))
        of_prompts["cold"] = _cold(users["cold"], prompts[1:])
        ends["cold"] = _cold(users["cold"], [_end(k) for k in range(20)])
        many = [*_processor(users["daemon"], prompts[1:], bare), *_many(setting, users["daemon"], prompts, bare)]
        state = json.loads(_firsthand(users["daemon"], "serve", "--status", "--json"))
    finally:
        for user in users.values():
            _firsthand(user, "serve", "--stop")
    return _rows(count, of_prompts, of_tools, ends, state) + many


def _cold(user: dict[str, str], payloads: list[bytes]) -> list[float]:
    """Time hooks that find no daemon, and start the one that answers them."""
    seconds = []
    for payload in payloads:
        _firsthand(user, "serve", "--stop")
        (Path(user["XDG_RUNTIME_DIR"]) / "firsthand" / "starts").unlink(missing_ok=True)
        before = time.perf_counter()
        _hook(user, payload, "claude-code")
        seconds.append(time.perf_counter() - before)
    return seconds


def _processor(user: dict[str, str], prompts: list[bytes], bare: list[str]) -> list[Row]:
    """Measure what a prompt costs the processor, its hook and the daemon together: load changes that less than time."""
    pid = json.loads(_firsthand(user, "serve", "--status", "--json"))["pid"]
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        say("what the daemon takes of the processor is not told by this system: no row")
        return []

    def of_children() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    def of_daemon() -> float:
        fields = stat.read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    before = of_children(), of_daemon()
    for number, prompt in enumerate(prompts):
        anew = json.loads(prompt) | {"session_id": "processor", "prompt_id": f"processor {number}"}
        _hook(user, json.dumps(anew).encode(), "claude-code")
    after = of_children(), of_daemon()
    for _ in prompts:
        subprocess.run(bare, check=True)
    each = 1000 / len(prompts)
    theirs = each * (of_children() - after[0])
    return [
        Row("processor of a prompt's hook, mean", each * (after[0] - before[0]), theirs, "ms", BARE, True),
        Row("processor of the daemon for a prompt, mean", each * (after[1] - before[1]), theirs, "ms", BARE, True),
    ]


def _many(setting: Setting, user: dict[str, str], prompts: list[bytes], bare: list[str]) -> list[Row]:
    """Measure the hooks of many sessions: at random moments, so many a second, and all at once."""
    told = numbers()

    def hook() -> object:
        number = next(told)
        prompt = json.loads(prompts[number % len(prompts)])
        named = prompt | {"session_id": f"many {number % SESSIONS}", "prompt_id": f"many {number}"}
        return _hook(user, json.dumps(named).encode(), "claude-code")

    def start() -> object:
        return subprocess.run(bare, check=True)

    rows, limit = [], Target(Bound.OURS_MAX, HOST_MS)
    for rate in RATES:
        seconds = max(1.0, setting.scaled(RATE_SECONDS))
        ours, theirs = _at_rate(hook, rate, seconds), _at_rate(start, rate, seconds)
        what = f"hooks of {SESSIONS} sessions, {rate} a second at random moments, warm daemon"
        rows.append(_many_row(f"{what}, p95", ours, theirs, 0.95))
        rows.append(_many_row(f"{what}, the slowest", ours, theirs, 1.0, limit))
    ours, theirs = _together(hook, SESSIONS), _together(start, SESSIONS)
    rows.append(_many_row(f"{SESSIONS} hooks at the same moment, the slowest", ours, theirs, 1.0, limit))
    return rows


def _many_row(figure: str, ours: list[float], theirs: list[float], share: float, target: Target | None = None) -> Row:
    note = f"{len(ours)} hooks; the target is the shortest time that a host gives: {HOST_MS:,} ms." if target else ""
    times = 1000 * percentile(ours, share), 1000 * percentile(theirs, share)
    return Row(figure, *times, "ms", "bare interpreters at the same moments", True, target, note)


def _at_rate(run: Callable[[], object], rate: float, seconds: float) -> list[float]:
    """Run something at random moments, as independent sessions do, and time each run from its moment on."""
    chance = random.Random(rate)
    moments = [0.0]
    while moments[-1] < seconds:
        moments.append(moments[-1] + chance.expovariate(rate))
    begun = time.perf_counter()

    def at(moment: float) -> float:
        time.sleep(max(0.0, begun + moment - time.perf_counter()))
        before = time.perf_counter()
        run()
        return time.perf_counter() - before

    with ThreadPoolExecutor(len(moments)) as pool:
        return list(pool.map(at, moments))


def _together(run: Callable[[], object], number: int) -> list[float]:
    """Run something so many times at once."""
    begun = time.perf_counter()

    def one(_: int) -> float:
        run()
        return time.perf_counter() - begun

    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(one, range(number)))


def _rows(count: int, of_prompts: Times, of_tools: Times, ends: Times, state: dict[str, Any]) -> list[Row]:
    def p95(seconds: list[float]) -> float:
        return 1000 * percentile(seconds, 0.95)

    bare = p95(of_prompts["bare"])
    at = f"hook at {count:,} events, p95"
    note = (
        "Process start to process end; the prompt is recorded and recalled for. The baseline's p95 is in the same run."
    )
    over = 1000 * (percentile(of_tools["large"], 0.5) - percentile(of_tools["small"], 0.5))
    limit = Bound.OURS_MAX
    return [
        Row(f"{at}, warm daemon", p95(of_prompts["daemon"]), bare, "ms", BARE, True, Target(limit, 40), note),
        Row(f"{at}, no daemon", p95(of_prompts["cold"]), bare, "ms", BARE, True, Target(limit, 80), note),
        Row("hook at a session's end, p95, no daemon", p95(ends["cold"]), bare, "ms", BARE, True, Target(limit, 300)),
        Row("hook at a session's end, p95, warm daemon", p95(ends["daemon"]), bare, "ms", BARE, True),
        Row(
            "a tool result of 1 MB, over one of 200 bytes, p50", max(0.001, over),
            1000 * percentile(of_tools["small"], 0.5), "ms", "the hook of 200 bytes", True, Target(limit, 30),
        ),
        Row(
            "memory of the daemon after these calls", state["memory_bytes"] / 2**20, 150, "MiB", "what was promised",
            True, Target(limit, 150),
        ),
    ]  # fmt: skip


def _user(folder: Path, name: str) -> dict[str, str]:
    """Make a home whose hooks go to the one store."""
    (folder / name / "run").mkdir(parents=True, mode=0o700)
    kept = {key: value for key, value in os.environ.items() if not key.startswith("FIRSTHAND")}
    return kept | {
        "HOME": str(folder / name), "XDG_RUNTIME_DIR": str(folder / name / "run"),
        "FIRSTHAND_STORE": str(folder / "store"),
    }  # fmt: skip


def _hook(user: dict[str, str], payload: bytes, host: str = "cursor") -> bytes:
    import firsthand

    client = Path(firsthand.__file__ or "").with_name("server") / "hook_client.py"
    command = [sys.executable, "-I", "-S", "-E", str(client), host]
    return subprocess.run(command, input=payload, env=user, stdout=subprocess.PIPE, check=True).stdout


def _firsthand(user: dict[str, str], *arguments: str) -> str:
    command = [sys.executable, "-m", "firsthand", *arguments]
    return subprocess.run(command, env=user, stdout=subprocess.PIPE, text=True, check=False).stdout


def _wait_for_daemon(user: dict[str, str]) -> None:
    by = time.monotonic() + 30
    while not json.loads(_firsthand(user, "serve", "--status", "--json"))["answers"]:
        if time.monotonic() > by:
            raise RuntimeError("expected a daemon within 30 s of the first hook; none answers")


def _sentences(setting: Setting) -> list[str]:
    """Make prompts of eighteen words as they stand in the store's texts."""
    texts = setting.texts_between(200, 2_000, setting.scaled(PROMPTS, at_least=8) + 1)
    return [" ".join(text.split()[3:21]) for text in texts]


def _prompt(text: str, number: int) -> bytes:
    return json.dumps(
        {
            "hook_event_name": "UserPromptSubmit", "session_id": "bench", "prompt_id": f"p{number}", "prompt": text,
            "cwd": "/project", "transcript_path": "",
        }
    ).encode()  # fmt: skip


def _tool_result(number: int, size: int = LARGE_BYTES) -> bytes:
    line = f"line of result {number} of {size} bytes\n"
    return json.dumps(
        {
            "hook_event_name": "afterShellExecution", "conversation_id": "bench", "generation_id": f"t{number}{size}",
            "command": f"make {number}", "output": (line * (size // len(line) + 1))[:size],
            "workspace_roots": ["/project"],
        }
    ).encode()  # fmt: skip


def _end(number: int) -> bytes:
    return json.dumps(
        {"hook_event_name": "SessionEnd", "session_id": f"bench-{number}", "cwd": "/project", "transcript_path": "",
         "reason": "other"}
    ).encode()  # fmt: skip
