r"""Says whether a note holds what a claim stands on, though nobody knows how the claim follows.

    source  "Falk finished before Boris."
    note    "Boris came in after Falk."         holds it
    note    "Boris finished before Falk."       does not

Each value must stand in the note (`probe_amounts`); where no values are, each sentence, with its
names, and with each of several things that it lists. Said word for word, it is there whatever it means.

The invariant: what a note concludes, and what an agent says in it, holds nothing.

It does not know what is needed (`probe_source`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

from firsthand.value import replace
from firsthand_evals.probe.clues import Puzzle, clue_of
from firsthand_evals.probe.determine import AGENT_ROLES
from firsthand_evals.probe.direction import goes_the_same_way
from firsthand_evals.probe.probe_amounts import PARTS, amounts_of, equal, named_amounts, with_tokens
from firsthand_evals.probe.probe_match import unheld
from firsthand_evals.probe.probe_source import ANY_NAME, SAYS_AGAIN, Source, names_in, parts_of
from firsthand_evals.probe.relation import relations
from firsthand_evals.probe.relevance import CALENDAR, marks_of
from firsthand_evals.probe.statements import Named, Statement, subject_of
from firsthand_evals.probe.values import Value, same

PAIR, LISTED_MIN = 2, 3
"""Names of a relation; names from which on a sentence only lists who there is."""
SHARED_MIN = 0.6
"""Share of a sentence's words that must stand in a note that has it, beside all of its names."""
BEARING_VALUES_MIN = 2
"""Small numbers of facts from which on a note may be taken for a part of them."""
BEARING_WORDS_MIN = 2
"""Words of facts that hold values from which on a sentence without any may be taken for a part of them."""
_LIGHT = subject_of(
    "take takes have get do make go goes come live bring use give want need like work stay keep see find let put be"
)
"""Verbs that say little of what is told."""
ALIKE_MIN = 0.6
"""Share of their words that two statements have in common which put the same thing."""
SHORT_WORDS_MAX = 4
"""Words of a short answer; words that a note puts around it."""
_OF_TALK = subject_of(
    "user wanted want know asked ask question talk talked discuss discussed speak spoke conversation chat about"
    " topic subject note memo"
    " minutes item somebody someone there"
)
"""Words by which a note says what a conversation was about."""
SCENE_MIN = 0.8
"""Share of a statement's words that stand in one of the session's that says who or what there is."""
SHARING_MAX = 200
"""Statements with a word in common in which a sentence is looked for."""
COMMON_MAX = 12
"""Up to here a number stands in any text."""
_compiled = cache(re.compile)
_WORD = r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*"
_NOT = (
    r"\b(?:not|(?<!said )(?<!voted )(?<!answered )no(?= [^\W\d_])|never|neither|nor|cannot|without|except"
    r"|\w+n['\u2019]t)\b"
)
_TOPIC = (
    r"\b(?:asked|asks|question|wanted to know|wondered|talked about|discussed|topic|look at|see|figures in"
    r"|details in|looking for|looked for|keeps? track|kept track|it was about|came up|is about|going to be|will be"
    r"|concerns?|regarding"
    r"|there (?:is|was|were|are)|(?:is|was|were) discussed)\b"
)
_LISTED = r"[,;:]|\s(?:and|or|nor|then|und|oder|et|ou|y|o)\s"


def missing(source: Source, own: Sequence[Statement], puzzle: Puzzle) -> list[Statement]:
    """Give the statements of a source that some statements do not hold."""
    said = [with_tokens(one) for one in map(_before_the_sum, own) if _is_evidence(one, source)]
    cut = [part for one in said for part in (*parts_of(one), *_cells_of(one), *_behind_colon(one)) if part is not one]
    if source.exact is not None:
        exact = source.exact
        has = any(same(found, exact) for one in said for found in one.values)
        return [] if has else [one for one in source.facts if any(same(found, exact) for found in one.values)]
    verbatim = {_bare(one.text) for one in own if one.polarity and one.role not in AGENT_ROLES}
    if says_all(source, own):
        return []
    names = _known_names([*source.facts, *said], puzzle) | source.names
    puzzle = replace(puzzle, people=tuple(dict.fromkeys((*puzzle.people, *sorted(names)))))
    told = f" {' '.join(_bare(one.text) for one in said if one.polarity)} "
    needed = [_without_scores(one, names, source) for one in source.facts]
    gone = unheld(needed, said, by_name=source.is_verbal and source.asks_who)
    result = []
    near = _by_word([*said, *cut])
    related = frozenset(each for one in [*said, *cut] for each in relations(one.text, source.things))
    for place, one in enumerate(needed):
        theirs = relations(one.text, source.things)
        if theirs:
            result += [] if theirs <= related else [source.facts[place]]
            continue
        bare = _bare(one.text)
        if bare in verbatim or (len(bare.split()) >= LISTED_MIN and f" {bare} " in told):
            continue
        if place in gone or not _is_said(one, _sharing(one, near), puzzle, source):
            result.append(source.facts[place])
    return result


def _before_the_sum(one: Statement) -> Statement:
    """Take what stands before the sign of a sum for what it is made of: 26*8 + 14*5 = 208."""
    at = one.text.find("=")
    values = tuple(found for found in one.values if found.end <= one.start + at)
    if one.asserts not in {"total", "conclusion"} or len(values) < PAIR:
        return one
    return replace(one, text=one.text[:at], end=one.start + at, values=values, asserts="", cells=())


def _by_word(said: Sequence[Statement]) -> dict[str, list[Statement]]:
    """Give for each word the statements that have it, the first `SHARING_MAX`."""
    near: dict[str, list[Statement]] = {}
    for one in said:
        for word in _words(one):
            there = near.setdefault(word, [])
            if len(there) < SHARING_MAX:
                there.append(one)
    return near


def _sharing(one: Statement, near: dict[str, list[Statement]]) -> list[Statement]:
    """Give the statements that have a word of one."""
    found = {id(each): each for word in one.subject for each in near.get(word, ())}
    return list(found.values())[:SHARING_MAX]


def _without_scores(one: Statement, names: set[str], source: Source) -> Statement:
    """Leave the values out of a relation of two, when it is asked who: how high somebody won does not matter then."""
    people = sum(name in one.text for name in names if not subject_of(name) <= source.asked)
    return replace(one, values=()) if source.is_verbal and source.asks_who and people >= PAIR else one


def _behind_colon(one: Statement) -> Iterator[Statement]:
    """Give what stands behind the colon of a sentence, and what stands before it, as statements of their own."""
    lead, colon, rest = one.text.partition(": ")
    if (
        colon
        and one.form in {"sentence", "clause"}
        and not one.values
        and min(len(lead.split()), len(rest.split())) > PAIR
    ):
        yield replace(one, text=lead, end=one.start + len(lead))
        yield replace(one, text=rest, start=one.end - len(rest))


def _cells_of(one: Statement) -> Iterator[Statement]:
    """Give the cells of a row or an entry that have names as statements of their own."""
    if len(one.cells) < PAIR or not all(cell.name for cell in one.cells):
        return
    grouped: dict[str, list[Named]] = {}
    for cell in one.cells:
        grouped.setdefault(cell.name, []).append(cell)
    for name, some in grouped.items():
        text = f"{name}: {', '.join(cell.text for cell in some)}"
        values = tuple(found for cell in some for found in cell.values)
        yield replace(one, text=text, values=values, cells=(Named(name, text, values),), form="field")


def says_all(source: Source, own: Sequence[Statement]) -> bool:
    """Say whether statements repeat a source word for word."""
    said = {_bare(part.text) for one in own if _is_evidence(one, source) for part in (one, *parts_of(one))}
    return source.is_whole and bool(source.facts) and all(_bare(one.text) in said for one in source.facts)


def bears(source: Source, own: Sequence[Statement]) -> bool:
    """Say whether statements say anything of what a claim stands on, or of what an agent answered."""
    enough = BEARING_WORDS_MIN if any(one.values for one in source.facts) else 1
    common = 0
    for one in own:
        if one.form == "question" or speaks_of_others(one, source):
            continue
        if _sets_the_scene(one, source):
            continue
        words = _words(one) & source.told
        telling = words - source.common
        answering = words & source.answered and (one.values or not any(each.values for each in source.said))
        if len(words) >= enough or answering or (telling and (one.values or one.denied)):
            return True
        there = [found for found in (*one.values, *one.denied) if any(equal(found, other) for other in source.values)]
        common += len(there)
        if _has_the_key(one, source):
            return True
        if any(_is_rare(found) for found in there) or common >= BEARING_VALUES_MIN:
            return True
    return False


def _sets_the_scene(one: Statement, source: Source) -> bool:
    """Say whether a statement only says who or what there is, as the session does, or what it was about."""
    if _is_a_scene(one, source):
        return True
    facts = bool(source.facts) and all(each.values for each in source.facts) and not source.is_verbal
    return (
        facts and not (one.values or one.denied or amounts_of(one, 0)) and len(_words(one) & source.told) <= LISTED_MIN
    )


def _is_a_scene(one: Statement, source: Source) -> bool:
    """Say whether a statement repeats one of the session's that only says who or what there is."""
    words = _words(one) - _OF_TALK
    return any(
        len(words & scene) >= SCENE_MIN * len(words) and len(words & scene) >= SCENE_MIN * len(scene)
        for scene in source.scenes
    )


def _has_the_key(one: Statement, source: Source) -> bool:
    """Say whether a statement gives something for the values that a claim names: {"Tue 2": "Latin"}."""
    there = [*one.values, *(each.found for each in named_amounts(one, 0))]
    keyed = bool(source.asked_values) and all(any(equal(key, found) for found in there) for key in source.asked_values)
    several = len(source.asked_values) > 1 or bool(_words(one) & source.asked)
    return keyed and several and bool(_words(one) - source.asked or len(one.values) > len(source.asked_values))


def concludes(source: Source, own: Sequence[Statement]) -> bool:
    """Say whether statements give something for what is asked: its words with a value, a name or a word more."""
    asked = source.asked | source.framing
    short = [one for one in source.said if 0 < len(one.text.split()) <= SHORT_WORDS_MAX and not one.values]
    for one in own:
        if _is_a_scene(one, source):
            continue
        if one.form not in {"question", "header"} and any(_repeats(one, each) for each in short):
            return True
        words = _words(one) - subject_of(" ".join(found.text for found in one.values))
        shared = words & asked
        if source.is_yes_or_no and one.form != "question" and len(shared) >= BEARING_WORDS_MIN:
            return True
        if one.values and any(_is_put_alike(one, each) for each in source.said):
            return True
        if (
            one.form in {"question", "header"}
            or not shared
            or speaks_of_others(one, source)
            or _compiled(_TOPIC).search(one.text.lower())
        ):
            continue
        own_words = one.subject - subject_of(" ".join(found.text for found in one.values))
        mostly = len(own_words & asked) * 2 >= len(own_words)
        given = [
            found for found in one.values
            if not any(equal(found, each) for each in source.asked_values)
            and (not source.answers or any(found.kind == each.kind or "number" in {found.kind, each.kind}
                                           for each in source.answers))
        ]  # fmt: skip
        if given and mostly and (len(shared) >= BEARING_WORDS_MIN or len(asked) < LISTED_MIN or shared & source.asked):
            return True
        framed = len(own_words & asked) >= SHARED_MIN * len(source.framing)
        if (
            source.is_verbal
            and source.framing
            and framed
            and own_words - asked
            and len(own_words - asked) <= LISTED_MIN
        ):
            return True
    return False


def speaks_of_others(one: Statement, source: Source) -> bool:
    """Say whether a statement says what the session says of something else than what is asked for."""
    words = _marks(one)
    return any(other <= words and not each <= words for other, each in source.others)


def _repeats(one: Statement, answer: Statement) -> bool:
    """Say whether a statement has an agent's short answer word for word, and little more."""
    bare = _bare(answer.text)
    said = _bare(one.text)
    return len(bare) > PAIR and f" {bare} " in f" {said} " and len(said.split()) <= len(bare.split()) + SHORT_WORDS_MAX


def _is_put_alike(one: Statement, other: Statement) -> bool:
    """Say whether two statements say values of one kind in nearly the same words, common ones among them."""
    if {found.kind for found in one.values} != {found.kind for found in other.values} or not one.values:
        return False
    mine, theirs = (frozenset(_compiled(r"[^\W\d_]+").findall(each.text.lower())) for each in (one, other))
    return len(mine & theirs) >= ALIKE_MIN * len(mine | theirs)


def answers_it(source: Source, own: Sequence[Statement]) -> bool:
    """Say whether statements have words of an agent's answer that nobody asked with."""
    return any(_words(one) & source.answered for one in own if one.form != "question")


def takes_rejected(source: Source, own: Sequence[Statement]) -> bool:
    """Say whether statements affirm what was not chosen."""
    said = [with_tokens(one) for one in own if _is_evidence(one, source)]
    return any(
        words & one.subject and all(any(equal(found, each) for each in other.values) for found in one.values)
        for one in source.rejected
        for other in said
        if (words := other.subject)
    )


def _is_evidence(one: Statement, source: Source) -> bool:
    """Say whether a statement is no conclusion; what looks like one and gives no value of an answer is none."""
    if one.asserts in {"conclusion", "confirmation"} and one.polarity and one.role not in AGENT_ROLES:
        given = any(equal(found, other) for found in one.values for other in source.answers)
        return bool(one.values) and not given and not _words(one) & source.answered
    if one.asserts == "total" and one.polarity and one.role not in AGENT_ROLES and one.values:
        needed = [found for each in source.facts for found in each.values]
        mine = all(any(equal(found, other) for other in needed) for found in one.values)
        return mine and not any(equal(found, other) for found in one.values for other in source.answers)
    return one.polarity and one.asserts not in SAYS_AGAIN and one.role not in AGENT_ROLES and one.form != "header"


def _is_said(one: Statement, said: Sequence[Statement], puzzle: Puzzle, source: Source) -> bool:
    """Say whether what a sentence says in words stands among statements: names together, words, as it means them."""
    people = set(puzzle.people)
    names = {name for name in _compiled(ANY_NAME).findall(one.text) if name in people}
    amounts = [each.found for each in amounts_of(one, 0)]
    own = [found for found in amounts if not any(equal(found, each) for each in source.asked_values)]
    telling = any(found.kind in {"number", "money", "percent", "duration"} for found in own)
    if own and (telling or not ((source.is_verbal and names) or _negated(one.text))):
        return True
    clue = clue_of(one.text, puzzle)
    return any(_says(one, other, names, clue, puzzle, source) for other in said)


def _known_names(said: Sequence[Statement], puzzle: Puzzle) -> set[str]:
    """Give the words that are names: written large within a sentence, or at the beginning of several, never small."""
    first = Counter(name for one in said for name in _compiled(rf"{ANY_NAME}\b(?!:)").findall(one.text)[:1])
    inner = {name for one in said for name in names_in(one.text)}
    small = {word for one in said for word in _compiled(r"\b[^\W\d_]+\b").findall(one.text) if word.islower()}
    found = inner | {name for name, number in first.items() if number > 1} | set(puzzle.people)
    found = {name for name in found if subject_of(name) and name.lower() not in CALENDAR}
    return {name for name in found if name.lower() not in small and not _compiled(_NOT).search(name.lower())}


def _says(one: Statement, other: Statement, names: set[str], clue: object, puzzle: Puzzle, source: Source) -> bool:
    """Say whether one statement says what another one does."""
    text = " ".join((*other.path, *(cell.name for cell in other.cells), other.text))
    if any(name not in text for name in names):
        return False
    values = [found for found in (*one.values, *one.denied) if len(names) < PAIR]
    there = (*other.values, *other.denied, *(each.found for each in named_amounts(other, 0)))
    if any(not any(equal(found, each) for each in there) for found in values):
        return False
    if _negated(other.text) != _negated(one.text):
        return False
    theirs = clue_of(other.text, puzzle)
    if clue is not None and theirs is not None:
        return clue == theirs
    rest = one.subject - subject_of(" ".join((*names, *(found.text for found in values)))) - PARTS.keys()
    shared = rest & _words(other)
    if len(names) >= PAIR:
        listed = other.form != "row" and sum(name in text for name in puzzle.people) > len(names) < LISTED_MIN
        return not listed and goes_the_same_way(one.text, text, names, known=bool(shared))
    each = [subject_of(part) & rest for part in _compiled(_LISTED).split(one.text)]
    own = (rest - source.asked - source.common - _LIGHT) or (rest - source.asked - _LIGHT) or (rest - source.asked)
    if not names and len(each) > 1 and any(part & own and not part & shared for part in each):
        return False  # one of several things is not there
    if names and other.form != "row" and sum(name in text for name in puzzle.people) > PAIR:
        return False  # which of them it says this of is not known
    if names or values:
        return len(shared & own) >= SHARED_MIN * len(own) or bool(shared & source.asked)
    payload = rest - source.asked - source.common
    return len(shared) >= SHARED_MIN * len(rest) and len(shared & payload) >= SHARED_MIN * len(payload)


def _negated(text: str) -> bool:
    return _compiled(_NOT).search(text.lower()) is not None


def _words(one: Statement) -> frozenset[str]:
    return one.subject | subject_of(" ".join((*one.path, *(cell.name for cell in one.cells))).replace("_", " "))


def _is_rare(one: Value) -> bool:
    return one.amount is None or one.amount > COMMON_MAX or one.amount.denominator > 1 or one.kind in {"time", "date"}


def _marks(one: Statement) -> frozenset[str]:
    """Give the words and values of a statement and of what stands above it, each in one spelling."""
    return marks_of(" ".join((*one.path, *(cell.name for cell in one.cells), one.text)))


def _bare(text: str) -> str:
    return " ".join(_compiled(rf"{_WORD}|\d+|[^\w\s.,;:!?\"'-]").findall(text.casefold()))
