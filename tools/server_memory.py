"""Measure the memory of a server over a store of many events: after its start, after recalls, after pages.

    python tools/server_memory.py --events 1000000 [--store FOLDER]

A folder that is named is kept and used again; without one the store is made anew, which takes minutes. The texts
are made of a vocabulary with the frequencies of natural language, in sessions of 1,000 events of all kinds.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from firsthand import Client, Draft, Kind, Memory

KINDS = (Kind.USER_MESSAGE, Kind.REASONING, Kind.TOOL_CALL, Kind.TOOL_RESULT, Kind.AGENT_MESSAGE)
WORDS = 60_000
SESSION_EVENTS = 1_000
QUESTIONS = 40
REST_S = 12


def make(folder: Path, events: int) -> None:
    """Append events until the store has so many."""
    chance = random.Random(7)
    words = [f"{chance.choice('bcdfgklmnprst')}{number:x}{chance.choice('aeiou')}" for number in range(WORDS)]
    weights = [1 / (rank + 3) for rank in range(WORDS)]
    pool = chance.choices(words, weights, k=2_000_000)
    with Memory(folder, embedder="none") as memory:
        while (at := memory.position) < events:
            drafts = []
            for number in range(SESSION_EVENTS):
                start = chance.randrange(len(pool) - 200)
                text = " ".join(pool[start : start + chance.randrange(5, 60)])
                drafts.append(Draft(KINDS[number % len(KINDS)], text.encode()))
            memory.append(drafts, session=f"session {at // SESSION_EVENTS}")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--events", type=int, default=1_000_000)
    arguments.add_argument("--store", type=Path)
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as run:
        store = chosen.store or Path(run) / "store"
        make(store, chosen.events)
        home = {name: f"{run}/{name}" for name in ("HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME")}
        for folder in home.values():
            Path(folder).mkdir()
        os.environ |= home | {"FIRSTHAND_STORE": str(store), "FIRSTHAND_EMBEDDER": "none"}
        words = [sys.executable, "-m", "firsthand", "--quiet", "serve"]
        server = subprocess.Popen([*words, "--foreground", "--port=0"])
        try:
            measure(words)
        finally:
            server.terminate()
            server.wait()


def measure(words: list[str]) -> None:
    """Ask the server for things, and say what memory it has after each."""
    state: dict[str, object] = {}

    def report(what: str) -> None:
        nonlocal state
        answer = subprocess.run([*words, "--status", "--json"], capture_output=True, text=True, check=False).stdout
        state = json.loads(answer) if answer.startswith("{") else {}
        if state.get("pid"):
            print(f"{what:<60} {int(str(state['memory_bytes'])) / 2**20:6.0f} MiB", flush=True)

    by = time.monotonic() + 30
    while not state.get("pid") and time.monotonic() < by:
        time.sleep(0.2)
        report("started")
    with Client(str(state["http"]), timeout_s=120) as client:
        print(f"{client.position:,} events")
        report("HTTP side imported, store open")
        chance = random.Random(11)
        for _ in range(QUESTIONS):
            (event,) = client.events(after=chance.randrange(client.position - 1), limit=1)
            client.recall(" ".join(event.text.split()[:6]))
        report(f"{QUESTIONS} recalls")
        client.session("new").user("one event more")
        list(client.events(newest_first=True, limit=2_000))
        client.sessions()
        report("an append, 2,000 events read, all sessions listed")
    time.sleep(REST_S)
    report(f"{REST_S} s of rest")


if __name__ == "__main__":
    main()
