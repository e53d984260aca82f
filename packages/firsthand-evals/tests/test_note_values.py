"""Values: numbers, money, times, dates, durations, percentages and exact strings, in many spellings."""

from __future__ import annotations

import time
from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand_evals.probe.numerals import DIGITS_MAX
from firsthand_evals.probe.probe_amounts import equal, with_tokens
from firsthand_evals.probe.statements import Statement
from firsthand_evals.probe.values import CHARACTERS_MAX, folded, in_base, read, same


def told(text: str) -> list[tuple]:
    return [(one.kind, one.amount if one.amount is None else str(one.amount), one.unit) for one in read(text)]


def only(text: str):
    values = read(text)
    assert len(values) == 1, values
    return values[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$4", ("money", "4", "USD")),
        ("4 €", ("money", "4", "EUR")),
        ("4,50 €", ("money", "9/2", "EUR")),
        ("4€50", ("money", "9/2", "EUR")),
        ("1.200,00 EUR", ("money", "1200", "EUR")),
        ("1,200.50 USD", ("money", "2401/2", "USD")),
        ("12 345,50 €", ("money", "24691/2", "EUR")),
        ("7'482.75 GBP", ("money", "29931/4", "GBP")),
        ("₹1,00,000", ("money", "100000", "INR")),
        ("Rs. 500", ("money", "500", "INR")),
        ("kr 40", ("money", "40", "SEK")),
        ("US$4", ("money", "4", "USD")),
        ("two dollars", ("money", "2", "USD")),
        ("2 dollars and 50 cents", ("money", "5/2", "USD")),
        ("99¢", ("money", "99/100", "USD")),
        ("50p", ("money", "1/2", "GBP")),
        ("$4k", ("money", "4000", "USD")),
        ("-$4", ("money", "-4", "USD")),
        ("十二元", ("money", "12", "CNY")),
        ("٤ دولار", ("money", "4", "USD")),
        ("४ रुपये", ("money", "4", "INR")),
        ("２００円", ("money", "200", "JPY")),
    ],
)
def test_money_is_read_with_its_currency_before_or_behind(text, expected):
    """An amount of money is exact, whatever its separators, digits, words and the place of its currency."""
    assert told(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7", "7"),
        ("-5", "-5"),
        ("a dozen", "12"),
        ("half a dozen", "6"),
        ("2 dozen", "24"),
        ("one hundred and twenty-five", "125"),
        ("two thousand and six", "2006"),
        ("three hundred", "300"),
        ("fünfundzwanzig", "25"),
        ("vingt-cinq", "25"),
        ("quatre-vingt-dix", "90"),
        ("treinta y cinco", "35"),
        ("三百二十五", "325"),
        ("\u0667", "7"),  # Arabic
        ("1,250", "1250"),
        ("0,125", "1/8"),
        ("1.250", "5/4"),
        ("2 1/2", "5/2"),
        ("3½", "7/2"),
        ("1.5 million", "1500000"),
        ("2k", "2000"),
        ("acht oder elf", None),
    ],
)
def test_numbers_are_read_in_digits_and_words(text, expected):
    """A number is the same in digits of any script and in words of the languages read; elf is German beside German."""
    if expected is None:
        assert [str(one.amount) for one in read(text)] == ["8", "11"]
        assert read("an elf sings") == ()
    else:
        assert told(text) == [("number", expected, "")]


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("12:45", 765),
        ("9:45 pm", 1305),
        ("9pm", 1260),
        ("12 am", 0),
        ("quarter past nine", 555),
        ("half past 3", 210),
        ("twenty to nine", 520),
        ("twelve o'clock in the afternoon", 720),
        ("half past nine in the evening", 1290),
        ("eleven o'clock at night", 1380),
        ("halb zehn", 570),
        ("14.30 Uhr", 870),
        ("à 14h30", 870),
        ("7h00", 420),
        ("下午3点半", 930),
        ("noon", 720),
    ],
)
def test_times_of_day(text, minutes):
    """A time of day is its minutes, told by a clock, by a half of the day, or from its hour."""
    assert told(text) == [("time", str(minutes), "")]


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-03",
        "2026/3/3",
        "03.03.2026",
        "3/3/2026",
        "March 3rd, 2026",
        "3 March 2026",
        "3. März 2026",
        "2026年3月3日",
    ],
)
def test_whole_dates_are_ordinals(text):
    """A whole date is its ordinal, however it is written."""
    assert told(text) == [("date", str(date(2026, 3, 3).toordinal()), "")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("May 20th", ("date", "520", "MM-DD")),
        ("March 2026", ("date", str(2026 * 12 + 3), "YYYY-MM")),
        ("Friday", ("date", "5", "weekday")),
        ("Thu", ("date", "4", "weekday")),
        ("tomorrow", ("date", "1", "relative")),
        ("31.06.2026", None),
    ],
)
def test_dates_that_are_not_whole(text, expected):
    """A date without a year, a weekday and "tomorrow" say so in their unit; a day of no calendar is no date."""
    found = [one for one in told(text) if one[0] == "date"]
    assert found == ([] if expected is None else [expected])


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1.5 h", 5400),
        ("90 min", 5400),
        ("1h30", 5400),
        ("0:45 h", 2700),
        ("2 h 0 min", 7200),
        ("two hours and 15 minutes", 8100),
        ("an hour and a half", 5400),
        ("half an hour", 1800),
        ("3 nights", 259200),
        ("100ms", Fraction(1, 10)),
    ],
)
def test_durations_are_seconds(text, seconds):
    """A duration is its seconds; hours and minutes beside each other are one."""
    assert told(text) == [("duration", str(seconds), "")]


@pytest.mark.parametrize(
    "text",
    ["HAT069", "mia_li_3668", "v1.2.3", "10.0.0.1:8443", "src/firsthand/app.py", "https://a.example/c?x=1", "a@b.co",
     "9f31c0de", "01223351880", "+49 30 901820 77", "CB21AB", "TR-1234"],
)  # fmt: skip
def test_exact_strings_are_words_and_no_numbers_are_read_in_them(text):
    """An identifier, path, address, version or telephone number is one exact string."""
    assert [(one.kind, one.text) for one in read(f"see {text} now")] == [("word", text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("8,5%", "17/2"), ("five percent", "5"), ("10 % off", "10"), ("20 Prozent", "20"), ("5 per cent", "5")],
)
def test_percentages(text, expected):
    """A percentage is read with its sign or its word."""
    assert told(text) == [("percent", expected, "")]


@pytest.mark.parametrize(
    "text", ["one of them", "that one", "may I", "gpt", "the sixth sense", "an elf", "once more", ""]
)
def test_words_that_only_look_like_values_are_none(text):
    """A word with another common meaning is no value."""
    assert read(text) == ()


def test_units_are_in_one_spelling_and_equal_by_conversion():
    """1.5 kg and 1500 grams are the same; 1.5 kg and 1.5 are not, nor $4 and 4 euros."""
    assert (only("1.5 kilograms").unit, in_base(only("1.5 kg"))) == ("kg", ("g", Fraction(1500)))
    assert same(only("1.5 kg"), only("1500 grams"))
    assert same(only("90 min"), only("1.5 hours"))
    assert same(only("9:45 pm"), only("21:45"))
    assert same(only("+49 30 90182077"), only("+49-30-901820-77"))
    assert not same(only("1.5 kg"), only("1.5"))
    assert not same(only("$4"), only("4 €"))
    assert not same(only("$4"), only("4"))


def test_a_separated_run_that_is_no_number_gives_its_parts():
    """Digits that no way of writing makes one number of are read one by one."""
    assert [str(one.amount) for one in read("1,2,3")] == ["1", "2", "3"]


@given(st.text(max_size=200))
def test_every_value_stands_where_it_says(text):
    """For any text: values are in order, do not overlap, and are what stands between their places."""
    end = 0
    for one in read(text):
        assert text[one.start : one.end] == one.text
        assert one.start >= end
        assert one.end > one.start
        end = one.end


@given(st.text(max_size=200))
def test_folding_keeps_every_place(text):
    """For any text, folding changes no place."""
    assert len(folded(text)) == len(text)


@given(st.integers(min_value=0, max_value=10**9), st.integers(min_value=0, max_value=99))
def test_amounts_are_exact_in_both_ways_of_separating(whole, cents):
    """Any amount is read back exactly from the English and the German way of writing it."""
    english = f"${whole:,}.{cents:02}"
    german = f"{whole:,}".replace(",", ".") + f",{cents:02} €"
    assert only(english).amount == only(german).amount == whole + Fraction(cents, 100)


@pytest.mark.parametrize("text", ["1,", "a-", "/a", "one ", "x_", "$", "1 1/2 ", "((", "a1", "12:", "half a "])
def test_the_time_taken_grows_with_the_length_alone(text):
    """Four times the text takes about four times the time, not sixteen, for texts that tempt to go back."""

    def seconds(length: int) -> float:
        long = (text * length)[:length]
        start = time.process_time()
        read(long)
        return time.process_time() - start

    seconds(1_000)
    best = min(seconds(40_000) for _ in range(3))  # of several: another test's garbage may be collected in one
    assert best < 12 * max(min(seconds(10_000) for _ in range(3)), 0.004)


def test_no_more_is_read_than_the_limit():
    """What stands behind `CHARACTERS_MAX` is not read, and a number longer than `DIGITS_MAX` is none."""
    assert read(" " * CHARACTERS_MAX + "$4") == ()
    assert read("1" * (DIGITS_MAX + 1)) == ()


def test_only_a_text_is_read():
    """Something that is no text is refused."""
    with pytest.raises(TypeError, match="values are read out of a text"):
        read(4)


def test_two_durations_of_one_unit_are_two():
    """Hours and minutes are one duration; minutes behind minutes are another one."""
    assert [(one.kind, one.text) for one in read("1 h 52 min and 95 min")] == [
        ("duration", "1 h 52 min"),
        ("duration", "95 min"),
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2 July 2026", "Thu 02-Jul-26"), ("2 July 2026", "2 luglio 2026"), ("2 July 2026", "2 июля 2026"),
        ("2 July 2026", "20260702"), ("2 July 2026", "02/07/2026"), ("12 May", "12.05"),
        ("7:06", "426 s"), ("05:52", "0552"), ("95 minutes", "1h35m"), ("6 ft 1", "73 in"), ("2 kg 300 g", "2.3 kg"),
        ("0x1F", "31"), ("67 kg", "0.067 t"), ("410 W", "0.41 kW"), ("v5.23.5", "5.23.5"), ("Tuesday", "星期二"),
        ("25", "venticinque"), ("25", "vijfentwintig"), ("25", "двадцать пять"), ("3 percent", "3 por ciento"),
    ],
)  # fmt: skip
def test_one_value_is_equal_in_many_spellings(one: str, other: str):
    """A value is equal to another spelling of it, whatever the language or the unit."""
    first, second = (
        with_tokens(Statement(text, 0, 0, len(text), values=read(text))).values[-1] for text in (one, other)
    )
    assert equal(first, second) or equal(second, first)


@pytest.mark.parametrize(
    ("text", "kind"),
    [("Ten Percent Off", "percent"), ("Two Per Cent", "percent"), ("Six Months Free", "duration"),
     ("Two Weeks Left", "duration"), ("Fifty Cents Each", "money"), ("Five Hundred Seats", "number")],
)  # fmt: skip
def test_a_number_before_what_it_measures_is_no_name_in_a_title_either(text: str, kind: str):
    """Words that are all written large still say how much of what there is."""
    assert [found.kind for found in read(text)] == [kind]


@pytest.mark.parametrize("text", ["0XQV7RNY", "minus 百分", "6'12\"", "31-Feb-26", "1h99m", "Nine Lanterns played"])
def test_what_only_begins_like_a_value_is_read_without_fault(text: str):
    """A text that begins like a value and is none gives values that stand in it, and raises nothing."""
    assert all(text[found.start : found.end] == found.text for found in read(text))
    assert not any(found.amount == 9 for found in read("Nine Lanterns played"))
