"""What only repeats other events is not found, and stays readable by its pointer."""

from __future__ import annotations

import pytest

from firsthand import Kind, Memory, Outcome


@pytest.mark.parametrize("kind", [Kind.RECEIPT, Kind.ANATOMY])
@pytest.mark.parametrize("size", [10, 40_000])
def test_receipts_and_anatomies_are_not_found_but_expand(tmp_path, kind, size):
    """Recall finds the source of a word and not the record that repeats it, in tail and index, after a rebuild too."""
    with Memory.open(tmp_path / "store") as memory:
        session = memory.session("s")
        source = session.user("the zirconium build failed")
        copy = session.append(kind, "zirconium " * size)
        for _ in range(2):
            assert [hit.pointer for hit in memory.recall("zirconium")] == [source.pointer]
            session.append_messages([{"role": "user", "content": f"filler {number}"} for number in range(40)])
        memory.rebuild()
        assert [hit.pointer for hit in memory.recall("zirconium")] == [source.pointer]
        assert memory.expand(copy) == b"zirconium " * size
        assert memory.verify(deep=True).ok


def test_what_firsthand_put_into_a_context_is_not_found(tmp_path):
    """A tool result that only repeats recalled text is kept, and recall does not find it."""
    with Memory.open(tmp_path / "store") as memory:
        session = memory.session("s")
        call = session.tool_call("recall", {"query": "x"})
        kept = session.tool_result(call, "only the quokka knows", meta={"injected": True})
        assert memory.recall("quokka").outcome is Outcome.ABSENT
        assert memory.expand(kept) == b"only the quokka knows"
        assert memory.verify(deep=True).ok


def test_the_parts_of_a_prompt_are_no_hits(tmp_path):
    """Tools, system text and persona that a window keeps for its replay are not found, by no word and no session."""
    tool = {"type": "function", "function": {"name": "quokka", "parameters": {"type": "object"}}}
    with Memory.open(tmp_path / "store") as memory:
        session = memory.session("quokkas")
        window = session.window(8_000)
        said = [{"role": "user", "content": "the zirconium build failed"}]
        window.request(said, tools=[tool], system="quokka rules", contributions={"persona": "a quokka"})
        window.request(said, tools=[])
        assert [hit.pointer for hit in memory.recall("zirconium quokkas build")] == [
            next(memory.events("quokkas")).pointer
        ]
        memory.rebuild()
        assert [hit.kind for hit in memory.recall("quokka rules")] == [Kind.USER_MESSAGE]
        assert memory.verify(deep=True).ok


def test_what_is_not_found_is_not_indexed(tmp_path):
    """Of a receipt the index has a row without a word, in tail and index alike; the source is found."""
    with Memory.open(tmp_path / "store") as memory:
        session = memory.session("s")
        source = session.user("zirconium \u21d2 \u21d2")
        session.append(Kind.RECEIPT, "zirconium \u21d2 \u21d2")
        for _ in range(2):
            with memory.index_moment() as moment:
                assert moment.postings("zirconium")[0].tolist() == [1]
                assert moment.columns.tokens.tolist() == [0, 1, 0]
            assert [hit.pointer for hit in memory.recall("zirconium")] == [source.pointer]
            memory.rebuild()
