"""Importing: again, grown, rewritten, torn, broken."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from samples import JSONL, LINE_SOURCES, MBOX, PI, lines
from shelf import Shelf

from firsthand.errors import InvalidDraft, SourceRejected, StoreFull
from firsthand.event import Draft, Kind
from firsthand.fence import wrap
from firsthand.hosts import identity
from firsthand.hosts.batch import BATCH_EVENTS, Batch, Tally
from firsthand.hosts.importer import BAD_RUN_MAX, Progress, Quarantined, import_found, import_paths
from firsthand.hosts.intake import Placed
from firsthand.hosts.jsonl import Fields, Jsonl
from firsthand.hosts.source_files import in_paths
from firsthand.record import make
from firsthand.value import replace

DAY_NS = 86_400 * 1_000_000_000


def put(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def take(shelf: Shelf, *paths: Path, **options):
    return import_paths(shelf, paths, home=paths[0].parent, **options)


def imported(path: Path, data: bytes) -> Shelf:
    shelf = Shelf()
    take(shelf, put(path, data))
    return shelf


def test_a_source_becomes_events_in_its_order_with_their_exact_texts(tmp_path):
    """A transcript becomes its events, in order, with their exact contents, in the session its host names."""
    shelf = Shelf()
    report = take(shelf, put(tmp_path / "pi.jsonl", PI))
    assert shelf.sessions == ["pi:0a1b-pi"]
    assert [(d.kind, bytes(d.content)) for d in shelf.drafts()][1:] == [
        (Kind.USER_MESSAGE, "list the ports é".encode()),
        (Kind.AGENT_MESSAGE, b"Looking."),
        (Kind.TOOL_CALL, b'{"command": "ls /srv"}'),
        (Kind.TOOL_RESULT, b"8080\n9090\n"),
    ]
    assert (report.records, report.events_new, report.events_known, report.ok) == (4, 5, 0, True)
    assert report.sources[0].sessions == ("pi:0a1b-pi",)


def test_the_same_file_again_adds_nothing_and_is_not_read(tmp_path):
    """A file that is as it was is passed over, its events are counted as known, and its session is told again."""
    path = put(tmp_path / "pi.jsonl", PI)
    shelf = Shelf()
    take(shelf, path)
    appends = shelf.appends
    report = take(shelf, path)
    assert (report.events_new, report.events_known, report.sources[0].unchanged) == (0, 5, True)
    assert report.sources[0].sessions == ("pi:0a1b-pi",)
    assert shelf.appends == appends


def test_a_file_rewritten_to_the_same_size_is_read(tmp_path):
    """A file counts as unchanged by its time too: other words of the same length are not passed over."""
    path = put(tmp_path / "plain.jsonl", JSONL)
    shelf = Shelf()
    take(shelf, path)
    put(path, JSONL.replace(b"thanks", b"THANKS"))
    os.utime(path, ns=(1, 1))
    assert take(shelf, path).events_new == 1
    assert shelf.contents()[3] == b"THANKS"


@pytest.mark.parametrize("name", LINE_SOURCES)
def test_without_cursors_the_same_file_adds_nothing(tmp_path, name):
    """Ids come from the records, so a lost cursor costs time and no event."""
    shelf = imported(tmp_path / name, LINE_SOURCES[name])
    before = dict(shelf.events)
    shelf.cursors.clear()
    report = take(shelf, tmp_path / name)
    assert report.events_new == 0
    assert report.events_known == len(before)
    assert shelf.events == before


@pytest.mark.parametrize("name", [name for name in LINE_SOURCES if name != "in.mbox"])
def test_every_byte_cut_and_then_the_whole_is_the_same_as_the_whole_at_once(tmp_path, name):
    """A file imported at any length and again when it has grown gives the events of the whole, once."""
    data = LINE_SOURCES[name]
    whole = imported(tmp_path / name, data)
    for cut in range(len(data)):
        shelf = Shelf()
        path = put(tmp_path / name, data[:cut])
        import_found(shelf, in_paths([path]))
        put(path, data)
        os.utime(path, ns=(cut, cut))
        import_found(shelf, in_paths([path]))
        kept = {key: value for key, value in shelf.events.items() if key not in whole.events}
        assert set(whole.events) <= set(shelf.events), f"cut at {cut} lost an event"
        assert not kept, f"cut at {cut} made up {kept}"


def test_every_byte_cut_of_an_mbox_loses_no_mail(tmp_path):
    """A mail read while it was delivered may stay as the part it was; the whole mail is there all the same."""
    whole = imported(tmp_path / "in.mbox", MBOX)
    for cut in range(len(MBOX)):
        shelf = Shelf()
        path = put(tmp_path / "in.mbox", MBOX[:cut])
        import_found(shelf, in_paths([path]))
        put(path, MBOX)
        os.utime(path, ns=(cut, cut))
        import_found(shelf, in_paths([path]))
        assert set(whole.events) <= set(shelf.events), f"cut at {cut} lost a mail"
        extra = [bytes(draft.content) for key, (_, draft) in shelf.events.items() if key not in whole.events]
        assert all(part in MBOX[:cut] for part in extra)


def test_a_grown_file_is_read_from_where_it_stopped(tmp_path):
    """Only the new line is read, and what was there counts as known."""
    path = put(tmp_path / "pi.jsonl", PI)
    shelf = Shelf()
    take(shelf, path)
    with path.open("ab") as file:
        file.write(lines({"type": "model_change", "timestamp": "2026-01-02T03:05:00Z", "modelId": "m-2"}))
    report = take(shelf, path)
    assert (report.records, report.events_new, report.events_known) == (1, 1, 5)


def test_a_grown_file_of_too_many_records_is_read_whole_again(tmp_path, monkeypatch):
    """Where the cursor cannot keep what was seen, growth costs a whole reading and still adds each line once."""
    monkeypatch.setattr(identity, "SEEN_KEPT_MAX", 2)
    path = put(tmp_path / "plain.jsonl", JSONL)
    shelf = Shelf()
    take(shelf, path)
    with path.open("ab") as file:
        file.write(JSONL)
    report = take(shelf, path)
    assert (report.records, report.events_new, report.events_known, report.sources[0].branch) == (6, 3, 3, 0)


def test_equal_lines_are_events_of_their_own_also_across_imports(tmp_path):
    """The same line said three times is three events, whether it came at once or later."""
    path = put(tmp_path / "plain.jsonl", lines({"role": "user", "content": "yes"}) * 2)
    shelf = Shelf()
    take(shelf, path)
    with path.open("ab") as file:
        file.write(lines({"role": "user", "content": "yes"}))
    report = take(shelf, path)
    assert report.events_new == 1
    assert shelf.contents() == [b"yes"] * 3


def test_a_file_rewritten_in_place_keeps_what_was_there_and_marks_what_is_new(tmp_path):
    """After a host rewrites its file, old events stay and new lines say which branch brought them."""
    path = put(tmp_path / "plain.jsonl", JSONL)
    shelf = Shelf()
    take(shelf, path)
    kept, new = JSONL.splitlines(keepends=True)[2], lines({"role": "user", "content": "start over"})
    put(path, new + kept)
    report = take(shelf, path)
    assert (report.events_new, report.events_known, report.sources[0].branch) == (1, 1, 1)
    assert shelf.contents() == [b"where is the key?", b"in the drawer", b"thanks", b"start over"]
    assert [d.meta.get("branch") for d in shelf.drafts()] == [None, None, None, 1]


def test_a_longer_file_with_another_beginning_is_read_anew(tmp_path):
    """A file that grew, and whose lines before the cursor were changed too, loses none of both."""
    path = put(tmp_path / "plain.jsonl", JSONL)
    shelf = Shelf()
    take(shelf, path)
    put(path, JSONL.replace(b"where is the key?", b"where is the map?") + lines({"role": "user", "content": "more"}))
    report = take(shelf, path)
    assert (report.events_new, report.events_known, report.sources[0].branch) == (2, 2, 1)
    assert shelf.contents() == [b"where is the key?", b"in the drawer", b"thanks", b"where is the map?", b"more"]


def test_a_torn_last_line_waits_for_its_end(tmp_path):
    """Half a line is not stored; when it is whole it is one event."""
    path = put(tmp_path / "plain.jsonl", JSONL[:-10])
    shelf = Shelf()
    report = take(shelf, path)
    assert (report.events_new, report.sources[0].torn_bytes) == (2, len(JSONL.splitlines()[2]) + 1 - 10)
    assert report.quarantined_count == 0
    put(path, JSONL)
    assert take(shelf, path).events_new == 1
    assert shelf.contents() == [b"where is the key?", b"in the drawer", b"thanks"]


def test_a_torn_line_that_nobody_touched_for_a_day_is_kept_as_it_is(tmp_path):
    """The crash that tore a line is over: its bytes are stored verbatim and reported."""
    path = put(tmp_path / "plain.jsonl", JSONL[:-10])
    os.utime(path, ns=(0, 10**18))
    shelf = Shelf()
    import_found(shelf, in_paths([path]), now_ns=10**18 + DAY_NS)
    assert len(shelf.events) == 2
    report = import_found(shelf, in_paths([path]), now_ns=10**18 + DAY_NS + 1)
    assert report.quarantined_count == 1
    assert shelf.contents()[2] == JSONL.splitlines(keepends=True)[2][:-10]


def test_a_broken_line_is_kept_verbatim_and_reported_with_its_place(tmp_path):
    """What does not parse is an event of its bytes, named by path, line, offset and reason; the rest is read."""
    good = JSONL.splitlines(keepends=True)
    path = put(tmp_path / "plain.jsonl", good[0] + b'{"role": "user", "con\n' + good[1])
    shelf = Shelf()
    report = take(shelf, path)
    (bad,) = report.sources[0].quarantined
    assert bad == Quarantined(str(path), 2, len(good[0]), bad.reason)
    assert bad.reason.startswith("unparsed: ")
    assert shelf.contents() == [b"where is the key?", b'{"role": "user", "con\n', b"in the drawer"]
    assert shelf.drafts()[1].kind is Kind.OTHER
    assert shelf.drafts()[1].meta["quarantine"] == bad.reason


def test_binary_junk_under_a_transcripts_name_is_refused(tmp_path):
    """A run of records that make no sense ends the reading; nothing of the run is stored."""
    path = put(tmp_path / "junk.jsonl", b"\x00\x01\xfe{\n" * (BAD_RUN_MAX + 10))
    shelf = Shelf()
    with pytest.raises(SourceRejected, match=r"from line 1 \(byte 0\) on, 100 records in a row"):
        take(shelf, path, host=Jsonl())
    assert shelf.events == {}


def test_junk_after_good_lines_is_reported_each_time_and_the_good_lines_stay(tmp_path):
    """What came before the junk is kept; the refusal is not forgotten by the next import."""
    path = put(tmp_path / "half.jsonl", JSONL + b"\x00\x01\xfe{\n" * BAD_RUN_MAX)
    shelf = Shelf()
    for new in (3, 0):
        report = take(shelf, path)
        assert report.events_new == new
        assert "from line 4" in report.sources[0].refused
    assert len(shelf.events) == 3


def test_bytes_that_come_while_the_file_is_read_are_left_for_the_next_time(tmp_path):
    """An import reads up to the size the file had when it was opened."""
    path = put(tmp_path / "plain.jsonl", JSONL)

    class Growing(Shelf):
        asked = 0

        def cursor(self, source_key):
            self.asked += 1
            if self.asked == 2:  # the file is open by now
                with path.open("ab") as file:
                    file.write(lines({"role": "user", "content": "late"}))
            return super().cursor(source_key)

    shelf = Growing()
    assert take(shelf, path).events_new == 3
    assert take(shelf, path).events_new == 1
    assert shelf.contents()[3] == b"late"


def test_one_bad_source_does_not_stop_the_others(tmp_path):
    """An archive, a missing file and a good file together: the good one is imported, the others say why not."""
    archive = put(tmp_path / "a.zip", b"PK\x03\x04....")
    good = put(tmp_path / "pi.jsonl", PI)
    shelf = Shelf()
    report = take(shelf, archive, tmp_path / "missing.jsonl", good)
    assert report.events_new == 5
    assert ["zip" in report.sources[0].refused, "is not there" in report.sources[1].refused] == [True, True]
    assert report.sources[2].refused == ""
    assert not report.ok


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.zip", b"PK\x03\x04....", "zip archive"),
        ("a.jsonl.gz", b"\x1f\x8b\x08\x00", "gzip archive"),
        ("a.jsonl", '{"role": "user", "content": "x"}\n'.encode("utf-16"), "UTF-16"),
        ("b.jsonl", '{"role": "user", "content": "x"}\n'.encode("utf-16-le"), "UTF-16"),
        ("notes.txt", b"just some words\n", "no host knows"),
    ],
)
def test_the_one_file_that_was_asked_for_is_refused_with_a_reason(tmp_path, name, data, reason):
    """Asked for one file that cannot be imported, the import raises and says what to do."""
    with pytest.raises(SourceRejected, match=reason):
        take(Shelf(), put(tmp_path / name, data))


@pytest.mark.parametrize("data", [b"", b" \n\n\t\n"])
def test_an_empty_file_is_no_event_and_no_error(tmp_path, data):
    """A file with nothing in it was read to its end."""
    report = take(Shelf(), put(tmp_path / "empty.jsonl", data))
    assert (report.events_new, report.refused) == (0, ())


def test_files_that_no_host_knows_are_counted_in_a_folder(tmp_path):
    """In a folder, what is no transcript is no fault; it is counted and the first ones are named."""
    put(tmp_path / "a.py", b"print(1)\n")
    put(tmp_path / "b.jsonl", JSONL)
    report = import_paths(Shelf(), [tmp_path], home=tmp_path)
    assert (report.events_new, report.unknown, report.unknown_count) == (3, (str(tmp_path / "a.py"),), 1)
    assert report.ok


def test_a_mapping_says_how_plain_lines_are_read(tmp_path):
    """With a mapping, content, kind, time, session, agent and id come from the fields it names."""
    fields = Fields.of({"content": "m.text", "kind": "who", "time": "ts", "session": "thread", "agent": "nick"})
    data = lines({"m": {"text": "hello"}, "who": "human", "ts": 0, "thread": "t1", "nick": "ada"})
    shelf = Shelf()
    take(shelf, put(tmp_path / "x.jsonl", data), host=Jsonl(fields))
    (draft,) = shelf.drafts(f"{Jsonl(fields).name}:t1")
    assert (draft.kind, draft.content, draft.agent, str(draft.time)) == (
        Kind.USER_MESSAGE, b"hello", "ada", "1970-01-01T00:00:00.000Z",
    )  # fmt: skip


def test_lines_copied_into_a_forked_session_are_not_stored_twice(tmp_path):
    """A fork copies its session's lines, and there they are the same events."""
    fork = lines({"type": "session", "id": "fork-2", "timestamp": "2026-01-02T04:00:00Z", "branchedFrom": "pi.jsonl"})
    put(tmp_path / "a.jsonl", PI)
    put(tmp_path / "b.jsonl", fork + PI.split(b"\n", 1)[1])
    shelf = Shelf()
    report = import_paths(shelf, [tmp_path], home=tmp_path)
    assert (report.events_new, report.events_known) == (6, 4)
    assert [d.meta["branchedFrom"] for d in shelf.drafts("pi:fork-2")] == ["pi.jsonl"]


def test_appends_are_bounded_and_shared_by_small_sources(tmp_path):
    """Records go to the store in batches of `BATCH_EVENTS`, over the borders of sources."""

    class Counting(Shelf):
        sizes: tuple[int, ...] = ()

        def append_records(self, placed):
            self.sizes = (*self.sizes, sum(len(one.record.drafts) for one in placed))
            return super().append_records(placed)

    for number in range(3 * BATCH_EVENTS // 50):
        put(tmp_path / f"{number:03}.jsonl", lines(*({"role": "user", "content": f"{number} {k}"} for k in range(50))))
    shelf = Counting()
    assert import_paths(shelf, [tmp_path], home=tmp_path).events_new == 3 * BATCH_EVENTS
    assert shelf.sizes == (BATCH_EVENTS,) * 3


def test_a_record_the_log_refuses_is_kept_as_its_bytes_and_takes_no_other_with_it():
    """One record over a limit of the log becomes a verbatim event with the reason; its neighbours are whole."""
    shelf, tally = Shelf(), Tally("x.jsonl", host="jsonl")
    batch = Batch(shelf)
    for number, meta in enumerate(({}, {"too": "much" * 100_000}, {})):
        record = make(b"raw %d" % number, (Draft(Kind.NOTE, b"said %d" % number, meta=meta, id=f"{number:026}"),))
        batch.add(Placed("s", record, line=number + 1, offset_bytes=number * 5), tally)
    batch.flush()
    assert shelf.contents() == [b"said 0", b"raw 1", b"said 2"]
    assert tally.quarantined == [Quarantined("x.jsonl", 2, 5, "refused by the log: meta is over its limit")]
    assert (tally.events_new, tally.events_known) == (3, 0)


def test_a_store_that_refuses_everything_is_not_hidden():
    """When even the verbatim record is refused, the log's error comes out."""

    class Refusing(Shelf):
        def append_records(self, placed):
            raise InvalidDraft("nothing is taken today")

    batch = Batch(Refusing())
    batch.add(Placed("s", make(b"raw", (Draft(Kind.NOTE, b"said", id="0" * 26),))), Tally("x"))
    with pytest.raises(InvalidDraft, match="nothing is taken today"):
        batch.flush()


@pytest.mark.parametrize("at", [0, 2])
def test_an_import_that_was_killed_is_finished_by_the_next_one(tmp_path, at):
    """The store fails at an append: what was appended is known to the next import, what was not is added."""

    class Failing(Shelf):
        broken = False

        def append_records(self, placed):
            if self.broken and self.appends == at:
                raise StoreFull("the disk is full; free some space and import again")
            return super().append_records(placed)

    count = 3 * BATCH_EVENTS + 200
    data = lines(*({"role": "user", "content": f"line {number}"} for number in range(count)))
    put(tmp_path / "a.jsonl", data)
    put(tmp_path / "0.jsonl", JSONL)
    shelf = Failing()
    shelf.broken = True
    with pytest.raises(StoreFull):
        import_paths(shelf, [tmp_path], home=tmp_path)
    assert len(shelf.events) == at * BATCH_EVENTS
    shelf.broken = False
    report = import_paths(shelf, [tmp_path], home=tmp_path)
    assert (report.events_new, report.events_known) == (count + 3 - at * BATCH_EVENTS, at * BATCH_EVENTS)
    assert shelf.contents("jsonl:a") == [b"line %d" % number for number in range(count)]


def test_what_firsthand_put_into_a_transcript_is_not_imported(tmp_path):
    """A recalled block in a message is left out and counted when nothing else was said."""
    data = lines(
        {"role": "user", "content": "what was it?"},
        {"role": "tool", "content": wrap("the old answer", Shelf.fence_key)},
        {"role": "user", "content": "so: " + wrap("the old answer", Shelf.fence_key) + " right?"},
    )
    shelf = Shelf()
    report = take(shelf, put(tmp_path / "x.jsonl", data))
    assert (report.injected, report.events_new) == (1, 2)
    assert shelf.contents() == [b"what was it?", b"so: [recalled by firsthand, not stored again] right?"]
    assert b"old answer" not in b"".join(draft.envelope for draft in shelf.drafts())


def test_another_mapping_gives_other_events(tmp_path):
    """A file read with a mapping, with another and with none is three sessions; each one again adds nothing."""
    path = put(tmp_path / "x.jsonl", lines({"content": "a", "text": "b", "words": "c"}))
    hosts = [Jsonl(Fields.of({"content": name})) for name in ("text", "words", "content")]
    shelf = Shelf()
    assert [take(shelf, path, host=host).events_new for host in hosts] == [1, 1, 1]
    assert [take(shelf, path, host=host).events_new for host in hosts] == [0, 0, 0]
    assert [shelf.contents(f"{host.name}:x") for host in hosts] == [[b"b"], [b"c"], [b"a"]]
    put(path, lines({"content": "a", "text": "b", "words": "c"}, {"text": "d", "words": "e"}))
    assert take(shelf, path, host=hosts[1]).events_new == 1
    assert shelf.contents(f"{hosts[1].name}:x") == [b"c", b"e"]


def test_a_mapping_that_fits_no_line_is_no_transcript(tmp_path):
    """Misspell the content's field and a long file is refused, with the field's name and its first line."""
    path = put(tmp_path / "x.jsonl", lines(*({"content": "a"} for _ in range(BAD_RUN_MAX))))
    with pytest.raises(SourceRejected, match=r"from line 1 .* there is no field 'txt'"):
        take(Shelf(), path, host=Jsonl(Fields.of({"content": "txt"})))
    with pytest.raises(SourceRejected, match="expected the files to read with this mapping"):
        import_paths(Shelf(), None, home=tmp_path, host=Jsonl())


def test_progress_runs_forward_to_the_end(tmp_path):
    """Progress never runs backwards and ends with all files and bytes done."""
    for number in range(3):
        put(tmp_path / f"{number}.jsonl", JSONL)
    told: list[Progress] = []
    import_paths(Shelf(), [tmp_path], home=tmp_path, progress=told.append)
    assert [(p.files_done, p.bytes_done) for p in told] == sorted((p.files_done, p.bytes_done) for p in told)
    last = told[-1]
    assert last == replace(last, files_done=3, files_total=3, bytes_done=3 * len(JSONL), bytes_total=3 * len(JSONL))


def test_a_file_name_of_any_signs_names_a_session_that_can_be_shown(tmp_path):
    """Line ends and the like in a file's name do not reach the session's name; with nothing left it is unnamed."""
    put(tmp_path / "a\nb\x07.jsonl", JSONL)
    put(tmp_path / "\n.jsonl", JSONL)
    shelf = Shelf()
    import_paths(shelf, [tmp_path], home=tmp_path)
    assert sorted(shelf.sessions) == ["jsonl:ab", "jsonl:unnamed"]


def test_a_name_that_is_not_utf8_is_imported_and_shown(tmp_path):
    """A file name of any bytes is opened by its bytes and shown with escapes."""
    path = put(tmp_path / "caf\udce9.jsonl", JSONL)
    shelf = Shelf()
    report = import_paths(shelf, [path], home=tmp_path)
    assert report.events_new == 3
    assert report.sources[0].path.endswith("caf\\udce9.jsonl")
    assert import_paths(shelf, [path], home=tmp_path).sources[0].unchanged
