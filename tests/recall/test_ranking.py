"""What ranks events, part by part: each part finds what is not found without it."""

from __future__ import annotations

import json

import numpy as np
import pytest

from firsthand import Moment
from firsthand.answer import Conditions, Scope
from firsthand.event import Kind
from firsthand.index.dense import Scores
from firsthand.recall import ranking as ranking_module
from firsthand.recall import terms as term_module
from firsthand.recall.exchanges import Exchanges, around
from firsthand.recall.neighbours import Shares
from firsthand.recall.query import Deadline
from firsthand.recall.ranking import POOL, Strengths
from firsthand.recall.terms import Strengths as TermStrengths

DAY = 86_400_000_000
FILLER = (
    "The invoice for the harbour office was paid in full and filed with the others.",
    "We walked along the river until the rain began, then took the tram home.",
    "The kettle whistles when the water boils, which the cat dislikes very much.",
    "A parcel came for the neighbours, and they fetched it in the evening.",
    "The printer on the second floor needs new toner before the audit begins.",
    "Lunch was lentils with bread, and somebody had brought a plum cake.",
)


@pytest.fixture
def filler(talk):
    """Sessions about other things, so that words have a rarity."""
    return [talk(f"other-{number}", *FILLER[number:], *FILLER[:number]) for number in range(6)]


# passages and words -------------------------------------------------------------------------------------


def test_the_passage_that_matches_is_named_first(memory, ranking, filler):
    """Of a long text of several passages, the one that holds the words comes first among the event's rows."""
    log = [f"2026-01-02 worker {number % 7} took job {number} from the queue and finished it" for number in range(400)]
    log[250] = "2026-01-02 worker 3 lost the lease on the mango shipment and gave up"
    event = memory.session("ops").tool_result(memory.session("ops").tool_call("run", "{}"), "\n".join(log))
    best = ranking("who lost the lease on the mango shipment?").ranked[0]
    assert best.position == event.position
    with memory.index_moment() as moment:
        row = best.rows[0]
        start, size = int(moment.columns.start[row]), int(moment.columns.size[row])
    text = memory.expand(event)[start : start + size]
    assert b"mango shipment" in text
    assert len(text) <= 2_048


def test_a_short_line_beats_the_page_that_mentions_it(talk, texts, filler):
    """The length of a passage counts: a line about the thing stands before a page in which it is one thing of many."""
    page = " ".join(FILLER * 3)
    talk("boats", "The pontoon is moored at the north quay.", "ok")
    talk("plans", f"{page} The pontoon is moored. {page}", "ok")
    assert texts("where is the pontoon moored")[0].startswith("The pontoon")


def test_stop_words_find_nothing_beside_others(talk, texts, filler):
    """A question's common words bring nothing up; asked alone they do."""
    talk("s", "Was it you who did that before?", "The gasket leaks.")
    assert texts("what did you do about the gasket?")[0] == "The gasket leaks."
    assert texts("who did that before")[0].startswith("Was it you")


def test_the_parts_add_up_to_the_score(ranking, talk, filler):
    """Every event's parts sum to its score, which is between 0 and 1 and falls."""
    talk("s", "Which gasket did Ben order on 15 November 2023?", "The blue gasket, v1.2.3.", "Thanks, Ben.")
    found = ranking("which gasket v1.2.3 did Ben order?", now=Moment(1_700_100_000_000_000)).ranked
    assert len(found) >= 2
    for event in found:
        assert sum(event.parts.values()) == pytest.approx(event.score, abs=1e-5)
        assert 0 < event.score < 1
    assert [event.score for event in found] == sorted((event.score for event in found), reverse=True)


# neighbours ---------------------------------------------------------------------------------------------


def test_a_reply_is_found_by_its_question(talk, texts, filler):
    """What answers a short question is found by the question's words, which it does not hold; not without that."""
    talk("s", "What colour should the harbour gasket have?", "Teal, please.", *FILLER)
    assert "Teal, please." in texts("gasket colour")[:2]
    alone = Strengths(shares=Shares(0.0, 0.0, 0.0), exchange=0.0)
    assert "Teal, please." not in texts("gasket colour", strengths=alone)[:2]


def test_neighbours_are_those_of_the_session(memory, texts, filler):
    """Where two sessions are written in turns, each message's neighbours are those of its own session."""
    one, two = memory.session("one"), memory.session("two")
    for mine, theirs in zip(
        ("What colour should the gasket have?", "Teal."), ("How was the theatre?", "Dull."), strict=True
    ):
        one.user(mine)
        two.user(theirs)
    found = texts("gasket colour")
    assert "Teal." in found[:2]
    assert "Dull." not in found[:3]


def test_a_call_is_found_by_what_was_said_before_it(memory, texts, filler):
    """A call that lacks a word of the question is filled in by the message before it; not without that."""
    session = memory.session("s")
    session.agent("Now I look how the gasket catalogue is ordered.")
    session.tool_call("shell", json.dumps({"command": "sort parts.csv"}))
    for number in range(8):
        memory.session(f"t{number}").tool_call("shell", json.dumps({"command": f"sort list{number}.csv"}))
    calls = [text for text in texts("how was the gasket catalogue sorted") if "sort" in text]
    assert "parts.csv" in calls[0]
    alone = Strengths(shares=Shares(0.0, 0.0, 0.0), exchange=0.0)
    calls = [text for text in texts("how was the gasket catalogue sorted", strengths=alone) if "sort" in text]
    assert "parts.csv" not in calls[0]


def test_a_result_is_found_by_its_call(memory, texts, filler):
    """The output of a call is found by the words of the call beside it, which it lacks; not without its exchange."""
    session = memory.session("s")
    for command, output in (("wc orders.csv", "4711"), ("wc parts.csv", "42"), ("wc bills.csv", "17")):
        session.tool_result(session.tool_call("shell", json.dumps({"command": command})), output)
        session.user(FILLER[0])
        session.agent(FILLER[1])
        session.user(FILLER[2])
    assert "42" in texts("wc parts.csv")[:3]
    assert "42" not in texts("wc parts.csv", strengths=Strengths(exchange=0.0))[:3]


def test_a_line_lends_little_to_the_page_behind_it(talk, ranking, filler):
    """A page gets less from the line before it than another line does: the share is cut by their lengths."""
    page = talk("long", "The teal gasket arrived.", " ".join(FILLER * 4) + " The gasket is there.")[1]
    line = talk("short", "The teal gasket arrived.", "The gasket is there.")[1]
    found = {event.position: event.parts for event in ranking("which teal gasket").ranked}
    assert found[page]["neighbours"] < 0.6 * found[line]["neighbours"]


def test_an_answer_gets_more_from_a_short_question(talk, order, filler):
    """Of two like answers, the one to a short question stands before the one to a statement, which is newer."""
    asked = talk("a", "Which gasket is teal?", "The north one.")[1]
    told = talk("b", "Some gasket is teal.", "The north one.")[1]
    found = order("which gasket is teal")
    assert found.index(asked) < found.index(told)
    found = order("which gasket is teal", strengths=Strengths(shares=Shares(reply=0.0)))
    assert found.index(told) < found.index(asked)


def exchange_of(ranking, position: int, question: str) -> float:
    """Give what the exchange adds to an event's score, before it is scaled."""
    parts = {event.position: event.parts for event in ranking(question).ranked}.get(position, {})
    return parts.get("exchange", 0.0) / (1 - sum(parts.values()))


def test_a_message_is_found_by_its_exchange(talk, texts, filler):
    """What says no word of the question is found by the heads around it, up to two events away; not without that."""
    talk("s", "The splash banner of the kestrel build is ugly.", "It is drawn in two places.", "kill this", "Done.")
    talk("t", "The kestrel flew away.", "A banner was left.", "The splash woke him.", "Good.")
    neighbours_off = Shares(0.0, 0.0, 0.0)
    question = "what should happen to the splash banner of the kestrel build"
    assert "kill this" not in texts(question, strengths=Strengths(shares=neighbours_off))[:3]
    assert "It is drawn in two places." in texts(question, strengths=Strengths(shares=neighbours_off))[:2]
    alone = Strengths(shares=neighbours_off, exchange=0.0)
    assert "It is drawn in two places." not in texts(question, strengths=alone)[:4]


def test_an_exchange_begins_where_the_user_speaks_after_somebody_else(memory, ranking, filler):
    """What was said before the user spoke again adds nothing; in a talk among users it does."""
    session = memory.session("s")
    asked = session.user("Look at the pump.").position
    session.agent("The teal gasket fits it.")
    other = session.user("Now the ferry.").position
    assert exchange_of(ranking, asked, "which teal gasket") > 0
    assert exchange_of(ranking, other, "which teal gasket") == 0
    users = [memory.session("users").user(text).position for text in ("The mauve gasket arrived.", "It fits.", "Good.")]
    assert exchange_of(ranking, users[1], "which mauve gasket") > 0


def test_a_word_that_stands_elsewhere_adds_nothing_to_an_exchange(talk, ranking, filler):
    """What an exchange scores for one word is the same whatever else is asked for and stands in another session."""
    asked = talk("s", "The teal gasket arrived.", "It fits the pump.")[1]
    talk("t", "The pontoon is moored.", "Good.")
    scores = []
    for question in ("teal", "teal pontoon"):
        found = ranking(question)
        parts = next(event.parts for event in found.ranked if event.position == asked)
        scores.append(parts["exchange"] / (1 - sum(parts.values())) * sum(found.words.values()))
    assert scores[0] == pytest.approx(scores[1], rel=1e-4)
    assert scores[0] > 0


def test_an_exchange_reaches_two_events(memory):
    """Of a session of three exchanges, each event counts those up to two away in its own exchange."""
    session = memory.session("s")
    for who in ("user", "agent", "agent", "agent", "user", "agent", "user", "user"):
        getattr(session, who)("ok")
    with memory.index_moment() as moment:
        exchanges = Exchanges(moment.columns, around(moment.columns, np.arange(1, 9)), 1.0)
        reached = []
        for row in range(1, 9):
            times = np.zeros(9, np.float32)
            times[row] = 1
            reached.append("".join("x" if score > 0 else "." for score in exchanges.term(times, 1.0)))
    assert reached == [
        "xxx.....",
        "xxxx....",
        "xxxx....",
        ".xxx....",
        "....xx..",
        "....xx..",
        "......xx",
        "......xx",
    ]


def test_a_file_that_was_read_does_not_drown_its_exchange(memory, ranking, filler):
    """A long result adds its head's share: less than a line of the same words beside the same call."""
    added = {}
    for name, spare in (("line", ""), ("file", " ".join(FILLER * 4))):
        session = memory.session(name)
        call = session.tool_call("run", "{}")
        session.tool_result(call, f"teal gasket {spare}")
        added[name] = exchange_of(ranking, call.position, "teal gasket")
    assert 0 < added["file"] < 0.25 * added["line"]


# what else the question names -----------------------------------------------------------------------------


def test_a_speaker_who_is_named_comes_first(talk, texts, filler):
    """What she said herself stands before what is said about her; without that part it does not."""
    talk("s", "I planted tomatoes.", "Nice.", agents=("Dora", "Emil"))
    talk(
        "t", "Dora is away, but Dora says hello: Dora told me she planted something.", "Nice.", agents=("Carla", "Emil")
    )
    assert texts("what did Dora plant?")[0] == "I planted tomatoes."
    assert texts("what did Dora plant?", strengths=Strengths(speaker=0.0))[0].startswith("Dora is away")


@pytest.mark.parametrize(
    "question", ["What did we eat on 2023-11-16?", "what did we eat on 16 November?", "What did we eat 3 days ago?"]
)
def test_a_day_that_is_named_counts(talk, texts, question):
    """Of days with the same talk, the one that the question names comes first; without that part it does not."""
    for day in range(10):
        talk(
            f"lunch-{chr(97 + day)}",
            "What did we eat?",
            f"We ate dish {chr(97 + day)}.",
            start=Moment(1_700_000_000_000_000 + day * DAY),
        )
    now = Moment(1_700_000_000_000_000 + 5 * DAY - 3 * 3_600_000_000)
    assert "We ate dish c." in texts(question, now=now)[:2]
    assert "We ate dish c." not in texts("What did we eat?", now=now)[:2]


def test_a_date_leaves_nothing_out(talk, texts, filler):
    """What happened at another time than the one named is found all the same."""
    talk("s", "The gasket burst.", "Oh no.")
    assert texts("which gasket burst in May 2019?", now=Moment(1_700_200_000_000_000))[0] == "The gasket burst."


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("minimumContrast", "set minimumContrastRatio to 4.5"),
        ("themeSel", "call showThemeSelector() first"),
        ("8abeb", "commit 8abeb7d fixes it"),
        ("THEME_SELECT", "export THEME_SELECTOR=dark"),
        ("orders.sq", "drop table in db/orders.sqlite"),
    ],
)
def test_a_part_of_an_identifier_is_found(talk, ranking, texts, filler, part, text):
    """A part of an identifier, a path or a hash finds it, wherever in it the part stands."""
    talk("code", text, "done")
    assert texts(part)[0] == text
    assert ranking(part).bounded == ()


def test_without_the_search_inside_of_words_a_hash_is_not_found(talk, texts, filler):
    """The beginning of a hash is found inside of it alone."""
    talk("code", "commit 8abeb7d fixes it", "done")
    assert texts("8abeb", strengths=Strengths(terms=TermStrengths(inside=0.0))) == []


def test_a_string_in_one_piece_beats_its_pieces(talk, texts, filler):
    """A path stands before a text with the same words apart; without that part the shorter does."""
    talk("a", "src and tests and orders py, said in other words: the orders of src", "ok")
    talk("b", "The failing test is in src/tests/orders.py as far as I can see from here", "ok")
    assert "src/tests/orders.py" in texts("src/tests/orders.py")[0]
    assert (
        "src/tests/orders.py"
        not in texts("src/tests/orders.py", strengths=Strengths(terms=TermStrengths(exact=0.0, name=0.0)))[0]
    )


def test_a_name_beats_its_mentions(memory, texts):
    """The case of that number stands before the cases that mention it more often; without that part it does not."""
    for number in range(1, 20):
        before = max(1, number - 1)
        memory.session("work").user(
            f"Case {number}. Passed; as in case {before}, but case {before} was faster than case {before}."
        )
    assert texts("case 7")[0].startswith("Case 7.")
    assert texts("case 007")[0].startswith("Case 7.")
    assert not texts("case 7", strengths=Strengths(terms=TermStrengths(name=0.0)))[0].startswith("Case 7.")


# scope, order and bounds ------------------------------------------------------------------------------------


def test_only_what_is_in_the_scope_is_ranked(memory, talk, order):
    """Events outside of the scope are not given, and neighbours outside of it count all the same."""
    first = talk("a", "Where is the gasket?", "In the teal box.")
    talk("b", "Where is the gasket?", "Nobody knows.")
    assert set(order("gasket", scope=Scope(sessions=("a",)))) == set(first)
    assert order("gasket", scope=Scope(sessions=("a",), kinds=(Kind.AGENT_MESSAGE,))) == [first[1]]
    assert order("gasket", scope=Scope(sessions=("none",))) == []


def test_the_tail_ranks_like_the_index(memory, talk, order, monkeypatch):
    """Events that wait to be indexed are in the same places as after they were."""
    for number in range(30):
        talk(f"s{number}", f"The gasket {number} is {'teal' if number % 3 else 'red'}.", FILLER[number % 6])
    before = order("which gasket is teal?")
    memory.follow()
    assert order("which gasket is teal?") == before
    assert len(before) == len(set(before))


def test_users_messages_are_given_apart(talk, ranking, filler):
    """What users said on the question is among `users`, best first, whatever else fills the ranking."""
    positions = talk("s", "The gasket is teal.", "The gasket is teal, yes.")
    assert [event.position for event in ranking("teal gasket").users] == [positions[0]]


def test_candidates_are_the_best_by_all_their_words(memory, ranking, monkeypatch):
    """Where more passages match than are scored, those with the most words are, and the users' own."""
    monkeypatch.setattr(ranking_module, "CANDIDATES_MAX", 3)
    monkeypatch.setattr(ranking_module, "CANDIDATES_AROUND", 1)
    session = memory.session("s")
    wanted = session.user("teal gasket").position
    both = [session.agent("teal gasket, teal gasket").position for _ in range(3)]
    for _ in range(20):
        session.agent("teal, teal and teal paint")
    found = ranking("teal gasket")
    assert {event.position for event in found.ranked[:3]} == set(both)
    assert [event.position for event in found.users] == [wanted]


def test_a_ranking_has_a_limit(memory, ranking):
    """However many events match, at most `POOL` are ranked, the best of them."""
    session = memory.session("s")
    for number in range(POOL + 60):
        session.user(f"gasket {number}")
    wanted = session.user("gasket teal gasket").position
    found = ranking("teal gasket").ranked
    assert len(found) == POOL
    assert found[0].position == wanted


def test_a_deadline_is_said(talk, ranking, filler):
    """With no time left nothing is found, and what was not looked at is named."""
    talk("s", "The gasket is teal.", "ok")
    deadline = Deadline(0)
    found = ranking("teal gasket", deadline=deadline)
    assert found.ranked == ()
    assert deadline.passed
    assert "teal, gasket" in found.bounded[0]


def test_a_budget_of_postings_is_said(memory, ranking, monkeypatch):
    """Of words that are too common together the commonest are left aside, and named; the rarest still finds."""
    session = memory.session("s")
    for number in range(60):
        session.user(f"the gasket {number} was ordered")
    wanted = session.user("the teal gasket was ordered").position
    monkeypatch.setattr(term_module, "POSTINGS_MAX", 50)
    found = ranking("which teal gasket was ordered?")
    assert found.ranked[0].position == wanted
    assert any("gasket" in sentence for sentence in found.bounded)


def test_a_question_of_too_many_words_is_said(ranking, talk):
    """Of a question of hundreds of words not all are looked up: that is no absence."""
    talk("s", "The gasket is teal.", "ok")
    found = ranking(" ".join(f"unheard{number}" for number in range(700)))
    assert found.ranked == ()
    assert any("188 of its words" in sentence for sentence in found.bounded)


def test_what_is_not_there_is_not_found(talk, ranking, filler):
    """A question of unknown words gives nothing and no bound: that is an absence."""
    talk("s", "The gasket is teal.", "ok")
    found = ranking("zeppelin xylophone")
    assert (found.ranked, found.bounded, found.likelihood) == ((), (), 0.0)


# meaning, task ----------------------------------------------------------------------------------------------


class _Near:
    """Vectors of which one event's first passage is near to anything."""

    def __init__(self, position, fault="", through=10**9):
        self.position, self.fault, self.through = position, fault, through

    def scores(self, text, columns, mask=None):
        rows = np.array([columns.rows_of(self.position)[0]], np.int64)
        return Scores(rows, np.array([0.9], np.float32), self.through, self.fault)


def test_what_is_near_in_meaning_is_found(talk, ranking, filler):
    """An event that shares no word is found by its vector, and its parts say so."""
    (position, _) = talk("s", "Our feline dozed.", "Sweet.")
    found = ranking("gasket kitten nap", near=_Near(position)).ranked
    assert position in [event.position for event in found]
    parts = next(event for event in found if event.position == position).parts
    assert [name for name, part in parts.items() if part] == ["meaning"]


def test_words_and_meaning_are_joined_by_score(talk, ranking, filler):
    """The cosine adds to what the words say: the event that has both stands first."""
    first, _ = talk("s", "The cat slept.", "Sweet.")
    second, _ = talk("t", "The cat slept.", "Sweet.")
    assert ranking("cat slept", near=_Near(first)).ranked[0].position == first
    assert ranking("cat slept", near=_Near(second)).ranked[0].position == second


def test_broken_vectors_are_said(talk, ranking, filler):
    """What is wrong with the vectors is among the faults; the words still answer."""
    (position, _) = talk("s", "The cat slept.", "Sweet.")
    found = ranking("cat", near=_Near(position, fault="the model is gone"))
    assert found.ranked[0].position == position
    assert found.faults == ("vectors: the model is gone",)
    memory_behind = ranking("cat", near=_Near(position, through=0))
    assert memory_behind.faults == ()  # 36 events behind is no stage that is behind


def test_a_task_weighs(talk, memory, order, filler):
    """Of two like events the one with the task's words comes first, and while debugging a result before talk."""
    one, _ = talk("a", "The gasket order failed in Lisbon.", "ok")
    two, _ = talk("b", "The gasket order failed in Madrid.", "ok")
    for goal, wanted in (("ship to Lisbon", one), ("ship to Madrid", two)):
        assert order("why did the gasket order fail", conditions=Conditions(goal=goal))[0] == wanted
        assert (
            order("why did the gasket order fail", conditions=Conditions(goal=goal), strengths=Strengths(task=0.0))[0]
            == two
        )
    session = memory.session("c")
    result = session.tool_result(session.tool_call("run", "{}"), "the zeppelin engine stalled").position
    talk("d", "the zeppelin engine stalled", "ok")
    assert order("zeppelin engine", conditions=Conditions(phase="debugging"))[0] == result
    assert order("zeppelin engine")[0] != result
