"""The index as of one moment: rows, terms and parts of words of index and tail alike; what is not covered is said."""

from __future__ import annotations

import io
import random
import threading

import apsw
import pytest

from firsthand import Memory
from firsthand.answer import Scope
from firsthand.event import Draft, Kind, Trust
from firsthand.index import index_rows, reach, tail, text, words
from firsthand.index.blocks import COLUMNS
from firsthand.index.postings import IndexCache, IndexMoment, open_moment
from firsthand.log.sqlite import append as appends
from firsthand.log.sqlite.index_files import path_of
from stores import assert_whole

WORDS = "red blue boat car sail engine invoice getUserName src/app/main.py 8abeb7 0032 lake 2026-03-04 v2.10".split()  # noqa: SIM905


@pytest.fixture
def log(make_log, monkeypatch):
    """A store whose index follows 10 events at a time, with blocks of 16 rows."""
    monkeypatch.setattr(appends, "BACKLOG_EVENTS", 10)
    monkeypatch.setattr(reach, "BACKLOG_EVENTS", 10)
    monkeypatch.setattr(text, "BLOCK_ROWS", 16)
    return make_log(inline_max=4_000)


def append(log, *contents: bytes, kind: Kind = Kind.USER_MESSAGE, session: str = "s", agent: str = "") -> list:
    return [*log.append([Draft(kind, content, agent=agent) for content in contents],
                        namespace="default", session=session)]  # fmt: skip


def fill(log, count: int, seed: int = 1) -> None:
    """Append events of a few words in some sessions, one in nine of several passages."""
    chance = random.Random(seed)
    for number in range(count):
        many = 900 if number % 9 == 0 else chance.randrange(0, 9)
        content = " ".join(chance.choices(WORDS, k=many)).encode()
        kind = chance.choice([Kind.USER_MESSAGE, Kind.AGENT_MESSAGE, Kind.TOOL_RESULT, Kind.RECEIPT])
        append(log, content, kind=kind, session=f"s{number % 3}", agent=chance.choice(["", "Ann", "Bob"]))


def facts(moment: IndexMoment) -> dict[str, object]:
    """Give all that a moment says of some terms and of all rows."""
    columns = {name: getattr(moment.columns, name).tolist() for name in (*COLUMNS, "after", "following")}
    terms = [
        *moment.stems(" ".join(WORDS)),
        words.token("app/main.py"),
        words.token("v2.10"),
        words.token("2026-03-04"),
    ]
    postings = {term: [part.tolist() for part in moment.postings(term)] for term in terms}
    assert {term: moment.frequency(term) for term in terms} == {term: len(rows) for term, (rows, _) in postings.items()}
    parts = {part: set(moment.words_with(part, 100)) for part in ("user", "8ab", "oat", "ngin", "zzz", "vo")}
    return {"columns": columns, "postings": postings, "parts": parts, "mean": round(moment.columns.mean_tokens, 3)}


def around(moment: IndexMoment) -> dict[int, tuple[int, int]]:
    """Give the positions of the events before each event, and of the last one that somebody said."""
    position, columns = moment.columns.position, moment.columns
    led = zip(position[columns.before].tolist(), position[columns.previous].tolist(), strict=True)
    return dict(zip(position.tolist(), led, strict=True))


def moment_of(log, cache: IndexCache | None = None):
    return open_moment(log.reader, "default", cache or IndexCache())


def fresh(log) -> dict[str, object]:
    with moment_of(log) as moment:
        assert (moment.faults, moment.through) == ((), log.reader.head("default")[0])
        return facts(moment)


def test_index_and_tail_say_the_same(log, monkeypatch):
    """What the index holds, what waits for it, what a cache went on from and what a rebuild makes look alike."""
    cache = IndexCache()
    for seed in range(5):
        fill(log, 13, seed)
        with moment_of(log, cache) as moment:
            kept = facts(moment)
        assert kept == fresh(log)
    log.flush_indexes("default")
    assert fresh(log) == kept
    log.rebuild()
    assert fresh(log) == kept
    for path in (path_of(log.root, 1), *log.root.glob("index/1.db-*")):
        path.unlink()
    with moment_of(log) as moment:  # all of it is tail now
        assert "it is missing" in moment.faults[0]
        without = facts(moment)
    assert without == kept
    log.rebuild()


def test_postings_are_what_the_texts_hold(log):
    """Rows and times of a term are those of a count over the passages themselves."""
    fill(log, 60)
    with moment_of(log) as moment:
        for word in ("boat", "engin", "src"):
            wanted = {}
            for row in range(1, len(moment.columns) + 1):
                event = log.reader.event_at("default", int(moment.columns.position[row]))
                if not event.is_searchable:
                    continue
                start, size = int(moment.columns.start[row]), int(moment.columns.size[row])
                data = b"".join(log.reader.pieces(event, start, start + size))
                count = moment.stems(data.decode()).count(word)
                if count:
                    level = sum(count >= least for least in index_rows.LEVELS)
                    wanted[row] = float(index_rows.TIMES[level])
            rows, times = moment.postings(word)
            assert dict(zip(rows.tolist(), times.tolist(), strict=True)) == wanted
            assert len(set(times.tolist())) > 1


def test_times_are_told_in_steps(log):
    """Once, twice and three times are told exactly, four times as three, five and more as seven."""
    for count in (1, 2, 3, 4, 5, 30):
        append(log, b"boat " * count)
    for _ in range(2):
        with moment_of(log) as moment:
            assert moment.postings("boat")[1].tolist() == [1, 2, 3, 3, 7, 7]
        log.flush_indexes("default")


def test_rows_lead_to_the_events_around_them(log):
    """Before and after are the events next to one in its session; previous and following, those that somebody said."""
    fill(log, 40)
    sessions: dict[str, list[int]] = {}
    said: dict[str, list[int]] = {}
    with moment_of(log) as moment:
        columns = moment.columns
        for event in log.reader.events("default"):
            first = columns.rows_of(event.position).start
            there, spoken = sessions.setdefault(event.session, []), said.setdefault(event.session, [])
            assert [columns.before[row] for row in columns.rows_of(event.position)] == [
                there[-1] if there else 0 for _ in columns.rows_of(event.position)
            ]
            assert columns.previous[first] == (spoken[-1] if spoken else 0)
            if there:
                assert columns.after[there[-1]] == first
            if event.kind in {Kind.USER_MESSAGE, Kind.AGENT_MESSAGE} and columns.tokens[first]:
                if spoken:
                    assert columns.following[spoken[-1]] == first
                spoken.append(first)
            there.append(first)
        assert set(moment.agents.values()) == {"Ann", "Bob"}


def test_an_erasure_empties_what_is_remembered(log):
    """After an erasure no cache, no tail and no rebuilt index finds a word of it, and rows lead past it alike."""
    cache = IndexCache()
    fill(log, 25)
    secret = append(log, b"zirconium xyloquartz", session="s1")
    log.flush_indexes("default")
    with moment_of(log, cache) as moment:
        assert len(moment.postings("zirconium")[0]) == 1
        assert moment.words_with("conium", 9) == ("zirconium",)
    fill(log, 5, 2)
    log.erase("default", [event.id for event in secret])
    with moment_of(log, cache) as moment:
        assert len(moment.postings("zirconium")[0]) == moment.frequency("zirconium") == 0
        assert moment.words_with("conium", 9) == ()
        before = around(moment)
    log.rebuild()
    with moment_of(log, cache) as moment:
        after = around(moment)
    del before[secret[0].position]
    assert before == after


def test_words_that_hold_a_part_do_not_depend_on_when_they_came(log):
    """The shortest words that hold a part are given, whether they wait in the tail, are indexed, or were rebuilt."""
    made = [f"pontoon{'x' * (20 - number)}" for number in range(20)]
    for word in made:
        append(log, word.encode())
    wanted = tuple(sorted(made, key=len)[:8])
    with moment_of(log) as moment:
        assert moment.words_with("ponto", 8) == wanted
    for _ in range(2):
        log.flush_indexes("default")
        with moment_of(log) as moment:
            assert moment.words_with("ponto", 8) == wanted
        log.rebuild()
    assert set(wanted).isdisjoint(made[:12])


def test_what_is_far_behind_is_said(log, monkeypatch):
    """Events beyond the bound of the tail are named as not covered; those within it are found."""
    monkeypatch.setattr(tail, "EVENTS_MAX", 20)
    fill(log, 50)
    append(log, b"zirconium")
    path_of(log.root, 1).unlink()
    with moment_of(log) as moment:
        assert moment.faults[1:] == ("events 1 to 31 are not in the text index",)
        assert moment.columns.position[moment.postings("zirconium")[0]].tolist() == [51]
    log.rebuild()
    assert fresh(log)


def test_a_large_event_of_the_tail_is_cut_short_and_said(log, monkeypatch):
    """Of an enormous event that waits to be indexed the beginning is found, the rest is named; then all is."""
    monkeypatch.setattr(tail, "ROWS_EVENT_MAX", 3)
    monkeypatch.setattr(appends, "BACKLOG_BYTES", 1 << 30)
    lines = b"".join(b"line %d\n" % number for number in range(3_000))
    log.append([Draft(Kind.TOOL_RESULT, io.BytesIO(lines + b"zirconium"))], namespace="default", session="s")
    with moment_of(log) as moment:
        assert moment.faults == ("event 1 is not in the text index as a whole",)
        assert (len(moment.columns), moment.frequency("zirconium"), moment.frequency("12")) == (3, 0, 1)
    log.flush_indexes("default")
    with moment_of(log) as moment:
        assert (moment.faults, moment.frequency("zirconium")) == ((), 1)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE text_block SET data = zeroblob(length(data)) WHERE first = 1",
        "DELETE FROM text_block WHERE first = 1",
        "DELETE FROM text_block WHERE first = (SELECT max(first) FROM text_block)",
        "DROP TABLE text_block",
        "UPDATE text_index SET version = '1'",
        "DROP TABLE text_index",
        "DELETE FROM text_1_docsize",
        "DROP TABLE text_1_docsize",
    ],
)
def test_damage_is_a_fault_and_the_log_is_read_instead(log, damage):
    """An index that cannot be read is named, and the newest events are cut from the log and found."""
    fill(log, 30)
    append(log, b"zirconium")
    log.flush_indexes("default")
    wanted = fresh(log)
    log.exclusively(lambda _: None)
    db = apsw.Connection(str(path_of(log.root, 1)))
    db.execute(damage).fetchall()
    db.close()
    with moment_of(log) as moment:
        assert moment.faults
        assert facts(moment) == wanted
    log.rebuild()
    assert fresh(log) == wanted


def test_an_older_moment_sees_no_newer_rows(log):
    """While one thread reads, another one goes on: the columns of the first keep their rows, and their tail."""
    cache = IndexCache()
    fill(log, 14)
    seen: list[dict[str, object]] = []

    def newer() -> None:
        fill(log, 30, 3)
        with moment_of(log, cache) as moment:
            seen.append(facts(moment))

    with moment_of(log, cache) as moment:
        before = facts(moment)
        thread = threading.Thread(target=newer)
        thread.start()
        thread.join()
        columns = moment.columns
        inside = {name: getattr(columns, name).tolist() for name in COLUMNS}
        assert {name: before["columns"][name] for name in COLUMNS} == inside
        with moment_of(log, cache) as nested:  # of the same transaction, behind a cache that has gone on
            again = facts(nested)
            for name in COLUMNS:
                assert again["columns"][name] == inside[name]
            assert again["postings"] == before["postings"]
    assert seen[0] == fresh(log)


@pytest.mark.parametrize(
    "scope",
    [
        Scope(),
        Scope(sessions=("s1",)),
        Scope(sessions=("s*",), without_sessions=("s2",)),
        Scope(sessions=("nobody",)),
        Scope(agents=("Ann",)),
        Scope(agents=("", "Bob")),
        Scope(kinds=(Kind.USER_MESSAGE, Kind.RECEIPT)),
        Scope(trust_max=Trust.AGENT),
        Scope(after_position=5, before_position=20),
        Scope(sessions=("s0",), kinds=(Kind.TOOL_RESULT,), before_position=30),
    ],
    ids=str,
)
def test_a_scope_is_a_mask(log, scope):
    """A mask holds the rows of the events that a scope names, of index and tail alike."""
    fill(log, 45)
    with moment_of(log) as moment:
        mask = moment.scope_mask(scope)
        if scope.everything:
            assert mask is None
            return
        inside = {int(position) for position in moment.columns.position[1:][mask[1:]]}
    for event in log.reader.events("default"):
        names = not scope.sessions or event.session in scope.sessions or "s*" in scope.sessions
        wanted = (
            names and event.session not in scope.without_sessions
            and (not scope.agents or event.agent in scope.agents) and (not scope.kinds or event.kind in scope.kinds)
            and (scope.trust_max is None or event.trust <= scope.trust_max)
            and event.position > (scope.after_position or 0) and event.position < (scope.before_position or 1_000)
        )  # fmt: skip
        assert (event.position in inside) == wanted


def test_parts_of_words_are_found(tmp_path):
    """Parts of identifiers, at the humps or not, at either end or within, are found in index and tail alike."""
    with Memory.open(tmp_path / "s") as memory:
        session = memory.session("s")
        session.tool_call("edit", {"text": "minimumContrastRatio = 3\nshowThemeSelector()", "commit": "8abeb7"})
        for _ in range(2):
            with memory.index_moment() as moment:
                for part in (
                    "minimumContrast",
                    "ContrastRatio",
                    "themeSel",
                    "8abeb",
                    "abeb7",
                    "nimumco",
                    "meSelectors",
                ):
                    assert moment.words_with(part, 5), part
                assert moment.words_with("th", 5) == moment.words_with("zzz", 5) == ()
                assert len(moment.words_with("e", 1)) == 0
            memory.log.flush_indexes("default")
        assert memory.verify(deep=True).ok


def test_hostile_terms_find_nothing_and_raise_nothing(log):
    """Whatever is asked for instead of a term, there are no rows."""
    fill(log, 30)
    log.flush_indexes("default")
    with moment_of(log) as moment:
        for term in ('"', "a b", "boat*", "boat OR car", "boat+", "", "\0", "^boat", "-boat", "\ud800", "b" * 100_000):
            rows, times = moment.postings(term)
            assert len(rows) == len(times) == moment.frequency(term) == 0, term
    assert_whole(log)


def test_damage_that_shows_when_a_term_is_read_is_a_fault(log):
    """Where a page of terms is damaged the term has the rows of the tail, and the moment says so."""
    fill(log, 30)
    log.flush_indexes("default")
    append(log, b"boat")
    db = apsw.Connection(str(path_of(log.root, 1)))
    db.execute("UPDATE text_1_data SET block = randomblob(length(block)) WHERE id > 10").fetchall()
    db.close()
    with moment_of(log) as moment:
        assert moment.faults == ()
        rows, _ = moment.postings("boat")
        assert moment.columns.position[rows].tolist() == [31]
        assert "cannot be read" in moment.faults[0]
    log.rebuild()
