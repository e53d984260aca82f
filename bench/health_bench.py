"""PC, SRR, ATR and effective ATR of the paper's twelve agents and 290 episodes, beside its own tables 8.3 to 8.5.

    python bench/health_bench.py
    python bench/health_bench.py --agents dokter clawent
    python bench/health_bench.py --look 1000000 --data DATA [--work WORK]

Episodes and names are made (`agents_made`); each agent has a store of its own. "as named" keeps the names
of the paper's shape, numbered series among them; "by us" lets Firsthand name each episode when it closes the session.
No model, no data.

``--look`` measures what health itself costs at a store of so many real texts (the one of ``bench/run.py``, found again
in the same work folder): a look, a canary on each way, the line that a session's start reads. Processor time counts
this process and its children, so that other work on the machine does not; no daemon is asked or started.
"""

from __future__ import annotations

import argparse
import os
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from agents_made import AGENTS, MadeEpisode, made
from firsthand import Draft, Kind, Memory
from firsthand.doors import hook_client
from firsthand.health import canary, status
from firsthand.health.doctor import Look, examine
from firsthand.health.finding import AgentHealth, Rate
from firsthand.health.measures import measure
from firsthand.lifecycle.closing import close
from firsthand.lifecycle.installed import Installed
from firsthand.moment import now, parse
from setting import Setting
from timing import median

PAPER = {
    "noument": ("100", "80", "14"), "grazient": ("100", "100", "45"), "solarient": ("100", "100", "45"),
    "ntent": ("100", "100", "71"), "dokter": ("100", "40", "22"), "clawent": ("100", "40", "38"),
    "channent": ("96", "90", "38"), "dalent": ("95", "100", "53"), "sysent": ("87", "90", "43"),
    "reschent": ("86", "71", "100"), "animent": ("0", "0", "100"), "doment": ("0", "0", "100"),
}  # fmt: skip
"""PC, SRR and ATR in per cent, as printed."""
RUNS = 11
"""Of a canary, and of the line; a look is taken three times."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", nargs="+", choices=list(AGENTS), default=list(AGENTS))
    parser.add_argument("--sample", type=int, default=0, help="episodes tested of each; 0 tests all")
    parser.add_argument(
        "--look", type=int, metavar="EVENTS", help="measure a look at a store of so many events instead"
    )
    parser.add_argument("--data", type=Path, help="with --look: folder of real text")
    parser.add_argument("--work", type=Path, help="with --look: folder for stores, kept for the next run")
    chosen = parser.parse_args()
    if chosen.look:
        if chosen.data is None:
            parser.error("--look needs --data FOLDER")
        with tempfile.TemporaryDirectory() as folder:
            cost(Setting(chosen.data, (chosen.work or Path(folder)).resolve(), quick=False), chosen.look)
        return
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


def cost(setting: Setting, events: int) -> None:
    """Print what a look, a canary and the status cost at a store of real texts."""
    folder = setting.fresh("health")
    os.environ["XDG_RUNTIME_DIR"] = str(folder / "run")  # so that the daemon is one of its own
    try:
        store = folder / "store"
        shutil.copytree(setting.store(events), store)
        examine(store, look=Look(keep=False))  # the first one makes the namespace of canaries
        command = shlex.join([sys.executable, "-I", "-S", "-E", str(hook_client.__file__), "claude-code"])
        place = Installed("claude-code", folder / "settings.json", "user", ("UserPromptSubmit",), command, current=True)
        before = _size(store)
        rows = {
            "a look without a canary": taken(lambda: examine(store, look=Look(canary=False)), 3),
            "a look with a canary": taken(lambda: examine(store, look=Look()), 3),
            "a canary on the direct way": taken(lambda: canary.findings(store, (), now()), RUNS),
            "the same and one by an installed command": taken(lambda: canary.findings(store, (place,), now()), RUNS),
            "status.line": taken(lambda: status.line(store), 1_000),
        }
        after = _size(store)
        lost = [one for one in canary.kept(store) if one.lost]
        assert not lost, lost
        print(f"| at {events:,} events | processor ms, median | wall ms, median |\n|---|---|---|")
        for name, (processor, wall) in rows.items():
            known = "-" if "command" in name else f"{processor:.2f}"  # a hook answers in a child that outlives it
            print(f"| {name} | {known} | {wall:.2f} |")
        sent = 3 + 2 * RUNS + RUNS
        events_each, bytes_each = ((last - first) / sent for first, last in zip(before, after, strict=True))
        print(f"\nA canary costs {events_each:.1f} events and {bytes_each:,.0f} bytes.")
    finally:
        subprocess.run([sys.executable, "-m", "firsthand", "daemon", "--stop"], check=False, stdout=subprocess.DEVNULL)
        setting.drop(folder)


def taken(run: Callable[[], object], times: int) -> tuple[float, float]:
    """Give the processor time with children, and the time on the clock, of the middle of some runs in ms."""
    processor, wall = [], []
    for _ in range(times):
        begun, at = _processor(), time.perf_counter()
        run()
        wall.append(1000 * (time.perf_counter() - at))
        processor.append(1000 * (_processor() - begun))
    return median(processor), median(wall)


def _processor() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _size(store: Path) -> tuple[int, int]:
    """Give the events of canaries, and the bytes of the database; whoever closes it last moves all into it."""
    with Memory.open(store, namespace=canary.CANARY) as memory:
        events = memory.stats().events
    return events, (store / "firsthand.db").stat().st_size


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
