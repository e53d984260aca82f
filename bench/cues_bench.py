"""Ambient trigger rate of twelve agents: a window of the newest names beside names chosen for the message.

    python bench/cues_bench.py
    python bench/cues_bench.py --store 100000

ATR is the paper's (8.2): min(k, n) / n with k = 10. The effective ATR is the share of
episodes whose name is among the cues of a message that comes back to them (agents_made),
in at most 80 tokens; beside it the same share for a window of the newest names, which is
what fits into 80 tokens of them.

``--store`` measures preamble and cues of one agent with so many events in `SESSIONS` sessions, `EPISODES`
episodes and `FILES` files of knowledge, all made, in processor time.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path

import apsw

from agents_made import AGENTS, WINDOW, MadeEpisode, all_made
from firsthand import Draft, Kind, Memory, Trust
from firsthand.agents.cues import Named, cues, words_of
from firsthand.index.tokenizer import stems

SEEDS = 5
SESSIONS, EPISODES, FILES = 20, 300, 50
BATCH = 1_000
STEMS = stems(apsw.Connection(":memory:"))


def named(episodes: tuple[MadeEpisode, ...]) -> list[Named]:
    """Give the names of an agent's episodes as `cues.names_of` does: the newest first."""
    return [_named(one.name, one) for one in reversed(episodes)]


def _named(name: str, one: MadeEpisode) -> Named:
    return Named(name, "Episodes", *(frozenset(words_of(text, STEMS)) for text in (name, one.topic)))


def effective(episodes: tuple[MadeEpisode, ...]) -> tuple[float, float]:
    """Give the share of episodes that cues bring up, chosen for the message and by recency alone."""
    names = named(episodes)
    hit = sum(one.name in cues(names, words_of(one.message, STEMS)).names for one in episodes)
    recent = cues(names, ()).names
    return hit / len(episodes), sum(one.name in recent for one in episodes) / len(episodes)


def times(number: int) -> float:
    """Give the milliseconds of processor time that choosing among so many names takes, the median of 21."""
    names = [
        _named(f"{one.name}-{copy}", one)
        for copy in range(number // 290 + 1)
        for episodes in all_made(copy).values()
        for one in episodes
    ][:number]
    asked = words_of(all_made()["noument"][5].message, STEMS)
    taken = []
    for _ in range(21):
        start = time.process_time()
        cues(names, asked)
        taken.append((time.process_time() - start) * 1000)
    return sorted(taken)[10]


def of_store(events: int) -> None:
    """Print what preamble and cues cost an agent with a long past."""
    episodes = [one for seed in range(2) for own in all_made(seed).values() for one in own][:EPISODES]
    with tempfile.TemporaryDirectory() as folder, Memory(Path(folder) / "store") as memory:
        agent = memory.agent("bench")
        said = cycle([text for one in episodes for text in one.said])
        kinds = [Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT]
        for number in range(SESSIONS):
            agent.enrol(f"s{number}")
            left = events // SESSIONS
            while left > 0:
                texts = islice(said, min(BATCH, left))
                drafts = [
                    Draft(kind, text.encode(), trust=Trust.TRUSTED)
                    for kind, text in zip(cycle(kinds), texts, strict=False)
                ]
                memory.append(drafts, session=f"s{number}")
                left -= len(drafts)
        for number, one in enumerate(episodes):
            meta = {"name": f"{one.name}-{number}", "session": f"made-{number}", "terms": one.topic.split()}
            meta |= {"through": 1}
            draft = Draft(Kind.EPISODE, one.said[0].encode(), "text/markdown", meta, agent=agent.name)
            memory.append([draft], session=agent.session)
        for number, one in enumerate(episodes[:FILES]):
            agent.learn(f"file-{number}", f"{one.topic}\n\n{one.said[0]}")
        asked = [one.message for one in episodes[:40]]
        cues_ms = processor(lambda number: agent.cues(asked[number]), 40)
        print(f"| with {memory.stats().events:,} events | processor ms, median | slowest |\n|---|---|---|")
        for name, taken in (("preamble", processor(lambda _: agent.preamble(), 21)), ("cues", cues_ms)):
            print(f"| {name} | {taken[len(taken) // 2]:.1f} | {taken[-1]:.1f} |")


def processor(run: Callable[[int], object], times: int) -> list[float]:
    """Give the processor time of each run in ms, sorted."""
    taken = []
    for number in range(times):
        begun = time.process_time()
        run(number)
        taken.append(1000 * (time.process_time() - begun))
    return sorted(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--store", type=int, metavar="EVENTS", help="measure preamble and cues in a store of so many")
    chosen = parser.parse_args()
    if chosen.store:
        of_store(chosen.store)
        return
    print("agent      episodes  ATR (paper)  effective ATR  of the newest alone")
    for agent, total in AGENTS.items():
        rates = [effective(all_made(seed)[agent]) for seed in range(SEEDS)]
        chosen, recent = (sum(one[at] for one in rates) / SEEDS for at in (0, 1))
        print(f"{agent:10} {total:8}  {min(WINDOW, total) / total:11.2f}  {chosen:13.2f}  {recent:19.2f}")
    print(f"choosing takes {times(300):.1f} ms of 300 names, {times(5_000):.1f} ms of 5,000")


if __name__ == "__main__":
    main()
