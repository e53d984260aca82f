"""What must hold of a history of operations on one namespace, beside the order in which the log ended.

Each operation has the moments when it was begun and when it had ended. Of two that do not overlap, the second one
sees, and comes behind, what the first one did; everything here says that of one kind of operation.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from firsthand.event import roll

Operation = dict[str, Any]


@dataclass(frozen=True)
class Stored:
    """One event, as the log has it in the end."""

    position: int
    id: str
    session: str
    text: str
    chain: bytes


class Ends:
    """The greatest position that was acknowledged before a moment."""

    def __init__(self, appends: Sequence[Operation]) -> None:
        self._moments: list[int] = []
        self._positions: list[int] = []
        for append in sorted(appends, key=lambda each: each["ended"]):
            self._moments.append(append["ended"])
            self._positions.append(max([*append["positions"], *self._positions[-1:]]))

    def before(self, moment: int) -> int:
        at = bisect_left(self._moments, moment)
        return self._positions[at - 1] if at else 0


def violations(operations: Sequence[Operation], log: Sequence[Stored]) -> list[str]:
    """Name everything that does not hold."""
    appends = [each for each in operations if each["kind"] == "append"]
    acknowledged = [each for each in appends if "error" not in each]
    ends = Ends(acknowledged)
    return [
        *_order(log), *_contents(appends, log), *_positions(acknowledged, log, ends), *_expectations(appends, log),
        *_polls([each for each in operations if each["kind"] == "poll"], log, ends),
        *_reads([each for each in operations if each["kind"] in {"head", "event"}], acknowledged, log, ends),
    ]  # fmt: skip


def _order(log: Sequence[Stored]) -> Iterator[str]:
    if [event.position for event in log] != list(range(1, len(log) + 1)):
        yield "order: positions do not run 1, 2, 3"
    if len({event.id for event in log}) < len(log):
        yield "order: an id is there twice"


def _contents(appends: Sequence[Operation], log: Sequence[Stored]) -> Iterator[str]:
    """Nothing is in the log that nobody appended."""
    asked = {
        (name, each["session"], text) for each in appends for name, text in zip(each["ids"], each["texts"], strict=True)
    }
    for event in log:
        if (event.id, event.session, event.text) not in asked:
            yield f"phantom: nobody appended {event}"


def _positions(acknowledged: Sequence[Operation], log: Sequence[Stored], ends: Ends) -> Iterator[str]:
    """An acknowledged event is where its writer was told, new to one of them, behind all that was there before."""
    stored = {(event.id, event.text): event.position for event in log}
    new: set[str] = set()
    for append in acknowledged:
        told = zip(append["ids"], append["texts"], append["positions"], append["new"], strict=True)
        for name, text, position, is_new in told:
            if stored.get((name, text)) != position:
                yield f"position: {text} was acknowledged at {position}, it is at {stored.get((name, text))}"
            if is_new and name in new:
                yield f"retry: {text} was new twice"
            if is_new and position <= ends.before(append["begun"]):
                yield f"real time: {text} took {position}, {ends.before(append['begun'])} was acknowledged before"
            if is_new:
                new.add(name)


def _expectations(appends: Sequence[Operation], log: Sequence[Stored]) -> Iterator[str]:
    """An append that expected an end of its session found it, and one that was refused did not."""
    by_session: dict[str, list[int]] = {}
    for event in log:
        by_session.setdefault(event.session, []).append(event.position)
    begun = {name: each["begun"] for each in sorted(appends, key=lambda each: -each["begun"]) for name in each["ids"]}
    ids = {event.position: event.id for event in log}
    for append in appends:
        expected, session = append["expected"], by_session.get(append["session"], [])
        if expected is None:
            continue
        if "error" not in append and all(append["new"]):
            at = bisect_left(session, append["positions"][0])
            before = session[at - 1] if at else 0
            if before != expected:
                yield f"expectation: {append['texts'][0]} expected {expected}, and came behind {before}"
        if append.get("error") == "StaleExpectation":
            later = session[bisect_left(session, expected + 1) :]
            if not any(begun[ids[position]] < append["ended"] for position in later[:50]):
                yield f"expectation: {append['texts'][0]} was refused, though its session ended at {expected}"


def _polls(polls: Sequence[Operation], log: Sequence[Stored], ends: Ends) -> Iterator[str]:
    """What a poll gave is what stands in the log there, without a gap, up to all that was acknowledged before."""
    for poll in polls:
        after, through = poll["after"], poll["through"]
        if [tuple(each) for each in poll["got"]] != [(event.position, event.id) for event in log[after:through]]:
            yield f"poll: positions {after} to {through} are not what was read"
        if len(poll["got"]) < poll["limit"] and through < ends.before(poll["begun"]):
            yield f"poll: it ended at {through}, {ends.before(poll['begun'])} was acknowledged before"


def _reads(
    reads: Sequence[Operation], acknowledged: Sequence[Operation], log: Sequence[Stored], ends: Ends
) -> Iterator[str]:
    """A head is one that the log had, not older than what was acknowledged; an event is there once it was."""
    heads = [bytes(32)]
    for event in log:
        heads.append(roll(heads[-1], event.position, event.chain))
    acknowledged_at: dict[str, int] = {}
    for append in acknowledged:
        for name in append["ids"]:
            acknowledged_at[name] = min(append["ended"], acknowledged_at.get(name, append["ended"]))
    positions = {event.id: event.position for event in log}
    for read in reads:
        if read["kind"] == "event":
            due = acknowledged_at.get(read["id"], read["ended"]) < read["begun"]
            if read["position"] != positions.get(read["id"], 0) and (due or read["position"]):
                yield f"event: {read['id']} was read at {read['position']}"
        elif read["position"] >= len(heads) or heads[read["position"]].hex() != read["head"]:
            yield f"head: at {read['position']} is not one of the log"
        elif read["position"] < ends.before(read["begun"]):
            yield f"head: {read['position']}, {ends.before(read['begun'])} was acknowledged before"
