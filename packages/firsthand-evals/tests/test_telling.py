"""testing/telling.py: a message shows the counts, one item whole, what is missing, and what to do."""

from __future__ import annotations

import textwrap

import pytest

from firsthand_evals.testing import assert_correctable, assert_lossless, assert_no_silent_partial, assert_probe
from firsthand_evals.testing.telling import TEXT_CHARACTERS_MAX


def message(check, *arguments, **options) -> str:
    """Give what an assertion says that fails."""
    with pytest.raises(AssertionError) as caught:
        check(*arguments, **options)
    return str(caught.value)


def advice(told: str) -> list[str]:
    """Give what a message says to do."""
    return told.partition("\nWhat to do\n")[2].splitlines()


def concludes(messages, budget):
    """Carry a conclusion."""
    return "The total is $5."


def raises(messages, budget):
    """Fail."""
    raise KeyError("no such session")


KEEP = (
    "  Keep the statements that the answer is worked out from, word for word and before the conclusion; where they do "
    "not fit, say so."
)
ASK = "  What does not fit within the budget can be found again: give the memory recall(query) -> str."
HONEST = (
    "  A wrong value came of a source that is not whole, or of what was only claimed: say how much was kept ('3 of 8 "
    "statements kept'), and keep what the user said apart from what was concluded."
)
ON = (
    "  What was carried into a session stands in its first message, of the role system: carry it on, or keep it in the "
    "memory, and say what was dropped."
)
AGAIN = (
    "  What the memory was asked and answered stands in the session too (RECALL: ..., Recalled: ...): do not store "
    "that again, or each answer holds the ones before it."
)
FIT = "  Choose what to keep within the budget: what is cut at its end loses what came last, mid-statement."


def test_a_memory_that_is_not_correctable():
    """The whole message: counts by family and place, the session, what was carried, what is missing, the reply."""
    expected = """\
    concludes is not correctable: 0 of 8 items were brought back

      arithmetic, source first      0 of 1 hold; 1 could not say
      arithmetic, source middle     0 of 1 hold; 1 could not say
      arithmetic, source late       0 of 1 hold; 1 could not say
      arithmetic, source scattered  0 of 1 hold; 1 could not say
      logic, source first           0 of 1 hold; 1 could not say
      logic, source middle          0 of 1 hold; 1 could not say
      logic, source late            0 of 1 hold; 1 could not say
      logic, source scattered       0 of 1 hold; 1 could not say

    The first that broke: problem a0-0 (arithmetic, source first), budget 600 characters
    What was said (the user; what the answer is worked out from is marked)
      > These are the purchases for Corvin Supplies. 3 hammers at $4.50 each; 11 yokes at $29.25 each. A note from a \
colleague says that the yokes come to $313.75 together. Use the note. Now give me the total before tax.
        Put that into one line for the minutes.
        And as a headline?
        What do we tell the office?
        Say it once more, for the file.
        How do I keep basil alive indoors?
        What is a good name for a grey cat?
        Is it too late to plant tulips?
        How do I get wax out of a tablecloth?
    What concludes carried (16 of 600 characters)
      | The total is $5.
    What is missing (the probe: uncorrectable_silent, what it takes is not there, and the note looks as if it were \
whole)
      3 hammers at $4.50 each
      11 yokes at $29.25 each.
    The correction
      | I think the subtotal of the yokes was wrong. Check that again. What is the right answer to this: the total \
before tax? Put it on a last line, ANSWER: and the number alone.
    The reply (recomputing)
      | ANSWER: unknown
    Right is 335.25; the session had concluded 327.25

    What to do
    """
    told = message(assert_correctable, concludes, problems=1)
    assert told.partition("What to do\n")[0] == textwrap.dedent(expected).removesuffix("What to do\n")
    assert advice(told) == [
        KEEP, ASK, "All of it, with a report:",
        f"  firsthand eval reclaim --memory {__name__}:concludes --experiment places --budget 600 --html report.html",
    ]  # fmt: skip


def test_a_memory_that_is_partial_in_silence():
    """Its message counts by what outgrows the budget, and shows of a chain what each session came to."""

    def forgets(messages, budget):
        return "\n".join(one["content"] for one in messages if one["role"] == "user")

    told = message(assert_no_silent_partial, forgets, problems=1, budget=3_000)
    assert told.partition("\nWhat is missing")[0] == textwrap.dedent("""\
    forgets is partial and does not say so: 2 of 9 items were wrong, or looked whole, without a sign

      4 items                                     1 of 1 hold
      8 items                                     1 of 1 hold
      16 items                                    1 of 1 hold
      32 items                                    1 of 1 hold
      4 items among 8 that were only considered   1 of 1 hold
      4 items among 16 that were only considered  1 of 1 hold
      4 items among 32 that were only considered  1 of 1 hold
      chains of 4 sessions                        0 of 1 hold; 1 answered wrongly on the way
      chains of 8 sessions                        0 of 1 hold; 1 answered wrongly on the way

    The first that broke: problem l0-4-0 (chains of 4 sessions), budget 3000 characters
    What came of each session
      1. we took 3 gloves at $4 each from the yard: right is 12, given was 12
      2. we took 8 hammers at $28 each from the back room: right is 236, given was 236
      3. we took 11 yokes at $29 each at the front desk: right is 555, given was 543
      4. we took 2 wicks at $2 each from the yard: right is 559, given was 323
    What forgets carried (172 of 3,000 characters)
      | New purchase: we took 2 wicks at $2 each from the yard.
      | What is the right answer to this: the running total before tax? Put it on a last line, ANSWER: and the number \
alone.""")
    assert advice(told)[:2] == [ON, HONEST]


def test_a_memory_that_is_not_lossless():
    """The whole message: counts by session, the first message that is gone, what is carried, others that are gone."""
    assert message(assert_lossless, concludes, sessions=1, budget=100) == textwrap.dedent("""\
    concludes is not lossless: 0 of 7 messages came back word for word

      session 1: 0 of 7

    The first that is gone: said by user in session 1
      | The gateway of the harbour listens on port 57405.
    What concludes carries (16 of 100 characters)
      | The total is $5.
    Gone as well
      session 1: Checksum of the harbour archive: sha1:a9e9dc335c191e1b3b4f03be18773aac81fd86fe
      session 1: I wrote the harbour settings to /etc/harbour.d/a9e9dc3/o-602.toml
      session 1: Pin the harbour driver to 1.12.6rc7+local.3, not to anything newer!
      session 1: The harbour import failed: ...
      session 1: On the sign of the harbour stands: \u00abGr\u00f6\u00dfe 4588 \u00b5m\u00bb, cafe\u0301, \
\u05de\u05d2\u05d3\u05dc, \U0001f469\u200d\U0001f527, \u6771\u4eac\u90fd57405\u53f7
      session 1: The harbour scale reads -0.0602 kg;   the old one is gone.

    What to do
      528 characters were said and 100 may be carried: what does not fit is only to be had from a memory that can be \
asked. Give it recall(query) -> str.""")


def test_a_memory_that_was_asked_in_vain():
    """A memory that can be asked is shown with its first answers; one that alters what was said is told so."""

    class Forgets:
        def write(self, messages, budget):
            return "ask"

        def recall(self, query):
            return "I do not know."

    class Squeezes(Forgets):
        said = ""

        def write(self, messages, budget):
            self.said += " ".join(" ".join(one["content"] for one in messages).split())
            return "ask"

        def recall(self, query):
            return self.said

    told = message(assert_lossless, Forgets)
    assert "What it answers to 'harbour gateway port'\n  | I do not know.\n" in told
    assert "\n  and 26 more\n" in told
    assert advice(told) == [
        "  Store every message as it was said, and let recall(query) give it back whole.",
        "  It was asked for with 'harbour gateway port', words of it; pointers (fh:...) are followed.",
    ]
    assert advice(message(assert_lossless, Squeezes)) == [
        "  It came back in other spaces, cases or characters: keep what was said as it is, and show it so."
    ]


def test_a_note_that_cannot_be_corrected():
    """The whole message of a note alone."""
    said = [
        {"role": "user", "content": "7 notebooks at $4 each, 9 pens at $2 each. What is the total?"},
        {"role": "assistant", "content": "The total is $55."},
    ]
    assert message(assert_probe, "The total was $55.", said) == textwrap.dedent("""\
    the note is uncorrectable_silent: what it takes is not there, and the note looks as if it were whole

    The note
      | The total was $55.
    What is missing
      7 notebooks at $4 each, 9 pens at $2 each.

    What to do
      Keep what the conclusion is worked out from, word for word and before the conclusion.
      Where that does not fit, say how much of it was kept ('3 of 8 statements kept'), or keep a pointer to the \
rest.""")


def test_a_memory_that_fails():
    """A fault is shown with the line of the memory's code, and counts."""
    told = message(assert_correctable, raises, problems=1)
    assert "  arithmetic, source first      0 of 1 hold; 1 failed\n" in told
    assert "raises raised in write(): KeyError: 'no such session' (test_telling.py:" in told
    assert advice(told)[0] == "  Mend what fails; it counts as not brought back."
    assert message(assert_lossless, raises).startswith("raises is not lossless: it failed: raises raised in write(): ")

    def colours(messages, budget):
        raise ValueError("\x1b[31mred")

    assert "ValueError: \\x1b[31mred" in message(assert_lossless, colours)


def test_what_to_do_is_about_what_broke():
    """Each way of breaking has its own advice: cut, one object for all, what was answered stored again, cut answers."""

    class Hoards:
        def __init__(self) -> None:
            self.said: list[str] = []

        def write(self, messages, budget):
            self.said += [one["content"] for one in messages if one["role"] != "system"]
            return "ask"

        def recall(self, query):
            return "\n".join(self.said)

    cut = advice(message(assert_correctable, lambda messages, budget: "x" * 1_000, problems=1))
    assert cut == [FIT, ASK]
    assert advice(message(assert_correctable, lambda messages, budget: "x" * budget, problems=1)) == [FIT, ASK]
    assert advice(message(assert_no_silent_partial, Hoards(), problems=1))[0] == (
        "  One object served for all problems, and may mix them: pass a class or a factory, made anew for each."
    )
    hoards = advice(message(assert_no_silent_partial, Hoards, problems=1))
    assert hoards == [
        HONEST,
        AGAIN,
        "  Answer with less: what recall gives is cut at 20,000 characters.",
    ]


def test_a_message_is_safe_and_bounded():
    """What a memory carries is shown without control characters, and cut where it is long, with how much was left."""

    def hostile(messages, budget):
        return "\x1b[2J\u202e" + "y" * budget

    told = message(assert_correctable, hostile, problems=1, budget=5_000)
    assert not any(char in told for char in ("\x1b", "\u202e"))
    assert f"\n  ... and {5_000 - TEXT_CHARACTERS_MAX:,} more characters\n" in told
