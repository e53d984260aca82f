r"""Chooses, of what was said where a claim was asked, what the claim can depend on.

    "the timeout in section cache"   [db] timeout = 61, [cache] timeout = 20: the second alone
    "the hours that Wen works"       rows of Wen and of Noor: those of Wen
    "what Dilan pays of the rent"    everybody's room: a share is worked out of all

Things of one list are told apart by the words and values that the claim has in common with some of
them and not with all; a claim that compares or shares out is about all of them. What shares no word with
the claim, nor with anything that does, is about something else.

The invariant: of a list in which nothing answers to the claim's words, nothing is left out.

It does not know how the claim follows from what is left.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cache

from firsthand.value import replace, value
from firsthand_evals.probe import lexicon
from firsthand_evals.probe.claim import TOOL_ROLES
from firsthand_evals.probe.probe_amounts import equal, unit_words
from firsthand_evals.probe.statements import Named, Statement, subject_of
from firsthand_evals.probe.values import Value, in_base, read

PREFIX_MIN, SHORT_MIN = 5, 3
"""Letters at their beginning by which two words are of one family; letters from which on one may stand for another."""
CHOSEN_MAX = 300
"""Facts up to which those that matter are told from others: each is compared with each."""
LISTED_MIN = 2
"""Things from which on they are a list."""
ALIKE_MIN = 0.5
"""Share of their other words that two sentences of one list have in common."""
TITLE_WORDS_MAX = 4
OTHERS_MAX = 100
"""Words from which on a line is no title; things that were left out and are looked for in a note."""
CALENDAR = lexicon.WEEKDAYS.keys() | lexicon.WEEKDAYS_SHORT.keys()
_compiled = cache(re.compile)
_SHARED_OUT = (
    r"\b(?:shares?|parts?|portions?|percent\w*|per cent|proportions?|fractions?|ratios?|compar\w+|than|relative|rank\w*"
    r"|place|between|differences?|differ|split|divided?|left|remaining|versus|vs|other|others|more|fewer|less|which)\b"
)
_OF_ALL = (
    r"\b(?:shares?|parts?|portions?|percent\w*|per cent|proportions?|fractions?|ratios?|compar\w+|than|relative"
    r"|rank\w*|place"
    r"|between|differences?|differ|more|fewer|less|each|everyone|everybody|all|both|most|least|best|worst|first|last|next"
    r"|average|mean|median|order|split|divided?|left|remaining|whole|total|versus|vs|longest|other|others|together"
    r"|[a-z]{2,}(?<!inter)(?<!for)est)\b"
)
_GENERIC = frozenset(
    subject_of("section key field value entry row setting number column line option parameter name level page chapter")
)
_TEMPORAL = (
    r"\b(?:when|days?|dates?|weeks?|months?|years?|how long|time|hours?|until|since|before|after|deadline|due|period"
    r"|nights?|weekdays?|morning|evening|today|tomorrow|duration|length|old|age|birthday|anniversary|born)\b"
)
_OPPOSITES = (
    (r"ascent|climb(?:s|ed)?|climbing|uphill|up|aufstieg|bergauf", r"descent|descend\w*|downhill|down|abstieg|bergab"),
    (r"earned|earnings|income|takings|revenue|received|einnahmen", r"spent|spending|expenses?|paid out|ausgaben"),
    (r"deposits?|paid in", r"withdrawals?|withdrew|withdrawn"),
    (r"arrivals?|arrived|boarded|checked in|joined", r"departures?|departed|got off|checked out|resigned"),
)
"""Words of one direction, and those of the other."""
_COUNTED = r"\bhow (?:many|much) ([^\W\d_]+)"
_BESIDE = r"(?:[,;:]|\b(?:and|und|et|y|e|en|i|\u0438))\s*\Z"
_COUNTED_THING = r"\s+([^\W\d_]+)"
_NAME = r"\b[A-Z\u00c0-\u00de][^\W\d_]+"
_PAIR = r"(?:(?<=\s)|\A)[A-Z][\w/]*\s+(?=\S*\d)"


@value
class Wanted:
    """What a claim asks for: its words, its values, and what was answered."""

    what: str
    words: frozenset[str]
    values: tuple[Value, ...]
    answers: tuple[Statement, ...]

    @property
    def is_of_all(self) -> bool:
        """Whether all things of a list matter: it compares, shares out, or takes them together."""
        return _compiled(_OF_ALL).search(self.what.lower()) is not None

    @property
    def is_shared_out(self) -> bool:
        """Whether it compares things or shares something out among them, so that no name leaves any of them out."""
        return _compiled(_SHARED_OUT).search(self.what.lower()) is not None

    @property
    def counted(self) -> frozenset[str]:
        """The words for what is counted: "how many bags" asks for a number of bags, whatever comes in bags."""
        match = _compiled(_COUNTED).search(self.what.lower())
        return subject_of(match[1]) if match is not None else frozenset()

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of value that were given for it."""
        values = (found for one in self.answers for found in one.values)
        return frozenset(found.kind for found in values if not any(equal(found, each) for each in self.values))


def wanted_of(what: str, asking: frozenset[str], answers: Sequence[Statement]) -> Wanted:
    """Read a claim.

    Args:
        asking: words that only ask.
    """
    plain = _compiled(r"\([^()]*\)").sub(" ", what)
    return Wanted(what, subject_of(plain) - asking, read(plain), tuple(answers))


def relevant(facts: Sequence[Statement], wanted: Wanted) -> list[Statement]:
    """Leave out of facts what the claim cannot depend on; of more than `CHOSEN_MAX` all are needed."""
    if len(facts) > CHOSEN_MAX:
        return list(facts)
    parts = [part for one in facts for part in _pairs(one)]
    parts = _without_titles(parts, wanted)
    for chosen in (_of_sections, _of_fields, _of_lists):
        parts = chosen(parts, wanted)
    parts = [_counted(_columns(one, wanted, parts), wanted) for one in parts]
    parts = _without_strangers([_without_dates(one, parts, wanted) for one in parts], wanted)
    return _linked(_one_way(_without_known(parts), wanted), wanted)


def _without_known(facts: Sequence[Statement]) -> list[Statement]:
    """Leave out what everybody knows, how many of one unit make another: a thousand of them to the gigabyte."""
    left = [one for one in facts if not _is_known(one)]
    return left or list(facts)


def _is_known(one: Statement) -> bool:
    numbers = subject_of(" ".join(found.text for found in one.values))
    return (
        bool(one.values and one.form != "row" and not one.cells and one.subject & unit_words())
        and all(found.kind in {"number", "duration"} for found in one.values)
        and not one.subject - numbers - unit_words()
    )


def _one_way(facts: Sequence[Statement], wanted: Wanted) -> list[Statement]:
    """Leave out what goes the other way than what is asked for: metres down where the ascent is asked for."""
    low = wanted.what.lower()
    for forth, back in (*_OPPOSITES, *((back, forth) for forth, back in _OPPOSITES)):
        if _compiled(rf"\b(?:{forth})\b").search(low) and not _compiled(rf"\b(?:{back})\b").search(low):
            away = [one for one in facts if _compiled(rf"\b(?:{back})\b").search(one.text.lower())
                    and not _compiled(rf"\b(?:{forth})\b").search(one.text.lower())]  # fmt: skip
            if len(away) < len(facts) and len(facts) > LISTED_MIN:
                return [one for one in facts if not any(one is each for each in away)]
    return list(facts)


def others_of(
    facts: Sequence[Statement], kept: Sequence[Statement], wanted: Wanted
) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    """Give what was said of other things of the claim's lists, with the words of the claim that they have not."""
    chosen = {(one.turn, one.start) for one in kept}
    telling = marks_of(wanted.what) - _GENERIC
    gone = [one for one in facts if (one.turn, one.start) not in chosen and one.form not in {"header", "heading"}]
    result = []
    for one in gone:
        above = " ".join(one.path[-1:])
        parts = [f"{above} {cell.name} {cell.text}" for cell in one.cells if cell.name] or [f"{above} {one.text}"]
        result += [(marks_of(part), telling - marks_of(part)) for part in parts]
    rows = {(one.turn, one.start): one for one in reversed(facts)}
    for one in kept:
        columns = {cell.name for cell in one.cells}
        row = rows.get((one.turn, one.start), one)
        first = row.cells[0].text if row.cells else ""
        for cell in row.cells[1:]:
            if cell.name and cell.name not in columns:
                marks = marks_of(f"{first} {cell.name} {cell.text}")
                result.append((marks, telling - marks))
    return tuple((marks, each) for marks, each in result[:OTHERS_MAX] if len(marks) > 1 and each)


def marks_of(text: str) -> frozenset[str]:
    """Give the words and values of a text in one spelling each."""
    held = [found for found in read(text) if found.amount is not None]
    numbers = (f"{found.kind} {found.unit} {found.amount}" for found in held)
    names = subject_of(" ".join(found.text for found in held))
    return (subject_of(text) - names) | frozenset(numbers)


# what a claim has in common with a thing --------------------------------------------------------------


def _words(one: Statement) -> frozenset[str]:
    return one.subject | subject_of(" ".join(cell.name for cell in one.cells).replace("_", " "))


def _above(one: Statement) -> frozenset[str]:
    return subject_of(" ".join(one.path).replace("_", " "))


def kin(word: str, other: str) -> bool:
    """Say whether two words are of one family, or one is short for the other: object, objection; Lis, Lisbon."""
    short, long = sorted((word, other), key=len)
    if word == other or (len(short) >= PREFIX_MIN and long.startswith(short[:PREFIX_MIN])):
        return True
    return len(short) >= SHORT_MIN and long.startswith(short) and len(long) - len(short) <= len(short) + SHORT_MIN


def _matched(one: Statement, wanted: Wanted, *, above: bool = True) -> frozenset[str]:
    """Give the words and values of a claim that a thing has."""
    words = _words(one) | (_above(one) if above else frozenset())
    found = {word for word in wanted.words if any(kin(word, other) for other in words)}
    return frozenset(found)


def _valued(one: Statement, wanted: Wanted) -> frozenset[str]:
    """Give the values of a claim that a thing has, or its names."""
    values = (*one.values, *read(" ".join((*one.path, *(cell.name for cell in one.cells)))))
    return frozenset(each.text.lower() for each in wanted.values if any(equal(each, other) for other in values))


# titles, sections, lists ----------------------------------------------------------------------------------


def _without_titles(facts: Sequence[Statement], wanted: Wanted) -> list[Statement]:
    """Leave out the first line of a message that stands above others and is of another make than all of them."""
    by_turn: dict[int, list[Statement]] = defaultdict(list)
    for one in facts:
        by_turn[one.turn].append(one)
    gone = {id(some[0]) for some in by_turn.values() if len(some) > LISTED_MIN and _is_title(some, wanted)}
    rows = {one.turn for one in facts if one.form == "row"}
    gone |= {id(one) for one in facts if one.form == "heading" and len(facts) > 1}
    gone |= {id(one) for some in by_turn.values() for one in some if len(some) > 1 and _is_footer(one)}
    gone |= {id(one) for one in facts if one.form == "header" and one.turn in rows}
    return [one for one in facts if id(one) not in gone]


def _is_footer(one: Statement) -> bool:
    """Say whether a line of a tool's result only counts what stands above: (3 rows)."""
    return (
        one.role in TOOL_ROLES and _compiled(r"\(\d+ [^\W\d_]+\)|total:? \d+").fullmatch(one.text.lower()) is not None
    )


def _is_title(some: Sequence[Statement], wanted: Wanted) -> bool:
    first, rest = some[0], some[1:]
    if len(first.text.split()) > TITLE_WORDS_MAX or first.form in {"row", "field", "clause"} or first.cells:
        return False
    kinds = {found.kind for found in first.values}
    if any({found.kind for found in one.values} == kinds for one in rest) or kinds & wanted.kinds - {"word"}:
        return False
    return kinds <= {"word", "date"} or (first.role in TOOL_ROLES and kinds <= {"word", "date", "number"} and not any(
        "number" in {found.kind for found in one.values} for one in rest))  # fmt: skip


def _of_sections(facts: Sequence[Statement], wanted: Wanted) -> list[Statement]:
    """Keep of fields below several headings those below the one that the claim names."""
    result = list(facts)
    for turn in {one.turn for one in facts if one.path}:
        there = [one for one in facts if one.turn == turn and one.path]
        sections = {one.path for one in there}
        if len(sections) < LISTED_MIN or wanted.is_of_all:
            continue
        names = {path: {word for word in wanted.words for other in subject_of(" ".join(path).replace("_", " "))
                        if kin(word, other)} for path in sections}  # fmt: skip
        common = frozenset.intersection(*map(frozenset, names.values()))
        named = {path for path, words in names.items() if words - common}
        if named and len(named) < len(sections):
            gone = {id(one) for one in there if one.path not in named}
            result = [one for one in result if id(one) not in gone]
    return result


def _of_fields(facts: Sequence[Statement], wanted: Wanted) -> list[Statement]:
    """Keep of the fields of a message the one that has all that the claim is about."""
    telling = wanted.words - _GENERIC
    fields = [one for one in facts if one.form in {"field", "item"} and one.cells]
    named = [one for one in fields if telling and telling <= _matched(one, wanted)]
    gone = (
        {id(one) for one in fields if one.turn == named[0].turn and one is not named[0]} if len(named) == 1 else set()
    )
    return [one for one in facts if id(one) not in gone]


def _of_lists(facts: Sequence[Statement], wanted: Wanted) -> list[Statement]:
    """Keep of each list the things that have most of what the claim has in common with some of them only."""
    gone: set[int] = set()
    for some in _lists(facts):
        matched = {id(one): _matched(one, wanted) - wanted.counted for one in some}
        if _is_chain(some) or _is_listed(some, facts):
            continue
        if wanted.is_of_all and not _is_looked_up(some, matched, wanted):
            named = subject_of(" ".join(proper_names(wanted.what)))
            if wanted.is_shared_out or not named:
                continue
            matched = {place: words & named for place, words in matched.items()}
        left = _best(some, matched)
        if len(left) == 1 and left[0] is some[0] and some[0].form == "clause" and _leads(some[0], matched, wanted):
            continue  # what leads a list in a sentence leads all of it
        left = _best(left, {id(one): _valued(one, wanted) for one in left})
        if len(left) == 1 and _leads_on(left[0], some):
            continue
        gone |= {id(one) for one in some} - {id(one) for one in left}
    return [one for one in facts if id(one) not in gone]


def _is_chain(some: Sequence[Statement]) -> bool:
    """Say whether sentences hang together by names, so that one leads to another: "Ann asks Bo. Bo asks Cy"."""
    names = [proper_names(one.text) for one in some if not one.values]
    there = Counter(name for each in names for name in each)
    return len(names) == len(some) and all(len(each) > 1 for each in names) and any(
        there[name] > 1 for each in names for name in each)  # fmt: skip


def _leads(one: Statement, matched: dict[int, frozenset[str]], wanted: Wanted) -> bool:
    """Say whether the words of a claim stand before a list rather than in its first entry."""
    entry = one.text.rpartition(": ")[2]
    inside = {word for word in wanted.words if any(kin(word, other) for other in subject_of(entry))}
    return ": " not in one.text or not matched[id(one)] <= inside


def _leads_on(one: Statement, some: Sequence[Statement]) -> bool:
    """Say whether a thing names another one that is a thing of the list itself: "Uma is 6 years older than Tom"."""
    names = proper_names(one.text)
    if one.form not in {"sentence", "clause"} or len(names) < LISTED_MIN:
        return False
    others = [proper_names(each.text) for each in some if each is not one]
    return all(others) and any(names & each for each in others)


def _is_listed(some: Sequence[Statement], facts: Sequence[Statement]) -> bool:
    """Say whether another sentence lists those whom some sentences are about: then what holds of one bears on all."""
    names = frozenset().union(*(proper_names(one.text) for one in some))
    others = (proper_names(one.text) for one in facts if not any(one is each for each in some))
    return any(len(each) > LISTED_MIN and len(each & names) >= LISTED_MIN for each in others)


def _best(some: Sequence[Statement], matched: dict[int, frozenset[str]]) -> list[Statement]:
    """Keep of some things those with most of what is not common to all of them; all where none has any."""
    common = frozenset.intersection(*matched.values())
    scores = {place: len(words - common) for place, words in matched.items()}
    best = max(scores.values())
    return [one for one in some if not best or scores[id(one)] == best]


def _is_looked_up(some: Sequence[Statement], matched: dict[int, frozenset[str]], wanted: Wanted) -> bool:
    """Say whether one thing of a list has all that the claim is about."""
    telling = wanted.words - _GENERIC - subject_of("total whole last first next left place order")
    return bool(telling) and sum(telling <= matched[id(one)] for one in some) == 1


def _lists(facts: Sequence[Statement]) -> list[list[Statement]]:
    """Group facts into lists: lines of a tool's result, rows of a table, fields of one name, sentences of one make."""
    groups: list[list[Statement]] = []
    for one in facts:
        for group in groups:
            if _is_alike(group[0], one):
                group.append(one)
                break
        else:
            groups.append([one])
    return [group for group in groups if len(group) >= LISTED_MIN]


def _is_alike(one: Statement, other: Statement) -> bool:
    """Say whether two facts are of one list."""
    if one.form == "question" or other.form == "question":
        return False
    first, second = [cell.name for cell in one.cells], [cell.name for cell in other.cells]
    if any(first) or any(second):
        return one.turn == other.turn and first == second and (len(first) > 1 or one.form == "row" or
                                                               one.path != other.path)  # fmt: skip
    kinds, others = ([found.kind for found in each.values] for each in (one, other))
    if one.role in TOOL_ROLES and one.turn == other.turn:
        units = ({in_base(found)[0] for found in each.values[:1]} for each in (one, other))
        return kinds[:1] == others[:1] and (next(units) == next(units) or one.form == other.form == "row")
    if kinds != others or one.role in TOOL_ROLES or other.role in TOOL_ROLES:
        return False
    mine, theirs = _plain(one), _plain(other)
    union = mine | theirs
    return one.turn == other.turn and (len(mine & theirs) >= ALIKE_MIN * len(union) if union else True)


def _plain(one: Statement) -> frozenset[str]:
    """Give the words of a sentence that are no names, however common: they make its form."""
    names = proper_names(one.text)
    return frozenset(word.lower() for word in _compiled(r"[^\W\d_]+").findall(one.text) if word not in names)


def proper_names(text: str) -> frozenset[str]:
    """Give the words that are written large and are no common ones, nor days and months."""
    found = _compiled(_NAME).findall(text)
    return frozenset(name for name in found if subject_of(name) and name.lower() not in CALENDAR)


# parts of a thing ----------------------------------------------------------------------------------------


def _pairs(one: Statement) -> list[Statement]:
    """Cut a line of a tool in which each value has a name of its own before it: "FRA 10:00 LIS 13:10"."""
    if one.role not in TOOL_ROLES or one.cells or len(one.values) < LISTED_MIN:
        return [one]
    starts = [match.start() for match in _compiled(_PAIR).finditer(one.text)]
    kinds = Counter(found.kind for found in one.values)
    if len(starts) < LISTED_MIN or max(kinds.values()) < LISTED_MIN:
        return [one]
    places = list(zip(starts, [*starts[1:], len(one.text)], strict=True))
    return [
        replace(
            one, text=one.text[low:high].rstrip(), start=one.start + low, end=one.start + high,
            values=tuple(found for found in one.values if one.start + low <= found.start < one.start + high),
        )
        for low, high in places
    ]  # fmt: skip


def _columns(one: Statement, wanted: Wanted, facts: Sequence[Statement]) -> Statement:
    """Keep of a row its first cell and the one of the column that the claim names."""
    named = [cell for cell in one.cells if cell.name]
    if one.form != "row" or len(named) < LISTED_MIN or len(one.cells) < LISTED_MIN + 1 or wanted.is_of_all:
        return one
    first = one.cells[0]
    hits = [cell for cell in one.cells[1:] if _names(cell, wanted)]
    key = _of_cells(one, (first,))
    if len(hits) != 1 or not (_matched(key, wanted, above=False) or _valued(key, wanted) or len(facts) == 1):
        return one
    return _of_cells(one, (first, hits[0]))


def _counted(one: Statement, wanted: Wanted) -> Statement:
    """Leave out of a statement the numbers of other things, where it has one of what the claim asks for."""
    if not wanted.counted or len(one.values) < LISTED_MIN:
        return one
    of_it: list[Value] = []
    others: list[Value] = []
    for found in one.values:
        behind = _compiled(_COUNTED_THING).match(one.text, found.end - one.start)
        if found.kind == "number" and behind is not None:
            mine = any(kin(word, other) for word in subject_of(behind[1]) for other in wanted.counted)
            beside = _compiled(_BESIDE).search(one.text[: found.start - one.start].lower()) is not None
            if mine or beside:
                (of_it if mine else others).append(found)
    return replace(one, values=tuple(each for each in one.values if each not in others)) if of_it else one


def _names(cell: Named, wanted: Wanted) -> bool:
    """Say whether a claim has the name of a column."""
    words = subject_of(cell.name.replace("_", " "))
    if any(kin(word, other) for word in wanted.words for other in words):
        return True
    return any(equal(each, other) for each in wanted.values for other in read(cell.name))


def _of_cells(one: Statement, cells: tuple[Named, ...]) -> Statement:
    values = tuple(found for cell in cells for found in cell.values)
    text = " ".join(cell.text for cell in cells)
    return replace(one, text=text, cells=cells, values=values)


def _without_dates(one: Statement, facts: Sequence[Statement], wanted: Wanted) -> Statement:
    """Leave out the weekday beside a date, and a date that only says when, where nothing asks for that."""
    dates = [found for found in one.values if found.kind == "date"]
    whole = any(found.unit in {"", "MM-DD"} for found in dates)
    gone = [found for found in dates if whole and found.unit == "weekday"]
    others = [found for found in one.values if found.kind in {"number", "money", "percent", "duration"}]
    asks = "date" in wanted.kinds or any(found.kind == "date" for found in wanted.values)
    asks = asks or _compiled(_TEMPORAL).search(wanted.what.lower()) is not None
    dated = sum(any(found.kind == "date" for found in each.values) for each in facts)
    elsewhere = any(found.kind != "date" for each in facts for found in each.values if each is not one)
    if (
        dates
        and not asks
        and len(dates) == len(one.values)
        and elsewhere
        and wanted.words
        and not _matched(one, wanted)
    ):
        return replace(one, values=())
    if dates and others and not asks and dated * 2 < len(facts) + 1 and wanted.kinds:
        gone = dates
    return replace(one, values=tuple(found for found in one.values if found not in gone)) if gone else one


def _without_strangers(facts: Sequence[Statement], wanted: Wanted) -> list[Statement]:
    """Leave out of what tools gave the values whose kind the others of their list have not, and bare identifiers."""
    result = {id(one): one for one in facts}
    for some in _lists(facts):
        kinds = [frozenset(found.kind for found in one.values) for one in some]
        common = frozenset.intersection(*kinds)
        if some[0].role in TOOL_ROLES and common:
            for one in some:
                kept = tuple(found for found in one.values if found.kind in common or found.kind in wanted.kinds)
                result[id(one)] = replace(one, values=kept)
    listed = {id(one) for some in _lists(facts) for one in some}
    others_named = Counter(_named_apart(one) for one in facts)
    if wanted.answers and "word" not in wanted.kinds:
        for one in facts:
            own = result[id(one)].values
            kept = tuple(found for found in own if found.kind != "word" or ":" in found.text)
            named = one.subject - subject_of(" ".join(found.text for found in own))
            named = named if others_named[named] < LISTED_MIN else frozenset()
            if len(kept) < len(own) and (named or (kept and id(one) not in listed)):
                result[id(one)] = replace(one, values=kept)
    return list(result.values())


def _named_apart(one: Statement) -> frozenset[str]:
    """Give the words of a thing beside its values."""
    return one.subject - subject_of(" ".join(found.text for found in one.values))


def _linked(facts: Sequence[Statement], wanted: Wanted) -> list[Statement]:
    """Leave out sentences without values that share no word with the claim nor with anything that does."""
    words = {id(one): _words(one) | _above(one) for one in facts}
    reached = set(wanted.words).union(*(words[id(one)] for one in facts if one.values))
    left = [one for one in facts if not one.values]
    if not wanted.words or not any(_shares(words[id(one)], reached) for one in left):
        return list(facts)
    linked: set[int] = set()
    more = True
    while more:
        more = False
        for one in left:
            if id(one) not in linked and _shares(words[id(one)], reached):
                linked.add(id(one))
                reached |= words[id(one)]
                more = True
    return [one for one in facts if one.values or id(one) in linked]


def _shares(words: Iterable[str], reached: set[str]) -> bool:
    return any(word in reached or any(kin(word, other) for other in reached) for word in words)
