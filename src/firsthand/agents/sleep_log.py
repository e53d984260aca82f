"""When an agent slept: a record of each sleep in the log.

The invariant: a record is appended last, so that the window of the next sleep begins
where the last one that was finished had looked, whoever died in between. A record holds
positions, and the page, which goes with any event that it names.

It does not know what a sleep does (`sleep`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from firsthand import pointer
from firsthand.agent_space import AgentSpace
from firsthand.agents import validity
from firsthand.event import Draft, Event, IdMaker, Kind, Trust, to_bytes
from firsthand.ledger.effect import Effect
from firsthand.moment import Moment
from firsthand.notes.sources import SOURCES
from firsthand.value import value

RECORD = "sleep"
"""The fact ``type`` in the meta of an event that says that the agent slept."""
LOOKED_BACK = 50_000
"""Events of the agent's own session among which its last sleep is looked for."""


@value
class SleepRecord:
    """One sleep of an agent, as the log has it.

    Attributes:
        since, through: it looked at what came behind the one position, up to the other.
        digest: the position that its digest was made as of; 0 when it made none.
        finished: nothing was cut off and nothing failed.
        steps: what became of each step, by name: done, skipped, cut or failed.
    """

    pointer: str
    position: int
    time: Moment
    since: int
    through: int
    digest: int
    finished: bool
    steps: Mapping[str, str]


def sleeps(agent: AgentSpace) -> Iterator[SleepRecord]:
    """Yield the sleeps of an agent, the newest first."""
    for event in _records(agent):
        night = _read(event)
        if night is not None:
            yield night


def keep(
    agent: AgentSpace, page: str, *, time: Moment, since: int, through: int, digest: int, finished: bool,
    steps: Mapping[str, str],
) -> str:  # fmt: skip
    """Append the record of a sleep with its page, and give its pointer.

    Raises:
        StoreError: the store cannot take it.
    """
    meta = {
        "type": RECORD, "since": since, "through": through, "digest": digest, "finished": finished,
        "steps": dict(steps), SOURCES: pointer.find(page),
    }  # fmt: skip
    draft = Draft(
        Kind.SESSION, to_bytes(page), "text/markdown", meta, origin="firsthand", trust=Trust.TRUSTED, time=time,
        id=IdMaker()(),
    )  # fmt: skip
    return f"fh:{agent.space.append([draft], session=agent.session)[0].id}"


def last_page(agent: AgentSpace) -> str | None:
    """Give the page of the last sleep as the ledger leaves it; None where there is none, or it was erased."""
    last = next((event for event in _records(agent) if event.size_bytes), None)
    page = Effect(agent.space).text(last) if last is not None and not last.erased else None
    return None if page is None else validity.funnel(agent.space).line(page.text)


def _records(agent: AgentSpace) -> Iterator[Event]:
    """Yield the records of sleeps, the newest first; one that an import brought is none."""
    for event in agent.own(Kind.SESSION, newest_first=True, limit=LOOKED_BACK):
        if event.meta.get("type") == RECORD and event.trust is Trust.TRUSTED:
            yield event


def _read(event: Event) -> SleepRecord | None:
    """Read a record; None for one of another shape."""
    meta = event.meta
    since, through, digest = (meta.get(name) for name in ("since", "through", "digest"))
    steps, finished = meta.get("steps"), meta.get("finished")
    if not isinstance(since, int) or not isinstance(through, int) or not isinstance(digest, int):
        return None
    if not isinstance(steps, Mapping) or not isinstance(finished, bool):
        return None
    states = {str(name): str(state) for name, state in steps.items()}
    time = event.time or event.ingested
    return SleepRecord(f"fh:{event.id}", event.position, time, since, through, digest, finished, states)
