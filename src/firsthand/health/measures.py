"""PC, SRR, ATR and what belongs with them: the formulas, and an agent's memory measured by them (recall-problem 8.2).

| measure | question | definition |
|---|---|---|
| PC | is what was written there to be found? | episodes indexed and retrievable / episodes written |
| SRR | does an episode's own name find it? | found among the first 3 hits of an answer that would be shown / tested |
| ATR | what do the newest k names cover? | min(k, n) / n |
| effective ATR | do the cues for a message about it name it? | named / tested |
| SFR | are losses noticed? | canaries lost without a word / canaries sent |
| contradiction | does an old value pass for the current one? | keys whose old value stands above / keys with both |

The invariant: a measure is taken by doing what the agent's own memory does (a recall,
a choice of cues, a read of the bytes), never by asking a part whether it is well.

It knows no thresholds: what a figure means is said in `doctor`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from firsthand.agent_space import AgentSpace
from firsthand.agents.cues import cues_of
from firsthand.agents.episode import Episode
from firsthand.agents.episode_list import episodes
from firsthand.agents.episode_names import aliases
from firsthand.agents.settings import Settings
from firsthand.answer import Answer, Query, Scope
from firsthand.errors import PointerError, StoreDamaged
from firsthand.event import Event, Kind
from firsthand.health.report import AgentHealth, Rate
from firsthand.health.rows import lacking
from firsthand.ledger.effect import Effect
from firsthand.ledger.ledger_recall import recall
from firsthand.value import value

WINDOW_NAMES = 10
"""k of the paper: file names that its ambient context showed with every message."""
SAMPLE_MAX = 10
"""Episodes tested of each agent, as in the paper (8.4)."""
HITS_MAX = 3
SHOWN_FROM = Settings().band
VERSIONS_MAX = 500
KEYS_MAX = 20
MESSAGE_CHARACTERS_MAX = 600
_NOT_SEEN = ("written", "indexed", "retrievable")
_DATED = re.compile(r"\A\d{4}-\d\d-\d\d-?")


def pipeline_coverage(indexed: int, written: int) -> Rate:
    """Give PC: episodes that are indexed and retrievable, of those written."""
    return Rate(indexed, written)


def semantic_recall_rate(hits: int, tested: int) -> Rate:
    """Give SRR: episodes retrieved by their own topic, of those tested."""
    return Rate(hits, tested)


def ambient_trigger_rate(episodes: int, window: int = WINDOW_NAMES) -> Rate:
    """Give ATR of a window of the newest names: ``min(k, n) / n``."""
    return Rate(min(window, episodes), episodes)


def silent_failure_rate(lost: int, noticed: int, sent: int) -> Rate:
    """Give SFR: canaries lost of which nobody was told, of those sent."""
    return Rate(lost - noticed, sent)


@value
class _Missing:
    """A rate, and the names that are not in it."""

    rate: Rate
    names: tuple[str, ...] = ()


def question(name: str) -> str:
    """Make the question of SRR from an episode's name: without date and extension, its joints as spaces."""
    stem = _DATED.sub("", name.removesuffix(".md"))
    return re.sub(r"[-_]+", " ", stem).strip() or name


def sample(episodes: Sequence[Episode], most: int | None) -> list[Episode]:
    """Choose episodes from all along the time, oldest and newest among them; the same ones each time."""
    if most is None or len(episodes) <= most:
        return list(episodes)
    step = (len(episodes) - 1) / (most - 1) if most > 1 else 0.0
    return [episodes[round(number * step)] for number in range(most)]


def measure(
    agent: AgentSpace, *, sample_max: int | None = SAMPLE_MAX, messages: Mapping[str, str] | None = None
) -> AgentHealth:
    """Measure an agent's memory.

    Args:
        sample_max: episodes tested for SRR and effective ATR; None tests all.
        messages: a message about each session's episode, for effective ATR; of a session that is not named it is
            the first that its user wrote.

    Raises:
        StoreError: the log cannot be read.
    """
    effect = Effect(agent.space)
    written = tuple(episode for episode in episodes(agent) if not effect.is_out(episode.pointer))
    tested = sample(written, sample_max)
    coverage, recall = _coverage(agent, written), _recall(agent, tested)
    return AgentHealth(
        agent.name, len(written), coverage.rate, recall.rate, ambient_trigger_rate(len(written)),
        _effective(agent, tested, messages or {}), _contradiction(agent),
        tuple(tuple(group) for group in aliases([episode.name for episode in written])),
        tuple(dict.fromkeys(coverage.names + recall.names)),
    )  # fmt: skip


def _coverage(agent: AgentSpace, listed: Sequence[Episode]) -> _Missing:
    """Compare what was written with what the index holds and the log gives back."""
    space = agent.space
    events: dict[str, Event | None] = {episode.name: _read(agent, episode) for episode in listed}
    gone = lacking(space, [event.position for event in events.values() if event is not None])
    there = {name for name, event in events.items() if event is not None and event.position not in gone}
    written = set(events)
    return _Missing(pipeline_coverage(len(there), len(written)), tuple(sorted(written - there)))


def _read(agent: AgentSpace, episode: Episode) -> Event | None:
    """Read an episode's event and its bytes; None when they do not come back."""
    try:
        event = agent.space.event(episode.pointer)
        agent.space.expand(episode.pointer)
    except (PointerError, StoreDamaged):
        return None
    return event


def _recall(agent: AgentSpace, tested: Sequence[Episode]) -> _Missing:
    scope = agent.scope()
    missed = [episode.name for episode in tested if not _finds(agent, episode, scope)]
    return _Missing(semantic_recall_rate(len(tested) - len(missed), len(tested)), tuple(missed))


def _finds(agent: AgentSpace, episode: Episode, scope: Scope) -> bool:
    """Say whether an episode's name finds it, or the session that it is the record of, among the first that pass."""
    answer = recall(agent.space, Query(question(episode.name), scope, hits_max=HITS_MAX))
    return passes(answer) and any(
        hit.pointer == str(episode.pointer) or hit.session == episode.session for hit in answer.hits
    )


def passes(answer: Answer) -> bool:
    """Say whether an answer is likely enough to be shown unasked."""
    return bool(answer.hits) and answer.band.reaches(SHOWN_FROM)


def _effective(agent: AgentSpace, tested: Sequence[Episode], messages: Mapping[str, str]) -> Rate:
    """Count the episodes whose name is among the cues for a message about them."""
    named = 0
    for episode in tested:
        cues = cues_of(agent, messages.get(episode.session) or _message(agent, episode))
        named += episode.name in cues.names
    return Rate(named, len(tested))


def _message(agent: AgentSpace, episode: Episode) -> str:
    """Give the words that a session of an episode began with; its topic where there is no such message."""
    asked = next(agent.space.events(episode.session, kind=Kind.USER_MESSAGE, limit=1), None)
    return (asked.text[:MESSAGE_CHARACTERS_MAX] if asked is not None else "") or episode.topic


def _contradiction(agent: AgentSpace) -> Rate:
    """Ask for each file of the agent's that has older versions; count those where one stands above the newest."""
    versions: dict[str, list[Event]] = {}
    for event in agent.own(Kind.NOTE, newest_first=True, limit=VERSIONS_MAX):
        key = event.meta.get("file")
        if isinstance(key, str) and not event.erased:
            versions.setdefault(key, []).append(event)
    keys = [key for key, events in versions.items() if len(events) > 1][:KEYS_MAX]
    wrong = sum(_older_first(agent, key, versions[key]) for key in keys)
    return Rate(wrong, len(keys))


def _older_first(agent: AgentSpace, key: str, newest_first: Sequence[Event]) -> bool:
    """Say whether a superseded version of a file is recalled above its current one."""
    text = f"{question(Path(key).stem)} {newest_first[0].text[:MESSAGE_CHARACTERS_MAX]}"
    answer = recall(agent.space, Query(text, Scope((agent.session,)), hits_max=HITS_MAX))
    known = {f"fh:{version.id}": number for number, version in enumerate(newest_first)}
    ranks = [known[hit.pointer] for hit in answer.hits if hit.pointer in known]
    return bool(ranks) and ranks[0] > 0


def unverified(agent: AgentSpace) -> list[str]:
    """Name the episodes that were not found by their own topic after they were written (recall-problem 9.2)."""
    return [episode.name for episode in episodes(agent) if not episode.verified and episode.stage in _NOT_SEEN]
