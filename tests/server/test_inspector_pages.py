"""The inspector's pages as they are written: what they show, how large they are, what they refuse."""

from __future__ import annotations

import hashlib
import html
import json
import re
import shutil
from html.parser import HTMLParser

import pytest

pytest.importorskip("starlette", reason="the extra agents is not installed")
pytest.importorskip("jinja2", reason="the extra agents is not installed")

from inspector_store import ASKS, HOSTILE, SESSION, WINDOW, fill, fill_hostile
from page_client import PageClient

from firsthand import Draft, Kind, Memory, Trust
from firsthand.health.doctor import Look, examine
from firsthand.ledger.statements import retract
from firsthand.moment import Moment
from firsthand.server.inspector import texts
from firsthand.server.inspector.pages import PAGES
from firsthand.server.inspector.turns import turns_of
from stores import SOAK, damage_index

PAGE_BYTES_MAX = 150_000


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """One store with sessions of a host and of a window, verified at the end."""
    path = tmp_path_factory.mktemp("inspected") / "store"
    with Memory(path, embedder="none") as memory:
        fill(memory)
    yield path
    with Memory(path, read_only=True) as memory:
        assert memory.verify().problems == ()


@pytest.fixture(scope="module")
def hostile_store(tmp_path_factory):
    """One store of content that tries to be more than text."""
    path = tmp_path_factory.mktemp("hostile") / "store"
    with Memory(path, embedder="none") as memory:
        fill_hostile(memory)
    return path


@pytest.fixture
def pages(store):
    client = PageClient(store)
    yield client
    client.stores.close()


class Elements(HTMLParser):
    """Reads a page as a browser does, and keeps what no page of ours has."""

    def __init__(self) -> None:
        super().__init__()
        self.wrong: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag, attributes):
        self.scripts += tag == "script"
        if tag in {"img", "style", "iframe", "object", "embed", "base", "audio", "video"} or self.scripts > 1:
            self.wrong.append(tag)
        for name, text in attributes:
            if name.startswith("on") or name in {"style", "srcdoc", "formaction"}:
                self.wrong.append(f"{tag} {name}")
            leads = name in {"href", "src", "action", "data-load", "data-live"}
            if leads and not re.match(r"/(?![/\\\\])|#|\?", text or ""):
                self.wrong.append(f"{tag} {name}={text}")


def wrong_in(text: str) -> list[str]:
    """Name what stands in a page as markup and is none of ours."""
    elements = Elements()
    elements.feed(text)
    return elements.wrong


def text_of(response) -> str:
    """Give what a person reads of a page."""
    return html.unescape(re.sub(r"<[^>]+>", " ", response.text))


def test_the_sessions_stand_in_a_list_and_are_found_by_words(pages):
    """Every session is a row with its counts, the newest first; words and hosts narrow the list, nothing says so."""
    everything = pages.ask("/sessions")
    assert everything.status_code == 200
    names = re.findall(r'session\?name=([^"&]+)"', everything.text)
    assert names[:2] == [WINDOW, SESSION]  # the first one goes on now
    assert everything.text.count(">live<") == 1
    assert set(names) == {WINDOW, SESSION, *(f"codex:{number:08x}" for number in range(6))}
    fields = pages.ask("/sessions.json").json()
    first = next(row for row in fields["sessions"] if row["name"] == SESSION)
    with Memory(pages.stores.at(pages.base[1:])[0], read_only=True) as memory:
        events = list(memory.events(SESSION))
    assert (first["events"], first["turns"]) == (len(events), 55)
    assert first["calls"] == sum(event.kind is Kind.TOOL_CALL for event in events)
    assert first["compactions"] == 2
    whole = pages.ask(f"/session.json?name={SESSION}").json()["failed"]
    first = next(row for row in pages.ask("/sessions.json").json()["sessions"] if row["name"] == SESSION)
    assert first["failed"] == whole > 5
    assert first["project"] == "/home/ada/src/billing"
    assert [row["name"] for row in pages.ask("/sessions.json?q=billing+claude").json()["sessions"]] == [SESSION]
    assert pages.ask("/sessions.json?host=codex").json()["number"] == 6
    assert "No session fits" in text_of(pages.ask("/sessions?q=nowhere"))


def test_a_session_has_a_row_a_turn_with_a_cell_an_event(pages):
    """Each turn is one row in order with the user's words, and its strip has as many cells as the turn has events."""
    page = pages.ask(f"/session?name={SESSION}")
    assert page.status_code == 200
    rows = re.findall(r'<tr id="t(\d+)".*?</tr>', page.text, re.DOTALL)
    assert [int(number) for number in rows] == list(range(56))
    fields = pages.ask(f"/session.json?name={SESSION}").json()
    turns = {turn["number"]: turn for turn in fields["turns"] if "number" in turn}
    assert turns[2]["words"] == ASKS[1]
    strips = re.findall(r'<svg class="strip".*?</svg>', page.text, re.DOTALL)
    assert [strip.count("M") for strip in strips] == [turns[number]["events"] for number in range(56)]
    failed = [strip.count("v16") for strip in strips]
    assert failed == [turns[number]["failed"] for number in range(56)]
    assert sum(failed) == fields["failed"] > 5
    assert page.text.count('class="compact"') == fields["compactions"] == 2


def test_an_opened_turn_shows_every_event_or_counts_it(pages):
    """The rows of an opened turn and the number left out add up to its events; failures are never left out."""
    with Memory(pages.stores.at(pages.base[1:])[0], read_only=True) as memory:
        events = list(memory.events(SESSION))
    turn = max(turns_of(events), key=lambda turn: len(turn.events))
    fields = pages.ask(f"/session.json?name={SESSION}&open={turn.number}").json()
    rows = next(row["rows"] for row in fields["turns"] if row.get("number") == turn.number)
    shown = [row for row in rows if not isinstance(row, int)]
    assert sum(row["times"] for row in shown) + sum(row for row in rows if isinstance(row, int)) >= len(turn.rows)
    assert sum(row["failed"] for row in shown) == len(turn.failed)
    part = pages.ask(f"/turn?name={SESSION}&open={turn.number}&all=1", **{"X-Part": "1"}).text
    assert part.count("<li class=") == len(turn.rows)
    assert {"<html", "<header"} & set(re.findall(r"<\w+", part)) == set()


def test_an_edit_is_a_difference_line_by_line(pages):
    """What a call takes out and puts in stands as lines that left and lines that came, told by sign and by class."""
    page = pages.ask(f"/session?name={SESSION}&open=5,6,7,8,9").text
    assert '<span class="del">-     return sum(line.amount for line in self.lines)</span>' in page
    assert '<span class="add">+     return Money(cents)</span>' in page


def test_what_is_asked_and_not_understood_is_an_error(pages):
    """A parameter of no page, a number that is none, a page or session that is not there: each is said."""
    assert pages.ask("/sessions?colour=red").status_code == 400
    assert pages.ask("/sessions?page=0").status_code == 400
    assert pages.ask(f"/session?name={SESSION}&open=x").status_code == 400
    assert pages.ask(f"/session?name={SESSION}&only=everything").status_code == 400
    assert pages.ask("/session?name=nobody").status_code == 404
    assert pages.ask("/event?pointer=fh:short").status_code == 400
    assert pages.ask("/nothing").status_code == 404
    problem = pages.ask("/session.json?name=nobody")
    assert problem.headers["content-type"] == "application/problem+json"
    assert "nobody" in problem.json()["detail"]
    assert pages.faults == []


def test_an_event_shows_its_exact_bytes_and_their_hash(pages):
    """The page of an event has its bytes line by line with their hash, and the file every byte; a range has its own."""
    with Memory(pages.stores.at(pages.base[1:])[0], read_only=True) as memory:
        event = next(event for event in memory.events(SESSION) if event.meta.get("tool") == "Read" and event.turn > 3)
        result = next(later for later in memory.events(SESSION, after=event.position) if later.kind is Kind.TOOL_RESULT)
        data = memory.expand(result.pointer)
    page = pages.ask(f"/event?pointer={result.pointer}")
    assert hashlib.sha256(data).hexdigest() in page.text
    assert all(line.strip() in text_of(page) for line in data.decode().splitlines())
    raw = pages.ask(f"/raw?pointer={result.pointer}")
    assert (raw.content, raw.headers["x-sha256"]) == (data, hashlib.sha256(data).hexdigest())
    assert raw.headers["content-disposition"].startswith("attachment")
    assert pages.ask(f"/raw?pointer={result.pointer}@3-9").content == data[3:9]


def test_a_range_is_marked_in_its_event_and_a_pointer_is_read_in_a_few_lines(pages):
    """A pointer to bytes or lines opens its whole event with exactly these marked; unfolded it gives their words."""
    with Memory(pages.stores.at(pages.base[1:])[0], read_only=True) as memory:
        event = next(event for event in memory.events(SESSION, kind=Kind.TOOL_RESULT) if event.meta["tool"] == "Read")
    lines = event.text.split("\n")

    def marked(address: str) -> list[str]:
        page = pages.ask(f"/event?pointer={event.pointer}{address}").text
        return [html.unescape(text) for text in re.findall(r'<span class="hit">(.*?)</span>', page)]

    assert marked("@L40-42") == lines[39:42]
    assert marked("@7-30") == [lines[0][7:], event.text[:30].split("\n")[1]]
    assert marked("") == []
    shown = pages.ask(f"/event.json?pointer={event.pointer}@L40-42").json()
    assert (shown["lines"][0][0], shown["bytes"]) == (36, event.size_bytes)  # some lines before the mark
    unfolded = text_of(pages.ask(f"/source?pointer={event.pointer}"))
    assert all(line.strip() in unfolded for line in lines[:12])
    assert (lines[12].strip() in unfolded, "77 more lines" in unfolded) == (False, True)


def test_a_model_call_adds_up_and_replays_to_its_hash(pages):
    """The parts of a call sum to its tokens, its bytes come back to their hash, and what came and left is named."""
    page = pages.ask(f"/calls.json?name={WINDOW}&call=18").json()
    call = page["call"]
    assert sum(row["tokens"] for row in page["parts"]) == sum(share["tokens"] for share in call["shares"])
    assert sum(row["bytes"] for row in page["parts"]) == call["bytes"]
    data = pages.ask(f"/sent-bytes?pointer={call['pointer']}").content
    assert (hashlib.sha256(data).hexdigest(), len(data)) == (call["sha256"], call["bytes"])
    before = pages.ask(f"/calls.json?name={WINDOW}&call=17").json()["call"]
    sent = pages.ask(f"/sent.json?pointer={call['pointer']}&from=0").json()
    assert sent["same"] is True
    assert len(sent["first"]) >= len(json.loads(data)["messages"])
    asked = f"pointer={call['pointer']}&against={before['pointer']}"
    compared = pages.ask(f"/compared.json?{asked}").json()
    assert compared["numbers"]["came"] == len(compared["difference"]["came"]) > 0
    assert 0 < compared["reused"] < call["bytes"]
    assert "a provider's cache can reuse them" in text_of(pages.ask(f"/compared?{asked}"))
    compacted = [
        number for number in range(2, 25) if pages.ask(f"/calls.json?name={WINDOW}&call={number}").json()["receipt"]
    ]
    assert len(compacted) >= 3
    assert "Compacted before this call" in pages.ask(f"/calls?name={WINDOW}&call={compacted[0]}").text


def test_a_hosts_session_says_that_no_call_was_recorded(pages):
    """Of a host's session nothing is simulated: the page says that no call was recorded, and draws its usage."""
    page = pages.ask(f"/calls?name={SESSION}")
    assert "No call of this session was recorded" in text_of(page)
    assert page.text.count("<a href") > 20


def test_recall_shows_its_outcome_hits_scores_and_losers(pages):
    """A recall says its outcome first, marks the words asked for, gives each hit's score and parts, and what lost."""
    page = pages.ask("/recall?q=rounding+half+up+contract")
    assert "Found" in text_of(page)
    assert "<mark>" in page.text
    fields = pages.ask("/recall.json?q=rounding+half+up+contract").json()
    with Memory(pages.stores.at(pages.base[1:])[0], read_only=True, embedder="none") as memory:
        answer = memory.recall("rounding half up contract")
        assert [hit["pointer"] for hit in fields["hits"]][:5] == [hit.pointer for hit in answer.hits][:5]
        pointer = answer.hits[0].pointer
    assert all(hit["parts"] for hit in fields["hits"])
    assert fields["lost"]
    assert "Absent" in text_of(pages.ask("/recall?q=quokka")), pages.ask("/recall.json?q=quokka").json()["answer"]
    assert pointer in pages.ask(f"/recall?q={pointer}").text
    assert pages.ask("/recall?q=x&since=yesterday-ish").status_code == 400
    assert "As the model would receive it" in text_of(pages.ask("/recall?q=rounding&fenced=1"))


def test_nothing_recorded_says_what_to_type(tmp_path):
    """Where there is no store, no store is made, and the page names the commands that fill it."""
    client = PageClient(tmp_path / "none")
    page = client.ask("/sessions")
    assert (page.status_code, (tmp_path / "none").exists()) == (404, False)
    assert "firsthand import" in page.text
    with Memory(tmp_path / "none"):
        pass
    assert "firsthand install" in client.ask("/sessions").text
    client.stores.close()


@pytest.mark.parametrize("page", ["sessions", "session", "opened", "calls", "recall", "event"])
def test_hostile_content_stays_text(hostile_store, page):
    """Markup, control signs and templates of the log reach a page escaped, and no content makes a page large."""
    client = PageClient(hostile_store)
    with Memory(hostile_store, read_only=True) as memory:
        name = texts.query(memory.sessions()[0].name)
        pointers = [event.pointer for event in memory.events() if event.kind is Kind.TOOL_RESULT]
    addresses = {
        "sessions": ["/sessions"],
        "session": [f"/session?name={name}"],
        "calls": [f"/calls?name={name}"],
        "opened": [f"/session?name={name}&open={turn}" for turn in range(1, len(HOSTILE) + 1)],
        "recall": [
            f"/recall?q={texts.query(words)}" for words in ("owned", "invoice evil", HOSTILE["script"], "49 {{7*7}}")
        ],
        "event": [f"/event?pointer={pointer}" for pointer in pointers],
    }[page]
    for address in addresses:
        response = client.ask(address)
        assert response.status_code == 200
        assert len(response.content) <= PAGE_BYTES_MAX
        assert wrong_in(response.text) == []
        assert not set("\x1b\u202e\u2066\x07") & set(response.text)
    client.stores.close()


def test_a_large_store_costs_little_processor_and_few_bytes(tmp_path):
    """Over 100,000 events (20,000 outside of a soak) a page takes under 100 ms of processor, as the best of three."""
    begin = Moment(1_795_000_000_000_000)
    with Memory(tmp_path / "store", embedder="none") as memory:
        for session in range(50 if SOAK else 10):
            drafts = [
                Draft(
                    Kind.USER_MESSAGE if number % 20 == 0 else Kind.TOOL_RESULT if number % 2 else Kind.TOOL_CALL,
                    b"line one of some output\nline two\n" * 4, meta={"call_id": f"c{number // 2}", "tool": "bash"},
                    time=Moment(begin.microseconds + (session * 2_000 + number) * 3_000_000), trust=Trust.AGENT,
                )
                for number in range(2_000)
            ]  # fmt: skip
            memory.append(drafts, session=f"host:{session}")
        pointer = next(memory.events("host:7", limit=1)).pointer
        memory.log.flush_indexes("default")
    client = PageClient(tmp_path / "store")
    addresses = [
        "/sessions", "/session?name=host:7", "/session?name=host:7&open=3,4,5", "/calls?name=host:7",
        f"/event?pointer={pointer}", "/recall", "/volunteered", "/ledger", "/health", "/erase",
    ]  # fmt: skip
    for address in addresses:
        seconds = []
        for _ in range(3):
            response = client.ask(address)
            seconds.append(client.processor_s)
        assert (response.status_code, len(response.content) <= PAGE_BYTES_MAX) == (200, True)
        assert min(seconds) <= (0.1 if SOAK else 0.2), (address, seconds)  # beside others, a processor is slower
    client.stores.close()


def test_reading_changes_nothing(pages, store):
    """No page that is read writes a file or an event, the preamble of the next session included."""

    def files():
        return {path: path.stat().st_mtime_ns for path in store.rglob("*") if path.suffix not in {".db-wal", ".db-shm"}}

    pages.ask("/sessions")
    before = files()
    for name in PAGES:
        pages.ask(f"/{name}")
    assert "db-7.internal" in pages.ask("/volunteered").text
    assert files() == before


def test_the_next_preamble_stands_there_as_it_would_be_read(pages, store):
    """The page of what is volunteered has the preamble word for word, and what was shown with whether it was opened."""
    with Memory(store, read_only=True, embedder="none") as memory:
        preamble = memory.agent("billing").preamble().text
    page = pages.ask("/volunteered")
    lines = re.findall(r'<span class="line1">(.*?)</span>', page.text, re.DOTALL)
    assert "\n".join(html.unescape(re.sub(r"<[^>]+>", "", line)) for line in lines) == preamble
    (record,) = pages.ask("/volunteered.json").json()["shown"]
    assert [piece["used"] for piece in record["pieces"]] == ["", "opened"]
    assert (record["surface"], record["tokens"]) == ("SessionStart", 212)


def test_the_ledger_shows_what_stands_and_what_it_replaced(pages):
    """Decisions stand newest first with both events, quotes and state; as of a position only those before it."""
    fields = pages.ask("/ledger.json").json()
    assert [decision["action"] for decision in fields["decisions"]] == ["assert", "retract", "supersede"]
    assert {decision["state"] for decision in fields["decisions"]} == {"in force"}
    assert (fields["decisions"][2]["old"]["line"], fields["decisions"][2]["new"]["line"]) == (ASKS[0], ASKS[1])
    assert [fact["text"] for fact in fields["facts"]] == ["db-7.internal on port 5433"]
    before = pages.ask(f"/ledger.json?as_of={fields['decisions'][1]['position']}").json()
    assert ([decision["action"] for decision in before["decisions"]], before["facts"]) == (["retract", "supersede"], [])


def test_a_decision_opens_to_its_quotes_checks_and_history(pages):
    """Opened, a decision shows each event that it rests on with the quote marked in it, and what was decided before."""
    row = pages.ask("/ledger.json").json()["decisions"][0]
    opened = pages.ask(f"/ledger.json?open={row['id']}").json()["decisions"][0]["opened"]
    (source,) = opened["sources"]
    assert (source["quote"], source["before"]) == ("db-7.internal, port 5433", "the staging database is ")
    assert [(each["action"], each["here"]) for each in opened["history"]] == [("assert", True)]
    page = pages.ask(f"/ledger?open={row['id']}").text
    assert "the staging database is <mark>db-7.internal, port 5433</mark>" in page
    assert "the quote stands in it byte for byte" in page


def test_the_ledger_goes_back_to_a_day(own):
    """As of a day before the decisions nothing is decided; as of today they all are, and a word is refused."""
    today = own.ask("/ledger.json").json()["decisions"][0]["time"][:10]
    assert len(own.ask(f"/ledger.json?as_of={today}").json()["decisions"]) == 3
    assert own.ask("/ledger.json?as_of=2020-01-31").json()["decisions"] == []
    assert own.ask("/ledger?as_of=yesterday").status_code == 400


def test_what_is_held_back_is_named_with_its_reason(own):
    """Beside the preamble stands what is not in it: what the ledger took out, a tool's words, a masked secret."""
    held = {row["pointer"]: row["why"] for row in own.ask("/volunteered.json").json()["held"]}
    assert sorted(held.values()) == ["retracted by user", "superseded by user"]
    with Memory(own.stores.at(own.base[1:])[0], embedder="none") as memory:
        session = memory.session(SESSION, agent="billing")
        session.user("deploy with password=hunter2hunter2 and key AKIAIOSFODNN7EXAMPLE")
        note = memory.note("lesson of a page", sort="rule", trust="untrusted", origin="tool:web")
    rows = own.ask("/volunteered.json").json()
    reasons = {row["why"] for row in rows["held"]}
    assert "a secret in it is masked" in reasons
    assert "AKIAIOSFODNN7EXAMPLE" not in rows["next"]["text"]
    assert note.pointer not in rows["next"]["text"]
    tried = own.ask("/volunteered.json?try=1&recall=1&tokens=400").json()
    assert (tried["on"], tried["next"]["tokens"] <= 400, tried["saved_tokens"]) == (False, True, 1_500)


def test_what_was_sent_and_no_longer_holds_is_marked(own):
    """A message that was retracted since stands among those sent as that, without its words."""
    with Memory(own.stores.at(own.base[1:])[0], embedder="none") as memory:
        retract(memory, next(event for event in memory.events(WINDOW) if event.text == f"{ASKS[8]} (20)").pointer)
    call = own.ask(f"/calls.json?name={WINDOW}&call=21").json()
    sent = own.ask(f"/sent.json?pointer={call['call']['pointer']}&from=0").json()
    assert [message["line"] for message in sent["first"] if message["out"]] == [
        "was sent, and no longer holds by the ledger"
    ]
    pages = [f"/sent?pointer={call['call']['pointer']}&from=0", f"/session?name={WINDOW}&open=21"]
    pages.append(f"/compared?pointer={call['call']['pointer']}&against={call['before']['pointer']}")
    assert not any(f"{ASKS[8]} (20)" in text_of(own.ask(page)) for page in pages)


@pytest.fixture
def own(tmp_path, store):
    """A store of the test's own, with its pages."""
    shutil.copytree(store, tmp_path / "store")
    client = PageClient(tmp_path / "store")
    yield client
    client.stores.close()
    with Memory(tmp_path / "store", read_only=True) as memory:
        assert memory.verify().problems == ()


def test_a_form_changes_what_it_says_and_nothing_else_does(own):
    """A decision is undone, a switch turned and a piece held back by a form with its proof; without it nothing is."""
    decision = own.ask("/ledger.json").json()["decisions"][0]["id"]
    assert own.ask("/undo", "POST", {"decision": decision}, Origin="http://127.0.0.1:1").status_code == 403
    assert own.ask(f"/undo?decision={decision}").status_code == 404
    assert own.ask("/ledger.json").json()["decisions"][0]["state"] == "in force"
    assert own.send("/undo", {"decision": decision}).headers["location"] == f"{own.base}/ledger"
    states = {row["action"]: row["state"] for row in own.ask("/ledger.json").json()["decisions"]}
    assert (states["assert"], states["undo"]) == ("undone", "in force")
    assert own.send("/switch", {"on": "preamble,recall,actions,episodes", "agent": "billing"}).status_code == 303
    switches = {row["name"]: row["on"] for row in own.ask("/volunteered.json").json()["switches"]}
    assert switches == {"preamble": True, "cues": False, "recall": True, "actions": True, "episodes": True}
    assert own.send("/switch", {"on": "record"}).status_code == 400
    assert own.send("/switch", {"on": "recall", "colour": "red"}).status_code == 400
    assert {row["name"]: row["on"] for row in own.ask("/volunteered.json").json()["switches"]} == switches
    piece = own.ask("/volunteered.json").json()["shown"][0]["pieces"][0]["pointer"]
    assert piece in own.ask("/volunteered").text
    own.send("/not-again", {"pointer": piece})
    assert own.ask("/ledger.json").json()["decisions"][0]["action"] == "quarantine"
    assert piece not in own.ask("/volunteered.json").json()["next"]["text"]


def test_an_erasure_shows_what_goes_wants_its_number_and_proves_it(own):
    """What would go is shown and stays until its number is typed; then it is gone, and the page says how it knows."""
    shown = own.ask("/erase.json?words=port 5433").json()
    assert shown["number"] == len(shown["going"]) == 9
    gone = shown["going"][0]["pointer"]
    for typed in ("", "8", "yes"):
        refused = own.send("/erase", {"words": "port 5433", "count": typed})
        assert (refused.status_code, "Nothing was erased" in refused.text) == (400, True)
    assert own.ask(f"/raw?pointer={gone}").status_code == 200
    page = own.send("/erase", {"words": "port 5433", "count": "9", "reason": "asked for"})
    assert re.search("Gone : 9 events, with . of Firsthand's own .* the chain still verifies", text_of(page))
    assert own.ask(f"/raw?pointer={gone}").status_code == 404
    assert "was erased" in text_of(own.ask(f"/event?pointer={gone}"))
    assert own.ask("/erase.json?words=port 5433").json()["number"] == 0
    assert len(own.ask("/erase.json").json()["past"]) >= 1
    call = own.ask(f"/calls.json?name={WINDOW}&call=9").json()["call"]  # its window held one of them
    assert own.ask(f"/sent-bytes?pointer={call['pointer']}").status_code == 404
    assert "not the recorded prompt" in text_of(own.ask(f"/sent?pointer={call['pointer']}"))


def test_health_says_what_is_broken_and_what_to_type(own, tmp_path):
    """A whole store is healthy and verifies on the page; one whose index lost its rows is broken, with the command."""
    assert "Healthy" in text_of(own.ask("/health"))
    assert "Verified" in text_of(own.send("/verify", {}))
    assert own.ask("/verify").status_code == 404
    assert "●" not in own.ask("/sessions").text
    shutil.copytree(tmp_path / "store", tmp_path / "copy")
    damage_index(tmp_path / "copy", "UPDATE reach SET fault = 'stopped by hand'")
    broken = PageClient(tmp_path / "copy")
    page = text_of(broken.ask("/health"))
    assert "Broken" in page
    assert "firsthand store rebuild" in page
    examine(tmp_path / "copy", look=Look(canary=False))
    first = broken.ask("/health.json").json()["stages"][0]
    assert (first["name"], first["state"], first["cells"][-1]) == ("index", "broken", "f")
    assert first["cells"].count("-") == 47
    assert "memory is broken: index" in broken.ask("/sessions").text
    broken.stores.close()


def test_a_turn_of_many_large_rows_is_cut_but_for_its_failures(tmp_path):
    """Of a turn of 120 calls the first, the last and every failure are rows; large texts share a page's room."""
    long = "<out> & more\n" * 40
    drafts = [Draft(Kind.USER_MESSAGE, b"go")]
    for number in range(120):
        meta = {"call_id": f"c{number}", "tool": "Bash"}
        drafts.append(Draft(Kind.TOOL_CALL, json.dumps({"command": f"make {number}"}).encode(), meta=meta))
        result = f"Exit code 1\n{long}" if number in (50, 51, 70) else long
        drafts.append(Draft(Kind.TOOL_RESULT, result.encode(), meta=meta))
    with Memory(tmp_path / "store", embedder="none") as memory:
        for turn in range(3):
            memory.append(drafts, session=f"s{turn}")
            memory.append(drafts, session="s")
    client = PageClient(tmp_path / "store")
    page = client.ask("/session?name=s&open=1,2,3")
    assert len(page.content) <= PAGE_BYTES_MAX
    rows = client.ask("/session.json?name=s&open=1").json()["turns"][0]["rows"]
    assert [row if isinstance(row, int) else row["line"] for row in rows] == [
        "go", *(f"make {number}" for number in range(4)), 46, "make 50", "make 51", 18, "make 70", 44,
        *(f"make {number}" for number in range(115, 120)),
    ]  # fmt: skip
    assert client.ask("/turn?name=s&open=1&all=1").text.count("<li class=") == 121
    client.stores.close()


def test_namespaces_are_apart(tmp_path):
    """A session of the same name in another namespace adds nothing to a page, and its events are not there."""
    for namespace, number in (("default", 2), ("other", 5)):
        with Memory(tmp_path / "store", namespace=namespace, embedder="none") as memory:
            for turn in range(number):
                last = memory.session("deploy").user(f"{namespace} {turn}").pointer
    client = PageClient(tmp_path / "store")
    (row,) = client.ask("/sessions.json").json()["sessions"]
    assert (row["events"], row["turns"]) == (2, 2)
    assert client.ask("/session.json?name=deploy").json()["kinds"] == {"user_message": 2}
    assert client.ask(f"/event?pointer={last}").status_code == 404
    assert "other" not in text_of(client.ask("/session?name=deploy"))
    client.stores.close()


def test_a_session_of_many_turns_is_read_page_by_page(tmp_path):
    """Of a session of 1,500 short turns each page is small and leads to the next one, and no turn is missed."""
    with Memory(tmp_path / "store", embedder="none") as memory:
        memory.append([Draft(Kind.USER_MESSAGE, b"turn %d <&> " % turn * 30) for turn in range(1_500)], session="long")
    client = PageClient(tmp_path / "store")
    seen, path = [], "/session?name=long"
    while path:
        page = client.ask(path)
        assert len(page.content) <= PAGE_BYTES_MAX
        seen += [int(number) for number in re.findall(r'id="t(\d+)"', page.text)]
        following = re.search(r'rel="next" href="[^"]*(/session\?[^"]+)"', page.text)
        path = html.unescape(following[1]) if following else ""
    assert seen == list(range(1, 1_501))
    middle = client.ask("/session?name=long&turn=700").text
    assert 'id="t700"' in middle
    assert 'rel="prev"' in middle
    client.stores.close()


def test_every_page_has_a_twin_in_json(pages):
    """Each page that is read without a parameter gives its fields as JSON too, under the same title."""
    for name in PAGES:
        response = pages.ask(f"/{name}.json")
        if response.status_code == 200:
            assert response.json()["title"]
        else:
            assert response.headers["content-type"] == "application/problem+json"
