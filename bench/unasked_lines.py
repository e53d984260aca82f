"""Lines that agents are told unasked, drawn from real coding sessions for readers to judge.

    python bench/unasked_lines.py --data DATA --out FOLDER [--seed 7] [--skip 12]

The sessions of a project are one agent's. Each is cut at moments drawn by seed, where a next session reads a preamble;
taken are also what each message brings up, the episode of each session, the digest at the end. ``LINES`` of each sort
are drawn into FOLDER/sheet.json and .md, with what a reader needs; ``--verdicts FILE...`` counts what readers said.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from firsthand import Memory
from firsthand.agents.agent_digest import digest_of
from firsthand.agents.reminders import remind
from firsthand.agents.settings import Settings
from quality import coding
from quality.coding import RESULT, Event
from quality.store_process import fill
from quality.values import USER

LINES, CUTS, SESSIONS_MAX, START, DAY, WORDS = 60, 2, 24, 1_767_600_000, 86_400, 420
INTRODUCTION = """# Lines that an agent is told unasked

A coding agent that starts a session (preamble, episode, digest) or gets a message (reminder) reads each line. Say:
**useful** to go on with this project; **noise**: true, not worth its place; **wrong**: false or no longer so then.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder that holds pi-sessions, swe-agent and intercode")
    parser.add_argument("--out", type=Path, default=Path(), help="folder of the sheet")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--skip", type=int, default=0, help="leave out the first sessions")
    parser.add_argument("--verdicts", type=Path, nargs="+", help="what readers said, one JSON file each")
    chosen = parser.parse_args()
    sheet = chosen.out / "sheet.json"
    if chosen.verdicts:
        count(json.loads(sheet.read_bytes()), [json.loads(file.read_bytes()) for file in chosen.verdicts])
        return
    rows = draw(chosen.data, random.Random(chosen.seed), held_back=False, skip=chosen.skip)
    sheet.write_text(json.dumps(rows, indent=1, ensure_ascii=False), encoding="utf-8")
    sheet.with_suffix(".md").write_text("\n".join([INTRODUCTION, *map(section, rows)]), encoding="utf-8")
    print(dict(Counter(row["sort"] for row in rows)))


def draw(data: Path, chance: random.Random, held_back: bool, skip: int) -> list[dict[str, Any]]:
    """Draw lines of each sort, spread over the sessions, in one drawn order."""
    lines: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for name in ("pi", "swe", "intercode"):
        sessions = coding.sessions(data, name)
        half = [key for key in sessions if coding.is_held_back(key, list(sessions)) == held_back]
        half = half[skip if len(half) > skip + 5 else 0 :][:SESSIONS_MAX]
        by_project: dict[str, list[list[Event]]] = {}
        for key in half:
            by_project.setdefault(key.rpartition("-")[0] if name == "swe" else name, []).append(sessions[key])
        for row in (row for own in by_project.values() for row in live(own, chance)):
            if name != "intercode" or row["sort"] == "reminder":  # short tasks by the dozen
                lines.setdefault((row["sort"], row["session"]), {})[row["line"]] = row
    drawn = {key: chance.sample(list(own.values()), len(own)) for key, own in lines.items()}
    rows = []
    for sort in ("preamble", "digest", "episode", "reminder"):
        own = [rows for key, rows in drawn.items() if key[0] == sort]
        rows += [each[at] for at in range(max(map(len, own), default=0)) for each in own if at < len(each)][:LINES]
    chance.shuffle(rows)
    return [{"id": f"L{number:03}", **row} for number, row in enumerate(rows, 1)]


def live(sessions: Sequence[Sequence[Event]], chance: random.Random) -> Iterator[dict[str, Any]]:
    """Live sessions in order; yield what each is told, at its cuts and messages, and what its episode says."""
    with tempfile.TemporaryDirectory() as folder, Memory(Path(folder) / "store", embedder="none") as memory:
        agent, events = memory.agent("bench"), list[Event]()
        for day, session in enumerate(sessions):
            events = [coding.replace(each, time=each.time or START + DAY * day + 30 * each.index) for each in session]
            agent.enrol(events[0].session)
            ends = [at for at in range(5, len(events)) if events[at - 1].kind == RESULT or events[at].kind == USER]
            cuts, done = {*chance.sample(ends, min(CUTS, len(ends))), len(events)}, 0
            for at in range(len(events) + 1):
                asked = at < len(events) and events[at].kind == USER
                if asked or at in cuts:
                    fill(memory, [row(each) for each in events[done:at]])
                    done = at
                if at in cuts:
                    yield from told("preamble", events, at, agent.preamble().text)
                if asked:
                    reminder = remind(agent, events[at].text, events[at].session, Settings(), deadline_ms=60_000)
                    yield from told("reminder", events, at, reminder.text)
            if (episode := agent.close(events[0].session).episode) is not None:
                yield from told("episode", events, len(events), memory.expand(episode.pointer).decode())
        yield from told("digest", events, len(events), digest_of(agent).text)


def row(event: Event) -> dict[str, Any]:
    names = ("session", "kind", "text", "tool", "call", "time")
    return {"speaker": "", "caption": "", **{name: getattr(event, name) for name in names}}


def told(sort: str, events: Sequence[Event], at: int, text: str) -> Iterator[dict[str, Any]]:
    """Yield the lines of a text, each with its heading, the place where it is read, and what happened around it."""
    lines = [f"{each.kind}: {' '.join(each.text.split())[:140]}" for each in events]
    began = next((each.text for each in events[: at + 1] if each.kind == USER), events[0].text)
    around = {"the message that brought it up": events[at].text[:WORDS]} if sort == "reminder" else {}
    around |= {"the session began with": began[:WORDS], "just before": "\n".join(lines[max(0, at - 4) : at])}
    around["later"] = "\n".join(lines[at + (sort == "reminder") :][:8]) or "nothing: the session ended"
    place, heading = {"sort": sort, "session": events[0].session, "at": at, "of": len(events)}, ""
    for line in text.splitlines():
        heading = line.lstrip("# ") if line.startswith("#") else heading
        if line.startswith("- "):
            yield place | {"under": heading, "line": line, "context": around}


def section(row: dict[str, Any]) -> str:
    context = [
        f"*{name}*\n\n" + "\n".join(f"    {line}" for line in part.splitlines())
        for name, part in row["context"].items()
    ]
    where = f"{row['sort']}, session {row['session']}, after event {row['at']} of {row['of']}"
    return "\n\n".join([f"## {row['id']} ({where})", f"under: {row['under']}", f"> {row['line']}", *context, ""])


def count(rows: Sequence[dict[str, Any]], readers: Sequence[dict[str, str]]) -> None:
    """Print what readers said by sort, and how often they all agree."""
    for sort in (*dict.fromkeys(row["sort"] for row in rows), ""):
        said = [[reader.get(row["id"], "none") for reader in readers] for row in rows if sort in ("", row["sort"])]
        agreed = sum(len(set(each)) == 1 for each in said)
        print(
            sort or "all", *(dict(Counter(column)) for column in zip(*said, strict=True)), f"agree {agreed}", len(said)
        )


if __name__ == "__main__":
    main()
