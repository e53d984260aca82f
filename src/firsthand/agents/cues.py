"""Cues: names of episodes, knowledge and entities, shown to remind and not to inform (recall-problem 6.1, 11.5).

    Episodes (3 of 72): 2026-03-15-cold-start-bootstrap, ...; Knowledge: retry-policy

A window of the newest names covers k of n episodes, ever less of a growing memory (8.5). So most of the room goes to
names that share words with the message, weighed by how few names share them, and a part of it to the newest names
whatever they say. Words are cut and stemmed as the index does it.

The invariant: at most the tokens asked for, by the counter given; the same arguments give the same line. No index is
read and no network asked: what is broken behind it cannot break it (6.3). A handle reads the event of each name once,
until something is erased; what it gives is what reading them all gives.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import chain, islice
from math import log

from firsthand.agent_space import AgentSpace
from firsthand.agents import files, validity
from firsthand.agents.episode_names import topic_of
from firsthand.errors import InvalidArgument
from firsthand.event import Event, Kind
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
TRIED_MAX = 24
"""Names that are tried for room in the line, the best first."""
NAMES_MAX = 5_000
"""The newest ones; older ones are found by recall."""
NAME_CHARACTERS_MAX, ABOUT_CHARACTERS_MAX = 120, 300
RECENT_EACH = 3
"""One name in so many is chosen because it is new, when others are chosen because they match."""
EPISODES = "Episodes"
GROUPS = {files.KNOWLEDGE: "Knowledge", files.ENTITIES: "Entities"}

Cut = Callable[[str], Collection[str]]


@value
class Named:
    """A name that can remind.

    Attributes:
        name: as it is shown, and as it can be asked for.
        group: what it names, as the line's label: ``Episodes``.
        words: of the name and of how a file begins, as `words_of` gives them.
        pointer: of the event that gave it; ``position``: where that stands in the log.
    """

    name: str
    group: str
    words: frozenset[str] = frozenset()
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
    funnel, asked = validity.funnel(agent.space), words_of(text, agent.space.stemmer())
    names = names_of(agent)
    while True:
        chosen = cues(names, asked, tokens_max=tokens_max)
        pieces = [Piece("", (name.pointer,), title=name.name) for name in names if name.name in chosen.names]
        through = {piece.pointers[0] for piece in funnel.passed(pieces)}
        out = {piece.pointers[0] for piece in pieces} - through
        if not out:
            break
        names = tuple(name for name in names if name.pointer not in out)
    if not chosen.matched and estimate(text) < TELLING_TOKENS_MIN:
        return Cues(of=chosen.of)
    return replace(chosen, text=funnel.written(pieces, lambda _: chosen.text))


def words_of(text: str, cut: Cut) -> tuple[str, ...]:
    """Give the words of a text that can find a name, each once; numbers without leading zeros."""
    plain = " ".join(word for word in text.split() if word.casefold().strip(".,;:!?()'\"") not in STOP_WORDS)
    words = (word.lstrip("0") or word for word in (*cut(plain), *spaceless_pairs(text)))
    distinct = [word for word in dict.fromkeys(words) if len(word) > 1 or word.isdigit() or not word.isascii()]
    half = TERMS_MAX // 2
    return tuple(distinct if len(distinct) <= TERMS_MAX else (*distinct[:half], *distinct[-half:]))


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
    wanted = frozenset(asked)
    shared = {at: name.words & wanted for at, name in enumerate(names) if not name.words.isdisjoint(wanted)}
    holders = Counter(chain.from_iterable(shared.values()))
    scores = {at: sum(log(1 + len(names) / holders[word]) for word in sorted(words)) for at, words in shared.items()}
    sizes = Counter(name.group for name in names)
    chosen: list[Named] = []
    text, matched = "", 0
    for at in islice(_in_turn(scores, len(names)), TRIED_MAX):
        longer = _text([*chosen, names[at]], sizes)
        if count(longer) <= tokens_max:  # else a shorter name may have room
            chosen.append(names[at])
            text, matched = longer, matched + (at in scores)
    return Cues(tuple(name.name for name in chosen), text, matched, len(names))


def _in_turn(scores: Mapping[int, float], total: int) -> Iterator[int]:
    """Yield the names by how well they match, each few of them the newest that was not yet, then the other newest."""
    best, newest = iter(sorted(scores, key=lambda at: (-scores[at], at))), iter(range(total))
    taken: set[int] = set()
    for number in range(1, total + 1):
        sources = (newest, best) if number % RECENT_EACH == 0 else (best, newest)
        at = next(at for source in sources for at in source if at not in taken)
        taken.add(at)
        yield at


def _text(chosen: Sequence[Named], sizes: Mapping[str, int]) -> str:
    """Write the line: by group, in the order in which their first names were chosen."""
    groups: dict[str, list[str]] = {}
    for name in chosen:
        clean = shown(" ".join(name.name.split()))
        cut = clean if len(clean) <= NAME_CHARACTERS_MAX else f"{clean[: NAME_CHARACTERS_MAX - 3]}..."
        groups.setdefault(name.group, []).append(cut)
    parts = []
    for group, members in groups.items():
        of = f" ({len(members)} of {sizes[group]:,})" if len(members) < sizes[group] else ""
        parts.append(f"{group}{of}: {', '.join(members)}")
    return "; ".join(parts)


# the names of an agent -------------------------------------------------------------------------------------


def names_of(agent: AgentSpace) -> tuple[Named, ...]:
    """Give the names of an agent's episodes, knowledge and entities, the newest first."""
    space = agent.space
    key, head = ("names", agent.name), space.log.reader.head(space.namespace)[0]
    cut = space.stemmer()
    known: dict[str, Named]
    through, known = space.read_once.get(key, (0, {}))
    if any(space.events(kind=Kind.ERASURE, after=through, limit=1)):
        through, known = 0, {}
    if through < head:
        known = dict(known)  # another thread may be at the one before
        for kind in (Kind.EPISODE, Kind.NOTE):
            for event in space.events(agent.session, kind=kind, after=through, before=head + 1):
                _add(known, event, cut)
        space.read_once[key] = (head, known)
    newest, effect = sorted(known.values(), key=lambda name: -name.position)[:NAMES_MAX], Effect(space)
    return tuple(_standing(name, effect, cut) for name in newest)


def _standing(name: Named, effect: Effect, cut: Cut) -> Named:
    """Give a name without words that are known from what the ledger takes out."""
    stands = effect.name(name.pointer, name.name) if name.group == EPISODES else name.name
    return name if stands == name.name else replace(name, name=stands, words=frozenset(words_of(topic_of(stands), cut)))


def _add(names: dict[str, Named], event: Event, cut: Cut) -> None:
    """Take an event in: the newest version of a session's episode and of a file is the one that counts."""
    name, session, file = event.meta.get("name"), event.meta.get("session"), event.meta.get(FILE)
    if event.kind is Kind.EPISODE and isinstance(name, str) and isinstance(session, str):
        words = frozenset(words_of(topic_of(name), cut))
        names[f"session {session}"] = Named(name, EPISODES, words, event.pointer, event.position)
    elif event.kind is Kind.NOTE and isinstance(file, str) and files.is_followed(file):
        group = GROUPS.get(file.partition("/")[0], "")
        names.pop(f"file {file}", None)
        if group and not event.erased and event.meta.get(files.DELETED) is not True:
            stem = files.stem_of(file)
            words = frozenset(words_of(f"{stem} {event.text[:ABOUT_CHARACTERS_MAX]}", cut))
            names[f"file {file}"] = Named(stem, group, words, event.pointer, event.position)
