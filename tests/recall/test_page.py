"""The order of an answer's places, and what stands beside them."""

from __future__ import annotations

import json

import pytest

from firsthand import Draft, Kind, Memory, Trust
from firsthand.answer import Query
from firsthand.context import answers
from firsthand.context.tools import Pull, PullLimits
from firsthand.formats.tool_definitions import RECALL, Call
from firsthand.ledger.ledger_recall import recall
from firsthand.ledger.statements import supersede
from firsthand.log.sqlite.read import Reader
from firsthand.moment import parse
from firsthand.tokens import estimate

TALK = [
    ("user", "We deploy billing with Ansible from the build box, every Thursday after the standup."),
    ("agent", "Noted: Ansible from the build box on Thursdays."),
    ("user", "The staging database of billing listens on port 5433 since the move."),
    ("agent", "I have put port 5433 of the staging database into the settings of billing."),
    ("user", "Our certificates come from the internal authority and are renewed by cron."),
    ("agent", "The renewal runs at four in the morning, and its log is in the journal."),
]  # fmt: skip


@pytest.fixture
def memory(tmp_path):
    """A store with a talk in it; verified when the test ends."""
    with Memory(tmp_path / "store", embedder="none") as opened:
        session = opened.session("talk")
        for who, text in TALK:
            (session.user if who == "user" else session.agent)(text)
        yield opened
        assert opened.verify().problems == ()


def previews(answer) -> list[str]:
    return [hit.preview for hit in answer]


def test_earlier_questions_do_not_push_the_answer_down(memory):
    """Three echoes of a question, in nearly its words, leave the answer first, and two of them are on the page."""
    session = memory.session("later")
    echoes = ["Which port does the staging database of billing have?", "what port has the staging database of billing?",
              "the staging database of billing: which port?"]  # fmt: skip
    for echo in echoes:
        session.user(echo)
        session.agent("Let me look it up.")
    shown = previews(memory.recall("Which port does the staging database of billing have?", hits_max=7))
    assert shown[0] == TALK[2][1]
    assert 1 <= sum(text in echoes for text in shown) <= 2
    assert min(shown.index(text) for text in shown if text in echoes) >= 2


def test_a_question_that_says_something_keeps_its_place(memory):
    """A user's message that tells a fact and ends in a question is no echo."""
    told = "Since we moved billing to Frankfurt the staging replica has port 6544, should we close 5433?"
    memory.session("later").user(told)
    assert memory.recall("which port has the staging replica in Frankfurt").hits[0].preview == told


def test_identical_texts_are_one_hit(memory):
    """Of events with one text the most trusted is shown, and it names the others."""
    text = "The release of billing was signed off by Dora on Tuesday."
    brought = memory.append([Draft(Kind.TOOL_RESULT, text.encode(), origin="tool:read")] * 1, session="tools")
    again = memory.append([Draft(Kind.TOOL_RESULT, text.encode(), origin="tool:web")], session="web")
    own = memory.session("talk").user(text)
    hits = [hit for hit in memory.recall("who signed off the release of billing?") if hit.preview == text]
    assert [hit.pointer for hit in hits] == [own.pointer]
    assert {*hits[0].copies} == {f"fh:{event[0].id}" for event in (brought, again)}
    assert hits[0].copies[0] in answers.of_recall(memory.recall("who signed off the release of billing?")).text


def test_a_call_and_its_result_stand_together_behind_the_page(memory):
    """A hit's other half stands beside the hits, names what it belongs with, and takes no place of theirs."""
    call = Draft(Kind.TOOL_CALL, json.dumps({"command": "systemctl restart kestrel"}).encode(), "application/json",
                 {"call_id": "c1", "tool": "bash"}, trust=Trust.AGENT)  # fmt: skip
    result = Draft(Kind.TOOL_RESULT, b"done in 4 s, 2 warnings", meta={"call_id": "c1"}, origin="tool:bash")
    made = memory.append([call, result], session="work")
    answer = memory.recall("restart kestrel", hits_max=1)
    assert [hit.pointer for hit in answer] == [f"fh:{made[0].id}"]
    (companion,) = answer.companions
    assert (companion.preview, companion.companion_of) == ("done in 4 s, 2 warnings", f"fh:{made[0].id}")
    assert "done in 4 s, 2 warnings" in answers.of_recall(answer).text
    alone = recall(memory, Query("restart kestrel", hits_max=1, scope=Query("").scope))
    assert len(alone.companions) == 1


def test_both_statements_of_the_user_are_there_with_their_dates(memory):
    """An old and a new statement stand in order of date; once it is decided the old one is gone and named."""
    said = [("2026-02-01T09:00:00Z", "The on-call rotation for billing starts on Mondays."),
            ("2026-05-01T09:00:00Z", "From now on the on-call rotation for billing starts on Fridays.")]  # fmt: skip
    old, new = (
        memory.append([Draft(Kind.USER_MESSAGE, text.encode(), origin="user", trust=Trust.TRUSTED, time=parse(time))],
                      session=f"on-call-{number}")[0]
        for number, (time, text) in enumerate(said)
    )  # fmt: skip
    question = "When does the on-call rotation of billing start?"
    answer = memory.recall(question)
    assert [hit.pointer for hit in answer.said][:2] == [f"fh:{old.id}", f"fh:{new.id}"]
    assert [str(hit.time)[:7] for hit in answer.said][:2] == ["2026-02", "2026-05"]
    supersede(memory, f"fh:{old.id}", f"fh:{new.id}")
    decided = memory.recall(question)
    assert f"fh:{old.id}" not in {hit.pointer for hit in (*decided.hits, *decided.said)}
    text = answers.of_recall(decided).text
    assert (said[0][1] in text, said[1][1] in text) == (False, True)
    assert f"fh:{old.id} (fh:{new.id} holds instead)" in text


def test_what_tools_brought_leaves_room_for_what_was_said(memory):
    """Forty results of one tool that hold the words do not fill the page while the user said it too."""
    for number in range(40):
        text = f"row {number}: staging database of billing, port 5433, staging database of billing, port 5433"
        memory.append([Draft(Kind.TOOL_RESULT, text.encode(), origin="tool:sql")], session="tools")
    answer = memory.recall("staging database of billing port", hits_max=8)
    assert TALK[2][1] in previews(answer)
    assert sum(hit.trust is Trust.UNTRUSTED for hit in answer) < 8


def test_a_quotation_goes_before_the_same_words_apart(memory):
    """What is quoted and stands there word for word is first."""
    session = memory.session("more")
    session.agent("met the gas man, and the meter, gas meters met")
    session.agent("a long report in which, among many other things of the house, the gas meter was read on the 4th")
    assert "the gas meter was read" in memory.recall('what about "the gas meter" then').hits[0].preview


def test_signs_between_quotes_are_no_quotation(memory):
    """A question that quotes code with quotes inside it is not answered by every text that holds `);`."""
    session = memory.session("code")
    session.agent('const hasRead = tools.includes("read");')
    for number in range(20):
        session.agent(f"call{number}(); // and then the next one")
    question = 'Which name stood in the place of the blank: "const ____ = tools.includes("read");"?'
    best = memory.recall(question).hits[0]
    assert "hasRead" in best.preview
    assert all("quotation" not in hit.parts for hit in memory.recall('what of "); and "}"?'))


@pytest.mark.parametrize("budget", [300, 1_000, 4_000])
def test_the_budget_is_filled_and_kept(memory, budget):
    """Of a budget at least nine tenths are used where there is text to show, and never more than all of it."""
    for number in range(30):
        lines = (f"10:{at:02} billing: step {number}.{at} of the port scan said {at * number}" for at in range(60))
        memory.append([Draft(Kind.TOOL_RESULT, "\n".join(lines).encode(), origin="tool:bash")], session="scan")
    answer = memory.recall("port scan of billing step", budget_tokens_max=budget)
    every = {hit.pointer: hit for hit in (*answer.hits, *answer.companions, *answer.said)}
    assert 0.9 * budget <= sum(estimate(hit.preview) for hit in every.values()) <= budget


def test_a_page_shows_other_lines_than_the_hit_above(memory):
    """A file that was read many times is not shown at the same lines in each hit."""
    file = [f"setting_{number} = {number}" for number in range(300)]
    for number in range(4):
        lines = [*file]
        lines[100], lines[250] = "POOL_SIZE = 20  # pool of connections", f"# pool of connections, reviewed by {number}"
        memory.append([Draft(Kind.TOOL_RESULT, "\n".join(lines).encode(), origin=f"tool:read{number}")], session="f")
    shown = "\n".join(previews(memory.recall("pool of connections", budget_tokens_max=500)))
    assert shown.count("POOL_SIZE = 20") < 4
    assert "reviewed by" in shown


def test_what_the_reader_sees_takes_no_place(memory):
    """Events in the reader's window are named without their text, and further hits stand in their places."""
    first = memory.recall("billing", hits_max=2)
    seen = {hit.pointer.removeprefix("fh:") for hit in first}
    layout = answers.layout(visible=seen)
    answer = recall(memory, Query("billing", hits_max=2), layout=layout)
    fresh = [hit for hit in answer if hit.pointer.removeprefix("fh:") not in seen]
    assert len(fresh) == 2
    assert all(hit.preview == "" for hit in answer if hit not in fresh)


def test_a_text_that_is_asked_as_it_stands_is_first(memory):
    """A question that is an event's own words brings that event before others that hold the words more often."""
    session = memory.session("code")
    for _ in range(6):
        session.agent("port 31 of box 7, port 31 of box 7, box 7 port 31, and port 31 of the box")
    session.agent("we saw port 31 of box 7 blink")
    assert memory.recall("saw port 31 of box 7 blink").hits[0].preview == "we saw port 31 of box 7 blink"


def test_a_recall_reads_what_it_shows_and_little_more(memory, monkeypatch):
    """Of two hundred events that match, the hits, what the user said and a few more are read, on every page."""
    for number in range(200):
        memory.session(f"s{number % 7}").user(f"Note {number}: the ferry to the island {number * 13} leaves at dawn.")
    wanted: list[int] = []
    read = Reader.events_at
    monkeypatch.setattr(Reader, "events_at", lambda *all: (wanted.extend(all[2]), read(*all))[1])
    for skip in (0, 10):
        wanted.clear()
        answer = memory.recall(Query("when does the ferry to the island leave at dawn?", skip=skip))
        assert len(answer.hits) == 10
        assert len({*wanted}) == len(wanted) <= skip + 10 + len(answer.said) + 2


def test_the_whole_question_goes_first_wherever_it_stands(memory):
    """A text that holds the question word for word comes before those that hold its words closer or more often."""
    question = "the ferry leaves the island at dawn"
    page = " ".join(f"Line {number} of the log of the harbour says nothing." for number in range(30))
    long = memory.session("log").agent(f"{page} Then {question}, they say. {page}")
    for number in range(12):
        memory.session(f"s{number}").user(f"The ferry of the island, number {number}, was late at dawn.")
    best = memory.recall(question).hits[0]
    assert best.pointer == long.pointer
    assert "quotation" in best.parts
    assert question in best.preview


def flood(number: int, characters: int) -> str:
    """Give code that says nothing of what is asked."""
    line = "    value_{0} = settings.of('{0}') or fallback_{0}(limit={0})\n"
    return "".join(line.format(f"{number}{at}") for at in range(characters // 60))


def test_a_passage_of_a_long_text_has_a_place_behind_ten_short_messages(memory):
    """What is asked stands in one passage of a large file; thirty short talks hold half of it, and do not hide it."""
    for number in range(30):
        session = memory.session(f"talk-{number}")
        session.user(f"Is the courier slow today, number {number}?")
        session.agent(f"The courier retries, {number} times.")
    file = flood(1, 30_000) + "    retries = min(ceiling, 4471)  # of the courier\n" + flood(2, 30_000)
    (event,) = memory.append([Draft(Kind.TOOL_RESULT, file.encode(), origin="tool:read")], session="files")
    question = "what is the ceiling for the retries of the courier"
    places = [hit.pointer for hit in memory.recall(question, hits_max=14)]
    assert f"fh:{event.id}" in places
    assert places[:10] == [hit.pointer for hit in memory.recall(question)]
    pull = Pull(memory, "files", PullLimits(answer_tokens=1_000))  # it has room before shorter hits of a full exchange
    assert "min(ceiling, 4471)" in pull.answer(Call("call_1", RECALL, {"query": question})).text


def test_several_passages_of_one_event_are_shown(memory):
    """Where an event has several of the best passages, its preview shows more than one of them."""
    lines = [f"    courier.retries(ceiling={number})\n" for number in (4471, 4472, 4473)]
    file = "".join(line + flood(number, 8_000) for number, line in enumerate(lines))
    (event,) = memory.append([Draft(Kind.TOOL_RESULT, file.encode(), origin="tool:read")], session="files")
    for number in range(8):
        memory.session("talk").user(f"The courier retries, {flood(number, 2_000)}")
    hits = memory.recall("ceiling of the courier's retries", budget_tokens_max=1_500).hits
    preview = next(hit.preview for hit in hits if hit.pointer == f"fh:{event.id}")
    assert [line.strip() in preview for line in lines] == [True] * 3
    assert len(preview) > 1.5 * max(len(hit.preview) for hit in hits if hit.pointer != f"fh:{event.id}")
