"""The memory tool of Anthropic's API: every command and error text, and files that are a view of the log."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import runpy
import threading
from pathlib import Path

import pytest

pytest.importorskip("anthropic")

from anthropic.tools import ToolError

from firsthand import Kind, Memory
from firsthand.adapters.anthropic_memory import AsyncFirsthandMemoryTool, FirsthandMemoryTool

HEAD = "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items:"


@pytest.fixture(params=[FirsthandMemoryTool, AsyncFirsthandMemoryTool])
def do(request, memory):
    """A tool of either kind, asked as the SDK's runner asks it: by the model's input."""
    tool = request.param(memory, agent="ada", cache_control={"type": "ephemeral"})
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory", "cache_control": {"type": "ephemeral"}}

    def call(command, **fields):
        answer = (
            getattr(tool, command)() if command == "clear_all_memory" else tool.call({"command": command, **fields})
        )
        return asyncio.run(answer) if inspect.isawaitable(answer) else answer

    call.tool = tool
    return call


def refused(do, command, **fields):
    with pytest.raises(ToolError) as caught:
        do(command, **fields)
    return str(caught.value)


def test_create_and_view(do):
    """A file is made and shown with line numbers, whole or a range of it; one that is there is not made again."""
    text = "one\ntwo\nthree\n"
    assert do("create", path="/memories/n/a", file_text=text) == "File created successfully at: /memories/n/a"
    lines = "     1\tone\n     2\ttwo\n     3\tthree\n     4\t"
    shown = f"Here's the content of /memories/n/a with line numbers:\n{lines}"
    assert do("view", path="/memories/n/a") == shown
    ranged = do("view", path="/memories/n/a", view_range=[2, 3])
    assert ranged.split("\n")[1:] == ["     2\ttwo", "     3\tthree"]
    assert do("view", path="/memories/n/a", view_range=[3, -1]).split("\n")[1:] == ["     3\tthree", "     4\t"]
    assert refused(do, "create", path="/memories/n/a", file_text="") == "File /memories/n/a already exists"
    assert refused(do, "create", path="/memories/n", file_text="") == "File /memories/n already exists"
    assert "not a directory" in refused(do, "create", path="/memories/n/a/b", file_text="")
    assert do("create", path="/memories/empty", file_text="").endswith("/memories/empty")
    assert do("view", path="/memories/empty").endswith("     1\t")
    gone = "The path /memories/none does not exist. Please provide a valid path."
    assert refused(do, "view", path="/memories/none") == gone


def test_folders_are_listed(do):
    """A folder shows files and folders two levels deep with sizes, without hidden ones, and its views."""
    for path, text in (("b.md", "x" * 1536), ("notes/deep/er/c.md", "y"), ("notes/d.md", ""), (".hidden", "z")):
        do("create", path=f"/memories/{path}", file_text=text)
    assert do("view", path="/memories").split("\n") == [
        HEAD, "1.5K\t/memories", "1.5K\t/memories/b.md", "1B\t/memories/notes/", "0B\t/memories/notes/d.md",
        "1B\t/memories/notes/deep/", "0B\t/memories/preamble.md",
    ]  # fmt: skip
    assert do("view", path="/memories/notes/").split("\n")[1:] == [
        "1B\t/memories/notes/", "0B\t/memories/notes/d.md", "1B\t/memories/notes/deep/", "1B\t/memories/notes/deep/er/",
    ]  # fmt: skip


def test_str_replace(do):
    """One place is changed and shown with two lines around it; none, and several, are refused by their lines."""
    do("create", path="/memories/a", file_text="\n".join("abcdefgh") + "\nx\nx")
    done = do("str_replace", path="/memories/a", old_str="d", new_str="D\nDD")
    assert done.split("\n") == [
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):",
        "     2\tb", "     3\tc", "     4\tD", "     5\tDD", "     6\te",
    ]  # fmt: skip
    assert refused(do, "str_replace", path="/memories/a", old_str="zz", new_str="") == (
        "No replacement was performed, old_str `zz` did not appear verbatim in /memories/a."
    )
    assert refused(do, "str_replace", path="/memories/a", old_str="x", new_str="") == (
        "No replacement was performed. Multiple occurrences of old_str `x` in lines: 10, 11. Please ensure it is unique"
    )
    assert refused(do, "str_replace", path="/memories/n", old_str="x", new_str="") == (
        "The path /memories/n does not exist. Please provide a valid path."
    )
    assert refused(do, "str_replace", path="/memories", old_str="x", new_str="") == "The path /memories is not a file."
    do("create", path="/memories/b", file_text="----")
    assert do("str_replace", path="/memories/b", old_str="---", new_str="=").endswith("1\t=-")
    assert "in lines: 1, 1, 1. Please" in refused(do, "str_replace", path="/memories/b", old_str="", new_str="x")


def test_a_command_that_was_cut_short(do):
    """The model is told which field is missing; the memory has no fault."""
    for command, fields, missing in (
        ("view", {}, "path"), ("create", {"path": "/memories/a"}, "file_text"), ("delete", {"path": 5}, "path"),
        ("str_replace", {"path": "/memories/a"}, "old_str"), ("rename", {"old_path": "/memories/a"}, "new_path"),
        ("insert", {"path": "/memories/a", "insert_line": 1}, "insert_text"),
    ):  # fmt: skip
        assert f"{command} needs the field {missing} of type str" in refused(do, command, **fields)
    assert do.tool.loop.faults == []


def test_insert(do):
    """Lines go in behind a number from 0 to the last; any other is refused with the range."""
    do("create", path="/memories/a", file_text="one\ntwo\n")
    assert (
        do("insert", path="/memories/a", insert_line=0, insert_text="zero\n") == "The file /memories/a has been edited."
    )
    do("insert", path="/memories/a", insert_line=3, insert_text="three")
    assert do("view", path="/memories/a").split("\n")[1:] == [
        "     1\tzero", "     2\tone", "     3\ttwo", "     4\tthree", "     5\t",
    ]  # fmt: skip
    for number in (-1, 5):
        assert refused(do, "insert", path="/memories/a", insert_line=number, insert_text="x") == (
            f"Invalid `insert_line` parameter: {number}. It should be within the range [0, 4]."
        )
    assert "does not exist" in refused(do, "insert", path="/memories/b", insert_line=0, insert_text="x")
    assert "is not a file" in refused(do, "insert", path="/memories", insert_line=0, insert_text="x")


def test_delete_and_rename(do, memory):
    """Files and folders go and move, never onto another; what they held stays in the log."""
    do("create", path="/memories/notes/a", file_text="the port is 5433")
    do("create", path="/memories/b", file_text="b")
    assert do("rename", old_path="/memories/notes", new_path="/memories/old/notes") == (
        "Successfully renamed /memories/notes to /memories/old/notes"
    )
    assert "5433" in do("view", path="/memories/old/notes/a")
    assert refused(do, "rename", old_path="/memories/b", new_path="/memories/old") == (
        "The destination /memories/old already exists"
    )
    assert (
        refused(do, "rename", old_path="/memories/c", new_path="/memories/d") == "The path /memories/c does not exist"
    )
    assert "below" in refused(do, "rename", old_path="/memories/old", new_path="/memories/old/x")
    assert refused(do, "rename", old_path="/memories", new_path="/memories/x") == (
        "Cannot rename the /memories directory itself"
    )
    assert do("delete", path="/memories/old") == "Successfully deleted /memories/old"
    assert refused(do, "delete", path="/memories/old") == "The path /memories/old does not exist"
    for root in ("/memories", "/memories/"):
        assert refused(do, "delete", path=root) == "Cannot delete the /memories directory itself"
    assert do("clear_all_memory") == "All memory cleared"
    assert "/memories/b" not in do("view", path="/memories")
    assert memory.recall("port 5433").hits[0].preview == "the port is 5433"


@pytest.mark.parametrize("path", ["/memories/../etc/passwd", "/memories/a/../../b", "/memories/.."])
def test_no_path_leaves_the_folder(do, path):
    """A path that climbs out, or begins elsewhere, is refused by every command."""
    for command, fields in COMMANDS.items():
        assert refused(do, command, **{name: text if text != "" else path for name, text in fields.items()}) == (
            f"Path {path} would escape /memories directory"
        )
    for other in ("/etc/passwd", "memories/a", "/memoriesx", ""):
        assert refused(do, "view", path=other) == f"Path must start with /memories, got: {other}"


COMMANDS = {
    "view": {"path": ""}, "create": {"path": "", "file_text": "x"}, "delete": {"path": ""},
    "str_replace": {"path": "", "old_str": "x", "new_str": "y"}, "rename": {"old_path": "", "new_path": "/memories/z"},
    "insert": {"path": "", "insert_line": 0, "insert_text": "x"},
}  # fmt: skip


def test_views_are_read_and_not_written(do, memory):
    """Preamble and episodes are files of the folder; each command that would change one is refused, and says why."""
    session = memory.session("s", agent="ada")
    memory.agent("ada").enrol("s")
    session.user("Move the staging database of the shop to db7.internal, port 5433.")
    session.agent("The staging database of the shop runs on db7.internal:5433 from now on.")
    name = memory.agent("ada").close("s").episode.name
    assert f"/memories/episodes/{name}.md" in do("view", path="/memories")
    for path in ("/memories/preamble.md", f"/memories/episodes/{name}.md"):
        shown = do("view", path=path)
        assert f"Here's the content of {path} with line numbers:\n     1\t" in shown
        assert "db7.internal" in shown
        session.append_messages([{"role": "user", "content": shown}])  # it comes back, and is no memory
        for command, fields in COMMANDS.items():
            if command != "view":
                said = refused(do, command, **{field: text if text != "" else path for field, text in fields.items()})
                assert said == f"{path} is a view of the memory and cannot be changed; write below /memories/notes"
    assert "is a view" in refused(do, "delete", path="/memories/episodes")
    assert "is a view" in refused(do, "create", path="/memories/episodes/mine.md", file_text="x")
    assert len([hit for hit in memory.recall("db7.internal").hits if hit.session == "s"]) == 2
    assert do("clear_all_memory")
    assert "db7.internal" in do("view", path="/memories/preamble.md")


def test_each_version_is_an_event(do, memory):
    """Every write is in the log, by the agent, in its own session; of an erased one the version before stands."""
    do("create", path="/memories/notes/a", file_text="one")
    do("str_replace", path="/memories/notes/a", old_str="one", new_str="two")
    do("insert", path="/memories/notes/a", insert_line=1, insert_text="three")
    versions = [*memory.events("anthropic-memory:ada", kind=Kind.NOTE)]
    assert [event.text for event in versions] == ["one", "two", "two\nthree\n"]
    assert {(event.agent, event.origin, event.trust) for event in versions} == {("ada", "agent", "agent")}
    assert "anthropic-memory:ada" in memory.agent("ada").sessions()
    again = FirsthandMemoryTool(Memory(memory.path, embedder="none"), agent="ada")
    assert "three" in again.call({"command": "view", "path": "/memories/notes/a"})
    memory.erase([versions[-1].pointer])
    for tool in (do, lambda name, **fields: again.call({"command": name, **fields})):
        assert tool("view", path="/memories/notes/a").endswith("     1\ttwo")
    do("create", path="/memories/big", file_text="x" * 3_000_000)
    assert len(do("view", path="/memories/big")) > 3_000_000


def test_two_writers_change_one_file(do, memory):
    """Forty insertions by four threads are all in the file: each was made to the version before it."""
    do("create", path="/memories/a", file_text="")
    tools = [FirsthandMemoryTool(memory, agent="ada") for _ in range(4)]

    def write(tool, place):
        for number in range(10):
            line, is_done = f"{place}.{number}", False
            while not is_done:
                with contextlib.suppress(ToolError):
                    tool.call({"command": "insert", "path": "/memories/a", "insert_line": 0, "insert_text": line})
                    is_done = True

    threads = [threading.Thread(target=write, args=(tool, place)) for place, tool in enumerate(tools)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = [line.split("\t")[1] for line in do("view", path="/memories/a").split("\n")[1:-1]]
    assert sorted(line for line in lines if line) == sorted(f"{place}.{n}" for place in range(4) for n in range(10))


def test_300_commands_and_two_namespaces(tmp_path):
    """Three hundred writes are all there and all exact; another namespace of the store sees none of them."""
    red, blue = (FirsthandMemoryTool(tmp_path / "store", agent="ada", namespace=name) for name in ("red", "blue"))
    for number in range(300):
        red.call({"command": "create", "path": f"/memories/notes/{number}.md", "file_text": f"canary q{number}q"})
    assert "canary q123q" in red.call({"command": "view", "path": "/memories/notes/123.md"})
    assert "notes" not in blue.call({"command": "view", "path": "/memories"})
    with Memory(tmp_path / "store", namespace="red", embedder="none") as memory:
        assert [event.text for event in memory.events(kind=Kind.NOTE)] == [f"canary q{n}q" for n in range(300)]
        assert "q299q" in memory.recall("q299q").hits[0].preview
        assert memory.verify().ok


def test_a_store_that_fails_is_an_error_that_the_model_reads(tmp_path, caplog):
    """Without a store each command is refused in a sentence and said once; with it back the same tool works."""
    store = tmp_path / "store"
    store.write_text("no folder")
    tool = FirsthandMemoryTool(store, agent="ada")
    for _ in range(3):
        with pytest.raises(ToolError, match="cannot be reached now"):
            tool.call({"command": "view", "path": "/memories"})
    assert len({record.getMessage() for record in caplog.records}) == len(caplog.records) > 0
    store.unlink()
    assert tool.call({"command": "view", "path": "/memories"}).startswith(HEAD)


def test_the_example_runs(tmp_path):
    """The example drives the SDK's own runner with a scripted model, without a network."""
    example = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "anthropic_memory_tool.py"))
    assert "5433" in example["run"](str(tmp_path / "store"))
