"""The other side of a fork, brought here as a session of its own: the same events under another chain.

    event k of session s there -> its link is checked in s -> event j of the new session here: same id, bytes and times

Pointers lead to the same bytes on both sides. The new session stays here: the server has its events in their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from firsthand.errors import FormatError, StoreDamaged, Unresolvable
from firsthand.event import genesis
from firsthand.log.export import parse_event
from firsthand.log.prepare import Batch, Prepared, Restored
from firsthand.memory import Memory
from firsthand.value import replace

from . import tails
from .tails import Outcome


def bring(
    memory: Memory,
    ask: Callable[..., Any],
    fetch: Callable[[Mapping[str, Any]], None],
    forked: Outcome,
    name: str,
) -> Outcome:
    """Append what the server has behind a fork, as far as it is not here, to a session.

    Args:
        ask: asks the server for a verb.
        fetch: fetches the payload of an event.
        forked: the session, and from which sequence on.
    """
    session, namespace, sequence = forked.session, memory.namespace, forked.sequence or 0
    chain = bytes.fromhex(tails.chain_at(memory, session, sequence - 1)) if sequence else genesis(namespace, session)
    place = tails.places(memory).get(name)
    length, end = (place.length, bytes.fromhex(place.head)) if place is not None else (0, genesis(namespace, name))
    count, done = 0, 0
    while not done:
        answer = ask("pull", sessions=[[session, sequence]])
        done, new = answer["done"], list[Prepared]()
        for fields in answer["events"]:
            try:
                event = parse_event(fields).event
            except (FormatError, StoreDamaged) as error:
                return replace(forked, what="bad link", sequence=sequence, why=str(error))
            assert event.restored is not None  # every event of an export is one
            chain = tails.chained(chain, event, sequence)
            if chain != event.restored.chain:
                return replace(
                    forked, what="bad link", sequence=sequence, why=f"event {event.name} is not of its chain"
                )
            sequence += 1
            if _is_here(memory, event.name):
                continue
            fetch(fields)
            end = tails.chained(end, event, length)
            new.append(replace(event, restored=Restored(event.restored.ingested, end)))
            length += 1
        if new:
            tails.submit(memory, (Batch(namespace, name, tuple(new)),))
        count += len(new)
    return replace(forked, events=count, why=f"the server's events from there on are here as session {name!r}")


def _is_here(memory: Memory, name: str) -> bool:
    try:
        memory.event(f"fh:{name}")
    except Unresolvable:  # which is the answer
        return False
    return True
