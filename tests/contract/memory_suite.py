"""What every memory must hold to, of a folder and of a server alike, as a suite that its test inherits.

The verbs are those that both have; `memory` has an empty namespace of its own.
"""

from __future__ import annotations

import io
import json

import pytest

from firsthand import Draft, Kind, Moment, Query, Scope, Trust
from firsthand.errors import (
    DecisionRefused,
    Erased,
    IdConflict,
    InvalidArgument,
    InvalidDraft,
    MalformedPointer,
    QueryError,
    StaleExpectation,
    Unresolvable,
)

RAW = bytes(range(256)) * 9_000
"""An artifact of more than two pieces."""
NOON = Moment(1_769_860_800_000_001, 60)


class MemorySuite:
    """Inherit it, name the class ``Test...`` and give an empty memory as a fixture of that name."""

    @pytest.fixture
    def memory(self):
        raise AssertionError("a memory's test gives the memory")

    def test_what_is_appended_is_read_exactly(self, memory):
        """Every field of a draft, bytes that are no text and an artifact included, comes back as it went in."""
        drafts = [
            Draft(
                Kind.USER_MESSAGE, "Grüße \U0001f600".encode(), origin="user", trust=Trust.TRUSTED, time=NOON, turn=7
            ),
            Draft(Kind.TOOL_RESULT, RAW, media="image/x", meta={"a": [1, None, {"b": 0.1}]}, envelope=b"\xff{}"),
            Draft(Kind.AGENT_MESSAGE, b"", agent="shop", part=3),
            Draft(Kind.NOTE, b"\xed\xa0\x80 half a sign"),
        ]
        appended = memory.append(drafts, session="exact")
        assert [(each.position, each.new, each.indexed) for each in appended] == [
            (number, True, True) for number in (1, 2, 3, 4)
        ]
        for draft, each in zip(drafts, appended, strict=True):
            event = memory.event(each)
            assert (event.id, event.position) == (each.id, each.position)
            for name in ("kind", "media", "meta", "envelope", "part", "agent", "origin", "trust", "time"):
                assert getattr(event, name) == getattr(draft, name), name
            assert memory.expand(each) == draft.content
        assert (memory.event(appended[0]).turn, memory.event(appended[1]).artifact.size_bytes) == (7, len(RAW))
        pieces = [*memory.stream(appended[1])]
        assert (b"".join(pieces), max(map(len, pieces)) <= 1 << 20) == (RAW, True)
        assert b"".join(memory.stream(appended[2])) == b""
        assert memory.expand(f"{appended[1].pointer}@3-9") == RAW[3:9]
        assert memory.expand(f"{appended[0].pointer}..{appended[2].id}").startswith("Grüße".encode())

    def test_a_session_takes_what_is_said_and_done(self, memory):
        """Each verb of a session appends an event of its kind with the label that it has everywhere."""
        session = memory.session("deploy", agent="shop")
        session.system("be brief")
        session.user("ship it to db-7")
        session.reasoning("first the tests")
        call = session.tool_call("bash", {"cmd": "make test"})
        session.tool_result(call, io.BytesIO(RAW), tool="bash")
        session.agent("shipped")
        session.note("db-7 takes the invoices", situations=["shipping"])
        events = [*session.events()]
        assert [(event.kind, event.agent, event.origin, event.trust) for event in events] == [
            ("system", "", "system", "trusted"), ("user_message", "", "user", "trusted"),
            ("reasoning", "shop", "agent", "agent"), ("tool_call", "shop", "agent", "agent"),
            ("tool_result", "", "tool:bash", "untrusted"), ("agent_message", "shop", "agent", "agent"),
            ("note", "shop", "agent", "agent"),
        ]  # fmt: skip
        assert events[4].meta["call_id"] == events[3].meta["call_id"]
        assert all(event.time is not None for event in events)
        assert [event.position for event in session.events(newest_first=True, limit=2)] == [7, 6]
        (info,) = memory.sessions()
        assert (info.name, info.events, info.turns, info.head) == ("deploy", 7, 1, events[-1].chain.hex())

    def test_messages_come_back_as_they_were(self, memory):
        """A provider's messages are appended in order, and given back equal."""
        messages = [
            {"role": "user", "content": "which port?", "n": [2**63, -(2**70), 2**53 + 1]},
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "grep", "arguments": '{"q": 1}'}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "5433 \ud800"},
        ]  # fmt: skip
        appended = memory.session("chat").append_messages(messages, time=NOON)
        assert [each.new for each in appended] == [True] * len(appended)
        assert memory.session("chat").messages() == messages
        assert memory.event(appended[0]).time == NOON

    def test_a_retry_is_no_second_append(self, memory):
        """A draft with an id may come again; with other bytes, or behind a session that grew, it is refused."""
        draft = Draft(Kind.NOTE, b"once", id="01J8ZQ4T9M6V3K2N7P5R8S1WXY")
        first, again = memory.append([draft], session="s")[0], memory.append([draft], session="s")[0]
        assert (first.new, again.new, again.position) == (True, False, first.position)
        with pytest.raises(IdConflict, match="01J8ZQ4T9M6V3K2N7P5R8S1WXY"):
            memory.append([Draft(Kind.NOTE, b"twice", id=draft.id)], session="s")
        with pytest.raises(StaleExpectation, match="ends at 1"):
            memory.append([Draft(Kind.NOTE, b"next")], session="s", expected_position=0)
        assert memory.append([Draft(Kind.NOTE, b"next")], session="s", expected_position=1)[0].position == 2
        assert memory.append([], session="s") == ()
        assert memory.head().startswith("2:")

    def test_recall_finds_and_says_why_it_does_not(self, memory):
        """An answer has its query, hits with every field, and an outcome; a scope and a whole query are understood."""
        session = memory.session("monday")
        said = session.user("The invoice service listens on port 5433.", time=NOON)
        session.agent("Noted.")
        answer = memory.recall("which port does the invoice service use?", hits_max=1, budget_tokens_max=500)
        (hit,) = answer.hits
        assert (hit.pointer, hit.kind, hit.time, hit.trust) == (said.pointer, Kind.USER_MESSAGE, NOON, Trust.TRUSTED)
        assert (answer.outcome, answer.query.hits_max, answer.through) == ("found", 1, 2)
        assert (type(answer.band).__name__, type(answer.outcome).__name__) == ("Band", "Outcome")
        assert memory.recall("port 5433", kinds=["agent_message"], agents=["shop"]).outcome == "filtered"
        assert memory.recall("port", since="2027-01-01").hits == ()
        assert memory.recall("zirconium").outcome == "absent"
        whole = memory.recall(Query("port", Scope(sessions=("mon*",), until=NOON), hits_max=3))
        assert ([each.pointer for each in whole], whole.query.scope.until) == ([said.pointer], NOON)
        assert said.pointer in memory.fenced(whole)

    def test_events_are_read_by_positions(self, memory):
        """Events come in order over any number of pages, from either end, by session and kind, as the log has them."""
        memory.append([Draft(Kind.NOTE, b"n%d" % number) for number in range(450)], session="long")
        memory.append([Draft(Kind.SYSTEM, b"x")], session="other")
        assert [event.position for event in memory.events()] == [*range(1, 452)]
        assert [event.position for event in memory.events(newest_first=True, limit=203)] == [*range(451, 248, -1)]
        assert [event.text for event in memory.events("long", after=3, before=6)] == ["n3", "n4"]
        assert [event.position for event in memory.events(kind="system")] == [451]
        assert [*memory.events(limit=0)] == []
        assert [event.namespace for event in memory.events(limit=1)] == [memory.namespace]

    def test_notes_and_claims_are_checked(self, memory):
        """A note is kept with what a check says of its claims; the check can be had alone, and the values counted."""
        said = memory.session("s").user("The stapler cost $12, the tape $3.")
        claims = [{"says": "$15 together", "quotes": ["stapler cost $12", "the tape $3"], "work": "$12 + $3 = $15"}]
        noted = memory.note("Office: $15", sources=[said], claims=claims, within=["s"], situations=["buying"])
        assert ([check.proof for check in noted.checked], noted.situations) == (["worked out"], ("buying",))
        assert said.pointer in noted.sources
        assert [(check.proof, check.claim.says) for check in memory.check(noted.event)] == [
            ("worked out", "$15 together")
        ]
        assert memory.check([{"says": "x", "quotes": ["nowhere"]}])[0].proof == "unproven"
        assert memory.coverage("nothing", said) == memory.coverage("nothing else", said.pointer)
        with pytest.raises(InvalidArgument, match="sort"):
            memory.note("x", sort="wish")

    def test_the_ledger_is_stated_and_read(self, memory):
        """What the log proves is decided and stands among the facts; what it does not is refused in words."""
        session = memory.session("s")
        old, new = session.user("use npm"), session.user("pnpm from now on")
        stated = memory.supersede(old, new, "use npm", "pnpm from now on", by="user")
        assert (stated.decision.action, stated.is_new, stated.quoted[0].pointer) == ("supersede", True, old.pointer)
        fact = memory.assert_fact("package manager", "pnpm", "pnpm from now on", at=new, by="agent:shop").decision
        assert [(each.subject, each.decision) for each in memory.facts()] == [("package manager", f"fh:{fact.id}")]
        assert memory.retract(fact.pointer, "pnpm from now on", by="user").decision.action == "retract"
        assert [*memory.facts()] == []
        with pytest.raises(DecisionRefused, match="not word for word"):
            memory.assert_fact("x", "y", "words that nobody wrote")

    def test_what_is_erased_is_gone_and_the_chain_verifies(self, memory):
        """Erasing destroys the bytes, says what went, and a verification of the rest sees no problem."""
        session = memory.session("s")
        secret, rest = session.user("the key is hunter2"), session.user("the port is 5433")
        head = memory.head()
        erasure = memory.erase([secret], reason="asked")
        assert (erasure.erased, erasure.already) == ((secret.id,), ())
        with pytest.raises(Erased, match=secret.id):
            memory.expand(secret)
        with pytest.raises(Erased):
            b"".join(memory.stream(secret))
        assert (memory.event(secret).erased, memory.event(secret).content) == (True, None)
        verified = memory.verify(heads=[head], deep=True)
        assert (verified.ok, verified.problems, verified.erased >= 1, verified.events >= 3) == (True, (), True, True)
        assert verified.head == memory.head()
        assert memory.expand(rest) == b"the port is 5433"
        with pytest.raises(Unresolvable):
            memory.erase([rest, "fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY"])
        assert memory.expand(rest) == b"the port is 5433"

    @pytest.mark.parametrize(
        ("ask", "error", "words"),
        [
            (lambda memory: memory.expand("fh:nothing"), MalformedPointer, "nothing"),
            (lambda memory: memory.event("fh:01J8ZQ4T9M6V3K2N7P5R8S1WXY"), Unresolvable, "no event"),
            (lambda memory: memory.recall("x", hits_max=0), QueryError, "hits_max is a whole number from 1 to 200"),
            (lambda memory: memory.recall("x", kinds=["wish"]), QueryError, "wish"),
            (lambda memory: memory.recall("x", since="noon"), QueryError, "noon"),
            (lambda memory: [*memory.events(kind="wish")], QueryError, "wish"),
            (lambda memory: memory.session("s").user("x", meta={"a": "b" * (1 << 20)}), InvalidDraft, "meta"),
            (lambda memory: memory.session("a\nb"), InvalidDraft, "session"),
        ],
    )  # fmt: skip
    def test_errors_are_the_same(self, memory, ask, error, words):
        """What is asked wrongly raises the error that it raises everywhere, in the same sentence."""
        with pytest.raises(error, match=words) as raised:
            ask(memory)
        assert type(raised.value) is error

    def test_anatomies_are_read(self, memory):
        """What a call was sent is read by its pointer and in order; an event of another kind is none."""
        assert [*memory.anatomies()] == []
        said = memory.session("s").user("hello")
        with pytest.raises(Exception, match="expected an anatomy"):
            memory.anatomy(said)

    def test_a_value_says_what_it_is(self, memory):
        """An answer of either kind is made of the package's values, so it prints and compares as they do."""
        memory.session("s").user("hello there")
        answer = memory.recall("hello")
        assert (repr(answer)[:7], bool(answer), len(answer)) == ("Answer(", True, 1)
        assert memory.recall("hello").hits == answer.hits
        assert json.loads(json.dumps(memory.event(answer.hits[0].pointer).meta)) == {}
