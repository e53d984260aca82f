r"""What a claim stands on when it is not known how it follows: all that was said where it was asked.

    "When we left it showed 18,615 km, when we came back 18,848 km. How far was it?"
    a note needs both readings; "You drove 243 km" has neither, and gives something for what is asked

The source is what others than the agent said in the turns that speak of the claim, by its own words
or by those of the agent's answer, else in the turn with most values; and what is linked to that by
words. Of it, what holds a value is needed; where the answer is no value, sentences are, too.

The invariant: what is not understood is taken for needed; an agent's words never are.

It does not know how the claim follows, so it asks for more than a reader may need.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import pairwise

from firsthand.value import replace, value
from firsthand_evals.probe.claim import TOOL_ROLES
from firsthand_evals.probe.determine import AGENT_ROLES, is_said
from firsthand_evals.probe.probe_amounts import QUANTITY, amounts_of, unit_words, with_tokens
from firsthand_evals.probe.relation import Things, relations, things_of
from firsthand_evals.probe.relevance import CALENDAR, others_of, relevant, wanted_of
from firsthand_evals.probe.statements import Statement, subject_of
from firsthand_evals.probe.values import Value, read, same

FACTS_MAX = 5_000
"""Statements of a source that are looked for."""
PREFIX_MIN = 5
"""Letters at their beginning by which two words are told to be of one family: object, objection."""
ALIKE_MIN, ALIKE_CHARACTERS_MAX = 0.5, 200
"""Likeness from which on an exact string of an agent stands for one of the source; characters that are compared."""
ANSWER_WORDS_MAX = 3
"""Words of an answer up to which it is nothing else."""
QUESTION_WORDS_MIN = 6
"""Words of a question from which on it holds facts, too, when nothing else does."""
RELATED_MIN, RELATED_MAX = 2, 400
"""Sentences that relate things to each other from which on it is a puzzle; those that are read, the last ones."""
SCENES_MAX = 100
"""Statements that say who or what there is, which a note may repeat and say nothing."""
GOING_ON_MAX = 16
"""Messages before one in which a user may have told what it goes on from."""
LISTENING_WORDS_MAX, LISTENING_CHARACTERS_MAX = 5, 40
"""Words and characters of a message that says no more than that its writer listens."""
_compiled = cache(re.compile)
_PART = r"[,;:]\s+(?:and\s+|but\s+)?(?!\S+ (?:being|having|who|which|whose)\b)"
_TAKEN_OFF = r"\b(?:minus|less|except|of whom|of which|who|left out of)\b"
_ANAPHORA = r"\b(?:it|that|this|instead)\b"
_GOES_ON = (
    r"\A\W*(?:and|also|besides|then|later(?: on)?|next|moreover|further(?:more)?|in addition|but|so|plus"
    r"|another thing|as for"
    r"|und|au\u00dferdem|dann|sp\u00e4ter|dazu|ferner|et|puis|ensuite|de plus|plus tard|y|adem\u00e1s|luego"
    r"|despu\u00e9s|e|poi|inoltre|dopo"
    r"|depois|al\u00e9m|ook|daarna|verder|potem|ponadto|\u0438|\u0430|\u043f\u043e\u0442\u043e\u043c"
    r"|\u0437\u0430\u0442\u0435\u043c|\u0435\u0449\u0451)\b"
    r"|\A\W*(?:\u305d\u308c\u304b\u3089|\u307e\u305f|\u3055\u3089\u306b|\u6b21\u306b|\u7136\u540e|\u53e6\u5916"
    r"|\u8fd8\u6709|\u63a5\u7740)"
    r"|\A\W*(?:he|she|they|it|this|these|those|er|sie|es|ihn|ihm|ihnen|il|elle|ils|elles|ella|ellos|lui|lei|loro|ele"
    r"|ela|eles"
    r"|hij|zij|ze|ona|oni|\u043e\u043d|\u043e\u043d\u0430|\u043e\u043d\u0438)\b"
)
"""How a message begins, or whom it speaks of, that goes on from an earlier one."""
_REQUEST = (
    r"\W*(?:please\b|(?:can|could|would|will) you\b|give me\b|tell me\b|show me\b|remind me\b|calculate\b|compute\b"
    r"|work out\b|look (?:at|up)\b|check\b|i(?:'d| would) like to know\b|i (?:need|want) to know\b|bitte\b)"
)
_IN_A_ROW = (
    r"[^\W\d_]+(?:(?:, (?:and |or )?(?:an? |the )?|,? (?:and|or|&|und|et|y|e) (?:an? "
    r"|the )?)[^\W\d_]+(?: [^\W\d_]+){0,2}){2,}"
)
_NAME = r"(?<![.!?]\s)(?<!\A)(?<!\n)\b[A-Z\u00c0-\u00de][^\W\d_]+"
ANY_NAME = r"\b[A-Z\u00c0-\u00de][^\W\d_]+"
ASKING = frozenset(
    (
        "much",
        "many",
        "far",
        "long",
        "until",
        "when",
        "who",
        "what",
        "which",
        "how",
        "total",
        "sum",
        "all",
        "please",
        "give",
        "tell",
        "say",
    )
) | subject_of(
    "qui\u00e9n qu\u00e9 cu\u00e1l cu\u00e1ndo d\u00f3nde cu\u00e1nto cu\u00e1nta cu\u00e1ntos wer wem wann wo"
    " welche welcher"
    " welches wie viel viele qui quel quelle quand combien chi quale quando dove quanto quanta quante quem qual onde"
    " wat"
    " wanneer waar hoeveel kto kiedy gdzie ile \u043a\u0442\u043e \u0447\u0442\u043e \u043a\u043e\u0433\u0434\u0430"
    " \u0433\u0434\u0435 \u0441\u043a\u043e\u043b\u044c\u043a\u043e \u043a\u0430\u043a\u043e\u0439"
)
SAYS_AGAIN = frozenset(("total", "conclusion", "confirmation", "claim"))


_NO_THINGS = Things(())


@value
class Source:
    """What a claim stands on.

    Attributes:
        facts: statements that are needed.
        rejected: what was considered and not chosen.
        told: words that only somebody uses who says something of it, and not who asks.
        answered: those of them that an agent's answers have.
        values: of the facts and of the agent's answers.
        answers: those of the agent's answers alone.
        exact: the exact string that the claim asks for, when an agent's answer is one.
        turns: those that speak of the claim, by its words.
        asked, asked_values: the claim's words and values.
        framing: words of an agent's answer that stand in the question, too.
        others: of each thing that was left out of a list, its words and values, and the claim's that tell it apart.
        is_yes_or_no: it asks whether something is so.
        names: words of the session that are written large within a sentence and nowhere small.
        common: words that several things have, so that they tell none of them.
        scenes: words of the statements that only say who or what there is.
        things: what they list, when sentences relate these to each other.
        said: an agent's answer.
        asks_who: it asks for a person or a thing.
        is_verbal: an agent answered with words, and with no value that was not asked with.
        is_whole: there were no more facts than are looked for.
    """

    facts: tuple[Statement, ...]
    rejected: tuple[Statement, ...]
    told: frozenset[str]
    answered: frozenset[str]
    values: tuple[Value, ...]
    answers: tuple[Value, ...]
    exact: Value | None
    turns: frozenset[int]
    asked: frozenset[str] = frozenset()
    asked_values: tuple[Value, ...] = ()
    framing: frozenset[str] = frozenset()
    others: tuple[tuple[frozenset[str], frozenset[str]], ...] = ()
    is_verbal: bool = False
    asks_who: bool = False
    is_yes_or_no: bool = False
    names: frozenset[str] = frozenset()
    common: frozenset[str] = frozenset()
    said: tuple[Statement, ...] = ()
    is_whole: bool = True
    scenes: tuple[frozenset[str], ...] = ()
    things: Things = _NO_THINGS


def source_of(said: Sequence[Statement], what: str, needs: Sequence[int], gone: Iterable[int]) -> Source:
    """Find what a claim stands on.

    Args:
        needs: places that are known to matter.
        gone: places of what no longer holds.
    """
    said = [with_tokens(one) for one in said]
    asked = subject_of(what) - ASKING
    by_turn, role = _turn_by_turn(said)
    spoken = _turns(said, by_turn, role, asked)
    turns = spoken | {said[place].turn for place in needs}
    left_out = set(gone)
    there = [place for turn in sorted(turns) for place in by_turn[turn] if place not in left_out]
    affirmed = [place for place in there if is_said(said[place]) and said[place].asserts != "claim"]
    rejected = tuple(said[place] for place in affirmed if not said[place].polarity and said[place].values)
    known = {place for place in needs if said[place].form not in {"header", "heading"}}
    everything_answered, answers = _answers(said, by_turn, role, turns)
    worked_out = any(found.kind not in {"word", "date"} for one in everything_answered for found in one.values)
    asked_in = (said[place] for place in there if said[place].form == "question")
    about = asked.union(*(one.subject for one in (*answers, *asked_in))) - ASKING
    chosen = sorted({*_needed(said, affirmed, role, read(what), only_values=worked_out, about=about), *known})
    listings = _listings(said, chosen)
    chosen = [at for at in chosen if at not in listings]
    facts = _without_corrected([part for place in chosen for part in parts_of(said[place])])
    wanted = wanted_of(what, ASKING, answers)
    everything = facts
    told_there = [part for at in affirmed if not _is_a_scene(said[at]) for part in parts_of(said[at])]
    facts, things = _with_related(relevant(facts, wanted), said, affirmed, told_there)
    questions = (said[place] for place in there if said[place].form == "question" and place not in chosen)
    asking = asked.union(ASKING, *(one.subject for one in questions))
    told = frozenset().union(*(one.subject for one in (*facts, *answers))) - asking
    values = tuple(found for one in (*facts, *answers) for found in one.values)
    about_asked = asked.union(*(said[place].subject for place in there if said[place].form == "question"))
    given = [found for one in answers for found in one.values]
    told_by = [one for one in answers if one.subject & (told | asked)]
    return Source(
        tuple(facts[:FACTS_MAX]),
        rejected,
        told,
        (told & frozenset().union(*(one.subject for one in answers))) or _answered(answers, asked),
        values,
        tuple(found for one in answers for found in one.values),
        _exact(facts, answers),
        frozenset(spoken),
        asked,
        read(what),
        frozenset().union(*(one.subject for one in told_by)) & (asking | about_asked),
        others_of(everything, facts, wanted),
        bool(told_by) and all(any(same(found, each) for each in read(what)) for found in given),
        _compiled(r"\b(?:who|whom|whose|which|name)\b").search(what.lower()) is not None,
        what.lower().startswith(("whether ", "if ", "is ", "are ", "did ", "does ", "do ", "can ", "was ", "has ")),
        _names(said),
        frozenset(word for word, number in Counter(w for one in everything for w in one.subject).items() if number > 1),
        tuple(answers),
        is_whole=len(facts) <= FACTS_MAX,
        things=things,
        scenes=tuple(said[at].subject for at in there if is_said(said[at]) and _is_a_scene(said[at]))[:SCENES_MAX],
    )


def _turn_by_turn(said: Sequence[Statement]) -> tuple[dict[int, list[int]], dict[int, str]]:
    """Give of each turn the places of its statements, and who speaks."""
    by_turn: dict[int, list[int]] = defaultdict(list)
    for place, one in enumerate(said):
        by_turn[one.turn].append(place)
    return by_turn, {turn: said[places[0]].role for turn, places in by_turn.items()}


def _with_related(
    facts: list[Statement], said: Sequence[Statement], places: Sequence[int], told: Sequence[Statement]
) -> tuple[list[Statement], Things]:
    """Add to facts all sentences that relate listed things, in the place of those that only list them."""
    things, related = _related(said, places, told)
    if not things.lists:
        return facts, things
    known = {one.text for one in facts}
    kept = [one for one in facts if not _is_a_scene(one)]
    return [*kept, *(one for one in related if one.text not in known)], things


def _related(
    said: Sequence[Statement], places: Sequence[int], told: Sequence[Statement]
) -> tuple[Things, list[Statement]]:
    """Give the things that are listed and the sentences that relate them; nothing where fewer than two do."""
    scenes = [said[at].text for at in places if _is_a_scene(said[at])][:SCENES_MAX]
    told = [one for one in told if one.form not in {"row", "question"}][-RELATED_MAX:]
    things = things_of(scenes, [one.text for one in told]) if scenes else _NO_THINGS
    related = [one for one in told if relations(one.text, things)]
    return (things, related) if len(related) >= RELATED_MIN else (_NO_THINGS, [])


def _answers(
    said: Sequence[Statement], by_turn: dict[int, list[int]], role: dict[int, str], turns: set[int]
) -> tuple[list[Statement], list[Statement]]:
    """Give what an agent said behind some turns, and of that what stands behind all of them."""
    asks = {one.turn for one in said if one.form == "question" and role[one.turn] not in {*TOOL_ROLES, *AGENT_ROLES}}
    asked_at = {turn for turn in asks if any(turn > other and _is_beside(role, turn, other) for other in turns)}
    answers = [said[place] for turn in _answering(role, turns | asked_at) for place in by_turn[turn]]
    last = max((turn for turn in turns | asked_at if role[turn] not in TOOL_ROLES), default=-1)
    return answers, [one for one in answers if one.turn > last] or answers


def _names(said: Sequence[Statement]) -> frozenset[str]:
    found = frozenset(name for one in said[-FACTS_MAX:] for name in names_in(one.text) if subject_of(name))
    small = frozenset(word for one in said[-FACTS_MAX:] for word in _compiled(r"\b[^\W\d_]+").findall(one.text))
    return frozenset(name for name in found if name.lower() not in small and name.lower() not in CALENDAR)


def _answered(answers: Sequence[Statement], asked: frozenset[str]) -> frozenset[str]:
    """Give the words of an agent's short answer that the claim has not."""
    words = frozenset().union(*(one.subject for one in answers)) - asked
    return words if len(words) <= ANSWER_WORDS_MAX and not any(one.values for one in answers) else frozenset()


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
    if not any(facts[turn] for turn in chosen):
        chosen |= {turn for turn in mine if facts[turn] and any(_is_beside(role, turn, other) for other in chosen)}
    for turn in sorted(mine):
        last = max((other for other in mine if other < turn and role[other] not in TOOL_ROLES), default=-1)
        if last in chosen and any(said[at].corrects and _compiled(_ANAPHORA).search(said[at].text.lower())
                                    for at in by_turn[turn]):  # fmt: skip
            chosen.add(turn)
    for turn in mine:
        facts[turn] = facts[turn] or [said[at] for at in by_turn[turn] if len(amounts_of(said[at], 0)) > 1]
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
    asking = {turn for turn in mine if any(turn > other and _is_beside(role, turn, other) for other in chosen)}
    if any(
        found.kind != "word"
        for turn in _answering(role, chosen | asking)
        for at in by_turn[turn]
        for found in said[at].values
    ):
        chosen |= {turn for turn in mine if facts[turn] and any(_is_beside(role, turn, other) for other in chosen)}
    named = frozenset().union(*(_named(one) for turn in chosen if role[turn] not in TOOL_ROLES for one in facts[turn]))
    chosen |= {
        turn for turn in mine if role[turn] not in TOOL_ROLES and any(_named(one) & named for one in facts[turn])
    }
    for turn in sorted(chosen):
        if role[turn] not in TOOL_ROLES:
            chosen |= set(_behind(role, turn, TOOL_ROLES))
    return chosen | _going_on(said, by_turn, role, chosen)


def _going_on(
    said: Sequence[Statement], by_turn: dict[int, list[int]], role: dict[int, str], chosen: set[int]
) -> set[int]:
    """Give the turns before and behind chosen ones, as far as an agent only says that it listens between them."""
    turns = sorted(turn for turn in role if role[turn] != "system")
    found: set[int] = set()
    for at, turn in enumerate(turns):
        if turn not in chosen:
            continue
        latest = turn
        for other in reversed(turns[max(0, at - GOING_ON_MAX) : at]):
            if role[other] in AGENT_ROLES:
                if not _only_listens(said, by_turn[other]):
                    break
            elif _goes_on_from(said, by_turn[latest], by_turn[other]):
                found.add(other)
                latest = other
            else:
                break
    for at, turn in enumerate(turns):
        if turn not in chosen:
            continue
        latest = turn
        for other in turns[at + 1 : at + 1 + GOING_ON_MAX]:
            if role[other] in AGENT_ROLES:
                if not _only_listens(said, by_turn[other]):
                    break
            elif any(_tells(said[each]) for each in by_turn[other]) and _goes_on_from(
                said, by_turn[other], by_turn[latest]
            ):
                found.add(other)
                latest = other
            else:
                break
    return {turn for turn in found if any(_tells(said[at]) for at in by_turn[turn])}


def _goes_on_from(said: Sequence[Statement], places: Sequence[int], before: Sequence[int]) -> bool:
    """Say whether a message goes on from an earlier one: it says so, speaks of "her" or "it", or has words of it."""
    opening = said[places[0]].text.lower()
    if _compiled(_GOES_ON).search(opening):
        return True
    words = frozenset().union(*(_named(said[at]) for at in places)) - unit_words()
    return any(words & _named(said[at]) for at in before)


def _only_listens(said: Sequence[Statement], places: Sequence[int]) -> bool:
    """Say whether an agent's message says nothing: no value, no name, few words."""
    text = " ".join(said[at].text for at in places)
    quiet = not any(said[at].values for at in places) and not names_in(text)
    return quiet and len(text.split()) <= LISTENING_WORDS_MAX and len(text) <= LISTENING_CHARACTERS_MAX


def _tells(one: Statement) -> bool:
    """Say whether a statement is one of facts: with values, or names."""
    return one.form != "question" and bool(one.values or names_in(one.text))


def _is_beside(role: dict[int, str], turn: int, other: int) -> bool:
    """Say whether no agent speaks between two turns."""
    low, high = sorted((turn, other))
    return not any(role.get(between) in AGENT_ROLES for between in range(low + 1, high))


def _named(one: Statement) -> frozenset[str]:
    """Give the words that say what the values of a statement are of."""
    return one.subject - subject_of(" ".join(found.text for found in one.values))


def _is_verbal(said: Sequence[Statement], places: Sequence[int]) -> bool:
    return any(said[at].form != "question" and names_in(said[at].text) for at in places)


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
    plain = [
        at for at in places
        if (said[at].form not in {"header", "heading"} or said[at].values)
        and (said[at].form != "question" or not said[at].values or amounts_of(said[at], 0))
        and (said[at].values or not _compiled(_REQUEST).match(said[at].text.lower()))
    ]  # fmt: skip
    stated = [at for at in plain if _states(said[at], asked)]
    quantities = [
        at for at in plain
        if said[at].polarity and said[at].form != "question" and _compiled(QUANTITY).search(said[at].text.lower())
    ]  # fmt: skip
    if stated and only_values:
        return sorted({*stated, *quantities})
    verbal = [at for at in plain if said[at].form != "question" and said[at].subject]
    verbal = verbal or [at for at in plain if len(said[at].subject) >= QUESTION_WORDS_MIN]
    tools = [at for at in verbal if role[said[at].turn] in TOOL_ROLES]
    verbal = tools or verbal
    named = [at for at in verbal if names_in(said[at].text)]
    known = Counter(name for at in verbal for name in set(_compiled(ANY_NAME).findall(said[at].text)))
    named += [at for at in verbal if at not in set(named) and any(
        known[name] > 1 for name in _compiled(ANY_NAME).findall(said[at].text))]  # fmt: skip
    named += [at for at in verbal if said[at].subject & about] if named or stated else []
    if stated:
        return sorted({*stated, *quantities, *named})
    return sorted(set(named)) or [at for at in verbal if len(said[at].subject) > 1]


def _states(one: Statement, asked: Sequence[Value]) -> bool:
    """Say whether a statement holds a value; a question one that it does not ask with."""
    if not (one.polarity or _compiled(_TAKEN_OFF).search(one.text.lower())):
        return False
    if one.form != "question":
        return bool(one.values)
    return bool(amounts_of(one, 0)) and any(not any(same(found, each) for each in asked) for found in one.values)


def parts_of(one: Statement) -> list[Statement]:
    """Cut a sentence where each part names somebody: "Tim is older than Jo, Jo is older than Max"."""
    if len(one.cells) > 1 or one.form in {"row", "header"} or len(one.values) > 1:
        return [one]
    cuts = [0, *(match.end() for match in _compiled(_PART).finditer(one.text)), len(one.text)]
    parts = [(low, high) for low, high in pairwise(cuts) if high > low]
    if len(parts) > 1 and one.text[slice(*parts[0])].rstrip().endswith(":"):
        parts = parts[1:]  # what names a list is no part of it
    texts = [one.text[low:high] for low, high in parts]
    telling = all(_compiled(ANY_NAME).search(text) and len(subject_of(text)) > 1 for text in texts)
    if len(parts) < 2 or not telling:
        return [one]
    return [
        replace(
            one, text=text, start=one.start + low, end=one.start + high, cells=(),
            values=tuple(found for found in one.values if one.start + low <= found.start < one.start + high),
        )
        for text, (low, high) in zip(texts, parts, strict=True)
    ]  # fmt: skip


def _listings(said: Sequence[Statement], places: Sequence[int]) -> set[int]:
    """Give the places of sentences that only say who there is: three names or more, each of which another one has."""
    names = {at: set(_compiled(ANY_NAME).findall(said[at].text)) for at in places if not said[at].values}
    there = Counter(name for some in names.values() for name in some)
    return {
        at for at, some in names.items()
        if len(some) > 2 and len(said[at].subject) <= len(some) + 2 and all(there[name] > 1 for name in some)
    }  # fmt: skip


def _is_a_scene(one: Statement) -> bool:
    """Say whether a statement says who or what there is: three things or more in a row, and no value but how many."""
    return not amounts_of(one, 0) and _compiled(_IN_A_ROW).search(one.text) is not None


def names_in(text: str) -> list[str]:
    """Give the words that are written large, but for the first of a sentence."""
    return _compiled(_NAME).findall(text)


def _without_corrected(facts: list[Statement]) -> list[Statement]:
    """Leave out what a later statement corrects: the nearest one before it of the same kinds and with a common word."""
    kept: list[Statement] = []
    for one in facts:
        if one.corrects and not one.values:
            kept = [each for each in kept if each.turn == one.turn or not _is_corrected(each, one)]
        if one.corrects and one.values:
            kinds = {found.kind for found in one.values}
            for place in range(len(kept) - 1, -1, -1):
                if {found.kind for found in kept[place].values} >= kinds and kept[place].subject & one.subject:
                    if _told_of(kept[place]) == _told_of(one):
                        del kept[place]
                    break
                if (
                    {found.kind for found in kept[place].values} == kinds
                    and kept[place].turn < one.turn
                    and (_compiled(_ANAPHORA).search(one.text.lower()))
                ):
                    del kept[place]
                    break
        kept.append(one)
    return kept


def _told_of(one: Statement) -> int:
    """Count the values of a statement, a weekday beside its date not among them."""
    dated = any(found.kind == "date" and not found.unit for found in one.values)
    return sum(not (dated and found.unit == "weekday") for found in one.values)


def _is_corrected(one: Statement, later: Statement) -> bool:
    """Say whether a later sentence says anew where or who something is: they name it alike, and somebody else."""
    names = set(names_in(later.text)) - set(names_in(one.text))
    return bool(one.subject & later.subject) and bool(names) and bool(names_in(one.text))


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
