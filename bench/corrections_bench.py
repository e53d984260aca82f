"""Does a correction find its source, are its sorts told apart, and does anything else pass for a correction?

    python bench/corrections_bench.py                                    generated sessions
    python bench/corrections_bench.py --data PATH [--show]               also real user messages (nothing is kept)

Generated: problems of `firsthand eval reclaim` are talked over in sessions of one agent, among sessions about other
problems; a new session then corrects each one in every way of the paper. The gold is computed: the source lines, the
true answer, which sort it is. A generic correction names no session, so it is asked where there is only one.

Real: every user message of coding and service agents and of long conversations is asked, with all other sessions of
its set in the store; a message is a false trigger when it is shown a source though it corrects no remembered value,
which a person has to read (`--show`). Times are of the processor.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from firsthand import Kind, Memory, check_correction
from firsthand.lifecycle.implicit import remind
from firsthand.lifecycle.settings import Settings
from firsthand.notes.correction import correction_of
from firsthand_evals.reclaim import corrections, drift, multiwoz, tasks
from firsthand_evals.reclaim.tasks import Problem, Purchase
from firsthand_evals.stats import rate
from timing import percentile

SEED = 23
PROBLEMS, OTHERS, DIALOGUES = 30, 40, 60
DEPTH = 2
DEADLINE_MS = 10_000  # so that a busy machine leaves nothing out
SORTS = {
    corrections.GENERIC: "generic", corrections.SURE: "generic", corrections.DIRECTED: "directed",
    corrections.FALSE_LOCUS: "sound part", corrections.CONFIDENT_WRONG: "contradicting value",
    corrections.SUSTAINED: "sustained", corrections.FABRICATED: "contradicting source",
    corrections.HANDED: "agreeing value",
}  # fmt: skip
SETS = {
    "pi-sessions": "a coding agent", "tau-airline": "a service agent", "swe-agent": "tasks of a coding agent",
    "beam-100k": "long conversations", "locomo": "two people over months", "beam-500k": "long conversations",
    "longmemeval": "sessions with an assistant", "ubuntu-irc": "a support channel",
}  # fmt: skip
HELD_OUT = frozenset({"beam-500k", "longmemeval", "ubuntu-irc"})
"""Sets that the reading of corrections was not mended on."""
MESSAGES_MAX = 3_000
"""Of one set: the first ones."""


@dataclass
class Tally:
    """What came of the corrections of one kind."""

    asked: int = 0
    shown: int = 0
    whole: int = 0
    sort: int = 0
    truth: int = 0
    seconds: list[float] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=PROBLEMS)
    parser.add_argument("--data", type=Path, help="the folder of evaluation data")
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    parser.add_argument("--show", action="store_true", help="print every real message that is shown a source")
    chosen = parser.parse_args()
    for wording in (0, 1):
        print(f"one session remembered, drift in wording {wording}, {chosen.problems} problems of each family")
        report(alone(chosen.problems, wording))
    print(f"\n{OTHERS} other sessions of the same sort remembered, the part named")
    report(among(chosen.problems))
    print("\nordinary messages in the same stores, processor time of a whole reminder and of its part for corrections")
    ordinary()
    if chosen.data is not None:
        print(f"\nreal dialogues (MultiWOZ 2.1), one time misremembered, {DIALOGUES} of them")
        report(dialogues(chosen.data / "multiwoz21" / "val.json.zip"))
    for name in chosen.sets if chosen.data is not None else ():
        real(chosen.data / name, name, show=chosen.show)


# generated -------------------------------------------------------------------------------------------


def alone(number: int, wording: int) -> dict[str, Tally]:
    """Ask every correction of every problem where its session is the only one about such a thing."""
    tallies: dict[str, Tally] = {}
    families = (tasks.arithmetic(number, SEED), tasks.logic(number, SEED), tasks.ledger(number // 3, 16, SEED))
    for problem in (one for family in families for one in family):
        with tempfile.TemporaryDirectory() as folder, Memory.open(folder, embedder="none") as memory:
            talk(memory, problem, "told", wording)
            chat(memory)
            for kind in corrections.KINDS:
                push(memory, problem, kind, tallies.setdefault(kind, Tally()))
    return tallies


def among(number: int) -> dict[str, Tally]:
    """Ask the corrections that name a part which only one of many sessions speaks of."""
    tallies: dict[str, Tally] = {}
    problems = tasks.arithmetic(OTHERS, SEED + 1)
    with tempfile.TemporaryDirectory() as folder, Memory.open(folder, embedder="none") as memory:
        for place, problem in enumerate(problems):
            talk(memory, problem, f"told-{place}", 0)
        chat(memory)
        told = Counter(one.good for problem in problems for one in problem.facts if isinstance(one, Purchase))
        for problem in problems[:number]:
            parts = {corrections.DIRECTED: problem.locus, corrections.FALSE_LOCUS: problem.sound}
            for kind in (kind for kind, part in parts.items() if told[part.rpartition(" ")[2]] == 1):
                push(memory, problem, kind, tallies.setdefault(kind, Tally()))
    return tallies


def dialogues(file: Path) -> dict[str, Tally]:
    """Ask every correction of a time that a user said in a real dialogue, and the agent got wrong."""
    tallies: dict[str, Tally] = {}
    for problem in multiwoz.problems(file, DIALOGUES, SEED):
        with tempfile.TemporaryDirectory() as folder, Memory.open(folder, embedder="none") as memory:
            said = memory.session("told", agent="helper")
            for who, text in problem.session:
                (said.user if who == "user" else said.agent)(text)
            chat(memory)
            for kind in (kind for kind in corrections.KINDS if kind != corrections.FALSE_LOCUS):
                push(memory, problem, kind, tallies.setdefault(kind, Tally()))
    return tallies


def talk(memory: Memory, problem: Problem, session: str, wording: int) -> None:
    """Append the drift dialogue of a problem as a session."""
    said = memory.session(session, agent="helper")
    for one in drift.dialogue(problem, DEPTH, wording=wording):
        if one["role"] == "user":
            said.user(one["content"])
        elif one["role"] == "assistant":
            said.agent(one["content"])


def chat(memory: Memory) -> None:
    """Append talk about other things, so that words have a rarity."""
    said = memory.session("garden", agent="helper")
    for number in range(30):
        said.user(f"some other message on topic {number}, of gardens and rivers")
        said.agent(f"bed {number} of the garden is {number + 3} metres long")


def push(memory: Memory, problem: Problem, kind: str, tally: Tally) -> None:
    """Say a correction in a new session, each of its messages after the one before it."""
    session = f"now-{kind}-{problem.id}"
    now = memory.session(session, agent="helper")
    seen: tuple[str, ...] = ()
    text = ""
    for message in corrections.correction(kind, problem).turns:
        started = time.process_time()
        found = check_correction(memory, message, session=session, seen=seen, deadline_ms=DEADLINE_MS)
        tally.seconds.append(time.process_time() - started)
        now.user(message)
        text += found.text
        seen = (*seen, *found.pointers)
    if problem.family == tasks.DIALOGUE:
        told = [value for value in (found.judged.part_gives, found.judged.whole_gives) if value] if found.judged else []
        tally.truth += any(value.kind == "time" and _clock(value.amount) == problem.answer for value in told)
    tally.asked += 1
    tally.shown += bool(text)
    said = (problem.answer.lstrip("0"),) if problem.family == tasks.DIALOGUE else problem.source
    tally.whole += all(line.rstrip(".") in text for line in said)
    tally.sort += found.sort == SORTS[kind]
    gives = found.judged.whole_gives if found.judged and problem.family != tasks.DIALOGUE else None
    tally.truth += gives is not None and (
        gives.text == problem.answer if gives.amount is None else float(gives.amount) == float(problem.answer)
    )


def _clock(minutes: Fraction | None) -> str:
    return "" if minutes is None else f"{int(minutes) // 60:02}:{int(minutes) % 60:02}"


def report(tallies: dict[str, Tally]) -> None:
    heads = f"{'correction':18} {'asked':>6} {'shown':>6} {'source whole':>13} {'sort right':>11} {'worked out':>11}"
    print(f"  {heads}  ms p50/p95")
    for kind, one in tallies.items():
        times = [seconds * 1_000 for seconds in one.seconds]
        print(
            f"  {kind:18} {one.asked:6} {one.shown / one.asked:6.3f} {one.whole / one.asked:13.3f} "
            f"{one.sort / one.asked:11.3f} {one.truth / one.asked:11.3f}  "
            f"{percentile(times, 0.5):.0f}/{percentile(times, 0.95):.0f}"
        )


def ordinary() -> None:
    """Time a reminder of messages that correct nothing, and what reading them for a correction takes of it."""
    texts = [f"please look at the {thing} of bed {number} and tell me what is definitely off with it, not the rest"
             for number, thing in enumerate(("length", "soil", "fence", "colour", "owner") * 20)]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder, Memory.open(folder, embedder="none") as memory:
        for place, problem in enumerate(tasks.arithmetic(OTHERS, SEED + 1)):
            talk(memory, problem, f"told-{place}", 0)
        chat(memory)
        agent = memory.agent("helper")
        for one in memory.sessions():
            agent.enrol(one.name)
        whole, part = [], []
        for text in texts:
            started = time.process_time()
            remind(agent, text, "now", Settings(), deadline_ms=DEADLINE_MS)
            between = time.process_time()
            correction_of(text)
            whole.append((between - started) * 1_000)
            part.append((time.process_time() - between) * 1_000)
    print(f"  reminder {percentile(whole, 0.5):.1f}/{percentile(whole, 0.95):.1f} ms, of it reading for a correction "
          f"{percentile(part, 0.5):.2f}/{percentile(part, 0.95):.2f} ms (p50/p95, n = {len(texts)})")  # fmt: skip


# real ------------------------------------------------------------------------------------------------


def real(folder: Path, name: str, *, show: bool) -> None:
    """Ask every user message of a set, with all of the set in the store."""
    if not folder.is_dir():
        print(f"{name}: not there")
        return
    with tempfile.TemporaryDirectory() as store, Memory.open(store, embedder="none") as memory:
        memory.import_paths([folder])
        asked = list(messages(memory))[:MESSAGES_MAX]
        read, sorts = 0, Counter[str]()
        for session, text in asked:
            if correction_of(text) is None:
                continue
            read += 1
            found = check_correction(memory, text, session=session, deadline_ms=DEADLINE_MS)
            if show:
                told = found.correction
                assert told is not None, "it was read as one"
                print(f"--- {name} {session}: {' '.join(told.said)[:300]!r}")
                print(f"    about {told.about!r} gives {told.gives!r}: {found.sort or found.skipped}")
            if found.text:
                sorts[found.sort] += 1
                if show:
                    print("\n".join(f"    {line[:200]}" for line in found.text.splitlines()))
        total = sum(sorts.values())
        found_rate = rate(total, max(1, len(asked)))
        about = SETS[name] + (", held out" if name in HELD_OUT else "")
        print(
            f"{name} ({about}): {len(asked)} user messages, {read} read as corrections, {total} shown a source "
            f"({total / max(1, len(asked)):.4f}, {found_rate.low:.4f} to {found_rate.high:.4f}) {dict(sorts)}"
        )


def messages(memory: Memory) -> Iterator[tuple[str, str]]:
    """Yield what users said, with its session."""
    for one in memory.events(kind=Kind.USER_MESSAGE):
        yield one.session, one.text


if __name__ == "__main__":
    main()
