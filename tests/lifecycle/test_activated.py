"""The flag of the hot path: unset it changes nothing, with add-all neither, and otherwise it is said what it does."""

from __future__ import annotations

import itertools
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand import AddAll, Draft, HotPath, InvalidArgument, Kind, Memory, Moment, SizeAware, Trust
from firsthand.lifecycle.activated import VARIABLE
from firsthand.log.log import Log

KINDS = (Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.TOOL_CALL, Kind.TOOL_RESULT, Kind.SYSTEM)
PARTS = st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from(("thanks", "ok", "port 80", "")), st.booleans()),
                 min_size=1, max_size=8)  # fmt: skip


def bytes_of(folder, flag, batches):
    """Write batches into a new store with a flag, all chance and time taken out, and give every row of its tables."""
    ticks = itertools.count(1_700_000_000_000_000)
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv(VARIABLE, raising=False)
        if flag is not None:
            patched.setenv(VARIABLE, flag)
        patched.setattr(os, "urandom", bytes)
        patched.setitem(Log.__init__.__kwdefaults__, "clock", lambda: Moment(next(ticks), 0))
        with Memory.open(folder, embedder="none") as memory:
            for number, batch in enumerate(batches):
                drafts = [
                    Draft(kind, text.encode(), id=f"{100 * number + place:026d}", time=Moment(number, 0),
                          meta={"call_id": "c"} if "TOOL" in kind.name else {},
                          trust=Trust.TRUSTED if is_trusted else Trust.UNTRUSTED)
                    for place, (kind, text, is_trusted) in enumerate(batch)
                ]  # fmt: skip
                memory.append(drafts, session="s")
            db = memory._log.reader.db
            tables = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1")]
            rows = {name: sorted(map(repr, db.execute(f"SELECT * FROM {name}"))) for name in tables}
            assert memory.verify().problems == ()
            return rows


@settings(max_examples=20)
@given(st.lists(PARTS, min_size=1, max_size=4))
def test_without_the_flag_and_with_add_all_a_store_has_the_same_bytes(tmp_path_factory, batches):
    """Whatever is appended, every row, hash and salt is the same with the flag off and with add-all."""
    folder = tmp_path_factory.mktemp("stores")
    assert bytes_of(folder / "off", None, batches) == bytes_of(folder / "on", "add-all", batches)
    assert bytes_of(folder / "empty", "", batches) == bytes_of(folder / "two", None, batches)


def test_the_flag_is_read_when_a_store_is_opened(tmp_path, monkeypatch):
    """Unset nobody is on the hot path; set, the one that it names is; what is put there by hand takes its place."""
    monkeypatch.delenv(VARIABLE, raising=False)
    with Memory.open(tmp_path / "s", embedder="none") as memory:
        assert memory.hot_path is None
        monkeypatch.setenv(VARIABLE, "size-aware:3kB")
        assert memory.hot_path is None
    with Memory.open(tmp_path / "s", embedder="none") as memory:
        assert memory.hot_path is not None
        named = memory.hot_path.reconciler
        assert isinstance(named, SizeAware)
        assert named.budget_bytes == 3_000
        memory.hot_path = HotPath(AddAll())
        assert memory.hot_path.reconciler.name == "add-all"


def test_a_store_over_the_size_takes_no_small_talk(tmp_path, monkeypatch):
    """Once the store's file is over the size, a turn without anything to protect is left out, and counted."""
    turn = [Draft(Kind.USER_MESSAGE, b"thanks a lot"), Draft(Kind.AGENT_MESSAGE, b"you are welcome")]
    for word, events in (("size-aware:1GB", 2), ("size-aware:0B", 0)):
        monkeypatch.setenv(VARIABLE, word)
        with Memory.open(tmp_path / str(events), embedder="none") as memory:
            memory.append(turn, session="s")
            assert len([*memory.events()]) == events
            assert memory.hot_path is not None
            assert (memory.hot_path.turns, memory.hot_path.left_out) == (1, 1 - events // 2)
            assert memory.verify().problems == ()


@pytest.mark.parametrize(
    "word", ["1", "on", "true", "size-aware", "size-aware:", "size-aware:-1MB", "size-aware:1", "ADD"]
)
def test_a_word_that_names_no_reconciler_is_refused(tmp_path, monkeypatch, word):
    """It is an error with what may stand there, and no store is opened without what was asked for."""
    monkeypatch.setenv(VARIABLE, word)
    with pytest.raises(InvalidArgument, match="size-aware:500MB"):
        Memory.open(tmp_path / "s", embedder="none")


def test_a_word_that_says_nothing_leaves_no_file_open(tmp_path, monkeypatch):
    """A store that is not opened, since the flag is wrong, is closed again."""
    Memory.open(tmp_path / "s", embedder="none").close()
    closed = []
    close = Memory.close
    monkeypatch.setattr(Memory, "close", lambda one: (closed.append(one.path), close(one)))
    monkeypatch.setenv(VARIABLE, "dance")
    with pytest.raises(InvalidArgument):
        Memory.open(tmp_path / "s", embedder="none")
    assert closed == [tmp_path / "s"]
