"""Read LoCoMo, BEAM and LongMemEval as talks with questions and the units that answer them.

LoCoMo: one event a turn, evidence by ``dia_id``; BEAM: one event a message, evidence by
``source_chat_ids``, which may be a list or lists by name. The LongMemEval sample at hand has
no turn labels: all its conversations go into one store, and a question's evidence is the
sessions of its own conversation (the oracle split holds evidence sessions only).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from firsthand import Moment

from .values import Half, Question, Said, Talk

LOCOMO_TUNED = (0, 2, 4)
"""Numbers of the conversations that constants were chosen on; the others are held out."""
BEAM_TUNED = (1, 3, 5, 7, 9, 11)
"""The same for beam-100k; beam-500k and LongMemEval are held out whole."""
LOCOMO_GROUPS = {1: "1 multi-hop", 2: "2 temporal", 3: "3 open-domain", 4: "4 single-hop", 5: "5 adversarial"}
ABSTENTION = "abstention"
_EVIDENCE = re.compile(r"D\d+:\d+")


def locomo(data: Path) -> tuple[Talk, ...]:
    """Read the conversations of LoCoMo; a question of categories 1 to 4 whose evidence is no turn is left out."""
    (file,) = sorted((data / "locomo").glob("*.json"))
    return tuple(_locomo(number, one) for number, one in enumerate(_read(file)))


def beam(data: Path, size: str) -> tuple[Talk, ...]:
    """Read the conversations of beam-100k or beam-500k."""
    folders = sorted((data / size).iterdir(), key=lambda folder: int(folder.name))
    return tuple(_beam(size, folder) for folder in folders)


def longmemeval(data: Path) -> tuple[Talk, ...]:
    """Read the sample as one talk that holds the sessions of all its questions."""
    (file,) = sorted((data / "longmemeval").glob("*.json"))
    said: list[Said] = []
    questions = []
    for one in _read(file)["data"]:
        sessions = {turn["date"]: f"{one['id']}, {turn['date']}" for turn in one["conversation"]}
        for turn in one["conversation"]:
            session = sessions[turn["date"]]
            time = _moment(turn["date"], "%Y/%m/%d (%a) %H:%M")
            said.append(Said(session, turn["content"], session, time=time, user=turn["role"] == "user"))
        evidence = frozenset(sessions.values())
        questions += [Question(asked["question"], one["question_type"], evidence) for asked in one["questions"]]
    return (Talk("longmemeval", tuple(said), tuple(questions), Half.HELD_OUT),)


READERS: dict[str, Callable[[Path], tuple[Talk, ...]]] = {
    "locomo": locomo,
    "beam-100k": lambda data: beam(data, "beam-100k"),
    "beam-500k": lambda data: beam(data, "beam-500k"),
    "longmemeval": longmemeval,
}


def _locomo(number: int, one: dict[str, Any]) -> Talk:
    sessions = {name: turns for name, turns in one["conversation"].items() if isinstance(turns, list)}
    said = tuple(
        Said(
            turn["dia_id"],
            turn["text"],
            name,
            turn["speaker"],
            turn.get("blip_caption") or "",
            _moment(one["conversation"][f"{name}_date_time"].replace(",", ""), "%I:%M %p on %d %B %Y"),
        )
        for name, turns in sorted(sessions.items(), key=lambda entry: int(entry[0].rpartition("_")[2]))
        for turn in turns
    )
    turns = {one.unit for one in said}
    questions = []
    for asked in one["qa"]:
        evidence = frozenset(_EVIDENCE.findall(" ".join(asked["evidence"]))) & turns
        adversarial = asked["category"] == 5  # its evidence is where the question was twisted from: no answer
        if adversarial or evidence:
            group = LOCOMO_GROUPS[asked["category"]]
            questions.append(Question(asked["question"], group, frozenset() if adversarial else evidence))
    half = Half.TUNED if number in LOCOMO_TUNED else Half.HELD_OUT
    return Talk(one["sample_id"], said, tuple(questions), half)


def _beam(size: str, folder: Path) -> Talk:
    said = []
    for batch in _read(folder / "chat.json"):
        session = f"batch-{batch['batch_number']}"
        time = None
        for message in (message for turn in batch["turns"] for message in turn):
            time = _moment(message["time_anchor"], "%B-%d-%Y") if message.get("time_anchor") else time
            said.append(
                Said(str(message["id"]), message["content"], session, time=time, user=message["role"] == "user")
            )
    known = {one.unit for one in said}
    questions = []
    for ability, listed in _read(folder / "probing_questions" / "probing_questions.json").items():
        for asked in listed:
            evidence = frozenset(map(str, _ids(asked.get("source_chat_ids")))) & known
            if evidence or ability == ABSTENTION:
                questions.append(Question(asked["question"], ability, evidence))
    tuned = size == "beam-100k" and int(folder.name) in BEAM_TUNED
    return Talk(f"{size}-{folder.name}", tuple(said), tuple(questions), Half.TUNED if tuned else Half.HELD_OUT)


def _ids(sources: Any) -> Iterator[int]:
    """Yield the ids of a list, or of lists by name, nested as they come."""
    if isinstance(sources, int):
        yield sources
    elif sources is not None:
        for one in sources.values() if isinstance(sources, dict) else sources:
            yield from _ids(one)


def _moment(text: str, shape: str) -> Moment:
    return Moment(int(datetime.strptime(text, shape).replace(tzinfo=UTC).timestamp()) * 1_000_000)


def _read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))
