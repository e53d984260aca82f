"""reclaim/page.py, figures.py and the templates: the report is one safe page that shows figures with their n."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

from reclaim_runs import Head, Nasty, report

from firsthand.value import replace
from firsthand_evals.reclaim import figures
from firsthand_evals.reclaim import page as pages
from firsthand_evals.reclaim.page import page
from firsthand_evals.reclaim.validators import Check


class Seen(HTMLParser):
    """What stands in a page: tags with their attributes, and whether all of them are closed."""

    EMPTY = ("meta", "br", "circle", "rect", "path", "polyline", "use")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


ALL = ("disposition", "noise", "cascade")


def test_the_page_runs_nothing_and_fetches_nothing():
    """There is no script, no link to elsewhere and no picture of elsewhere, and its own policy forbids them."""
    text = page(report(ALL, Head, "head", 1))
    seen = Seen(text)
    assert seen.open == []
    assert {tag for tag, _ in seen.tags} & {"script", "link", "img", "iframe", "object", "form"} == set()
    assert all(one["href"].startswith("#") for tag, one in seen.tags if tag == "a")
    bare = re.sub(r'xmlns(:\w+)?="[^"]*"|url\(#\w+\)', "", text)
    assert not re.search(r"https?:|url\(|@import|\bon\w+=", bare)
    (policy,) = [one["content"] for tag, one in seen.tags if one.get("http-equiv")]
    assert policy.startswith("default-src 'none'")


def test_links_lead_to_what_the_page_has():
    """Each link of the contents leads to a heading of the page."""
    seen = Seen(page(report(ALL, Head, "head", 1)))
    wanted = [one["href"][1:] for tag, one in seen.tags if tag == "a"]
    assert wanted == [*ALL, "requirements", "failing"]
    assert set(wanted) <= {one.get("id") for _, one in seen.tags}


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


def test_every_figure_has_its_n_and_light_and_dark_have_their_colours():
    """Each row of a table and each picture tells its n; the style sheet knows both screens."""
    found = report(ALL, Head, "head", 1)
    text = page(found)
    assert text.count("<tr") >= sum(len(one.cells) for one in found.tables)
    assert text.count("n = 1 a point</figcaption>") == 1 + 4
    assert len(re.findall(r">n = 1<", text)) == len(found.tables[0].cells)
    light, _, dark = text.partition("prefers-color-scheme: dark")
    assert set(re.findall(r"--[\w-]+(?=:)", light)) == set(re.findall(r"--[\w-]+(?=:)", dark.partition("} }")[0]))
    assert set(re.findall(r"var\((--[\w-]+)\)", text)) <= set(re.findall(r"--[\w-]+(?=:)", light))


def test_items_that_failed_are_shown_with_their_session():
    """An item that was not brought back shows source, session, what was carried, correction and reply."""
    found = report(ALL, Head, "head", 1)
    failing = [one for one in found.items if one.parameters["memory"] == "head" and one.outcome != "recovered"]
    text = page(found)
    shown = text.count('<details class="item">')
    assert 0 < shown <= pages.ITEMS_OF_A_CELL_MAX * 4
    assert f"{len(failing):,} of the items of head." in text
    told = " ".join(Seen(text).text)
    first = found.cases[failing[0].key].problem
    assert re.search(r"problem n0-2-0, family noisy, correction directed, depth 4, source at first, premise True, "
                     r"budget 420, considered 2\b", told)  # fmt: skip
    assert all(line in told for line in first.source)
    assert first.premise in told
    assert failing[0].replies[-1] in told
    assert "The session, 11 messages" in told


def test_a_session_that_is_said_in_other_words_now_is_not_shown_as_the_one_that_was():
    """An item whose session no longer has its hash says so instead of showing another one."""
    found = report(ALL, Head, "head", 1)
    old = replace(found, items=tuple(replace(one, session_sha256="0") for one in found.items))
    assert "The session was said in other words then" in page(old)
    assert "The session, 11 messages" not in page(old)


def test_requirements_checks_and_an_empty_run_are_told():
    """What is not met is listed, checks are told with their verdict, and a run without items is a page too."""
    checks = (Check("it has a cliff", 2, ()), Check("it has none", 2, ("x",)))
    text = page(replace(report(ALL, Head, "head", 1), checks=checks))
    assert "it has a cliff: holds (n = 2)" in text
    assert "1 of 2 hold." in text
    assert "<th>not met</th>" in text
    empty = replace(report(ALL, Head, "head", 1), items=(), tables=(), requirements=(), checks=())
    assert Seen(page(empty)).open == []


def test_no_two_bars_have_the_same_name():
    """Each bar says what it is of: its memory, and what tells it from the others."""
    names = ("reclaim", "adversarial", "completeness", "places")
    made = report(names, Head, "a_module_of_mine:a_memory_with_a_long_name", 1)
    for table in made.tables:
        (drawn,) = figures.pictures(table, made.names)
        told = [it.text for it in ET.fromstring(drawn.svg).iter("{http://www.w3.org/2000/svg}text")]
        bars = [
            it
            for it in told
            if it.partition(":")[0] in {str(cell.label("memory")).partition(":")[0] for cell in table.cells}
        ]
        assert len(set(bars)) == len(bars) == len(table.cells)
