"""Which spans of time the words of a question may mean."""

from __future__ import annotations

import time

import pytest

from firsthand.moment import Moment, parse
from firsthand.recall import periods, when
from firsthand.recall.when import Anchor, Said, Span, read

NOW = parse("2023-05-17T15:30:00+02:00")  # a Wednesday
assert NOW is not None


def spans(text: str, now: Moment = NOW) -> list[str]:
    """The readings of the only time in a text, as local minutes; open ends are empty."""
    (said,) = read(text, now).said
    return [f"{_short(span.since)}..{_short(span.until)}" for span in said.spans]


def _short(moment: Moment | None) -> str:
    return "" if moment is None else str(moment)[:16]


def day(first: str, last: str = "") -> str:
    return f"{first}T00:00..{last or first}T23:59"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("today", [day("2023-05-17")]),
        ("yesterday", [day("2023-05-16")]),
        ("the day before yesterday", [day("2023-05-15")]),
        ("yesterday evening", ["2023-05-16T17:00..2023-05-16T23:59"]),
        ("this morning", ["2023-05-17T05:00..2023-05-17T11:59"]),
        ("tonight", ["2023-05-17T19:00..2023-05-18T05:59"]),
        ("last night", ["2023-05-16T19:00..2023-05-17T05:59"]),
        ("3 days ago", [day("2023-05-14")]),
        ("two weeks ago", ["2023-04-30T03:30..2023-05-07T03:29"]),
        ("3 hours ago", ["2023-05-17T12:00..2023-05-17T12:59"]),
        ("a few days ago", ["2023-05-11T15:30..2023-05-16T03:29"]),
        ("in the last 3 days", ["2023-05-14T15:30..2023-05-17T15:30"]),
        ("over the past two weeks", ["2023-05-03T15:30..2023-05-17T15:30"]),
        ("this week", [day("2023-05-15", "2023-05-21")]),
        ("last week", [day("2023-05-08", "2023-05-14"), "2023-05-10T00:00..2023-05-17T15:30"]),
        ("last weekend", ["2023-05-12T18:00..2023-05-14T23:59", "2023-05-10T00:00..2023-05-17T15:30"]),
        ("last month", [day("2023-04-01", "2023-04-30"), "2023-04-17T00:00..2023-05-17T15:30"]),
        ("last quarter", [day("2023-01-01", "2023-03-31"), "2023-02-15T00:00..2023-05-17T15:30"]),
        ("this year", [day("2023-01-01", "2023-12-31")]),
        ("last summer", [day("2022-06-01", "2022-08-31"), day("2021-06-01", "2021-08-31")]),
        ("on Monday", [day("2023-05-15")]),
        ("on Wednesday", [day("2023-05-17"), day("2023-05-10")]),
        ("last Tuesday", [day("2023-05-16"), day("2023-05-09")]),
        ("last Friday", [day("2023-05-12")]),
    ],
)
def test_what_is_counted_from_the_moment_of_asking(text, expected):
    """Relative words are counted from `now` in its own clock; what is ambiguous has several readings, in order."""
    assert spans(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2023-05-08", [day("2023-05-08")]),
        ("2023-05-08T14:30Z", ["2023-05-08T16:30..2023-05-08T16:30"]),
        ("2023-05-08 14:30", ["2023-05-08T14:30..2023-05-08T14:30"]),
        ("2023-05", [day("2023-05-01", "2023-05-31")]),
        ("2023/5/8", [day("2023-05-08")]),
        ("8.5.2023", [day("2023-05-08")]),
        ("3/4/2023", [day("2023-03-04"), day("2023-04-03")]),
        ("8 May 2022", [day("2022-05-08")]),
        ("on 8th of May, 2022?", [day("2022-05-08")]),
        ("May 8, 2022", [day("2022-05-08")]),
        ("the second of April 2022", [day("2022-04-02")]),
        ("in May 2022", [day("2022-05-01", "2022-05-31")]),
        ("mid-May 2022", ["2022-05-11T08:00..2022-05-21T15:59"]),
        ("at the end of May 2022", ["2022-05-21T16:00..2022-05-31T23:59"]),
        ("Q3 2022", [day("2022-07-01", "2022-09-30")]),
        ("in winter 2022", [day("2022-12-01", "2023-02-28")]),
        ("in 2021", [day("2021-01-01", "2021-12-31")]),
        ("the second week of November 2022", [day("2022-11-08", "2022-11-14")]),
        ("the first weekend of August 2022", [day("2022-08-06", "2022-08-07")]),
        ("the last Friday of April 2022", [day("2022-04-29")]),
    ],
)
def test_dates_that_are_written_out(text, expected):
    """A date has one span, in the clock of `now`; only 3/4/2023 can be read twice."""
    assert spans(text) == expected


def test_what_lacks_its_year_or_month_is_the_latest_and_then_those_before():
    """Without its year a month has a reading for each of the last years, without its month a day for three."""
    assert spans("in March") == [
        day("2023-03-01", "2023-03-31"), day("2022-03-01", "2022-03-31"), day("2021-03-01", "2021-03-31"),
        day("2020-03-01", "2020-03-31"), day("2019-03-01", "2019-03-31"),
    ]  # fmt: skip
    assert spans("in June")[0] == day("2022-06-01", "2022-06-30")
    assert spans("on 29 February") == [day("2020-02-29")]
    assert spans("on the 3rd") == [day("2023-05-03"), day("2023-04-03"), day("2023-03-03")]
    assert spans("on the 20th")[0] == day("2023-04-20")
    assert spans("the 3rd of last month") == [day("2023-04-03")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("before 3 August 2022", ["..2022-08-02T23:59"]),
        ("until 3 August 2022", ["..2022-08-03T23:59"]),
        ("as of August 2022", ["..2022-08-31T23:59"]),
        ("since 3 August 2022", ["2022-08-03T00:00.."]),
        ("after 3 August 2022", ["2022-08-04T00:00.."]),
        ("between March and May 2022", [day("2022-03-01", "2022-05-31")]),
        ("from 3 April to 9 April 2022", [day("2022-04-03", "2022-04-09")]),
        ("the week before August 3, 2022", [day("2022-07-27", "2022-08-02")]),
        ("two weeks before August 11, 2022", ["2022-07-24T12:00..2022-07-31T11:59"]),
        ("the day after August 3, 2022", [day("2022-08-04")]),
        ("the Monday before July 24, 2022", [day("2022-07-18")]),
        ("the Friday after July 24, 2022", [day("2022-07-29")]),
        ("the weekend before July 25, 2022", [day("2022-07-23", "2022-07-24")]),
    ],
)
def test_the_words_around_a_time_open_join_or_move_it(text, expected):
    """Before, since, between and "two weeks before" change the span of the time they stand beside."""
    assert spans(text) == expected


def test_a_text_is_given_back_without_its_time_words():
    """What was read as a time, with its preposition, is left out of the rest; everything else stays."""
    found = read("What did we decide about the cache in May 2022,  and who said so yesterday?", NOW)
    assert [said.words for said in found.said] == ["in May 2022", "yesterday"]
    assert found.rest == "What did we decide about the cache and who said so"


@pytest.mark.parametrize(
    "text",
    [
        "may I march on", "version 2023.4", "page 2024", "31 February 2023", "2023-13-45", "99999 years ago",
        "9999 years ago", "the third rule", "a minute", "second week of nothing",
        "next Friday", "next May", "next week", "", "13/45/2023", "the hour of need",
    ],
)  # fmt: skip
def test_what_is_no_time_is_left_alone(text):
    """Verbs, versions, impossible dates and times before the first year give no span and raise nothing."""
    assert read(text, NOW).said == ()
    assert read(text, NOW).rest == text


def test_an_event_that_is_named_as_a_time_is_an_anchor():
    """The words after before and since up to the end of the phrase name what happened; a date is no anchor."""
    assert read("What broke before the second deploy, and who noticed?", NOW).anchors == (
        Anchor("before the second deploy", "before", "the second deploy"),
    )
    assert read("since we moved to Postgres what is slow", NOW).anchors == (
        Anchor("since we moved to Postgres", "after", "we moved to Postgres"),
    )
    assert read("before 3 August, after yesterday, the week before May 8th, since?", NOW).anchors == ()


def test_numbers_of_times_and_anchors_are_bounded():
    """A text of dates gives at most SAID_MAX times, one of anchors ANCHORS_MAX, and a day without its year five."""
    found = read("on 8 May or " * 50 + "before the storm, " * 50, NOW)
    assert (len(found.said), len(found.anchors)) == (when.SAID_MAX, when.ANCHORS_MAX)
    assert {len(said.spans) for said in found.said} == {periods.YEARS_BACK}


def test_days_begin_in_the_clock_of_the_one_who_asks():
    """The same instant is another day elsewhere, and spans carry that clock's offset."""
    late = Moment(NOW.microseconds, -600)  # 03:30 of the same day, ten hours west
    assert spans("today", late) == [day("2023-05-17")]
    (said,) = read("today", late).said
    assert said == Said("today", (Span(parse("2023-05-17T00:00:00-10:00"), parse("2023-05-17T23:59:59.999999-10:00")),))


@pytest.mark.parametrize("edge", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
def test_the_ends_of_the_calendar_hold(edge):
    """Spans that would lie before the year 1 or after 9999 are left out, whatever the words."""
    now = parse(edge)
    assert now is not None
    for offset in (0, 1439, -1439):
        moved = Moment(now.microseconds, offset)
        for text in ("yesterday", "last week", "in the last 3 years", "last winter", "a year ago", "this month"):
            for said in read(f"{text} and on the 3rd, the week before 2023-01-01, in June", moved).said:
                assert said.spans


def test_a_long_text_of_time_words_is_read_in_time():
    """60 kB of the words that times are made of are read in a fraction of a second."""
    begun = time.process_time()
    for text in ("two weeks before 3 May after the " * 2_000, "a " * 30_000, "the of in " * 6_000, "9" * 60_000):
        read(text, NOW)
    assert time.process_time() - begun < 2.0
