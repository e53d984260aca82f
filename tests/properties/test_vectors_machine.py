"""After any order of appends, steps of followers, erasures and changes of embedder, a search equals an exact one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from embedders import exact_with_errors, failing_embedder, vector_of, with_vectors, words_embedder
from firsthand.event import Draft, Kind
from firsthand.index import follower as following
from firsthand.index import vectors
from firsthand.index.follower import VectorFollower
from firsthand.index.vector_check import check, deep_check
from firsthand.index.vector_search import VectorSearch
from firsthand.index.vector_texts import identity_of
from stores import SOAK, quick_folder

TEXTS = st.lists(st.sampled_from(["red", "blue", "boat", "car", "...", "sails", "Ann"]), max_size=4).map(" ".join)
EMBEDDERS = {name: words_embedder(name, dimension) for name, dimension in (("first", 40), ("second", 64))}


class Cut(Exception):
    """Stands for a process that ends in the middle of a write."""


class VectorsMachine(RuleBasedStateMachine):
    """A store, the texts that are in it, and one handle whose embedder changes."""

    @initialize(texts_min=st.integers(1, 3))
    def begin(self, texts_min):
        self.temporary = quick_folder()
        self.folder = Path(self.temporary.name)
        self.log = with_vectors(self.folder / "store")
        self.texts: dict[int, str] = {}
        self.records: set[int] = set()  # of erasures: they are not erased
        self.bounds = pytest.MonkeyPatch()
        self.bounds.setattr(following, "TEXTS_MIN", texts_min)
        self.searches = {name: self.search(name) for name in EMBEDDERS}

    def search(self, name: str) -> VectorSearch:
        return VectorSearch(lambda: self.log.reader.db, lambda: self.log.reader.namespace_key("n"), EMBEDDERS[name])

    @rule(texts=st.lists(TEXTS, min_size=1, max_size=4))
    def append(self, texts):
        drafts = [Draft(Kind.USER_MESSAGE, text.encode()) for text in texts]
        appended = self.log.append(drafts, namespace="n", session="s")
        self.texts |= {one.position: text for one, text in zip(appended, texts, strict=True)}

    @rule(name=st.sampled_from(sorted(EMBEDDERS)), steps=st.integers(1, 3))
    def follow(self, name, steps):
        follower = VectorFollower(self.log, "n", EMBEDDERS[name])
        for _ in range(steps):
            follower.step()

    @precondition(lambda self: self.texts.keys() - self.records)
    @rule(data=st.data(), name=st.sampled_from(sorted(EMBEDDERS)))
    def erase(self, data, name):
        """Erase an event, perhaps while a follower has it in the air."""
        position = data.draw(st.sampled_from(sorted(self.texts.keys() - self.records)))

        def embed(texts):
            self.erase_one(position)
            return [vector_of(text, EMBEDDERS[name].dimension) for text in texts]

        identity = EMBEDDERS[name].identity.removeprefix("callable:")
        VectorFollower(self.log, "n", failing_embedder(identity, embed, EMBEDDERS[name].dimension)).step()
        if position in self.texts:  # nothing was left to embed
            self.erase_one(position)

    def erase_one(self, position: int) -> None:
        if self.texts.pop(position, None) is not None:
            self.log.erase("n", [self.log.reader.event_at("n", position).id])
            record = self.log.reader.head("n")[0]
            self.records.add(record)
            self.texts[record] = self.log.reader.event_at("n", record).text

    @rule(name=st.sampled_from(sorted(EMBEDDERS)))
    def cut_a_write_short(self, name):
        """End a transaction before its commit: nothing of its batch may be there."""
        follower = VectorFollower(self.log, "n", EMBEDDERS[name])
        batch = follower._read(follower.through)
        if batch is None:
            return
        write = follower._writing(batch)

        def cut(db):
            with db:
                write(db)
                raise Cut

        with pytest.raises(Cut):
            self.log.exclusively(cut)

    @rule()
    def reopen(self):
        self.log.close()
        self.log = with_vectors(self.folder / "store")

    @rule()
    def rebuild(self):
        self.log.rebuild()

    @invariant()
    def searches_are_exact(self):
        if not self.texts:
            return
        for name, embedder in EMBEDDERS.items():
            space = vectors.find(self.log.reader.db, self.log.reader.namespace_key("n"), identity_of(embedder))
            through = space.through if space is not None else 0
            there = [(p, t) for p, t in self.texts.items() if p <= through and any(map(str.isalnum, t))]
            there = [(position, " ".join(text.split())) for position, text in there]
            truth = exact_with_errors(there, "a red boat", embedder.dimension)
            found = self.searches[name].near("a red boat", 400)
            key = self.log.reader.namespace_key("n")
            others = space is None and any(one.vectors for one in vectors.spaces(self.log.reader.db, key))
            assert (found.through, found.fault[:17]) == (through, "those here are of" if others else "")
            assert {row for row, _ in found.rows} == set(truth)
            assert [row for row, cosine in found.rows if abs(cosine - truth[row][0]) > truth[row][1]] == []
            assert [cosine for _, cosine in found.rows] == sorted((c for _, c in found.rows), reverse=True)

    @invariant()
    def everything_verifies(self):
        db, reader = self.log.reader.db, self.log.reader
        assert check(db) == []
        key = reader.namespace_key("n")
        assert deep_check(db, key, reader.batches(key, reader.head("n")[0]), reader) == []

    def teardown(self):
        self.bounds.undo()
        self.log.close()
        self.temporary.cleanup()


TestVectors = VectorsMachine.TestCase
TestVectors.settings = settings(max_examples=400 if SOAK else 12, stateful_step_count=25, deadline=None)
