"""Problems from real dialogues: a time that a user said, and a wrong one that was confirmed (8, App. E).

Reads MultiWOZ 2.1 as it is published (a JSON file, or a zip of one): by dialogue the turns and, with
every answer of the system, its belief. The invariant: the time stands word for word in
one utterance of the user and is what the belief ends with; the wrong one stands nowhere
in the dialogue, and stands wherever the system had repeated the right one.

The data is not part of this project; its place is an option.
"""

from __future__ import annotations

import json
import random
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from firsthand import FormatError, InvalidArgument
from firsthand.value import value
from firsthand_evals.reclaim.tasks import DIALOGUE, TIME, Problem

FILE_BYTES_MAX = 1 << 30
SLOTS = {
    ("restaurant", "book", "time"): ("the time of the restaurant booking", "the booking time"),
    ("train", "semi", "leaveAt"): ("the departure time of the train", "the departure time"),
    ("train", "semi", "arriveBy"): ("the arrival time of the train", "the arrival time"),
    ("taxi", "semi", "leaveAt"): ("the departure time of the taxi", "the departure time"),
    ("taxi", "semi", "arriveBy"): ("the arrival time of the taxi", "the arrival time"),
}
EXACT = "the time of the restaurant booking"
"""The slot that users state as an exact time; the others are often a bound ("after 16:15")."""
_TIME = re.compile(r"(?<![\d:])([01]?\d|2[0-3]):[0-5]\d(?![\d:])")


@value
class _Slot:
    ask: str
    locus: str
    time: str
    utterance: int


def problems(file: Path, n: int, seed: int = 0) -> tuple[Problem, ...]:
    """Read problems, one a dialogue, drawn from all that have one."""
    chance = random.Random(seed)  # noqa: S311 - repeatable on purpose
    found = list(_problems(_read(file)))
    if not 1 <= n <= len(found):
        raise InvalidArgument(f"{file} has {len(found)} dialogues with a time that the user said; got n = {n!r}")
    return tuple(chance.sample(found, n))


def _problems(dialogues: Mapping[str, Any]) -> Iterator[Problem]:
    for name in sorted(dialogues):
        log = dialogues[name].get("log") if isinstance(dialogues[name], dict) else None
        if not isinstance(log, list) or not all(isinstance(turn, dict) and "text" in turn for turn in log):
            raise FormatError(
                f"dialogue {name!r} has no turns; expected MultiWOZ 2.1: name -> {{log: [{{text, ...}}]}}"
            )
        slot = _slot(log)
        if slot is not None:
            yield _problem(name, log, slot)


def _slot(log: list[dict[str, Any]]) -> _Slot | None:
    """Find the first time that a user said and that the belief ends with; None without one."""
    beliefs = [turn["metadata"] for turn in log if turn.get("metadata")]
    for place in range(0, len(log), 2):  # the user begins, and the system answers
        for match in _TIME.finditer(log[place]["text"]):
            for (domain, part, name), (ask, locus) in SLOTS.items():
                ends = beliefs[-1].get(domain, {}).get(part, {}).get(name, "") if beliefs else ""
                if ends and ends == match[0].zfill(5) and _asked_of(log[place]["text"], domain, log, place):
                    return _Slot(ask, locus, match[0].zfill(5), place)
    return None


def _asked_of(text: str, domain: str, log: list[dict[str, Any]], place: int) -> bool:
    """Say whether the belief behind an utterance is the first to have a time of this domain."""
    after = log[place + 1].get("metadata", {}) if place + 1 < len(log) else {}
    before = log[place - 1].get("metadata", {}) if place else {}
    return any(one in text for one in _times(after, domain) - _times(before, domain))


def _times(belief: Mapping[str, Any], domain: str) -> set[str]:
    return {str(leave) for leave in _leaves(belief.get(domain, {})) if _TIME.fullmatch(str(leave))}


def _leaves(tree: Any) -> Iterator[Any]:
    if isinstance(tree, dict):
        for one in tree.values():
            yield from _leaves(one)
    else:
        yield tree


def _problem(name: str, log: list[dict[str, Any]], slot: _Slot) -> Problem:
    wrong = _other(slot.time, {match[0].zfill(5) for turn in log for match in _TIME.finditer(turn["text"])})
    said = []
    for place, turn in enumerate(log):
        text = turn["text"] if place % 2 == 0 else _without(turn["text"], slot.time, wrong)
        said.append(("user" if place % 2 == 0 else "assistant", text))
    source = f"the user said: {log[slot.utterance]['text'].strip()}"
    return Problem(
        f"m-{name}", DIALOGUE, TIME, about="", source=(source,), listed=(source,), premise=f"{slot.ask} is {wrong}",
        locus=slot.locus, sound="", ask=slot.ask, answer=slot.time, attractor=wrong,
        fabricated=f"the ticket shows {wrong}", session=tuple(said),
    )  # fmt: skip


def _other(time: str, taken: set[str]) -> str:
    """Give a time near another one that nobody said."""
    minutes = int(time[:2]) * 60 + int(time[3:])
    for away in (75, 90, 60, 105, 45, 120, 30, 135, 15):
        late = (minutes + away) % 1440
        if f"{late // 60:02d}:{late % 60:02d}" not in taken:
            return f"{late // 60:02d}:{late % 60:02d}"
    raise FormatError(f"a dialogue names every time near {time}; leave it out")


def _without(text: str, time: str, wrong: str) -> str:
    return text.replace(time, wrong).replace(time.removeprefix("0"), wrong) if time in text else text


def _read(file: Path) -> dict[str, Any]:
    if not file.is_file():
        raise FormatError(f"{file} is no file that is there; expected MultiWOZ 2.1, its val.json or a zip of it")
    if file.stat().st_size > FILE_BYTES_MAX:
        raise FormatError(f"{file} has over 1 GiB; expected MultiWOZ 2.1, its val.json or a zip of it")
    try:
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as packed:
                inner = [zip_info for zip_info in packed.infolist() if zip_info.filename.endswith(".json")]
                if len(inner) != 1 or inner[0].file_size > FILE_BYTES_MAX:
                    raise FormatError(f"{file} holds {len(inner)} JSON files; expected one, of at most 1 GiB")
                found = json.loads(packed.read(inner[0]))
        else:
            found = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError, zipfile.BadZipFile) as error:
        raise FormatError(f"{file} cannot be read as JSON ({error}); expected MultiWOZ 2.1") from error
    if not isinstance(found, dict):
        raise FormatError(f"{file} is a {type(found).__name__}; expected MultiWOZ 2.1: dialogues by name")
    return found
