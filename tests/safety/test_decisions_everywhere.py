"""A decision of the ledger takes effect in every place that shows text, in the same moment, and so does its undoing."""

from __future__ import annotations

import html
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from shown_places import NEW, QUESTIONS, SENTENCE, WORDS, World, exact, leaks

from firsthand import AgentTools, Erased, Memory
from firsthand.event import IdMaker
from firsthand.ledger.decision_log import ledger_of
from firsthand.ledger.decisions import Action, Decision
from firsthand.ledger.lineage import lineage_of


@pytest.fixture
def memory(tmp_path, monkeypatch):
    for name in ("HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    with Memory.open(tmp_path / "store", embedder="none") as opened:
        yield opened
        report = opened.verify()
        assert report.ok, report


def decide_on(world: World, action: Action, by: str = "") -> Callable[[], object]:
    made = Decision(IdMaker()(), action, f"event:{world.event}", world.target, by, sources=(world.event,))
    ledger_of(world.memory).keep([made])
    return lambda: ledger_of(world.memory).undo(made.id)


def retract(world: World) -> Callable[[], object]:
    return decide_on(world, "retract")


def supersede(world: World) -> Callable[[], object]:
    return decide_on(world, "supersede", world.new)


def restore(world: World) -> Callable[[], object]:
    """Retract an event, and let it hold again by a decision, not by an undoing."""
    decide_on(world, "retract")
    return lambda: ledger_of(world.memory).restore(world.event)


def quarantine(world: World) -> Callable[[], object]:
    made = lineage_of(world.memory).quarantine(world.event)
    return lambda: [ledger_of(world.memory).undo(decision.id) for decision in made]


def quarantine_alone(world: World) -> Callable[[], object]:
    """Quarantine the event as if nothing rested on it, and let it in again."""
    lineage = lineage_of(world.memory)
    made = lineage.quarantine(world.event)
    for decision in made[1:]:
        ledger_of(world.memory).undo(decision.id)
    return lambda: lineage.release(world.event)


def erase(world: World) -> None:
    world.memory.erase([world.event])


DECISIONS = [retract, supersede, restore, quarantine, quarantine_alone]


@pytest.mark.parametrize("decisions", [DECISIONS[:2], DECISIONS[2:4], DECISIONS[4:]])
def test_what_is_out_is_shown_nowhere_until_that_is_undone(memory, decisions):
    """No place and no file has a word of what is out once the command returns, and all have it after the undoing."""
    world = World(memory)
    before = world.places()
    for decide in decisions:
        undo = decide(world)
        assert leaks(world.places()) == {}, decide
        undo()
        after = world.places()
        assert exact(after) == exact(before), decide
        assert leaks(after).keys() == leaks(before).keys(), decide


def test_a_part_that_is_out_is_shown_nowhere_and_the_rest_is(memory):
    """A decision on a span of a message takes the span out of every place, and leaves the words around it."""
    world = World(memory, within=True)
    before = exact(world.places())
    for decide in (retract, supersede):
        undo = decide(world)
        places = world.places()
        assert leaks(places) == {}, decide
        for place in ("recall: invoices of October", "timeline"):
            assert "invoices of October" in places[place]
        undo()
        assert exact(world.places()) == before, decide


def test_what_is_erased_is_shown_nowhere(memory):
    """After an erasure no place and no file has a word of it."""
    world = World(memory)
    erase(world)
    assert leaks(world.places()) == {}
    with pytest.raises(Erased):
        memory.expand(world.event)


def test_the_world_shows_the_sentence_in_every_place(memory):
    """Before a decision the sentence comes out by every way: the tests above do not pass since nothing is shown."""
    shown = {place.partition(": ")[0] for place in leaks(World(memory).places())}
    assert shown == {
        "recall", "fenced", "tool recall", "firsthand recall", "window recall", "cues", "hook", "hosted", "preamble",
        "start", "compacted", "compaction", "digest", "episodes", "names", "timeline", "markers", "pack",
        "firsthand timeline", "firsthand agent episodes", "firsthand agent digest", "firsthand agent preamble",
        "firsthand agent sleep",
        "file knowledge/shipping.md", "file rubric.md",
    }  # fmt: skip


def test_what_is_asked_for_by_its_pointer_is_shown_with_the_decision(memory):
    """Who opens the pointer reads every byte, and what was decided on it; the ledger lists it, and the log verifies."""
    world = World(memory)
    for decide in DECISIONS:
        undo = decide(world)
        assert memory.expand(world.event) == SENTENCE.encode()
        opened = AgentTools(world.agent).expand(world.event).text
        assert (SENTENCE in opened, "no longer holds: fh:" in opened) == (True, True), decide
        shown = json.loads(world.command("show", world.event, "--json"))
        assert (SENTENCE in str(shown["content"]), str(shown["decided"])[:20]) == (True, "no longer holds: fh:")
        assert world.event in world.command("ledger", "list")
        undo()
    assert memory.verify().ok


@pytest.mark.parametrize("decide", [retract, supersede, quarantine])
def test_recall_says_what_it_leaves_out_and_shows_what_holds_instead(memory, decide):
    """A recall of what is out says so by pointers, without a word of it; what replaced it is a hit in its place."""
    world = World(memory)
    decide(world)
    answer = memory.recall(QUESTIONS[0])
    (note,) = (note for note in answer.notes if "no longer holds" in note)
    assert {f"fh:{event.id}" for event in memory.events()}.issuperset(re.findall(r"fh:\w{26}", note))
    assert not any(word in note for note in answer.notes for word in WORDS)
    instead = [hit for hit in answer.hits if hit.pointer == world.new]
    assert [hit.preview for hit in instead] == ([NEW] if decide is supersede else [])


# pages of the inspector ------------------------------------------------------------------------------


@pytest.fixture
def pages(memory):
    """The pages of a server that reads the same store, each as what a person sees of it."""
    pytest.importorskip("starlette", reason="the extra agents is not installed")
    pytest.importorskip("jinja2", reason="the extra agents is not installed")
    sys.path.append(str(Path(__file__).parents[1] / "server"))
    from page_client import PageClient

    client = PageClient(memory.path)

    def texts(world: World) -> dict[str, str]:
        addresses = ["/sessions", "/volunteered?agent=shop", "/ledger", "/health", "/erase"]
        addresses.append("/recall?q=invoices+of+October")
        for session in memory.sessions():
            addresses.append(f"/session?name={session.name}")
            addresses += [f"/session?name={session.name}&open={turn}" for turn in range(min(session.turns, 3) + 1)]
            addresses.append(f"/calls?name={session.name}")
        neighbour = next(memory.events("one", after=memory.event(world.event).position, limit=1)).pointer
        addresses += [f"/event?pointer={neighbour}", f"/source?pointer={neighbour}"]
        asked = {address: client.ask(address) for address in addresses}
        assert {response.status_code for response in asked.values()} == {200}
        return {address: html.unescape(response.text) for address, response in asked.items()}

    yield texts
    client.stores.close()


def unmarked(text: str) -> str:
    """Give a page without what it marks as no longer holding."""
    return re.sub(r'<s>.*?</s>|<(span|pre) class="out">.*?</\1>', "", text, flags=re.DOTALL)


@pytest.mark.parametrize(("decisions", "within"), [(DECISIONS[::2], False), (DECISIONS[1::2], True)])
def test_what_is_out_is_marked_or_gone_on_every_page(memory, pages, decisions, within):
    """No page has a word of what is out but as no longer holding; all have it again after the undoing."""
    world = World(memory, within=within)
    before = leaks(pages(world)).keys()
    assert {address.partition("?")[0] for address in before} >= {"/sessions", "/session", "/volunteered", "/ledger"}
    for decide in decisions:
        undo = decide(world)
        assert leaks({address: unmarked(text) for address, text in pages(world).items()}) == {}, decide
        undo()
        assert leaks(pages(world)).keys() >= before, decide


def test_a_page_that_is_asked_for_by_its_pointer_marks_what_is_out(memory, pages):
    """Who opens the pointer sees every byte, struck through, and the decision; undone, the page is as before."""
    from page_client import PageClient

    world = World(memory, within=True)
    client = PageClient(memory.path)
    for decide in DECISIONS:
        undo = decide(world)
        for page in ("event", "source"):
            text = html.unescape(client.ask(f"/{page}?pointer={world.event}").text)
            assert SENTENCE in text
            assert "no longer holds" in text
            assert not any(word in unmarked(text) for word in WORDS), decide
        undo()
        assert not re.search('class="out"', client.ask(f"/event?pointer={world.event}").text), decide
    client.stores.close()


def test_what_is_erased_is_on_no_page(memory, pages):
    """After an erasure by another process no page has a word of it, those of a server that had read it included."""
    world = World(memory)
    pages(world)
    memory.erase([world.event])
    assert leaks(pages(world)) == {}
