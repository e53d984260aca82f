"""PC, SRR, ATR and what belongs with them: an agent's memory measured by using it (recall-problem 8.2).

| measure | question | definition |
|---|---|---|
| PC | is what was written there to be found? | episodes indexed and retrievable / episodes written |
| SRR | does an episode's own name find it? | found among the first 3 hits of an answer that would be shown / tested |
| ATR | what do the newest k names cover? | min(k, n) / n |
| effective ATR | do the cues for a message about it name it? | named / tested |
| SFR | are losses noticed? | canaries lost without a word / canaries sent (`canary.silent`) |
| contradiction | does an old value pass for the current one? | keys whose old value stands above / keys with both |

The invariant: a measure is taken by doing what the agent's own memory does (a recall,
a choice of cues, a read of the bytes), never by asking a part whether it is well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from firsthand.agent_space import AgentSpace
from firsthand.agents.cues import cues_of
from firsthand.agents.episode import Episode, episodes
from firsthand.agents.episode_names import aliases
from firsthand.agents.settings import Settings
from firsthand.answer import Answer, Query, Scope
from firsthand.errors import PointerError, StoreDamaged
from firsthand.event import Event, Kind
from firsthand.health.report import AgentHealth, Finding, Rate, Stage, broken, degraded, note
from firsthand.health.stages import Inside
from firsthand.index.check import lacking
from firsthand.ledger.effect import Effect
from firsthand.ledger.ledger_recall import recall

WINDOW_NAMES = 10
"""k of the paper: file names that its ambient context showed with every message."""
SAMPLE_MAX = 10
"""Episodes tested of each agent, as in the paper (8.4)."""
HITS_MAX = 3
SHOWN_FROM = Settings().band
VERSIONS_MAX, KEYS_MAX = 500, 20
MESSAGE_CHARACTERS_MAX = 600
ENOUGH_EPISODES = 3
LOW = 0.5
"""Of SRR and effective ATR: below it a name is more often missed than found."""
_NOT_SEEN = ("written", "indexed", "retrievable")


def findings(seen: Inside, measured: list[AgentHealth]) -> Iterator[Finding]:
    """Measure the agents, as many as the time allows, and say what it means; the measures go to the list."""
    for agent in seen.agents():
        measured.append(measure(agent, sample_max=None if seen.look.deep else SAMPLE_MAX))
        yield from of_agent(measured[-1], unverified(agent))
    left = len(seen.names) - len(measured)
    if left:
        what = f"{left:,} of {len(seen.names):,} agents were not measured"
        yield note(Stage.EPISODES, what, "firsthand doctor --deep, or --agent NAME")


def of_agent(health: AgentHealth, lost: Sequence[str] = ()) -> Iterator[Finding]:
    """Say what the measures of an agent mean.

    Args:
        lost: episodes that were not found again after they were written.
    """
    who, missed = health.agent, _some(health.missed)
    if health.coverage.hits < health.coverage.of:
        what = f"PC {health.coverage}: episodes were written that nobody can find: {missed}"
        finding = degraded if health.coverage.hits else broken
        yield finding(Stage.EPISODES, what, "firsthand store rebuild; firsthand agent close --all", who)
    elif _is_low(health.recall):
        what = f"SRR {health.recall}: episodes are not found by their own names: {missed}"
        mend = "name episodes by what they are about, so that their names tell them apart: firsthand agent close"
        yield degraded(Stage.RECALL, what, mend, who)
    if _is_low(health.effective):
        what = f"effective ATR {health.effective}: the cues of a message seldom name the episode it is about"
        yield degraded(Stage.SHOWN, what, "firsthand agent cues TEXT shows what is chosen", who)
    if health.contradiction.hits:
        what = f"{health.contradiction} of its files are recalled in an older version first"
        yield degraded(Stage.RECALL, what, "firsthand store rebuild", who)
    if lost:
        what = f"{len(lost):,} episodes were written and not found again: {_some(lost)}"
        yield degraded(Stage.EPISODES, what, "firsthand agent close SESSION tries again", who)
    if health.aliases:
        alike = " = ".join(health.aliases[0][:3])
        what = f"{len(health.aliases):,} groups of names are too alike (temporal aliasing): {alike}"
        yield note(Stage.EPISODES, what, "name what tells the sessions apart in their first message", who)


def _is_low(rate: Rate) -> bool:
    return rate.of >= ENOUGH_EPISODES and rate.hits < LOW * rate.of


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (" ..." if len(names) > 3 else "")


def ambient_trigger_rate(written: int, window: int = WINDOW_NAMES) -> Rate:
    """Give ATR of a window of the newest names: ``min(k, n) / n``."""
    return Rate(min(window, written), written)


def measure(agent: AgentSpace, *, sample_max: int | None = SAMPLE_MAX) -> AgentHealth:
    """Measure an agent's memory.

    Args:
        sample_max: episodes tested for SRR and effective ATR; None tests all.

    Raises:
        StoreError: the log cannot be read.
    """
    effect = Effect(agent.space)
    written = tuple(episode for episode in episodes(agent) if not effect.is_out(episode.pointer))
    tested = sample(written, sample_max)
    lost, scope = _lost(agent, written), agent.scope()
    missed = [episode.name for episode in tested if not _finds(agent, episode, scope)]
    named = sum(episode.name in cues_of(agent, _message(agent, episode)).names for episode in tested)
    return AgentHealth(
        agent.name, len(written), Rate(len(written) - len(lost), len(written)),
        Rate(len(tested) - len(missed), len(tested)), ambient_trigger_rate(len(written)), Rate(named, len(tested)),
        _contradiction(agent), tuple(tuple(group) for group in aliases([episode.name for episode in written])),
        tuple(dict.fromkeys([*sorted(lost), *missed])),
    )  # fmt: skip


def sample(written: Sequence[Episode], most: int | None) -> list[Episode]:
    """Choose episodes from all along the time, oldest and newest among them; the same ones each time."""
    if most is None or len(written) <= most:
        return list(written)
    step = (len(written) - 1) / (most - 1) if most > 1 else 0.0
    return [written[round(number * step)] for number in range(most)]


def _lost(agent: AgentSpace, written: Sequence[Episode]) -> set[str]:
    """Name the episodes that the index lacks, or whose bytes the log does not give back."""
    positions: dict[str, int] = {}
    for episode in written:
        try:
            positions[episode.name] = agent.space.event(episode.pointer).position
            agent.space.expand(episode.pointer)
        except (PointerError, StoreDamaged):
            positions.pop(episode.name, None)
    gone = lacking(agent.space.log.reader, agent.space.namespace, [*positions.values()])
    return {episode.name for episode in written if positions.get(episode.name) in {None, *gone}}


def _finds(agent: AgentSpace, episode: Episode, scope: Scope) -> bool:
    """Say whether an episode's name finds it, or the session that it is the record of, among the first that pass."""
    answer = recall(agent.space, Query(episode.topic, scope, hits_max=HITS_MAX))
    pointer = str(episode.pointer)
    return passes(answer) and any(hit.pointer == pointer or hit.session == episode.session for hit in answer.hits)


def passes(answer: Answer) -> bool:
    """Say whether an answer is likely enough to be shown unasked."""
    return bool(answer.hits) and answer.band.reaches(SHOWN_FROM)


def _message(agent: AgentSpace, episode: Episode) -> str:
    """Give a message about an episode: the first that the user of its session wrote, or its topic."""
    first = next(agent.space.events(episode.session, kind=Kind.USER_MESSAGE, limit=1), None)
    return (first.text[:MESSAGE_CHARACTERS_MAX] if first is not None else "") or episode.topic


def _contradiction(agent: AgentSpace) -> Rate:
    """Ask for each file of the agent's that has older versions; count those where one stands above the newest."""
    versions: dict[str, list[Event]] = {}
    for event in agent.own(Kind.NOTE, newest_first=True, limit=VERSIONS_MAX):
        key = event.meta.get("file")
        if isinstance(key, str) and not event.erased:
            versions.setdefault(key, []).append(event)
    several = [(key, events) for key, events in versions.items() if len(events) > 1][:KEYS_MAX]
    return Rate(sum(_older_first(agent, key, events) for key, events in several), len(several))


def _older_first(agent: AgentSpace, key: str, newest_first: Sequence[Event]) -> bool:
    """Say whether a superseded version of a file is recalled above its current one."""
    text = f"{re.sub(r'[-_]+', ' ', Path(key).stem)} {newest_first[0].text[:MESSAGE_CHARACTERS_MAX]}"
    answer = recall(agent.space, Query(text, Scope((agent.session,)), hits_max=HITS_MAX))
    pointers = [version.pointer for version in newest_first]
    first = next((hit.pointer for hit in answer.hits if hit.pointer in pointers), pointers[0])
    return first != pointers[0]


def unverified(agent: AgentSpace) -> list[str]:
    """Name the episodes that were not found by their own topic after they were written (recall-problem 9.2)."""
    return [episode.name for episode in episodes(agent) if not episode.verified and episode.stage in _NOT_SEEN]
