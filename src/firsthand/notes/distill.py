r"""Distils messages into a note of what users and tools said: verbatim, counted, with the way to the rest.

    2 of 41 statements kept; the rest is at fh:01J8...
    fh:01J8...
    retries: { limit: 5, wait_seconds: 1.5 }

Where not all fits, those sentences come first that share rare words and values with the claim (without one: with what
was last asked and answered), lifted by the best match of their turn and by how unlike the other lines they are. No
grammar is read, in any language.

The invariants: the note never exceeds its budget; each sentence in it is a substring of its message, on a line of its
own, behind a dash where it would read as a pointer; k of n counts every sentence of users and tools in the span, so
that what is left out is always said. What an agent said is no source.
Source: reclaim-evaluation 3, 5.3, 7.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from firsthand.errors import InvalidArgument, MalformedPointer
from firsthand.pointer import parse
from firsthand.value import value

AGENT_ROLES = frozenset({"assistant", "agent", "ai", "model"})
POINTERS_MAX = 8
"""Of messages that are left out, named one by one; more of them are one span."""
LINE_CHARACTERS_MAX = 400
"""A line of a tool stays whole up to this length."""
_ENDS = re.compile("(?<=[.!?;])\\s+|(?<=[\u3002\uff01\uff1f\uff1b])|\\n+")
_WORD = re.compile(r"\w+(?:[-./:@]\w+)*")
_DIGITS = re.compile(r"\d+")
_STEM = 5
"""Characters of a word that count: without grammar, the beginnings of words stand for their forms."""
LIFT, AGAIN, BESIDE, VALUES, ASKS = 0.5, 0.6, 0.5, 0.4, 0.3
"""What the best match of a turn adds to its sentences; what each further one of a message is worth; the weight of
what was asked and answered last, beside a claim; what a sentence with a value gains, of the best match of all; what a
question is worth, which states nothing."""
_QUESTION = ("?", "\uff1f")


@value
class Note:
    """A note of verbatim sentences.

    Attributes:
        text: the note.
        kept, of: how many sentences of users and tools stand in it, and how many there are.
        sources: pointers of the messages that are quoted.
        rest: pointers of those that are left out, in part or whole; empty where nothing is, or nothing leads there.
    """

    text: str = ""
    kept: int = 0
    of: int = 0
    sources: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()


@value
class _Sentence:
    """A sentence, and its line in a note; the places of its message and of the user message before it."""

    text: str
    line: str
    message: int
    turn: int
    pointer: str


def distill(
    messages: Sequence[Mapping[str, Any]],
    budget: int,
    claim: str | None = None,
    *,
    count: Callable[[str], int] = len,
) -> Note:
    """Distil messages of one session, in order, into a note whose text fits a budget.

    Args:
        messages: each with ``role`` and ``content``, a text; ``pointer`` where it has one.
        budget: of the note, as `count` counts it: characters, unless it counts tokens.
        claim: what the note is to bear out; None takes what was last asked and answered.

    Raises:
        InvalidArgument: the budget is negative, or a message has no text as its content.
    """
    if budget < 0:
        raise InvalidArgument(f"a budget is 0 or more; got {budget}")
    sentences = _sentences(messages)
    if not sentences:
        return Note()
    for pointed in (True, False):
        whole = _note(sentences, range(len(sentences)), pointed=pointed)
        if count(whole.text) <= budget:
            return whole
    order = _ranked(sentences, claim or "", _last(messages))
    for pointed in (True, False):
        note = _fitting(sentences, order, budget, count, pointed=pointed)
        if note.kept:
            return note
    return note


def _sentences(messages: Sequence[Mapping[str, Any]]) -> list[_Sentence]:
    sentences: list[_Sentence] = []
    turn = 0
    pointers = {message.get("pointer") for message in messages}
    for place, message in enumerate(messages):
        role, content = str(message.get("role", "")).lower(), message.get("content")
        if not isinstance(content, str):
            raise InvalidArgument(
                f"a message has a text as its content; message {place + 1} has {type(content).__name__}"
            )
        turn = place if role in {"user", "human"} else turn
        if role not in AGENT_ROLES:
            pointer = str(message.get("pointer") or "")
            pieces = filter(None, map(str.strip, _pieces(content, whole_lines=role not in {"user", "human", "system"})))
            for piece in pieces:
                line = f"- {piece}" if piece.startswith("fh:") or piece in pointers else piece
                sentences.append(_Sentence(piece, line, place, turn, pointer))
    return sentences


def _pieces(content: str, *, whole_lines: bool) -> Iterator[str]:
    """Cut a text into sentences and lines; a line of a tool is one, unless it is long."""
    for line in content.splitlines():
        if whole_lines and len(line) <= LINE_CHARACTERS_MAX:
            yield line
        else:
            yield from _ENDS.split(line)


def _last(messages: Sequence[Mapping[str, Any]]) -> str:
    """Give what the user asked last, and what was answered."""
    texts: list[str] = []
    for message in reversed(messages):
        role = str(message.get("role", "")).lower()
        if role in {"user", "human"}:
            return "\n".join([str(message["content"]), *texts])
        if role in AGENT_ROLES:
            texts.append(str(message["content"]))
    return "\n".join(texts)


# the order -------------------------------------------------------------------------------------------


def _words(text: str) -> set[str]:
    """Give the words of a text by their beginnings, and its exact strings and numbers whole."""
    words: set[str] = set()
    for chunk in _WORD.findall(text.casefold()):
        if not chunk.isalpha():
            words.add(chunk)
        words.update(piece if any(map(str.isdigit, piece)) else piece[:_STEM] for piece in re.findall(r"\w+", chunk))
    return words


def _ranked(sentences: Sequence[_Sentence], claim: str, last: str) -> list[int]:
    """Order sentences by what they share with a claim, and with what was asked and answered last; the best first."""
    words = [_words(sentence.text) for sentence in sentences]
    shapes = [{_DIGITS.sub("0", word) for word in each} for each in words]
    wanted = dict.fromkeys(_words(last), BESIDE if claim else 1.0) | dict.fromkeys(_words(claim), 1.0)
    rarity, novelty = _rarity(words), _rarity(shapes)
    match = [
        sum(wanted[word] * rarity[word] * (2 if any(map(str.isdigit, word)) else 1) for word in each & wanted.keys())
        / (1 + len(each) / 40)
        for each in words
    ]  # fmt: skip
    best: dict[int, float] = {}
    for sentence, score in zip(sentences, match, strict=True):
        best[sentence.turn] = max(best.get(sentence.turn, 0.0), score)
    match = [score * (sentence.text not in last) for sentence, score in zip(sentences, match, strict=True)]
    top = max(novelty.values(), default=1.0) or 1.0
    scores = [
        score + LIFT * best[sentence.turn] * (sum(novelty[shape] for shape in each) / (len(each) or 1) / top) ** 2
        for sentence, score, each in zip(sentences, match, shapes, strict=True)
    ]
    prior = VALUES * max(match, default=0.0) or 1.0
    for place, sentence in enumerate(sentences):
        scores[place] += prior * (_DIGITS.search(sentence.text) is not None)
        scores[place] *= ASKS if sentence.text.endswith(_QUESTION) else 1.0
    return _spread(sentences, scores)


def _rarity(texts: Sequence[set[str]]) -> dict[str, float]:
    counts = Counter(word for each in texts for word in each)
    return {word: math.log(1 + len(texts) / number) for word, number in counts.items()}


def _spread(sentences: Sequence[_Sentence], scores: Sequence[float]) -> list[int]:
    """Order by score; each further sentence of one output of a tool, or of one form in such, counts less."""
    seen: Counter[object] = Counter()
    worth: dict[int, float] = {}
    for place in sorted(range(len(sentences)), key=lambda place: -scores[place]):
        sentence = sentences[place]
        alike = () if sentence.message == sentence.turn else (sentence.message, _DIGITS.sub("0", sentence.text))
        worth[place] = scores[place] * AGAIN ** sum(seen[key] for key in alike)
        seen.update(alike)
    return sorted(worth, key=lambda place: (-worth[place], place))


# the note --------------------------------------------------------------------------------------------


def _fitting(
    sentences: Sequence[_Sentence], order: Sequence[int], budget: int, count: Callable[[str], int], *, pointed: bool
) -> Note:
    """Keep as many sentences as fit, in their order of worth; a blank note where not even the first line does."""
    chosen: list[int] = []
    used = count(_note(sentences, (), pointed=pointed).text)
    if used > budget:
        return Note(of=len(sentences))
    messages: set[int] = set()
    for place in order:
        sentence = sentences[place]
        cost = count(f"\n{sentence.line}")
        if pointed and sentence.pointer and sentence.message not in messages:
            cost += count(f"\n{sentence.pointer}")
        if used + cost <= budget:
            used += cost
            messages.add(sentence.message)
            chosen.append(place)
    note = _note(sentences, chosen, pointed=pointed)
    while chosen and count(note.text) > budget:  # a count that is no sum of its parts
        chosen.pop()
        note = _note(sentences, chosen, pointed=pointed)
    return note


def _note(sentences: Sequence[_Sentence], chosen: Sequence[int], *, pointed: bool) -> Note:
    """Write a note of some sentences, in the order of the session."""
    kept = sorted(chosen)
    there = set(kept)
    left = [sentence for place, sentence in enumerate(sentences) if place not in there]
    rest = _rest([*dict.fromkeys(sentence.pointer for sentence in left)]) if pointed else ()
    where = f"; the rest is at {' '.join(rest)}" if rest else ""
    lines = [f"{len(kept)} of {len(sentences)} statements kept{where}."]
    pointer = ""
    for place in kept:
        sentence = sentences[place]
        if pointed and sentence.pointer != pointer:
            pointer = sentence.pointer
            lines += [pointer] if pointer else []
        lines.append(sentence.line)
    sources = dict.fromkeys(sentences[place].pointer for place in kept) if pointed else {}
    return Note("\n".join(lines), len(kept), len(sentences), tuple(filter(None, sources)), rest)


def _rest(pointers: Sequence[str]) -> tuple[str, ...]:
    """Give what leads to messages that are left out: each one, or one span from the first to the last."""
    if not all(pointers):
        return ()
    if len(pointers) > 1 and all(map(_is_whole, pointers)):
        return (f"{pointers[0]}..{pointers[-1].removeprefix('fh:')}",)
    return tuple(pointers) if len(pointers) <= POINTERS_MAX else ()


def _is_whole(pointer: str) -> bool:
    """Say whether a pointer leads to one whole event, so that it can be the end of a span."""
    try:
        address = parse(pointer)
    except MalformedPointer:  # an address of another system: no span is made of it
        return False
    return address.last is None and not address.source and not address.unit
