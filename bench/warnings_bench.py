"""Is a command that failed the last time warned of, and no other? On a generated history, in several spellings.

    python bench/warnings_bench.py                   1,600 runs of 400 commands
    python bench/warnings_bench.py --others 100000   the same among so many other events of the same words

Each command ran now and then in eight sessions, and failed in three of ten runs. Asked are all commands that ran,
each in each spelling, and as many that never ran. A warning is right when the last run of the command failed.
Times are of the processor.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from firsthand import Draft, Kind, Memory
from firsthand.hosts.hook import HookCall, HookEvent
from firsthand.lifecycle.actions import warn
from firsthand.lifecycle.settings import Settings
from timing import percentile

SEED = 7
COMMANDS, RUNS, SESSIONS, FAILING = 400, 1_600, 8, 0.3
DEADLINE_MS = 10_000  # so that a busy machine leaves nothing out
PROGRAMS = ("make", "cargo", "npm run", "docker compose", "terraform", "kubectl", "pytest", "python manage.py",
            "ssh deploy@host cd /srv/app env prod run.sh")  # fmt: skip
"""Those of the last one differ from each other in one or two words of nine."""
VERBS = ("build", "deploy", "plan", "check", "release", "migrate", "test", "lint", "publish", "sync")
SERVICES = ("api", "web", "worker", "billing", "docs", "search", "auth", "mail", "cart", "ledger")
FLAGS = ("--verbose", "--fast", "--retries=3", "-q", "--no-cache", "-j4", "--dry-run")
APPENDED = 2_000


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its words, and its flags, which stand behind them."""

    words: str
    flags: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join((self.words, *self.flags))


Spelled = Callable[[Command], str]
SPELLINGS: dict[str, Spelled] = {
    "as it ran": lambda one: one.text,
    "other spaces": lambda one: "  ".join(one.text.split(" ")) + " ",
    "flags in another order": lambda one: " ".join((one.words, *reversed(one.flags))),
    "flags left out": lambda one: one.words,
    "behind `cd` or `export`": lambda one: f"cd /srv/app && export STAGE=prod; {one.text}",
    "a setting before it": lambda one: f"CI=1 STAGE=prod {one.text}",
    "its output cut": lambda one: f"{one.text} 2>&1 | tail -n 40",
}


@dataclass(frozen=True, slots=True)
class Told:
    """What came of asking one spelling: whether each was warned of, and how long each took."""

    right: int
    wrong: int
    missed: int
    seconds: list[float]

    @property
    def line(self) -> str:
        asked = self.right + self.wrong
        precision = f"{self.right / asked:.3f}" if asked else "none told"
        return (
            f"precision {precision}, recall {self.right / (self.right + self.missed):.3f} "
            f"({self.right} of {self.right + self.missed} that failed, {self.wrong} others); processor time "
            f"p50 {1e3 * percentile(self.seconds, 0.5):.1f} ms, p95 {1e3 * percentile(self.seconds, 0.95):.1f} ms"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--others", type=int, default=0, help="further events of the same words")
    parser.add_argument("--seed", type=int, default=SEED)
    chosen = parser.parse_args()
    chance = random.Random(chosen.seed)
    every = commands(chance)
    with tempfile.TemporaryDirectory() as folder, Memory.open(Path(folder) / "store") as memory:
        last = history(memory, every[:COMMANDS], chance, chosen.others)
        size = int(memory.head().partition(":")[0])
        print(f"{RUNS:,} runs of {len(last):,} commands, {sum(last.values()):,} failed last; {size:,} events in all")
        for name, spelled in SPELLINGS.items():
            print(f"  {name}: {ask(memory, {one: last.get(one, False) for one in every}, spelled).line}")


def commands(chance: random.Random) -> list[Command]:
    """Make twice as many commands as will run, no two of the same words."""
    made = [" ".join(parts) for parts in itertools.product(PROGRAMS, VERBS, SERVICES)]
    chance.shuffle(made)
    return [Command(words, tuple(chance.sample(FLAGS, chance.randint(0, 3)))) for words in made[: 2 * COMMANDS]]


def history(memory: Memory, ran: list[Command], chance: random.Random, others: int) -> dict[Command, bool]:
    """Let commands run; gives those that did, and whether the last run of each failed."""
    agent = memory.agent("bench")
    for number in range(SESSIONS):
        agent.enrol(f"old{number}")
    last: dict[Command, bool] = {}
    rest = _others(chance, others)
    for number in range(RUNS):
        session = memory.session(f"old{number * SESSIONS // RUNS}", agent="coder")
        command, failed = chance.choice(ran), chance.random() < FAILING
        call = session.tool_call("Bash", {"command": command.text})
        text, meta = ("Exit code 1\nit did not work", {"is_error": True}) if failed else ("done", {})
        session.tool_result(call, text, meta=meta)
        last[command] = failed
        part = list(itertools.islice(rest, others // RUNS))
        for at in range(0, len(part), APPENDED):
            memory.append(part[at : at + APPENDED], session=session.name)
    memory.follow()
    return last


def _others(chance: random.Random, count: int) -> Iterator[Draft]:
    """Say things in the words of commands, which are none."""
    kinds = (Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.TOOL_RESULT)
    filling = ("please", "then", "the", "service", "log", "shows", "wait", "before", "and", "again")
    for number in range(count):
        words = [chance.choice(pool) for pool in (PROGRAMS, VERBS, SERVICES, filling, filling, filling, filling)]
        chance.shuffle(words)
        yield Draft(kinds[number % 3], f"{' '.join(words)} {number}".encode())


def ask(memory: Memory, asked: dict[Command, bool], spelled: Spelled) -> Told:
    """Ask for every command in one spelling."""
    agent, settings = memory.agent("bench"), Settings()
    seconds: list[float] = []
    right = wrong = missed = 0
    for command, failed in asked.items():
        given = json.dumps({"command": spelled(command)})
        call = HookCall("claude-code", HookEvent.BEFORE_TOOL, tool="Bash", tool_input=given)
        before = time.thread_time()
        warned = "failed the last time" in warn(agent, call, "new", settings, deadline_ms=DEADLINE_MS).text
        seconds.append(time.thread_time() - before)
        right += warned and failed
        wrong += warned and not failed
        missed += failed and not warned
    return Told(right, wrong, missed, seconds)


if __name__ == "__main__":
    main()
