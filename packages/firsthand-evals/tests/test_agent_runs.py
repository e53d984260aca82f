"""Runs of agents in whole-file JSON: SWE-agent, InterCode, tau-bench, Who&When."""

from __future__ import annotations

import json

import pytest
from host_suite import HostSuite
from readings import drafts, read, told

from firsthand.event import Kind
from firsthand_evals.importers.agent_runs import SweAgent, Tau

STEP = {
    "action": "ls\n", "observation": "a.py\n", "response": "Look.\n```\nls\n```", "state": '{"open_file": "n/a"}',
    "thought": "Look.\n",
}  # fmt: skip
TRAJ = {
    "environment": "swe_main",
    "trajectory": [STEP, STEP | {"action": "submit\n", "observation": "diff\n", "thought": "", "response": "Done é"}],
    "history": [
        {"role": "system", "content": "You are a programmer.", "agent": "primary"},
        {"role": "user", "content": "The issue: é", "agent": "primary"},
        {"role": "assistant", "content": "Look.\n```\nls\n```", "thought": "Look.\n", "action": "ls\n"},
        {"role": "user", "content": "a.py\n\n(Open file: n/a)"},
    ],
    "info": {"exit_status": "submitted", "model_stats": {"api_calls": 2, "instance_cost": 0.5}},
}
CALL = {"id": "call_1", "type": "function", "function": {"name": "get_user", "arguments": '{"id":"mia"}'}}
TAU = [
    {
        "task_id": task, "reward": 0.5, "info": {"task": {"instruction": "the secret task"}},
        "traj": [
            {"role": "system", "content": "Policy"}, {"role": "user", "content": "Hi!"},
            {"content": None, "role": "assistant", "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "call_1", "name": "get_user", "content": '{"name": "Mia"}'},
            {"content": "Hello Mia", "role": "assistant"},
        ],
        "trial": 1,
    }
    for task in (0, 7)
]  # fmt: skip


def dump(value: object, indent: int | None = None, *, ascii_only: bool = True) -> bytes:
    return json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode() + b"\n"


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_swe_agent_run_begins_with_its_task_and_goes_step_by_step(indent, ascii_only):
    """Prompt and issue come first although the file tells them last; a step is thought, call and result."""
    made = drafts(SweAgent(), "/x/astropy__astropy-1.2.traj", dump(TRAJ, indent, ascii_only=ascii_only))
    assert [(d.kind, d.content) for d in made[:-1]] == [
        ("session", b'"swe_main"'),
        ("system", b"You are a programmer."),
        ("user_message", "The issue: é".encode()),
        ("agent_message", b"Look.\n"), ("tool_call", b"ls\n"), ("tool_result", b"a.py\n"),
        ("agent_message", "Done é".encode()), ("tool_call", b"submit\n"), ("tool_result", b"diff\n"),
    ]  # fmt: skip
    assert (made[-1].kind, json.loads(made[-1].content)) == (Kind.SESSION, TRAJ["info"])
    assert made[5].meta == {"call_id": "1", "tool": "shell", "state": '{"open_file": "n/a"}', "step": 1}
    assert made[-1].meta["api_calls"] == 2
    assert SweAgent().session("/x/astropy__astropy-1.2.traj", b"") == "astropy__astropy-1.2"


def test_a_swe_agent_run_that_went_on_keeps_its_steps():
    """The file is written again after each step; the steps so far have the identities they had."""
    shorter = TRAJ | {"trajectory": TRAJ["trajectory"][:1], "info": {}}
    before, after = (read(SweAgent(), "r.traj", dump(value)) for value in (shorter, TRAJ))
    assert [r.record.identity for r in before[:2]] == [r.record.identity for r in after[:2]]
    assert before[2].record.identity != after[3].record.identity


def test_a_tau_episode_is_a_session_of_its_task_and_trial():
    """Messages, calls and results as they are; the hidden task is in no event's content."""
    data = dump(TAU)
    found = read(Tau(), "/x/gpt.json", data)
    assert [r.record.session for r in found] == ["0-1"] * 6 + ["7-1"] * 6
    made = drafts(Tau(), "/x/gpt.json", data)[:6]
    assert told(made) == [
        ("session", b'{"task_id": 0, "trial": 1}'), ("system", b"Policy"), ("user_message", b"Hi!"),
        ("tool_call", b'{"id":"mia"}'), ("tool_result", b'{"name": "Mia"}'), ("agent_message", b"Hello Mia"),
    ]  # fmt: skip
    assert made[0].meta == {"task_id": 0, "trial": 1, "reward": 0.5, "file": "gpt.json"}
    assert (found[5].record.raw[-14:], found[6].record.raw[:4]) == (b'], "trial": 1}', b', {"')
    assert (made[3].meta["call_id"], made[4].meta["call_id"], made[4].origin) == ("call_1", "call_1", "tool:get_user")
    assert not any(b"secret" in d.content for d in made)


@pytest.mark.parametrize(
    ("host", "path", "value"),
    [
        (SweAgent(), "r.traj", {"trajectory": [7, {"action": None}, {}], "history": [None, {"role": 3}], "info": 8}),
        (SweAgent(), "r.traj", {"trajectory": "x", "history": []}),
        (Tau(), "t.json", [4, {"task_id": None, "traj": [3, {}]}, {"trial": "x"}]),
    ],
)
def test_values_of_the_wrong_type_are_kept_and_raise_nothing(host, path, value):
    """A field of another type than expected costs its meaning, never its bytes."""
    for reading in read(host, path, dump(value)):
        assert reading.record.drafts


class TestSweAgent(HostSuite):
    host, path, sample, session = SweAgent(), "/x/astropy__astropy-1.2.traj", dump(TRAJ, 2), "astropy__astropy-1.2"


class TestTau(HostSuite):
    host, path, sample, session = Tau(), "/x/gpt.json", dump(TAU), "gpt"
