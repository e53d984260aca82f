r"""What a claim stands on when it is not known how it follows: all that was said where it was asked.

    "When we left it showed 18,615 km, when we came back 18,848 km. How far was it?"
    a note needs both readings; "You drove 243 km" has neither, and gives something for what is asked

The source is what others than the agent said in the turns that speak of the claim, by its own words
or by those of the agent's answer, else in the turn with most values. A note has it when each value
stands in it once, not under a name of another one; where no values are, when each sentence does with
its names. Said word for word, it is there whatever it means.

The invariant: what is not understood is taken for needed; a value counts for one statement only.

It does not know how the claim follows, so it asks for more than a reader may need.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from fractions import Fraction
from functools import cache
from itertools import pairwise

from firsthand.notes import lexicon
from firsthand.notes.claim import TOOL_ROLES
from firsthand.notes.clues import Puzzle, clue_of
from firsthand.notes.determine import AGENT_ROLES, is_said
from firsthand.notes.statements import Statement, subject_of
from firsthand.notes.values import Value, read, same
from firsthand.value import replace, value

FACTS_MAX, OCCURRENCES_MAX = 5_000, 32
"""Statements of a source that are looked for; places of one value in a note that are tried for it."""
PREFIX_MIN = 5
"""Letters at their beginning by which two words are told to be of one family: object, objection."""
SHARED_MIN = 0.6
"""Share of a sentence's words that must stand in a note that has it, beside all of its names."""
ALIKE_MIN, ALIKE_CHARACTERS_MAX = 0.5, 200
"""Likeness from which on an exact string of an agent stands for one of the source; characters that are compared."""
QUESTION_WORDS_MIN = 6
"""Words of a question from which on it holds facts, too, when nothing else does."""
COMMON_MAX = 12
"""Up to here a number stands in any text."""
_compiled = cache(re.compile)
_SEPARATOR = r"[,;\n()|]+|[.!?](?=\s|\Z)|\s(?:and|und|et|y|then|but)\s"
_WORD = r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*"
_PART = r"[,;:]\s+(?:and\s+|but\s+)?"
_NAME = r"(?<![.!?]\s)(?<!\A)(?<!\n)\b[A-Z\u00c0-\u00de][^\W\d_]+"
_ANY_NAME = r"\b[A-Z\u00c0-\u00de][^\W\d_]+"
_NOT = r"\b(?:not|no|never|neither|nor|cannot|without|except|\w+n['\u2019]t)\b"
_PARTS = {
    "half": Fraction(1, 2), "third": Fraction(1, 3), "quarter": Fraction(1, 4), "fifth": Fraction(1, 5),
    "sixth": Fraction(1, 6), "eighth": Fraction(1, 8), "tenth": Fraction(1, 10),
    "double": Fraction(2), "twice": Fraction(2), "triple": Fraction(3), "thrice": Fraction(3),
}  # fmt: skip
_QUANTITY = (
    r"(?:\b(?:an?|one|two|three|four|\d+)[ -](?=\w)|\b(?=half|double|twice|triple|thrice|\w+s? of\b))"
    rf"({'|'.join(_PARTS)})s?\b"
)
_RATE = r"an? [^\W\d_]+"
_SIGNS = frozenset("-\u2212\u2013+")
_LISTED = r"[,;:]|\s(?:and|or|nor|then|und|oder|et|ou|y|o)\s"
_COUNTS_A_LIST = r"\s+(?:[^\W\d_]+\s+){0,2}[^\W\d_]+\s*:"
ASKING = frozenset(
    ("much", "many", "far", "long", "until", "when", "who", "what", "which", "how", "total", "sum", "all", "please",
     "give", "tell", "say")
)  # fmt: skip
_SAYS_AGAIN = frozenset(("total", "conclusion", "confirmation", "claim"))


@value
class Source:
    """What a claim stands on.

    Attributes:
        facts: statements that are needed.
        rejected: what was considered and not chosen.
        told: words that only somebody uses who says something of it, and not who asks.
        values: of the facts and of the agent's answers.
        exact: the exact string that the claim asks for, when an agent's answer is one.
        turns: those that speak of the claim, by its words.
        is_whole: there were no more facts than are looked for.
    """

    facts: tuple[Statement, ...]
    rejected: tuple[Statement, ...]
    told: frozenset[str]
    values: tuple[Value, ...]
    exact: Value | None
    turns: frozenset[int]
    is_whole: bool = True


@value
class _Amount:
    """A value with the words that it stands with."""

    found: Value
    words: frozenset[str]
    fact: int


def source_of(said: Sequence[Statement], what: str, needs: Sequence[int], gone: Iterable[int]) -> Source:
    """Find what a claim stands on.

    Args:
        needs: places that are known to matter.
        gone: places of what no longer holds.
    """
    asked = subject_of(what) - ASKING
    by_turn: dict[int, list[int]] = defaultdict(list)
    for place, one in enumerate(said):
        by_turn[one.turn].append(place)
    role = {turn: said[places[0]].role for turn, places in by_turn.items()}
    spoken = _turns(said, by_turn, role, asked)
    turns = spoken | {said[place].turn for place in needs}
    left_out = set(gone)
    there = [place for turn in sorted(turns) for place in by_turn[turn] if place not in left_out]
    affirmed = [place for place in there if is_said(said[place]) and said[place].asserts not in _SAYS_AGAIN]
    rejected = tuple(said[place] for place in affirmed if not said[place].polarity and said[place].values)
    known = {place for place in needs if said[place].form not in {"header", "heading"}}
    answers = [said[place] for turn in _answering(role, turns) for place in by_turn[turn]]
    asking = (said[place] for place in there if said[place].form == "question")
    about = asked.union(*(one.subject for one in (*answers, *asking))) - ASKING
    worked_out = any(found.kind != "word" for one in answers for found in one.values)
    chosen = sorted({*_needed(said, affirmed, role, read(what), only_values=worked_out, about=about), *known})
    listings = _listings(said, chosen)
    chosen = [at for at in chosen if at not in listings]
    facts = _without_corrected([part for place in chosen for part in _parts(said[place])])
    questions = (said[place] for place in there if said[place].form == "question" and place not in chosen)
    asking = asked.union(ASKING, *(one.subject for one in questions))
    told = frozenset().union(*(one.subject for one in (*facts, *answers))) - asking
    values = tuple(found for one in (*facts, *answers) for found in one.values)
    return Source(
        tuple(facts[:FACTS_MAX]),
        rejected,
        told,
        values,
        _exact(facts, answers),
        frozenset(spoken),
        is_whole=len(facts) <= FACTS_MAX,
    )


def _turns(
    said: Sequence[Statement], by_turn: dict[int, list[int]], role: dict[int, str], asked: frozenset[str]
) -> set[int]:
    """Choose the turns that speak of a claim, and what tools gave for them."""
    words = {turn: frozenset().union(*(said[at].subject for at in places)) for turn, places in by_turn.items()}
    mine = [turn for turn, name in role.items() if name not in AGENT_ROLES and name != "system"]
    score = {}
    for turn in mine:
        behind = frozenset().union(*(words[other] for other in _answering(role, {turn})))
        score[turn] = sum(_kin(word, words[turn] | behind) for word in asked)
    best = max(score.values(), default=0)
    weight = {turn: sum(len(said[at].values) for at in by_turn[turn] if said[at].form != "question") for turn in mine}
    if best:
        chosen = {turn for turn in mine if score[turn] == best}
        telling = {turn for turn in chosen if weight[turn] or _is_verbal(said, by_turn[turn])}
        chosen = telling or chosen
        if not any(weight[turn] for turn in chosen) and not any(_is_verbal(said, by_turn[turn]) for turn in chosen):
            chosen |= {turn for turn in mine if score[turn] and weight[turn]}
    else:
        most = max(weight.values(), default=0)
        chosen = {turn for turn in mine if weight[turn] == most}
    facts = {
        turn: [said[at] for at in by_turn[turn] if said[at].form != "question" and said[at].values] for turn in mine
    }
    questions = (said[at].subject for turn in chosen for at in by_turn[turn] if said[at].form == "question")
    linked = asked.union(*questions) - ASKING
    if not any(facts[turn] for turn in chosen):
        answers = [found for turn in _answering(role, chosen) for at in by_turn[turn] for found in said[at].values]
        kinds = {(found.kind, found.unit) for found in answers}
        before = {turn for turn in mine if facts[turn] and turn < max(chosen)}
        of_kind = {
            turn for turn in before for one in facts[turn] for found in one.values if (found.kind, found.unit) in kinds
        }
        chosen |= of_kind or (before if answers else set())
    chosen |= {turn for turn in mine if any(one.subject & linked for one in facts[turn])}
    named = frozenset().union(*(_named(one) for turn in chosen if role[turn] not in TOOL_ROLES for one in facts[turn]))
    chosen |= {
        turn for turn in mine if role[turn] not in TOOL_ROLES and any(_named(one) & named for one in facts[turn])
    }
    for turn in sorted(chosen):
        if role[turn] not in TOOL_ROLES:
            chosen |= set(_behind(role, turn, TOOL_ROLES))
    return chosen


def _named(one: Statement) -> frozenset[str]:
    """Give the words that say what the values of a statement are of."""
    return one.subject - subject_of(" ".join(found.text for found in one.values))


def _is_verbal(said: Sequence[Statement], places: Sequence[int]) -> bool:
    return any(said[at].form != "question" and _names(said[at].text) for at in places)


def _behind(role: dict[int, str], turn: int, roles: Iterable[str]) -> Iterator[int]:
    """Give the turns of some roles behind a turn, up to the user's next one."""
    wanted = set(roles)
    for other in sorted(one for one in role if one > turn):
        if role[other] not in AGENT_ROLES and role[other] not in TOOL_ROLES:
            return
        if role[other] in wanted:
            yield other


def _answering(role: dict[int, str], turns: Iterable[int]) -> list[int]:
    return sorted({other for turn in turns for other in _behind(role, turn, AGENT_ROLES)})


def _kin(word: str, words: frozenset[str]) -> bool:
    """Say whether a word, or one of its family, is among others."""
    return word in words or (
        len(word) >= PREFIX_MIN and any(other[:PREFIX_MIN] == word[:PREFIX_MIN] for other in words)
    )


def _needed(
    said: Sequence[Statement],
    places: Sequence[int],
    role: dict[int, str],
    asked: Sequence[Value],
    *,
    only_values: bool,
    about: frozenset[str],
) -> list[int]:
    """Choose what holds a value or a quantity, and sentences with names; where nothing does, all sentences.

    Args:
        asked: values that name what is asked for.
        about: words of the claim, of the questions and of the answers.
        only_values: what is asked for is worked out of values, so that sentences without are none of it.
    """
    plain = [at for at in places if said[at].form not in {"header", "heading"}]
    stated = [
        at for at in plain
        if said[at].polarity and any(
            said[at].form != "question" or not any(same(found, each) for each in asked)
            for found in said[at].values
        )
    ]  # fmt: skip
    quantities = [
        at for at in plain
        if said[at].polarity and said[at].form != "question" and _compiled(_QUANTITY).search(said[at].text.lower())
    ]  # fmt: skip
    if stated and only_values:
        return sorted({*stated, *quantities})
    verbal = [at for at in plain if said[at].form != "question" and said[at].subject]
    verbal = verbal or [at for at in plain if len(said[at].subject) >= QUESTION_WORDS_MIN]
    tools = [at for at in verbal if role[said[at].turn] in TOOL_ROLES]
    verbal = tools or verbal
    named = [at for at in verbal if _names(said[at].text)]
    known = Counter(name for at in verbal for name in set(_compiled(_ANY_NAME).findall(said[at].text)))
    named += [at for at in verbal if at not in set(named) and any(
        known[name] > 1 for name in _compiled(_ANY_NAME).findall(said[at].text))]  # fmt: skip
    named += [at for at in verbal if said[at].subject & about] if named or stated else []
    if stated:
        return sorted({*stated, *quantities, *named})
    return sorted(set(named)) or [at for at in verbal if len(said[at].subject) > 1]


def _parts(one: Statement) -> list[Statement]:
    """Cut a sentence without values where each part names somebody: "Tim is older than Jo, Jo is older than Max"."""
    if one.values:
        return [one]
    cuts = [0, *(match.end() for match in _compiled(_PART).finditer(one.text)), len(one.text)]
    parts = [(low, high) for low, high in pairwise(cuts) if high > low]
    texts = [one.text[low:high] for low, high in parts]
    telling = all(_compiled(_ANY_NAME).search(text) and len(subject_of(text)) > 1 for text in texts)
    if len(parts) < 2 or not telling:
        return [one]
    return [replace(one, text=text, start=one.start + low, end=one.start + high)
            for text, (low, high) in zip(texts, parts, strict=True)]  # fmt: skip


def _listings(said: Sequence[Statement], places: Sequence[int]) -> set[int]:
    """Give the places of sentences that only say who there is: three names or more, each of which another one has."""
    names = {at: set(_compiled(_ANY_NAME).findall(said[at].text)) for at in places if not said[at].values}
    there = Counter(name for some in names.values() for name in some)
    return {
        at for at, some in names.items()
        if len(some) > 2 and len(said[at].subject) <= len(some) + 2 and all(there[name] > 1 for name in some)
    }  # fmt: skip


def _names(text: str) -> list[str]:
    """Give the words that are written large, but for the first of a sentence."""
    return _compiled(_NAME).findall(text)


def names_in(text: str) -> list[str]:
    """Give the words that are written large though they do not begin a sentence."""
    return [name for name in _names(text) if len(name) > 1]


def _without_corrected(facts: list[Statement]) -> list[Statement]:
    """Leave out what a later statement corrects: the nearest one before it of the same kinds and with a common word."""
    kept: list[Statement] = []
    for one in facts:
        if one.corrects and one.values:
            kinds = {found.kind for found in one.values}
            for place in range(len(kept) - 1, -1, -1):
                if {found.kind for found in kept[place].values} >= kinds and kept[place].subject & one.subject:
                    if len(kept[place].values) == len(one.values):
                        del kept[place]
                    break
        kept.append(one)
    return kept


def _exact(facts: Sequence[Statement], answers: Sequence[Statement]) -> Value | None:
    """Find the exact string that an agent's answer stands for: such a one is copied and not worked out."""
    given = [found for one in answers for found in one.values if found.kind == "word"]
    there = [found for one in facts for found in one.values if found.kind == "word"]
    if len(given) != 1 or any(found.kind != "word" for one in answers for found in one.values):
        return None
    if len(there) > 1 and any(same(found, given[0]) for found in there):
        return None  # one of several was chosen: why, all that was said decides
    best = max(there, key=lambda found: _likeness(found.text, given[0].text), default=None)
    return best if best is not None and _likeness(best.text, given[0].text) >= ALIKE_MIN else None


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one[:ALIKE_CHARACTERS_MAX], other[:ALIKE_CHARACTERS_MAX], autojunk=False).ratio()


# whether a note has it ----------------------------------------------------------------------------------


def missing(source: Source, own: Sequence[Statement], puzzle: Puzzle) -> list[Statement]:
    """Give the statements of a source that some statements do not hold."""
    said = [one for one in own if _is_evidence(one)]
    if source.exact is not None:
        exact = source.exact
        has = any(same(found, exact) for one in said for found in one.values)
        return [] if has else [one for one in source.facts if any(same(found, exact) for found in one.values)]
    verbatim = {_bare(one.text) for one in said}
    if says_all(source, own):
        return []
    names = _known_names([*source.facts, *said], puzzle)
    puzzle = replace(puzzle, people=tuple(dict.fromkeys((*puzzle.people, *sorted(names)))))
    gone = _unheld(source.facts, said)
    gone |= _unsaid_quantities(source.facts, said)
    result = []
    for place, one in enumerate(source.facts):
        if _bare(one.text) in verbatim:
            continue
        if place in gone or not _is_said(one, said, puzzle):
            result.append(one)
    return result


def says_all(source: Source, own: Sequence[Statement]) -> bool:
    """Say whether statements repeat a source word for word."""
    said = {_bare(part.text) for one in own if _is_evidence(one) for part in (one, *_parts(one))}
    return source.is_whole and bool(source.facts) and all(_bare(one.text) in said for one in source.facts)


def bears(source: Source, own: Sequence[Statement]) -> bool:
    """Say whether statements say anything of what a claim stands on, or of what an agent answered."""
    for one in own:
        if one.form == "question":
            continue
        words = _words(one)
        if words & source.told:
            return True
        for found in (*one.values, *one.denied):
            if any(_equal(found, other) for other in source.values) and _is_rare(found):
                return True
    return False


def takes_rejected(source: Source, own: Sequence[Statement]) -> bool:
    """Say whether statements affirm what was not chosen."""
    said = [one for one in own if _is_evidence(one)]
    return any(
        words & one.subject and all(any(_equal(found, each) for each in other.values) for found in one.values)
        for one in source.rejected
        for other in said
        if (words := other.subject)
    )


def _is_evidence(one: Statement) -> bool:
    return one.polarity and one.asserts not in _SAYS_AGAIN and one.role not in AGENT_ROLES and one.form != "header"


def _unheld(facts: Sequence[Statement], said: Sequence[Statement]) -> set[int]:
    """Give the places of facts of which a value is missing: each value in a note counts once."""
    wanted = _distinct([each for place, one in enumerate(facts) for each in _amounts(one, place)])
    there = [each for place, one in enumerate(said) for each in _amounts(one, place)]
    own, said_with = _telling(wanted), _telling(there)
    owners: dict[tuple[str, str], set[int]] = defaultdict(set)
    for at, each in enumerate(wanted):
        for word in own[at]:
            owners[each.found.kind, word].add(at)
    by_amount: dict[Fraction | str, list[int]] = defaultdict(list)
    for at, each in enumerate(there):
        for key in _keys(each.found):
            by_amount[key].append(at)
    pairs = []
    for at, each in enumerate(wanted):
        tried = dict.fromkeys(other for key in _keys(each.found) for other in by_amount[key])
        for other in list(tried)[:OCCURRENCES_MAX]:
            if not _equal(each.found, there[other].found):
                continue
            mine = len(own[at] & there[other].words)
            theirs = any(
                at not in others and not any(_stands_beside(wanted[one].found, there, other) for one in others)
                for word in said_with[other]
                if (others := owners.get((each.found.kind, word)))
            )
            if mine or not theirs:
                alike = each.found.kind == there[other].found.kind
                pairs.append((-mine, not alike, -len(each.words & there[other].words), at, other))
    held: set[int] = set()
    used: set[int] = set()
    for *_, at, other in sorted(pairs):
        if at not in held and other not in used:
            held.add(at)
            used.add(other)
    return {each.fact for at, each in enumerate(wanted) if at not in held}


def _telling(amounts: Sequence[_Amount]) -> list[frozenset[str]]:
    """Give of each value the words that stand with values of its kind in one place alone."""
    places = {(each.found.kind, each.fact, word) for each in amounts for word in each.words}
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for kind, _, word in places:
        kinds[kind][word] += 1
    return [frozenset(word for word in each.words if kinds[each.found.kind][word] == 1) for each in amounts]


def _stands_beside(found: Value, there: Sequence[_Amount], other: int) -> bool:
    """Say whether a value stands in the same part of a note as another one."""
    low, high = max(other - 3, 0), other + 4
    return any(
        at != other
        and each.fact == there[other].fact
        and each.words == there[other].words
        and _equal(found, each.found)
        for at, each in enumerate(there[low:high], low)
    )


def _unsaid_quantities(facts: Sequence[Statement], said: Sequence[Statement]) -> set[int]:
    """Give the places of facts with a word for a quantity of which there are fewer among statements."""
    words = [_quantity_words(one) for one in facts]
    if not any(words):
        return set()
    there = _quantities(said)
    short = Counter(part for some in words for part in some) - there
    return {place for place, some in enumerate(words) if any(part in short for part in some)}


def _quantity_words(one: Statement) -> list[Fraction]:
    """Give the quantities of a statement that are no values."""
    inside = [(found.start - one.start, found.end - one.start) for found in one.values]
    return [
        _PARTS[match.group(1)] for match in _compiled(_QUANTITY).finditer(one.text.lower())
        if not any(low < match.end() and match.start(1) < high for low, high in inside)
    ]  # fmt: skip


def _quantities(said: Iterable[Statement]) -> Counter[Fraction]:
    """Count the words for quantities that are no values, and the values that say the same: a quarter, 25 %."""
    found: Counter[Fraction] = Counter()
    for one in said:
        found.update(_quantity_words(one))
        for each in one.values:
            if each.amount is not None and each.kind in {"number", "percent"}:
                written = _written(each) / 100 if each.kind == "percent" else each.amount
                found[written] += each.text.lower() not in _PARTS
    return found


def _distinct(amounts: list[_Amount]) -> list[_Amount]:
    """Take a value that is said again of the same thing once."""
    kept: dict[tuple[str, Fraction | None, str], list[_Amount]] = defaultdict(list)
    result = []
    for each in amounts:
        before = kept[each.found.kind, each.found.amount, "" if each.found.amount is not None else each.found.text]
        if any(one.fact != each.fact and one.words & each.words for one in before):
            continue
        before.append(each)
        result.append(each)
    return result


def _amounts(one: Statement, place: int) -> list[_Amount]:
    """Give the values of a statement with the words next to each: those of its part of the sentence."""
    cuts = [0, *(match.end() for match in _compiled(_SEPARATOR).finditer(one.text)), len(one.text)]
    result: list[_Amount] = []
    numbers = subject_of(" ".join(found.text for found in one.values))
    loose = subject_of(" ".join(part for part in _pieces(one, cuts)))
    for found in one.values:
        at = found.start - one.start
        if _is_no_amount(one, found, result):
            continue
        inside = [cut for cut in cuts if not at < cut < at + len(found.text)]
        low = max((cut for cut in inside if cut <= at), default=0)
        high = min((cut for cut in inside if cut >= at + len(found.text)), default=len(one.text))
        words = subject_of(one.text[low:high]) - numbers
        columns = (cell.name for cell in one.cells if found in cell.values)
        above = subject_of(" ".join((*one.path, *columns)).replace("_", " "))
        result.append(_Amount(found, (words or loose) | above, place))
    return result


def _pieces(one: Statement, cuts: Sequence[int]) -> Iterator[str]:
    """Give the parts of a statement in which no value stands."""
    for low, high in pairwise(sorted(cuts)):
        if not any(low <= found.start - one.start < high for found in one.values):
            yield one.text[low:high]


def _is_no_amount(one: Statement, found: Value, before: Sequence[_Amount]) -> bool:
    """Say whether a value only counts a list that follows, or is the one of a rate: "23 euros an hour", "one litre"."""
    if any(sign.isdigit() for sign in found.text) or found.amount is None:
        return False
    at = found.start - one.start
    rate = _compiled(_RATE).fullmatch(found.text.lower()) is not None
    if rate and any(each.found.end + 1 == found.start for each in before):
        return True
    if found.amount == 1 and len(one.values) > 1 and found.kind in {"number", "money"}:
        return True
    return found.kind == "number" and _compiled(_COUNTS_A_LIST).match(one.text[at + len(found.text) :]) is not None


def _keys(found: Value) -> list[Fraction | str]:
    """Give what a value may be found by: what it comes to, and its number as written."""
    if found.amount is None:
        return [found.text.casefold()]
    amount = found.amount * lexicon.BASE[found.unit][1] if found.unit in lexicon.BASE else found.amount
    return list(dict.fromkeys((amount, found.amount, _written(found), abs(found.amount))))


def _written(found: Value) -> Fraction:
    """Give the number that a value is written with: 34 of "34 minutes"."""
    match = _compiled(r"-?\d+(?:\.\d+)?").fullmatch(
        _compiled(r"[^\d.-]").sub("", found.text.replace(",", "")).rstrip(".-").lstrip(".")
    )
    if match is None or found.kind in {"time", "date"}:
        return found.amount if found.amount is not None else Fraction(0)
    return Fraction(match.group())


def _equal(one: Value, other: Value) -> bool:
    """Say whether two values are equal, whatever unit one of them leaves out."""
    if same(one, other):
        return True
    if one.amount is None or other.amount is None or {one.kind, other.kind} & {"time", "date", "word"}:
        return False
    plain = [each for each in (one, other) if each.kind == "number" and not each.unit]
    if plain and _written(one) == _written(other):
        return True
    signed = [each.text[:1] in _SIGNS for each in (one, other)]
    return (
        signed == [False, True]
        and one.kind == other.kind
        and one.unit == other.unit
        and abs(other.amount) == one.amount
    )


def _is_said(one: Statement, said: Sequence[Statement], puzzle: Puzzle) -> bool:
    """Say whether a sentence without values stands among statements: its names together, its words, as it means it."""
    if _amounts(one, 0):
        return True
    people = set(puzzle.people)
    names = {name for name in _compiled(_ANY_NAME).findall(one.text) if name in people}
    clue = clue_of(one.text, puzzle)
    return any(_says(one, other, names, clue, puzzle) for other in said)


def _known_names(said: Sequence[Statement], puzzle: Puzzle) -> set[str]:
    """Give the words that are names: written large within a sentence, or at the beginning of several, never small."""
    first = Counter(name for one in said for name in _compiled(_ANY_NAME).findall(one.text)[:1])
    inner = {name for one in said for name in _names(one.text)}
    small = {word for one in said for word in _compiled(r"\b[^\W\d_]+\b").findall(one.text) if word.islower()}
    found = inner | {name for name, number in first.items() if number > 1} | set(puzzle.people)
    return {name for name in found if name.lower() not in small and not _compiled(_NOT).search(name.lower())}


def _says(one: Statement, other: Statement, names: set[str], clue: object, puzzle: Puzzle) -> bool:
    """Say whether one statement says what another one does."""
    text = " ".join((*other.path, other.text))
    if any(name not in text for name in names):
        return False
    low, mine = text.lower(), one.text.lower()
    if (_compiled(_NOT).search(low) is None) != (_compiled(_NOT).search(mine) is None):
        return False
    theirs = clue_of(other.text, puzzle)
    if clue is not None and theirs is not None:
        return clue == theirs
    rest = one.subject - subject_of(" ".join(names)) - _PARTS.keys()
    shared = rest & _words(other)
    each = [subject_of(part) & rest for part in _compiled(_LISTED).split(one.text)]
    if len(each) > 1 and any(part and not part & shared for part in each) and len(names) < 2:
        return False  # one of several things is not there
    if len(names) > 1:
        mine_first, other_first = (sorted(names, key=each.find) for each in (one.text, text))
        return mine_first == other_first or not shared
    return len(shared) >= SHARED_MIN * len(rest)


def _words(one: Statement) -> frozenset[str]:
    return one.subject | subject_of(" ".join((*one.path, *(cell.name for cell in one.cells))).replace("_", " "))


def _is_rare(one: Value) -> bool:
    return one.amount is None or one.amount > COMMON_MAX or one.amount.denominator > 1 or one.kind in {"time", "date"}


def _bare(text: str) -> str:
    return " ".join(_compiled(rf"{_WORD}|\d+|[^\w\s.,;:!?\"'-]").findall(text.casefold()))
