"""Reads the events that a ranking names from the log, and finds the words of a question in their texts.

What the index says is a place; what the bytes say is the answer. The invariant: a damaged
event is left out and named, and never hides the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise

from firsthand.errors import StoreDamaged
from firsthand.event import Event, to_bytes
from firsthand.index import words
from firsthand.index.tokenizer import Tokenize
from firsthand.log.engine import LogReader
from firsthand.value import field, value

from .snippets import EXACT_WEIGHT, Mark, Range, Reading, part, read

QUOTE_CHARACTERS_MAX = 200
"""A question that is no longer is looked for as it stands, too."""
PART_CHARACTERS_MIN = 4
"""Of a word that is looked for inside of others, where none of the question's words stands there whole."""
STRING_WEIGHT = 1.5
"""Of a path or an identifier, beside the rarest word; a quotation weighs `EXACT_WEIGHT`."""
PAIR_SHARE = 0.5
"""Of the weight of two words, what it adds that they stand side by side as in the question."""
TIMES_MAX = 64
"""Places of one string in a text that are looked at."""
QUOTED_SIGNS_MIN = 8
"""Of a quotation of one word: its letters and digits."""
HEAD_BYTES = 2_048
"""Of a large content that no row of was found: shown from its beginning."""

_QUOTED = re.compile('"([^"\n]{2,200})"|`([^`\n]{2,200})`|\u201c([^\u201d\n]{2,200})\u201d')
_WORD = re.compile(r"\w+")


@value
class Out:
    """An event that is out by a decision of the ledger.

    Attributes:
        instead: position of the event that holds in its place; 0 for none.
    """

    pointer: str
    instead: int = 0


@value
class Ruling:
    """What the ledger says of the events of a namespace.

    Attributes:
        text: gives an event as far as it stands; None for what is out, or rests on what is.
        out: by position, what was decided on.
    """

    text: Callable[[Event], Event | None] = lambda event: event
    out: Mapping[int, Out] = field(default_factory=dict)


class Contents:
    """The events of one namespace that one recall reads, each once, as far as they stand.

    Attributes:
        damaged: sentences on the events that could not be read.
        out: by position, the pointers of those that do not stand.
    """

    def __init__(self, reader: LogReader, namespace: str, ruling: Ruling) -> None:
        self._reader, self._namespace, self._ruling = reader, namespace, ruling
        self.out: dict[int, str] = {}
        self._events: dict[int, Event | None] = {}
        self._payloads: dict[int, bytes] = {}
        self.damaged: list[str] = []

    def load(self, positions: Iterable[int]) -> None:
        """Read events that are wanted soon, all at once."""
        missing = [position for position in dict.fromkeys(positions) if position not in self._events]
        if not missing:
            return
        self._events |= dict.fromkeys(missing)
        try:
            events = self._reader.events_at(self._namespace, missing)
        except StoreDamaged:
            events = [event for position in missing for event in self._alone(position)]
        for event in events:
            if event.is_searchable and not event.erased:
                self._events[event.position] = standing = self._ruling.text(event)
                if standing is None:
                    self.out[event.position] = event.pointer

    def event(self, position: int) -> Event | None:
        """Give an event; None when it was erased, is damaged, is out, or repeats others."""
        if position not in self._events:
            self.load((position,))
        return self._events[position]

    def payloads(self, positions: Sequence[int]) -> Mapping[int, bytes]:
        """Give what events hold, of a large content its digest, without reading the rest of them.

        What cannot be read is left out, and said only when its event is wanted.
        """
        missing = [position for position in positions if position not in self._payloads]
        if missing:
            self._payloads |= self._reader.payloads_at(self._namespace, missing)
        return self._payloads

    def origins(self, positions: Sequence[int]) -> Mapping[int, str]:
        """Give where events came from."""
        return self._reader.origins_at(self._namespace, positions)

    def readings(self, event: Event, matched: Sequence[Range]) -> tuple[Reading, ...]:
        """Read an event's content, of a large one the ranges that matched; nothing of what is no text.

        Args:
            matched: ranges of the content, the best first.
        """
        if event.artifact is None:
            content = event.content or b""
            is_text = not content or words.reading(content, event.media, event.kind)(content[:HEAD_BYTES]) != ""
            return (read(content, event.kind, matched),) if is_text else ()
        readings = []
        try:
            for stretch in _apart(matched) or [Range(0, min(HEAD_BYTES, event.size_bytes))]:
                data = b"".join(self._reader.pieces(event, stretch.start, stretch.end))
                if words.reading(data, event.media, event.kind)(data[:HEAD_BYTES]):
                    readings.append(part(data, stretch.start, event.kind))
        except StoreDamaged as error:
            self.damaged.append(f"an artifact is damaged and was left out: {error}")
        return tuple(readings)

    def _alone(self, position: int) -> list[Event]:
        try:
            return self._reader.events_at(self._namespace, [position])
        except StoreDamaged as error:
            self.damaged.append(f"an event is damaged and was left out: {error}")
            return []


def _apart(ranges: Sequence[Range]) -> list[Range]:
    """Join ranges that overlap or touch; the one that holds the best stays first."""
    joined: list[Range] = []
    for matched in ranges:
        touching = [other for other in joined if matched.start <= other.end and other.start <= matched.end]
        union = (matched, *touching)
        whole = Range(min(other.start for other in union), max(other.end for other in union))
        at = joined.index(touching[0]) if touching else len(joined)
        joined = [other for other in joined if other not in touching]
        joined.insert(at, whole)
    return joined


def _all(string: str, data: bytes) -> Iterator[re.Match[bytes]]:
    """Yield where a string stands in a text, so many times at the most."""
    return islice(re.finditer(re.escape(to_bytes(string)), data), TIMES_MAX)


def quotations(text: str) -> tuple[str, ...]:
    """Give what a question quotes, as far as it tells one text from others: a line of code has pieces that do not."""
    pieces = dict.fromkeys(next(filter(None, match.groups())) for match in _QUOTED.finditer(text))
    return tuple(
        piece for piece in pieces if len(_WORD.findall(piece)) > 1 or sum(map(str.isalnum, piece)) >= QUOTED_SIGNS_MIN
    )


class WordFinder:
    """Finds the words and exact strings of a question in texts.

    Args:
        weights: of the question's stems.
        tokenize: cuts a text as the index does.
    """

    def __init__(self, question: str, weights: Mapping[str, float], tokenize: Tokenize) -> None:
        text = question.strip()
        self._weights, self._tokenize = weights, tokenize
        alone = [text] if len(text) <= QUOTE_CHARACTERS_MAX and "\n" not in text else []
        string_weight = STRING_WEIGHT * max(weights.values(), default=1.0)
        self._strings = dict.fromkeys(words.exact_strings(text), string_weight) | dict.fromkeys(
            (*alone, *quotations(text)), EXACT_WEIGHT
        )
        together = {
            pair: PAIR_SHARE * sum(weights.get(stem, 0.0) for stem in pair)
            for pair in pairwise(stem for _, _, stem in tokenize(to_bytes(text)))
        }
        self._pairs = {pair: weight for pair, weight in together.items() if weight}
        self._known: dict[bytes, list[Mark]] = {}  # a preview is mostly cut more than once
        self._parts = [word for word in _WORD.findall(text.casefold()) if len(word) >= PART_CHARACTERS_MIN]

    def exact(self, readings: Iterable[Reading]) -> tuple[str, ...]:
        """Give the strings of the question that stand in a content, character for character."""
        datas = [reading.data for reading in readings]
        return tuple(string for string in self._strings if any(to_bytes(string) in data for data in datas))

    def marks(self, data: bytes) -> list[Mark]:
        """Find words and strings in a text, in order; where there are none, the question's words inside of others."""
        if (known := self._known.get(data)) is not None:
            return known
        weights, pairs = self._weights, self._pairs
        tokens = self._tokenize(data)
        marks = [Mark(start, end, stem, weights[stem]) for start, end, stem in tokens if stem in weights]
        marks += [
            Mark(start, end, f"{first} {second}", pairs[first, second], is_phrase=True)
            for (start, _, first), (_, end, second) in pairwise(tokens)
            if (first, second) in pairs
        ]
        for string, weight in self._strings.items():
            marks += [Mark(*match.span(), string, weight, is_phrase=True) for match in _all(string, data)]
        if not marks:
            folded = data.lower()
            for part in self._parts:
                at = folded.find(part.encode())
                if at >= 0:
                    marks.append(Mark(at, at + len(part.encode()), part, 1.0))
        self._known[data] = marks = sorted(marks, key=lambda mark: (mark.start, mark.end))
        return marks
