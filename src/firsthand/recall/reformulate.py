"""The other words in which a question is asked again, from what its first attempt showed (total-recall 4.3, 11).

Each kind is a pure function of the first attempt; `wordings` puts them in the order in
which they are likeliest to help, as measured (docs/decisions/0016-ladder.md). The invariant: the
same first attempt gives the same wordings in the same order; a wording never looks
outside the scope that was asked for; all of it runs in time linear in the question.

This module asks nothing and knows no store: how common a word is comes in by `Weigh`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from firsthand.answer import Scope
from firsthand.event import Kind
from firsthand.moment import MICROSECONDS, Moment
from firsthand.value import replace, value

from .plan import Question
from .rank import Frequencies
from .stop_words import STOP_WORDS
from .when import Anchor, Span, Times

AS_ASKED = "as asked"
STRINGS = "exact strings"
TIME = "time words"
ANCHOR = "named time"
QUESTION = "the question in it"
PART = "part"
RULES = "rules"
KEY_TERMS = "key terms"
FEEDBACK = "terms of its hits"
REWRITTEN = "rewritten"

WORDS_BESIDE_MIN = 4
"""Fewer words beside its exact strings leave a question as it is: the first attempt has found them."""
TOLD_DAYS = 3
"""What happened is often told some days later: a span of time is open for so long after its end."""
TIMES_MAX = 2
PARTS_MAX = 3
PART_WORDS_MIN = 2
PART_CHARACTERS_MAX = 4_000
"""Parts are looked for in so much of a question."""
KEY_TERMS_MIN, KEY_TERMS_MAX = 2, 4
FEEDBACK_ROWS = 5
FEEDBACK_CHARACTERS = 2_000  # of each row
FEEDBACK_CANDIDATES = 64  # that are looked up
FEEDBACK_TERMS = 8
FEEDBACK_SHARE_MAX = 0.1
"""A word in more than this share of all rows says nothing of these."""
ANCHOR_SHARE_MIN = 0.5
"""An event that is named as a time is one that holds at least this share of its words, by their rarity."""

# Strings, which `re` compiles when they are first used: few processes ever ask again.
_WORD = r"[^\W_]{3,40}"
_ASKING = (
    "who|whom|whose|what|when|where|which|why|how|did|do|does|is|are|was|were|can|could|has|have|had|should|will|would"
)
_PARTS = rf"(?i:(?<=[?!.;])\s+|(?:,\s*|\s)(?:and(?: also)?|or|but|then)\s(?=(?:{_ASKING})\b))"
_ASKS = rf"(?is:(?:{_ASKING})\b|.*\?\Z)"


@value
class Seen:
    """One row that the first attempt ranked.

    Attributes:
        position: of its event.
        base: how well it answers, 0 to 1.
        time: of its event, if known.
        keys: the terms of the question that stand in it.
    """

    position: int
    base: float
    time: Moment | None
    keys: frozenset[str]


@value
class First:
    """What the first attempt showed.

    Attributes:
        rows: the best of those ranked, best first.
        texts: of the first of them, as far as they are read for other words.
        times: what the question in the message says of time.
        triggers: True when the store holds rules that are found by situations.
    """

    question: Question
    frequencies: Frequencies
    scope: Scope
    rows: tuple[Seen, ...]
    texts: tuple[str, ...]
    times: Times
    triggers: bool


@value
class Wording:
    """One way to ask again.

    Attributes:
        how: its kind.
        text: its words.
        scope: where it looks: never wider than the question's.
    """

    how: str
    text: str
    scope: Scope


@value
class Weighed:
    """A text cut into terms, and how common they are."""

    question: Question
    df: Mapping[str, int]


Weigh = Callable[[str], Weighed]


def wordings(first: First, weigh: Weigh, rewrite: Callable[[str], Sequence[str]] | None = None) -> Iterator[Wording]:
    """Give the ways to ask again, the likeliest to help first; each is worked out when it is asked for.

    Args:
        rewrite: gives the question in other words; it is called once, when its turn comes.
    """
    yield from exact_strings(first)
    yield from parts(first)
    yield from in_time(first)
    yield from by_anchor(first, weigh)
    for text in rewrite(first.question.text) if rewrite is not None else ():
        yield Wording(REWRITTEN, text, first.scope)
    if first.triggers and (not first.scope.kinds or Kind.NOTE in first.scope.kinds):
        yield Wording(RULES, first.question.text, replace(first.scope, kinds=(Kind.NOTE,)))
    yield from key_terms(first)
    yield from feedback(first, weigh)


def exact_strings(first: First) -> Iterator[Wording]:
    """Ask for the exact strings of a message alone: beside many words they are found last."""
    question = first.question
    whole = " ".join(question.text.split())
    strings = [term.word for term in question.strings]
    strings += [f'"{phrase}"' for phrase in question.phrases if phrase != whole]
    said = " ".join(strings)
    inside = {word.casefold() for word in re.findall(_WORD, said)}
    beside = sum(term.word.casefold() not in inside for term in question.words)
    if strings and beside >= WORDS_BESIDE_MIN:
        yield Wording(STRINGS, said, first.scope)


def in_time(first: First) -> Iterator[Wording]:
    """Ask within the time that the question names, in its other words.

    Of several readings the one is taken in which the first attempt's rows lie; without any, the likeliest.
    """
    text = first.times.rest if re.search(_WORD, first.times.rest) else asked(first.question.text)
    for said in first.times.said[:TIMES_MAX]:
        support = [sum(row.base for row in first.rows if _within(row.time, span)) for span in said.spans]
        scope = _narrowed(first.scope, said.spans[support.index(max(support))])
        if scope is not None:
            yield Wording(TIME, text, scope)


def by_anchor(first: First, weigh: Weigh) -> Iterator[Wording]:
    """Ask before or after what the question names as a time: the row that holds most of its words."""
    if not first.times.anchors:
        return
    anchor = first.times.anchors[0]
    keys = {term.key for term in weigh(anchor.event).question.words}
    weights = {key: first.frequencies.idf(first.frequencies.df.get(key, 0)) for key in sorted(keys)}
    held = [sum(weight for key, weight in weights.items() if key in row.keys) for row in first.rows]
    if not held or max(held) <= ANCHOR_SHARE_MIN * sum(weights.values()):
        return
    scope = _beside(first.scope, anchor, first.rows[held.index(max(held))])
    text = " ".join(asked(first.question.text).split()).replace(anchor.words, " ", 1)
    if scope is not None and re.search(_WORD, text):
        yield Wording(ANCHOR, " ".join(text.split()), scope)


def parts(first: First) -> Iterator[Wording]:
    """Ask the questions in a message one by one: each without what else is said and asked."""
    asking = questions(first.question.text)
    for piece in asking[:PARTS_MAX]:
        yield Wording(QUESTION if len(asking) == 1 else PART, piece, first.scope)


def questions(text: str) -> list[str]:
    """Find the questions in a message; none where it is nothing but one question, or asks nothing."""
    pieces = [piece.strip() for piece in re.split(_PARTS, text[:PART_CHARACTERS_MAX]) if _told(piece)]
    asking = [piece for piece in pieces if re.match(_ASKS, piece) and len(_told(piece)) >= PART_WORDS_MIN]
    return asking if len(pieces) > 1 else []


def asked(text: str) -> str:
    """Give the one question in a message; the message where it has none, or several."""
    found = questions(text)
    return found[0] if len(found) == 1 else text


def key_terms(first: First) -> Iterator[Wording]:
    """Ask for the rarest terms that the store has at all, and drop the common ones beside them."""
    df = first.frequencies.df
    present = [term for term in first.question.words if df.get(term.key)]
    rarest = sorted(present, key=lambda term: (df[term.key], term.key))[:KEY_TERMS_MAX]
    if len(rarest) >= KEY_TERMS_MIN and len(first.question.words) > len(rarest):
        kept = {term.key for term in rarest}
        text = " ".join(term.word for term in present if term.key in kept)
        yield Wording(KEY_TERMS, text, first.scope)


def feedback(first: First, weigh: Weigh) -> Iterator[Wording]:
    """Add what the best rows have in common to the question (relevance feedback, as in RM3).

    A word counts by how much of a row it is, by how good the row is, and by its rarity.
    """
    scores: dict[str, float] = {}
    for row, text in zip(first.rows, first.texts, strict=False):
        words = [word.casefold() for word in re.findall(_WORD, text[:FEEDBACK_CHARACTERS])]
        for word in words:
            if word not in STOP_WORDS:
                scores[word] = scores.get(word, 0.0) + row.base / len(words)
    likely = sorted(scores, key=lambda word: (-scores[word], word))[:FEEDBACK_CANDIDATES]
    if not likely:
        return
    weighed = weigh(" ".join(likely))
    asked = {term.key for term in (*first.question.words, *first.question.stop_words)}
    rows = first.frequencies.rows
    worth: dict[str, float] = {}
    for term in weighed.question.words:
        df = weighed.df.get(term.key, 0)
        if term.key not in asked and 1 < df <= max(2.0, FEEDBACK_SHARE_MAX * rows):
            worth[term.word] = scores.get(term.word, 0.0) * first.frequencies.idf(df)
    new = sorted(worth, key=lambda word: (-worth[word], word))[:FEEDBACK_TERMS]
    if new:
        yield Wording(FEEDBACK, f"{first.question.text} {' '.join(new)}", first.scope)


# of one wording -------------------------------------------------------------------------------------


def _told(text: str) -> set[str]:
    return {word.casefold() for word in re.findall(_WORD, text)} - STOP_WORDS


def _within(time: Moment | None, span: Span) -> bool:
    if time is None:
        return False
    after = span.since is None or span.since.microseconds <= time.microseconds
    return after and (span.until is None or time.microseconds <= span.until.microseconds)


def _narrowed(scope: Scope, span: Span) -> Scope | None:
    """Take a scope within a span; None when they do not meet."""
    until = span.until
    if until is not None and span.since is not None:
        until = _later(until, TOLD_DAYS)
    since = max(filter(None, (scope.since, span.since)), key=_instant, default=None)
    until = min(filter(None, (scope.until, until)), key=_instant, default=None)
    if since is not None and until is not None and since.microseconds > until.microseconds:
        return None
    return replace(scope, since=since, until=until)


def _beside(scope: Scope, anchor: Anchor, row: Seen) -> Scope | None:
    """Take a scope before or after a row, itself included: by its time, or by its place where that is unknown."""
    before = anchor.side == "before"
    if row.time is not None:
        return _narrowed(scope, Span(None, row.time) if before else Span(row.time, None))
    if before:
        return replace(scope, before_position=min(row.position + 1, scope.before_position or row.position + 1))
    return replace(scope, after_position=max(row.position - 1, scope.after_position or 0))


def _instant(moment: Moment) -> int:
    return moment.microseconds


def _later(moment: Moment, days: int) -> Moment:
    try:
        return Moment(moment.microseconds + days * 86_400 * MICROSECONDS, moment.offset_minutes)
    except ValueError:  # past the year 9999
        return moment
