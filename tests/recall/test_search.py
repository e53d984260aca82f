"""Recall over a real store."""

from __future__ import annotations

import random

import pytest

from firsthand.answer import Outcome, Query, Scope
from firsthand.event import Draft, Kind, Trust
from firsthand.index.text import TextIndex
from firsthand.log.log import Log
from firsthand.moment import Moment
from firsthand.recall import scan as scans
from firsthand.recall.attempt import BLOCK_ROWS
from firsthand.recall.candidates import POOL_ROWS, SPARE_ROWS
from firsthand.recall.lexical import STRETCHES_MAX
from firsthand.recall.search import search
from firsthand.tokens import estimate
from firsthand.value import replace


def make(folder) -> Log:
    return Log(folder, indexes=(TextIndex(),))


def put(log: Log, *contents, session="s", namespace="default", **fields):
    texts = [one.encode() if isinstance(one, str) else one for one in contents]
    drafts = [one if isinstance(one, Draft) else Draft(Kind.TOOL_RESULT, one, **fields) for one in texts]
    return [a.position for a in log.append(drafts, namespace=namespace, session=session)]


def ask(log: Log, text: str, *, namespace="default", scope=None, **fields):
    """Ask once, take every hit for found and leave repetitions where they are: those have tests of their own."""
    fields = {"cost": 0.001, "attempts_max": 1, "mmr_lambda": 1} | fields
    return search(log.reader, namespace, Query(text, scope=scope or Scope(), **fields))


def positions(answer) -> list[int]:
    return [hit.position for hit in answer]


@pytest.fixture
def log(tmp_path):
    """An empty store with a text index."""
    opened = make(tmp_path / "store")
    yield opened
    opened.close()


@pytest.fixture
def sabotage(log):
    """Run SQL on the store's database."""

    def run(sql: str) -> None:
        def action(db):
            log.index_files.made(1)
            with db:
                db.execute(sql).fetchall()

        log.exclusively(action)

    return run


def test_a_hit_shows_what_it_is_and_why(log):
    """Every field of a hit comes from its event; it shows the factors of its score and what its base is made of."""
    moment = Moment(1_700_000_000_000_000)
    put(
        log,
        "noise",
        "deploy failed at src/app/main.py:12",
        agent="ann",
        origin="tool:bash",
        trust=Trust.AGENT,
        time=moment,
    )
    answer = ask(log, "why did src/app/main.py fail")
    (hit,) = answer
    event = log.reader.event("default", hit.pointer[3:])
    assert answer.outcome is Outcome.FOUND
    assert (hit.position, hit.kind, hit.session, hit.agent, hit.origin, hit.trust, hit.time) == (
        2, Kind.TOOL_RESULT, "s", "ann", "tool:bash", Trust.AGENT, moment,
    )  # fmt: skip
    assert (hit.preview, hit.preview_start, hit.exact) == (event.text, 0, ("src/app/main.py",))
    assert list(hit.parts) == ["base", "premise", "phase", "superseded", "task_relevance"]
    assert 0 < hit.score == hit.parts["base"] < 1
    assert hit.found_by["words"] > 0 < hit.found_by["exact"]
    assert (answer.more, answer.truncated, answer.notes, answer.through) == (False, False, (), 2)


@pytest.mark.parametrize(
    "query",
    [
        "src/app/main.py", "main.py", "app/main.py", "550e8400-e29b-41d4-a716-446655440000", "ann@example.com",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "9f86d08", "get_user_name", "getUserName",
        "1,234.56", "v2.10.3", "W2378156", "10.0.0.1:8080", "東京", "京", "ภาษา", "Ω", "İstanbul",
        "ERR_CONN",
        "std::vector", "https://example.com/a/b?c=d", "app/ma", '"failed with"', "failed with ERR_CONN",
    ],
)  # fmt: skip
def test_what_stands_in_an_event_is_found(log, query):
    """Each kind of string of an event finds it, first of all, among others like it."""
    needle = (
        "failed with ERR_CONN in src/app/main.py 550e8400-e29b-41d4-a716-446655440000 ann@example.com get_user_name "
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 getUserName() 1,234.56 v2.10.3 W2378156 "
        "10.0.0.1:8080 東京都 ภาษาไทย Ω İstanbul std::vector<int> https://example.com/a/b?c=d app/ma"
    )
    others = [
        "failed to connect in src/app/other.py",
        "user of the name 1,234.57 v2.10.4",
        "10.0.0.2:8081 大阪",
        "with main",
    ]
    put(log, *others, needle, *others)
    answer = ask(log, query)
    assert answer.outcome is Outcome.FOUND
    assert answer.hits[0].position == 5


@pytest.mark.parametrize(
    "query", ["", "  \n", '"', "NEAR(", "*", "AND", "(", "😀", "x" * 60_000, "a b " * 15_000, "\0", "\ud800"]
)
def test_any_text_is_a_valid_query(log, query):
    """No query is an error, in a store where nothing matches."""
    put(log, "crow")
    answer = ask(log, query)
    assert (answer.outcome, answer.hits) == (Outcome.ABSENT, ())


def test_a_query_without_words_is_searched_sign_by_sign(log):
    """Signs that are no words are found in the log itself, and the answer says how."""
    put(log, "all done 🎉", "nothing")
    answer = ask(log, "🎉")
    assert positions(answer) == [1]
    assert answer.notes == ("the query holds no word; 2 events were searched sign by sign",)


def test_a_quoted_phrase_stands_before_its_words_apart(log):
    """An event with the phrase in one piece ranks above a shorter one with the same words apart."""
    put(log, "meter gas", "the report on the long gas meter of the other house said nothing at all", "gas bill")
    assert positions(ask(log, '"gas meter"'))[:2] == [2, 1]


@pytest.mark.parametrize("query", ['"gas meter"', "gas meter", "gas/met"])
def test_a_phrase_or_a_part_of_a_path_is_found_behind_many_better_candidates(log, query):
    """What stands word for word is a candidate of its own, however low its words rank."""
    filling = " ".join(f"other{n}" for n in range(400))
    put(log, f"{filling} the gas meter, gas/met/er {filling}", *["meter met gas"] * 200)
    assert ask(log, query).hits[0].position == 1


def test_what_is_only_in_meta_is_found(log):
    """A subject or a file name in meta finds its event; it is not claimed to stand in the content."""
    put(log, Draft(Kind.DOCUMENT, b"body", meta={"subject": "Re: Gas Meter 1517"}), "other")
    (hit,) = ask(log, "Re: Gas Meter 1517")
    assert (hit.position, hit.exact) == (1, ())
    assert hit.found_by["phrase"] > 0


def test_nothing_found_says_absent(log):
    """An empty answer over everything is `absent`, also when only stop words match."""
    put(log, "the crow")
    assert ask(log, "the heron").outcome is Outcome.ABSENT
    unknown = ask(log, "crow", namespace="nobody")
    assert (unknown.outcome, unknown.notes) == (Outcome.ABSENT, ("nothing was ever written to namespace 'nobody'",))


SCOPES = {
    "session": Scope(sessions=("b",)),
    "sessions by prefix": Scope(sessions=("zz*", "b*")),
    "agent": Scope(agents=("bob",)),
    "kind": Scope(kinds=(Kind.USER_MESSAGE,)),
    "since": Scope(since=Moment(2_000)),
    "trust": Scope(trust_max=Trust.TRUSTED),
    "after": Scope(after_position=30),
    "all": Scope(("b",), ("bob",), (Kind.USER_MESSAGE,), Moment(2_000), Moment(2_000)),
    "without": Scope(without_sessions=("a",)),
    "without by prefix": Scope(without_sessions=("a*", "c")),
}


@pytest.mark.parametrize("scope", SCOPES.values(), ids=SCOPES)
def test_a_scope_is_kept_and_starves_nothing(log, scope):
    """A single match in scope is found behind many better ones outside it."""
    put(log, *["crow crow crow"] * 30, session="a", agent="ann", time=Moment(1_000))
    put(
        log,
        Draft(Kind.USER_MESSAGE, b"one crow only here", agent="bob", trust=Trust.TRUSTED, time=Moment(2_000)),
        session="b",
    )
    answer = ask(log, "crow", scope=scope)
    assert (answer.outcome, positions(answer)) == (Outcome.FOUND, [31])


@pytest.mark.parametrize("scope", SCOPES.values(), ids=SCOPES)
def test_rows_that_hold_several_words_are_parted_by_the_scope(log, scope):
    """However many better rows lie outside the scope, the one inside is found, and none of them."""
    many = put(
        log, *["the crow and the heron met"] * (2 * POOL_ROWS + SPARE_ROWS), session="a", agent="ann", time=Moment(1)
    )
    scope = replace(scope, after_position=many[-1]) if scope.after_position else scope
    message = Draft(Kind.USER_MESSAGE, b"one heron", agent="bob", trust=Trust.TRUSTED, time=Moment(2_000))
    (position,) = put(log, message, session="b")
    assert positions(ask(log, "crow heron", scope=scope)) == [position]


@pytest.mark.parametrize("sessions", [4, 2 * STRETCHES_MAX + 4], ids=["stretches", "list"])
def test_every_other_session_is_in_scope(log, sessions):
    """Sessions that do not lie together are told apart, be they few or many, named or left out."""
    for number in range(sessions):
        put(log, f"crow number{number} flew", session=f"s{number}")
    odd = tuple(f"s{number}" for number in range(1, sessions, 2))
    wanted = list(range(2, sessions + 1, 2))
    assert sorted(positions(ask(log, "crow flew", scope=Scope(odd), hits_max=99))) == wanted
    others = [position for position in range(1, sessions + 1) if position not in wanted]
    assert sorted(positions(ask(log, "crow flew", scope=Scope(without_sessions=odd), hits_max=99))) == others


def test_until_and_before_bound_a_scope_too(log):
    """The upper bounds of a scope hold, and events of unknown time match no time."""
    put(log, "crow", time=Moment(1_000))
    put(log, "crow", time=Moment(3_000))
    put(log, "crow")
    assert positions(ask(log, "crow", scope=Scope(until=Moment(1_000)))) == [1]
    assert positions(ask(log, "crow", scope=Scope(since=Moment(0)))) == [2, 1]
    assert positions(ask(log, "crow", scope=Scope(before_position=2))) == [1]


def test_what_is_outside_the_scope_is_named(log):
    """No hit in scope and one outside is `filtered`, and the note points there."""
    (position,) = put(log, "crow", session="a")
    put(log, "heron", session="b")
    answer = ask(log, "crow", scope=Scope(sessions=("b",)))
    pointer = f"fh:{log.reader.event_at('default', position).id}"
    assert (answer.outcome, answer.hits) == (Outcome.FILTERED, ())
    assert f"the best is {pointer} in session 'a'" in answer.notes[0]
    assert ask(log, "swan", scope=Scope(sessions=("b",))).outcome is Outcome.ABSENT
    assert ask(log, "crow", scope=Scope(sessions=("none",))).outcome is Outcome.FILTERED


def test_no_name_of_a_scope_is_sql(log):
    """Names with quotes and wildcards are values."""
    put(log, "crow")
    for name in ["x') OR '1'='1", "%", "_", "'", "\\", "?*"]:
        assert ask(log, "crow", scope=Scope(sessions=(name,), agents=(name,))).hits == ()


def test_tenants_see_nothing_of_each_other(log):
    """The same query from another namespace finds nothing, in any way of asking."""
    put(log, "canary9f3a src/secret.py 🎉 東京", namespace="a")
    put(log, "crow", namespace="b")
    for query in ["canary9f3a", "src/secret.py", "🎉", "東京", '"canary9f3a src"', "canary"]:
        for scope in (Scope(), Scope(sessions=("s",))):
            answer = ask(log, query, namespace="b", scope=scope)
            assert (answer.outcome, answer.hits) == (Outcome.ABSENT, ())
            assert not any("fh:" in note for note in answer.notes)


def test_pages_join_to_the_whole(log):
    """Pages of any size give each hit once, in the order of the whole answer."""
    chance = random.Random(3)
    put(
        log,
        *[
            " ".join(chance.choices(["crow", "heron", "swan", "finch", "owl"], k=chance.randrange(1, 9)))
            for _ in range(300)
        ],
    )
    whole = positions(ask(log, "crow heron", hits_max=1_000, budget_tokens_max=10**6))
    assert len(whole) == len(set(whole)) > 2 * BLOCK_ROWS
    for size in (7, 50):
        joined: list[int] = []
        while True:
            answer = ask(log, "crow heron", hits_max=size, skip=len(joined), budget_tokens_max=10**6)
            joined += positions(answer)
            if not answer.more:
                break
        assert joined == whole
    beyond = ask(log, "crow heron", skip=5_000)
    assert (beyond.outcome, beyond.hits, beyond.more) == (Outcome.ABSENT, (), False)
    assert "none after the 5,000 that were skipped" in beyond.notes[0]


def test_the_budget_bounds_the_previews(log):
    """All previews together keep to the budget; what did not fit is more to ask for."""
    put(log, *[f"crow {n} " + "and many other words " * 200 for n in range(30)])
    for budget in (30, 400, 4_000):
        answer = ask(log, "crow", hits_max=20, budget_tokens_max=budget)
        assert sum(estimate(hit.preview) for hit in answer) <= budget
        assert answer.more
        assert answer.hits
        assert all("crow" in hit.preview for hit in answer)


def test_a_line_deep_in_a_large_payload_is_found_at_its_place(log):
    """The preview of an artifact is cut around the match, at its byte offset in the payload."""
    payload = b"".join(b"line %d of nothing\n" % n for n in range(20_000)).replace(
        b"line 15000 ", b"line 15000 ZX-4711 "
    )
    put(log, payload, "other")
    (hit,) = ask(log, "ZX-4711", budget_tokens_max=60)
    data = hit.preview.encode()
    assert b"ZX-4711" in data
    assert payload[hit.preview_start : hit.preview_start + len(data)] == data
    assert (hit.exact, hit.size_bytes) == (("ZX-4711",), len(payload))


def test_a_picture_is_described_and_not_shown(log):
    """The preview of what is no text says what it is."""
    put(log, Draft(Kind.ATTACHMENT, b"\x89PNG\0\0", media="image/png", meta={"caption": "a crow"}))
    (hit,) = ask(log, "crow")
    assert hit.preview == "[image/png, 6 bytes]"


@pytest.mark.parametrize(
    "damage",
    [
        "DROP TABLE text_1", "DROP TABLE text_index", "UPDATE text_index SET version = '0'",
        "UPDATE reach SET position = 2, fault = 'x'",
    ],
)  # fmt: skip
def test_a_broken_index_is_named_and_answered_from_the_log(log, sabotage, damage):
    """Without an index the same events are found in the log, the answer says so, and a rebuild mends it."""
    put(log, "crow one", "heron", "crow src/app.py", "🎉")
    sabotage(damage)
    answer = ask(log, "crow")
    assert answer.outcome is Outcome.DEGRADED
    assert sorted(positions(answer)) == [1, 3]
    assert "searched in the log itself" in " ".join(answer.notes)
    assert positions(ask(log, "src/app.py")) == [3]
    assert ask(log, "swan").outcome is Outcome.DEGRADED
    log.rebuild()
    assert ask(log, "crow").outcome is Outcome.FOUND


def test_how_many_rows_hold_a_term_is_told_by_the_rows(log, sabotage):
    """A recall reads the rows of a rare term once: it does not ask the index's list of terms how many they are."""
    put(log, "crow one", "heron", "crow two")
    before = ask(log, "crow heron")
    sabotage("DROP TABLE text_1_terms")
    after = ask(log, "crow heron")
    assert (after.outcome, after.hits) == (before.outcome, before.hits)
    log.rebuild()
    assert ask(log, "crow heron").hits == before.hits


def test_what_the_index_does_not_reach_is_searched_in_the_log(log, sabotage):
    """Events after the index's end are found beside those before it, in one order."""
    put(log, "crow and much more about other things", "crow")
    sabotage("UPDATE reach SET fault = 'stopped', position = 2")
    put(log, "crow crow", "heron")
    answer = ask(log, "crow")
    assert answer.outcome is Outcome.DEGRADED
    assert positions(answer) == [2, 3, 1]  # the second stands between two others
    assert answer.notes[0].startswith("the text index reaches position 2 of 4: stopped. 2 events were searched")


def test_a_scan_is_bounded_and_says_where_it_stopped(log, sabotage, monkeypatch):
    """A scan stops at its limit and names the positions it left out."""
    monkeypatch.setattr(scans, "SCAN_EVENTS_MAX", 3)
    put(log, *["crow"] * 10)
    sabotage("DROP TABLE text_1")
    answer = ask(log, "crow")
    assert sorted(positions(answer)) == [8, 9, 10]
    assert answer.truncated
    assert "positions 1 to 7 were not searched" in answer.notes


def test_a_damaged_event_hides_no_other(log, sabotage):
    """An event whose bytes changed is left out and named; the others are found."""
    put(log, "crow one", "crow two", "crow three")
    sabotage("UPDATE event SET body = CAST(x'00' || body AS BLOB) WHERE key = 2")
    answer = ask(log, "crow")
    assert sorted(positions(answer)) == [1, 3]
    assert any("position 2" in note for note in answer.notes)


def test_a_deadline_stops_a_search_and_says_so(log):
    """A search that runs out of time gives what it has and says that it was cut short."""
    put(log, *[f"crow {'heron ' * 300}" for _ in range(400)])
    put(log, b"crow heron swan\n" * 60_000)
    answer = ask(log, "🎉 🎉", deadline_ms=1)
    assert answer.truncated
    assert "the search stopped at its deadline of 1 ms" in answer.notes
    assert answer.hits or answer.outcome is Outcome.DEGRADED  # nothing was found in time: that is no absence


def test_common_words_are_searched_newest_first_and_say_so(log):
    """Terms beyond the budget of postings find the newest that hold them all, then the newest of each."""
    put(log, *["crow heron"] * 80, "crow", "heron")
    answer = search(log.reader, "default", Query("crow heron", hits_max=3, mmr_lambda=1), postings_max=10)
    assert positions(answer) == [80, 79, 78]
    assert answer.truncated
    assert answer.notes == (
        "all words are common: of the events that hold them the newest were searched (crow, heron)",
    )
    deep = search(log.reader, "default", Query("crow heron", hits_max=100, budget_tokens_max=10**5), postings_max=10)
    assert {81, 82} <= set(positions(deep))
    assert deep.truncated


def test_the_answer_does_not_depend_on_the_budget_when_all_fits(log):
    """While every posting fits, a smaller budget gives the same hits with the same scores."""
    chance = random.Random(5)
    put(log, *[" ".join(chance.choices(["crow", "heron", "swan", "finch"], k=5)) for _ in range(20)])
    wide = search(log.reader, "default", Query("crow heron"), postings_max=10_000)
    narrow = search(log.reader, "default", Query("crow heron"), postings_max=100)
    assert wide.hits == narrow.hits


def test_a_damaged_artifact_hides_no_other_event_from_a_search_of_the_log(log):
    """A query of signs alone reads the log itself: it names a payload that is damaged and finds the others."""
    put(log, "before \u21d2 \u21d2", "x \u21d2 \u21d2\n" * 40_000, "behind \u21d2 \u21d2")
    (file,) = (log.root / "artifacts").rglob("*.zst")
    file.chmod(0o600)
    file.write_bytes(file.read_bytes()[:-20])
    answer = ask(log, "\u21d2 \u21d2")
    assert positions(answer) == [3, 1]
    assert [note for note in answer.notes if "an artifact is damaged and was left out" in note] != []


@pytest.mark.parametrize(("mmr_lambda", "attempts_max"), [(1.0, 1), (0.5, 1), (0.8, 3)])
def test_pages_of_large_payloads_join(log, mmr_lambda, attempts_max):
    """Where many rows are of one event a page is read from few events, and still in the order of the whole."""
    birds = "heron swan wren robin finch gull".split()  # noqa: SIM905
    for number in range(24):
        said = " ".join(birds[(number * at) % 6] for at in (1, 2, 3))
        put(log, f"crow {said} number {number % 5} said so\n" * 1_500)
    fields = {"mmr_lambda": mmr_lambda, "attempts_max": attempts_max, "cost": 900.0, "deadline_ms": 20_000}
    whole = positions(ask(log, "crow heron", hits_max=24, budget_tokens_max=4_000, **fields))
    pages = [positions(ask(log, "crow heron", hits_max=6, skip=skip, **fields)) for skip in range(0, 24, 6)]
    assert [position for page in pages for position in page] == whole
    assert len(set(whole)) == 24


def test_a_tuning_of_an_older_store_is_listed_and_changes_no_answer(log):
    """A decision that an older version wrote is an event like any other, and recall answers as without it."""
    put(log, "the port is 8080", "the port of staging is 8443", "the port of production is 443")
    before = search(log.reader, "default", Query("which port"))
    decision = (
        b'{"tuning":1,"name":"mmr_lambda","before":0.8,"after":0.5,"reason":"","by":"rule:review","basis":"",'
        b'"undoes":"","figures":{}}'
    )
    media = "application/vnd.firsthand.tuning+json"
    put(log, Draft(Kind.TUNING, decision, media, origin="firsthand", trust=Trust.TRUSTED), session="tuning")
    (event,) = log.reader.events("default", session="tuning", kind=Kind.TUNING)
    after = search(log.reader, "default", Query("which port"))
    assert (event.kind, event.content) == ("tuning", decision)
    assert ([hit.pointer for hit in after], after.query) == ([hit.pointer for hit in before], before.query)
    assert (len(after), after.query.mmr_lambda) == (3, 0.8)
    assert log.verify().ok
