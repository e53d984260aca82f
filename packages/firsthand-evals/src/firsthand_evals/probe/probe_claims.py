r"""What a claim takes, and whether some statements give it: the probe's other half.

    "the total before tax"  takes the same sum from the note as from the session
    "who sits in seat 2"    takes clues that leave one answer, among the session's people
    "the time of the table" takes the value that the user gave last
    "why the import stopped" takes the words and values of what is about it

The invariant: what is compared is computed from statements alone, by the same code for
session and note; a note's conclusion is never counted among its statements.

It does not know pointers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice

from firsthand.value import replace, value
from firsthand_evals.probe import lexicon
from firsthand_evals.probe.clues import Clue, Puzzle, answers, clue_of
from firsthand_evals.probe.determine import AGENT_ROLES, Claim, Known, claim_of, determine, is_said
from firsthand_evals.probe.facts import Line
from firsthand_evals.probe.probe_amounts import measures_alike
from firsthand_evals.probe.probe_held import (
    answers_it,
    bears,
    concludes,
    missing,
    says_all,
    speaks_of_others,
    takes_rejected,
)
from firsthand_evals.probe.probe_lookup import NO_PLURAL, Lookup, lookup_of
from firsthand_evals.probe.probe_reading import Carried, Session
from firsthand_evals.probe.probe_source import ASKING, Source, names_in, source_of
from firsthand_evals.probe.probe_words import (
    TELEPHONE_DIGITS_MIN,
    WHY,
    Given,
    about,
    alike,
    equal,
    exact,
    of_words,
    words_at,
)
from firsthand_evals.probe.relevance import kin
from firsthand_evals.probe.slots import ANY, kinds_of
from firsthand_evals.probe.solve import recompute
from firsthand_evals.probe.statements import Statement, subject_of
from firsthand_evals.probe.values import Value, read

CLAIMS_MAX = 64
LINES_MAX = 400
"""Claims of one session that are judged; lines of one sum that are looked for one by one, and named when missing."""
COMMON_MAX = 12
"""Up to here a number stands in any text."""
_DIGITS = re.compile(r"\D+")
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
_PART = re.compile(r"[,;:]\s+(?:and\s+|but\s+)?|\s+(?:and|but|that)\s+")
_NO_THINGS = frozenset(
    ("amount", "total", "result", "tax", "post", "pre", "coupon", "half", "cent", "week", "sum", "final", "claim")
)
"""Words of what a sum is made into, rather than of a thing that was bought."""
_SEVERAL = re.compile(
    rf"\b(?:which|what) (?:[a-z]+ )?{NO_PLURAL}[a-z]{{2,}}[^s\W]s\b"
    r"|\b(?:names?|list) of\b|\ball (?:the )?[a-z]+s\b"
)
_WHO = re.compile(r"\b(?:who|whose|whom|which (?:person|team|player|guest|man|woman|child))\b")
_ASKS = re.compile(r"\b(?:how|what|which|who|whose|when|where)\b")
_OF_ITS_KIND = frozenset(
    ("time", "date", "day", "user", "ask", "asked", "want", "wanted", "need", "talk", "mention", "said", "price",
     "cost", "number", "amount", "name", "value", "length", "duration")
)  # fmt: skip
"""Words of a claim that say what kind of value is asked for, or that it is asked for."""
_SUMS = {"sum of products", "average", "subtotal"}
_WHOLE_SUMS = _SUMS - {"subtotal"}


@value
class Asked:
    """One claim with what the session gives for it.

    Attributes:
        answer: what the session's own statements give; None when they cannot be worked out.
        conclusions: values that an agent gave for it.
    """

    what: str
    claim: Claim
    session: Session
    answer: Value | None
    conclusions: tuple[Value, ...]
    source: Source
    understood: bool
    lookup: Lookup | None = None

    def given(self, own: Sequence[Statement], over: Sequence[Statement] = ()) -> Given:
        """Say what statements give; what stands in `over` stands above them."""
        if self.lookup is not None:
            units = self.session.units
            enough = self.lookup.is_in(over, units) or self.lookup.is_in(own, units)
            spoken = self.lookup.is_spoken_of(own, units) or bears(self.source, own)
            return Given(enough, () if enough else (self.lookup.text,), spoken)
        worked_out = self._worked_out(own, over)
        if self.understood:
            if says_all(self.source, own) and not WHY.search(self.what.lower()):
                return Given(True)
            if worked_out.enough and self.claim.how in _WHOLE_SUMS:
                gone = missing(self.beside, own, self.session.known.puzzle) if self.beside.facts else []
                gone += _unsaid_modifiers(self, own)
                return Given(not gone, tuple(one.text for one in gone), worked_out.bears or bool(gone))
            if not worked_out.enough and self.claim.how == "constraints" and self._says_relations(own):
                return Given(True)
            if worked_out.enough or self.claim.how == "constraints" or WHY.search(self.what.lower()):
                return replace(worked_out, bears=worked_out.bears or bears(self.source, own))
        gone = missing(self.source, own, self.session.known.puzzle)
        enough = bool(self.source.facts) and not gone and not takes_rejected(self.source, own)
        enough = enough and not (self.understood and self.claim.how in _SUMS and _adds_lines(self, own))
        named = tuple(dict.fromkeys(one.text for one in gone))
        if self.understood and not enough:
            named = worked_out.missing or named
        return Given(enough, () if enough else named, self._bears(own, worked_out))

    def _says_relations(self, own: Sequence[Statement]) -> bool:
        """Say whether statements say all that relates the things of a puzzle."""
        listed = bool(self.source.things.lists and self.source.facts)
        return listed and not missing(self.source, own, self.session.known.puzzle)

    def _bears(self, own: Sequence[Statement], worked_out: Given) -> bool:
        if not self.understood:
            return bears(self.source, own)
        told = self.claim.how == "lookup" and answers_it(self.source, own)
        return worked_out.bears or told or (self.claim.how in _SUMS and bears(self.source, own))

    @property
    def beside(self) -> Source:
        """What was said with values where a sum was, and was not understood as a part of it."""
        said = self.session.statements
        known = {*self.claim.needs, *self.claim.rejected, *self.claim.replaced, *self.claim.restates}
        turns = {said[place].turn for place in self.claim.needs}
        texts = {said[place].text for place in known}
        rest = tuple(
            one for one in self.source.facts
            if one.turn in turns and one.text not in texts and one.form != "question" and one.role != "tool"
        )  # fmt: skip
        return replace(self.source, facts=rest, exact=None)

    def _worked_out(self, own: Sequence[Statement], over: Sequence[Statement]) -> Given:
        how = self.claim.how
        if how == "constraints":
            return _of_clues(self, own, over)
        if how in _SUMS and self.answer is not None:
            return _of_sum(self, own, over)
        if self.answer is not None and how in {"span", "assignment", "lookup", "unknown"}:
            return _of_value(self, own, over)
        return of_words(self.session.statements, self.what, self.claim.needs, own)

    def concluded(self, carried: Carried) -> bool:
        """Say whether a note gives a value for what is asked."""
        looked_up = (
            self.understood and self.answer is not None and self.claim.how in {"assignment", "lookup", "unknown"}
        )
        return _concludes(self, carried) or (not looked_up and concludes(self.source, carried.own))


def asked_for(session: Session, what: str) -> Asked:
    """Give the claim that words ask for."""
    return _asked(session, claim_of(session.statements, what))


def asked_of(session: Session) -> list[Asked]:
    """Give all claims of a session."""
    return [_asked(session, claim) for claim in determine(session.statements)[:CLAIMS_MAX]]


def _asked(session: Session, claim: Claim) -> Asked:
    """Work a claim out of what others than the agent said; an agent's answer is no source for itself."""
    said = session.statements
    needs = tuple(place for place in claim.needs if is_said(said[place]) and said[place].form != "question")
    source = source_of(said, claim.what, needs, claim.replaced)
    made = Asked(claim.what, replace(claim, needs=needs), session, None, (), source, understood=False)
    if WHY.search(claim.what.lower()):
        return replace(made, conclusions=tuple(_conclusions(said, claim, None)), understood=True)
    if source.things.lists and not _is_solved(made):
        return replace(made, conclusions=tuple(_conclusions(said, claim, None)))
    told = [one for one in said if is_said(one)]
    looked_up = claim.how in {"assignment", "lookup", "unknown"}
    if looked_up and _SEVERAL.search(claim.what.lower()):
        return replace(made, conclusions=tuple(_conclusions(said, claim, None)))
    answer = None if looked_up and not needs and not _is_asked_for(told, claim) else recompute(told, claim)
    understood = _is_understood(made, answer, looked_up=looked_up)
    if not understood and not looked_up:
        made = replace(made, source=source_of(said, claim.what, (), ()))
    concluded = claim.concluded or tuple(_conclusions(said, claim, answer if understood else None))
    lookup = lookup_of(said, claim.what, made.source, session.units) if looked_up else None
    return replace(
        made, answer=answer if understood else None, conclusions=concluded, understood=understood, lookup=lookup
    )


def _is_understood(asked: Asked, answer: Value | None, *, looked_up: bool) -> bool:
    """Say whether it is known how a claim follows from what was said."""
    said, claim = asked.session.statements, asked.claim
    if claim.how == "constraints":
        return _is_solved(asked)
    if answer is None:
        return False
    if looked_up and any(equal(answer, each) for each in read(claim.what)):
        return False  # it is named in the claim
    given = list(_conclusions(said, claim, None))
    if given and not any(alike(found, answer) and measures_alike(found, answer) for found in given):
        return False  # what an agent gave for it is of another kind than what was found
    asks_for_any = kinds_of(claim.what) == ANY and asked.source.is_verbal
    if not given and (asks_for_any or _WHO.search(claim.what.lower())) and answer.kind != "word":
        return False
    if not looked_up:
        lines = _lines(said, claim) if claim.how in _SUMS else []
        units = {lexicon.BASE.get(line.unit, (line.unit,))[0] for line in lines if line.unit}
        there = any(said[place].turn in asked.source.turns for place in claim.needs)
        return there and len(units) < 2 and not (claim.how in _WHOLE_SUMS and _leaves_out(asked, lines))
    places = claim.needs or tuple(
        place for place, one in enumerate(said) if is_said(one) and any(equal(found, answer) for found in one.values)
    )
    if _is_derived(said, claim.what, places) or not _is_covered(said, claim.what, places):
        return False
    if answer.kind not in {"time", "date", "word"}:
        if not claim.needs or any(_is_listed(said, place, answer) for place in claim.needs):
            return False
    elif not claim.needs:
        return True
    return claim.how != "lookup" or not _is_one_of_several(asked, answer)


def _leaves_out(asked: Asked, lines: Sequence[Line]) -> bool:
    """Say whether a statement that a sum needs holds money that is in no line of it."""
    known = asked.session.known
    used = {amount for line in lines for amount in (line.count, line.price, line.comes_to)}
    used |= {fact.amount for fact in known.basket.modifiers}
    told = [asked.session.statements[place] for place in asked.claim.needs]
    return any(found.kind == "money" and found.amount not in used for one in told for found in one.values)


def _is_solved(asked: Asked) -> bool:
    """Say whether the clues of a puzzle leave one answer, and every name in them and beside them is somebody's."""
    known, claim = asked.session.known, asked.claim
    theirs = _consistent(known.puzzle, list(known.clues.values()), claim.what)
    if len(answers(known.puzzle, theirs, claim.what)) != 1:
        return False
    told = [asked.session.statements[place] for place in claim.needs]
    texts = {one.text for one in told}
    beside = [one for one in asked.source.facts if not any(one.text in text for text in texts)]
    if any(name in one.text for one in beside if one.form != "question" for name in known.puzzle.people):
        return False
    return all(set(names_in(one.text)) <= set(known.puzzle.people) for one in told)


def _is_listed(said: Sequence[Statement], place: int, answer: Value) -> bool:
    """Say whether the part of the sentence before or behind gives another value of the same kind."""
    one = said[place]
    return any(
        other is not one and other.turn == one.turn and other.form == one.form == "clause"
        and any(found.kind == answer.kind and found.unit == answer.unit for found in other.values)
        for other in said[max(place - 1, 0) : place + 2]
    )  # fmt: skip


def _is_one_of_several(asked: Asked, answer: Value) -> bool:
    """Say whether a tool gave values of the same kind beside one that not all the words of the question lead to."""
    said = asked.session.statements
    words = frozenset().union(*(words_at(said, place) for place in asked.claim.needs))
    turns = {said[place].turn for place in asked.claim.needs}
    others = [found for one in said if one.turn in turns for found in one.values if alike(found, answer)]
    return bool(subject_of(asked.what) - ASKING - words - subject_of(answer.kind)) and len(others) > 1


def _is_derived(said: Sequence[Statement], what: str, places: Iterable[int]) -> bool:
    """Say whether a claim asks for more than a value that was said: nobody asks what they say in the same breath."""
    wanted = subject_of(what)
    turns = {said[place].turn for place in places if said[place].role == "user"}
    if _is_asked_with_more(said, wanted, set(places)):
        return True
    asked = (one for one in said if one.turn in turns and one.form == "question" and one.role == "user")
    return any(not one.subject or one.subject & wanted or _ASKS.search(one.text.lower()) for one in asked)


def _is_asked_with_more(said: Sequence[Statement], wanted: frozenset[str], places: set[int]) -> bool:
    """Say whether a user asks for it in one breath with other values than those that were found."""
    asking = {one.turn for one in said if one.form == "question" and one.role == "user" and one.subject & wanted}
    return any(
        one.turn in asking and one.values and one.form != "question" and place not in places
        for place, one in enumerate(said)
    )


def _is_covered(said: Sequence[Statement], what: str, places: Sequence[int]) -> bool:
    """Say whether what was found is said with at least half of the claim's words, without those of its kind."""
    wanted = subject_of(what) - ASKING - _OF_ITS_KIND
    there = frozenset(word for place in places for word in words_at(said, place))
    return len([word for word in wanted if any(kin(word, other) for other in there)]) * 2 >= len(wanted)


def _is_asked_for(told: Sequence[Statement], claim: Claim) -> bool:
    """Say whether somebody gives what is asked for outside a question, though it is not known where."""
    affirmed = [one for one in told if one.form != "question"]
    return recompute(affirmed, claim) == recompute(told, claim)


def _conclusions(said: Sequence[Statement], claim: Claim, answer: Value | None) -> Iterable[Value]:
    """Give the values by which an agent answered: where it concludes, or in its first message behind the source."""
    last = max((said[place].turn for place in claim.needs), default=-1)
    behind = (one.turn for one in said if one.role in AGENT_ROLES and one.turn > last and one.values)
    first = min(behind, default=-1)
    for one in said:
        if one.role in AGENT_ROLES and (one.asserts or one.turn == first):
            yield from (found for found in one.values if answer is None or alike(found, answer))


# sums -----------------------------------------------------------------------------------------------


def _of_sum(asked: Asked, own: Sequence[Statement], over: Sequence[Statement]) -> Given:
    wanted = _lines(asked.session.statements, asked.claim)
    for tried in (over, own) if over else (own,):
        if _sums_up(asked, tried, wanted):
            return Given(True)
    there = _lines(own, None)
    gone: list[str] = []
    shown = False
    for line in wanted[:LINES_MAX]:
        alike = [one for one in there if one.name & line.name or (not line.name and not one.name)]
        named = _saying(own, line)
        said_alike = any((one.count, one.price) == (line.count, line.price) for one in there if one.price is not None)
        shown = shown or bool(alike or named) or said_alike
        if not any(_same_line(one, line) for one in alike) and not any(
            _says_line(asked, one, line, wanted) for one in named
        ):
            gone += [asked.session.statements[place].text for place in line.places]
    if not gone:
        gone = [asked.session.statements[place].text for place in asked.claim.needs]
    return Given(False, tuple(dict.fromkeys(gone)), shown)


def _unsaid_modifiers(asked: Asked, own: Sequence[Statement]) -> list[Statement]:
    """Give what changes a sum, a discount or a fee, that statements do not say; no tax where it is asked without."""
    said, known = asked.session.statements, asked.session.known
    turns = {said[place].turn for place in asked.claim.needs}
    gone = []
    for fact in known.basket.modifiers:
        one = said[fact.place]
        untaxed = "tax" in fact.name and lexicon.TAXES.search(asked.what.lower()) is not None
        if one.form == "question" or one.turn not in turns or untaxed or one.role == "tool":
            continue
        held = all(any(equal(found, other) for each in own for other in each.values) for found in one.values)
        gone += [] if held else [one]
    return gone


def _sums_up(asked: Asked, said: Sequence[Statement], wanted: Sequence[Line]) -> bool:
    """Say whether statements give a sum again: worked out, or line by line."""
    lines = [line for line in _lines(said, None) if line.comes_to is not None]
    answer = recompute(said, asked.claim)
    if answer is not None and len(lines) >= min(2, len(wanted)) and equal(answer, asked.answer):
        return True
    modified = Known(asked.session.statements).basket.modifiers if asked.claim.how != "subtotal" else ()
    if modified or not 0 < len(wanted) <= LINES_MAX or any(_speaks_against(one, wanted) for one in lines):
        return False
    return all(any(_says_line(asked, one, line, wanted) for one in _saying(said, line)) for line in wanted)


def _adds_lines(asked: Asked, said: Sequence[Statement]) -> bool:
    """Say whether statements have lines that the session's sum has not."""
    wanted = _lines(asked.session.statements, asked.claim)
    known = {word for line in wanted for word in line.name}
    extra = (one for one in _lines(said, None) if one.count is not None and one.price is not None)
    return any(one.name and not one.name & known and not one.name & _NO_THINGS for one in extra)


def _speaks_against(one: Line, wanted: Sequence[Line]) -> bool:
    """Say whether a line that was read changes a sum: another thing, or other numbers for one of the things."""
    if one.count is None or one.price is None or one.name & _NO_THINGS:
        return False
    named = [line for line in wanted if line.name & one.name]
    return not any(_same_line(one, line) for line in named)


def _saying(said: Sequence[Statement], line: Line) -> list[Statement]:
    """Give the statements that name what a line is about; the first `LINES_MAX`."""
    named = (one for one in said if one.polarity and line.name and line.name <= one.subject)
    return list(islice(named, LINES_MAX))


def _says_line(asked: Asked, one: Statement, line: Line, wanted: Sequence[Line]) -> bool:
    """Say whether a statement gives a line: its count and price, or, for the sum of several, what it comes to."""
    amounts = Counter(found.amount for found in _around(one, line, wanted))
    needed = Counter([line.count, line.price])
    if line.count is not None and line.price is not None and amounts >= needed:
        return True
    return asked.claim.how != "subtotal" and line.comes_to is not None and line.comes_to in amounts


def _around(one: Statement, line: Line, wanted: Sequence[Line]) -> list[Value]:
    """Give the values of a statement next to the name of a line: between the names before it and behind it."""
    others = [other for other in wanted if other is not line]
    places = [
        (word.start(), word.end(), subject_of(word.group()))
        for word in _WORD.finditer(one.text)
    ]  # fmt: skip
    mine = [at for at, _, words in places if words & line.name]
    theirs = [at for at, _, words in places if any(words & other.name for other in others) and not words & line.name]
    if not mine:
        return []
    low = max((at for at in theirs if at < mine[0]), default=0)
    high = min((at for at in theirs if at > mine[-1]), default=len(one.text))
    return [found for found in one.values if low <= found.start - one.start < high]


def _lines(said: Sequence[Statement], claim: Claim | None) -> list[Line]:
    """Give the lines of a basket; of a claim, those that it needs."""
    if not said:
        return []
    lines = Known(said).basket.lines
    return list(lines) if claim is None else [line for line in lines if set(claim.needs) & set(line.places)]


def _same_line(one: Line, other: Line) -> bool:
    return one.comes_to is not None and one.comes_to == other.comes_to


# puzzles --------------------------------------------------------------------------------------------


def _of_clues(asked: Asked, own: Sequence[Statement], over: Sequence[Statement]) -> Given:
    session = Known(asked.session.statements)
    theirs = _consistent(session.puzzle, list(session.clues.values()), asked.what)
    wanted = answers(session.puzzle, theirs, asked.what)
    known: list[Clue] = []
    for tried in (over, own) if over else (own,):
        known = _clues(tried, session.puzzle, theirs)
        for clues in (known, [clue for clue in known if clue in theirs]):
            if len(wanted) == 1 and answers(session.puzzle, clues, asked.what) == wanted:
                return Given(True)
    missing = [asked.session.statements[place].text for place, clue in session.clues.items() if clue not in known]
    told = (clue_of(one.text, session.puzzle) for one in own if one.form != "question")
    return Given(False, tuple(missing), bool(known) or any(one is not None and _answers_it(one) for one in told))


def _consistent(puzzle: Puzzle, clues: list[Clue], what: str) -> list[Clue]:
    """Leave out of clues that contradict each other the one that does, if there is one: a premise that was hearsay.

    A premise that answers the question itself is left out first, then what was said last.
    """
    if answers(puzzle, clues, what) or len(clues) < 2:
        return clues
    last_first = list(reversed(clues))
    for one in sorted(last_first, key=lambda clue: not _answers_it(clue)):
        others = [clue for clue in clues if clue is not one]
        if len(answers(puzzle, others, what)) == 1:
            return others
    return clues


def _clues(said: Sequence[Statement], puzzle: Puzzle, theirs: Sequence[Clue]) -> list[Clue]:
    """Read clues as the session's puzzle has them; what only answers the question is none."""
    found = []
    for one in said:
        if one.form in {"question", "header", "heading"} or one.asserts == "claim" or one.role in AGENT_ROLES:
            continue
        clue = clue_of(one.text, puzzle)
        parts = [] if clue in theirs else [part for part in _PART.split(one.text) if part]
        several = [each for part in parts if (each := clue_of(part, puzzle)) in theirs and each is not None]
        if clue is not None and (clue in theirs or not (_answers_it(clue) or several)):
            found.append(clue)
        found += several
    return found


def _answers_it(clue: Clue) -> bool:
    """Say whether a clue is nothing but an answer to what is asked."""
    return clue.form == "has" and not clue.negative and len(clue.left) == 1 and len(clue.right) + len(clue.places) == 1


# single values ----------------------------------------------------------------------------------------


def _of_value(asked: Asked, own: Sequence[Statement], over: Sequence[Statement]) -> Given:
    said = asked.session.statements
    needs = [said[place] for place in asked.claim.needs] or about(said, asked.what)
    meant = _meant(asked.what, needs)
    for tried in (over, own) if over else (own,):
        if _has_value(asked, tried, meant):
            return Given(True)
    bears = any(
        asked.answer is not None and alike(found, asked.answer)
        for place, one in enumerate(own)
        if meant <= words_at(own, place)
        for found in one.values
    )
    return Given(False, tuple(one.text for one in needs), bears)


def _has_value(asked: Asked, said: Sequence[Statement], meant: frozenset[str]) -> bool:
    """Say whether statements give the answer: worked out, or said with the words of what is asked for."""
    answer = recompute(said, asked.claim)
    if answer is not None and equal(answer, asked.answer):
        return True
    for place, one in enumerate(said):
        own = one.polarity and one.asserts not in {"total", "conclusion", "confirmation", "claim"}
        named = _is_telling(asked.answer) or (meant and meant <= words_at(said, place))
        if own and named and any(equal(found, asked.answer) for found in one.values):
            return True
    return False


def _is_telling(one: Value | None) -> bool:
    """Say whether a value is so long an exact string that it stands for the same thing wherever it stands."""
    return one is not None and one.kind == "word" and len(exact(one.text)) >= TELEPHONE_DIGITS_MIN


def _meant(what: str, needs: Sequence[Statement]) -> frozenset[str]:
    """Give the words of what is asked for that the session says beside the answer, too."""
    there = frozenset(word for place in range(len(needs)) for word in words_at(needs, place))
    return subject_of(what) & there


def _concludes(asked: Asked, carried: Carried) -> bool:
    """Say whether a note gives a value for what is asked: the agent's, the right one, or any that it sums up to."""
    given = [*asked.conclusions, *([asked.answer] if asked.answer is not None else [])]
    words = frozenset(subject_of(asked.what)).union(
        *(asked.session.statements[place].subject for place in asked.claim.needs)
    )
    own = [one for one in carried.own if not speaks_of_others(one, asked.source)]
    for one in own:
        for found in (*one.values, *one.denied):
            if any(equal(found, other) for other in given) and (_is_rare(found) or one.subject & words):
                return True
    digits = _DIGITS.sub("", carried.text)
    strings = [exact(other.text) for other in given if other.kind == "word"]
    if any(text.isdigit() and len(text) >= TELEPHONE_DIGITS_MIN and text in digits for text in strings):
        return True
    sums = (one for one in carried.own if one.asserts in {"total", "conclusion"})
    if any(asked.answer is None or alike(found, asked.answer) for one in sums for found in one.values):
        return True
    return any(one.asserts == "confirmation" and one.values and one.subject & words for one in carried.own)


def _is_rare(one: Value) -> bool:
    """Say whether a value hardly stands in a text by chance: no small whole number."""
    return one.amount is None or one.amount > COMMON_MAX or one.amount.denominator > 1 or one.kind in {"time", "date"}
