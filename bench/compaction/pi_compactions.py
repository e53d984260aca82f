"""The two real compactions of the pi session: which exact strings the summary lost, and what Firsthand keeps.

For each compaction: the exact strings of the messages that the summary replaced, by
class, and how many of them still stand in the summary, in the summary and the messages
kept beside it, in Firsthand's window of the same size at the same point, and in its
log. Being in the log is what it was built for; that a string can be found there by
what stood around it is the part that can fail, so a sample is recalled.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from firsthand import Event, Kind
from firsthand.window import HISTORY

from . import strings
from .ours import Ours
from .real import blanked, pi_steps
from .values import arguments_of, count, text_of_all, texts_of, tokens_of_all

SAMPLE = 40  # strings of each class that are asked for by what stood around them
EXAMPLES = 3
EXAMPLE_CHARACTERS_MAX = 60


@dataclass(frozen=True, slots=True)
class Lost:
    """One class of strings of one compaction.

    Attributes:
        strings: different ones in what was replaced.
        in_summary: that stand in the summary, to the letter.
        in_context: in the summary or the messages kept beside it.
        in_window: in Firsthand's window at the same point, in the same room.
        in_log: in an event of its log, read back.
        recalled, sampled: found by recall with what stood around them.
        examples: a few that the summary lost.
    """

    kind: str
    strings: int
    in_summary: int
    in_context: int
    in_window: int
    in_log: int
    recalled: int
    sampled: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Compaction:
    """One real compaction.

    Attributes:
        replaced_tokens, summary_tokens, kept_tokens: as estimated from the text.
        tokens_before: as the session itself recorded them, system prompt and tools included.
        window_tokens: of Firsthand's window at that point.
    """

    number: int
    tokens_before: int
    replaced_tokens: int
    summary_tokens: int
    kept_tokens: int
    window_tokens: int
    lost: tuple[Lost, ...]


def measure(file: Path, *, seed: int) -> list[Compaction]:
    """Look at every compaction in a pi session.

    Raises:
        ValueError: the session has none.
    """
    entries = [json.loads(line) for line in file.read_bytes().splitlines()]
    places = [number for number, entry in enumerate(entries) if entry["type"] == "compaction"]
    if not places:
        raise ValueError("expected a pi session with compactions; this one has none")
    found, begin = [], 0
    for number, place in enumerate(places, 1):
        kept_from = entries[place]["firstKeptEntryIndex"]
        found.append(_one(number, entries, begin, kept_from, place, seed))
        begin = kept_from
    return found


def _one(
    number: int, entries: Sequence[dict[str, Any]], begin: int, kept_from: int, place: int, seed: int
) -> Compaction:
    summary = entries[place]["summary"]
    replaced = "\n".join(
        text for step in pi_steps(entries[begin:kept_from]) for message in step for text in texts_of(message)
    )
    kept = [message for step in pi_steps(entries[kept_from:place]) for message in step]
    kept_text = text_of_all(kept)
    ours = Ours(count(summary) + tokens_of_all(kept))
    try:
        # the session as far as the compaction, from its beginning: the window at the same point
        for step in pi_steps(entries[:place]):
            ours.feed(step)
        window = ours.ask("what now", hops=1).context
        log = "\n".join(_read_back(ours, event) for event in ours.memory.events("trace") if event.kind in HISTORY)
        chance = random.Random(seed)
        lost = tuple(
            _lost(kind, replaced, {"summary": summary, "kept": kept_text, "window": window, "log": log}, ours, chance)
            for kind in strings.CLASSES
        )
        carried = ours.carried_tokens()
    finally:
        ours.close()
    return Compaction(
        number, entries[place]["tokensBefore"], count(replaced), count(summary), tokens_of_all(kept), carried, lost
    )


def _read_back(ours: Ours, event: Event) -> str:
    text = ours.memory.expand(f"fh:{event.id}").decode("utf-8", "replace")
    return arguments_of(text) if event.kind is Kind.TOOL_CALL else text


def _lost(kind: str, replaced: str, texts: Mapping[str, str], ours: Ours, chance: random.Random) -> Lost:
    found = sorted({match[0].strip() for match in strings.of(replaced, kind)})
    stands = {name: {one for one in found if strings.stands(one, text)} for name, text in texts.items()}
    gone = [one for one in found if one not in stands["summary"]]
    asked = [(one, question) for one in chance.sample(gone, len(gone)) if (question := blanked(replaced, one))][:SAMPLE]
    recalled = sum(strings.stands(one, ours.ask(question).pulled) for one, question in asked)
    shown = [one for one in gone if len(one) <= EXAMPLE_CHARACTERS_MAX]
    return Lost(
        kind,
        len(found),
        len(stands["summary"]),
        len(stands["summary"] | stands["kept"]),
        len(stands["window"]),
        len(stands["log"]),
        recalled,
        len(asked),
        tuple(chance.sample(shown, min(EXAMPLES, len(shown)))),
    )


def as_values(compactions: Sequence[Compaction]) -> list[dict[str, Any]]:
    """Give the findings for the JSON report."""
    return [asdict(one) for one in compactions]
