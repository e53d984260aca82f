"""The settings of hosts: what is written into them, and that nothing else is lost."""

from __future__ import annotations

import json
import re
import shlex
import tomllib

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.agents.tool_table import TOOLS
from firsthand.errors import FormatError, InvalidArgument
from firsthand.hosts import hook_hosts
from firsthand.hosts.host_table import HOSTS, host_program
from firsthand.hosts.registration import (
    READ_TOOLS,
    hooks_of_ours,
    is_ours,
    server_of_ours,
    with_hooks,
    with_leave,
    with_server,
    without_hooks,
    without_leave,
    without_server,
)

COMMAND = ["/home/a da/.local/state/firsthand/firsthand-hook", "HOST"]
OLDER = ["/old/python", "-I", "/old/firsthand/doors/hook_client.py", "HOST"]
SECONDS = {"type": "integer", "minimum": 1, "maximum": 30}
COMMAND_HOOK = {
    "type": "object",
    "properties": {
        "type": {"const": "command"}, "command": {"type": "string"}, "timeout": SECONDS,
        "args": {"type": "array", "items": {"type": "string"}}, "async": {"type": "boolean"},
    },
    "required": ["type", "command"],
    "additionalProperties": False,
}  # fmt: skip


def nested(handler, names) -> dict:
    """Give the published shape of hooks in groups, for a host with these events."""
    group = {
        "type": "object",
        "properties": {"matcher": {"type": "string"}, "hooks": {"type": "array", "items": handler, "minItems": 1}},
        "required": ["hooks"],
        "additionalProperties": False,
    }
    return flat(group, names)


def flat(entry, names, **members) -> dict:
    events = {name: {"type": "array", "items": entry, "minItems": 1} for name in names.split()}
    hooks = {"type": "object", "properties": events, "additionalProperties": False}
    return {
        "type": "object", "properties": {"hooks": hooks, **members}, "required": ["hooks", *members],
        "additionalProperties": False,
    }  # fmt: skip


CLAUDE_EVENTS = (
    "SessionStart UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PreCompact PostCompact SubagentStart "
    "SubagentStop Stop SessionEnd Notification"
)
PLAIN = {
    **COMMAND_HOOK,
    "properties": {k: v for k, v in COMMAND_HOOK["properties"].items() if k in {"type", "command"}},
}
IN_MILLISECONDS = {**PLAIN, "properties": PLAIN["properties"] | {"timeout": {"type": "integer", "minimum": 1_000}}}
IN_SECONDS = {**PLAIN, "properties": PLAIN["properties"] | {"timeout": SECONDS}}
BY_SHELL = {
    "type": "object",
    "properties": {
        "type": {"const": "command"}, "bash": {"type": "string"}, "powershell": {"type": "string"},
        "timeoutSec": SECONDS,
    },
    "required": ["type", "bash", "powershell"],
    "additionalProperties": False,
}  # fmt: skip
SHAPES = {
    "claude-code": nested(COMMAND_HOOK, CLAUDE_EVENTS),
    "codex": nested(
        IN_SECONDS,
        "SessionStart UserPromptSubmit PreToolUse PermissionRequest PostToolUse PreCompact PostCompact SubagentStart "
        "SubagentStop Stop Interrupt SessionEnd",
    ),
    "gemini": nested(
        IN_MILLISECONDS,
        "SessionStart SessionEnd BeforeAgent AfterAgent BeforeTool AfterTool BeforeModel AfterModel PreCompress",
    ),
    "cursor": flat(
        IN_SECONDS,
        "sessionStart sessionEnd beforeSubmitPrompt preToolUse postToolUse postToolUseFailure subagentStart "
        "subagentStop afterAgentResponse preCompact stop",
        version={"const": 1},
    ),
    "vscode": flat(
        IN_SECONDS,
        "SessionStart UserPromptSubmit PreToolUse PostToolUse PreCompact SubagentStart SubagentStop Stop",
    ),
    "copilot": flat(
        BY_SHELL,
        "SessionStart SessionEnd UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PreCompact Stop "
        "SubagentStart SubagentStop",
        version={"const": 1},
    ),
}


@pytest.mark.parametrize("host", hook_hosts.HOSTS)
def test_what_is_written_is_of_the_hosts_shape(host):
    """The file is valid by the host's own shape, with events that it fires and timeouts that are small."""
    written = with_hooks("", host_program(host), COMMAND)
    jsonschema.validate(json.loads(written), SHAPES[host])
    assert written.endswith("}\n")
    told = hooks_of_ours(written)
    assert set(told.events) == {line.event for line in HOSTS[host].lines}
    assert told.commands == (shlex.join(COMMAND),)
    events = hook_hosts.named(host).events
    assert [name for name in told.events if name not in events] == []


def test_claude_code_runs_the_program_itself():
    """The command stands apart from its arguments, and the host waits only where an answer can come back."""
    hooks = json.loads(with_hooks("", host_program("claude-code"), COMMAND))["hooks"]
    (prompt,) = hooks["UserPromptSubmit"]
    assert prompt == {"hooks": [{"type": "command", "command": COMMAND[0], "args": COMMAND[1:], "timeout": 5}]}
    assert hooks["PreToolUse"][0]["matcher"] == "Bash|Edit|Write|MultiEdit|NotebookEdit"
    aside = {event for event, (group,) in hooks.items() if group["hooks"][0].get("async")}
    assert aside == {"PostToolUse", "SubagentStop", "Stop"}
    waiting = json.loads(with_hooks("", host_program("claude-code"), COMMAND, waits=True))["hooks"]
    assert [event for event, (group,) in waiting.items() if "async" in group["hooks"][0]] == []


@pytest.mark.parametrize("host", hook_hosts.HOSTS)
def test_installing_twice_is_installing_once(host):
    """A second time the text is the same byte for byte, whatever its indentation and line ends."""
    before = '{\r\n\t"theme": "dark",\r\n\t"n": [1, 2.5]\r\n}'
    once = with_hooks(before, host_program(host), COMMAND)
    assert with_hooks(once, host_program(host), COMMAND) == once
    assert "\r\n\t" in once
    assert once.count("\n") == once.count("\r\n")
    assert not once.endswith("\n")


@pytest.mark.parametrize("host", hook_hosts.HOSTS)
def test_an_older_install_is_renewed_in_its_place(host):
    """Another command of ours is replaced where it stands; what stands around it keeps its place."""
    one, settings = HOSTS[host].lines[0].event, host_program(host)
    theirs = [{"hooks": [{"type": "command", "command": f"echo {word}"}]} for word in "ab"]
    if settings.shape != "nested":
        theirs = [{"command": "echo a"}, {"command": "echo b"}]
    old = json.loads(with_hooks("", settings, OLDER))
    old["hooks"][one] = [theirs[0], *old["hooks"][one], theirs[1]]
    old["hooks"]["Gone"] = list(old["hooks"][HOSTS[host].lines[1].event])
    new = json.loads(with_hooks(json.dumps(old), settings, COMMAND))
    fresh = json.loads(with_hooks("", settings, COMMAND))
    assert new["hooks"] == fresh["hooks"] | {one: [theirs[0], *fresh["hooks"][one], theirs[1]]}


def test_a_group_that_holds_others_too_keeps_those():
    """A hook of somebody else's in one group with ours stays when ours goes."""
    ours = {"type": "command", "command": "firsthand hook claude-code"}
    theirs = {"type": "command", "command": "echo firsthand"}
    content = json.dumps({"hooks": {"Stop": [{"matcher": "x", "hooks": [ours, theirs]}]}, "a": 1})
    assert json.loads(without_hooks(content)) == {
        "hooks": {"Stop": [{"matcher": "x", "hooks": [theirs]}]},
        "a": 1,
    }


@pytest.mark.parametrize(
    ("handler", "ours"),
    [
        ({"command": "firsthand hook codex"}, True),
        ({"command": "firsthand", "args": ["hook", "codex", "--store", "x"]}, True),
        ({"bash": "'/a b/python' -I /x/firsthand/doors/hook_client.py copilot"}, True),
        ({"command": "C:\\py.exe C:\\lib\\firsthand\\doors\\hook_client.py codex"}, True),
        ({"command": "/usr/bin/python3 -I -S -E /x/firsthand/server/hook_client.py codex"}, True),
        ({"command": "'/home/a b/.local/state/firsthand/firsthand-hook' codex"}, True),
        ({"command": "/home/a/.local/state/firsthand/firsthand-hook", "args": ["claude-code"]}, True),
        ({"command": "/home/a/my-firsthand-hook codex"}, False),
        ({"command": "/home/a/firsthand-hook-of-mine codex"}, False),
        ({"command": "firsthand recall x"}, False),
        ({"command": "/x/other/hook_client.py"}, False),
        ({"type": "prompt", "prompt": "firsthand hook "}, False),
        ("firsthand hook ", False),
    ],
)
def test_ours_is_told_by_its_command(handler, ours):
    """A hook is ours when it runs our client or our command, and only then."""
    assert is_ours(handler) is ours


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
HOOKS = st.dictionaries(
    st.sampled_from(["Stop", "SessionStart", "sessionStart", "Other"]),
    st.lists(JSON, min_size=1, max_size=3),
    max_size=3,
)


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(tuple(hook_hosts.HOSTS)),
    st.dictionaries(st.text(max_size=8).filter(lambda name: name not in {"hooks", "version"}), JSON, max_size=4),
    HOOKS,
    st.sampled_from([None, 2, 4, "\t"]),
)
def test_what_is_not_ours_survives_install_and_uninstall(host, rest, hooks, indent):
    """Whatever else a settings file holds is there after an install, and nothing else after its undoing."""
    told = rest | ({"hooks": hooks} if hooks else {})
    before = json.dumps(told, indent=indent)
    during = with_hooks(before, host_program(host), COMMAND)
    after = without_hooks(during)
    kept = json.loads(after or "{}")
    kept.pop("version", None)
    assert kept == told
    assert [name for name in kept if name != "hooks"] == [name for name in told if name != "hooks"]
    assert {name: json.loads(during)[name] for name in rest} == rest


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"a": 1 "b": 2}', "expected JSON; got Expecting ',' delimiter: line 1 column 9"),
        ("[]", "got list"),
        ('{"hooks": []}', "got list"),
        ('{"hooks": {"Stop": {}}}', "hooks of Stop as a list; got dict"),
        ('{"a": 1, "a": 2}', "'a' stands twice"),
        ("[" * 100_000, "expected JSON"),
    ],
)
def test_what_would_be_harmed_is_refused(content, says):
    """A file that is no JSON, with a name twice, or of another shape is not changed: an error says what it is."""
    for change in (
        lambda: with_hooks(content, host_program("gemini"), COMMAND),
        lambda: without_hooks(content),
        lambda: hooks_of_ours(content),
    ):
        with pytest.raises(FormatError, match=re.escape(says)):
            change()


ENTRIES = {
    "claude-code": ({"type": "stdio", "command": "py", "args": ["-m", "x"]}, {}),
    "gemini": ({"command": "py", "args": ["-m", "x"]}, {"trust": True}),
    "cursor": ({"command": "py", "args": ["-m", "x"]}, {}),
    "vscode": ({"type": "stdio", "command": "py", "args": ["-m", "x"]}, {}),
    "copilot": ({"type": "local", "tools": ["*"], "command": "py", "args": ["-m", "x"]}, {}),
    "codex": (
        {"command": "py", "args": ["-m", "x"]}, {"tools": {tool: {"approval_mode": "approve"} for tool in READ_TOOLS}},
    ),
}  # fmt: skip
KEYS = {"vscode": "servers", "codex": "mcp_servers"}


@pytest.mark.parametrize("host", ENTRIES)
def test_a_server_is_registered_as_the_host_documents(host):
    """The entry has the host's members, leave only when asked for, keeps that when renewed, and goes whole."""
    program, (entry, leave) = host_program(host), ENTRIES[host]
    text = with_server("", program, ["py", "-m", "x"])
    read = tomllib.loads(text) if host == "codex" else json.loads(text)
    assert read == {KEYS.get(host, "mcpServers"): {"firsthand": entry}}
    allowed = with_server(text, program, ["py", "-m", "x"], allow=True)
    assert server_of_ours(allowed, program) == entry | leave
    assert with_server(allowed, program, ["py", "-m", "x"]) == allowed
    assert server_of_ours(with_server(allowed, program, ["other"]), program) == entry | leave | {
        "command": "other", "args": [],
    }  # fmt: skip
    assert without_server(allowed, program) == ""
    assert server_of_ours("", program) is None


@pytest.mark.parametrize(
    "text", ["mcp_servers = {a = {command = 'x'}}\n", "a = [", "mcp_servers.firsthand.command = 'x'\n"]
)
def test_tables_of_codex_that_cannot_be_edited_are_refused(text):
    """Servers in an inline table or by dotted names, and a torn file, are left as they are."""
    with pytest.raises(FormatError, match="Nothing was changed"):
        with_server(text, host_program("codex"), ["py"])


def test_leave_of_claude_code_names_the_tools_that_only_read():
    """What was allowed stays in its order; nothing that writes is allowed."""
    before = '{"permissions": {"allow": ["Bash(ls:*)"], "deny": ["Read(.env)"]}}'
    once = with_leave(before)
    assert json.loads(once)["permissions"] == {
        "allow": ["Bash(ls:*)", *(f"mcp__firsthand__{tool}" for tool in ("recall", "expand", "timeline", "health"))],
        "deny": ["Read(.env)"],
    }
    assert with_leave(once) == once
    assert without_leave(once) == before
    assert without_leave(with_leave("")) == ""
    for other in ('{"permissions": []}', '{"permissions": {"allow": "all"}}'):
        assert without_leave(other) == other
        with pytest.raises(FormatError, match="expected permissions"):
            with_leave(other)


def test_tools_that_only_read_are_those_of_the_server():
    """The names that hosts are told are those of the server's tools, without the ones that write."""
    writes = {tool.name for tool in TOOLS} - {*READ_TOOLS}
    assert writes == {"remember", "decide"}


def test_an_unknown_host_has_no_settings():
    """A name that is no host's is an error that lists the hosts; every host has settings."""
    assert tuple(HOSTS) == tuple(hook_hosts.HOSTS)
    with pytest.raises(InvalidArgument, match="got 'emacs'"):
        host_program("emacs")
