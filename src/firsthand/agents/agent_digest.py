"""The digest of an agent: made of the log as of any position (total-recall 8.5).

The invariant: the digest of a position is the same whenever it is made, as long as
nothing that it rests on is erased; only facts that somebody asserted stand in it, each
with its quote, that no decision of the ledger takes out, and none on what a tool, the web
or an agent said before the user approved it.

It decides nothing: what stands is the ledger's, how it is laid out is `digest`.
"""

from __future__ import annotations

from collections.abc import Iterator

from firsthand.agent_space import NOTES, AgentSpace
from firsthand.agents import episode_list, quotation, session_record
from firsthand.event import Kind
from firsthand.ledger.digest import LINES_MAX, Digest, Item, digest
from firsthand.ledger.effect import Effect
from firsthand.ledger.facts import facts_standing
from firsthand.unasked import secrets

HEAD_EVENTS, REQUEST_CHARACTERS = 40, 120


def digest_of(agent: AgentSpace, *, as_of: int | None = None, lines_max: int = LINES_MAX) -> Digest:
    """Make the digest of an agent.

    Args:
        as_of: a position; what came behind it does not count. None is now.

    Raises:
        InvalidArgument: there are too few lines for its headings.
    """
    sessions = _sessions(agent, Effect(agent.space, as_of), as_of)
    return digest([*_facts(agent, as_of), *sessions], lines_max)


def _facts(agent: AgentSpace, as_of: int | None) -> Iterator[Item]:
    """Yield the facts that were asserted by an agent or the user, or on words of the agent's sessions."""
    own, by = {agent.session, NOTES, *agent.sessions()}, {"user", f"agent:{agent.name}"}
    for fact in facts_standing(agent.space, as_of=as_of):
        if fact.volunteered and (fact.by in by or agent.space.event(fact.pointer).session in own):
            text = secrets.mask(f"{str(fact.time)[:10]} {fact.subject}: {fact.text}")
            yield Item("facts", text, fact.decision, fact.position, secrets.mask(fact.line), fact.pointer)


def _sessions(agent: AgentSpace, effect: Effect, as_of: int | None) -> Iterator[Item]:
    """Yield the agent's sessions that had an episode at a position, by their first request."""
    openings: dict[str, tuple[session_record.Passage, int]] = {}
    for event in agent.own(Kind.EPISODE):
        episode = episode_list.from_event(agent, event) if as_of is None or event.position <= as_of else None
        if episode is not None and not effect.instead(event):
            head = agent.space.events(episode.session, limit=HEAD_EVENTS)
            opening = session_record.read(filter(None, map(effect.text, head))).opening
            openings |= {episode.session: (opening, event.position)} if opening is not None else {}
    texts = [opening.text for opening, _ in openings.values()]
    for opening, position in openings.values():
        words = quotation.without_template(opening.text, texts)
        quoted = quotation.quoted(secrets.mask(words), REQUEST_CHARACTERS, at_sentence=False)
        yield Item("sessions", f"{str(opening.time)[:10]} {quoted}", opening.pointer, position)
