"""evals/readers.py: the scripted reader goes right and wrong by its stated rules, and answers are judged strictly."""

from __future__ import annotations

import pytest

from firsthand_evals import readers
from firsthand_evals.cases import NAME, NUMBER, Case, Sort
from firsthand_evals.endpoint import Reply
from firsthand_evals.models import Recorded
from firsthand_evals.readers import NO_ANSWER, Reading, Score, Scripted

PORT = "Which port does the staging database of borealis listen on?"
TOLD = "The staging database of borealis listens on port 7001."


def ask(before: str, prompt: str = PORT, wanted: str = NUMBER, *, belief: str = "") -> str:
    return Scripted({prompt: belief} if belief else {}).answer(Reading(before, prompt, wanted))


@pytest.mark.parametrize(
    ("before", "answer"),
    [
        ("", "5432"),  # nothing before it: what it believes
        (TOLD, "7001"),
        ("It rains. The bill is 7001.", "5432"),  # a value that has nothing to do with it
        ("The staging database of zephyrine listens on port 7002.", "7002"),  # believed, and wrong
        (f"{TOLD}\nThe staging database of zephyrine listens on port 7002.", "7001"),  # more words shared wins
        ("2026-01-09 10:00 user\n| " + TOLD + "\n2026-01-02 10:00 user\n| " + TOLD.replace("7001", "7003"), "7001"),
        ("2026-01-02 10:00 user\n| " + TOLD + "\n2026-01-09 10:00 user\n| " + TOLD.replace("7001", "7003"), "7003"),
        (TOLD.replace("7001", "unknown") + " (fh:01KFTCF62089XV0YPBC48CYZZG@0-100)", "5432"),  # a pointer is no value
        (TOLD + " Told on 2026-01-09 10:30:15", "7001"),  # nor is a time
    ],
)
def test_it_takes_what_shares_most_words_and_else_what_it_believes(before, answer):
    """The best line before the prompt decides, the newest of equals, a neighbour's value too; else the belief."""
    assert ask(before, belief="5432") == answer


def test_without_text_and_belief_it_does_not_know():
    """A reader that was told nothing and believes nothing says so, and gives no value."""
    assert ask("") == NO_ANSWER
    assert readers.values(NO_ANSWER, NUMBER) == []


def test_it_follows_a_rule_only_when_the_rule_stands_before_it():
    """A situation that shares no word with a rule is tied to it by its topic, and without the rule to nothing."""
    prompt = "df shows 100 percent on our old machine; make room. How do you begin?"
    rule = "Deleting for good: `vobabe-lupavi-88` must have passed ahead of it."
    other = "Incidents: open `sopave-vubazo-39` ahead of any diagnosis."
    assert ask("", prompt, NAME, belief="rm-tmp-1") == "rm-tmp-1"
    assert ask(f"{other}\n{rule}\n{other}", prompt, NAME, belief="rm-tmp-1") == "vobabe-lupavi-88"
    assert ask(other, prompt, NAME, belief="rm-tmp-1") == "rm-tmp-1"
    assert Scripted({}, topics=()).answer(Reading(rule, prompt, NAME)) == NO_ANSWER


def test_it_is_distracted_from_what_it_knows():
    """A tempting line makes it give up a right belief: a push can hurt."""
    prompt = "Which port does SSH use by default?"
    tempting = "SSH on borealis does not use the default: its port is 4711."
    assert ask("", prompt, belief="22") == "22"
    assert ask(tempting, prompt, belief="22") == "4711"


CASE = Case("x", Sort.EXPERIENCE, "changed", (PORT,), NUMBER, "7001", other=("6999",), tempting=("8000",), ideal=TOLD)


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("It is 7001.", Score(True, False, False, False, False)),
        ("7,001", Score(True, False, False, False, False)),
        ("17001", Score(False, True, False, False, False)),
        ("First 6999, now 7001", Score(False, True, True, False, False)),
        ("6999", Score(False, True, True, False, False)),
        ("8000", Score(False, True, False, True, False)),
        (NO_ANSWER, Score(False, False, False, False, True)),
        ("", Score(False, False, False, False, True)),
    ],
)
def test_an_answer_is_judged_by_its_values(answer, score):
    """Only the right value alone is right; another value contradicts the memory; no value is silence, not an error."""
    assert readers.score(CASE, answer) == score


def test_what_the_memory_does_not_hold_cannot_be_contradicted():
    """A wrong answer to a question that the memory says nothing of is wrong and contradicts nothing."""
    case = Case("x", Sort.NEEDLESS, "nothing held", ("q",), NUMBER, "8", belief="8")
    assert readers.score(case, "9") == Score(False, False, False, False, False)


def test_a_model_is_sent_what_was_pushed_before_the_prompt(tmp_path):
    """A model gets one user message: what was pushed, then the prompt and which value is wanted; nothing else."""
    reading = Reading(TOLD, PORT, NUMBER)
    sent = [
        {"role": "system", "content": readers.SYSTEM},
        {"role": "user", "content": f"{TOLD}\n\n{PORT} Answer with the number alone."},
    ]
    assert readers.messages(reading) == sent
    assert readers.messages(Reading("", PORT, NUMBER))[1]["content"] == f"{PORT} Answer with the number alone."

    class Says:
        def complete(self, messages, **_):
            assert list(messages) == sent
            return Reply(" 7001 \n", (), 1, 1)

    recorded = Recorded(tmp_path / "replies.jsonl", Says)
    assert readers.Asked(recorded, "m").answer(reading) == "7001"
    assert readers.Asked(Recorded(tmp_path / "replies.jsonl"), "m").answer(reading) == "7001"
