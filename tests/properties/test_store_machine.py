"""A store against a model in memory: any sequence of what may be done to it, verified at every end."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from firsthand.errors import Erased, IdConflict, StaleExpectation, Unresolvable
from firsthand.event import Draft, IdMaker, Kind
from firsthand.log.restore import restore
from firsthand.pointer import Pointer
from stores import SOAK, assert_whole, open_log, quick_folder

NAMESPACES = ("default", "other")
SESSIONS = ("a", "b ünï", "../c")
contents = st.one_of(st.binary(max_size=60), st.binary(min_size=400, max_size=700), st.just(bytes(5_000)))
places = st.tuples(st.sampled_from(NAMESPACES), st.sampled_from(SESSIONS))
kinds = st.sampled_from(sorted(set(Kind) - {Kind.ERASURE, Kind.LOSS}))


class StoreMachine(RuleBasedStateMachine):
    """Does the same to a store and to a list."""

    known = Bundle("known")

    def __init__(self) -> None:
        super().__init__()
        self.temporary = quick_folder()
        self.folder = Path(self.temporary.name)
        self.log = open_log(self.folder / "store", inline_max=300)
        self.model: list[tuple[str, str, str, bytes | None]] = []  # namespace, session, id, content (None: erased)
        self.heads: list[str] = []
        self.made = IdMaker()
        self.copies = 0

    def teardown(self) -> None:
        self.check_events()
        verified = self.log.verify(namespace="default", heads=self.heads)
        assert verified.problems == ()
        assert_whole(self.log)
        self.log.close()
        self.temporary.cleanup()

    def positions(self, namespace: str, session: str) -> list[int]:
        return [at for at, one in enumerate(self.of(namespace), 1) if one[1] == session]

    def of(self, namespace: str) -> list[tuple[str, str, str, bytes | None]]:
        """Give the events of a namespace: it counts its own positions."""
        return [one for one in self.model if one[0] == namespace]

    @rule(target=known, place=places, content=contents, kind=kinds)
    def append(self, place, content, kind):
        """One event, with an id of the writer's."""
        identifier = self.made()
        (one,) = self.log.append([Draft(kind, content, id=identifier)], namespace=place[0], session=place[1])
        self.model.append((*place, identifier, content))
        assert (one.position, one.id, one.new) == (len(self.of(place[0])), identifier, True)
        return (*place, identifier, content, kind)

    @rule(place=places, batch=st.lists(contents, max_size=4))
    def append_batch(self, place, batch):
        """Several events at once, from files."""
        done = self.log.append(
            [Draft(Kind.NOTE, io.BytesIO(content)) for content in batch], namespace=place[0], session=place[1]
        )
        for one, content in zip(done, batch, strict=True):
            self.model.append((*place, one.id, content))
            assert one.position == len(self.of(place[0]))

    @rule(event=known)
    def retry(self, event):
        """The same again: nothing changes, erased or not."""
        namespace, session, identifier, content, kind = event
        (one,) = self.log.append([Draft(kind, content, id=identifier)], namespace=namespace, session=session)
        assert not one.new
        assert self.of(namespace)[one.position - 1][2] == identifier

    @rule(event=known, place=places)
    def conflict(self, event, place):
        """The same id for something else: refused, with all of its batch."""
        namespace, session, identifier, content, _ = event
        if self.model[[one[2] for one in self.model].index(identifier)][3] is None:
            return
        drafts = [Draft(Kind.NOTE, b"first"), Draft(Kind.OTHER, content + b"!", id=identifier)]
        with pytest.raises(IdConflict):
            self.log.append(drafts, namespace=namespace, session=session)

    @rule(place=places, content=contents, right=st.booleans())
    def append_expecting(self, place, content, right):
        """An append that knows where the session ends, or is wrong about it."""
        last = max(self.positions(*place), default=0)
        draft = [Draft(Kind.NOTE, content)]
        if right:
            (one,) = self.log.append(draft, namespace=place[0], session=place[1], expected_position=last)
            self.model.append((*place, one.id, content))
        else:
            with pytest.raises(StaleExpectation):
                self.log.append(draft, namespace=place[0], session=place[1], expected_position=last + 1)

    @rule()
    def reopen(self):
        """Close and open again."""
        self.log.close()
        self.log = open_log(self.folder / "store", inline_max=300)

    @rule(event=known)
    def erase(self, event):
        """Erase; a second time it is said to be so already. An erasure is an event of its session."""
        namespace, session, identifier, _, _ = event
        at = [one[2] for one in self.model].index(identifier)
        done = self.log.erase(namespace, [identifier])
        if self.model[at][3] is None:
            assert (done.erased, done.already) == ((), (identifier,))
            return
        assert (done.erased, done.already) == ((identifier,), ())
        self.model[at] = (*self.model[at][:3], None)
        erasure = self.log.reader.event_at(namespace, len(self.of(namespace)) + 1)
        assert (erasure.kind, erasure.session) == (Kind.ERASURE, session)
        self.model.append((namespace, session, erasure.id, erasure.content))

    @rule()
    def take_a_head(self):
        """Keep a head: it must be found again for ever."""
        position, digest = self.log.reader.head("default")
        self.heads.append(f"{position}:{digest.hex()}")

    @rule(way=st.sampled_from(["export", "backup"]))
    def move(self, way):
        """Go on with a restored export, or with a backup, in place of the store."""
        self.copies += 1
        target = self.folder / f"copy {self.copies}"
        if way == "backup":
            self.log.backup(target)
            copy = open_log(target, inline_max=300)
        else:
            out = io.BytesIO()
            self.log.export(out)
            out.seek(0)
            copy = open_log(target, inline_max=300)
            assert restore(copy, out).new == len(self.model)
        for namespace in NAMESPACES:
            assert copy.reader.head(namespace) == self.log.reader.head(namespace)
        self.log.close()
        copy.close()
        shutil.rmtree(self.folder / "store")
        target.rename(self.folder / "store")
        self.log = open_log(self.folder / "store", inline_max=300)

    @rule()
    def rebuild(self):
        """Make the index anew."""
        self.log.rebuild()

    @invariant()
    def check_head(self):
        """Each namespace counts as many events as the model has of it."""
        for namespace in NAMESPACES:
            assert self.log.reader.head(namespace)[0] == len(self.of(namespace))

    def check_events(self) -> None:
        """Every event is where the model has it, byte for byte, in its own namespace only."""
        for namespace in NAMESPACES:
            wanted = [(at, *one[1:]) for at, one in enumerate(self.of(namespace), 1)]
            found = [
                (e.position, e.session, e.id, None if e.erased else self.log.reader.content(e))
                for e in self.log.reader.events(namespace)
            ]
            assert found == wanted
            infos = {info.name: (info.events, info.last_position) for info in self.log.reader.sessions(namespace)}
            assert infos == {
                session: (len(at), at[-1]) for session in SESSIONS if (at := self.positions(namespace, session))
            }
        ends = dict.fromkeys(NAMESPACES, 0)
        for namespace, session, identifier, content in self.model:
            at = ends[namespace] = ends[namespace] + 1
            other = NAMESPACES[1 - NAMESPACES.index(namespace)]
            with pytest.raises(Unresolvable):
                list(self.log.reader.expand(other, Pointer(identifier)))
            if content is None:
                with pytest.raises(Erased):
                    list(self.log.reader.expand(namespace, Pointer(identifier)))
            else:
                assert b"".join(self.log.reader.expand(namespace, Pointer(identifier))) == content
                assert self.log.reader.event_at(namespace, at).sequence == self.positions(namespace, session).index(at)


TestStore = StoreMachine.TestCase
TestStore.__doc__ = (
    "Any sequence of appends, retries, conflicts, erasures, moves and reopenings leaves what the model says."
)
TestStore.settings = settings(
    max_examples=400 if SOAK else 40,
    stateful_step_count=40 if SOAK else 25,
    deadline=None,
    derandomize=not SOAK,
    suppress_health_check=list(HealthCheck),
)
