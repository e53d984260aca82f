"""How well changes of topic are told, where they are known: at the joins of episodes put one after another.

Two kinds of session are made of real episodes: seven tau-bench conversations about
airline bookings (one domain, so the joins are hard to see), and six SWE-agent runs on
different bugs. A transition within `TOLERANCE` events after a join finds it. The
constants of `firsthand.anatomy.topic` were chosen on one half of the episodes; the
other half is held out. Baselines: every user message; as many transitions as ours at
random; text tiling (adjacent blocks of six events, all their terms, a cosine under
the mean less one deviation of those before).

Run: ``python bench/topic_changes.py --data DATA``.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean, pstdev

from firsthand.anatomy.topic import BLOCK_EVENTS, Topic, observe, terms_of

TOLERANCE = 14
EPISODES = {"tau-airline": 7, "swe-agent": 6}  # in one session
Event = tuple[str, str]  # role, text
Teller = Callable[[Sequence[Event]], list[int]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds tau-airline/ and swe-agent/")
    data = parser.parse_args().data
    for name, read in (("tau-airline", tau), ("swe-agent", swe)):
        episodes = read(data / name)
        random.Random(7).shuffle(episodes)
        half = len(episodes) // 2
        for part, some in (("chosen on", episodes[:half]), ("held out", episodes[half:])):
            sessions = joined(some, EPISODES[name])
            events = sum(len(held) for held, _ in sessions)
            print(f"{name}, {part}: {len(sessions)} sessions, {events:,} events")
            for method, tell in (("ours", ours), ("tiling", tiling), ("random", at_random), ("user messages", users)):
                print(f"  {method:<14}{score(sessions, tell)}")


def tau(folder: Path) -> list[list[Event]]:
    episodes = []
    for file in sorted(folder.glob("*.json")):
        for one in json.loads(file.read_bytes()):
            events = []
            for message in one["traj"]:
                if message["role"] != "system" and message.get("content"):
                    events.append((message["role"], message["content"]))
                called = (call["function"] for call in message.get("tool_calls") or ())
                events += [("call", f"{call['name']} {call['arguments']}") for call in called]
            episodes.append(events)
    return episodes


def swe(folder: Path) -> list[list[Event]]:
    episodes = []
    for file in sorted(folder.glob("*.traj")):
        history = json.loads(file.read_bytes())["history"]
        said = [one for one in history if one["role"] != "system" and not one.get("is_demo") and one["content"]]
        # After the task itself, what comes in the user's role is what commands gave back.
        episodes.append([(one["role"] if number == 0 else "result", one["content"]) for number, one in enumerate(said)])
    return episodes


def joined(episodes: list[list[Event]], size: int) -> list[tuple[list[Event], list[int]]]:
    """Put episodes one after another; give each session with the numbers of the events that begin an episode."""
    sessions = []
    for at in range(0, len(episodes) - size + 1, size):
        events: list[Event] = []
        joins = []
        for episode in episodes[at : at + size]:
            joins.append(len(events))
            events += episode
        sessions.append((events, joins[1:]))
    return sessions


def ours(events: Sequence[Event]) -> list[int]:
    topic, found = Topic(), []
    for number, (_, text) in enumerate(events):
        topic = observe(topic, [text])
        if topic.transition:
            found.append(number)
    return found


def tiling(events: Sequence[Event]) -> list[int]:
    terms = [terms_of(text) for _, text in events]
    found: list[int] = []
    cosines: list[float] = []
    for end in range(2 * BLOCK_EVENTS, len(terms) + 1):
        middle = end - BLOCK_EVENTS
        one = Counter(term for held in terms[middle - BLOCK_EVENTS : middle] for term in held)
        other = Counter(term for held in terms[middle:end] for term in held)
        norm = math.sqrt(sum(n * n for n in one.values()) * sum(n * n for n in other.values())) or 1.0
        cosines.append(sum(n * other[term] for term, n in one.items()) / norm)
        strange = len(cosines) > BLOCK_EVENTS and cosines[-1] < fmean(cosines) - pstdev(cosines)
        if strange and (not found or end - 1 - found[-1] > BLOCK_EVENTS):
            found.append(end - 1)
    return found


def at_random(events: Sequence[Event]) -> list[int]:
    return sorted(random.Random(len(events)).sample(range(len(events)), len(ours(events))))


def users(events: Sequence[Event]) -> list[int]:
    return [number for number, (role, _) in enumerate(events) if role == "user" and number]


def score(sessions: list[tuple[list[Event], list[int]]], tell: Teller) -> str:
    """Say what share of the transitions told is a join, and what share of the joins is told."""
    hits = told = joins = 0
    for events, begins in sessions:
        found = tell(events)
        told, joins = told + len(found), joins + len(begins)
        ends = [*begins[1:], len(events)]
        for join, end in zip(begins, ends, strict=True):
            hits += any(join <= at <= min(join + TOLERANCE, end - 1) for at in found)
    precision, recall = hits / max(told, 1), hits / max(joins, 1)
    return f"precision {precision:.2f}  recall {recall:.2f}  ({hits} of {joins} joins, {told} transitions)"


if __name__ == "__main__":
    main()
