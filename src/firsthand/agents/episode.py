"""Episodes: the record of a session as a readable text, and those of an agent as its own session of the log has them.

    # 2026-11-21 cold start bootstrap
    ## Failed: 7 of 12
    - failed, exit code 1, not run with success since: `pytest -q` (fh:01...)

An episode's event holds the text; its meta says of what it is the record. A session that went on later has several:
the newest is the episode. The invariant: every line that quotes an event names it by pointer and is word for word what
stands there, on one line; where not everything is in it, the heading says k of n. Whether one was found after it was
written is an event too, so that health can tell it.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from firsthand.agent_space import AgentSpace
from firsthand.agents import quotation
from firsthand.agents.episode_names import topic_of
from firsthand.agents.session_record import CHANGED, COMMITS, FAILED, OPEN, SAID, STRINGS
from firsthand.event import Event, Kind
from firsthand.ledger.effect import Effect
from firsthand.moment import Moment
from firsthand.unasked import secrets
from firsthand.unasked.volunteer import Piece
from firsthand.value import replace, value

BYTES_MAX = 15_000  # below what an event holds inline
LINES_MAX = {SAID: 7, CHANGED: 20, COMMITS: 12, FAILED: 8, OPEN: 4, STRINGS: 12}
"""Lines of each section; of those that do not fit the heading says how many there are."""
CHECK = "episode check"
"""The fact ``type`` in the meta of an event that says whether an episode was found after it was written."""
NOT_CHECKED = "not checked"
"""The stage of an episode that nobody has looked for yet: its closing was cut short."""


@value
class Episode:
    """The record of one session.

    Attributes:
        name: distinctive among the agent's episodes: date and topic.
        session: of which it is the record.
        agent: whose.
        moment: when the session ended; when it was written down, if no event told a time.
        pointer: of the event that holds it.
        topic: the words of the name, as a query.
        through: the last position that it is made from.
        verified: it was found by its own topic after it was written.
        stage: which stage was not seen to work; empty when verified.
    """

    name: str
    session: str
    agent: str
    moment: Moment
    pointer: str
    topic: str
    through: int = 0
    verified: bool = False
    stage: str = ""


# the text --------------------------------------------------------------------------------------------------


def written(name: str, head: str, pieces: Iterable[Piece]) -> str:
    """Lay an episode out within `BYTES_MAX`; ``head`` is the line at the top: when, and how much."""
    sections = {section: [*group] for section, group in groupby(pieces, key=lambda piece: piece.section)}
    for share in (1.0, 0.5, 0.25, 0.1):
        out = [f"# {name[:10]} {name[11:].replace('-', ' ')}".rstrip(), "", head]
        for section, all_lines in sections.items():
            lines = all_lines[: max(1, int(LINES_MAX[section] * share))]
            less = f": {len(lines):,} of {len(all_lines):,}" if len(lines) < len(all_lines) else ""
            out += ["", f"## {section}{less}", *map(_line, lines)]
        text = "\n".join(out) + "\n"
        if len(text.encode("utf-8", "replace")) <= BYTES_MAX:
            break
    return text


def _line(piece: Piece) -> str:
    plain = replace(piece, words=masked(piece.words, piece.pointers[0]), head=masked(piece.head, piece.pointers[0]))
    return f"- {quotation.piece_line(plain)} ({', '.join((*piece.pointers, *piece.facts))})"


def code(text: str, characters_max: int, pointer: str) -> str:
    """Quote what a tool was told as a code span, without secrets."""
    return quotation.code(masked(text, pointer), characters_max)


def masked(text: str, pointer: str) -> str:
    """Put a mark with the pointer of its event in the place of each secret."""
    where = f", {pointer}" if pointer else ""
    return secrets.mask(text, mark=lambda sort, _: f"[secret:{sort}{where}]")


# the episodes of an agent ----------------------------------------------------------------------------------


def episodes(agent: AgentSpace) -> tuple[Episode, ...]:
    """Give the episodes of an agent, the newest version of each session's, oldest first.

    A handle reads each event of them once, until something is erased. A name has no words that are known from what
    the ledger takes out.
    """
    space = agent.space
    key, head = ("episodes", agent.name), space.log.reader.head(space.namespace)[0]
    newest: dict[str, Episode]
    checks: dict[str, str]
    through, (newest, checks) = space.read_once.get(key, (0, ({}, {})))
    if any(space.events(kind=Kind.ERASURE, after=through, limit=1)):
        through, newest, checks = 0, {}, {}
    if through < head:
        newest, checks = dict(newest), dict(checks)  # another thread may be at the ones before
        for event in space.events(agent.session, kind=Kind.EPISODE, after=through, before=head + 1):
            if (episode := from_event(agent, event)) is not None:
                newest.pop(episode.session, None)
                newest[episode.session] = episode
        for event in space.events(agent.session, kind=Kind.SESSION, after=through, before=head + 1):
            if event.meta.get("type") == CHECK:
                checks[str(event.meta.get("episode"))] = str(event.meta.get("stage"))
        space.read_once[key] = (head, (newest, checks))
    effect = Effect(space)
    return tuple(_standing(episode, effect, checks) for episode in newest.values())


def _standing(episode: Episode, effect: Effect, checks: dict[str, str]) -> Episode:
    name, stage = effect.name(episode.pointer, episode.name), checks.get(episode.pointer, NOT_CHECKED)
    return replace(episode, name=name, topic=topic_of(name), stage=stage, verified=not stage)


def from_event(agent: AgentSpace, event: Event) -> Episode | None:
    """Read an episode from its event, not yet looked for; None for one that is erased, or another program's."""
    meta = event.meta
    name, session, through = meta.get("name"), meta.get("session"), meta.get("through")
    if event.erased or not isinstance(name, str) or not isinstance(session, str) or not isinstance(through, int):
        return None
    return Episode(
        name, session, agent.name, event.time or event.ingested, event.pointer, topic_of(name),
        through, stage=NOT_CHECKED,
    )  # fmt: skip
