"""PC, SRR, ATR and effective ATR of the paper's twelve agents and 290 episodes, beside its own tables 8.3 to 8.5.

    python bench/health_bench.py
    python bench/health_bench.py --agents dokter clawent

Episodes and names are made (`agents_made`); each agent has a store of its own. "as named" keeps the names
of the paper's shape, numbered series among them; "by us" lets Firsthand name each episode when it closes the session.
No model, no data.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from agents_made import AGENTS, MadeEpisode, made
from firsthand import Draft, Kind, Memory
from firsthand.health.finding import AgentHealth, Rate
from firsthand.health.measures import measure
from firsthand.lifecycle.closing import close
from firsthand.moment import parse

PAPER = {
    "noument": ("100", "80", "14"), "grazient": ("100", "100", "45"), "solarient": ("100", "100", "45"),
    "ntent": ("100", "100", "71"), "dokter": ("100", "40", "22"), "clawent": ("100", "40", "38"),
    "channent": ("96", "90", "38"), "dalent": ("95", "100", "53"), "sysent": ("87", "90", "43"),
    "reschent": ("86", "71", "100"), "animent": ("0", "0", "100"), "doment": ("0", "0", "100"),
}  # fmt: skip
"""PC, SRR and ATR in per cent, as printed."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", nargs="+", choices=list(AGENTS), default=list(AGENTS))
    parser.add_argument("--sample", type=int, default=0, help="episodes tested of each; 0 tests all")
    chosen = parser.parse_args()
    print("| agent | episodes | paper PC, SRR, ATR | PC | SRR as named | SRR by us | ATR | effective ATR |")
    print("|---|---|---|---|---|---|---|---|")
    named, ours = [], []
    begun = time.monotonic()
    for agent in chosen.agents:
        named.append(measured(agent, by_us=False, sample_max=chosen.sample or None))
        ours.append(measured(agent, by_us=True, sample_max=chosen.sample or None))
        print(row(agent, named[-1], ours[-1]))
    total = [summed(getattr(one, part) for one in named) for part in ("coverage", "recall")]
    rest = [summed(getattr(one, part) for one in named) for part in ("ambient", "effective")]
    by_us = summed(one.recall for one in ours)
    print(
        f"| all | {sum(one.episodes for one in named)} | | {total[0]} | {total[1]} | {by_us} | {rest[0]} | {rest[1]} |"
    )
    print(f"\nAliases: {sum(len(one.aliases) for one in named)} groups as named, "
          f"{sum(len(one.aliases) for one in ours)} by us. {time.monotonic() - begun:.0f} s.")  # fmt: skip


def measured(agent: str, *, by_us: bool, sample_max: int | None) -> AgentHealth:
    """Fill a store with an agent's episodes and measure it."""
    episodes = made(agent)
    with tempfile.TemporaryDirectory() as folder, Memory.open(Path(folder) / "store") as memory:
        fill(memory, agent, episodes, by_us=by_us)
        return measure(
            memory.agent(agent), sample_max=sample_max, messages={one.session: one.message for one in episodes}
        )


def fill(memory: Memory, agent: str, episodes: Sequence[MadeEpisode], *, by_us: bool) -> None:
    """Write an agent's sessions, and the episode of each."""
    who = memory.agent(agent)
    for one in episodes:
        who.enrol(one.session)
        kinds = [Kind.USER_MESSAGE, Kind.AGENT_MESSAGE] * len(one.said)
        drafts = [Draft(kind, text.encode(), time=parse(one.day)) for kind, text in zip(kinds, one.said, strict=False)]
        last = memory.append(drafts, session=one.session)[-1]
        if by_us:
            close(who, one.session)
            continue
        meta = {"name": one.name, "session": one.session, "terms": one.topic.split(), "through": last.position}
        text = "\n".join([f"# {one.name}", *(f"- {said}" for said in one.said)])
        memory.append(
            [Draft(Kind.EPISODE, text.encode(), "text/markdown", meta, agent=agent, time=parse(one.day))],
            session=who.session,
        )


def row(agent: str, named: AgentHealth, ours: AgentHealth) -> str:
    paper = ", ".join(f"{one} %" for one in PAPER[agent])
    parts = (named.coverage, named.recall, ours.recall, named.ambient, named.effective)
    return f"| {agent} | {named.episodes} | {paper} | " + " | ".join(map(str, parts)) + " |"


def summed(rates: Iterable[Rate]) -> Rate:
    found = list(rates)
    return Rate(sum(one.hits for one in found), sum(one.of for one in found))


if __name__ == "__main__":
    main()
