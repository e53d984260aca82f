r"""Finds the one thing that a claim asks to be looked up, and says whether a note has it.

    "the rear gate opens with M750", later "the rear gate now opens with M498"
    claim "the code of the rear gate now"        M498, told with "rear gate"
    note  {"front gate": "C529", "rear gate": "M498"}    has it
    note  "rear gate until yesterday: M750"              has not

What was said is cut into units: cells, entries of a list, clauses. The unit that shares most of the
claim's words gives it; of equals the latest message does. Its value or its name is what a note must have,
with the words that tell this unit from the others, and with no other value.

The invariant: where two units of one message answer equally well, or the claim is worked out rather than
looked up, there is no lookup (`lookup_of` gives None), and nothing is said of the note.

It does not know what the words mean: a word of one family stands for another, no synonym does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from firsthand.value import value
from firsthand_evals.probe.claim import AGENT_ROLES
from firsthand_evals.probe.determine import is_said
from firsthand_evals.probe.probe_amounts import equal, unit_words, with_tokens
from firsthand_evals.probe.probe_source import ASKING, Source, names_in
from firsthand_evals.probe.relevance import CALENDAR, kin
from firsthand_evals.probe.slots import ANY, kinds_of
from firsthand_evals.probe.statements import Statement, subject_of
from firsthand_evals.probe.values import Value, read

UNITS_MAX = 2_000
"""Units of a session, and of a note, that are looked at: the last ones."""
RIVALS_MAX = 100
"""Other units that what a note says may be about."""
TELLING_MIN = 6
"""Signs of an exact string from which on it stands for the same thing wherever it stands."""
NEAR_MIN = 0.6
"""Share of its signs that an exact string has in common with the one that it was copied from, with a slip."""
_compiled = cache(re.compile)
_NOT = (
    r"\b(?:not|never|neither|nor|no|none|nobody|except|unless|if|either|or|(?:all|everyone|everybody|everything"
    r"|anyone|nobody) but|n['\u2019]t|nicht|kein\w*|oder|pas|ou|ni|non|n\u00e3o|niet|geen|nie)\b|n['\u2019]t\b"
)
NO_PLURAL = (
    r"(?!(?:does|was|has|is|goes|comes|gets|takes|needs|wants|makes|stays|runs|uses|owns|opens|sits|pays|keeps|gives|leaves|starts"
    r"|ends|plays|works|lives|likes|costs|holds|leads|brings|drives|wins|fails|breaks|handles|approves|depends|belongs|looks|this)\b)"
)
"""Words on s that are no plural."""
_WORKED_OUT = (
    r"\b(?:how (?:many|much|far|long|old|big|fast|high|tall|often|are|is|was|do)|totals?|sums?|differences?|average"
    r"|mean"
    r"|in all|altogether|left|remain\w*|next|lasts?|first|second|third|most|least|more|less|fewer|than|each|every"
    r"|per|shares?|both"
    r"|all|between|after|before|until|without|whether|why|related|relation|order|rank\w*|sequence|together"
    r"|[a-z]{2,}(?<!inter)(?<!for)(?<!r)est|distance|duration|length|age|weight of|number of|price of all|yield"
    r"|interest"
    r"|comes? to|worth|change)\b|\b(?:which|what) (?:[a-z]+ )?"
    rf"{NO_PLURAL}[a-z]{{2,}}[^s\W]s\b"
)
_KIND_WORDS = subject_of(
    "time date day hour user name value number place person one thing code address now today currently current end"
    " present"
    " finally actually moment will would shall the of it going gone go goes come comes have has been become became be"
)
_CUT = (
    r"\s*(?:[,;|\n\u3001\uff0c\u3002\u061b\u060c]|\s-\s|\s\u2013\s)\s*(?:and |but |while |und |aber |et |y |e )?"
    r"|\s(?:and|while|whereas|und|aber|et|mais|y|pero|ma|mas|en|maar)\s"
)
_DECIDED = (
    r"\b(?:signed|chose|chosen|decided?|settled|went (?:with|for)|going with|go with|picked|booked|agreed on|opted"
    r"|took|taken|final\w*"
    r"|in the end|ended up|selected|hired|appointed|reserved|gew\u00e4hlt|entschieden|genommen|gebucht|choisi|retenu"
    r"|pris|r\u00e9serv\u00e9"
    r"|eleg\w+|reserv\w+|scelto|prenotat\w+|escolh\w+|gekozen|geboekt|wybra\w+|\u0432\u044b\u0431\u0440\u0430\w*)\b"
)
_RECEIVES = (
    r"\b(?:to|for|with|by|is|an|auf|zu|\u00e0|chez|a|para|aan|voor|do|dla)\s+(?:the\s+)?\Z|[:=\u2192>]\s*(?:the\s+)?\Z"
)
_CHANGED = (
    r"\b(?:nun|jetzt|ge\u00e4ndert|verschoben|verlegt|doch|statt\w*|maintenant|d\u00e9sormais|chang\u00e9|d\u00e9plac\u00e9e?|report\u00e9e?|plut\u00f4t"
    r"|ahora|cambi\u00f3|cambiado|aplazad\w+|adesso|spostat\w+|cambiat\w+|invece|agora|mudou|adiad\w+|nu|verplaatst|gewijzigd|teraz|zmieni\w+"
    r"|prze\u0142o\u017c\w+|przesuni\w+|\u0442\u0435\u043f\u0435\u0440\u044c|\u0441\u0435\u0439\u0447\u0430\u0441|\u043f\u0435\u0440\u0435\u043d\u0435\u0441\w+"
    r"|\u0438\u0437\u043c\u0435\u043d\w+)\b|\u53d8|\u8b8a|\u5909\u308f|\u5909\u66f4|\u6539\u6210|\u6539\u4e3a|\u6539\u5230|\u73b0\u5728|\u63a8\u8fdf|\u306b\u306a\u308a\u307e\u3057\u305f"
)
_DENIED = r"(?i:,?\s(?:and |but )?not (?:in |at |on |the |an? |with |by |to ){0,3})[A-Z\u00c0-\u00de][^\W\d_]+"
_ANAPHORA = r"\b(?:it|that|this|instead|one)\b"
_STALE = (
    r"\b(?:until (?:yesterday|recently|now|then|last|today)|no longer|formerly|previously|used to|old|former|before"
    r"|at first|earlier"
    r"|expired|outdated|obsolete|superseded|replaced|invalid|planned|first plan|was to|wanted to|would have"
    r"|looked at|not booked"
    r"|favou?red|first choice|rejected|cancelled|canceled|fr\u00fcher|bisher\w*|vorher|alte[rns]?|ancien\w*|avant"
    r"|antes|anterior|vecchi\w*)\b"
)
_NAME = r"(?<![\w'\u2019])[A-Z\u00c0-\u00de][^\W\d_]+(?:['\u2019]s)?"
_NO_NAME = subject_of(
    "user tool note assistant task memo minutes item subject from to hello regards info state besides there head"
    " three in at it"
    " writes likes asked works somebody note it the"
)


@value
class Unit:
    """A piece that says one thing: its words, its names and its values, and the values of the row's name."""

    text: str
    words: frozenset[str]
    names: tuple[str, ...]
    values: tuple[Value, ...]
    above: tuple[Value, ...]
    turn: int
    corrects: bool


class Units:
    """Cuts statements into units, the same ones once: every claim of a session asks for those of the same ones."""

    def __init__(self) -> None:
        self._cut: dict[tuple[int, Callable[[Statement], bool]], tuple[Sequence[Statement], list[Unit]]] = {}
        self._names: dict[int, tuple[Sequence[Statement], frozenset[str]]] = {}

    def of(self, said: Sequence[Statement], wanted: Callable[[Statement], bool]) -> list[Unit]:
        """Give the last units of those statements that are wanted."""
        key = (id(said), wanted)
        if key not in self._cut:  # what was cut is held with it, so that no other has its number
            self._cut[key] = (said, list(units_of([one for one in said if wanted(one)]))[-UNITS_MAX:])
        return self._cut[key][1]

    def names_of(self, said: Sequence[Statement]) -> frozenset[str]:
        """Give the names that are known from statements."""
        if id(said) not in self._names:
            self._names[id(said)] = (said, _known(said))
        return self._names[id(said)][1]


@value
class Lookup:
    """What is to be looked up.

    Attributes:
        text: of the statement that gives it.
        names: the words of the name that is asked for; empty where it is a value.
        found: the value that is asked for; None where it is a name.
        keys: words of the claim that the unit has which gives it.
        rivals: of each other unit, which of them it has.
        asked_values: values of the claim that the unit has which gives it.
        concluded: values that an agent gave: as a note's conclusion they speak against nothing.
        other_names: words of names that other units give.
        concluded_names: words of names that an agent gave.
    """

    text: str
    names: frozenset[str]
    found: Value | None
    keys: frozenset[str]
    rivals: tuple[frozenset[str], ...]
    asked_values: tuple[Value, ...]
    concluded: tuple[Value, ...]
    other_names: frozenset[str]
    concluded_names: frozenset[str]

    def is_in(self, said: Sequence[Statement], units: Units) -> bool:
        """Say whether statements give what is asked for, with the words that tell it, and give nothing else for it."""
        near = [one for one in units.of(said, _is_evidence) if self._is_told(one) and not _is_stale(one)]
        given = [one for one in near if self._gives(one)]
        known = [self._matched(one) for one in given]
        others = [one for one in near if one not in given and any(self._matched(one) >= each for each in known)]
        return bool(given) and not any(self._gives_another(one) for one in others)

    def is_spoken_of(self, said: Sequence[Statement], units: Units) -> bool:
        """Say whether statements give anything for what is asked, be it right or not."""
        return any(
            self._is_told(one) and (self._gives(one) or self._gives_another(one, any_=True))
            for one in units.of(said, _is_no_question)
        )

    def _is_told(self, unit: Unit) -> bool:
        """Say whether a unit is about what is asked for, and not about something else that was said."""
        there = (*unit.values, *unit.above)
        if not all(any(equal(each, other) for other in there) for each in self.asked_values):
            return False
        if (
            self.found is not None
            and self.found.kind == "word"
            and len(self.found.text) >= TELLING_MIN
            and self._gives(unit)
        ):
            return True
        matched = frozenset(key for key in self.keys if any(kin(key, word) for word in unit.words))
        if (
            self.names
            and not self.rivals
            and self.names <= unit.words
            and _compiled(_DECIDED).search(unit.text.lower())
        ):
            return True
        return (bool(matched) or bool(self.asked_values)) and not any(
            matched <= rival and not self.asked_values for rival in self.rivals
        )

    def _matched(self, unit: Unit) -> frozenset[str]:
        return frozenset(key for key in self.keys if any(kin(key, word) for word in unit.words))

    def _gives(self, unit: Unit) -> bool:
        if self.found is not None:
            return any(self._is_it(each) for each in unit.values)
        return self.names <= unit.words

    def _gives_another(self, unit: Unit, *, any_: bool = False) -> bool:
        if self.found is not None:
            kind = self.found.kind
            others = [each for each in unit.values if each.kind == kind and each.unit != "weekday"]
            others = [each for each in others if not self._is_it(each)]
            return any(any_ or not any(equal(each, one) for one in self.concluded) for each in others)
        return bool(unit.words & (self.other_names - (frozenset() if any_ else self.concluded_names)))

    def _is_it(self, each: Value) -> bool:
        return self.found is not None and (equal(self.found, each) or equal(each, self.found))


def _is_no_question(one: Statement) -> bool:
    return one.form != "question"


def _is_evidence(one: Statement) -> bool:
    return one.polarity and one.role not in AGENT_ROLES and one.form != "question"


def _is_told(one: Statement) -> bool:
    return is_said(one) and one.polarity and one.asserts != "claim" and one.form != "question"


def lookup_of(said: Sequence[Statement], what: str, source: Source, cut: Units) -> Lookup | None:
    """Find what a claim asks to be looked up; None when it is not a lookup, or not a sure one."""
    if _compiled(_WORKED_OUT).search(what.lower()) or source.is_yes_or_no or not source.said:
        return None
    known = cut.names_of(said)
    keys = subject_of(what) - ASKING - _KIND_WORDS
    answers = [found for found in source.answers if not any(equal(found, each) for each in source.asked_values)]
    kinds = {found.kind for found in answers}
    if len(kinds) > 1:
        kinds = {found.kind for found in answers if found.unit != "weekday"}
    asked_kinds = kinds_of(what)
    if asked_kinds != ANY and kinds:
        kinds = {each for each in asked_kinds if each in {found.kind for found in answers}} or kinds
        kinds = {next((each for each in asked_kinds if each in kinds), next(iter(kinds)))}
    told = [one for one in said if _is_told(one)]
    everything = cut.of(said, _is_told)
    if not (keys or source.asked_values) or len(kinds) > 1:
        return None
    if not _is_stated([found for found in answers if found.kind in kinds], everything):
        return None
    kind = next(iter(kinds), "")
    if not kind and not any(subject_of(name) - keys and name in known for name in _given(source)):
        return None  # what was answered is no name
    denies = _negated(what)
    units = [one for one in everything if _negated(one.text) == denies and _payload(one, kind, keys, source)]
    must = [each for each in source.asked_values if any(_has(one, each) for one in everything)]
    units = [one for one in units if all(_has(one, each) for each in must)]
    named = frozenset(word for name in _names(what) for word in subject_of(name)) & keys
    score = {id(one): frozenset(key for key in keys if any(kin(key, word) for word in one.words)) for one in units}
    there = frozenset(key for key in named if any(kin(key, word) for one in told for word in one.subject))
    units = [one for one in units if there <= score[id(one)]]
    best = max((len(score[id(one)]) for one in units), default=0)
    if not units:
        return None
    if not best and not must:
        units = [one for one in units if not kind and _compiled(_DECIDED).search(one.text.lower())]
        return (
            _made(units[-1], everything, keys, (), source, _payload(units[-1], kind, keys, source), known, decided=True)
            if (units and not any(one.turn > units[-1].turn and known & set(one.names) for one in everything))
            else None
        )
    top = [one for one in units if len(score[id(one)]) == best]
    chosen = top[-1]
    later = _corrected(chosen, units, score)
    if later is not None:
        return _made(
            later, everything, score[id(chosen)], tuple(must), source, _payload(later, kind, keys, source), known
        )
    rivals = [one for one in top if one.turn == chosen.turn and one is not chosen]
    if any(_differ(one, chosen, kind, keys, source) for one in rivals) and not chosen.corrects:
        return None
    return _made(
        chosen, everything, score[id(chosen)], tuple(must), source, _payload(chosen, kind, keys, source), known
    )


def _corrected(chosen: Unit, units: Sequence[Unit], score: dict[int, frozenset[str]]) -> Unit | None:
    """Give a later unit that says the same thing anew, with a word of it: "actually make that 16"."""
    for at in range(len(units) - 1, -1, -1):
        one = units[at]
        if one.turn < chosen.turn or one is chosen:
            return None
        if one.corrects and one.turn == chosen.turn and units[at - 1] is chosen:
            return one
        if (
            one.corrects
            and one.turn > chosen.turn
            and (score[id(one)] or _compiled(_ANAPHORA).search(one.text.lower()))
        ):
            return one
    return None


def _made(
    chosen: Unit, units: Sequence[Unit], keys: frozenset[str], must: tuple[Value, ...], source: Source,
    payload: Value | frozenset[str] | None, known: frozenset[str], *, decided: bool = False,
) -> Lookup | None:  # fmt: skip
    rivals = []
    for one in units:
        matched = frozenset(key for key in keys if any(kin(key, word) for word in one.words))
        if matched and matched != keys:
            rivals.append(matched)
    distinct = tuple(dict.fromkeys(rivals))[:RIVALS_MAX]
    if isinstance(payload, Value):
        return Lookup(chosen.text, frozenset(), payload, keys, distinct, must, source.answers, frozenset(), frozenset())
    places = [at for at, one in enumerate(units) if payload is not None and payload <= one.words]
    own = next((at for at, one in enumerate(units) if one is chosen), -1)
    sure = bool(decided) or not source.asked - keys - _KIND_WORDS
    if payload is None or any(at > own for at in places) or (len(places) > 1 and not sure):
        return None  # what else is said of that name may change what it is named for
    names = frozenset(word for name in known for word in subject_of(name))
    told = frozenset(word for name in _given(source) if name in known for word in subject_of(name))
    return Lookup(chosen.text, payload, None, keys, distinct, must, (), (names | told) - payload - keys, told)


def _known(said: Sequence[Statement]) -> frozenset[str]:
    """Give the names of a session: written large within a sentence, or at the beginning of several, and never small."""
    inner = {name for one in said for name in names_in(one.text)}
    first = Counter(name for one in said for name in _names(one.text)[:1])
    small = {word for one in said for word in _compiled(r"[^\W\d_]+").findall(one.text) if word.islower()}
    cells = {name for one in said for cell in one.cells for name in _names(cell.text)}
    many = {name for name, number in first.items() if number > 1}
    return frozenset(name for name in inner | many | cells if name.lower() not in small)


def _given(source: Source) -> list[str]:
    return [name for one in source.said for name in _names(one.text)]


def _is_stated(answers: Sequence[Value], units: Sequence[Unit]) -> bool:
    """Say whether what an agent answered with was said as it is, or nearly: then it was not worked out."""
    there = [found for one in units for found in one.values]
    for one in answers:
        if any(equal(one, found) or equal(found, one) for found in there):
            continue
        if one.kind != "word" or not any(found.kind == "word" and _is_near(one.text, found.text) for found in there):
            return False
    return True


def _is_near(one: str, other: str) -> bool:
    same = sum(first == second for first, second in zip(one, other, strict=False))
    return same >= NEAR_MIN * max(len(one), len(other))


def _has(unit: Unit, wanted: Value) -> bool:
    return any(equal(wanted, each) or equal(each, wanted) for each in (*unit.values, *unit.above))


def _negated(text: str) -> bool:
    return _compiled(_NOT).search(text.lower()) is not None


def _payload(unit: Unit, kind: str, keys: frozenset[str], source: Source) -> Value | frozenset[str] | None:
    """Give what a unit would answer: its one value of a kind, or the name that receives; None when there is none."""
    if kind:
        there = [each for each in unit.values if each.kind == kind]
        there = [each for each in there if each.unit != "weekday"] or there
        there = [each for each in there if not any(equal(each, other) for other in source.asked_values)]
        if len(there) > 1 and unit.corrects:
            return there[-1]
        return there[0] if len(there) == 1 else None
    names = [name for name in unit.names if not subject_of(name) & keys]
    if (
        len(names) > 1
        and unit.text.lstrip().startswith(names[0])
        and not unit.text.lstrip().startswith(f"{names[0]} {names[1]}")
    ):
        names = names[1:]  # the first word of a sentence is written large in any case, or is who gives
    if not names:
        return None
    words, at = [subject_of(name) for name in names], [unit.text.find(name) for name in names]
    joined, places = [words[0]], [at[0]]
    for number in range(1, len(names)):
        if unit.text[at[number - 1] + len(names[number - 1]) : at[number]] == " ":
            joined[-1] = joined[-1] | words[number]
        else:
            joined.append(words[number])
            places.append(at[number])
    if len(joined) == 1:
        return joined[0]
    receives = [
        each for each, place in zip(joined, places, strict=True)
        if _compiled(_RECEIVES).search(unit.text[:place].lower()) is not None
    ]  # fmt: skip
    return receives[0] if len(receives) == 1 else None


def _differ(one: Unit, other: Unit, kind: str, keys: frozenset[str], source: Source) -> bool:
    first, second = (_payload(each, kind, keys, source) for each in (one, other))
    if isinstance(first, Value) and isinstance(second, Value):
        return not equal(first, second)
    return first != second


def _is_stale(unit: Unit) -> bool:
    return _compiled(_STALE).search(unit.text.lower().replace("_", " ")) is not None


def units_of(said: Sequence[Statement]) -> Iterator[Unit]:
    """Cut statements into units: named cells, entries, clauses."""
    last: Statement | None = None
    for one in said:
        if one.form == "header":
            continue
        above = subject_of(" ".join(one.path).replace("_", " "))
        if one.form == "clause" and last is not None and last.form == "clause" and last.turn == one.turn:
            above |= subject_of(_common_lead((last.text, one.text)))
        else:
            last = one
        named = [cell for cell in one.cells if cell.name]
        if len(named) > 1:
            first = subject_of(one.cells[0].text)
            for cell in named:
                text = f"{cell.name}: {cell.text}"
                words = subject_of(text.replace("_", " ")) | (
                    first if len(named) < len(one.cells) or one.form == "row" else frozenset()
                )
                yield _unit(text, words | above, one, one.cells[0].values)
        elif len(named) == 1:
            text = f"{named[0].name}: {named[0].text}"
            yield from _parts(text, above, one)
        elif one.cells and all(_compiled(r"[^=:]{1,40}[=:][^=:]+").fullmatch(cell.text) for cell in one.cells):
            for cell in one.cells:
                yield _unit(cell.text, subject_of(cell.text) | above, one)
        elif one.cells:
            yield _unit(" ".join(cell.text for cell in one.cells), one.subject | above, one)
        else:
            yield from _parts(one.text, above, one)


def _parts(text: str, above: frozenset[str], one: Statement) -> Iterator[Unit]:
    """Cut a text at its commas where each part has a name or a value, and words of its own; brackets stand apart."""
    for match in _compiled(r"\(([^()]{4,200})\)").finditer(text):
        if _names(match[1]) and len(subject_of(match[1])) > 1 and not read(match[1]):
            yield _unit(match[1], subject_of(match[1]), one)
            text = text.replace(match.group(), "")
    spans = [(found.start, found.end) for found in read(text)]
    cuts = [
        match.span() for match in _compiled(_CUT).finditer(text)
        if not any(low < match.end() and match.start() < high for low, high in spans)
    ]  # fmt: skip
    starts, ends = [0, *(end for _, end in cuts)], [*(start for start, _ in cuts), len(text)]
    parts = [text[low:high] for low, high in zip(starts, ends, strict=True) if text[low:high].strip()]
    if len(parts) < 2 or not all(_stands_alone(part) for part in parts):
        yield _unit(text, subject_of(text) | above, one)
        return
    head = parts[0].rpartition(":")[0] or _common_lead(parts)
    lead = subject_of(head)
    for part in parts:
        yield _unit(part, subject_of(part) | above | lead, one)


def _common_lead(parts: Sequence[str]) -> str:
    """Give what leads all of a list that goes on with one small word: the code of door A 4417, of B 9023."""
    again = parts[1].split()[0].lower() if parts[1].split() else ""
    words = parts[0].split()
    at = next((number for number, word in enumerate(words) if word.lower() == again and number), 0)
    return " ".join(words[:at])


def _stands_alone(part: str) -> bool:
    held = read(part)
    named = _names(part)
    words = subject_of(part) - subject_of(" ".join(found.text for found in held))
    return bool(held or named) and (len(words) > len(named) or bool(held and words))


def _unit(text: str, words: frozenset[str], one: Statement, above: tuple[Value, ...] = ()) -> Unit:
    text = _compiled(_DENIED).sub("", text)
    gone = {found.text for found in one.denied}
    values = tuple(found for found in read(text) if found.text not in gone)
    held = with_tokens(Statement(text, one.turn, 0, len(text), values=values))
    words = words | subject_of(text.replace("_", " "))
    return Unit(text, words - unit_words(), tuple(_names(text)), held.values, above, one.turn,
                one.corrects or _compiled(_CHANGED).search(one.text.lower()) is not None)  # fmt: skip


def _names(text: str) -> list[str]:
    """Give the words that are written large and may be names; the first of a sentence where it is no common word."""
    found = []
    for match in _compiled(_NAME).finditer(text):
        word = match.group().removesuffix("'s").removesuffix("\u2019s")
        if subject_of(word) and word.lower() not in CALENDAR and not subject_of(word) & _NO_NAME:
            found.append(word)
    return found
