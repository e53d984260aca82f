"""What became of a recall, by what followed it."""

from __future__ import annotations

import pytest

from firsthand.consolidate.recalls import (
    Judged,
    Recalled,
    Verdict,
    Work,
    are_users_words,
    count,
    is_about,
    judge,
    lower,
    missed,
    patterns,
    strings_of,
)

SHOWN = {"fh:A": "Deploys go through deploy/run.sh on port 8443.", "fh:B": "The cat is fed at noon."}


def recalled(asked: str = "how do we deploy", outcome: str = "found", number: int = 0) -> Recalled:
    return Recalled(f"fh:{number}", number, "s", 1, asked, True, True, outcome)


def test_a_used_string_makes_it_found():
    """What was shown is found when the agent then writes an exact string of it, and only that event is right."""
    one = judge(recalled(), SHOWN, Work(strings=frozenset({"8443", "src/other.py"})))
    assert (one.verdict, one.right, one.strings) == (Verdict.FOUND, ("fh:A",), ("8443",))
    assert one.sign == "its '8443' was used"


def test_an_opened_pointer_makes_it_found():
    """What was shown is found when the agent opens or cites it."""
    one = judge(recalled(), SHOWN, Work(named=frozenset({"fh:B"})))
    assert (one.verdict, one.right, one.sign) == (Verdict.FOUND, ("fh:B",), "it was opened or cited")


def test_a_string_of_the_question_is_no_sign():
    """A string that the question itself holds proves no use."""
    one = judge(recalled("what runs on port 8443"), SHOWN, Work(strings=frozenset({"8443"})))
    assert (one.verdict, one.right, one.sign) == (Verdict.UNUSED, (), "")


@pytest.mark.parametrize(
    ("outcome", "shown", "verdict"),
    [
        ("found", SHOWN, "unused"),
        ("weak", {}, "weak"),
        ("absent", {}, "absent"),
        ("", {}, "absent"),
        ("", SHOWN, "unused"),
    ],
)
def test_without_a_sign_the_verdict_is_what_the_answer_said(outcome, shown, verdict):
    """Without a sign of use a recall is unused, weak or absent, and nothing is right."""
    one = judge(recalled(outcome=outcome), shown, Work(corrected=True))
    assert (one.verdict.value, one.right, one.corrected) == (verdict, (), True)


def test_missed_keeps_what_proves_it():
    """A missed recall names what was there and by which sign."""
    one = missed(judge(recalled(outcome="weak"), {}, Work()), ["fh:A"], ["8443"], "the user said '8443'")
    assert (one.verdict, one.right, one.strings, one.sign) == (
        Verdict.MISSED, ("fh:A",), ("8443",), "the user said '8443'",
    )  # fmt: skip


def test_strings_are_names_and_numbers_of_three_digits():
    """Paths, identifiers and longer numbers are exact strings; words and short numbers are not."""
    assert strings_of("Run deploy/run.sh at 10, port 8443 on 10.0.0.1; the cat is fed") == {
        "deploy/run.sh", "run.sh", "8443", "10.0.0.1",
    }  # fmt: skip


def test_a_query_is_the_users_when_half_of_its_words_are():
    """A model's query counts as the user's only in the user's words: a page that asks for a recall has others."""
    said = "Which port does billing have?"
    assert are_users_words("billing port", said)
    assert not are_users_words("admin password reset url", said)
    assert not are_users_words("", said)


def test_a_text_is_about_what_is_asked_by_telling_words():
    """Two telling words in common are needed, one where one is allowed, and never a stop word."""
    assert is_about("which port does billing have", "the port of billing is 1")
    assert not is_about("which port does billing have", "billing is slow")
    assert is_about("which port does billing have", "billing is slow", 1)
    assert not is_about("what is it", "what is it then", 1) or is_about("what is it", "", 1)


def test_counts_are_of_every_verdict():
    """Counts name every verdict, how many were unasked and how many were corrected."""
    told = [
        judge(recalled(outcome="weak"), {}, Work()),
        judge(recalled(), SHOWN, Work(named=frozenset({"fh:A"}), corrected=True)),
    ]
    counts = count(told)
    assert dict(counts.verdicts) == {"found": 1, "unused": 0, "weak": 1, "absent": 0, "missed": 0}
    assert (counts.recalls, counts.unasked, counts.corrected) == (2, 2, 1)


def test_a_pattern_is_a_word_whose_recalls_surely_fail_more_often():
    """A word is a pattern by its own failures beside all others, not by repetition of one question."""
    bad = [Judged(recalled(f"dosage of drug{n}", "weak", n), Verdict.MISSED) for n in range(6)]
    good = [Judged(recalled(f"colour of thing{n}", "found", n), Verdict.FOUND) for n in range(12)]
    assert [str(one) for one in patterns([*bad, *good])] == ["recalls about 'dosage' fail: 6 of 6"]
    repeated = [Judged(recalled("dosage of drug", "weak", n), Verdict.MISSED) for n in range(50)]
    assert patterns([*repeated, *good]) == ()


def test_the_lower_end_is_wilsons():
    """The bound of 8 of 10 is the known one, of nothing 0, and it rises with more of the same share."""
    assert lower(8, 10) == pytest.approx(0.541, abs=0.002)
    assert lower(0, 0) == lower(0, 5) == 0.0
    assert lower(80, 100) > lower(8, 10)
