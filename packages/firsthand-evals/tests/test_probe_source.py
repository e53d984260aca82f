"""What the probe needs of a session when it does not know how a claim follows."""

from __future__ import annotations

import pytest

from firsthand_evals.probe.probe import probe

READINGS = "When we left it showed 18,615 km, when we came back 18,848 km. How far was it?"
PLANS = (
    "Plan Sol costs 9 euros a month plus 12 cents a minute. Plan Luna costs 15 euros a month with 5 cents a minute. "
    "Kim talks 80 minutes a month. Which plan is cheaper for Kim?"
)
ORDER = (
    "Abby, Boris, Carla, Falk ran. Falk finished before Boris. Carla finished before Falk. Boris finished before Abby."
)
CHAT = [
    {"role": "user", "content": "Put 20 minutes on the timer."},
    {"role": "assistant", "content": "It runs."},
]


def regime(note: str, *said: str, claim: str) -> str:
    """Judge a note of a session in which the user and the agent speak in turns, behind some chat."""
    roles = ("user", "assistant")
    told = [{"role": roles[place % 2], "content": text} for place, text in enumerate(said)]
    return probe(note, [*CHAT, *told], claim=claim).regime


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("Odometer at departure: 18,615 km; odometer on return: 18848 km", "correctable"),
        ("You drove 243 km. But: 18,615 km at first, 18,848 km in the end", "correctable"),
        (READINGS, "correctable"),
        ("Odometer at departure: 18,615 km; You drove 243 km.", "uncorrectable_silent"),
        ("Odometer at departure: 18,615 km", "uncorrectable_silent"),
        ("You drove 243 km.", "uncorrectable_silent"),
        ("Odometer at departure: 18,615 km; odometer on return: 18,884 km", "uncorrectable_silent"),
        ("You drove 243 km. How this came about was not recorded.", "uncorrectable_loud"),
        ("The user said good morning.", "uncorrectable_loud"),
    ],
)
def test_every_value_is_needed_where_it_is_not_known_how_a_claim_follows(note: str, expected: str):
    """A claim of an unknown kind is correctable by all the values it was asked with, and by no fewer."""
    assert regime(note, READINGS, "You drove 243 km.", claim="the distance driven") == expected


def test_values_under_each_others_names_are_none():
    """A value that stands with the name of another one is not there."""
    right = "Sol: 9 €/month, 0.12 €/min; Luna: 15 €/month, 0.05 €/min; Kim: 80 min/month"
    swapped = (
        "Plan Sol: 15 euros a month, 12 cents a minute. Plan Luna: 9 euros a month, 5 cents a minute. Kim: 80 minutes."
    )
    said = (PLANS, "Plan Luna is cheaper.")
    assert regime(right, *said, claim="which plan is cheaper for Kim") == "correctable"
    assert regime(swapped, *said, claim="which plan is cheaper for Kim") == "uncorrectable_silent"


def test_a_value_of_a_note_counts_once():
    """Two needed values that are equal need two places in a note."""
    asked = "I wait 24 minutes, the bus takes 24 minutes and the walk 5 minutes. How long is that?"
    said = (asked, "It takes 63 minutes.")
    assert regime("bus 24 min, wait 24 min, walk 5 min", *said, claim="how long it takes") == "correctable"
    assert regime("bus 24 min, walk 5 min", *said, claim="how long it takes") == "uncorrectable_silent"


def test_a_part_of_a_whole_is_a_value_in_words_and_in_figures():
    """A quarter is needed like a number, and 25 % says it; a half does not."""
    asked = "The tank holds 60 litres. It is a quarter full. Petrol is 1.90 a litre. What does it cost to fill it up?"
    said = (asked, "It costs 90.50.")
    claim = "the cost of filling up"
    assert regime("Tank 60 l, 25 % full, petrol 1.90 per litre", *said, claim=claim) == "correctable"
    assert regime("Tank 60 l, half full, petrol 1.90 per litre", *said, claim=claim) == "uncorrectable_silent"
    assert regime("Tank 60 l, petrol 1.90 per litre", *said, claim=claim) == "uncorrectable_silent"


def test_a_sign_is_a_part_of_a_value():
    """Minus four degrees are not four."""
    said = ("In the morning it had -4 degrees, at noon 11 degrees. What is the difference?", "The difference is 7.")
    claim = "the temperature difference"
    assert regime("morning -4 °C, noon 11 °C", *said, claim=claim) == "correctable"
    assert regime("morning 4 °C, noon 11 °C", *said, claim=claim) == "uncorrectable_silent"


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("Boris came in after Falk. Carla finished before Falk. Boris finished before Abby.", "correctable"),
        ("Falk finished before Boris. Boris finished before Abby.", "uncorrectable_silent"),
        ("Boris finished before Falk. Carla finished before Falk. Boris finished before Abby.", "uncorrectable_silent"),
        ("Falk won the race.", "uncorrectable_silent"),
    ],
)
def test_each_sentence_is_needed_where_no_values_are(note: str, expected: str):
    """Who won takes every relation that was told, in either direction, and not one turned round."""
    assert regime(note, ORDER, "Falk won the race.", claim="who won the race") == expected


def test_a_relation_that_is_not_read_leaves_a_puzzle_unsolved():
    """A name beside the clues that nobody else speaks of is not left out of the answer."""
    asked = "Lena is taller than Paul. Mark is shorter than Paul. Nina is taller than Lena. Who is the tallest?"
    whole = "Lena is taller than Paul; Paul is taller than Mark; Nina is taller than Lena."
    said = (asked, "Lena is the tallest.")
    assert regime(whole, *said, claim="who is the tallest") == "correctable"
    some = "Lena is taller than Paul; Paul is taller than Mark."
    assert regime(some, *said, claim="who is the tallest") == "uncorrectable_silent"


def test_one_of_several_things_is_missed():
    """A list of three things with two of them is a part that looks like the whole."""
    said = ("Lea cannot eat peanuts, sesame or celery.", "Lea cannot eat peanuts and sesame.")
    claim = "which ingredients Lea cannot eat"
    assert regime("Lea: no peanuts, no sesame, no celery", *said, claim=claim) == "correctable"
    assert regime("Lea: no peanuts, no sesame", *said, claim=claim) == "uncorrectable_silent"
    assert regime("Lea: no peanuts, no sesame (2 of 3)", *said, claim=claim) == "uncorrectable_loud"


def test_a_source_that_is_scattered_is_needed_whole():
    """What was said over several turns is found by its words and by the kind of the answer."""
    said = (
        "The hotel is 140 euros a night, we stay 2 nights.", "Noted.", "What is a good film?", "Playtime.",
        "The train is 64 euros for both of us.", "Fine.", "What does the weekend cost?", "It costs 334 euros.",
    )  # fmt: skip
    claim = "what the weekend costs"
    assert regime("hotel 140 €/night, 2 nights; train 64 €", *said, claim=claim) == "correctable"
    assert regime("hotel 140 €/night, 2 nights. In all 334 euros.", *said, claim=claim) == "uncorrectable_silent"


def test_what_was_corrected_is_needed_as_it_stands_in_the_end():
    """A number that the user changed later is needed in its last form."""
    said = (
        "12 people from Bern come, and 9 from Basel.", "21 then.", "Actually 14 from Bern.", "Ok.",
        "How many people come?", "21 people come.",
    )  # fmt: skip
    assert regime("14 people from Bern, 9 from Basel", *said, claim="how many people come") == "correctable"
    assert regime("12 people from Bern, 9 from Basel", *said, claim="how many people come") == "uncorrectable_silent"


def test_an_exact_string_is_copied_and_not_worked_out():
    """A slip in a hash stands for the one that a tool gave; one chosen out of several takes all that decides."""
    asked = "Please find the commit that broke the build."
    session = [
        {"role": "user", "content": asked},
        {"role": "tool", "content": "running bisect\nbad: 9f3c2ab Change the cache\ngood: 1b2c3d4 Add tests"},
        {"role": "assistant", "content": "The commit is 9f3e2ab."},
    ]
    claim = "the commit that broke the build"
    assert probe("first bad commit: 9f3c2ab", session, claim=claim).regime == "correctable"
    assert probe("The commit is 9f3e2ab.", session, claim=claim).regime == "uncorrectable_silent"
    flights = (
        "Flight LX318 leaves at 9:40 and costs 210 euros, BA711 leaves at 12:15 for 165 euros, LH902 leaves at 17:05 "
        "for 140 euros. I must arrive by 16:00, all flights take 2 hours. Which is the cheapest one that works?"
    )
    assert regime("Take flight LH902.", flights, "Take LH902.", claim="which flight to take") == "uncorrectable_silent"


@pytest.mark.parametrize(
    "note",
    [
        '{"memory": "{\\"items\\": [{\\"name\\": \\"paint\\", \\"qty\\": 6, \\"price\\": 15}]}"}',
        "<table><tr><th>item</th><th>n</th><th>each</th></tr><tr><td>paint</td><td>6</td><td>$15</td></tr></table>",
    ],
)
def test_json_in_json_and_tables_of_html_are_read(note: str):
    """The form of a note is not what makes it correctable."""
    said = ("6 cans of paint at $15. The total?", "The total is $94.")
    assert regime(note, *said, claim="the total") == "correctable"


def test_what_a_note_quotes_of_the_session_says_nothing_of_the_note():
    """An admission in quotation marks is somebody else's."""
    said = (
        "6 cans of paint at $15, 2 rollers at $7. The total?", "The total is $114.",
        "The manual says “some pages were not kept”, how odd.", "Odd.",
    )  # fmt: skip
    note = "6 cans of paint at $15. The user found it odd that the manual says “some pages were not kept”."
    assert regime(note, *said, claim="the total") == "uncorrectable_silent"


def test_a_word_with_digits_is_needed_though_it_is_no_known_value():
    """What a tool printed as 500G is an exact string."""
    session = [
        {"role": "user", "content": "Please look up the free disk space."},
        {"role": "tool", "content": "Filesystem size 500G used 432G reserved 25G"},
        {"role": "assistant", "content": "43G are free."},
    ]
    claim = "the free disk space"
    assert probe("size 500G, used 432G, reserved 25G", session, claim=claim).regime == "correctable"
    assert probe("size 500G, used 432G", session, claim=claim).regime == "uncorrectable_silent"


def test_a_slip_about_what_a_tool_said_is_silent():
    """A note that says what the agent read wrongly concludes something, in the agent's words."""
    result = "tests/test_io.py::test_read PASSED\ntests/test_io.py::test_write FAILED"
    session = [
        {"role": "user", "content": "Please look up the test that failed."},
        {"role": "tool", "content": result},
        {"role": "assistant", "content": "test_open failed."},
    ]
    assert probe("test_open failed", session, claim="the test that failed").regime == "uncorrectable_silent"
