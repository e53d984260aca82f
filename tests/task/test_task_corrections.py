"""Corrections of the user's: found in four languages, and not where a "no" is none."""

from __future__ import annotations

import pytest

from firsthand.task.corrections import CORRECTIONS_MAX, corrections

CORRECTS = [
    ("No, run the tests before you say that it is done.", "No, run the tests before you say that it is done."),
    ("Nope. Use uv for that.", "Use uv for that."),
    ("That's wrong. The port is 8081.", "The port is 8081."),
    ("That is not what I asked for, I wanted a list.", "That is not what I asked for, I wanted a list."),
    ("I said never push to main", "I said never push to main"),
    ("You forgot to update the changelog again.", "You forgot to update the changelog again."),
    ("you didn't run the linter", "you didn't run the linter"),
    ("don't touch the tests", "don't touch the tests"),
    ("Please stop adding comments to every line.", "Please stop adding comments to every line."),
    ("why did you delete that file?", "why did you delete that file?"),
    ("Use a set instead of a list here.", "Use a set instead of a list here."),
    ("Revert that please.", "Revert that please."),
    ("Nein, das muss in die andere Datei.", "Nein, das muss in die andere Datei."),
    ("Das ist falsch. Der Port ist 8081.", "Der Port ist 8081."),
    ("Ich habe doch gesagt, dass du nichts pushen sollst.", "Ich habe doch gesagt, dass du nichts pushen sollst."),
    ("Schon wieder hast du die Tests vergessen.", "Schon wieder hast du die Tests vergessen."),
    ("Non, pas dans ce fichier.", "Non, pas dans ce fichier."),
    ("J'ai déjà dit de ne pas toucher aux tests.", "J'ai déjà dit de ne pas toucher aux tests."),
    ("Tu as encore oublié le journal des modifications.", "Tu as encore oublié le journal des modifications."),
    ("No, así no: usa uv.", "No, así no: usa uv."),
    ("Te dije que no tocaras main.", "Te dije que no tocaras main."),
    ("Otra vez olvidaste las pruebas.", "Otra vez olvidaste las pruebas."),
]
NONE = [
    "No problem, go on.", "no worries", "No, that's fine.", "no thanks", "Nein danke, das reicht.", "Non merci.",
    "Great, thanks!", "Perfect. Now add a test.", "What is wrong with the build?", "Can you add a button?",
    "ok", "continue", "Yes, do that.", "There is no need to test it.", "I have no idea why it fails.",
    "The test says: `no, wrong`", "> No, run the tests\n\nWhat do you think of that?", "Es gibt kein Problem.",
    "Looks good to me", "The user said that it is slow on their machine", "Fix the wrong result in the report",
    "Let's go on with the next step", "Gracias, perfecto.", "Merci, c'est parfait.",
]  # fmt: skip


@pytest.mark.parametrize(("message", "found"), CORRECTS)
def test_a_correction_is_found_verbatim(message, found):
    """The sentence that corrects is given as it stands; one that only says "wrong" gives the one after it."""
    assert [one.text for one in corrections(message)][:1] == [found]


@pytest.mark.parametrize("message", NONE)
def test_what_is_none_is_left_out(message):
    """Thanks, questions, quotations and a "no" that corrects nothing give none."""
    assert corrections(message) == ()


def test_a_plain_no_to_a_question_is_an_answer():
    """When the agent asked, "no" answers; that something is wrong corrects all the same."""
    assert corrections("No, only the code.", asked=True) == ()
    assert [one.text for one in corrections("You forgot the tests.", asked=True)] == ["You forgot the tests."]


def test_one_message_gives_a_bounded_number():
    """Of many corrections the first ones count."""
    assert len(corrections("\n".join(f"don't use option {number}" for number in range(40)))) == CORRECTIONS_MAX
