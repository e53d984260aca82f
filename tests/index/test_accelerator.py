"""The tantivy copy: it changes speed, never answers."""

from __future__ import annotations

import json
import os
import random
import shutil

import pytest

from firsthand.answer import Query, Scope
from firsthand.event import Draft, Kind
from firsthand.index import accelerator as accelerators
from firsthand.index.accelerator import Accelerator
from firsthand.index.text import TextIndex
from firsthand.index.tokenizer import stems
from firsthand.log.log import Log
from firsthand.recall import candidates
from firsthand.recall.lexical import Deadline, Lexical
from firsthand.recall.plan import Term
from firsthand.recall.search import search

pytest.importorskip("tantivy", reason="the extra 'tantivy' is not installed")

WORDS = [f"word{n}" for n in range(300)] + ["running", "src/app/main.py", "getUserName", "東京都", "W2378156"]


def texts(count: int, seed: int) -> list[bytes]:
    """Make texts of a Zipf-like vocabulary; many of them alike, so that many rows score the same."""
    chance = random.Random(seed)
    weights = [1 / (n + 1) for n in range(len(WORDS))]
    return [
        " ".join(chance.choices(WORDS, weights, k=chance.choice([1, 2, 2, 8, 40, 120]))).encode() for _ in range(count)
    ]


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Ask the copy for few postings too: a test's store has no more."""
    monkeypatch.setattr(candidates, "ACCELERATED_POSTINGS_MIN", 0)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    """A store of 3,000 events of two tenants, some of them artifacts."""
    opened = Log(tmp_path_factory.mktemp("accelerated") / "store", indexes=(TextIndex(),))
    for at, namespace in enumerate(["default", "other", "default"]):
        drafts = [Draft(Kind.TOOL_RESULT, text) for text in texts(1_000, at)]
        opened.append(drafts, namespace=namespace, session=f"s{at}")
    opened.append([Draft(Kind.TOOL_RESULT, b" ".join(texts(900, 9)))], namespace="default", session="big")
    yield opened
    opened.close()


def copy_of(log: Log, folder, events_max: int = 10**6) -> Accelerator:
    made = Accelerator(folder, log.reader, 1, stems(log.reader.db))
    made.advance(events_max)
    return made


QUERIES = [
    "word1", "word250", "word3 word200 word299", "running", "main.py", "get user name", "東京", "W2378156 word0",
    " ".join(WORDS[:40]), "word0 word1 word2 word3", "nothing like this",
]  # fmt: skip


@pytest.mark.parametrize("events", [10**6, 1_500, 2_600], ids=["whole", "half way", "lagging"])
def test_the_answers_are_the_same_with_a_copy_and_without(log, tmp_path, events):
    """With, without and with a lagging copy, the same hits come in the same order with the same scores."""
    copy = copy_of(log, tmp_path / "copy", events)
    answered = 0
    for query in QUERIES:
        for skip in (0, 60):
            asked = Query(query, skip=skip, hits_max=20)
            assert search(log.reader, "default", asked, accelerator=copy) == search(log.reader, "default", asked)
            answered += not copy.fault
    assert answered > len(QUERIES)


@pytest.mark.parametrize("limit", [1, 32, 500])
def test_its_rows_are_those_of_fts5(log, tmp_path, limit):
    """The rows it gives are the ones FTS5 gives, in the same order, also among equals."""
    copy = copy_of(log, tmp_path / "copy", 2_600)
    db = log.reader.db
    index = Lexical(db, 1, Scope(), Deadline(10_000))
    given = 0
    for keys in (["word1"], ["word0", "word250"], ["word5", "word50", "run"], ["absent"]):
        terms = [Term(key, key, f'"{key}"') for key in keys]
        rows = copy.ranked(terms, limit)
        if rows is not None:
            given += 1
            assert rows == index.ranked(" OR ".join(term.match for term in terms), limit)
    assert given >= 3


def test_it_follows_in_steps(log, tmp_path):
    """Many small advances lead to the same rows as one, and the last finds nothing to do."""
    copy = copy_of(log, tmp_path / "steps", 700)
    while copy.advance(700):
        pass
    assert copy.advance(700) == 0
    whole = copy_of(log, tmp_path / "whole")
    terms = [Term("word9", "word9", '"word9"')]
    assert copy.ranked(terms, 50) == whole.ranked(terms, 50) != None  # noqa: E711


@pytest.mark.parametrize("field", ["store", "chain", "format", "position"])
def test_a_copy_of_something_else_is_discarded(log, tmp_path, field):
    """A header that does not fit the log makes it give nothing, and the next advance begins anew."""
    copy = copy_of(log, tmp_path / "copy", 1_000)
    header = tmp_path / "copy" / "header.json"
    facts = json.loads(header.read_text())
    header.write_text(json.dumps(facts | {field: 999_999 if field == "position" else "00"}))
    terms = [Term("word9", "word9", '"word9"')]
    assert copy.ranked(terms, 5) is None
    assert copy.fault == "there is no copy that fits the log"
    assert copy.advance(10**6) == 2_001
    assert copy.ranked(terms, 5) is not None


def test_a_writer_that_died_is_noticed(log, tmp_path):
    """The mark of an advance that never ended makes the next one begin anew."""
    copy = copy_of(log, tmp_path / "copy", 1_000)
    (tmp_path / "copy" / "advancing").touch()
    assert copy.advance(10**6) == 2_001


def test_a_torn_header_or_lost_files_cost_speed_only(log, tmp_path):
    """Whatever is deleted or torn in its folder, answers stay and the next advance mends it."""
    want = search(log.reader, "default", Query("word1"))
    for damage in ("header", "index", "segment"):
        folder = tmp_path / damage
        copy_of(log, folder)
        if damage == "header":
            (folder / "header.json").write_bytes(b'{"format": ')
        elif damage == "index":
            (folder / "index" / "meta.json").unlink()
        else:
            for file in folder.glob("index/*.store"):
                file.unlink()
        copy = Accelerator(folder, log.reader, 1, stems(log.reader.db))
        assert search(log.reader, "default", Query("word1"), accelerator=copy) == want
        assert copy.fault


def test_it_is_left_alone_while_another_is_at_it(log, tmp_path):
    """A second writer does not wait and does nothing."""
    import fcntl

    (tmp_path / "copy").mkdir()
    with (tmp_path / "copy" / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        copy = Accelerator(tmp_path / "copy", log.reader, 1, stems(log.reader.db))
        assert copy.advance(100) == 0


def test_a_copy_far_behind_is_not_asked(log, tmp_path, monkeypatch):
    """When ranking the tail would cost more than it saves, it gives nothing and says why."""
    copy = copy_of(log, tmp_path / "copy", 500)
    monkeypatch.setattr(accelerators, "TAIL_EVENTS_MAX", 100)
    assert copy.ranked([Term("word9", "word9", '"word9"')], 5) is None
    assert copy.fault == "it reaches position 500, the text index 2,001"


def test_discarding_leaves_no_word_behind(log, tmp_path):
    """After a discard no file of the folder holds a word, and an advance makes the copy again."""
    copy = copy_of(log, tmp_path / "copy")
    assert any(b"getusernam" in file.read_bytes() for file in (tmp_path / "copy").rglob("*") if file.is_file())
    copy.discard()
    assert not any(file.stat().st_size for file in (tmp_path / "copy").rglob("*") if file.is_file())
    assert copy.advance(10**6) == 2_001


def test_a_query_of_few_postings_does_not_load_it(log, tmp_path, monkeypatch):
    """Rare terms are ranked by FTS5 alone: the copy is not opened."""
    monkeypatch.setattr(candidates, "ACCELERATED_POSTINGS_MIN", 100)
    copy = copy_of(log, tmp_path / "copy")
    (tmp_path / "copy" / "header.json").unlink()
    search(log.reader, "default", Query("W2378156"), accelerator=copy)
    assert not copy.fault
    search(log.reader, "default", Query("word0"), accelerator=copy)
    assert copy.fault


def test_a_byte_changed_in_any_file_is_noticed_and_the_copy_made_again(quick_path):
    """Whatever byte of whatever file changes: no answer from it, the copy is discarded and made again."""
    small = Log(quick_path / "store", indexes=(TextIndex(),))
    small.append([Draft(Kind.NOTE, text) for text in texts(40, 3)], namespace="default", session="s")
    terms = [Term("word0", "word0", '"word0"')]
    copy_of(small, quick_path / "whole")
    want = copy_of(small, quick_path / "whole").ranked(terms, 5)
    files = [path for path in (quick_path / "whole").rglob("*") if path.is_file() and path.stat().st_size]
    assert {path.suffix for path in files} >= {".json", ".store", ".idx", ".term", ".fast", ".fieldnorm"}
    for number, file in enumerate(files):
        good = file.read_bytes()
        for at in range(number % 7, len(good), 1 + len(good) // 12):
            folder = quick_path / f"{number}-{at}"
            shutil.copytree(quick_path / "whole", folder)
            flipped = bytearray(good)
            flipped[at] ^= 0xFF
            (folder / file.relative_to(quick_path / "whole")).write_bytes(flipped)
            copy = Accelerator(folder, small.reader, 1, stems(small.reader.db))
            assert copy.ranked(terms, 5) is None, (file.name, at)
            assert copy.fault
            assert copy.advance(10**6) == 40
            assert copy.ranked(terms, 5) == want
            assert not copy.fault
    small.close()


def test_a_panic_of_tantivy_is_damage_and_no_end(log, tmp_path):
    """Damage that keeps a file's times reaches tantivy; its panic is told as a fault, and the copy discarded."""
    made = copy_of(log, tmp_path / "copy")
    terms = [Term("word9", "word9", '"word9"')]
    want = made.ranked(terms, 5)
    (file, *_) = sorted((tmp_path / "copy").rglob("*.fieldnorm"))
    before, data = file.stat(), bytearray(file.read_bytes())
    end = len(data) - 8 - int.from_bytes(data[-8:-4], "little")  # where tantivy's own footer begins
    data[end - 4 : end] = b"\xff\xff\xff\x7f"  # the length of what stands before it
    file.write_bytes(data)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    reading = Accelerator(tmp_path / "copy", log.reader, 1, stems(log.reader.db), read_only=True)
    assert reading.ranked(terms, 5) is None
    assert "panicked" in reading.fault
    assert reading.fault.endswith("it stays, since the store is opened for reading")
    copy = Accelerator(tmp_path / "copy", log.reader, 1, stems(log.reader.db))
    assert copy.ranked(terms, 5) is None
    assert copy.fault.endswith("it was discarded, and is made again by the next advance")
    assert copy.advance(10**6) == 2_001
    assert copy.ranked(terms, 5) == want


def test_an_advance_reads_every_file_before_it_trusts_it(log, tmp_path):
    """Damage that keeps a file's times is found by the next advance, which begins anew."""
    copy_of(log, tmp_path / "copy", 1_000)
    (file, *_) = sorted((tmp_path / "copy").rglob("*.store"))
    before, data = file.stat(), bytearray(file.read_bytes())
    data[100] ^= 1
    file.write_bytes(data)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    copy = Accelerator(tmp_path / "copy", log.reader, 1, stems(log.reader.db))
    assert copy.advance(10**6) == 2_001


def test_a_damaged_event_stops_no_advance(tmp_path):
    """The copy follows the log past an event that cannot be read, and past a payload that is damaged."""
    damaged = Log(tmp_path / "store", indexes=(TextIndex(),), inline_max=500)
    drafts = [Draft(Kind.NOTE, b"word%d " % n * (200 if n == 4 else 1)) for n in range(6)]
    damaged.append(drafts, namespace="default", session="s")
    damaged.flush_indexes("default")
    damaged.writer.execute("UPDATE event SET body = x'00414243' WHERE key = 2").fetchall()
    (file,) = (tmp_path / "store" / "artifacts").rglob("*.zst")
    file.write_bytes(file.read_bytes()[:-20] + bytes(20))
    copy = copy_of(damaged, tmp_path / "copy")
    assert copy.advance(100) == 0
    assert json.loads((tmp_path / "copy" / "header.json").read_text())["position"] == 6
    assert copy.ranked([Term("word5", "word5", '"word5"')], 5) == [6]
    damaged.close()


def test_situations_of_notes_are_no_rows_of_the_copy(tmp_path):
    """Where notes have situations the copy holds passages alone, and answers are the same with it and without."""
    log = Log(tmp_path / "store", indexes=(TextIndex(),))
    meta = {"situations": ["word0 word1 in a situation", "word2 in another"]}
    drafts = [Draft(Kind.NOTE, text, meta=meta) for text in texts(200, 5)]
    log.append(drafts, namespace="default", session="notes")
    copy = copy_of(log, tmp_path / "copy")
    assert json.loads((tmp_path / "copy" / "header.json").read_text())["rows"] == 200
    for query in ("word0 word1", "word2", "situation"):
        with_copy = search(log.reader, "default", Query(query), accelerator=copy)
        assert with_copy.hits == search(log.reader, "default", Query(query)).hits
        assert with_copy.hits
    assert copy.fault == ""
    log.close()
