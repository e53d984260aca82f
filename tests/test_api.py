"""The public names: all are there, stand on one page, and each has an example that runs."""

from __future__ import annotations

import doctest
import importlib.util
import re
from pathlib import Path

import pytest

import firsthand
from firsthand import InvalidArgument, Memory, NotAStore, QueryError

HOME = Path(__file__).parents[1]
_spec = importlib.util.spec_from_file_location("make_api", HOME / "tools" / "make_api.py")
make_api = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(make_api)
EXAMPLES = make_api.examples()


def test_every_public_name_can_be_had():
    """Each name of the package is there, sorted, at most 55 of them, and nothing else is promised."""
    assert firsthand.__all__ == sorted(firsthand.__all__)
    assert [name for name in firsthand.__all__ if getattr(firsthand, name, None) is None] == []
    assert dir(firsthand) == firsthand.__all__
    assert len(firsthand.__all__) <= 55
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        firsthand.Nothing  # noqa: B018


def test_every_public_name_has_an_example_that_uses_it():
    """No public name is without an example, and none stands for another name."""
    assert sorted(EXAMPLES) == [name for name in firsthand.__all__ if name != "__version__"]
    assert [name for name, text in EXAMPLES.items() if name.lower()[:4] not in text.lower()] == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_of_a_name_runs(name, tmp_path, monkeypatch):
    """What the page shows is what happens, in an empty folder with an empty home."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    example = doctest.DocTestParser().get_doctest(EXAMPLES[name].strip("`").removeprefix("pycon"), {}, name, None, 0)
    assert example.examples
    told = []
    result = doctest.DocTestRunner(verbose=False).run(example, out=told.append)
    assert (result.failed, "".join(told)) == (0, "")
    with Memory("notes", embedder="none") as memory:
        assert memory.verify().ok


def test_the_page_is_what_the_tool_makes():
    """docs/api.md is written by `make docs` from the docstrings and the examples; nobody edits it by hand."""
    assert (HOME / "docs" / "api.md").read_text(encoding="utf-8") == make_api.page()


@pytest.mark.parametrize("path", [3, "", b"notes", True, ["notes"], "a\0b"])
def test_what_is_no_path_is_refused(path):
    """A store is named by a path: what is none is refused in words that say what to give."""
    with pytest.raises(InvalidArgument, match=r"expected its path, such as Memory\('notes'\)"):
        Memory(path)


def test_a_memory_is_opened_by_its_folder(tmp_path, monkeypatch):
    """`Memory(path)` makes or opens the store there, `Memory()` the usual one; a file is no store."""
    monkeypatch.setenv("FIRSTHAND_STORE", str(tmp_path / "usual"))
    for opened, folder in ((Memory(tmp_path / "a"), "a"), (Memory(), "usual"), (Memory.open(str(tmp_path / "b")), "b")):
        with opened as memory:
            assert memory.path == tmp_path / folder
            assert re.fullmatch(r"Memory\('/.*, namespace='default'\)", repr(memory))
            assert len(repr(memory)) <= 120
            assert memory.verify().ok
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotAStore, match="is a file"):
        Memory(tmp_path / "file")
    with pytest.raises(TypeError, match="colour"):
        Memory(tmp_path / "a", colour="red")


def test_events_are_asked_for_by_the_word_of_their_kind(tmp_path):
    """A kind's word is as good as the kind; another word is refused, and so is a number."""
    with Memory(tmp_path, embedder="none") as memory:
        session = memory.session("s")
        session.tool_result(session.tool_call("bash", {}), "out")
        assert [event.text for event in memory.events(kind="tool_result")] == ["out"]
        for wrong in ("rumour", 5):
            with pytest.raises(QueryError, match="kinds are members of Kind"):
                next(memory.events(kind=wrong))
        assert memory.verify().ok


@pytest.mark.parametrize("name", ["session", "agent", "window"])
def test_what_a_user_holds_shows_itself_on_a_line(name, tmp_path):
    """Sessions, agents and windows say in at most 120 characters whose they are."""
    with Memory(tmp_path, namespace="n" * 400) as memory:
        session = memory.session("s" * 400, agent="a" * 400)
        made = {"session": session, "agent": memory.agent("a" * 400)}
        thing = session.window(4_000, format="anthropic") if name == "window" else made[name]
        assert repr(thing).startswith(f"{type(thing).__name__}(")
        assert len(repr(thing)) <= 120
        assert memory.verify().ok
