"""Ambient trigger rate of twelve agents: a window of the newest names beside names chosen for the message.

    python bench/cues_bench.py

ATR is the paper's (8.2): min(k, n) / n with k = 10. The effective ATR is the share of
episodes whose name is among the cues of a message that comes back to them (agents_made),
in at most 80 tokens; beside it the same share for a window of the newest names, which is
what fits into 80 tokens of them.
"""

from __future__ import annotations

import time

from agents_made import AGENTS, WINDOW, MadeEpisode, all_made
from firsthand.pack.cues import Named, cues, terms
from firsthand.recall.stop_words import STOP_WORDS

SEEDS = 5


def named(episodes: tuple[MadeEpisode, ...]) -> list[Named]:
    """Give the names of an agent's episodes as `loading.names_of` does: the newest first."""
    return [Named(one.name, "Episodes", one.topic) for one in reversed(episodes)]


def effective(episodes: tuple[MadeEpisode, ...]) -> tuple[float, float]:
    """Give the share of episodes that cues bring up, chosen for the message and by recency alone."""
    names = named(episodes)
    hit = sum(one.name in cues(names, terms(one.message, without=STOP_WORDS)).names for one in episodes)
    recent = cues(names, ()).names
    return hit / len(episodes), sum(one.name in recent for one in episodes) / len(episodes)


def times(number: int) -> float:
    """Give the milliseconds that choosing among so many names takes, the median of 21."""
    names = [
        Named(f"{one.name}-{copy}", "Episodes", one.topic)
        for copy in range(number // 290 + 1)
        for episodes in all_made(copy).values()
        for one in episodes
    ][:number]
    asked = terms(all_made()["noument"][5].message, without=STOP_WORDS)
    taken = []
    for _ in range(21):
        start = time.perf_counter()
        cues(names, asked)
        taken.append((time.perf_counter() - start) * 1000)
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
