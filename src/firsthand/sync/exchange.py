"""One sync of a store with a server: heads compared, tails exchanged, erasures and payloads along with them.

    heads -> had, or whose tail is missing where -> pull -> push -> erasures of forks -> what was seen is kept

The invariant: every step leaves both sides whole and can be cut; the next sync goes on from the heads that it finds.
Nothing on either side is written over. What the server had acknowledged and lacks now is named, not repaired unasked.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from firsthand.client import Client
from firsthand.errors import InvalidArgument, ServerFailed, Unresolvable
from firsthand.event import Artifact, Kind
from firsthand.json_codec import from_json
from firsthand.log.expansion import PieceSource
from firsthand.log.rows import erased_by
from firsthand.memory import Memory
from firsthand.memory_verbs import Call
from firsthand.value import value

from . import tails
from .fork import bring
from .seen import SeenFile
from .tails import Outcome, Place
from .verbs import ITEMS_MAX, PIECE_BYTES_MAX, erase_here, erased_from, erasures, head_of

TIMEOUT_S = 300.0
"""Of one request: an erasure makes the server write its store anew."""
ROUNDS_MAX = 4
REASON = "erased in a store that syncs with this one"
LINKS_AT_ONCE = 64
BEGUN_ANEW_MAX = 3
FORBIDDEN = 403
_ANSWERS: Mapping[str, Mapping[str, type]] = {
    "heads": {"store": str, "namespace": str, "head": str, "same": bool, "sessions": list}, "links": {"links": list},
    "pull": {"events": list, "done": int}, "push": {"outcomes": list, "before": str, "after": str},
    "artifact": {"have": int}, "erasures": {"ids": list}, "erase": {"erased": int},
}  # fmt: skip
"""What each verb's answer has."""
PARTED = (
    "both sides have events of their own from there on, and keep them. Go on in a new session; --fork NAME brings the "
    "server's events here as a session of that name"
)
LOST = "the server had acknowledged them and has them no more. They are here: --push-lost gives them to it again"
GONE = "the server had acknowledged them and has them no more, and neither has this store: restore a backup"
CHANGED = (
    "the server had acknowledged other events there than it has now: it was put back or changed, and written since. "
    "Ask who keeps it; this store keeps its own"
)


@value
class Synced:
    """What a sync did.

    Attributes:
        outcomes: of every session that was compared, in order of name; none where nothing is new on either side.
        had: how many sessions both sides had whole, before.
        server: uuid of the server's store.
        replaced: uuid of the store that was at this address before, where it is another one; else empty.
        erased: events erased here and there beyond what erasures in tails destroyed.
    """

    outcomes: tuple[Outcome, ...]
    had: int
    server: str
    replaced: str = ""
    erased: int = 0

    @property
    def ok(self) -> bool:
        """True when both sides have the same, and the server has all that it ever acknowledged."""
        return all(outcome.is_well for outcome in self.outcomes)


def sync(
    memory: Memory,
    address: str,
    *,
    token: str | None = None,
    fork: str = "",
    push_lost: bool = False,
    progress: Callable[[int, int], None] = lambda _pushed, _pulled: None,
) -> Synced:
    """Exchange a namespace's sessions with a server.

    Args:
        token: of the server; None reads the file of the user's own server, where the address is of this machine.
        fork: brings the server's events of a session that forked here, as a session of this name.
        push_lost: pushes again what the server had acknowledged and lacks.
        progress: called with the events pushed and pulled so far.

    Raises:
        InvalidArgument: the server's namespace has another name, or the address or the token is none.
        ServerFailed: the server does not answer; the next sync goes on.
        StoreError: this store, or the server's, cannot take it.
    """
    with Client(address, token=token, namespace=memory.namespace, timeout_s=TIMEOUT_S) as client:
        return _Exchange(memory, client, fork, progress, push_lost=push_lost).run()


class _Exchange:
    """One sync on its way."""

    def __init__(
        self, memory: Memory, client: Client, fork: str, progress: Callable[[int, int], None], *, push_lost: bool
    ) -> None:
        self._memory, self._client, self._fork, self._push_lost = memory, client, fork, push_lost
        self._progress, self._done = progress, {"pushed": 0, "pulled": 0}
        self._file = SeenFile(client.address, memory.namespace, memory.identity)
        self._seen = self._file.load()
        self._outcomes: dict[str, Outcome] = {}
        self._parts: dict[str, int] = {}
        self._theirs: dict[str, Place] = {}
        self._acknowledged: dict[str, Place] = {}
        self._head = ""

    def ask(self, verb: str, **fields: Any) -> Any:
        """Ask the server for one of the verbs.

        Raises:
            ServerFailed: it does not answer, or with something else.
        """

        def read(answer: Any) -> Any:
            members = answer if isinstance(answer, dict) else {"links": answer}
            if any(type(members.get(name)) is not kind for name, kind in _ANSWERS[verb].items()):
                raise ValueError(f"expected {', '.join(_ANSWERS[verb])}")
            return answer

        return self._client._wire.send(Call(f"sync/{verb}", fields, read))  # noqa: SLF001 - as Client's own verbs

    def run(self) -> Synced:
        """Do it all."""
        seen, ours = self._seen, head_of(self._memory)
        # 1) Who is there, and whether anything is new: one request where nothing is.
        answer = self.ask("heads", head=seen.theirs)
        if answer["namespace"] != self._memory.namespace:
            raise InvalidArgument(
                f"the server's namespace is {answer['namespace']!r}, this one is {self._memory.namespace!r}; a "
                "session's first link is made of the name, so both sides use the same: --namespace"
            )
        server = answer["store"]
        replaced = seen.server if seen.server != server else ""
        if answer["same"] and seen.ours == ours and not (replaced or seen.here or seen.there or self._fork):
            return Synced((), seen.had, server)
        # 2) Tails, both ways; what moved meanwhile is compared again.
        known = seen.places()
        self._acknowledged = dict(known)
        for number in range(ROUNDS_MAX):
            answer = self.ask("heads") if number else answer
            self._head = answer["head"]
            self._theirs = dict(known) if answer["same"] else _places(answer["sessions"])
            if not self._round(known):
                break
        self._forked()
        # 3) What was erased on one side of a fork, or quotes what was.
        erased = self._erase()
        outcomes = tuple(self._outcomes[name] for name in sorted(self._outcomes))
        had = sum(outcome.what == "had" for outcome in outcomes)
        synced = Synced(outcomes, had, server, replaced, erased)
        # 4) What was seen; of a session that the server lost, what it had.
        lost = {outcome.session for outcome in outcomes if outcome.what == "lost"}
        seen.keep(self._theirs | {name: known[name] for name in lost if name in known})
        seen.server = replaced if replaced and lost else server
        seen.theirs, seen.ours = (self._head, self._ours(ours)) if synced.ok and not erased else ("", "")
        seen.had = len(outcomes)
        self._file.save(seen)
        return synced

    def _ours(self, before: str) -> str:
        """Give the head here, where nobody but this sync has moved it."""
        now = head_of(self._memory)
        return now if _grown(before, now) == self._done["pulled"] else ""

    # comparing -----------------------------------------------------------------------------------------

    def _round(self, known: Mapping[str, Place]) -> bool:
        """Compare every session, and exchange what one side lacks; say whether something moved meanwhile."""
        ours, theirs = tails.places(self._memory), self._theirs
        names = sorted((ours.keys() | theirs.keys() | known.keys()) - self._seen.forks.keys())
        longer = [name for name in names if name in ours and name in theirs and theirs[name].length > ours[name].length]
        links = self._links([(name, ours[name].length - 1) for name in longer])
        ends = dict(zip(longer, links, strict=True))
        pulls, pushes = dict[str, int](), dict[str, int]()
        self._parts = {}
        for name in names:
            mine, place, before = (side.get(name, Place(0, "")) for side in (ours, theirs, known))
            parted = self._parted(name, mine, place, ends.get(name, ""))
            lost = self._lost(name, mine, place, before, parted)
            if parted >= 0:
                self._parts[name] = parted
                what = ("fork", parted, PARTED) if lost < 0 else ("lost", lost, CHANGED)
                self._outcomes[name] = Outcome(name, what[0], 0, what[1], what[2])
            elif lost >= 0 and not (self._push_lost and mine.length > place.length):
                self._outcomes[name] = Outcome(name, "lost", 0, lost, LOST if mine.length > lost else GONE)
            elif mine.length < place.length:
                pulls[name] = mine.length
            elif mine.length > place.length:
                pushes[name] = place.length
            elif name not in self._outcomes or self._outcomes[name].what == "moved":
                self._outcomes[name] = Outcome(name, "had")
        self._pull(pulls)
        self._push(pushes)
        return any(outcome.what == "moved" for outcome in self._outcomes.values())

    def _parted(self, name: str, mine: Place, place: Place, end: str) -> int:
        """Give the sequence from which on two histories of a session differ; -1 where one continues the other.

        Args:
            end: the server's chain hash where this store's history ends, if the server's is longer.
        """
        if not mine.length or not place.length:
            return -1
        if mine.length > place.length:
            is_one = tails.chain_at(self._memory, name, place.length - 1) == place.head
        else:
            is_one = (end if mine.length < place.length else place.head) == mine.head
        low, high = 0, min(mine.length, place.length) - 1
        while not is_one and low < high:  # the first that differs lies between them, both included
            step = max(1, (high - low) // LINKS_AT_ONCE)
            at = [*range(low, high, step)]
            links = self._links([(name, sequence) for sequence in at])
            same = [n for n, their in zip(at, links, strict=True) if their == tails.chain_at(self._memory, name, n)]
            low, high = (same[-1] + 1, min(same[-1] + step, high)) if same else (low, low)
        return -1 if is_one else low

    def _lost(self, name: str, mine: Place, place: Place, before: Place, parted: int) -> int:
        """Give the sequence from which on the server lacks, or has changed, what it had acknowledged; -1 for none."""
        if not before.length or place == before:
            return -1
        if place.length < before.length:
            return place.length if parted < 0 else parted
        is_here = parted < 0 and mine.length >= before.length
        at = (name, before.length - 1)
        chain = tails.chain_at(self._memory, *at) if is_here else self._links([at])[0]
        return -1 if chain == before.head else max(parted, 0)

    def _links(self, at: Sequence[tuple[str, int]]) -> list[str]:
        asked = [[*pair] for pair in at]
        return [chain for page in _pages(asked) for chain in self.ask("links", at=page)]

    # exchanging ----------------------------------------------------------------------------------------

    def _note(self, outcomes: Iterable[Outcome], way: str) -> None:
        """Add up what became of tails."""
        for outcome in outcomes:
            before = self._outcomes.get(outcome.session)
            events = outcome.events + (before.events if before is not None else 0)
            what = way if outcome.what == "taken" else outcome.what
            if outcome.events:
                self._done[way] += outcome.events
            self._outcomes[outcome.session] = Outcome(outcome.session, what, events, outcome.sequence, outcome.why)
        self._progress(self._done["pushed"], self._done["pulled"])

    def _pull(self, left: dict[str, int]) -> None:
        """Take in what the server has and this store has not."""
        while left:
            asked = [[name, sequence] for name, sequence in left.items()][:ITEMS_MAX]
            answer = self.ask("pull", sessions=asked)
            for fields in answer["events"]:
                self.fetch(fields)
            if quoting := _quoting(answer["events"], lambda page: erasures(self._memory, {"quoting": page})):
                self._seen.here += quoting
                self._file.save(self._seen)
            outcomes = tails.take(self._memory, answer["events"])
            if not answer["done"] and not any(outcome.events or outcome.what != "taken" for outcome in outcomes):
                raise ServerFailed("expected the events that were asked for; the server gave none of them")
            self._note(outcomes, "pulled")
            for outcome in outcomes:
                left[outcome.session] = left.get(outcome.session, 0) + outcome.events
            over = {name for name, _ in asked[: answer["done"]]}
            over |= {outcome.session for outcome in outcomes if outcome.what != "taken"}
            left = {name: sequence for name, sequence in left.items() if name not in over}

    def fetch(self, fields: Mapping[str, Any]) -> None:
        """Fetch the payload of an event that comes, if it is not here."""
        if (artifact := _artifact_of(fields)) is None:
            return
        log = self._memory.log
        key = log.namespace_key(self._memory.namespace)
        if log.artifacts.present(key, artifact.digest):
            return
        try:
            log.artifacts.put(key, PieceSource(self._client.stream(f"fh:{fields['id']}")))
        except Unresolvable:  # erased since: taking the event says that its content is not here, and it is asked again
            return

    def _push(self, pushes: Mapping[str, int]) -> None:
        """Bring the server what this store has and it has not."""
        stopped: set[str] = set()
        events: list[dict[str, Any]] = []
        size = 0
        for fields, weight in tails.read(self._memory, pushes.items(), stopped):
            if events and (len(events) >= tails.EVENTS_MAX or size + weight > tails.BYTES_MAX):
                stopped |= self._send(events)
                events, size = [], 0
            if fields["session"] not in stopped:
                events.append(fields)
                size += weight
        if events:
            self._send(events)

    def _send(self, events: list[dict[str, Any]]) -> set[str]:
        """Push events; give the sessions of which no more can be pushed.

        Where that takes a right that the server did not give, what takes none but to append goes first, and the rest
        of each session by itself, so that what may not be pushed keeps no other session back.
        """
        quoting = len(self._seen.there)
        try:
            return self._sent(events)
        except ServerFailed as error:
            plain, apart = _apart(events)
            if error.status != FORBIDDEN or not apart:
                raise
            del self._seen.there[quoting:]
        stopped = self._sent(plain) if plain else set()
        for name, tail in apart.items():
            quoting = len(self._seen.there)
            try:
                stopped |= self._sent(tail) if name not in stopped else set()
            except ServerFailed as error:
                if error.status != FORBIDDEN:
                    raise
                del self._seen.there[quoting:]
                why = f"{error}, for its {tail[0]['kind']}; the other sessions go on"
                self._note([Outcome(name, "refused", 0, tail[0]["sequence"], why)], "")
                stopped.add(name)
        self._file.save(self._seen)
        return stopped

    def _sent(self, events: list[dict[str, Any]]) -> set[str]:
        """Push events in one request, payloads first; give the sessions of which no more can be pushed."""
        for fields in events:
            self._upload(fields)
        if quoting := _quoting(events, lambda page: self.ask("erasures", quoting=page)):
            self._seen.there += quoting
            self._file.save(self._seen)
        answer = self.ask("push", events=events)
        outcomes = from_json(list[Outcome], answer["outcomes"])
        self._note(outcomes, "pushed")
        for outcome in outcomes:
            if outcome.events:
                length = self._theirs.get(outcome.session, Place(0, "")).length + outcome.events
                place = Place(length, tails.chain_at(self._memory, outcome.session, length - 1))
                self._theirs[outcome.session] = self._acknowledged[outcome.session] = place
        self._seen.theirs = ""  # until all is done: what was acknowledged is known, however this run ends
        self._seen.keep(self._acknowledged)
        self._file.save(self._seen)
        new = sum(outcome.events for outcome in outcomes)
        is_ours = self._head == answer["before"] and _grown(answer["before"], answer["after"]) == new
        self._head = answer["after"] if is_ours else ""
        return {outcome.session for outcome in outcomes if outcome.what != "taken"}

    def _upload(self, fields: Mapping[str, Any]) -> None:
        """Bring the server the payload of an event, from where it was cut off."""
        if (artifact := _artifact_of(fields)) is None:
            return
        log, about = self._memory.log, {"digest": artifact.digest.hex(), "size": artifact.size_bytes}
        key = log.namespace_key(self._memory.namespace)
        have, times = self.ask("artifact", **about)["have"], 0
        while have < artifact.size_bytes:
            end = min(have + PIECE_BYTES_MAX, artifact.size_bytes)
            piece = b"".join(log.artifacts.pieces(key, artifact, have, end))
            sent = self.ask("artifact", **about, offset=have, bytes=base64.b64encode(piece).decode())["have"]
            times += sent <= have  # begun anew there: an erasure drops what is on its way, and so does another machine
            if times > BEGUN_ANEW_MAX:
                raise ServerFailed(
                    f"expected {end:,} bytes of artifact {about['digest']} at the server; it has {sent:,}"
                )
            have = sent

    # forks and erasures ----------------------------------------------------------------------------------

    def _forked(self) -> None:
        """Bring the server's side of forks here, each as a session of its own."""
        forked = [outcome for outcome in self._outcomes.values() if outcome.what == "fork"]
        for outcome in forked if self._fork else ():
            name = self._fork if len(forked) == 1 else f"{self._fork} {outcome.session}"
            if name not in self._seen.forks and tails.chain_at(self._memory, name, 0):
                raise InvalidArgument(f"session {name!r} is there already; name a new one: --fork NAME")
            self._seen.forks[name] = outcome.session
            self._file.save(self._seen)
            brought = bring(self._memory, self.ask, self.fetch, outcome, name)
            self._outcomes[outcome.session] = brought
            self._done["pulled"] += brought.events

    def _erase(self) -> int:
        """Erase here and there what was erased on one side of a fork, and what quotes what erasures destroyed."""
        here, there, parts = [*self._seen.here], [*self._seen.there], [[*part] for part in self._parts.items()]
        for page in _pages(parts):
            here += self.ask("erasures", sessions=page)["ids"]
            there += [name for session, sequence in page for name in erased_from(self._memory, session, sequence)]
        erased = erase_here(self._memory, here, REASON)
        erased += sum(int(self.ask("erase", ids=page, reason=REASON)["erased"]) for page in _pages(there))
        self._seen.here, self._seen.there = [], []
        return erased


def _apart(events: Iterable[dict[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, list[dict[str, Any]]]]:
    """Part events into those that whoever appends may push, and of each session those from an act on that asks more."""
    plain, apart = list[dict[str, Any]](), dict[str, list[dict[str, Any]]]()
    for fields in events:
        name = fields["session"]
        if name in apart or fields.get("kind") in {Kind.ERASURE, Kind.LEDGER}:
            apart.setdefault(name, []).append(fields)
        else:
            plain.append(fields)
    return plain, apart


def _grown(before: str, after: str) -> int:
    """Give by how many positions one head is behind another."""
    return int(after.partition(":")[0]) - int(before.partition(":")[0])


def _pages(items: Sequence[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(items), ITEMS_MAX):
        yield [*items[start : start + ITEMS_MAX]]


def _quoting(events: Iterable[Mapping[str, Any]], ask: Callable[[list[str]], Any]) -> list[str]:
    """Ask the side that takes events which of its own repeat what erasures among them destroy."""
    names = [
        name
        for fields in events
        if fields.get("kind") == Kind.ERASURE and isinstance(fields.get("content"), str)
        for name in erased_by(fields["content"].encode())
    ]
    return [name for page in _pages(names) for name in ask(page)["ids"]]


def _artifact_of(fields: Mapping[str, Any]) -> Artifact | None:
    """Read which payload an event holds; None where it holds none, or says it wrongly, which taking it tells."""
    try:
        artifact = fields["artifact"]
        return Artifact(bytes.fromhex(artifact["sha256"]), int(artifact["size"]), b"")
    except (KeyError, TypeError, ValueError):
        return None


def _places(sessions: Iterable[Sequence[Any]]) -> dict[str, Place]:
    return {str(name): Place(int(length), str(head)) for name, length, head in sessions}
