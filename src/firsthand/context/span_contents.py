"""The table of contents of a span that has no room in one answer: its turns, what was asked, what was named.

    fh:01J8...: 412 events of session deploy, 31 turns; each line opens with expand, or name it as within of recall
    named most by the agent: relay_stop, src/a.py, RELAY_MAX
    fh:01J8...fh:01J9...  turns 3-4  2026-01-31 12:00:00Z  26 events  src/a.py, src/b.py and 2 more
    | Why does the relay stop?

The invariant: every event of the span lies in the range of exactly one line, in order; never more tokens than asked
for, with fewer and wider ranges where there is less room. Nothing is summarised: what was asked is the user's own
text, cut; files are those that calls name in their arguments, and names are exact strings of the agent's own
messages and calls, counted.

Pure: it writes values that it is handed, and knows no storage.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise

from firsthand.event import Event, Kind, to_bytes, to_text
from firsthand.formats.commands import paths
from firsthand.index.words import exact_strings
from firsthand.moment import Moment, clock
from firsthand.printable import shown
from firsthand.recall.snippets import read
from firsthand.tokens import TokenCounter
from firsthand.value import field, value

from .answers import Written
from .short_text import boundary, largest, quote

ASKED_CHARACTERS_MIN, ASKED_CHARACTERS_MAX = 60, 400
CONTENTS_EVENTS_MAX = 20_000
"""Events whose turns one answer tells."""
FILES_MAX = 3
"""Files that a line names; the others are counted."""
NAMES_SHARE = 0.33
"""Of the tokens, the most that names have."""
NAMES_MAX = 400
_LETTER = re.compile(r"[^\W\d_]")


@value
class Part:
    """A turn, or turns one after the other.

    Attributes:
        asked: what the user said in each turn.
        files: that calls named, the first one first.
        names: how often the agent wrote each exact string with two letters or more, in messages and calls.
    """

    first: str
    last: str
    first_turn: int
    last_turn: int
    time: Moment | None
    events: int
    asked: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    names: Mapping[str, int] = field(default_factory=dict)


def parts_of(events: Iterable[Event]) -> list[Part]:
    """Divide the events of a session into its turns."""
    parts = []
    for turn, of_turn in groupby(events, key=lambda event: event.turn):
        members = list(of_turn)
        asked = [event.text for event in members if event.kind is Kind.USER_MESSAGE and event.text.strip()]
        calls = [event.text for event in members if event.kind is Kind.TOOL_CALL]
        files = dict.fromkeys(path for call in calls for path in paths(call))
        own = [*calls, *(event.text for event in members if event.kind is Kind.AGENT_MESSAGE)]
        names = Counter(name for text in own for name in _names_in(text))
        first, last = members[0], members[-1]
        parts.append(Part(first.id, last.id, turn, turn, first.time, len(members), (*asked,), (*files,), names))
    return parts


def _names_in(text: str) -> Iterator[str]:
    """Yield the exact strings of a message, or of a call's values, that have two letters or more."""
    plain = to_text(read(to_bytes(text), Kind.TOOL_CALL).data)
    for name in exact_strings(plain):
        if len(_LETTER.findall(name)) > 1 and f'"{name}":' not in text:
            yield name


def of_contents(
    pointer: str, session: str, parts: Sequence[Part], *, last: str, damaged: Sequence[str] = (), tokens_max: int,
    count: TokenCounter,
) -> Written:  # fmt: skip
    """Write the contents of a span, a line a turn or a line for so many turns that all have room.

    Args:
        pointer: of the span.
        parts: its turns, from its beginning.
        last: id of its last event, where the parts may end before.
        damaged: what is wrong with events that are left out; a sentence each.
    """
    events, turns = sum(part.events for part in parts), len(parts)
    head = f"{pointer}: {events:,} events of session {shown(session)} in {turns:,} turns, more than fit here; open a "
    head += "line by its pointer, or name it as within of recall"
    if damaged:
        head += f"; {len(damaged):,} left out, since damaged ({shown(damaged[0])}); tell the user"
    if parts and parts[-1].last != last and events > CONTENTS_EVENTS_MAX:
        head += f'; to read on: expand("fh:{parts[-1].last}..{last}")'

    head += _names(parts, int(NAMES_SHARE * (tokens_max - count(head))), count)

    def written(number: int, characters: int) -> str:
        return "\n".join([head, *(_line(part, characters) for part in _joined(parts, number))])

    fewest = largest(lambda number: count(written(number, ASKED_CHARACTERS_MIN)) <= tokens_max, 1, turns)
    if fewest is None:
        return Written(head if count(head) <= tokens_max else "", ())
    characters = largest(
        lambda most: count(written(fewest, most)) <= tokens_max, ASKED_CHARACTERS_MIN, ASKED_CHARACTERS_MAX
    )
    return Written(written(fewest, characters or ASKED_CHARACTERS_MIN), ())


def _names(parts: Sequence[Part], tokens_max: int, count: TokenCounter) -> str:
    """Write a line of the names that the agent wrote most, those of the last turn counted twice; empty for none."""
    uses: defaultdict[str, float] = defaultdict(float)
    for number, part in enumerate(parts, 1):
        for name, times in part.names.items():
            uses[shown(name)] += times * (1 + number / len(parts))
    names: list[str] = []
    for name in sorted(uses, key=lambda name: -uses[name])[:NAMES_MAX]:
        if not any(name in longer for longer in names):
            names.append(name)

    def written(most: int) -> str:
        return f"\nnamed most by the agent: {', '.join(names[:most])}"

    most = largest(lambda most: count(written(most)) <= tokens_max, 1, len(names))
    return written(most) if most else ""


def _joined(parts: Sequence[Part], number: int) -> list[Part]:
    """Join neighbours so that so many are left, each of as many turns as the others or one more."""
    ends = [len(parts) * at // number for at in range(number + 1)]
    return [_one(parts[begin:end]) for begin, end in pairwise(ends)]


def _one(parts: Sequence[Part]) -> Part:
    first, last = parts[0], parts[-1]
    files = dict.fromkeys(name for part in parts for name in part.files)
    asked = tuple(text for part in parts for text in part.asked)
    return Part(
        first.first, last.last, first.first_turn, last.last_turn, first.time, sum(part.events for part in parts),
        asked, (*files,),
    )  # fmt: skip


def _line(part: Part, characters: int) -> str:
    """Write one line of contents, and what was asked below it."""
    several = part.first_turn != part.last_turn
    words = [
        f"fh:{part.first}" if part.first == part.last else f"fh:{part.first}..{part.last}",
        f"turns {part.first_turn:,}-{part.last_turn:,}" if several else f"turn {part.first_turn:,}",
        *([clock(part.time)] if part.time is not None else []),
        f"{part.events:,} event{'s' if part.events != 1 else ''}",
    ]
    if part.files:
        more = len(part.files) - FILES_MAX
        named = ", ".join(shown(name[-ASKED_CHARACTERS_MIN:]) for name in part.files[:FILES_MAX])
        words.append(named + (f" and {more:,} more" if more > 0 else ""))
    return "\n".join(["  ".join(words), *_asked(part.asked, characters)])


def _asked(texts: Sequence[str], characters: int) -> list[str]:
    """Give the beginnings of what was asked, on a line each, in so many characters together."""
    each = max(1, characters // max(1, len(texts)))
    if each < ASKED_CHARACTERS_MIN // 2:  # too many for a few words each: those at even distance
        most = max(1, characters // ASKED_CHARACTERS_MIN)
        texts = [texts[len(texts) * at // most] for at in range(most)]
        each = characters // most
    lines = []
    for text in texts:
        line = " ".join(text.split())
        lines.append(quote(line if len(line) <= each else f"{line[: boundary(line, each)]}…"))
    return lines
