"""firsthand show, sessions, timeline, stats."""

from __future__ import annotations

import base64
import hashlib

import apsw
import pytest

from firsthand import Draft, Kind, Memory

BYTES = bytes(range(256)) * 200  # an artifact, no text


@pytest.fixture
def damage(shell):
    """Damage the body of the event at a position, in the database file itself."""

    def flip(position: int) -> None:
        shell.damaged = True
        db = apsw.Connection(str(shell.store / "firsthand.db"))
        body = bytearray(db.execute("SELECT body FROM event WHERE key = ?", (position,)).get)
        body[len(body) // 2] ^= 1
        db.execute("UPDATE event SET body = ? WHERE key = ?", (bytes(body), position))
        db.close()

    return flip


@pytest.mark.parametrize(
    "content", [b"", b"text\n", b"\x00\xff\xfe\x1b[1m", "日本\u202e".encode(), BYTES, b"\n" * 70_000]
)
def test_a_pipe_gets_the_exact_bytes(shell, content):
    """Whatever was appended comes out of show as it is, with and without --raw, and nothing is added."""
    pointer = shell.append(content)
    assert (shell("show", pointer).code, shell("show", pointer).out) == (0, content)
    assert shell.process("show", pointer, "--raw").out == content


def test_parts_of_an_event_are_shown(shell):
    """Ranges of bytes and lines, spans and lower case ids address what they say."""
    first = shell.append("one\ntwo\nthree\n")
    last = shell.append("four")
    assert shell("show", f"{first}@4-7").out == b"two"
    assert shell("show", f"{first}@L2-3").out == b"two\nthree\n"
    assert shell("show", f"{first}..{last.removeprefix('fh:')}").out == b"one\ntwo\nthree\nfour\n"
    assert shell("show", first.removeprefix("fh:").lower()).out == b"one\ntwo\nthree\n"


@pytest.mark.parametrize(
    ("address", "code", "error"),
    [
        ("nonsense", 5, "expected a pointer such as"),
        ("fh:" + "0" * 25, 5, "expected a pointer such as"),
        ("fh:" + "0" * 26 + "@9-1", 5, "a range runs forward"),
        ("\x1b[2J" + "9" * 100, 5, "expected a pointer such as"),
        ("fh:" + "0" * 26, 1, "no event fh:"),
    ],
)
def test_a_pointer_that_leads_nowhere_is_told(shell, address, code, error):
    """What is no pointer is refused with 5; a pointer that nothing answers to ends with 1."""
    shell.append("x")
    said = shell("show", address)
    assert (said.code, said.out) == (code, b"")
    assert error in said.error
    assert "\x1b" not in said.error


def test_a_range_beyond_the_end_and_an_erased_event_are_told(shell):
    """Neither gives wrong or empty text: both end with 1 and a sentence."""
    pointer = shell.append("x")
    beyond = shell("show", f"{pointer}@0-9")
    assert (beyond.code, beyond.out) == (1, b"")
    assert "reaches beyond the end: the content has 1 bytes" in beyond.error
    assert shell("store", "erase", pointer, "--yes").code == 0
    erased = shell("show", pointer)
    assert (erased.code, erased.out) == (1, b"")
    assert "was erased" in erased.error


def test_json_keeps_bytes_that_are_no_text(shell):
    """In JSON, text is a string and other bytes are base64; lone surrogates come back byte for byte."""
    for content in (b"text \x1b\x00", b"\xff\x00", "\ud800".encode("utf-8", "surrogatepass")):
        form = shell("show", shell.append(content), "--json").json
        got = form["content"]
        assert (got.encode() if isinstance(got, str) else base64.b64decode(got["base64"])) == content
    assert form["kind"] == "user_message"
    assert form["size_bytes"] == 3


def test_json_of_a_huge_content_is_refused(shell, monkeypatch):
    """What is too large for one JSON value is a usage error that says how to get it."""
    monkeypatch.setattr("firsthand.cli.events.JSON_CONTENT_BYTES_MAX", 10)
    said = shell("show", shell.append("x" * 11), "--json")
    assert (said.code, said.out) == (2, b"")
    assert "ask for a part of it, such as fh:" in said.error


def test_a_terminal_gets_a_header_and_safe_text(shell):
    """On a terminal show says what it is and escapes it; --raw adds and changes nothing."""
    pointer = shell.append(
        "a\x1b[1m\tb\n\nc", "s", "tool_result", "--tool", "bash", "--call-id", "c1", "--time", "1970-01-01"
    )
    said = shell.on_terminal("show", pointer, NO_COLOR="1")
    header, *rest = said.text.splitlines()
    assert header == f"{pointer}  tool_result from tool:bash  1970-01-01 00:00:00Z"
    assert rest == [
        "session s  turn 0  position 1  10 B of text/plain  (untrusted)",
        "tool=bash  call_id=c1",
        "a\\x1b[1m   b",
        "",
        "c",
    ]
    assert shell.on_terminal("show", pointer, "--raw").out == b"a\x1b[1m\tb\n\nc"


def test_the_source_record_is_shown(shell, tmp_path):
    """--source gives the line that an imported event was cut from; it goes with no range."""
    line = b'{"role": "user", "content": "hello \\u00e9 source"}\n'
    (tmp_path / "talk.jsonl").write_bytes(line)
    assert shell("import", tmp_path / "talk.jsonl").code == 0
    (event,) = shell("timeline", "--json").json_lines
    assert shell("show", event["pointer"], "--source").out == line
    refused = shell("show", event["pointer"] + "@0-1", "--source")
    assert (refused.code, refused.out) == (2, b"")
    assert shell("show", shell.append("direct"), "--source").code == 1


def test_sessions_are_listed(shell):
    """Sessions come in the order they began, with counts and times, for people and as JSON."""
    shell.append("a", "one", "user_message", "--time", "2026-01-01")
    shell.append("b", "two", "note", "--id", "0" * 26)
    shell.append("c", "one", "user_message", "--time", "2026-01-02T00:00:00+02:00")
    said = shell("session", "list")
    assert said.lines == [
        "events  turns  first                 last                  session",
        "     2      2  2026-01-01 00:00:00Z  2026-01-01 22:00:00Z  one",
        "     1      0  time unknown          time unknown          two",
    ]
    assert said.error == "2 sessions; read one: firsthand timeline --session NAME\n"
    first = shell("session", "list", "--json").json_lines[0]
    assert {key: first[key] for key in ("name", "events", "turns", "first", "first_position", "last_position")} == {
        "name": "one", "events": 2, "turns": 2, "first": "2026-01-01T00:00:00.000Z", "first_position": 1,
        "last_position": 3,
    }  # fmt: skip


def test_an_empty_namespace_has_no_sessions(shell):
    """A namespace that nothing was written to has no sessions, which is no failure."""
    shell.append("a")
    said = shell("session", "list", "--namespace", "elsewhere")
    assert (said.code, said.out) == (0, b"")
    assert "no sessions in namespace 'elsewhere'" in said.error


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), [1, 2, 3, 4, 5]),
        (("--reverse",), [5, 4, 3, 2, 1]),
        (("--session", "odd"), [1, 3, 5]),
        (("--session", "odd", "--reverse", "--limit", "2"), [5, 3]),
        (("--after", "3"), [4, 5]),
        (("--limit", "0", "--after", "1"), [2, 3, 4, 5]),
        (("--since", "2026-01-03"), [3, 4, 5]),
        (("--until", "2026-01-02T00:00:00Z"), [1, 2]),
        (("--since", "2026-01-02", "--until", "2026-01-03"), [2, 3]),
    ],
)
def test_the_timeline_is_cut_as_asked(shell, options, expected):
    """Session, time, position, limit and direction each do what they say, together too."""
    for number in range(1, 6):
        shell.append("x", "odd" if number % 2 else "even", "note", "--time", f"2026-01-0{number}")
    said = shell("timeline", "--json", *options)
    assert [one["position"] for one in said.json_lines] == expected
    assert [int(line.split()[0]) for line in shell("timeline", *options).lines] == expected


def test_an_event_of_unknown_time_is_in_no_range_of_time(shell):
    """An event without a time is listed, but not when a time is asked for."""
    shell.append("x", "s", "note", "--id", "0" * 26)
    assert len(shell("timeline").lines) == 1
    assert shell("timeline", "--since", "0001-01-01").code == 1
    assert shell("timeline", "--until", "9999-12-31").code == 1


def test_an_unknown_session_is_told(shell):
    """Timeline and export of a session that is not there end with 1 and say where to look."""
    shell.append("x")
    for command in (("timeline",), ("store", "export")):
        said = shell(*command, "--session", "nobody")
        assert (said.code, said.out) == (1, b"")
        assert "no session 'nobody' here" in said.error


@pytest.mark.files_only("damages firsthand.db")
@pytest.mark.parametrize("options", [(), ("--reverse",), ("--session", "a")])
def test_damaged_events_hide_no_others(shell, damage, options):
    """A timeline goes on past damaged events in both directions, names them, and ends with 3."""
    with Memory.open(shell.store) as memory:
        for name, first in (("a", 1), ("b", 301)):
            memory.append([Draft(Kind.NOTE, b"note %d" % n) for n in range(first, first + 300)], session=name)
    for position in (1, 2, 300, 600):
        damage(position)
    said = shell("timeline", "--json", "--limit", "0", *options)
    expected = [
        number for number in range(1, 601) if number not in (1, 2, 300, 600) and (number <= 300 or "a" not in options)
    ]
    assert said.code == 3
    assert [one["position"] for one in said.json_lines] == (expected[::-1] if options == ("--reverse",) else expected)
    named = [int(line.split("position ")[1].split()[0]) for line in said.error.splitlines()]
    assert sorted(named) == ([1, 2, 300] if "a" in options else [1, 2, 300, 600])


@pytest.mark.files_only("damages a page of firsthand.db")
@pytest.mark.parametrize("options", [(), ("--reverse",)])
def test_an_unreadable_page_hides_only_what_lies_on_it(shell, options):
    """Where a page of the database is destroyed, all events before and after it are still listed."""
    with Memory.open(shell.store) as memory:
        notes = [f"note {number} {hashlib.sha256(b'%d' % number).hexdigest()}" for number in range(1, 401)]
        memory.append([Draft(Kind.NOTE, note.encode()) for note in notes], session="s")
    shell.damaged = True
    file = shell.store / "firsthand.db"
    db = apsw.Connection(str(file))
    body = db.execute("SELECT body FROM event WHERE key = 200").get
    db.close()
    data = bytearray(file.read_bytes())
    page = data.rfind(body) // 4096 * 4096
    data[page : page + 4096] = bytes(4096)
    file.write_bytes(data)
    said = shell("timeline", "--json", "--limit", "0", *options)
    assert said.code == 3
    listed = {one["position"] for one in said.json_lines}
    named = {int(line.split("position ")[1].split()[0]) for line in said.error.splitlines()}
    assert 200 in named
    assert len(named) < 60
    assert listed | named == set(range(1, 401))
    assert listed & named == set()


@pytest.mark.files_only("parts of the folder")
def test_stats_count_and_measure(shell):
    """Stats names the store, counts events by kind, and prints the head that verify derives."""
    shell.append(BYTES, "s", "tool_result")
    shell.append("x")
    found = shell("store", "size", "--json").json
    assert (found["events"], found["sessions"], found["erased"], found["artifacts"]) == (2, 1, 0, 1)
    assert found["kinds"] == {"tool_result": 1, "user_message": 1}
    assert found["head"] == shell("store", "verify", "--json").json["head"]
    said = shell("store", "size")
    assert said.code == 0
    assert [line.split()[0] for line in said.lines] == [
        "store", "namespace", "events", "sessions", "erased", "index", "head", "disk", "log", "artifacts", "other",
    ]  # fmt: skip
    assert found["head"] in said.text
