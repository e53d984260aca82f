"""reclaim/page.py and figures.py: the report is one safe page that shows figures with their n."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest
from reclaim_runs import Head, Nasty, report
from test_pages import Seen

from firsthand.value import replace
from firsthand_evals.pages import html
from firsthand_evals.reclaim import experiments, figures
from firsthand_evals.reclaim import page as pages
from firsthand_evals.reclaim.requirements import requirements
from firsthand_evals.reclaim.validators import Check


def page(of):
    return html(pages.page(of))


SVG = "{http://www.w3.org/2000/svg}"
ALL = ("disposition", "noise", "cascade")


def test_what_a_memory_writes_stands_escaped_and_cut():
    """Tags, control signs and signs that turn text round are seen as what they are; a long text is cut and says so."""
    text = page(report(("reclaim",), Nasty, "<i>mine</i>"))
    seen = Seen(text)
    assert {tag for tag, _ in seen.tags} & {"script", "i", "b"} <= {"b", "i"}
    assert "<script>" not in text
    assert "<i>mine" not in text
    assert "&lt;/pre&gt;&lt;script&gt;alert(1)" in text
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e\ud800-\udfff]", text)
    text.encode("utf-8")
    told = " ".join(seen.text)
    assert "KeyError: '<b>gone</b>'" in told
    assert "Nasty raised in write()" in told
    assert "The session was said in other words then" not in text
    assert re.search(r"carried: 600 characters, of 15,0\d\d that it wrote: cut", told)


def test_items_that_failed_are_shown_with_their_session():
    """An item that was not brought back shows source, session, what was carried, correction and reply."""
    found = report(ALL, Head, "head", 1)
    failing = [one for one in found.items if one.parameters["memory"] == "head" and one.outcome != "recovered"]
    text = page(found)
    shown = text.count("<details>")
    assert 0 < shown <= pages.ITEMS_OF_A_CELL_MAX * 4
    assert f"{len(failing):,} of the items of head." in text
    told = " ".join(Seen(text).text)
    first = found.cases[failing[0].key].problem
    assert re.search(r"problem n0-2-0, family noisy, correction directed, depth 4, source at first, premise True, "
                     r"budget 420, considered 2\b", told)  # fmt: skip
    assert all(line in told for line in first.source)
    assert first.premise in told
    assert failing[0].replies[-1] in told
    assert "the session, 11 messages" in told


def test_a_session_that_is_said_in_other_words_now_is_not_shown_as_the_one_that_was():
    """An item whose session no longer has its hash says so instead of showing another one."""
    found = report(ALL, Head, "head", 1)
    old = replace(found, items=tuple(replace(one, session_sha256="0") for one in found.items))
    assert "The session was said in other words then" in page(old)
    assert "the session, 11 messages" not in page(old)


def test_requirements_checks_and_an_empty_run_are_told():
    """What is not met is listed, checks are told with their verdict, and a run without items is a page too."""
    checks = (Check("it has a cliff", 2, ()), Check("it has none", 2, ("x",)))
    whole = report(ALL, Head, "head", 1)
    text = page(replace(whole, checks=checks))
    assert "it has a cliff: holds (n = 2)" in text
    assert "1 of 2 hold." in text
    assert "<th>not met</th>" in text
    assert "head cannot be relied on to be corrected: brought back 0." in page(whole)
    empty = replace(report(ALL, Head, "head", 1), items=(), tables=(), requirements=(), checks=())
    assert Seen(page(empty)).open == []
    one = report(("disposition",), Head, "head", 1)
    assert pages.verdict(one) == "Too few to tell whether head can be corrected: 1 problem."


@pytest.mark.parametrize(
    ("outcome", "whose", "why"),
    [
        ("malformed", "source_first", "with the whole source before it the reader answered 0 of 12 items right"),
        ("abstained", "source_first", "with the whole source before it the reader answered 0 of 12 items right"),
        ("malformed", "head", ""),
    ],
)
def test_a_memory_is_not_judged_by_a_reader_that_cannot_answer(outcome, whose, why):
    """Who cannot answer from the whole source says nothing of a memory; one memory's failing replies are its own."""
    found = report(("reclaim",), Head, "head", 3)
    items = tuple(replace(it, outcome=outcome) if it.parameters["memory"] == whose else it for it in found.items)
    told = pages.verdict(replace(found, items=items))
    assert told.startswith(f"Nothing can be said of head: {why}" if why else "head met all 10 requirements")


@pytest.mark.parametrize("outcome", ["recovered", "failed"])
def test_no_verdict_claims_more_than_its_bound(outcome):
    """All of few problems is too few for 'can be corrected', of sixty it is not; what failed was not tested."""
    found = report(("reclaim",), Head, "head", 3)
    (own,) = [[it for it in found.items if it.parameters["memory"] == "head"]]
    items = tuple(replace(it, outcome=outcome) for it in own)
    told = pages.verdict(replace(found, items=items))
    many = tuple(replace(it, parameters={**it.parameters, "problem": f"p{at}"}) for at in range(60) for it in items[:1])
    more = pages.verdict(replace(found, items=many))
    if outcome == "recovered":
        assert told.endswith("on too few problems to say that it can be corrected: brought back 1.00 "
                             "[0.50, 1.00] of 12 items.")  # fmt: skip
        assert more.startswith("head can be corrected: brought back 1.00 [0.95, 1.00] of 60 items")
    else:
        assert told == more == "head was not tested: it failed in every item."


@pytest.mark.parametrize(("right", "told"), [(0, "head cannot be relied on"), (1, "Too few problems to tell whether")])
def test_a_requirement_that_chance_may_miss_convicts_nobody(right, told):
    """Nothing of two problems is beyond chance, one of two is not; stale and new wrong values both stand there."""
    found = report(("disposition",), Head, "head", 2)
    own = [it for it in found.items if it.parameters["memory"] == "head"]
    items = tuple(replace(it, outcome="recovered" if at < right else "attractor") for at, it in enumerate(own))
    asked = requirements(items, experiments.tables_of(items), ("head",))
    words = pages.verdict(replace(found, items=items, requirements=asked))
    assert words.startswith(told)
    assert f"a wrong value in {1 - right / 2:.2f} ({1 - right / 2:.2f} stale, 0.00 new), 2 of 4 requirements" in words


def test_an_answer_that_nobody_can_know_leaves_no_verdict():
    """Where notes without a source are answered right, the answers come from elsewhere, whoever answers."""
    found = report(("reclaim",), Head, "head", 3)
    leaking = tuple(replace(it, outcome="recovered") for it in found.items)
    assert pages.verdict(replace(found, items=leaking)) == (
        "Nothing can be said of head: with no source before it the reader answered 18 of 18 items right."
    )


def test_replies_that_cannot_be_read_convict_nobody():
    """Without a note that has the whole source, a run of unreadable replies is told as that."""
    found = report(("reclaim",), Head, "head", 3)
    items = tuple(
        replace(it, outcome="malformed") for it in found.items if it.parameters["memory"] != "source_first"
    )  # fmt: skip
    told = pages.verdict(replace(found, items=items))
    assert told == f"Nothing can be said of head: only 0 of {len(items)} replies can be read."


def test_a_broken_check_of_the_evaluation_leaves_no_verdict():
    """What the harness got wrong is said in the place of a verdict on a memory."""
    checks = (Check("it has a cliff", 2, ()), Check("it has none", 2, ("x",)))
    told = pages.verdict(replace(report(ALL, Head, "head", 1), checks=checks))
    assert told == "Nothing can be said of head: 1 of 2 checks of the evaluation itself do not hold (it has none)."


def test_no_two_rows_have_the_same_name():
    """Each row of a picture says what it is of: its memory, and what tells it from the others."""
    names = ("reclaim", "adversarial", "completeness", "places")
    made = report(names, Head, "a_module_of_mine:a_memory_with_a_long_name", 1)
    for table in made.tables:
        (drawn,) = figures.pictures(table, made.names)
        ticks = [it for it in ET.fromstring(drawn.draw()).iter(f"{SVG}g") if it.get("id", "").startswith("ytick_")]
        rows = [" ".join(name.text for name in tick.iter(f"{SVG}text")) for tick in ticks]
        assert len(set(rows)) == len(rows) == len(table.cells)
