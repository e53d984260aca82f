"""Read coding sessions (pi, SWE-agent, InterCode, tau-bench) as numbered events, and print a session.

Each set is one store of several sessions. Long and short recordings are brought to one size: the only
session of pi is cut into stretches at its compactions and at user messages, and twenty episodes of
InterCode are one session. An event's index counts within its session; questions name events by it.

    python bench/quality/coding.py --data DATA --show SET SESSION [--characters 2000]
    python bench/quality/coding.py --data DATA --list SET
    python bench/quality/coding.py --data DATA --shared     what the halves have in common, by set
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

STRETCH_EVENTS_MIN = 50
"""Events of a stretch of pi before a user message may end it."""
EPISODES = 20
"""Episodes of InterCode that make a session."""
EPISODES_MAX = 400
"""Episodes of one file that are read: the SQL file has a thousand of one sort."""
_USER_ID = re.compile(r"\b[a-z]+_[a-z]+_\d{4}\b")
SUMMARY, USER, AGENT, THOUGHT, CALL, RESULT, SYSTEM = (
    "summary", "user_message", "agent_message", "reasoning", "tool_call", "tool_result", "system",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a coding session.

    Attributes:
        kind: the word of its `firsthand.event.Kind`.
        tool: the tool that a call names or a result comes from.
        call: the id that a call and its result share.
        time: seconds since 1970, None where the set has none.
    """

    session: str
    index: int
    kind: str
    text: str
    tool: str = ""
    call: str = ""
    time: float | None = None


def pi(data: Path) -> Iterator[Event]:
    """Read the session of pi in stretches pi-00, pi-01 and so on."""
    stretch: list[Event] = []
    number = 0
    for event in _pi_events(data / "pi-sessions" / "before-compaction.jsonl"):
        if event.kind == SUMMARY or (event.kind == USER and len(stretch) >= STRETCH_EVENTS_MIN):
            yield from _numbered(f"pi-{number:02}", stretch)
            number += 1
            stretch = []
        stretch.append(event)
    yield from _numbered(f"pi-{number:02}", stretch)


def swe(data: Path) -> Iterator[Event]:
    """Read the trajectories of SWE-agent: the issue, then thought, command and observation of each step."""
    for file in sorted((data / "swe-agent").glob("*.traj")):
        recording = json.loads(file.read_bytes())
        issue = next(
            (
                entry["content"]
                for entry in recording["history"]
                if entry["role"] == "user" and not entry.get("is_demo")
            ),
            file.stem,
        )
        events = [Event("", 0, USER, issue)]
        for number, step in enumerate(recording["trajectory"]):
            if step["thought"]:
                events.append(Event("", 0, AGENT, step["thought"]))
            events += _shell(step["action"], step["observation"], f"{file.stem}-{number}")
        yield from _numbered(file.stem, events)


def intercode(data: Path) -> Iterator[Event]:
    """Read the episodes of GPT-4 with ten turns, twenty of them as one session."""
    for file in sorted((data / "intercode").rglob("*gpt-4_10_turns*.json")):
        episodes = list(json.loads(file.read_bytes()).values())[:EPISODES_MAX]
        name = "sql" if "_sql_" in file.stem else f"bash-{file.stem.rpartition('fs_')[2]}"
        for number, start in enumerate(range(0, len(episodes), EPISODES)):
            events: list[Event] = []
            for row, episode in enumerate(episodes[start : start + EPISODES]):
                turns = episode.get("turn_history") or {}
                events.append(Event("", 0, USER, episode["query"]))
                pairs = zip(turns.get("actions", ()), turns.get("observations", ()), strict=False)
                for turn, (action, observation) in enumerate(pairs):
                    text = observation if isinstance(observation, str) else json.dumps(observation)
                    events += _shell(action, text, f"{name}-{number}-{row}-{turn}")
            yield from _numbered(f"{name}-{number:02}", events)


def tau(data: Path) -> Iterator[Event]:
    """Read the first trial of each task; the policy that opens them all is told once."""
    (file,) = sorted((data / "tau-airline").glob("*.json"))
    episodes = [episode for episode in json.loads(file.read_bytes()) if episode["trial"] == 0]
    for number, episode in enumerate(episodes):
        name = f"tau-{episode['task_id']:02}"
        yield from _numbered(name, list(_chat(episode["traj"], name, policy=number == 0)))


READERS: dict[str, Callable[[Path], Iterator[Event]]] = {"pi": pi, "swe": swe, "intercode": intercode, "tau": tau}


def sessions(data: Path, name: str) -> dict[str, list[Event]]:
    """Give the events of a set by session, in order."""
    return {
        session: list(events) for session, events in itertools.groupby(READERS[name](data), key=lambda one: one.session)
    }


def origins(name: str, session: str, events: Sequence[Event]) -> set[str]:
    """Name what a session is of: the recording (pi), the repository (SWE-agent), its queries, its users (tau)."""
    match name:
        case "pi":
            return {"before-compaction"}
        case "swe":
            return {session.rpartition("-")[0]}
        case "intercode":
            return {event.text for event in events if event.kind == USER}
    return {user for event in events if event.kind != SYSTEM for user in _USER_ID.findall(event.text)}


def shared(data: Path, name: str, questions: Sequence[Mapping[str, Any]]) -> tuple[int, int]:
    """Count the held-back questions of a set, and those whose session is of something that the other half is of too."""
    known = sessions(data, name)
    held_back = {session for session in known if is_held_back(session, list(known))}
    tuned = set[str]().union(*(origins(name, it, events) for it, events in known.items() if it not in held_back))
    alike = {session for session in held_back if origins(name, session, known[session]) & tuned}
    asked = [question["session"] for question in questions if question["set"] == name]
    return sum(session in held_back for session in asked), sum(session in alike for session in asked)


def is_held_back(name: str, names: Sequence[str]) -> bool:
    """Say whether a session belongs to the half that nobody tunes on: by checksum of its name."""
    odd = [one for one in names if _checksum(one) % 2]
    if 10 * min(len(odd), len(names) - len(odd)) >= 3 * len(names):
        return name in odd
    return name in sorted(names, key=_checksum)[1::2]


def _checksum(name: str) -> int:
    return zlib.crc32(name.encode())


def _numbered(session: str, events: Sequence[Event]) -> Iterator[Event]:
    for index, event in enumerate(events):
        yield replace(event, session=session, index=index)


def _shell(command: str, observation: str, call: str) -> list[Event]:
    return [
        Event("", 0, CALL, json.dumps({"command": command}, ensure_ascii=False), "shell", call),
        Event("", 0, RESULT, observation or "(no output)", "shell", call),
    ]


def _pi_events(file: Path) -> Iterator[Event]:
    for line in file.read_bytes().splitlines():
        entry = json.loads(line)
        message = entry.get("message") or {}
        time = datetime.fromisoformat(entry["timestamp"]).timestamp()
        if entry["type"] == "compaction":
            yield Event("", 0, SUMMARY, entry["summary"], time=time)
        match message.get("role"):
            case "user":
                yield Event("", 0, USER, _text(message["content"]) or "(an image)", time=time)
            case "assistant":
                for block in message["content"]:
                    match block["type"]:
                        case "toolCall":
                            arguments = json.dumps(block["arguments"], ensure_ascii=False)
                            yield Event("", 0, CALL, arguments, block["name"], block["id"], time)
                        case "thinking" if block["thinking"].strip():
                            yield Event("", 0, THOUGHT, block["thinking"], time=time)
                        case "text" if block["text"].strip():
                            yield Event("", 0, AGENT, block["text"], time=time)
            case "toolResult":
                text = _text(message["content"]) or "(no output)"
                yield Event("", 0, RESULT, text, message["toolName"], message["toolCallId"], time)
            case "bashExecution":
                yield Event("", 0, CALL, message["command"], "bash", entry["timestamp"], time)
                yield Event("", 0, RESULT, message["output"] or "(no output)", "bash", entry["timestamp"], time)


def _chat(messages: Sequence[dict[str, Any]], name: str, *, policy: bool) -> Iterator[Event]:
    waiting = ""
    tool = ""
    for number, message in enumerate(messages):
        text = message.get("content") or ""
        match message["role"]:
            case "system" if policy:
                yield Event("", 0, SYSTEM, text)
            case "user":
                yield Event("", 0, USER, text)
            case "tool":
                yield Event("", 0, RESULT, text or "(no output)", tool, waiting)
            case "assistant":
                if text:
                    yield Event("", 0, AGENT, text)
                for call in (message.get("tool_calls") or ())[:1]:
                    waiting, tool = f"{name}-{number}", call["function"]["name"]
                    yield Event("", 0, CALL, call["function"]["arguments"], tool, waiting)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if block.get("type") == "text" and block.get("text"))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder that holds pi-sessions, swe-agent and so on")
    parser.add_argument("--show", nargs=2, metavar=("SET", "SESSION"), help="print the events of a session")
    parser.add_argument("--list", metavar="SET", choices=list(READERS), help="name the sessions of a set, with halves")
    parser.add_argument("--shared", action="store_true", help="count held-back questions of what was tuned on")
    parser.add_argument("--characters", type=int, default=2_000, help="of each event's text, at most (default 2000)")
    arguments = parser.parse_args()
    if arguments.list:
        found = sessions(arguments.data, arguments.list)
        for session, events in found.items():
            half = "held back" if is_held_back(session, list(found)) else "development"
            print(f"{session}\t{half}\t{len(events)} events\t{sum(len(event.text) for event in events)} characters")
    if arguments.shared:
        questions = json.loads(Path(__file__).with_name("coding_questions.json").read_bytes())
        for name in READERS:
            held_back, alike = shared(arguments.data, name, questions)
            print(f"{name}\t{held_back} held-back questions\t{alike} of what the development half is of too")
    if arguments.show:
        name, session = arguments.show
        for event in sessions(arguments.data, name)[session]:
            cut = arguments.characters
            more = f" [... {len(event.text) - cut} more characters]" if len(event.text) > cut else ""
            tool = f" {event.tool}" if event.tool else ""
            print(f"--- [{event.index}] {event.kind}{tool} {event.time or ''}\n{event.text[:cut]}{more}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
