"""Cues: names of episodes, knowledge and entities, shown to remind and not to inform (recall-problem 6.1, 11.5).

    Episodes (3 of 72): 2026-03-15-cold-start-bootstrap, ...; Knowledge: retry-policy

A window of the newest names covers k of n episodes, ever less of a growing memory (8.5). So most of the room goes to
names that share words with the message, weighed by how few names share them, and a part of it to the newest names
whatever they say. Words are cut and stemmed as the index does it.

The invariant: at most the tokens asked for, by the counter given; at least one name when any name fits; the same
arguments give the same line. No index is read and no network asked: what is broken behind it cannot break it (6.3).
A handle reads the event of each name once, until something is erased; what it gives is what reading them all gives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from math import log

from firsthand.agent_space import AgentSpace
from firsthand.agents import files, validity
from firsthand.agents.episode_names import topic_of
from firsthand.errors import InvalidArgument
from firsthand.event import Event, Kind, texts
from firsthand.index.tokenizer import stems
from firsthand.index.words import spaceless_pairs
from firsthand.ledger.effect import Effect
from firsthand.notes.sources import FILE
from firsthand.printable import shown
from firsthand.recall.stop_words import STOP_WORDS
from firsthand.tokens import TokenCounter, estimate
from firsthand.unasked.volunteer import Piece
from firsthand.value import replace, value
from firsthand.window import BUDGET_TOKENS_MAX

TOKENS_MAX = 80
TELLING_TOKENS_MIN = 5
TERMS_MAX = 64
"""Words of a message that are looked for: the first and the last ones."""
CHOSEN_MAX, TRIED_MAX = 32, 24
"""Names in one line, whatever its budget, and names that are tried for room in it, the best first."""
NAMES_MAX = 5_000
"""The newest ones; older ones are found by recall."""
NAME_CHARACTERS_MAX, ABOUT_CHARACTERS_MAX = 120, 300
RECENT_EACH = 3
"""One name in so many is chosen because it is new, when others are chosen because they match."""
ABOUT_WEIGHT = 0.6
"""A word in what a name is about, beside one in the name itself."""
RECENCY_WEIGHT = 0.15
"""How much more the newest name counts than an old one that matches as well."""
HOLDERS_SHARE, HOLDERS_MIN = 0.1, 50
"""A word that more of the names have than this share, and this number, tells nothing apart."""
EPISODES = "Episodes"
GROUPS = {files.KNOWLEDGE: "Knowledge", files.ENTITIES: "Entities"}

Cut = Callable[[str], Collection[str]]


@value
class Named:
    """A name that can remind.

    Attributes:
        name: as it is shown, and as it can be asked for.
        group: what it names, as the line's label: ``Episodes``.
        words: of the name, as `words_of` gives them; ``about``: further words of what it names, which are not shown.
        pointer: of the event that gave it; ``position``: where that stands in the log.
    """

    name: str
    group: str
    words: frozenset[str] = frozenset()
    about: frozenset[str] = frozenset()
    pointer: str = ""
    position: int = 0


@value
class Cues:
    """The names chosen for a message.

    Attributes:
        names: the best first.
        text: the line that shows them; empty when there are none.
        matched: how many of the names were chosen since they share words with the message.
        of: how many names there were to choose from.
    """

    names: tuple[str, ...] = ()
    text: str = ""
    matched: int = 0
    of: int = 0


def cues_of(agent: AgentSpace, text: str, *, tokens_max: int = TOKENS_MAX) -> Cues:
    """Choose the names that are shown with a message: episodes, knowledge and entities of the agent.

    A message of a word or two that shares none with a name brings up none.
    """
    asked = words_of(text, stems(agent.space.log.reader.db))
    funnel = validity.funnel(agent.space)
    known = {name.name: name for name in reversed(names_of(agent))}
    while True:
        chosen = cues([*reversed(known.values())], asked, tokens_max=tokens_max)
        pieces = [Piece("", (known[name].pointer,), title=name, name=name) for name in chosen.names]
        through = {piece.pointers for piece in funnel.passed(pieces)}
        out = [piece.title for piece in pieces if piece.pointers not in through]
        if not out and not chosen.matched and estimate(text) < TELLING_TOKENS_MIN:
            return Cues(of=chosen.of)
        if not out:
            return replace(chosen, text=funnel.written(pieces, partial(_same_text, chosen.text)).text)
        for name in out:
            del known[name]


def _same_text(text: str, _: Sequence[Piece]) -> str:
    return text


def words_of(text: str, cut: Cut) -> tuple[str, ...]:
    """Give the words of a text that can find a name, each once; numbers without leading zeros."""
    plain = " ".join(word for word in text.split() if word.casefold().strip(".,;:!?()'\"") not in STOP_WORDS)
    words = (word.lstrip("0") or word for word in (*cut(plain), *spaceless_pairs(text)))
    distinct = [word for word in dict.fromkeys(words) if len(word) > 1 or word.isdigit() or not word.isascii()]
    return tuple(
        distinct if len(distinct) <= TERMS_MAX else (*distinct[: TERMS_MAX // 2], *distinct[-TERMS_MAX // 2 :])
    )


def cues(
    names: Sequence[Named], asked: Collection[str], *, tokens_max: int = TOKENS_MAX, count: TokenCounter = estimate
) -> Cues:
    """Choose the names to show with a message.

    Args:
        names: the newest first.
        asked: words of the message, as `words_of` gives them.
        tokens_max: of the line.

    Raises:
        InvalidArgument: ``tokens_max`` is no number of tokens.
    """
    if isinstance(tokens_max, bool) or not isinstance(tokens_max, int) or not 1 <= tokens_max <= BUDGET_TOKENS_MAX:
        raise InvalidArgument(f"tokens_max is a whole number from 1 to {BUDGET_TOKENS_MAX:,}; got {tokens_max!r}")
    scores = relevances(names, asked)
    sizes = Counter(name.group for name in names)
    chosen: list[Named] = []
    text, matched = "", 0
    for at in islice(_in_turn(scores, len(names)), TRIED_MAX):
        longer = _text([*chosen, names[at]], sizes)
        if count(longer) <= tokens_max:  # else a shorter name may have room
            chosen.append(names[at])
            text, matched = longer, matched + (at in scores)
        if len(chosen) == CHOSEN_MAX:
            break
    return Cues(tuple(name.name for name in chosen), text, matched, len(names))


def relevances(names: Sequence[Named], asked: Collection[str]) -> dict[int, float]:
    """Say how far each name that shares words with a message is what the message is about; the others are left out."""
    total = len(names)
    wanted = frozenset(asked)
    weights: dict[str, dict[int, float]] = {}
    for at, name in enumerate(names):
        for word in name.about & wanted:
            weights.setdefault(word, {})[at] = ABOUT_WEIGHT
        for word in name.words & wanted:
            weights.setdefault(word, {})[at] = 1.0
    scores: dict[int, float] = {}
    for word in dict.fromkeys(asked):
        holders = weights.get(word, {})
        if not holders or len(holders) > max(HOLDERS_MIN, int(total * HOLDERS_SHARE)):
            continue
        rare = log(1.0 + (total - len(holders) + 0.5) / (len(holders) + 0.5))
        for at, weight in holders.items():
            scores[at] = scores.get(at, 0.0) + rare * weight
    return {at: score * (1.0 + RECENCY_WEIGHT / (1.0 + at / 10)) for at, score in scores.items()}


def _in_turn(scores: dict[int, float], total: int) -> Iterator[int]:
    """Yield the names by relevance, each few of them the newest one that was not yet."""
    newest = iter(range(total))
    taken: set[int] = set()
    for number, at in enumerate(sorted(scores, key=lambda at: (-scores[at], at)), 1):
        if at not in taken:
            taken.add(at)
            yield at
        if number % RECENT_EACH == RECENT_EACH - 1:
            recent = next((number for number in newest if number not in taken), None)
            if recent is not None:
                taken.add(recent)
                yield recent
    yield from (at for at in newest if at not in taken)


def _text(chosen: Sequence[Named], sizes: Mapping[str, int]) -> str:
    """Write the line: by group, in the order in which their first names were chosen."""
    groups: dict[str, list[str]] = {}
    for name in chosen:
        groups.setdefault(name.group, []).append(_shown(name.name))
    parts = []
    for group, members in groups.items():
        of = f" ({len(members)} of {sizes[group]:,})" if len(members) < sizes[group] else ""
        parts.append(f"{group}{of}: {', '.join(members)}")
    return "; ".join(parts)


def _shown(name: str) -> str:
    clean = shown(" ".join(name.split()))
    return clean if len(clean) <= NAME_CHARACTERS_MAX else f"{clean[: NAME_CHARACTERS_MAX - 3]}..."


# the names of an agent -------------------------------------------------------------------------------------


def names_of(agent: AgentSpace) -> tuple[Named, ...]:
    """Give the names of an agent's episodes, knowledge and entities, the newest first."""
    space = agent.space
    key, head = ("names", agent.name), space.log.reader.head(space.namespace)[0]
    through, known = space.read_once.get(key, (0, {}))
    if any(space.events(kind=Kind.ERASURE, after=through, limit=1)):
        through, known = 0, {}
    if through < head:
        known = dict(known)  # another thread may be at the one before
        cut = stems(space.log.reader.db)
        for kind in (Kind.EPISODE, Kind.NOTE):
            _add(known, space.events(agent.session, kind=kind, after=through, before=head + 1), cut)
        space.read_once[key] = (head, known)
    newest, effect = sorted(known.values(), key=lambda name: -name.position)[:NAMES_MAX], Effect(space)
    return tuple(_standing(name, effect, stems(space.log.reader.db)) for name in newest)


def _standing(name: Named, effect: Effect, cut: Cut) -> Named:
    """Give a name without words that are known from what the ledger takes out, nor about them."""
    stands = effect.name(name.pointer, name.name) if name.group == EPISODES else name.name
    words = frozenset(words_of(topic_of(stands), cut)) if stands != name.name else frozenset()
    return name if stands == name.name else replace(name, name=stands, words=words, about=frozenset())


def _add(names: dict[str, Named], events: Iterable[Event], cut: Cut) -> None:
    """Take events in: the newest version of a session's episode and of a file is the one that counts."""
    for event in events:
        meta = event.meta
        name, session, file = meta.get("name"), meta.get("session"), meta.get(FILE)
        if event.kind is Kind.EPISODE and isinstance(name, str) and isinstance(session, str):
            named = _named(name, EPISODES, topic_of(name), " ".join(texts(meta.get("terms"))), event, cut)
            names[f"session {session}"] = named
        elif event.kind is Kind.NOTE and isinstance(file, str) and files.is_followed(file):
            group = GROUPS.get(file.partition("/")[0], "")
            names.pop(f"file {file}", None)
            if group and not event.erased and meta.get(files.DELETED) is not True:
                stem = files.stem_of(file)
                names[f"file {file}"] = _named(stem, group, stem, event.text, event, cut)


def _named(name: str, group: str, words: str, about: str, event: Event, cut: Cut) -> Named:
    in_name, beside = (frozenset(words_of(text, cut)) for text in (words, about[:ABOUT_CHARACTERS_MAX]))
    return Named(name, group, in_name, beside, event.pointer, event.position)
