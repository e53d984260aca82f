"""Read LoCoMo, BEAM, LongMemEval and the coding sessions as talks with questions and the units that answer them.

LoCoMo: one event a turn, evidence by ``dia_id``; BEAM: one event a message, evidence by
``source_chat_ids``, which may be a list or lists by name. The LongMemEval sample at hand has
no turn labels: all its conversations go into one store, and a question's evidence is the
sessions of its own conversation (the oracle split holds evidence sessions only). Coding: each of
four sets is one store; the questions are the project's own, in coding_questions.json.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from . import coding
from .values import AGENT, USER, Event, Half, Question, Talk

LOCOMO_GROUPS = {1: "1 multi-hop", 2: "2 temporal", 3: "3 open-domain", 4: "4 single-hop", 5: "5 adversarial"}
ABSTENTION = "abstention"
CODING_QUESTIONS = Path(__file__).with_name("coding_questions.json")
FOLDERS = (
    "locomo", "beam-100k", "beam-500k", "longmemeval", "pi-sessions", "swe-agent", "intercode", "tau-airline",
)  # fmt: skip
"""Where the sets lie: events from elsewhere can be put around them."""
_EVIDENCE = re.compile(r"D\d+:\d+")


def locomo(data: Path) -> tuple[Talk, ...]:
    """Read the conversations of LoCoMo; a question of categories 1 to 4 whose evidence is no turn is left out."""
    (file,) = sorted((data / "locomo").glob("*.json"))
    return _halved([_locomo(conversation) for conversation in _read(file)])


def beam(data: Path, size: str) -> tuple[Talk, ...]:
    """Read the conversations of beam-100k or beam-500k."""
    folders = sorted((data / size).iterdir(), key=lambda folder: int(folder.name))
    return _halved([_beam(size, folder) for folder in folders])


def longmemeval(data: Path) -> tuple[Talk, ...]:
    """Read the sample as one talk that holds the sessions of all its questions, all held back."""
    (file,) = sorted((data / "longmemeval").glob("*.json"))
    events: list[Event] = []
    questions = []
    for entry in _read(file)["data"]:
        sessions = {turn["date"]: f"{entry['id']}, {turn['date']}" for turn in entry["conversation"]}
        for turn in entry["conversation"]:
            session = sessions[turn["date"]]
            time = _seconds(turn["date"], "%Y/%m/%d (%a) %H:%M")
            events.append(Event(session, turn["content"], session, _kind(turn["role"]), time=time))
        evidence = frozenset(sessions.values())
        questions += [
            Question(asked["question"], entry["question_type"], evidence, Half.HELD_BACK)
            for asked in entry["questions"]
        ]
    return (Talk("longmemeval", tuple(events), tuple(questions)),)


def coding_sessions(data: Path) -> tuple[Talk, ...]:
    """Read the coding sessions, a store a set, and the questions on them; a question's half is its session's."""
    asked = _read(CODING_QUESTIONS)
    talks = []
    for name in coding.READERS:
        sessions = coding.sessions(data, name)
        events = tuple(
            Event(
                f"{event.session}:{event.index}", event.text, event.session, event.kind,
                time=event.time, tool=event.tool, call=event.call,
            )
            for session in sessions.values() for event in session
        )  # fmt: skip
        questions = tuple(
            Question(
                entry["question"], name, frozenset(f"{entry['session']}:{index}" for index in entry["evidence"]),
                Half.HELD_BACK if coding.is_held_back(entry["session"], list(sessions)) else Half.DEVELOPMENT,
            )
            for entry in asked if entry["set"] == name
        )  # fmt: skip
        units = {event.unit for event in events}
        for question in questions:
            assert question.evidence <= units, f"{name}: {question.text!r} names events that are not there"
        talks.append(Talk(name, events, questions))
    return tuple(talks)


READERS: dict[str, Callable[[Path], tuple[Talk, ...]]] = {
    "locomo": locomo,
    "beam-100k": lambda data: beam(data, "beam-100k"),
    "beam-500k": lambda data: beam(data, "beam-500k"),
    "longmemeval": longmemeval,
    "coding": coding_sessions,
}


def _halved(talks: Sequence[Talk]) -> tuple[Talk, ...]:
    names = [talk.name for talk in talks]
    halves = {name: Half.HELD_BACK if coding.is_held_back(name, names) else Half.DEVELOPMENT for name in names}
    return tuple(
        replace(talk, questions=tuple(replace(question, half=halves[talk.name]) for question in talk.questions))
        for talk in talks
    )


def _locomo(conversation: dict[str, Any]) -> Talk:
    sessions = {name: turns for name, turns in conversation["conversation"].items() if isinstance(turns, list)}
    events = tuple(
        Event(
            turn["dia_id"], turn["text"], name, USER, turn["speaker"], turn.get("blip_caption") or "",
            _seconds(conversation["conversation"][f"{name}_date_time"].replace(",", ""), "%I:%M %p on %d %B %Y"),
        )
        for name, turns in sorted(sessions.items(), key=lambda entry: int(entry[0].rpartition("_")[2]))
        for turn in turns
    )  # fmt: skip
    turns = {event.unit for event in events}
    questions = []
    for asked in conversation["qa"]:
        evidence = frozenset(_EVIDENCE.findall(" ".join(asked["evidence"]))) & turns
        adversarial = asked["category"] == 5  # its evidence is where the question was twisted from: no answer
        if adversarial or evidence:
            group = LOCOMO_GROUPS[asked["category"]]
            evidence = frozenset() if adversarial else evidence
            questions.append(Question(asked["question"], group, evidence, Half.DEVELOPMENT))
    return Talk(conversation["sample_id"], events, tuple(questions))


def _beam(size: str, folder: Path) -> Talk:
    events = []
    for batch in _read(folder / "chat.json"):
        session = f"batch-{batch['batch_number']}"
        time = None
        for message in (message for turn in batch["turns"] for message in turn):
            time = _seconds(message["time_anchor"], "%B-%d-%Y") if message.get("time_anchor") else time
            events.append(Event(str(message["id"]), message["content"], session, _kind(message["role"]), time=time))
    known = {event.unit for event in events}
    questions = []
    for ability, listed in _read(folder / "probing_questions" / "probing_questions.json").items():
        for asked in listed:
            evidence = frozenset(map(str, _ids(asked.get("source_chat_ids")))) & known
            if evidence or ability == ABSTENTION:
                questions.append(Question(asked["question"], ability, evidence, Half.DEVELOPMENT))
    return Talk(f"{size}-{folder.name}", tuple(events), tuple(questions))


def _ids(sources: Any) -> Iterator[int]:
    """Yield the ids of a list, or of lists by name, nested as they come."""
    if isinstance(sources, int):
        yield sources
    elif sources is not None:
        for source in sources.values() if isinstance(sources, dict) else sources:
            yield from _ids(source)


def _kind(role: str) -> str:
    return USER if role == "user" else AGENT


def _seconds(text: str, shape: str) -> float:
    return datetime.strptime(text, shape).replace(tzinfo=UTC).timestamp()


def _read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))
