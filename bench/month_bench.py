"""A month of real sessions through nightly sleep: is the digest bounded, traceable, rebuilt, and is a mistake undone?

    python bench/month_bench.py --data PATH [--days 30]      all of it; exit code 1 when something does not hold
    python bench/month_bench.py --data PATH --report         write bench/MONTH.md

The sessions of the evaluation data (coding agents, airline customers, long conversations, booking dialogues) are
spread over the days of one agent, in an order that can be made again, each with times of its day. Every night the
agent sleeps. One user's mistake is put in by us, so that there is something to undo whose consequences are known: a
setting is said wrongly on one day, and what is said on later days builds on it.

After every night: the digest has at most its lines, and each line that names a pointer has the words of the bytes
there. At the end: the digest of every night is made again as of its position, from a copy of the store without
anything derived; the mistake is undone with all that followed from it, and the next night does not bring it back; the
events of every session are byte for byte what was imported; `verify` finds nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import shutil
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from firsthand import Agent, Draft, Kind, Memory, Moment, Trust, digest_of, facts_of, ledger_of, sleep

AGENT = "month"
DAY, MINUTE = 86_400_000_000, 60_000_000
FIRST = 1_770_000_000_000_000
LINES_MAX = 120
REPORT = Path(__file__).with_name("MONTH.md")
TRANSCRIPTS = ("pi-sessions", "swe-agent", "tau-airline", "longmemeval", "intercode")
DIALOGUES = 300
"""Of MultiWOZ: ten a day."""
FOLLOWED = (
    (3, "The port of the harbour gateway is 8080."),
    (6, "The port of the harbour gateway is now 9999."),
    (11, "Actually, the port of the harbour gateway is now 9998."),
    (17, "Please change the port of the harbour gateway from 9998 to 9997."),
)
"""By day, what is said of one setting; the second is the mistake, and the later ones build on it."""
WRONG = ("9999", "9998", "9997")


@dataclass
class Session:
    """One session: its name, and its drafts without times."""

    name: str
    drafts: list[Draft] = field(default_factory=list)


@dataclass
class Night:
    """What came of one night."""

    day: int
    events: int
    position: int
    seconds: float
    lines: int
    facts: int
    sessions: int
    decided: int
    detail_files: int
    traced: int
    text: str
    details: dict[str, str]


# the sessions ----------------------------------------------------------------------------------------------


def transcripts(data: Path, scratch: Path) -> Iterator[Session]:
    """Yield what the importers make of transcripts."""
    with Memory.open(scratch, embedder="none") as memory:
        memory.import_paths([data / name for name in TRANSCRIPTS if (data / name).exists()])
        for info in memory.sessions():
            one = Session(info.name)
            for event in memory.events(info.name):
                one.drafts.append(Draft(
                    event.kind, memory.expand(f"fh:{event.id}"), event.media, event.meta, agent=event.agent,
                    origin=event.origin, trust=event.trust,
                ))  # fmt: skip
            yield one


def said(role: str, text: str) -> Draft:
    """Make a message of a user or an agent."""
    if role == "user":
        return Draft(Kind.USER_MESSAGE, text.encode(), origin="user", trust=Trust.TRUSTED)
    return Draft(Kind.AGENT_MESSAGE, text.encode(), origin="agent", trust=Trust.AGENT)


def conversations(data: Path) -> Iterator[Session]:
    """Yield the parts of long conversations, a session each, in their order."""
    for file in sorted(data.glob("beam-100k/*/chat.json"), key=lambda one: int(one.parent.name)):
        for number, batch in enumerate(json.loads(file.read_text())):
            turns = [one for turn in batch["turns"] for one in turn]
            texts = [said(one["role"], one["content"].partition("->->")[0]) for one in turns]
            yield Session(f"talk-{file.parent.name}-{number + 1}", texts)


def dialogues(data: Path) -> Iterator[Session]:
    """Yield booking dialogues."""
    with zipfile.ZipFile(data / "multiwoz21" / "val.json.zip") as packed:
        found = json.loads(packed.read("val.json"))
    for name in sorted(found)[:DIALOGUES]:
        turns = enumerate(found[name]["log"])
        yield Session(f"booking-{name}", [said("user" if at % 2 == 0 else "agent", one["text"]) for at, one in turns])


def by_day(data: Path, days: int, folder: Path) -> list[list[Session]]:
    """Spread all sessions over the days; the parts of one conversation keep their order."""
    alone = [*transcripts(data, folder / "scratch"), *dialogues(data)]
    random.Random(20_261_121).shuffle(alone)
    spread: list[list[Session]] = [alone[at::days] for at in range(days)]
    for at, one in enumerate(conversations(data)):
        spread[(at * 7 // 3 + int(one.name.rpartition("-")[2]) * days // 3 - 1) % days].append(one)
    for day, text in FOLLOWED:
        if day < days:
            spread[day].append(Session(f"gateway-{day}", [said("user", text), said("agent", "Noted.")]))
    return spread


# the month -------------------------------------------------------------------------------------------------


def live(memory: Memory, sessions: Sequence[Session], day: int) -> int:
    """Append a day's sessions, ten minutes apart; give how many events there were."""
    agent, appended = memory.agent(AGENT), 0
    for number, one in enumerate(sessions):
        agent.enrol(one.name)
        begun = FIRST + day * DAY + number * 10 * MINUTE
        drafts = [
            Draft(it.kind, it.content, it.media, it.meta, agent=it.agent, origin=it.origin, trust=it.trust,
                  time=Moment(begun + at * 1_000_000))
            for at, it in enumerate(one.drafts)
        ]  # fmt: skip
        for at in range(0, len(drafts), 1_000):
            memory.append(drafts[at : at + 1_000], session=one.name)
        appended += len(drafts)
    return appended


_POINTER = re.compile(r"\((fh:[0-9A-Z]{26}@\d+-\d+)\)$")


def traced(memory: Memory, texts: Sequence[str]) -> tuple[int, list[str]]:
    """Count the lines whose words are those of their pointer's bytes; and give those whose are not."""
    good, bad = 0, []
    for line in (line for text in texts for line in text.splitlines() if line.startswith("- ")):
        found = _POINTER.search(line)
        if found is None:
            continue  # a session, or a link
        told = line[2 : found.start()].strip().removesuffix("...")
        source = " ".join(memory.expand(found[1]).decode("utf-8", "replace").split())
        # a fact that does not name what it is about is told with it before: "deployment: the port is 1"
        _, named, rest = told.partition(": ")
        whole = told in source or bool(named and rest and rest in source) or "(secret" in told
        good, bad = good + whole, bad if whole else [*bad, line]
    return good, bad


def month(memory: Memory, spread: Sequence[Sequence[Session]], problems: list[str]) -> list[Night]:
    """Live the days and sleep the nights."""
    nights = []
    for day, sessions in enumerate(spread):
        events = live(memory, sessions, day)
        begun = time.process_time()
        slept = sleep(memory, AGENT, now=Moment(FIRST + (day + 1) * DAY))
        seconds = time.process_time() - begun
        if not slept.finished or slept.digested is None or slept.swept is None:
            problems.append(
                f"night {day + 1} was not finished: {[(one.name, one.state, one.why) for one in slept.steps]}"
            )
            continue
        made = slept.digested.digest
        lines = len(made.text.splitlines())
        good, bad = traced(memory, [made.text, *made.details.values()])
        problems += [f"night {day + 1}: the digest has {lines} lines"] if lines > LINES_MAX else []
        problems += [f"night {day + 1}: not the words of its bytes: {line}" for line in bad]
        written = (memory.agent(AGENT).folder / "digest.md").read_text(encoding="utf-8")
        problems += [f"night {day + 1}: digest.md is not the digest"] if written != made.text else []
        nights.append(Night(
            day + 1, events, slept.digest, seconds, lines, made.facts, made.sessions, len(slept.swept.decided),
            len(made.details), good, made.text, made.details,
        ))  # fmt: skip
        print(f"night {day + 1}: {events:,} events, {made.facts} facts, {seconds:.1f} s", file=sys.stderr)
    return nights


def again(store: Path, copy: Path, nights: Sequence[Night], problems: list[str]) -> float:
    """Make every night's digest again, as of its position, from a store without anything derived; give seconds."""
    shutil.copytree(store, copy)
    with Memory.open(copy, embedder="none") as memory:
        memory.rebuild()
        agent = memory.agent(AGENT)
        begun = time.process_time()
        for night in nights:
            made = digest_of(agent, as_of=night.position)
            if (made.text, made.details) != (night.text, night.details):
                problems.append(f"night {night.day} is another digest as of position {night.position}")
        return time.process_time() - begun


def whole(agent: Agent) -> tuple[str, ...]:
    """Give the digest of now with the files that it links: what has no line stands there."""
    made = digest_of(agent)
    return made.text, *made.details.values()


def undone(memory: Memory, days: int, problems: list[str]) -> str:
    """Undo the mistake with all that followed, and sleep once more."""
    log, agent = ledger_of(memory), memory.agent(AGENT)
    words = {one.pointer: one.text for one in facts_of(memory, AGENT)}
    mistake = [one for one in log.decisions() if "9999" in words.get(one.by_fact, "")]
    if not mistake:
        problems.append("the mistake was not decided on, so nothing can be undone")
        return "none"
    before = "".join(whole(agent))
    gone = log.undo(mistake[0].id, following=True, reason="said by mistake")
    after = "".join(whole(agent))
    slept = sleep(memory, AGENT, now=Moment(FIRST + (days + 1) * DAY))
    later = "".join(whole(agent))
    line = "The port of the harbour gateway is 8080."
    if line in before or "9997" not in before:
        problems.append("before undoing, the digest does not say what the last of the mistakes says")
    for name, text in (("after undoing", after), ("a night later", later)):
        if line not in text:
            problems.append(f"{name}, the digest does not say what was right")
    if not slept.finished:
        problems.append("the night after the undoing was not finished")
    again_ = log.undo(mistake[0].id, following=True)
    if again_:
        problems.append("undoing twice undid something else")
    return f"{len(gone)} decisions undone"


def imported(memory: Memory, names: Sequence[str]) -> str:
    """Hash what was imported, event by event."""
    found = hashlib.sha256()
    for name in sorted(names):
        for event in memory.events(name):
            if event.origin != "firsthand":
                found.update(f"{event.session}\0{event.kind}\0{event.id}\0".encode() + memory.expand(f"fh:{event.id}"))
    return found.hexdigest()


def report(nights: Sequence[Night], told: Sequence[str]) -> str:
    """Write the table."""
    shown = [night for night in nights if night.day in {1, 2, 5, 10, 15, 20, 25, len(nights)}]
    rows = [
        f"| {one.day} | {one.events:,} | {one.position:,} | {one.seconds:.1f} | {one.decided} | {one.facts} | "
        f"{one.sessions} | {one.lines} | {one.detail_files} | {one.traced:,} |"
        for one in shown
    ]
    head = "| night | events of the day | position | s | decisions | facts | sessions | lines | files | lines traced |"
    return "\n".join([
        "# A month of real sessions, asleep every night", "",
        "Written by `python bench/month_bench.py --data DATA --report`; how, and what is asked, is said there.", "",
        head, "|" + " ---: |" * 10, *rows, "", *(f"- {one}" for one in told), "",
    ])  # fmt: skip


def main() -> int:
    """Live the month, ask, print, and write the report when asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the evaluation data")
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--report", action="store_true", help=f"write {REPORT.name}")
    parser.add_argument("--work", type=Path, help="a folder for the store, kept afterwards")
    chosen = parser.parse_args()
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as made:
        folder = chosen.work or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        spread = by_day(chosen.data, chosen.days, folder)
        names = [one.name for day in spread for one in day]
        with Memory.open(folder / "store", embedder="none") as memory:
            nights = month(memory, spread, problems)
            whole = imported(memory, names)
        seconds = again(folder / "store", folder / "copy", nights, problems)
        with Memory.open(folder / "store", embedder="none") as memory:
            gone = undone(memory, chosen.days, problems)
            if imported(memory, names) != whole:
                problems.append("what was imported is not what it was")
            problems += [str(one) for one in memory.verify().problems]
            slowest = max(nights, key=lambda one: one.seconds)
            told = [
                (
                    f"{len(names):,} sessions, {sum(one.events for one in nights):,} events, {len(nights)} nights; "
                    f"at most {max(one.lines for one in nights)} lines of {LINES_MAX}"
                ),
                f"slowest night {slowest.seconds:.1f} s of processor ({slowest.events:,} events)",
                f"{sum(one.traced for one in nights):,} lines traced to bytes over all nights",
                f"all {len(nights)} digests made again as of their positions in {seconds:.1f} s, from a rebuilt copy",
                f"the mistake: {gone}",
                f"problems: {len(problems)}",
            ]
    text = report(nights, told)
    print(text)
    for one in problems[:40]:
        print("PROBLEM", one, file=sys.stderr)
    if chosen.report and not problems:
        REPORT.write_text(text, encoding="utf-8")
    return 1 if problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
