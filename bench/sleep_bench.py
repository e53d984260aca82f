"""What a night costs: an agent's sleep over a day of 1,000 events, in a small store and in a large one.

    python bench/sleep_bench.py [--events 100000] [--day 1000] [--nights 3]
    python bench/sleep_bench.py --hook          what a hook waits while an agent of its store sleeps

The store is generated: sessions (of 500 events, those of a night of 100) in which a user says and changes settings,
an agent answers and calls tools. It has slept before, so a night finds what the day
brought alone. Each night runs in a process of its own, which opens the store first, as
`firsthand sleep` does; the same nights in a store of a tenth stand beside it.

Peak memory is that of the whole process, interpreter included.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from firsthand import Draft, Kind, Memory, Moment, Slept, sleep

SEED = 7
AGENT = "bench"
SESSION_EVENTS = 100
"""Of a day's sessions; those before are five times as long, so that the store is filled in minutes."""
DAY_US = 86_400_000_000
BEGIN_US = 1_700_000_000_000_000
EPISODES_SECONDS_MAX = 3_000.0
"""Of the sleep that is not measured: it writes the episodes of the whole store."""
HOOK_PROMPTS = 60
THINGS = (
    "port",
    "timeout",
    "region",
    "owner",
    "retry limit",
    "colour",
    "log level",
    "branch",
    "queue length",
    "budget",
)
PLACES = ("staging", "production", "billing", "search", "gateway", "mail", "cache", "index", "report", "login")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=100_000, help="of the large store")
    parser.add_argument("--day", type=int, default=1_000, help="events of a day")
    parser.add_argument("--nights", type=int, default=3)
    parser.add_argument("--hook", action="store_true", help="measure what a hook waits meanwhile instead")
    parser.add_argument("--night", nargs=2, metavar=("STORE", "DAY"), help="one night, and what it cost as JSON")
    chosen = parser.parse_args()
    if chosen.night:
        print(json.dumps(night(Path(chosen.night[0]), int(chosen.night[1]))))
    elif chosen.hook:
        with tempfile.TemporaryDirectory() as home:
            print(hook(Path(home) / "store", chosen.events))
    else:
        print("| store, events | night | seconds | processor | opening | summaries | digest | peak MB |")
        print("|---|---|---|---|---|---|---|---|---|")
        for events in (chosen.events // 10, chosen.events):
            with tempfile.TemporaryDirectory() as home:
                for row in nights(Path(home) / "store", events, chosen.day, chosen.nights):
                    print(row, flush=True)


def nights(store: Path, events: int, day: int, number: int) -> Iterator[str]:
    """Fill a store, let it sleep, and yield a row for each of some further days."""
    with Memory.open(store, embedder="none") as memory:
        fill(memory, 0, events, 0, 5 * SESSION_EVENTS)
        begun = time.process_time()
        slept = sleep(memory, AGENT, now=at(1), quiet_seconds=0, seconds_max=EPISODES_SECONDS_MAX)
        assert slept.finished, slept.page
        first = time.process_time() - begun
    yield f"| {events:,} | the first | {slept.seconds:.1f} | {first:.1f} |" + cells(slept) + " |"
    for one in range(1, number + 1):
        with Memory.open(store, embedder="none") as memory:
            fill(memory, events + (one - 1) * day, day, one)
        words = [sys.executable, __file__, "--night", str(store), str(one)]
        told = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
        yield f"| {events + one * day:,} | {one} | {told['seconds']:.2f} | {told['processor']:.2f} |{told['cells']}"


def night(store: Path, day: int) -> dict[str, object]:
    """Let the agent sleep once, from the opening of the store on."""
    begun, processor = time.perf_counter(), time.process_time()
    with Memory.open(store, embedder="none") as memory:
        opened = time.perf_counter() - begun
        slept = sleep(memory, AGENT, now=at(day + 1), quiet_seconds=0)
    seconds, spent = time.perf_counter() - begun, time.process_time() - processor
    assert slept.finished, slept.page
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "seconds": seconds,
        "processor": spent,
        "cells": f" {opened:.2f} |{cells(slept).partition('|')[2]} {peak:.0f} |",
    }


def cells(slept: Slept) -> str:
    """Give the seconds of the steps, the empty cell of the opening before them."""
    taken = {step.name: step.seconds for step in slept.steps}
    return " |" + "".join(f" {taken[name]:.2f} |" for name in ("summaries", "digest"))


def at(day: int) -> Moment:
    return Moment(BEGIN_US + day * DAY_US)


def fill(memory: Memory, first: int, number: int, day: int, length: int = SESSION_EVENTS) -> None:
    """Append events of a day in sessions of their own, which are the agent's."""
    chance = random.Random(SEED + first)
    agent = memory.agent(AGENT)
    for begin in range(first, first + number, length):
        name = f"bench:{begin // SESSION_EVENTS}"
        agent.enrol(name)
        span = DAY_US // max(1, number)
        drafts = [
            drafted(
                chance, begin // SESSION_EVENTS, place, Moment(BEGIN_US + day * DAY_US + (begin - first + place) * span)
            )
            for place in range(min(length, first + number - begin))
        ]
        memory.append(drafts, session=name)


def drafted(chance: random.Random, session: int, place: int, when: Moment) -> Draft:
    """Make one event: of four, one is the user's, one the agent's, and two are a tool's."""
    topic = f"{chance.choice(PLACES)} {chance.choice(THINGS)}"
    if place % 4 == 0:
        changes = "now " if chance.random() < 0.4 else ""
        told = f"The {topic} of box{chance.randint(1, 400)} is {changes}{place * 7 + session}."
        asked = f"Please look into the {topic} of the {chance.choice(PLACES)} service, part {place} of job {session}."
        return Draft(Kind.USER_MESSAGE, (told if chance.random() < 0.4 else asked).encode(), origin="user", time=when)
    if place % 4 == 1:
        said = f"I will look at the {topic} in src/{topic.replace(' ', '_')}_{session}.py first."
        return Draft(Kind.AGENT_MESSAGE, said.encode(), origin="agent", time=when, agent=AGENT)
    meta = {"tool": "bash", "call_id": f"c{session}-{place - place % 4}"}
    if place % 4 == 2:
        return Draft(Kind.TOOL_CALL, json.dumps({"command": f"grep -n {topic.rpartition(' ')[2]} src/*.py"}).encode(),
                     "application/json", meta, origin="agent", time=when)  # fmt: skip
    lines = [
        f"src/{chance.choice(PLACES)}_{session}.py:{chance.randint(1, 999)}: {topic} = {number}" for number in range(8)
    ]
    return Draft(Kind.TOOL_RESULT, "\n".join(lines).encode(), meta=meta, origin="tool:bash", time=when)


# a hook meanwhile ------------------------------------------------------------------------------------------


def hook(store: Path, events: int) -> str:
    """Ask for what a prompt's hook asks, alone and while another process sleeps over the whole store."""
    from firsthand import answer_hook

    with Memory.open(store, embedder="none") as memory:
        fill(memory, 0, events, 0)

        def ask(number: int) -> float:
            asked = f"what was the {PLACES[number % 10]} {THINGS[number % 7]} set to?"
            told = {"hook_event_name": "beforeSubmitPrompt", "conversation_id": "c", "generation_id": str(number),
                    "prompt": asked, "workspace_roots": []}  # fmt: skip
            begun = time.perf_counter()
            answer_hook("cursor", json.dumps(told).encode(), memory, nonce=str(number))
            return (time.perf_counter() - begun) * 1000

        for number in range(10):
            ask(number)
        alone = [ask(number) for number in range(10, 10 + HOOK_PROMPTS)]
        words = ["nice", "-n", "10", sys.executable, __file__, "--night", str(store), "1"]
        with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
            time.sleep(1.0)  # it is at work by then
            meanwhile = []
            while process.poll() is None and len(meanwhile) < HOOK_PROMPTS:
                meanwhile.append(ask(1_000 + len(meanwhile)))
                time.sleep(0.05)
            asleep = process.poll() is None
            process.kill()
    assert asleep, "the sleep ended before the prompts did: take more --events"
    rows = [f"| {name} | {len(times)} | {statistics.median(times):.1f} | {statistics.quantiles(times, n=20)[-1]:.1f} |"
            for name, times in (("alone", alone), ("while it sleeps", meanwhile))]  # fmt: skip
    return "\n".join(["| a prompt's hook | asked | p50, ms | p95, ms |", "|---|---|---|---|", *rows])


if __name__ == "__main__":
    main()
