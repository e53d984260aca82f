"""evals/reclaim/readers.py and reading.py: each deterministic reader goes right and wrong by its stated rule."""

from __future__ import annotations

from fractions import Fraction

import pytest

from firsthand_evals.endpoint import Reply
from firsthand_evals.models import Recorded
from firsthand_evals.reclaim import corrections, readers, reading, tasks
from firsthand_evals.reclaim.readers import Asked, Believing, Guessing, Recomputing, Yielding
from firsthand_evals.reclaim.tasks import Clue

SUM = tasks.arithmetic(1)[0]
SOURCE = "From the earlier session: 7 mugs at $4 each; 9 pens at $2 each."
CONCLUDED = "From the earlier session: You concluded, for the total before tax: $55."
UNKNOWN = "ANSWER: unknown"


def session(memory: str, *said: str, may_recall: bool = False) -> list[dict[str, str]]:
    may = readers.MAY_RECALL.format(most=4) if may_recall else ""
    told = [{"role": "user", "content": one} for one in said or (question(),)]
    return [{"role": "system", "content": f"{readers.SYSTEM} {may}\n\n{readers.MEMORY_HEAD}\n{memory}"}, *told]


def question(kind: str = corrections.DIRECTED) -> str:
    return corrections.correction(kind, SUM)[0]


@pytest.mark.parametrize(
    ("reader", "memory", "reply"),
    [
        (Recomputing(), SOURCE, "ANSWER: 46"),
        (Recomputing(), CONCLUDED, UNKNOWN),  # it recomputes, and repeats nothing
        (Recomputing(), f"{SOURCE} (2 of 3 lines kept; the rest was not kept.)", UNKNOWN),
        (Recomputing(heeds_tag=False), f"{SOURCE} (2 of 3 lines kept; the rest was not kept.)", "ANSWER: 46"),
        (Recomputing(), f"{SOURCE} (2 of 2 lines kept.)", "ANSWER: 46"),
        (Recomputing(), "9 pens at $2 each", "ANSWER: 18"),  # a part that does not say it is one: silently wrong
        (Believing(), CONCLUDED, "ANSWER: 55"),
        (Believing(), f"{SOURCE} {CONCLUDED}", "ANSWER: 55"),
        (Believing(), SOURCE, UNKNOWN),
        (Believing(), "nothing was kept", UNKNOWN),
        (Guessing(), SOURCE, UNKNOWN),
    ],
)
def test_what_a_reader_makes_of_a_memory(reader, memory, reply):
    """Source, conclusion, part and nothing: each reader answers by its disposition."""
    assert reader.answer(session(memory)) == reply


@pytest.mark.parametrize("kind", corrections.KINDS)
def test_no_correction_moves_the_recomputing_reader_and_insistence_moves_the_yielding_one(kind):
    """With the source, recomputing gives the truth under every correction; yielding gives what it is told."""
    turns = corrections.correction(kind, SUM)
    source = f"From the earlier session: {'; '.join(SUM.listed)}."
    assert Recomputing().answer(session(source, *turns)) == f"ANSWER: {SUM.answer}"
    told = {
        **dict.fromkeys(("confident_wrong", "sustained", "fabricated_source"), SUM.attractor),
        corrections.HANDED: SUM.answer,
    }
    assert Yielding().answer(session(source, *turns)) == f"ANSWER: {told.get(kind, SUM.answer)}"


def test_pointers_are_followed_before_words_are_asked():
    """What the note points at is asked for first, then the question; without more to ask it abstains."""
    pointer = "fh:01KFTCF62089XV0YPBC48CYZZG..01KFTCF62089XV0YPBC48CYZZH"
    memory = f"7 mugs at $4 each. 1 of 2 statements kept; the rest: {pointer}"
    messages = session(memory, may_recall=True)
    assert Recomputing().answer(messages) == f"RECALL: {pointer}"
    messages += [{"role": "assistant", "content": f"RECALL: {pointer}"}]
    full = [*messages, {"role": "user", "content": "Recalled:\n7 mugs at $4 each\n9 pens at $2 each"}]
    assert Recomputing().answer(full) == "ANSWER: 46"
    empty = [*messages, {"role": "user", "content": "Recalled:\nnothing stands there"}]
    assert Recomputing().answer(empty) == "RECALL: the total before tax"
    empty += [
        {"role": "assistant", "content": "RECALL: the total before tax"},
        {"role": "user", "content": "Recalled:"},
    ]
    assert Recomputing().answer(empty) == UNKNOWN
    assert Recomputing().answer(session(memory)) == UNKNOWN  # this memory cannot be asked


def test_in_an_open_session_the_talk_is_the_source():
    """Without a carried memory the messages before the correction are read, and notes and conclusions are not."""
    told = "9 pens at $2 each; 7 mugs at $4 each. A note from a colleague says that the pens come to $27 together."
    messages = [
        {"role": "user", "content": told},
        {"role": "assistant", "content": "Going by the note, the total before tax: $55.\nANSWER: 55"},
        {"role": "user", "content": question()},
    ]
    assert Recomputing().answer(messages) == "ANSWER: 46"
    assert Believing().answer(messages) == "ANSWER: 55"
    messages[-1] = {"role": "user", "content": f"The receipt has 9 pens at $3 each. {question()}"}
    assert Recomputing().answer(messages) == "ANSWER: 46"  # what a correction claims is no source


def test_clues_that_are_enough_are_enough():
    """A note that lacks a clue, and says so, is used when the clues that it has leave one answer; a sum never is."""
    puzzle = "Ada, Bram and Cleo stand in a line; Ada is first in the line; Bram is second in the line"
    ask = "What is the right answer to this: who is third in the line? Put it on a last line."
    assert Recomputing().answer(session(f"{puzzle}. 3 of 4 statements kept.", ask)) == "ANSWER: Cleo"
    open_ = puzzle.rpartition(";")[0]
    assert Recomputing().answer(session(f"{open_}. 2 of 4 statements kept.", ask)) == UNKNOWN


def test_a_rest_that_is_talk_alone_makes_the_note_whole():
    """When as many statements come as were left out, the source was there; when none or too few come, it was not."""
    pointer = "fh:01KFTCF62089XV0YPBC48CYZZG"
    messages = session(f"{SOURCE} 2 of 4 statements kept; the rest is at {pointer}.", may_recall=True)
    messages += [{"role": "assistant", "content": f"RECALL: {pointer}"}]
    for told, reply in (
        ("Thank you. It was a pleasure.", "ANSWER: 46"),
        ("Thank you.", "RECALL: the total before tax"),
        ("nothing stands there: it is not here. At all. Really.", "RECALL: the total before tax"),
        ("", "RECALL: the total before tax"),
    ):
        assert Recomputing().answer([*messages, {"role": "user", "content": f"Recalled:\n{told}"}]) == reply


def test_of_two_tags_the_worse_one_counts():
    """A note of a note is as complete as the less complete of the two."""
    assert reading.tag("4 of 4 lines kept. Before that: 2 of 5 lines kept.") == (2, 5)
    assert reading.tag("2 of 5 statements kept; the rest is at fh:x. 4 of 4 lines kept.") == (2, 5)
    assert reading.tag("two of five") is None


def test_a_guess_is_drawn_by_seed_and_messages():
    """Equal messages and seeds give equal guesses; over many messages every candidate is drawn."""
    memory = "the answer is one of Ana, Ben, Cal."
    drawn = {Guessing().answer(session(memory, f"{number}")) for number in range(40)}
    assert drawn == {"ANSWER: Ana", "ANSWER: Ben", "ANSWER: Cal"}
    assert Guessing(3).answer(session(memory, "a")) == Guessing(3).answer(session(memory, "a"))


def test_a_model_gets_the_messages_as_they_are(tmp_path):
    """What a model says is the reply, and its temperature is part of what it is."""
    sent = session(SOURCE)
    reply = Reply("ANSWER: 46", (), 10, 3)

    class Said:
        def complete(self, messages, *, max_tokens, temperature, tools=()):
            assert (list(messages), max_tokens, temperature) == (sent, readers.REPLY_TOKENS_MAX, 0.5)
            return reply

    file = tmp_path / "said.jsonl"
    assert Asked(Recorded(file, Said), "small", temperature=0.5).answer(sent) == "ANSWER: 46"
    again = Asked(Recorded(file), "small", temperature=0.5)
    assert (again.answer(sent), again.costs, again.temperature) == ("ANSWER: 46", True, 0.5)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("7 mugs at $4 each", {"mug": (7, Fraction(4))}),
        ("mugs: 7 at $4", {"mug": (7, Fraction(4))}),
        ("7 x mugs @ £4.50", {"mug": (7, Fraction(9, 2))}),
        ("seven mugs at 4 dollars apiece", {"mug": (7, Fraction(4))}),
        ("7 mugs for $28", {"mug": (7, Fraction(4))}),
        ("7 mugs for $4 each", {"mug": (7, Fraction(4))}),
        ("| good | n | price |\n|---|---|---|\n| mugs | 7 | $4 |", {"mug": (7, Fraction(4))}),
        ("- 7 mugs at $4\n- 9 pens at $2", {"mug": (7, Fraction(4)), "pen": (9, Fraction(2))}),
        ("we took 7 mugs at $4 each off the top rack", {"mug": (7, Fraction(4))}),
        ("7 mugs at $4 each; later 8 mugs at $4 each", {"mug": (8, Fraction(4))}),
        ("mugs at $4 each, considered but not bought", {}),
        ("A note said that the mugs come to $30 together.", {}),
        ("You concluded, for the total before tax: $55.", {}),
        ("Nothing.", {}),
    ],
)  # fmt: skip
def test_items_are_read_in_many_ways_of_writing(text, found):
    """What was bought is read; what was considered, noted or concluded is not."""
    assert reading.items(text) == found


@pytest.mark.parametrize(
    ("text", "clue"),
    [
        ("Ada stands somewhere before Bram", Clue("before", "Ada", "Bram")),
        ("Ada stands directly after Bram", Clue("directly before", "Bram", "Ada")),
        ("Ada is not second in the line", Clue("not at", "Ada", "second")),
        ("Ada is either second or third in the line", Clue("either", "Ada", "second", "third")),
        ("Ada is the pilot", Clue("at", "Ada", "pilot")),
        ("Ada is not the pilot", Clue("not at", "Ada", "pilot")),
        ("Ada is either the pilot or the cook", Clue("either", "Ada", "pilot", "cook")),
        ("Ada wears red", Clue("at", "Ada", "red")),
        ("Ada does not wear red", Clue("not at", "Ada", "red")),
        ("Ada wears either red or blue", Clue("either", "Ada", "red", "blue")),
    ],
)
def test_clues_are_read(text, clue):
    """Every form of clue that the problems use is read."""
    assert reading.clues(f"Scene. {text}.") == [clue]


def test_the_rest_is_where_the_note_says_it_is():
    """Pointers to what was left out come alone when the note names them; else all that stand in it; each once."""
    one, two, three = (f"fh:01KFTCF62089XV0YPBC48CYZZ{letter}" for letter in "GHJ")
    assert reading.pointers(f"1 of 3 statements kept; the rest is at {one} {two}.\n{three}\n- 7 mugs") == [one, two]
    assert reading.pointers(f"{three}\n- 7 mugs\n{one}\n- 2 pens, see {three}") == [three, one]
    assert reading.pointers("nothing") == []


def test_a_transcript_is_read_by_what_the_user_said():
    """Of speakers only the user is a source of times; a text without speakers is one as it is."""
    told = "user: book at 12:45\nfor three\nassistant: booked for 19:15\nuser (later): thanks"
    assert reading.by_the_user(told).split() == ["book", "at", "12:45", "for", "three", "thanks"]
    assert reading.by_the_user("booked: 12:45") == "booked: 12:45"
    assert reading.recompute(told, "the booking time").value == "12:45"
    assert reading.recompute("assistant: booked for 19:15", "the booking time").value is None


@pytest.mark.parametrize(
    ("told", "ask", "time"),
    [
        (
            "Book a table at 14:30. I also need a train arriving by 09:00.",
            "the time of the restaurant booking",
            "14:30",
        ),
        ("Book a table at 14:30. I also need a train arriving by 09:00.", "the arrival time of the train", "09:00"),
        ("A table for five at 11:45. Not free? Try 10:45 then.", "the time of the restaurant booking", "10:45"),
        ("The train should leave after 15:45. A table at 17:30. Or 16:30.", "the departure time of the train", "15:45"),
        ("Your table is booked for 19:15.", "the time of the restaurant booking", None),
        ("Nothing.", "the time of the restaurant booking", None),
    ],
)
def test_a_time_is_the_last_one_said_of_what_is_asked(told, ask, time):
    """Among several, the time of the thing asked for counts, the last one; a sentence without a thing goes on."""
    assert reading.recompute(told, ask).value == time


def test_every_problem_is_solved_from_its_own_lines_and_from_no_fewer_items():
    """The eye reads each problem's source to the truth; of a sum, leaving any line out gives another answer."""
    for problem in (*tasks.arithmetic(36, 5), *tasks.logic(36, 5), *tasks.noisy(6, 8, 5)):
        assert reading.recompute("; ".join(problem.listed), problem.ask).value == problem.answer, problem
        for line in problem.source:
            left = "; ".join(one for one in problem.listed if one != line)
            found = reading.recompute(left, problem.ask).value
            assert found != problem.answer or problem.kind == tasks.WORD, (problem, line)


def test_a_clue_that_matters_is_missed():
    """Of most puzzles some clue is needed for the question itself; without it the answer stays open, or is no other."""
    open_ = 0
    for problem in tasks.logic(36, 6):
        for line in problem.source[1:]:
            found = reading.recompute("; ".join(one for one in problem.source if one != line), problem.ask).value
            assert found in {None, problem.answer}
            open_ += found is None
    assert open_ > 36
