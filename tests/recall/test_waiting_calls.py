"""A recall while calls of hooks on this machine are not in the log yet: no answer is absent for what they hold."""

from __future__ import annotations

import pytest

from firsthand import Memory, Outcome
from firsthand.agents.agent_tools import AgentTools
from firsthand.cli.cli import main
from firsthand.server.hook_client import Call


def put_call(store, *, namespace: str = "default", folder: str = "late", data: bytes = b"") -> None:
    """Keep a call of a hook, as its client does."""
    path = store / "hooks" / folder
    path.mkdir(parents=True, exist_ok=True)
    call = Call(operation="hook", host="claude-code", store=str(store), namespace=namespace, nonce="a", moment_ns="1")
    number = len([*path.iterdir()])
    (path / f"{number:020d}-a.0.call").write_bytes(data or call.frame(b"{}"))


@pytest.fixture
def store(tmp_path):
    with Memory(tmp_path / "store", embedder="none") as memory:
        memory.session("s").user("the lamp is green")
    return tmp_path / "store"


@pytest.mark.parametrize(("folder", "data"), [("late", b""), ("set-aside", b""), ("late", b"torn")])
def test_nothing_is_absent_while_a_call_waits(store, folder, data, capsys) -> None:
    """An answer with and without hits is degraded and says how many calls wait, in the library and on the shell."""
    put_call(store, folder=folder, data=data)
    put_call(store, folder=folder, data=data)
    with Memory(store, embedder="none") as memory:
        for question, hits in (("xylophone", 0), ("lamp", 1)):
            answer = memory.recall(question)
            assert (answer.outcome, len(answer.hits)) == (Outcome.DEGRADED, hits)
            assert "2 calls of hooks wait on this machine to be recorded: firsthand agent jobs --run" in answer.notes
        assert "2 calls of hooks wait" in AgentTools.of(memory, cwd="", agent="a").recall("xylophone").text
        with Memory(store, namespace="empty", embedder="none") as other:
            assert other.recall("x").outcome is (Outcome.DEGRADED if data else Outcome.ABSENT)
        assert memory.verify().ok
    assert main(["--store", str(store), "recall", "xylophone"]) == 3
    assert "2 calls of hooks wait" in capsys.readouterr().out


def test_calls_of_another_namespace_are_not_ours(store) -> None:
    """What waits for another tenant is neither counted nor named."""
    put_call(store, namespace="other")
    with Memory(store, embedder="none") as memory:
        assert memory.recall("xylophone").outcome is Outcome.ABSENT
    with Memory(store, namespace="other", embedder="none") as other:
        answer = other.recall("xylophone")
    assert answer.outcome is Outcome.DEGRADED
    assert answer.notes == ("1 call of a hook waits on this machine to be recorded: firsthand agent jobs --run",)
