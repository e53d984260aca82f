"""The signals that a gate weighs."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from firsthand.recall.plan import Question, Term
from firsthand.recall.rank import Frequencies, Match, Wanted
from firsthand.recall.signals import NAMES, NOTHING, SEEN_MAX, Seen, Signals, close_in, signals
from firsthand.value import asdict

ROWS = 1_000


def question(text: str, *, strings: tuple[str, ...] = (), phrases: tuple[str, ...] = ()) -> Question:
    words = tuple(Term(word.casefold(), word, word) for word in text.replace("?", "").split())
    return Question(text, words, (), tuple(Term(one, one, one) for one in strings), phrases, 0)


def frequencies(**df: int) -> Frequencies:
    return Frequencies(ROWS, 20.0, df)


def seen(position: int, base: float, held: str, *, agent: str = "", session: str = "s", exact=(), tokens=20) -> Seen:
    match = Match(dict.fromkeys(held.split(), 1), tokens, tuple(Wanted(one, (), "exact") for one in exact), ())
    return Seen(position, base, match, agent, session)


EVEN = frequencies(red=10, boat=10, harbour=10, storm=10)


def test_shares_are_of_the_weight_of_the_words():
    """Of four words that weigh the same, the best row's two are half, and a neighbour's third counts around it."""
    rows = [seen(5, 0.8, "red boat"), seen(6, 0.4, "boat harbour"), seen(90, 0.2, "storm")]
    found = signals(question("red boat harbour storm"), EVEN, rows)
    assert (found.held, found.held_around, found.known) == (0.5, 0.75, 1.0)
    assert math.isclose(found.held_mean, (0.5 + 0.5 + 0.25) / 3)
    assert (found.base, found.lead) == (0.8, 0.5)


def test_what_the_store_does_not_know_weighs_most():
    """A word of no row lowers the known share by more than its part in the number of words."""
    found = signals(question("red boat harbour stormglass"), EVEN, [seen(1, 0.5, "red boat harbour")])
    assert found.known == found.held < 0.7
    assert found.rarest == 0.0
    assert found.rare_two == 0.5


def test_a_row_of_another_agent_is_told_apart():
    """Where an agent is named, what only the other one said counts as unsaid, and the score of others shows."""
    rows = [seen(1, 0.6, "red boat", agent="Ann"), seen(2, 0.2, "bob boat", agent="Bob Lee")]
    found = signals(question("Bob red boat"), frequencies(bob=300, red=10, boat=10), rows)
    assert (found.said, found.unsaid) == (0.5, 0.5)
    assert math.isclose(found.others, 0.75)
    nobody = signals(question("red boat"), EVEN, rows)
    assert (nobody.said, nobody.unsaid, nobody.others) == (1.0, 0.0, 0.0)


def test_missing_numbers_and_names_are_seen():
    """A number and a name that the best row lacks are missing, one that it holds is not."""
    asked = question("case 31 and 32 of Ann and Bob")
    found = signals(asked, frequencies(case=5, **{"31": 5, "32": 5}, ann=5, bob=5), [seen(1, 0.5, "case 31 bob")])
    assert (found.numbers_missing, found.names_missing) == (0.5, 0.5)


def test_strings_and_phrases_asked_are_seen_in_the_best_row():
    """Strings count when they are asked: held, missing, and neither when none is."""
    asked = question('the "red boat" at src/a.py', strings=("src/a.py",), phrases=("red boat",))
    half = signals(asked, EVEN, [seen(1, 0.5, "red boat", exact=("red boat",))])
    assert (half.strings, half.strings_missing, half.whole) == (0.5, 0.5, 0.0)
    none = signals(question("red boat"), EVEN, [seen(1, 0.5, "red boat", exact=("red boat",))])
    assert (none.strings, none.strings_missing, none.whole) == (0.0, 0.0, 1.0)


def test_margins_say_how_far_the_best_stands_out():
    """The lead over a place that no row takes is whole; over one it is the part of the best score above it."""
    rows = [seen(at, 0.8 if at == 1 else 0.4, "red", session=str(at)) for at in range(1, SEEN_MAX + 20)]
    found = signals(question("red"), EVEN, rows)
    assert (found.lead, found.lead_tenth, found.lead_last) == (0.5, 0.5, 0.5)
    assert math.isclose(found.same_session, 0.8 / (0.8 + 9 * 0.4))
    alone = signals(question("red"), EVEN, rows[:1])
    assert (alone.lead, alone.lead_tenth, alone.lead_last, alone.same_session) == (1.0, 1.0, 1.0, 1.0)


def test_cosines_count_only_where_there_are_vectors():
    """Without vectors the four signals of meaning are 0; with them they are those of the list given."""
    rows = [seen(at, 1 / at, "red") for at in range(1, 13)]
    without = signals(question("red"), EVEN, rows)
    assert (without.cosine, without.cosine_lead, without.cosine_best, without.agreement) == (0.0, 0.0, 0.0, 0.0)
    near = {2: 0.75, 1: 0.5, 99: 0.5, 98: 0.5, 97: 0.5, 3: 0.5, 4: 0.5, 5: 0.5, 6: 0.5, 7: 0.25}
    found = signals(question("red"), EVEN, rows, cosines=near)
    assert (found.cosine, found.cosine_lead, found.cosine_best, found.agreement) == (0.75, 0.5, 0.5, 0.4)


def test_closeness_is_what_stands_within_twelve_tokens():
    """Words together count together, words far apart do not, a repeated word counts once."""
    asked = question("red boat harbour storm")
    filler = ["x"] * 12
    assert close_in(["red", "boat", *filler, "harbour", "storm", "storm", "red"], asked, EVEN) == 0.75
    assert close_in(["red", *filler, "boat"], asked, EVEN) == 0.25
    assert close_in([], asked, EVEN) == 0.0


def test_no_rows_give_no_signal():
    """An attempt that found nothing has the signals of nothing."""
    assert signals(question("red boat"), EVEN, []) == NOTHING


def test_names_are_the_fields():
    """The list of names is that of the fields, in order, so that a row of numbers can be read by it."""
    assert tuple(asdict(Signals())) == NAMES


numbers = st.floats(allow_nan=False, min_value=0, max_value=1)
words = st.lists(st.sampled_from(["Red", "boat", "7", "ann", "Zoë", "src/a.py", "x"]), max_size=8).map(" ".join)


@given(
    words,
    st.lists(st.tuples(st.integers(1, 50), numbers, words, st.sampled_from(["", "Ann", "user"])), max_size=40),
    st.dictionaries(st.integers(1, 50), st.floats(-1, 1), max_size=20),
    st.dictionaries(st.sampled_from(["red", "boat", "7", "x"]), st.integers(0, 5_000), max_size=4),
)
def test_signals_are_bounded_for_any_input(text, rows, cosines, df):
    """Every signal is a finite number from 0 to 1."""
    ranked = [seen(position, base, held.casefold(), agent=agent) for position, base, held, agent in rows]
    found = signals(question(text), frequencies(**df), ranked, cosines=cosines)
    assert all(math.isfinite(number) and 0 <= number <= 1 for number in asdict(found).values())
    assert 0 <= close_in(text.casefold().split(), question(text), frequencies(**df)) <= 1
