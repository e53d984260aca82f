"""Recall over a real store."""

from __future__ import annotations

import random

import pytest

from firsthand.answer import Outcome, Query, Scope
from firsthand.event import Draft, Kind, Trust
from firsthand.ledger.ledger_recall import recall
from firsthand.moment import Moment
from firsthand.recall.query import Deadline
from firsthand.space import Space
from firsthand.tokens import estimate
from firsthand.value import replace


def put(space: Space, *contents, session="s", **fields):
    texts = [text.encode() if isinstance(text, str) else text for text in contents]
    drafts = [text if isinstance(text, Draft) else Draft(Kind.TOOL_RESULT, text, **fields) for text in texts]
    return [event.position for event in space.append(drafts, session=session)]


def ask(space: Space, text: str, *, scope=None, **fields):
    return recall(space, Query(text, scope=scope or Scope(), **fields))


def positions(answer) -> list[int]:
    return [hit.position for hit in answer]


@pytest.fixture
def space(tmp_path):
    """An empty store."""
    with Space(tmp_path / "store", embedder="none") as opened:
        yield opened


def test_a_hit_shows_what_it_is_and_why(space):
    """Every field of a hit comes from its event; it shows the factors of its score and what its base is made of."""
    moment = Moment(1_700_000_000_000_000)
    put(
        space,
        "noise",
        "deploy failed at src/app/main.py:12",
        agent="ann",
        origin="tool:bash",
        trust=Trust.AGENT,
        time=moment,
    )
    answer = ask(space, "why did src/app/main.py fail")
    hit = answer.hits[0]
    event = space.event(hit.pointer)
    assert answer.outcome is Outcome.FOUND
    assert (hit.position, hit.kind, hit.session, hit.agent, hit.origin, hit.trust, hit.time) == (
        2, Kind.TOOL_RESULT, "s", "ann", "tool:bash", Trust.AGENT, moment,
    )  # fmt: skip
    assert (hit.preview, hit.exact) == (event.text, ("src/app/main.py",))
    assert [space.expand(span) for span in hit.spans] == [event.content]
    assert 0 < hit.score < 1
    assert hit.score == pytest.approx(sum(hit.parts.values()), abs=1e-6)
    assert (answer.more, answer.truncated, answer.notes, answer.through) == (False, False, (), 2)
    assert (answer.attempts, answer.companions, answer.said) == (("why did src/app/main.py fail",), (), ())


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
def test_what_stands_in_an_event_is_found(space, query):
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
    put(space, *others, needle, *others)
    answer = ask(space, query)
    assert answer.outcome is Outcome.FOUND
    assert answer.hits[0].position == 5


@pytest.mark.parametrize("query", ["", "  \n"])
def test_an_empty_query_is_never_an_absence(space, query):
    """What asks for nothing was not looked for, and the answer says so."""
    put(space, "crow")
    answer = ask(space, query)
    assert (answer.outcome, answer.notes) == (Outcome.DEGRADED, ("an empty query: nothing was looked for",))


def test_a_quoted_phrase_stands_before_its_words_apart(space):
    """An event with the phrase in one piece ranks above a shorter one with the same words apart."""
    put(space, "meter gas", "the report on the long gas meter of the other house said nothing at all", "gas bill")
    assert positions(ask(space, '"gas meter"'))[:2] == [2, 1]


def test_what_is_only_in_meta_is_found(space):
    """A subject or a file name in meta finds its event; it is not claimed to stand in the content."""
    put(space, Draft(Kind.DOCUMENT, b"body", meta={"subject": "Re: Gas Meter 1517"}), "other")
    hit = ask(space, "Re: Gas Meter 1517").hits[0]
    assert (hit.position, hit.exact) == (1, ())


def test_nothing_found_says_absent(space):
    """An empty answer over everything is `absent`, also when only stop words match."""
    put(space, "the crow")
    assert ask(space, "the heron").outcome is Outcome.ABSENT
    with Space(space.path, namespace="nobody", embedder="none") as other:
        unknown = ask(other, "crow")
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
def test_a_scope_is_kept_and_starves_nothing(space, scope):
    """A single match in scope is found behind many better ones outside it."""
    put(space, *["crow crow crow"] * 30, session="a", agent="ann", time=Moment(1_000))
    put(
        space,
        Draft(Kind.USER_MESSAGE, b"one crow only here", agent="bob", trust=Trust.TRUSTED, time=Moment(2_000)),
        session="b",
    )
    answer = ask(space, "crow", scope=scope)
    assert (answer.outcome, positions(answer)) == (Outcome.FOUND, [31])


@pytest.mark.parametrize("scope", SCOPES.values(), ids=SCOPES)
def test_rows_that_hold_several_words_are_parted_by_the_scope(space, scope):
    """However many better rows lie outside the scope, the one inside is found, and none of them."""
    many = put(space, *["the crow and the heron met"] * (600), session="a", agent="ann", time=Moment(1))
    scope = replace(scope, after_position=many[-1]) if scope.after_position else scope
    message = Draft(Kind.USER_MESSAGE, b"one heron", agent="bob", trust=Trust.TRUSTED, time=Moment(2_000))
    (position,) = put(space, message, session="b")
    assert positions(ask(space, "crow heron", scope=scope)) == [position]


@pytest.mark.parametrize("sessions", [4, 60])
def test_every_other_session_is_in_scope(space, sessions):
    """Sessions that do not lie together are told apart, be they few or many, named or left out."""
    for number in range(sessions):
        put(space, f"crow number{number} flew", session=f"s{number}")
    odd = tuple(f"s{number}" for number in range(1, sessions, 2))
    wanted = list(range(2, sessions + 1, 2))
    assert sorted(positions(ask(space, "crow flew", scope=Scope(odd), hits_max=99))) == wanted
    others = [position for position in range(1, sessions + 1) if position not in wanted]
    assert sorted(positions(ask(space, "crow flew", scope=Scope(without_sessions=odd), hits_max=99))) == others


def test_until_and_before_bound_a_scope_too(space):
    """The upper bounds of a scope hold, and events of unknown time match no time."""
    put(space, "crow one", time=Moment(1_000))
    put(space, "crow two", time=Moment(3_000))
    put(space, "crow three")
    assert positions(ask(space, "crow", scope=Scope(until=Moment(1_000)))) == [1]
    assert positions(ask(space, "crow", scope=Scope(since=Moment(0)))) in ([2, 1], [1, 2])
    assert positions(ask(space, "crow", scope=Scope(before_position=2))) == [1]


def test_what_is_outside_the_scope_is_named(space):
    """No hit in scope and one outside is `filtered`, and the note points there."""
    put(space, "crow", session="a")
    put(space, "heron", session="b")
    answer = ask(space, "crow", scope=Scope(sessions=("b",)))
    pointer = next(space.events("a")).pointer
    assert (answer.outcome, answer.hits) == (Outcome.FILTERED, ())
    assert f"outside it {pointer} in session 'a'" in answer.notes[0]
    assert ask(space, "swan", scope=Scope(sessions=("b",))).outcome is Outcome.ABSENT
    assert ask(space, "crow", scope=Scope(sessions=("none",))).outcome is Outcome.FILTERED


def test_no_name_of_a_scope_is_sql(space):
    """Names with quotes and wildcards are values."""
    put(space, "crow")
    for name in ["x') OR '1'='1", "%", "_", "'", "\\", "?*"]:
        assert ask(space, "crow", scope=Scope(sessions=(name,), agents=(name,))).hits == ()


def test_pages_join_to_the_whole(space):
    """Pages of any size give each hit once, in the order of the whole answer."""
    chance = random.Random(3)
    put(
        space,
        *[
            f"{number} " + " ".join(chance.choices(["crow", "heron", "swan", "finch", "owl"], k=chance.randrange(1, 9)))
            for number in range(300)
        ],
    )
    whole = positions(ask(space, "crow heron", hits_max=200, budget_tokens_max=10**6))
    assert len(whole) == len(set(whole)) > 64
    for size in (7, 50):
        joined: list[int] = []
        while True:
            answer = ask(space, "crow heron", hits_max=size, skip=len(joined), budget_tokens_max=10**6)
            joined += positions(answer)
            if not answer.more:
                break
        assert joined == whole
    beyond = ask(space, "crow heron", skip=5_000)
    assert (beyond.outcome, beyond.hits, beyond.more) == (Outcome.ABSENT, (), False)
    assert "none after the 5,000 that were skipped" in beyond.notes[0]


def test_the_budget_bounds_the_previews(space):
    """All previews together keep to the budget; what did not fit is more to ask for."""
    put(space, *[f"crow {n} " + "and many other words " * 200 for n in range(30)])
    for budget in (30, 400, 4_000):
        answer = ask(space, "crow", hits_max=20, budget_tokens_max=budget)
        assert sum(estimate(hit.preview) for hit in answer) <= budget
        assert answer.more
        assert answer.hits
        assert all("crow" in hit.preview for hit in answer)


def test_a_line_deep_in_a_large_payload_is_found_at_its_place(space):
    """The preview of an artifact is cut around the match, at its byte offset in the payload."""
    payload = b"".join(b"line %d of nothing\n" % n for n in range(20_000)).replace(
        b"line 15000 ", b"line 15000 ZX-4711 "
    )
    put(space, payload, "other")
    (hit,) = ask(space, "ZX-4711", budget_tokens_max=60)
    assert "ZX-4711" in hit.preview
    (span,) = hit.spans
    assert space.expand(span) == hit.preview.encode()
    assert (hit.exact, hit.size_bytes) == (("ZX-4711",), len(payload))


def test_a_picture_is_described_and_not_shown(space):
    """The preview of what is no text says what it is."""
    put(space, Draft(Kind.ATTACHMENT, b"\x89PNG\0\0", media="image/png", meta={"caption": "a crow"}))
    (hit,) = ask(space, "crow")
    assert hit.preview == "[image/png, 6 bytes]"


def test_a_deadline_is_no_absence(space, monkeypatch):
    """A search that runs out of time says what it did not look at, and is degraded whatever it found."""
    put(space, *[f"crow {number} {'heron ' * 300}" for number in range(40)])
    monkeypatch.setattr(Deadline, "__call__", lambda self: setattr(self, "passed", True) or True)
    for query in ("zebra", "crow zebra", "\u21d2"):
        answer = ask(space, query)
        assert answer.outcome is Outcome.DEGRADED
        assert answer.notes


def test_a_tuning_of_an_older_store_is_listed_and_changes_no_answer(space):
    """A decision that an older version wrote is an event like any other, and recall answers as without it."""
    put(space, "the port is 8080", "the port of staging is 8443", "the port of production is 443")
    before = ask(space, "which port")
    decision = (
        b'{"tuning":1,"name":"mmr_lambda","before":0.8,"after":0.5,"reason":"","by":"rule:review","basis":"",'
        b'"undoes":"","figures":{}}'
    )
    media = "application/vnd.firsthand.tuning+json"
    put(space, Draft(Kind.TUNING, decision, media, origin="firsthand", trust=Trust.TRUSTED), session="tuning")
    (event,) = space.events("tuning", kind=Kind.TUNING)
    after = ask(space, "which port")
    assert (event.kind, event.content) == ("tuning", decision)
    assert [hit.pointer for hit in after] == [hit.pointer for hit in before]
    assert space.log.verify().ok


def test_a_question_without_words_is_searched_sign_by_sign(space):
    """Signs that are no words are found in the newest events themselves, and the answer says how."""
    put(space, "all done \U0001f389", "nothing")
    answer = ask(space, "\U0001f389")
    assert positions(answer) == [1]
    assert answer.notes == ("the question holds no word; the newest 2 events were searched sign by sign",)
    put(space, "x" * 40_000)
    assert ask(space, "\u21d2").outcome is Outcome.DEGRADED  # a large content was not looked at


def test_a_damaged_event_hides_no_other(space):
    """An event whose bytes changed is left out and named; the others are found."""
    put(space, "crow one", "crow two", "crow three")
    space.follow()
    space.log.exclusively(
        lambda db: db.execute("UPDATE event SET body = CAST(x'00' || body AS BLOB) WHERE key % 16 = 2").fetchall()
    )
    answer = ask(space, "crow")
    assert sorted(positions(answer)) == [1, 3]
    assert any("position 2" in note for note in answer.notes), answer.notes


def test_a_damaged_artifact_hides_no_other(space):
    """A payload whose file was cut off is named by a recall that would show it, and the others are found."""
    put(space, "before the crow", "x the crow\n" * 40_000, "behind the crow")
    space.follow()
    (file,) = (space.log.root / "artifacts").rglob("*.zst")
    file.chmod(0o600)
    file.write_bytes(file.read_bytes()[:-20])
    answer = ask(space, "crow")
    assert {1, 3} <= set(positions(answer))
    assert any("damaged" in note for note in answer.notes), answer.notes


def test_pages_of_large_payloads_join(space):
    """Where many passages are of one event a page is read from few events, and still in the order of the whole."""
    birds = "heron swan wren robin finch gull".split()  # noqa: SIM905
    for number in range(24):
        other = " ".join(birds[(number * step) % 6] for step in (1, 2, 3))
        put(space, f"crow {other} number {number % 5} again\n" * 1_500)
    whole = positions(ask(space, "crow heron", hits_max=24, deadline_ms=20_000))
    pages = [positions(ask(space, "crow heron", hits_max=6, skip=skip, deadline_ms=20_000)) for skip in range(0, 24, 6)]
    assert [position for page in pages for position in page] == whole
    assert len(set(whole)) == 24


def test_a_string_alone_is_found_inside_of_a_longer_one(space):
    """Where nothing but an exact string is asked, the event that holds it is first, however many hold its words."""
    put(space, *(f"the model {number} that was made for it: get it, model the model" for number in range(40)))
    (position,) = put(space, "return ContentType.objects.get_for_model(self.owner, for_concrete=False), of some length")
    put(space, *(f"get a model of your own for part {number}" for number in range(40)))
    assert positions(ask(space, "get_for_model"))[0] == position
