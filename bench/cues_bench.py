"""Ambient trigger rate of twelve agents: a window of the newest names beside names chosen for the message.

    python bench/cues_bench.py

ATR is the paper's (8.2): min(k, n) / n with k = 10. The effective ATR is the share of
episodes whose name is among the cues of a message that comes back to them (agents_made),
in at most 80 tokens; beside it the same share for a window of the newest names, which is
what fits into 80 tokens of them.
"""

from __future__ import annotations

import time

import apsw

from agents_made import AGENTS, WINDOW, MadeEpisode, all_made
from firsthand.agents.cues import Named, cues, words_of
from firsthand.index.tokenizer import stems

SEEDS = 5
STEMS = stems(apsw.Connection(":memory:"))


def named(episodes: tuple[MadeEpisode, ...]) -> list[Named]:
    """Give the names of an agent's episodes as `cues.names_of` does: the newest first."""
    return [_named(one.name, one) for one in reversed(episodes)]


def _named(name: str, one: MadeEpisode) -> Named:
    return Named(name, "Episodes", frozenset(words_of(f"{name} {one.topic}", STEMS)))


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


def main() -> None:
    print("agent      episodes  ATR (paper)  effective ATR  of the newest alone")
    for agent, total in AGENTS.items():
        rates = [effective(all_made(seed)[agent]) for seed in range(SEEDS)]
        chosen, recent = (sum(one[at] for one in rates) / SEEDS for at in (0, 1))
        print(f"{agent:10} {total:8}  {min(WINDOW, total) / total:11.2f}  {chosen:13.2f}  {recent:19.2f}")
    print(f"choosing takes {times(300):.1f} ms of 300 names, {times(5_000):.1f} ms of 5,000")


if __name__ == "__main__":
    main()
