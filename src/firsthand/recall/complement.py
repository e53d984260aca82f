"""Finds what belongs with a hit so strongly that one without the other says half (total-recall 4.1, 11).

    a call and its result                  the same ``call_id``
    an answer and what it answers          a message that names another in ``in_reply_to``
    two halves of one key                  "first half of the signing key", "second half"; "part 1 of 2"
    a symptom and the change before it     a failure, and the change of a file or setting that it names
    a question and its reply               a short question, and what another says next

The invariant: a partner is told by a rule over the two events, never by how well it
matches the query; at most one a hit, `PARTNERS_MAX` in an answer, and only of its
first `HITS_MAX` hits, so that other evidence keeps its room; nothing comes twice.

It knows no storage: what lies around an event is asked of `Around`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Protocol

from firsthand.event import Event, Kind
from firsthand.formats import commands
from firsthand.index.words import exact_strings
from firsthand.value import value

HITS_MAX = 3
PARTNERS_MAX = 3
AROUND_EVENTS = 24
"""How far before and behind a hit its partner is looked for, in events of its session."""
REPLY_EVENTS = 2
QUESTION_CHARACTERS_MAX = 240
"""A longer message that ends in a question says something by itself."""
REPORT_BYTES_MAX = 500
TEXT_CHARACTERS = 2_000
NAMES_MAX = 48

CALL, RESULT = "its call", "its result"
ANSWERED, ANSWERS = "what it answers", "what answers it"
HALF = "the other half"
CAUSE, EFFECT = "the change before it", "what failed after it"
REPLY, QUESTION = "the reply to it", "the question before it"

_compiled = cache(re.compile)  # when a rule needs it: a fresh process pays for each
_HALF = (
    r"\b(?P<ordinal>first|second|1st|2nd|other|left|right|upper|lower|front|back) (?:half|part|piece|share|portion)\b"
    r"|\b(?:half|part|piece|share|portion) (?P<number>[12]|one|two|a|b)(?: ?(?:of|/) ?(?:2|two))?\b"
)
_PARTS = ("half", "part", "piece", "share", "portion")
_SIDES = {
    "first": 1, "1st": 1, "left": 1, "upper": 1, "front": 1, "1": 1, "one": 1, "a": 1,
    "second": 2, "2nd": 2, "right": 2, "lower": 2, "back": 2, "2": 2, "two": 2, "b": 2, "other": 0,
}  # fmt: skip
_KEYS = r"\b(?:key|secret|token|password|passphrase|code|seed|combination|hash|certificate|credential)s?\b"
_FAILS = (
    r"\b(?:fail(?:s|ed|ing|ures?)?|errors?|exceptions?|traceback|crash(?:es|ed|ing)?|timeouts?|times? out|timed out|"
    r"broken|broke|refused|denied|panic|5\d\d|segfault|slow|hangs?|hung|stuck|freezes|stopped working|"
    r"does(?:n't| not) work)\b"
)
_CHANGES = (
    r"\b(?:chang(?:ed|ing)|set|edit(?:ed|ing)|updat(?:ed|ing)|renam(?:ed|ing)|replac(?:ed|ing)|remov(?:ed|ing)|"
    r"lower(?:ed|ing)|rais(?:ed|ing)|switch(?:ed|ing)|bump(?:ed|ing)|upgrad(?:ed|ing)|rotat(?:ed|ing)|disabl(?:ed|ing)|"
    r"enabl(?:ed|ing)|deploy(?:ed|ing)|merg(?:ed|ing)|migrat(?:ed|ing)|delet(?:ed|ing)|moved)\b"
)
_EDITS = r"edit|write|patch|replace|insert|create|update|apply|rename|delete|move"
_COMMANDS = (
    r"\b(?:sed -i|tee |git (?:commit|revert|merge|apply|checkout)|mv |cp |rm |patch |export \w+=|kubectl (?:apply|set|"
    r"edit|rollout)|helm upgrade|terraform apply|systemctl (?:restart|edit)|(?:pip|npm) install)|>>? ?\S"
)
_NAME = r"[A-Za-z_][\w-]*(?:[./][\w-]+)+|[A-Za-z]+_\w+|[a-z]+[A-Z]\w+|[A-Z]{2,}[A-Z0-9_]*\d*|[a-z]+-[a-z][\w-]*"
_COMMON = frozenset(["e.g", "i.e", "OK", "HTTP", "API", "URL", "JSON", "ERROR", "FAILED", "None", "NULL"])


class Around(Protocol):
    """What lies around an event in its session: searchable events, never those that were erased."""

    def before(self, event: Event, distance: int, kind: Kind | None = None) -> Iterator[Event]:
        """Yield events before one, the nearest first, up to so many places of its session away."""
        ...

    def behind(self, event: Event, distance: int, kind: Kind | None = None) -> Iterator[Event]:
        """Yield events behind one, the nearest first, up to so many places of its session away."""
        ...


@value
class Partner:
    """What belongs with a hit.

    Attributes:
        event: the partner.
        of: position of the hit.
        why: what it is to the hit.
    """

    event: Event
    of: int
    why: str


@value
class Place:
    """One place in an answer: a hit of its own, or a partner directly behind its hit."""

    position: int
    partner: Partner | None = None


def together(
    hits: Sequence[Event], rest: Sequence[int], around: Around, partners_max: int = PARTNERS_MAX
) -> list[Place]:
    """Put partners directly behind their hits; each event comes once, and nothing is left out.

    The order does not depend on how many hits a page has, so pages go on where the one before ended.

    Args:
        hits: the first ones, best first; at least `HITS_MAX` where there are so many.
        rest: positions of all behind them.
        partners_max: of all; 0 leaves the order as it is.
    """
    chosen = _chosen(hits, around, partners_max)
    behind = {partner.of: partner for partner in chosen}
    moved = {partner.event.position for partner in chosen}
    places: list[Place] = []
    for position in (*(event.position for event in hits), *rest):
        if position not in moved:
            places.append(Place(position))
            if position in behind:
                places.append(Place(behind[position].event.position, behind[position]))
    return places


def _chosen(hits: Sequence[Event], around: Around, partners_max: int) -> list[Partner]:
    """Choose the partners of an answer, the surest rules first, then the best hits; no event has two parts in it.

    One that stands before its hit already is left there: it is found without help, and would lose its place.
    """
    chosen: list[Partner] = []
    paired: set[int] = set()
    for rule in _RULES:
        for number, event in enumerate(hits[:HITS_MAX]):
            if len(chosen) >= partners_max:
                return chosen
            partner = next(iter(rule(event, around, hits)), None) if event.position not in paired else None
            before = {one.position for one in hits[:number]}
            if partner is not None and partner.event.position not in paired | before:
                chosen.append(partner)
                paired |= {event.position, partner.event.position}
    return chosen


# rules, the surest first -----------------------------------------------------------------------------


def _call(event: Event, around: Around, _others: Sequence[Event]) -> Iterator[Partner]:
    wanted = event.meta.get("call_id")
    if not isinstance(wanted, str) or not wanted:
        return
    if event.kind is Kind.TOOL_RESULT:
        near, why = around.before(event, AROUND_EVENTS, Kind.TOOL_CALL), CALL
    elif event.kind is Kind.TOOL_CALL:
        near, why = around.behind(event, AROUND_EVENTS, Kind.TOOL_RESULT), RESULT
    else:
        return
    for other in near:
        if other.meta.get("call_id") == wanted:
            yield Partner(other, event.position, why)
            return


def _reply_to(event: Event, around: Around, _others: Sequence[Event]) -> Iterator[Partner]:
    """A mail or message that names the one it answers."""
    asked, own = event.meta.get("in_reply_to"), event.meta.get("message_id")
    if asked:
        for other in around.before(event, AROUND_EVENTS):
            if other.meta.get("message_id") == asked:
                yield Partner(other, event.position, ANSWERED)
    if own:
        for other in around.behind(event, AROUND_EVENTS):
            if other.meta.get("in_reply_to") == own:
                yield Partner(other, event.position, ANSWERS)


def _half(event: Event, around: Around, others: Sequence[Event]) -> Iterator[Partner]:
    """One half of a key: the event that holds the other half, of the same name."""
    text = _text(event)
    side = _side(text)
    if side is None or _compiled(_KEYS, re.IGNORECASE).search(text) is None:
        return
    words = _words(text)
    best: tuple[bool, float, int, Event] | None = None
    for other in _once((*others, *around.before(event, AROUND_EVENTS), *around.behind(event, AROUND_EVENTS))):
        if other.position == event.position:
            continue
        said = _text(other)
        its = _side(said)
        if its is None or (its == side != 0) or _compiled(_KEYS, re.IGNORECASE).search(said) is None:
            continue
        theirs = _words(said)
        likeness = len(words & theirs) / max(1, min(len(words), len(theirs)))
        fit = other.session == event.session, likeness, -abs(other.position - event.position)
        if likeness and (best is None or fit > best[:3]):
            best = *fit, other
    if best is not None:
        yield Partner(best[3], event.position, HALF)


def _cause(event: Event, around: Around, _others: Sequence[Event]) -> Iterator[Partner]:
    """A failure: the last change before it that names a thing which the failure names, or the other way about."""
    fails, changes = _is_failure(event), _is_change(event)
    if fails == changes:
        return
    own = names(_text(event))
    if not own:
        return
    near = around.before(event, AROUND_EVENTS) if fails else around.behind(event, AROUND_EVENTS)
    best: tuple[int, Event] | None = None
    for other in near:
        fits = _is_change(other) and not _is_failure(other) if fails else _is_failure(other) and not _is_change(other)
        shared = len(own & names(_text(other))) if fits else 0
        if shared and (best is None or shared > best[0]):  # of equal ones the nearest
            best = shared, other
    if best is not None:
        yield Partner(best[1], event.position, CAUSE if fails else EFFECT)


def _question(event: Event, around: Around, _others: Sequence[Event]) -> Iterator[Partner]:
    """A short question says nothing without the reply."""
    if event.kind not in _SPOKEN or not _asks(event):
        return
    for other in around.behind(event, REPLY_EVENTS):
        if other.kind in _SPOKEN and (other.kind, other.agent) != (event.kind, event.agent):
            yield Partner(other, event.position, REPLY)
            return


_SPOKEN = frozenset({Kind.USER_MESSAGE, Kind.AGENT_MESSAGE})
_Rule = Callable[[Event, Around, Sequence[Event]], Iterable[Partner]]
_RULES: tuple[_Rule, ...] = (_call, _reply_to, _half, _cause, _question)


# what events are -------------------------------------------------------------------------------------


def names(text: str) -> frozenset[str]:
    """Give the things that a text names: paths, files, settings and identifiers, by their last part too."""
    found: dict[str, None] = {}
    for one in (*exact_strings(text), *_compiled(_NAME).findall(text)):
        if one in _COMMON or one.replace(".", "").isdigit():
            continue
        whole = one.casefold().strip("./-_")
        if len(whole) >= 3 and not whole[0].isdigit():
            found[whole] = None
            found[whole.rpartition("/")[2].partition(":")[0]] = None
        if len(found) >= NAMES_MAX:
            break
    return frozenset(name for name in found if len(name) >= 3)


def _is_failure(event: Event) -> bool:
    if event.kind is Kind.TOOL_RESULT:
        return commands.failure(event.meta, event.text[:TEXT_CHARACTERS], "") is not None
    return _is_short(event) and _compiled(_FAILS, re.IGNORECASE).search(event.text) is not None


def _is_change(event: Event) -> bool:
    if event.kind is Kind.TOOL_CALL:
        tool = event.meta.get("tool")
        return _compiled(_EDITS, re.IGNORECASE).search(tool if isinstance(tool, str) else "") is not None or bool(
            _compiled(_COMMANDS).search(_text(event))
        )
    return _is_short(event) and _compiled(_CHANGES, re.IGNORECASE).search(event.text) is not None


def _is_short(event: Event) -> bool:
    """Say whether an event is a message that reports one thing: a long one tells of failures and changes anyway."""
    return event.kind in _SPOKEN and event.size_bytes <= REPORT_BYTES_MAX


def _asks(event: Event) -> bool:
    text = event.text.strip()
    return len(text) <= QUESTION_CHARACTERS_MAX and text[-1:] in {"?", "\uff1f"}


def _side(text: str) -> int | None:
    """Say which half a text holds: 1, 2, 0 for "the other"; None for none, or both."""
    if not any(word in text.lower() for word in _PARTS):
        return None
    sides = {
        _SIDES[(match["ordinal"] or match["number"]).lower()]
        for match in _compiled(_HALF, re.IGNORECASE).finditer(text)
    }
    return sides.pop() if len(sides) == 1 else None


def _words(text: str) -> frozenset[str]:
    """Give the words of a text that may name its key: not those of halves and keys in general."""
    plain = _compiled(_HALF, re.IGNORECASE).sub(" ", _compiled(_KEYS, re.IGNORECASE).sub(" ", text)).casefold()
    return frozenset(re.findall(r"[^\W\d_][\w-]{3,}", plain)) - _FILLING


_FILLING = frozenset(
    ["this", "that", "with", "here", "have", "will", "your", "keep", "safe", "from", "goes", "comes", "then", "they",
     "them", "store", "stored", "note", "please", "remember", "other", "starts", "ends", "begins", "half", "part"]
)  # fmt: skip


def _text(event: Event) -> str:
    return event.text[:TEXT_CHARACTERS]


def _once(events: Iterable[Event]) -> Iterator[Event]:
    seen: set[int] = set()
    for event in events:
        if event.position not in seen:
            seen.add(event.position)
            yield event
