"""How much of a session its episode tells: by simple oracles on real transcripts, and on made ones with a known truth.

    python bench/episodes_bench.py --data DATA [--sessions 60]
    python bench/episodes_bench.py --long 100000

Real sessions (pi-sessions, swe-agent, tau-airline): the oracles look at raw events by rules of
their own, which share no code with the extraction: a result is a failure when the host says so
(`is_error`, an exit code) or its last line names an exception; a file was edited when an edit or
write tool names it and the host reports no error; the exit state is what the host wrote. Of each,
the share that the episode's text names is given: of all, and of the ten that happened most often,
since an episode of 8,000 characters is no copy of the session.

Made sessions: decisions, failures and pending work are written into a dialogue among distractors
(questions, reports of old failures, plans that were done); precision and recall of the lines.

``--long`` closes one made session of so many events, and one of a hundredth of them, each in a process of its own:
processor time, and by how much the process's memory grew meanwhile; and a short one many times.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import re
import resource
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from firsthand import Draft, Event, Kind, Memory

SETS = (("pi-sessions", "*"), ("swe-agent", "*.traj"), ("tau-airline", "*"))
TOP = 10
MADE = 40
_EXCEPTION = re.compile(r"^\s*(?:\w+\.)*[A-Z]\w*(?:Error|Exception): ", re.MULTILINE)
_EDITS = {"edit", "write", "create", "str_replace_editor"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="the folder of evaluation data; without it only made sessions")
    parser.add_argument("--sessions", type=int, default=60, help="most sessions of each set")
    parser.add_argument(
        "--long", type=int, metavar="EVENTS", help="measure the closing of a session of so many instead"
    )
    chosen = parser.parse_args()
    if chosen.long:
        print(long(chosen.long))
        return
    if chosen.data is not None:
        print(
            "| set | sessions | verified | failures named (all / ten most frequent) | files named (all / ten) "
            "| exit states | characters, median | seconds a 1,000 events |"
        )
        print("|---|---|---|---|---|---|---|---|")
        for name, pattern in SETS:
            print(real(name, chosen.data / name, pattern, chosen.sessions))
        print()
    print(made())


def real(name: str, folder: Path, pattern: str, most: int) -> str:
    """Close the sessions of one set and say how much of them their episodes name."""
    with tempfile.TemporaryDirectory() as home, Memory.open(Path(home) / "store") as memory:
        memory.import_paths(sorted(folder.glob(pattern))[:most])
        agent = memory.agent("bench")
        shares: dict[str, list[tuple[int, int]]] = {
            key: [] for key in ("failed", "failed10", "files", "files10", "exit")
        }
        sizes, speeds, verified = [], [], 0
        sessions = [info for info in memory.sessions() if not info.name.startswith("agent:")][:most]
        for info in sessions:
            agent.enrol(info.name)
            started = time.perf_counter()
            closed = agent.close(info.name)
            speeds.append((time.perf_counter() - started) / info.events * 1_000)
            if closed.episode is None:
                continue
            verified += closed.verified
            text = memory.expand(closed.episode.pointer).decode()
            sizes.append(len(text))
            events = list(memory.events(info.name))
            failed, files = Counter(failures(events)), Counter(edited(events))
            names = {path: path.rstrip("/").rpartition("/")[2] for path in files}
            for key, truth, named in (
                ("failed", failed, {one for one in failed if one in text}),
                ("files", files, {path for path, name in names.items() if name in text}),
            ):
                best = [one for one, _ in truth.most_common(TOP)]
                shares[key].append((len(named), len(truth)))
                shares[key + "10"].append((len(named.intersection(best)), len(best)))
            states = [e.meta["exit_status"] for e in events if isinstance(e.meta.get("exit_status"), str)]
            shares["exit"].append((sum(one in text for one in states), len(states)))
    told = {key: _share(pairs) for key, pairs in shares.items()}
    return (
        f"| {name} | {len(sessions)} | {verified} | {told['failed']} / {told['failed10']} | {told['files']} / "
        f"{told['files10']} | {told['exit']} | {statistics.median(sizes):,.0f} | {statistics.median(speeds):.2f} |"
    )


def failures(events: list[Event]) -> Iterator[str]:
    """Give the pointer of the last failed result of each call that failed, by the oracle's own rules."""
    calls = {e.meta.get("call_id"): e.text for e in events if e.kind is Kind.TOOL_CALL}
    last: dict[str, str] = {}
    times: Counter[str] = Counter()
    for event in events:
        if event.kind is not Kind.TOOL_RESULT:
            continue
        told = event.meta.get("is_error")
        final = event.text.rstrip().splitlines()[-1:] or [""]
        if told is True or (told is None and _EXCEPTION.match(final[0])):
            key = calls.get(event.meta.get("call_id"), event.id)
            last[key] = f"fh:{event.id}"
            times[key] += 1
    for key, pointer in last.items():
        yield from [pointer] * times[key]


def edited(events: list[Event]) -> Iterator[str]:
    """Give the path of every edit that the host does not call failed."""
    wrong = {e.meta.get("call_id") for e in events if e.kind is Kind.TOOL_RESULT and e.meta.get("is_error") is True}
    for event in events:
        if event.kind is Kind.TOOL_CALL and event.meta.get("tool") in _EDITS and event.meta.get("call_id") not in wrong:
            try:
                told = json.loads(event.text)
            except ValueError:
                continue
            if isinstance(told, dict) and isinstance(told.get("path"), str):
                yield told["path"]


# made sessions -----------------------------------------------------------------------------------------

SUBJECTS = (
    "lock table", "retry queue", "invoice export", "session cache", "upload limit", "date parser", "login page",
    "search index", "mail filter", "image resizer", "backup job", "rate limiter",
)  # fmt: skip
DECIDED = (
    "Decision: keep the {} in one process.", "We decided to rewrite the {} in Rust.", "I have decided to drop the {}.",
    "Let's go with the smaller {}.", "We agreed that the {} stays as it is.", "We settled on two {}s per node.",
)  # fmt: skip
NOT_DECIDED = (
    "Should we decided on the {} later?", "Maybe we go with another {}.", "What is the {} for?",
    "I will look at the {} now.", "The {} has three parts.", "Could you explain the {}?",
)  # fmt: skip
PENDING = (
    "- [ ] measure the {}", "The {} is still to be documented.", "Next step: test the {} under load.",
    "Still missing: a limit for the {}.",
)  # fmt: skip
DONE = ("- [x] measured the {}", "The {} is documented.", "The {} works.")


def made() -> str:
    """Close made sessions and compare the lines of their episodes with what was written into them."""
    counts: dict[str, list[int]] = {key: [0, 0, 0] for key in ("Decided", "Tried and did not work", "Pending")}
    with tempfile.TemporaryDirectory() as home, Memory.open(Path(home) / "store") as memory:
        agent = memory.agent("bench")
        for seed in range(MADE):
            truth = _session(memory, f"made-{seed}", random.Random(seed))
            agent.enrol(f"made-{seed}")
            closed = agent.close(f"made-{seed}")
            sections = _sections(memory.expand(closed.episode.pointer).decode())
            for key, wanted in truth.items():
                lines = sections.get(key, [])
                counts[key][0] += sum(any(one in line for line in lines) for one in wanted)
                counts[key][1] += len(wanted)
                counts[key][2] += sum(not any(one in line for one in wanted) for line in lines)
    out = ["| made sessions | written in | recall | precision |", "|---|---|---|---|"]
    for key, (hit, wanted, wrong) in counts.items():
        out.append(f"| {key} | {wanted} | {hit / wanted:.3f} | {hit / max(1, hit + wrong):.3f} |")
    return "\n".join(out)


def long(events: int) -> str:
    """Close a long session, one of a hundredth, and short ones; say what each cost."""
    out = ["| a session of | processor s | memory grew by MB |", "|---|---|---|"]
    spawn = multiprocessing.get_context("spawn")
    for count in (max(100, events // 100), events):
        with tempfile.TemporaryDirectory() as home:
            _fill(Path(home) / "store", count)
            with spawn.Pool(1) as pool:
                seconds, grown = pool.apply(_closed, (str(Path(home) / "store"),))
        out.append(f"| {count:,} events | {seconds:.2f} | {grown / 1024:.0f} |")
    with tempfile.TemporaryDirectory() as home, Memory.open(Path(home) / "store") as memory:
        agent, taken = memory.agent("bench"), []
        for seed in range(MADE):
            _session(memory, f"made-{seed}", random.Random(seed))
            agent.enrol(f"made-{seed}")
            begun = time.process_time()
            agent.close(f"made-{seed}")
            taken.append(1000 * (time.process_time() - begun))
    return "\n".join([*out, f"\na session of some 20 events: {statistics.median(taken):.0f} ms, the median of {MADE}"])


def _fill(store: Path, events: int) -> None:
    """Write one session of rounds of prompt, answer, call and result; every tenth call fails."""
    with Memory.open(store) as memory:
        memory.agent("bench").enrol("long")
        batch: list[Draft] = []
        for number in range(events // 4):
            subject, failed = SUBJECTS[number % len(SUBJECTS)], number % 10 == 0
            facts = {"tool": "bash", "call_id": f"c{number}"}
            asked = json.dumps({"command": f"pytest -q tests/test_{number % 50}.py"})
            said = "E   AssertionError: 1 != 2\n1 failed" if failed else f"{number} passed in 0.3 s"
            batch += [
                Draft(Kind.USER_MESSAGE, f"Please look at the {subject} of part {number}.".encode()),
                Draft(Kind.AGENT_MESSAGE, f"The {subject} of part {number} has three steps; I run its tests.".encode()),
                Draft(Kind.TOOL_CALL, asked.encode(), "application/json", facts),
                Draft(Kind.TOOL_RESULT, said.encode(), meta={**facts, "exitCode": int(failed)}),
            ]
            if len(batch) >= 1_000 or number == events // 4 - 1:
                memory.append(batch, session="long")
                batch = []


def _closed(store: str) -> tuple[float, float]:
    """Close the long session; give processor seconds, and the kilobytes by which the process's memory grew."""
    with Memory.open(store) as memory:
        agent = memory.agent("bench")
        before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        closed = agent.close("long")
        assert closed.verified, closed.why
        return time.process_time() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before


def _session(memory: Memory, name: str, chance: random.Random) -> dict[str, list[str]]:
    session = memory.session(name)
    truth: dict[str, list[str]] = {"Decided": [], "Tried and did not work": [], "Pending": []}
    subjects = chance.sample(SUBJECTS, 8)
    session.user(f"Please mend the {subjects[0]}, it loses entries.")
    for number, subject in enumerate(subjects[:5]):
        said: Callable[[str], object] = session.agent if chance.random() < 0.6 else session.user
        if chance.random() < 0.6:
            truth["Decided"].append(chance.choice(DECIDED).format(subject))
            said(truth["Decided"][-1])
        other = chance.choice(NOT_DECIDED).format(subject)
        (session.user if other.endswith("?") else said)(other)  # what an agent asks in vain is pending
        command = f"pytest -q tests/test_{number}.py"
        call = session.tool_call("bash", {"command": command})
        if chance.random() < 0.5:
            session.tool_result(call, "E   AssertionError: 1 != 2\n1 failed", tool="bash", meta={"exitCode": 1})
            truth["Tried and did not work"].append(command)
        else:
            session.tool_result(call, "log: error 17 was handled\n3 passed", tool="bash", meta={"exitCode": 0})
    closing = [chance.choice(DONE).format(subjects[5])]
    for subject in subjects[6:]:
        line = chance.choice(PENDING).format(subject)
        closing.append(line)
        truth["Pending"].append(line.removeprefix("- [ ] "))
    session.agent("\n".join(closing))
    return truth


def _sections(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    heading = ""
    for line in text.splitlines():
        if line.startswith("## "):
            heading = line[3:].partition(":")[0]
        elif line.startswith("- ") and not line.startswith("- failed last"):
            found.setdefault(heading, []).append(line)
    return found


def _share(pairs: list[tuple[int, int]]) -> str:
    hit, total = (sum(side) for side in zip(*pairs, strict=True)) if pairs else (0, 0)
    return f"{hit}/{total} ({hit / total:.2f})" if total else "none"


if __name__ == "__main__":
    main()
