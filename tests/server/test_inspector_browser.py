"""The inspector in a real browser: what a person sees, with and without script, dark, narrow, under attack."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from urllib.parse import quote

import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: pip install playwright")
for extra in ("starlette", "uvicorn", "jinja2"):
    pytest.importorskip(extra, reason="the extra agents is not installed")

from inspector_store import ASKS, HOSTILE, SESSION, WINDOW, fill, fill_hostile

from firsthand import Memory
from firsthand.server.daemon_stores import Stores
from firsthand.server.http_server import HttpServer

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: apt-get install chromium"),
    pytest.mark.xdist_group("browser"),
]
CONTRAST = (Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")


class Browser:
    """A browser that came to a store's pages by a link.

    Attributes:
        requests: every address that it asked for.
        faults: what it said on its console.
    """

    def __init__(self, chromium, server, place: str, **options) -> None:
        self.requests, self.faults = [], []
        self.context = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}} | options)
        self.page = self.context.new_page()
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.faults.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("dialog", lambda dialog: self.faults.append(f"a dialog: {dialog.message}"))
        self.server, self.base = server, f"{server.url}/{place}"
        self.page.goto(f"{server.url}/open?key={server.keys.link()}&to=/{place}/sessions")

    def go(self, path: str):
        self.page.goto(self.base + path)
        self.page.wait_for_load_state("load")
        return self.page

    def check(self) -> None:
        """Assert that nothing went wrong, and that nobody else was asked for anything."""
        assert self.faults == []
        assert {url for url in self.requests if not url.startswith(f"{self.server.url}/")} == set()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server with four stores: a session's, hostile content, an empty one, one whose index stopped."""
    folder = tmp_path_factory.mktemp("pages")
    for name, filled in (("work", fill), ("evil", fill_hostile), ("empty", lambda _memory: None)):
        with Memory(folder / name, embedder="none") as memory:
            filled(memory)
    stores = Stores()
    places = {name: stores.place(str(folder / name), "default", "none") for name in ("work", "evil", "empty", "none")}
    made = HttpServer(stores, lambda _text: None, port=0)
    made.start()
    made.places = places
    yield made
    made.stop()
    stores.close()


@pytest.fixture(scope="module")
def chromium():
    with playwright.sync_playwright() as run:
        launched = run.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def open_browser(chromium, server):
    opened = []

    def make(store: str = "work", **options) -> Browser:
        opened.append(Browser(chromium, server, server.places[store], **options))
        return opened[-1]

    yield make
    for browser in opened:
        browser.context.close()
        browser.check()


PAGES = {
    "sessions": "/sessions", "session": f"/session?name={SESSION}&open=2,9", "calls": f"/calls?name={WINDOW}",
    "host calls": f"/calls?name={SESSION}", "recall": "/recall?q=rounding+half+up", "asked nothing": "/recall",
    "nothing found": "/recall?q=quokka", "volunteered": "/volunteered", "ledger": "/ledger", "health": "/health",
    "erase": "/erase?words=port+5433", "refused": "/sessions?colour=red",
}  # fmt: skip


def test_twenty_five_turns_stand_above_the_fold(open_browser):
    """Of a session of 1,250 events 25 rows of turns stand on the first screen of 1280 x 900, and are read there."""
    page = open_browser().go(f"/session?name={SESSION}")
    tops = page.eval_on_selector_all("tr[id^=t]", "rows => rows.map(row => row.getBoundingClientRect().bottom)")
    assert sum(bottom <= 900 for bottom in tops) >= 25
    assert page.inner_text("#t2 .w") == ASKS[1]
    assert page.eval_on_selector("#t2", "row => row.getBoundingClientRect().height") <= 27


def test_a_turn_opens_in_place_and_by_its_address(open_browser):
    """A click opens a turn below its row without leaving the page, the address says so, and opens it again."""
    page = open_browser().go(f"/session?name={SESSION}")
    page.click("#t9 .w")
    page.wait_for_selector("tr.open .rows")
    assert page.get_attribute("#t9 .w", "aria-expanded") == "true"
    assert "open=9" in page.url
    rows = page.locator("tr.open .rows > li").count()
    page.reload()
    assert page.locator("tr.open .rows > li").count() == rows > 2
    page.click("#t9 .w")
    page.wait_for_selector("tr.open", state="detached")
    assert "open=" not in page.url


def test_all_works_without_script(open_browser):
    """Without script a turn, a filter, what was sent and a pointer's source are reached by links and forms."""
    browser = open_browser(java_script_enabled=False)
    page = browser.go(f"/session?name={SESSION}")
    page.click("#t9 .w")
    assert page.locator("tr.open .rows > li").count() > 2
    page.click("tr.open .rows > li .p >> nth=0")
    assert "/event?pointer=" in page.url
    page = browser.go("/sessions")
    page.fill("main input[type=search]", "codex")
    page.press("main input[type=search]", "Enter")
    page.wait_for_url("**/sessions?q=codex", wait_until="load")
    assert page.locator("tbody tr").count() == 6
    page = browser.go(f"/calls?name={WINDOW}")
    page.click("#sent a")
    assert "checked now" in page.inner_text("main")


def test_what_was_sent_is_put_together_and_checked(open_browser):
    """Below a call's parts its messages stand in the order sent, after the bytes were checked against their hash."""
    page = open_browser().go(f"/calls?name={WINDOW}&call=20")
    page.wait_for_selector(".sentlist")
    assert "checked now" in page.inner_text("#sent")
    assert page.locator(".sentlist tbody tr").count() > 3
    page.wait_for_selector("svg.bar rect[fill='url(#hatch)']")  # the same bytes as in the call before
    assert "a provider's cache can reuse them" in page.inner_text("main")
    assert page.locator("svg.calls a").count() == 25


def test_every_row_is_reached_by_keys(open_browser):
    """Keys j and k go from row to row, Enter opens, e leads to the next failure, / to the question, ? lists them."""
    page = open_browser().go(f"/session?name={SESSION}")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.closest('tr').id") == "t1"
    page.keyboard.press("Enter")
    page.wait_for_selector("tr.open")
    page.keyboard.press("e")
    failed = page.evaluate("document.activeElement.closest('tr').hasAttribute('data-failed')")
    assert failed
    page.keyboard.press("?")
    assert page.locator("dialog dt").count() >= 10
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "q"


def test_sessions_are_searched_as_one_types(open_browser):
    """What is typed into the filter narrows the list without another click, and stands in the address."""
    page = open_browser().go("/sessions")
    before = page.locator("tbody tr").count()
    page.type("main input[type=search]", "codex")
    page.wait_for_url("**q=codex**")
    assert page.locator("tbody tr").count() == 6 < before


def test_new_events_are_told_and_nothing_moves(open_browser, server):
    """An event that is recorded meanwhile is told at the end of the page; what is being read stays as it is."""
    page = open_browser().go(f"/session?name={SESSION}")
    page.evaluate("window.scrollTo(0, 200)")
    rows = page.locator("tr[id^=t]").count()
    store = server._stores.at(server.places["work"])[0]
    with Memory(store, embedder="none") as memory:
        memory.session(SESSION).user("one more thing")
    page.wait_for_selector("#new:not([hidden])", timeout=15_000)
    assert "1 new event" in page.inner_text("#new")
    assert (page.locator("tr[id^=t]").count(), page.evaluate("window.scrollY")) == (rows, 200)


UNNAMED = """() => {
  const all = css => [...document.querySelectorAll(css)];
  return [
    ...all("table").filter(table => !table.caption && !table.tHead && !table.querySelector("th")),
    ...all("svg").filter(svg => !svg.querySelector(":scope > title") && !svg.ariaLabel),
    ...all("input:not([type=hidden])").filter(field => !field.labels.length && !field.ariaLabel),
    ...all("a[href], button").filter(link => !link.textContent.trim() && !link.ariaLabel),
  ].map(each => each.outerHTML.slice(0, 200));
}"""
"""Tables without a head, drawings, fields and links without a name."""


@pytest.fixture(scope="module")
def looks(chromium, server):
    """What is measured of each page, looked at once: light, dark, 400 pixels wide, and as a screen reader takes it."""
    browser = Browser(chromium, server, server.places["work"])
    page, measured = browser.page, {}
    ledger = browser.go("/ledger").get_attribute(".decisions tbody tr a[aria-expanded]", "href")
    for name, path in {**PAGES, "a decision": f"/ledger{ledger.partition('#')[0]}"}.items():
        browser.go(path)
        if name == "calls":
            page.wait_for_selector("svg.bar rect[fill]")
        about = {"title": page.title(), "headings": page.locator("main h1, main [role=status]").count()}
        about |= {"landmarks": page.locator("header nav[aria-label], main, footer").count()}
        about |= {"unnamed": page.evaluate(UNNAMED), "light": page.evaluate(CONTRAST)}
        page.emulate_media(color_scheme="dark")
        about["dark"] = page.evaluate(CONTRAST)
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": 400, "height": 800})
        about["width"] = page.evaluate("document.documentElement.scrollWidth")
        page.set_viewport_size({"width": 1280, "height": 900})
        measured[name] = about
    browser.faults = [fault for fault in browser.faults if "400 (Bad Request)" not in fault]
    browser.context.close()
    browser.check()
    return measured


def test_every_text_has_contrast(looks):
    """Every text of every page has a contrast of 4.5 to 1 with what is behind it, in light and in dark."""
    assert {name: about["light"] + about["dark"] for name, about in looks.items()} == {name: [] for name in looks}


def test_a_screen_reader_has_titles_landmarks_and_tables(looks):
    """Each page has a title, a heading and landmarks, tables have captions or heads; drawings and fields have names."""
    for name, about in looks.items():
        assert about["title"].endswith("firsthand"), name
        assert (about["headings"] >= 1, about["landmarks"], about["unnamed"]) == (True, 3, []), name


def test_every_page_is_read_at_400_pixels(looks, open_browser):
    """At a width of 400 no page is wider than the screen, and a turn's words and strip are both to be seen."""
    assert {name for name, about in looks.items() if about["width"] > 400} == set()
    page = open_browser(viewport={"width": 400, "height": 800}).go(f"/session?name={SESSION}")
    for place in (".w", ".strip"):
        boxes = [row.bounding_box() for row in page.locator(f"#t9 {place}, #t40 {place}").all()]
        assert all(0 <= box["x"] < box["x"] + box["width"] <= 400 for box in boxes), place
        assert max(box["width"] for box in boxes) > 100


def test_a_pointer_opens_in_place_and_is_seen_from_afar(open_browser):
    """Pointing at a pointer shows who, when, how large and its first words; a click unfolds it there."""
    page = open_browser().go(f"/session?name={SESSION}&open=2")
    chip = page.locator("tr.open li .p").first
    chip.hover()
    page.wait_for_selector("#peek:not([hidden])")
    assert ASKS[1] in page.inner_text("#peek")
    assert re.search(r"user · .*2026 .* · \d+ B · turn 2", page.inner_text("#peek"))
    page.keyboard.press("Escape")
    assert page.locator("#peek").is_hidden()
    chip.click()
    page.wait_for_selector("tr.open .source")
    assert (chip.get_attribute("aria-expanded"), ASKS[1] in page.inner_text(".source")) == ("true", True)
    assert "/session?" in page.url
    chip.click()
    assert page.locator(".source").count() == 0
    page = open_browser().go("/ledger")
    page.focus(".decisions a.p")
    page.keyboard.press("Enter")
    page.wait_for_selector("tr.open .source pre")
    page.click(".source a")
    assert "/event?pointer=" in page.url


def test_switches_are_tried_before_they_are_saved(open_browser, server):
    """The preamble follows a switch and a number of tokens at once; until it is saved the settings are as they were."""
    page = open_browser().go("/volunteered")
    page.uncheck("input[name=preamble]")
    page.wait_for_selector("text=not saved yet: preamble off")
    settings = Path(server._stores.at(server.places["work"])[0]) / "settings.json"
    assert not settings.exists()
    page.fill("input[name=tokens]", "220")
    page.wait_for_selector("text=left out for want of room")
    page.click("text=Save these switches")  # with an Origin that the guard knows
    page.wait_for_selector("text=switched off")
    assert '"preamble": false' in settings.read_text()
    page.check("input[name=preamble]")
    page.click("text=Save these switches")
    assert '"preamble": true' in settings.read_text()


def test_hostile_content_does_nothing(open_browser, server):
    """Scripts, handlers, styles, escapes and fences of the log run nothing, load nothing and change no title."""
    browser = open_browser("evil")
    with Memory(server._stores.at(server.places["evil"])[0], read_only=True) as memory:
        name = quote(memory.sessions()[0].name, safe="")
        pointers = [event.pointer for event in memory.events(limit=14)]
    paths = ["/sessions", f"/session?name={name}", f"/calls?name={name}", f"/recall?q={quote(HOSTILE['script'])}"]
    paths += [f"/session?name={name}&open={turns}" for turns in ("1,2,3,4", "5,6,7,8", "9,10,11,12")]
    paths += [f"/event?pointer={pointer}" for pointer in pointers[:12:2]]
    for path in paths:
        page = browser.go(path)
        assert page.title() != "owned"
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280, path
        assert page.locator("body header nav a").first.is_visible()
    assert not re.search(r"evil\.example", " ".join(url.split("?")[0] for url in browser.requests))


def test_an_empty_store_and_none_say_what_to_type(open_browser):
    """A store without events, and none at all, are pages that name the command to begin with."""
    assert "firsthand import" in open_browser("empty").go("/sessions").inner_text("main")
    nobody = open_browser("none")
    assert "firsthand install" in nobody.go("/sessions").inner_text("main")
    nobody.faults = [fault for fault in nobody.faults if "404 (Not Found)" not in fault]
