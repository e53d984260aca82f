"""What a careful person reads out of a text: items and prices, clues, times, and how complete it says it is.

It is the eye of the deterministic readers, and independent of how Firsthand reads text
when it writes notes. The invariant: what was only considered, what a note is said to
have said, and what was concluded are not taken for the source.

It knows the ways of writing that the problems here use and a few beside them; what it
cannot read it does not see, and the reader then abstains.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from firsthand import pointer
from firsthand.value import value
from firsthand_evals.reclaim import scoring
from firsthand_evals.reclaim.tasks import COLOURS, COUNTS, NUMBER, ORDINALS, ROLES, TIME, WORD, Clue, solutions

PEOPLE_MAX = 7
"""Of a puzzle; more arrangements are not tried."""

NOTHING_YET = "nothing yet"
"""What is carried into the first session of a chain."""

_POINTER = re.compile(r"\bfh:\S*")
_SEGMENT = re.compile(r"\n|;|[.?!][\"'\u2019\u201d)\]}]*(?=\s|,|$)")
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([nrt\"/\\]))")
_TAGGED = re.compile(r"<(/?)(\w+)[^<>\n]{0,60}>")
_ROLE = re.compile(r"\"role\":\s*\"(\w+)\",\s*\"content\":\s*\"")
_NO_SOURCE = re.compile(
    r"considered|not bought|not chosen|replaced:|rejected|wrote down|\bnote\b.{0,24}\bsa(?:id|ys)\b|conclu|going by|"
    r"\bcomes? to\b|subtotal|\bheadline|\bminutes\b|on the form|we tell them|we go with|newsletter|happy to say|"
    r"for the file|\banswer\s*:",
    re.IGNORECASE,
)
_CONCLUDED = re.compile(
    r"conclu|total|\banswer|confirmed|booked|headline|minutes|on the form|tell them|go with|newsletter|for the file|"
    r"happy to say",
    re.IGNORECASE,
)  # fmt: skip
_MONEY = r"(?:[$€£]\s*)?(\d+(?:[.,]\d+)*)(?:\s*(?:USD|EUR|GBP|dollars?|euros?|pounds?))?"
_COUNT = rf"(\d{{1,9}}(?!\d)|{'|'.join(COUNTS)})"
_GOOD = r"([^\W\d_][\w'-]{0,40}(?: [^\W\d_][\w'-]{0,40})?)"  # without an end, one word of 20,000 letters takes a minute
_NEW = r"(?<![^\W\d_])"  # a word from its first letter on
_EACH = r"(\s*(?:each|apiece|a piece))?"
_TIMES = r"(?:[x\u00d7]\s*)?"
_ITEMS = (  # the letters name the groups: number, good, at or for, price, each
    (re.compile(rf"\b{_COUNT}\s*{_TIMES}{_GOOD}\s*(?:,\s*)?(at|@|for)\s*{_MONEY}{_EACH}", re.IGNORECASE), "ngkpe"),
    (
        re.compile(rf"{_NEW}{_GOOD}\s*[:,]\s*{_COUNT}\s*{_TIMES}(at|@|for|,)?\s*{_MONEY}{_EACH}", re.IGNORECASE),
        "gnkpe",
    ),
)
_INSISTS = re.compile(r"\b(?:it is|comes to|agrees on|answer is)\b(.*?)(?=[.!?,](?:\s|$)|$)", re.IGNORECASE)
_THINGS = (  # beginnings of words by which people speak of a booking, rides, and their two ends
    ("rest", "tabl", "rese", "dine", "dinn", "lunc"), ("trai", "tick"), ("taxi", "pick"),
    ("depa", "leav"), ("arri", "ther"),
)  # fmt: skip
_NOWHERE = re.compile(r"\W*(?:nothing|no such|no result|not found|none\b|unknown|absent|error)", re.IGNORECASE)
_REST = re.compile(r"\brest\b[^\n]*", re.IGNORECASE)
_SAYS = re.compile(r"^[^\w\n]*(user|assistant|agent|system|tool)\b[^\n:]{0,60}:", re.IGNORECASE | re.MULTILINE)
_TAG = re.compile(
    r"\b(\d{1,9}) of (?:the )?(\d{1,9})\b[^.;\n]{0,40}?\b(?:kept|preserved|here|items?|lines?|statements?)\b",
    re.IGNORECASE,
)
_NAME = r"([A-Z][a-z]+)"
_SCENE = re.compile(
    rf"((?:{_NAME}, ){{1,{PEOPLE_MAX}}}{_NAME} and {_NAME}|{_NAME} and {_NAME}) "
    r"(stand in a line|have one role each: |wear one colour each: )([\w, ]*)"
)
_ORDINAL = "|".join(ORDINALS)
_PLACE = "|".join((*ROLES, *COLOURS))
_PAIR = re.compile(rf"{_NAME} stands (somewhere |directly )?(before|after) {_NAME}")
_IN_LINE = re.compile(rf"{_NAME} is (not |either )?({_ORDINAL})(?: in the line)?(?: or ({_ORDINAL}))?")
_HAS = re.compile(
    rf"{_NAME} (?:is|wears|does) ?(not |either )?(?:wear )?(?:the )?({_PLACE})\b(?: or (?:the )?({_PLACE})\b)?"
)
_ASKED = re.compile(rf"who (?:is|wears) (?:the )?({_ORDINAL}|{_PLACE})\b", re.IGNORECASE)
_ASKS = re.compile(r"What is the right answer to this: (.*?)\?", re.DOTALL)


@value
class Found:
    """What a text gives for a question.

    Attributes:
        value: in the writing of `Problem.answer`; None when the text does not determine one.
        parts: how many items, clues or statements it was worked out from.
    """

    value: str | None
    parts: int


def kind_of(ask: str) -> str:
    """Say what sort of value is asked for."""
    if re.search(r"\bwho\b", ask, re.IGNORECASE):
        return WORD
    return TIME if re.search(r"\btime\b", ask, re.IGNORECASE) else NUMBER


def asked_in(text: str) -> str:
    """Give what a message asks for; all of it when it does not ask in the form of `corrections.asking`."""
    found = _ASKS.findall(text)
    return found[-1] if found else text


def recompute(evidence: str, ask: str) -> Found:
    """Work an answer out of the source in a text."""
    kind, text = kind_of(ask), readable(evidence)
    if kind == WORD:
        return _puzzle(text, ask)
    return _time(text, ask) if kind == TIME else _total(text)


def concluded(text: str, ask: str) -> str | None:
    """Give the value that a text states as concluded, the last one; None when it states none."""
    kind = kind_of(ask)
    found = None
    for segment in segments(text):
        if _CONCLUDED.search(segment):
            for one in scoring.values(segment.rsplit(":", 1)[-1] if kind != TIME else segment, kind, _names(segment)):
                found = one
    return found


def claimed(text: str, ask: str) -> str | None:
    """Give the value that somebody insists on, the last one before the question is put again; None without one."""
    said = text.partition("What is the right answer")[0]
    found = [one for claim in _INSISTS.findall(said) for one in scoring.values(claim, kind_of(ask), _names(claim))]
    return found[-1] if found else None


def tag(text: str) -> tuple[int, int] | None:
    """Give how much a text says was kept, k of n; the least complete of several; None when it does not say."""
    found = [(int(kept), int(whole)) for kept, whole in _TAG.findall(text)]
    return min(found, key=lambda one: one[0] - one[1]) if found else None


def pointers(text: str) -> list[str]:
    """Give the pointers to what a text says it left out; all that stand in it when it does not say which those are."""
    rest = [one for line in _REST.findall(text) for one in pointer.find(line)]
    return list(dict.fromkeys(rest or pointer.find(text)))


def leads_nowhere(text: str) -> bool:
    """Say whether an answer of a memory is only the word that it has none."""
    return not text.strip() or _NOWHERE.match(text) is not None


def by_the_user(text: str) -> str:
    """Leave out what a transcript gives as said by others than the user; a text without speakers stays whole."""
    marks = list(_SAYS.finditer(text))
    if not marks:
        return text
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    said = [text[match.end() : end] for match, end in zip(marks, ends, strict=True) if match[1].lower() == "user"]
    return joined([text[: marks[0].start()], *said])


def readable(text: str) -> str:
    """Write out the escapes of JSON, and put what stands in its strings or between tags on lines of its own."""
    if _ROLE.search(text) or text.lstrip()[:2] in {'["', '{"', "[{"} or re.search(r"\\u[0-9a-fA-F]{4}", text):
        text = _ESCAPED.sub(_unescaped, re.sub(r"\",\s*\"(?!content\b)", '"\n"', _ROLE.sub(r"\n\1: ", text)))
    return _TAGGED.sub(lambda tag: "\n" if tag[1] else f"\n{tag[2]}: ", text)


def _unescaped(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else {"n": "\n", "r": "\n", "t": " "}.get(match[2], match[2])


def segments(text: str) -> Iterator[str]:
    """Yield the sentences, rows and list entries of a text, without pointers: their digits are no amounts."""
    for part in _SEGMENT.split(_POINTER.sub(" ", readable(text))):
        if part and part.strip(" |*-•\t>"):
            yield part.strip(" |*-•\t>")


def items(text: str) -> dict[str, tuple[int, Fraction]]:
    """Read the items that were bought, by good; what is said again later stands for what was said before."""
    found: dict[str, tuple[int, Fraction]] = {}
    for segment in segments(text):
        if _NO_SOURCE.search(segment):
            continue
        read = _item(segment)
        if read is not None:
            found[read[0]] = read[1:]
    return found


def carried_on(memory: str, new: Sequence[str], ask: str) -> Found:
    """Add new items to the total that a memory states; without one they are all there is, if it says there was none."""
    before = concluded(memory, ask)
    found = items(joined(new))
    if before is None and memory.strip() != NOTHING_YET:
        return Found(None, len(found))
    whole = sum((count * price for count, price in found.values()), start=Fraction(before or 0))
    return Found(scoring.written(whole), len(found))


def _item(segment: str) -> tuple[str, int, Fraction] | None:
    row = _row(segment)
    if row is not None:
        return row
    for pattern, order in _ITEMS:
        match = pattern.search(segment)
        if match is None:
            continue
        got = dict(zip(order, match.groups(), strict=True))
        count = _counted(got["n"])
        if count is None or len(got["p"]) > scoring.NUMBER_CHARACTERS_MAX:
            continue
        price = scoring.amount(got["p"])
        if got["k"] == "for" and not got["e"] and count:
            price /= count  # "3 for $6" names the price of all
        return _good(got["g"]), count, price
    return None


def _counted(word: str) -> int | None:
    """Read a count in digits or in a word; None for a word that only looks like one in the signs of another script."""
    if word.isdecimal():
        return int(word)
    plain = word.casefold()
    return COUNTS.index(plain) if plain in COUNTS else None


def _row(segment: str) -> tuple[str, int, Fraction] | None:
    """Read a row of a table: a good, a count, a price."""
    cells = [cell.strip(" $€£") for cell in segment.split("|")]
    if len(cells) < 3 or not cells[1].isdecimal() or not re.fullmatch(r"\d+(?:[.,]\d+)*", cells[2]):
        return None
    if max(len(cells[1]), len(cells[2])) > scoring.NUMBER_CHARACTERS_MAX:
        return None
    return _good(cells[0]), int(cells[1]), scoring.amount(cells[2])


def _good(words: str) -> str:
    return words.lower().split()[-1].removesuffix("s")


def _total(evidence: str) -> Found:
    found = items(evidence)
    whole = sum((count * price for count, price in found.values()), start=Fraction(0))
    return Found(scoring.written(whole) if found else None, len(found))


def clues(text: str) -> list[Clue]:
    """Read the clues of a puzzle."""
    found = []
    for segment in segments(text):
        if _NO_SOURCE.search(segment):
            continue
        if pair := _PAIR.search(segment):
            first, how, which, second = pair.groups()
            both = (first, second) if which == "before" else (second, first)
            found.append(Clue("directly before" if how == "directly " else "before", *both))
        elif match := _IN_LINE.search(segment) or _HAS.search(segment):
            who, how, place, other = match.groups()
            form = "either" if other else {None: "at", "not ": "not at", "either ": "either"}[how]
            found.append(Clue(form, who, place, other or ""))
    return list(dict.fromkeys(found))


def _puzzle(evidence: str, ask: str) -> Found:
    scene, asked = _SCENE.search(evidence), _ASKED.search(ask)
    found = clues(evidence)
    if scene is None or asked is None:
        return Found(None, len(found))
    people = re.findall(_NAME, scene[1])
    places = ORDINALS[: len(people)] if "line" in scene[7] else re.findall(rf"\b(?:{_PLACE})\b", scene[8])
    told = [clue for clue in found if clue.who in people]
    if len(people) > PEOPLE_MAX or len(places) != len(people):
        return Found(None, len(found))
    known = [clue for clue in told if {clue.other, clue.third} <= {*people, *places, ""}]
    answers = {
        who
        for solution in solutions(people, places, known)
        for who, place in solution.items()
        if place == asked[1].lower()
    }
    return Found(answers.pop() if len(answers) == 1 else None, len(found) + 1)


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(re.findall(r"\b[A-Z][a-z]+\b", text)))


def _time(evidence: str, ask: str) -> Found:
    """Take the time that the user said, of the sentence that shares most words with the question; of equals the last.

    A sentence that names no thing ("try 10:45 then") is about what was spoken of before it.
    """
    asked = _stems(ask)
    wanted = asked.union(*(thing for thing in _THINGS if asked & set(thing)))
    others = {word for thing in _THINGS if not asked & set(thing) for word in thing}
    best: tuple[int, str] | None = None
    parts, shared = 0, 0
    for segment in segments(by_the_user(evidence)):
        if re.search(r"confirm|conclu|booked for|\bassistant\b|\bagent\b", segment, re.IGNORECASE):
            continue
        words = _stems(segment)
        if words & (others | wanted) or not shared:
            shared = len(wanted & words) - 2 * len(others & words)
        for given in scoring.values(segment, TIME):
            parts += 1
            if best is None or shared >= best[0]:
                best = (shared, given)
    return Found(best[1] if best else None, parts)


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:4] for word in re.findall(r"[a-z]{4,}", text.lower()))


def joined(texts: Sequence[str]) -> str:
    """Put texts below one another."""
    return "\n".join(texts)
