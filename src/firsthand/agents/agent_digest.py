"""The digest of an agent: made of the log as of any position (total-recall 8.5).

The invariant: the digest of a position is the same whenever it is made, as long as
nothing that it rests on is erased; only facts that somebody asserted stand in it, each
with its quote, that no decision of the ledger takes out, and none on what a tool, the web
or an agent said before the user approved it.
"""

from __future__ import annotations

from collections.abc import Iterator

from firsthand.agent_space import NOTES, AgentSpace
from firsthand.ledger.digest import LINES_MAX, Digest, Item, digest
from firsthand.ledger.facts import facts_standing
from firsthand.unasked import secrets


def digest_of(agent: AgentSpace, *, as_of: int | None = None, lines_max: int = LINES_MAX) -> Digest:
    """Make the digest of an agent.

    Args:
        as_of: a position; what came behind it does not count. None is now.

    Raises:
        InvalidArgument: there are too few lines for its headings.
    """
    return digest([*_facts(agent, as_of)], lines_max)


def _facts(agent: AgentSpace, as_of: int | None) -> Iterator[Item]:
    """Yield the facts that were asserted by an agent or the user, or on words of the agent's sessions."""
    own, by = {agent.session, NOTES, *agent.sessions()}, {"user", f"agent:{agent.name}"}
    for fact in facts_standing(agent.space, as_of=as_of):
        if fact.volunteered and (fact.by in by or agent.space.event(fact.pointer).session in own):
            text = secrets.mask(f"{str(fact.time)[:10]} {fact.subject}: {fact.text}")
            yield Item(text, fact.decision, fact.position, secrets.mask(fact.line), fact.pointer)
