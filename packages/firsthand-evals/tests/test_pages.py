"""pages.py: every report has one skeleton, is safe to open, and is whole on any screen and on paper."""

from __future__ import annotations

import re
import shutil
from functools import cache
from html.parser import HTMLParser

import pytest
from reclaim_runs import Head, report

from firsthand_evals import cases, pages, recall_ab
from firsthand_evals.commands import accuracy
from firsthand_evals.delivery import CONDITIONS, Pushed
from firsthand_evals.pages import Judged, Page, Section, Table
from firsthand_evals.reclaim.page import page as page_of_reclaim
from firsthand_evals.stream import checks
from firsthand_evals.stream import report as stream_report
from firsthand_evals.stream.arms import ARMS
from firsthand_evals.stream.run import run

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
WIDE = Page(
    "Wide", "It holds.", None,
    [Section("Much", tables=[Table([f"head {at}" for at in range(16)], [["0.12 [0.10, 0.15]"] * 16] * 3)])],
    [Judged("it holds", held=True), Judged("it does not", held=False)], [("word", "meaning")], [("seed", "1")],
)  # fmt: skip


class Seen(HTMLParser):
    """What stands in a page: tags with their attributes, whether all of them are closed, and the text."""

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


def of_stream() -> str:
    streams = tuple(run(ARMS[:6], range(2), episodes=32))
    return pages.html(stream_report.page([(stream_report.Run("stream", 32, streams), checks.checks(streams, 32))]))


def of_accuracy() -> str:
    pairs = [("reachable", "reachable"), (accuracy.SILENT, "correctable")] * 4
    return pages.html(accuracy.page(pairs, pairs, "The probe"))


def of_recall_ab() -> str:
    worlds = cases.worlds(1, 5, cases.Moment(1_770_000_000_000_000))
    prompts = recall_ab.prepare(
        worlds, lambda _world, case, condition, _at: Pushed(message=case.ideal if condition.ideal else ""),
        conditions=CONDITIONS, repetitions=1,
    )  # fmt: skip
    table = recall_ab.cells(recall_ab.run(prompts, recall_ab.readers.Scripted(cases.beliefs(worlds))))
    return pages.html(recall_ab.page(table, [("seed", "5")]))


REPORTS = {
    "stream": of_stream, "probe accuracy": of_accuracy, "recall A/B": of_recall_ab, "wide": lambda: pages.html(WIDE),
    "reclaim": lambda: pages.html(page_of_reclaim(report(("disposition", "noise", "cascade"), Head, "head", 1))),
}  # fmt: skip


@cache
def written(name: str) -> str:
    return REPORTS[name]()


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_has_the_one_skeleton_and_runs_nothing(name):
    """Verdict, picture, tables, checks and meanings come in this order; nothing is run or fetched, every link leads."""
    text = written(name)
    seen = Seen(text)
    assert seen.open == []
    assert {tag for tag, _ in seen.tags} & {"script", "link", "img", "iframe", "object", "form"} == set()
    (policy,) = [one["content"] for tag, one in seen.tags if one.get("http-equiv")]
    assert policy.startswith("default-src 'none'")
    bare = re.sub(r'xmlns(:\w+)?="[^"]*"|url\(#\w+\)', "", text)
    assert not re.search(r"https?:|url\(|@import|\bon\w+=", bare)
    wanted = [one["href"] for tag, one in seen.tags if tag == "a"]
    assert set(wanted) <= {f"#{one['id']}" for _, one in seen.tags if "id" in one}
    parts = ('<p class="verdict">', "<figure>", "<table>", 'id="checks"', 'id="words"')
    places = [text.index(part) for part in parts if part in text]
    assert places == sorted(places)
    assert len(places) >= 3
    light, _, dark = text.partition("prefers-color-scheme: dark")
    assert set(re.findall(r"--[\w-]+(?=:)", light)) == set(re.findall(r"--[\w-]+(?=:)", dark.partition("} }")[0]))


def test_numbers_stand_right_and_markdown_keeps_its_columns():
    """A column of numbers, intervals or counts is numeric, one with a word is not; a bar stays in its cell."""
    table = Table(("a", "b", "c", "d"), [("x|y", "0.10 [0.00, 0.20]", "3 of 4", "-"), ("z", "-", "", "")])
    assert table.numeric == (False, True, True, True)
    text = pages.markdown(Page("T", "V.", None, [Section("S", tables=[table])], meanings=[("w", "m")]))
    assert "| x\\|y | 0.10 [0.00, 0.20] | 3 of 4 | - |" in text
    assert text.index("**V.**") < text.index("| a | b |") < text.index("- *w*: m")


@pytest.fixture(scope="module")
def chromium():
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


BEYOND = """() => [...document.querySelectorAll('body *')].filter(
  part => !part.closest('svg *') && (matchMedia('print').matches || !part.closest('.wide *'))
    && part.getBoundingClientRect().right > innerWidth + 1).map(part => part.outerHTML.slice(0, 80))"""
CLOSED = """() => [...document.querySelectorAll('details > :not(summary)')].filter(
  part => !part.checkVisibility({contentVisibilityAuto: true})).length"""
CUT = """() => Math.max(...[...document.querySelectorAll('.wide')].map(it => it.scrollWidth - it.clientWidth))"""
"""How much of a table is out of sight, in CSS pixels."""
PAPER = 718
"""A4 between margins of 10 mm, in CSS pixels."""


@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_whole_on_any_screen_and_on_paper(name, chromium):
    """No page is wider than 390 or 1280, of 1200 all tables are in sight, and print hides and cuts nothing."""
    for width, scheme in ((390, "light"), (1280, "dark"), (PAPER, "light")):
        context = chromium.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page = context.new_page()
        page.emulate_media(media="print" if width == PAPER else "screen")
        page.set_content(written(name))
        if width == PAPER:
            page.wait_for_function(f"({CLOSED})() === 0")
        assert page.evaluate(BEYOND) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        if width == 1280 and name != "wide":
            page.set_viewport_size({"width": 1200, "height": 900})
            assert page.evaluate(CUT) == 0
        verdict, background = page.locator(".verdict"), "getComputedStyle(document.body).backgroundColor"
        assert verdict.bounding_box()["y"] < min(page.locator("table").first.bounding_box()["y"], 200)
        assert page.evaluate(background) == ("rgb(20, 24, 28)" if scheme == "dark" else "rgb(255, 255, 255)")
        context.close()
