"""firsthand install and uninstall, on the files of a user's home and of a project."""

from __future__ import annotations

import json
import re
import shutil
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import firsthand
from firsthand import Memory, environment
from firsthand.agents.agent import agents_of
from firsthand.agents.settings import load
from firsthand.cli import settings_files
from firsthand.errors import FormatError, InvalidArgument
from firsthand.hosts.host_table import HOSTS
from firsthand.hosts.installation import installed
from firsthand.hosts.installer import Change, Plan, backups, plan_install
from firsthand.server import launcher

ROOT = Path(__file__).resolve().parents[2]
EARLIER = (
    "/gone/bin/python -I -S -E /gone/firsthand/doors/hook_client.py",
    f"{sys.executable} -I -S -E {launcher.hook_client.__file__}",
)
"""What versions before this one wrote."""
THEIRS = '{\n    "model": "opus",\n    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo hi"}]}]}\n}\n'
USER_FILES = {
    "claude-code": (".claude/settings.json", ".claude.json"),
    "codex": (".codex/hooks.json", ".codex/config.toml"),
    "gemini": (".gemini/settings.json",),
    "cursor": (".cursor/hooks.json", ".cursor/mcp.json"),
    "vscode": (".config/Code/User/mcp.json",),
    "copilot": (".copilot/hooks/firsthand.json", ".copilot/mcp-config.json"),
}
PROJECT_FILES = {
    "claude-code": (".claude/settings.local.json", ".mcp.json"),
    "codex": (".codex/hooks.json",),
    "gemini": (".gemini/settings.json",),
    "cursor": (".cursor/hooks.json", ".cursor/mcp.json", ".cursor/rules/firsthand.mdc"),
    "vscode": (".github/hooks/firsthand.json", ".vscode/mcp.json"),
    "copilot": (".github/hooks/firsthand-copilot.json",),
}


@pytest.fixture(autouse=True)
def _a_machine_of_its_own(monkeypatch, tmp_path):
    """No variable and no program of this machine's hosts."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "no programs"))
    monkeypatch.setattr(sys, "platform", "linux")


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("host", USER_FILES)
def test_a_user_installs_and_uninstalls(shell, host):
    """In an empty home the host's files are made, a second run changes no byte, and all of them go again."""
    done = shell("install", host, "--yes", "--allow-tools", "--json")
    assert done.code == 0
    files = files_below(shell.home)
    assert {*files} == {*USER_FILES[host], "store/settings.json"}
    assert load(shell.store).tools == (host,)
    assert done.json["changed"] == [str(shell.home / name) for name in USER_FILES[host]]
    assert shell("install", host, "--yes").lines[0] == f"{host}: installed already"
    assert files_below(shell.home) == files
    for told in installed(shell.home):
        assert (told.host, told.scope, told.current, told.fault) == (host, "user", True, "")
    assert shell("uninstall", host, "--yes").code == 0
    assert files_below(shell.home) == {}
    assert shell("uninstall", host, "--yes").lines[0] == f"{host}: nothing of firsthand is there"


@pytest.mark.parametrize("host", PROJECT_FILES)
def test_a_project_installs_and_uninstalls(shell, host):
    """With --project everything lies below the project's folder, and nothing of it is left after an uninstall."""
    project = shell.home / "a project"
    project.mkdir()
    assert shell("install", host, "--yes", "--project", project).code == 0
    assert {*files_below(project)} == {*PROJECT_FILES[host]}
    assert shell("uninstall", host, "--yes", "--project", project).code == 0
    assert files_below(project) == {}


HARD = {
    "plain": b'{\n    "model": "opus",\n    "hooks": {\n        "Stop": []\n    }\n}\n',
    "empty object": b"{}",
    "empty": b"",
    "mark and CRLF": b'\xef\xbb\xbf{\r\n\t"a": 1,\r\n\t"mcpServers": {\r\n\t}\r\n}',
    "odd": b'{"a" :1   ,\n\n      "hooks":{"Stop" : [ {"hooks":[]} ]}, "mcpServers":{"x": {"command":"y"}}}   \n\n',
}
COMMENTED = {
    "comments": b'// mine\n{\n  "a": 1, // one\n  /* two */ "mcpServers": {\n    // none\n  }, // end\n}\n',
    "trailing commas": b'{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo"},]},],}, "b": [1,],}',
}
TOMLS = {
    "tables": b'model = "x" # mine\n[mcp_servers.other]\ncommand = "y"\n\n[z]\nq = 1\n',
    "tables and blank lines": b'[mcp_servers]\n[mcp_servers.a]\ncommand="q"\n\n\n[[x]]\na=1\n\n# end\n',
    "no line end": b'model = "x"',
    "CRLF": b"a = 1\r\n\r\n[b]\r\nc = 2\r\n",
    "empty": b"",
}


def _cases():
    for host, names in USER_FILES.items():
        for name in names:
            kinds = TOMLS if name.endswith(".toml") else HARD if host == "claude-code" else {**HARD, **COMMENTED}
            yield from ((host, name, kind, content) for kind, content in kinds.items())


@pytest.mark.parametrize(("host", "name", "content"), [pytest.param(h, n, c, id=f"{n}-{k}") for h, n, k, c in _cases()])
def test_every_file_comes_back_byte_for_byte(shell, host, name, content):
    """Whatever a host's file looks like, and with a link in its place: after an uninstall the very bytes are back."""
    path, real = shell.home / name, shell.home / "dotfiles" / "settings"
    path.parent.mkdir(parents=True, exist_ok=True)
    real.parent.mkdir()
    real.write_bytes(content)
    path.symlink_to(real)
    real.chmod(0o640)
    assert shell("install", host, "--yes", "--allow-tools").code == 0
    assert real.read_bytes() != content
    assert shell("uninstall", host, "--yes").code == 0
    assert path.is_symlink()
    assert (real.read_bytes(), real.stat().st_mode & 0o777) == (content, 0o640)
    assert files_below(shell.home) == {name: content, "dotfiles/settings": content}


def test_what_others_wrote_since_stays_and_is_said(shell):
    """What somebody changed between install and uninstall stays, ours alone goes, and the copy from before is named."""
    settings, config = shell.home / ".gemini" / "settings.json", shell.home / ".codex" / "config.toml"
    for path, content in ((settings, COMMENTED["comments"]), (config, TOMLS["tables"])):
        path.parent.mkdir()
        path.write_bytes(content)
    shell("install", "--yes")
    settings.write_bytes(settings.read_bytes().replace(b'"a": 1,', b'"a": 2, // changed'))
    config.write_bytes(config.read_bytes() + b'\n[hooks.state."x"]\ntrusted_hash = "y"\n')
    said = shell("uninstall", "--yes")
    assert settings.read_bytes() == COMMENTED["comments"].replace(b'"a": 1,', b'"a": 2, // changed')
    assert config.read_bytes() == TOMLS["tables"] + b'\n[hooks.state."x"]\ntrusted_hash = "y"\n'
    for path in (settings, config):
        assert (
            f"{path} was changed since the install, and keeps that; as it was before: {backups(path)[0]}" in said.error
        )
        assert backups(path)[0].exists()


def test_what_was_there_is_kept_beside_what_is_ours(shell):
    """A user's hooks and settings stay in their order, ours stand behind them, and a copy is kept."""
    path = shell.home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(THEIRS, encoding="utf-8")
    said = shell("install", "claude-code", "--yes", "--store", shell.home / "s t", "--namespace", "team")
    copy = path.with_name("settings.json.before-firsthand")
    assert said.error.startswith(f"  what was there is kept in {copy}\n")
    assert copy.read_text(encoding="utf-8") == THEIRS
    settings = json.loads(path.read_bytes())
    assert "permissions" not in settings
    assert settings["hooks"]["Stop"][0] == json.loads(THEIRS)["hooks"]["Stop"][0]
    assert settings["hooks"]["Stop"][1]["hooks"][0] == {
        "type": "command",
        "command": str(launcher.path()),
        "args": ["claude-code", "--store", str(shell.home / "s t"), "--namespace", "team"],
        "timeout": 10,
        "async": True,
    }  # fmt: skip
    server = json.loads((shell.home / ".claude.json").read_bytes())["mcpServers"]["firsthand"]
    assert server["args"][-5:] == ["mcp", "--store", str(shell.home / "s t"), "--namespace", "team"]


def test_an_older_copy_is_never_written_over(shell):
    """A second install over other settings keeps a second copy beside the first."""
    path = shell.home / ".codex" / "hooks.json"
    path.parent.mkdir()
    for content in ('{"a": 1}', '{"b": 2}', '{"a": 1}'):
        path.write_text(content, encoding="utf-8")
        shell("install", "codex", "--yes")
    first, second = backups(path)[:2]
    assert (first.read_text(), second.read_text()) == ('{"a": 1}', '{"b": 2}')
    assert not backups(path)[2].exists()


def test_a_dry_run_shows_and_writes_nothing(shell):
    """--dry-run prints the difference, as JSON the whole content, and no file is made."""
    said = shell("install", "gemini", "--dry-run")
    assert said.error == "gemini: nothing was written\n"
    assert '+    "BeforeAgent": [' in said.lines
    (change,) = shell("install", "gemini", "--dry-run", "--json").json["changes"]
    assert change["path"] == str(shell.home / ".gemini" / "settings.json")
    assert {"hooks", "mcpServers"} == {*json.loads(change["after"])}
    assert files_below(shell.home) == {}


# agreement -----------------------------------------------------------------------------------------


def test_without_a_terminal_nothing_is_changed_but_by_yes(shell):
    """A script is told what would change and what to type; nothing is written, by install and by uninstall."""
    said = shell("install", "codex")
    assert (said.code, files_below(shell.home)) == (5, {})
    assert said.lines == ["Codex:", *(f"  writes {shell.home / name} ({what})" for name, what in (
        (".codex/hooks.json", "hooks"), (".codex/config.toml", "MCP server")))]  # fmt: skip
    assert "type: firsthand install codex --yes" in said.error
    shell("install", "codex", "--yes")
    files = files_below(shell.home)
    said = shell("uninstall")
    assert (said.code, files_below(shell.home)) == (5, files)
    assert "type: firsthand uninstall --yes" in said.error


def test_a_terminal_is_asked(shell):
    """On a terminal no means that nothing is written; after yes tools, redaction and past sessions are asked for."""
    answers = {"n\n": set(), "y\ny\ny\nn\n": {*USER_FILES["codex"]}}
    settings = {"PATH": "/nowhere", "FIRSTHAND_DAEMON": "off", "XDG_STATE_HOME": str(shell.home / "state"),
                "XDG_RUNTIME_DIR": str(shell.home / "run")}  # fmt: skip
    for answer, names in answers.items():
        said = shell.on_terminal("install", "codex", answer=answer.encode(), **settings)
        assert "Go on? A copy of each file is kept beside it. [Y/n]" in said.text
        assert names <= {*files_below(shell.home)}
        assert (shell.home / ".codex").exists() is bool(names)
    config = tomllib.loads((shell.home / ".codex/config.toml").read_text())["mcp_servers"]["firsthand"]
    assert config["tools"]["recall"] == {"approval_mode": "approve"}
    assert load(shell.store).redact


def test_without_a_name_the_hosts_that_are_here_are_found(shell, monkeypatch):
    """A host's folder, or its program on PATH, is enough; on an empty machine the names of hosts are said."""
    said = shell("install", "--yes")
    assert (said.code, said.out) == (1, b"")
    assert ", ".join(HOSTS) in said.error
    (shell.home / ".cursor").mkdir()
    programs = shell.home / "bin"
    programs.mkdir()
    (programs / "gemini").write_text("#!/bin/sh\n")
    (programs / "gemini").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    assert [told["host"] for told in shell("install", "--yes", "--json").json_lines] == ["gemini", "cursor"]


def test_one_host_that_is_refused_does_not_hold_up_another(shell):
    """A torn file of one host is told, the others are installed, and the exit code says that one was not."""
    for name in (".codex/hooks.json", ".cursor/hooks.json"):
        (shell.home / name).parent.mkdir()
        (shell.home / name).write_text("{" if "codex" in name else "{}")
    said = shell("install", "--yes")
    assert said.code == 5
    assert f"firsthand: codex: {shell.home / '.codex/hooks.json'}: expected JSON" in said.error
    assert "hooks" in json.loads((shell.home / ".cursor/hooks.json").read_bytes())
    assert (shell.home / ".codex/hooks.json").read_text() == "{"


def test_an_interpreter_that_passes_is_refused(shell, monkeypatch):
    """From uvx's cache nothing is installed, since hooks would name what is deleted; the error says what to type."""
    for prefix in ("/home/a/.cache/uv/archive-v0/x", "/w/uv/environments-v2/y", "/Users/a/Library/Caches/pipx/z"):
        monkeypatch.setattr(sys, "prefix", prefix)
        said = shell("install", "codex", "--yes")
        assert (said.code, files_below(shell.home)) == (5, {})
        assert "Run: uv tool install 'firsthand[agents]', then: firsthand install" in said.error
    monkeypatch.setenv("UV_CACHE_DIR", "/big/disk")
    monkeypatch.setattr(sys, "prefix", "/big/disk/x/y")
    assert "is uv's cache" in shell("install", "codex", "--yes").error


@pytest.mark.parametrize(
    ("prefix", "command", "removal"),
    [
        ("/home/a/.local/share/uv/tools/firsthand", "uv tool install --force", "uv tool uninstall firsthand"),
        ("/home/a/.local/share/pipx/venvs/firsthand", "pipx install --force", "pipx uninstall firsthand"),
        ("/home/a/venv", f"{sys.executable} -m pip install", f"{sys.executable} -m pip uninstall firsthand"),
    ],
)
def test_what_is_missing_is_named_with_the_command_that_brings_it(shell, monkeypatch, prefix, command, removal):
    """Without the extra hooks are installed, and the command for MCP is right for how Firsthand was installed."""
    monkeypatch.setattr(sys, "prefix", prefix)
    monkeypatch.setattr("firsthand.cli.install.find_spec", lambda _: None)
    said = shell("install", "codex", "--yes")
    assert {*files_below(shell.home)} == {".codex/hooks.json"}
    assert (
        f"MCP server and inspector need more packages: {command} '{ROOT}[agents]', then: firsthand install" in said.text
    )
    assert load(shell.store).tools == ()
    assert environment.removal_command() == removal


# Claude Code's own ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "what"), [('{"a": 1 // mine\n}', "a comment in line 1"), ('{\n"a": 1,}', "a comma before")]
)
@pytest.mark.parametrize("name", [".claude/settings.json", ".claude.json"])
def test_what_claude_code_would_ignore_is_refused(shell, name, content, what):
    """Settings with a comment or a trailing comma, of which Claude Code reads nothing, are told with the line."""
    path = shell.home / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(content, encoding="utf-8")
    said = shell("install", "claude-code", "--yes")
    assert said.code == 5
    assert f"{path} has {what}" in said.error
    assert "Claude Code reads it as plain JSON and ignores all of it" in said.error
    assert files_below(shell.home) == {name: content.encode()}


def test_claude_code_is_told_of_the_server_by_its_own_command(shell, monkeypatch):
    """With its program on PATH the server is added and removed by that, once, and renewed when it is another."""
    programs = shell.home / "bin"
    programs.mkdir()
    script = f"""#!{sys.executable}
import json, pathlib, sys
path = pathlib.Path({str(shell.home)!r}, ".claude.json")
state = json.loads(path.read_text()) if path.exists() else {{"numStartups": 1}}
servers = state.setdefault("mcpServers", {{}})
assert sys.argv[1] == "mcp" and sys.argv[3:6] == ["--scope", "user", "firsthand"], sys.argv
if sys.argv[2] == "add":
    if "firsthand" in servers or sys.argv[6] != "--":
        sys.exit("it is there already")
    servers["firsthand"] = {{"type": "stdio", "command": sys.argv[7], "args": sys.argv[8:], "env": {{}}}}
else:
    del servers["firsthand"]
path.write_text(json.dumps(state))
"""
    (programs / "claude").write_text(script)
    (programs / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    state = shell.home / ".claude.json"
    for options in ((), (), ("--namespace", "other")):
        assert shell("install", "claude-code", "--yes", "--allow-tools", *options).error.count("ended with") == 0
        server = json.loads(state.read_bytes())["mcpServers"]["firsthand"]
        assert server["args"] == ["-P", "-m", "firsthand", "mcp", *options]
    assert load(shell.store).tools == ("claude-code",)
    said = shell("uninstall", "--yes")
    assert json.loads(state.read_bytes()) == {"numStartups": 1, "mcpServers": {}}
    assert f"{state} is rewritten by Claude Code all the time" in said.error
    (programs / "claude").write_text("#!/bin/sh\necho broken >&2; exit 3\n")
    said = shell("install", "claude-code", "--yes")
    assert "ended with 3: broken" in said.error
    assert load(shell.store).tools == ()


# writing -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", ["[]", '{"hooks": 3}', "\ufeff{,}"])
def test_settings_of_another_shape_are_refused_unharmed(shell, content):
    """A file that is no JSON, or of another shape, is left alone; no copy is made, and it is told as a fault."""
    path = shell.home / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_text(content, encoding="utf-8")
    for command in ("install", "uninstall"):
        said = shell(command, "gemini", "--yes")
        assert said.code == 5
        assert "expected" in said.error
    assert files_below(shell.home) == {".gemini/settings.json": content.encode()}
    (told,) = installed(shell.home)
    assert (told.events, told.current) == ((), False)
    assert str(path) in told.fault


@pytest.mark.parametrize("options", [("claude-code",), ("--everything",)])
def test_permissions_of_another_shape_hold_up_no_uninstall(shell, options):
    """Hooks that were written beside permissions of another shape are taken out again, and every byte comes back."""
    path = shell.home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(content := '{"permissions":{"allow":"all"}}', encoding="utf-8")
    environment = {"PATH": "/nowhere", "XDG_STATE_HOME": str(shell.home / "state")}
    assert shell.process("install", "claude-code", "--yes", **environment).code == 0
    assert "hooks" in path.read_text(encoding="utf-8")
    assert shell.process("uninstall", *options, "--yes", **environment).code == 0
    assert path.read_text(encoding="utf-8") == content
    assert [file.name for file in path.parent.iterdir()] == ["settings.json"]


def test_read_only_settings_are_refused(shell):
    """A file without a write permission is not gone round by replacing it."""
    path = shell.home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(THEIRS, encoding="utf-8")
    path.chmod(0o444)
    said = shell("install", "claude-code", "--yes")
    assert (said.code, "is read-only. Make it writable" in said.error) == (5, True)
    assert path.read_text(encoding="utf-8") == THEIRS


def test_when_one_file_cannot_be_changed_none_is(shell):
    """A plan of several files that fails at one writes nothing at all."""
    (shell.home / ".cursor" / "mcp.json").mkdir(parents=True)
    plan = plan_install("cursor", ["firsthand", "hook", "cursor"], home=shell.home / "other", server=["py"])
    broken = Plan("cursor", (*plan.changes[:1], Change(shell.home / ".cursor", "x", None, b"")))
    with pytest.raises(InvalidArgument, match="something else is there"):
        settings_files.write(broken)
    assert not (shell.home / "other").exists()


def test_a_file_written_meanwhile_is_read_again(shell):
    """A change between reading and writing makes the plan be made anew, so that it is not lost."""
    path = shell.home / ".codex" / "hooks.json"
    path.parent.mkdir()
    path.write_text('{"a": 1}', encoding="utf-8")
    plan = plan_install("codex", ["firsthand", "hook", "codex"], home=shell.home)
    path.write_text('{"a": 2}', encoding="utf-8")
    assert settings_files.write(plan) is None
    assert files_below(shell.home) == {".codex/hooks.json": b'{"a": 2}'}


def test_many_installs_at_once_leave_one_whole_file(shell):
    """Several writers at once leave valid settings with every event once, and no scratch file."""
    command = ["firsthand", "hook", "codex"]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: settings_files.write(plan_install("codex", command, home=shell.home)), range(20)))
    hooks = json.loads((shell.home / ".codex" / "hooks.json").read_bytes())["hooks"]
    assert {len(groups) for groups in hooks.values()} == {1}
    assert [name for name in files_below(shell.home) if "before" not in name] == [".codex/hooks.json"]


def test_settings_that_are_no_text_are_refused(shell):
    """Bytes that are no UTF-8 are not rewritten."""
    path = shell.home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(FormatError, match="UTF-8"):
        plan_install("claude-code", ["x"], home=shell.home)


def test_tool_output_makes_the_host_wait_and_switches_it_on(shell):
    """--tool-output installs without async and sets the switch, of the user or of the whole project of a folder."""
    project = shell.home / "p"
    deep = project / "src" / "deep"
    deep.mkdir(parents=True)
    (project / ".git").mkdir()
    shell("install", "claude-code", "--yes", "--project", deep, "--tool-output")
    hooks = json.loads((deep / ".claude" / "settings.local.json").read_bytes())["hooks"]
    assert "async" not in hooks["PostToolUse"][0]["hooks"][0]
    assert [load(shell.store, str(folder)).tool_output for folder in (deep, project, shell.home)] == [True, True, False]
    shell("install", "claude-code", "--yes", "--tool-output")
    assert load(shell.store).tool_output


def test_redaction_is_off_until_it_is_asked_for(shell):
    """Installing leaves it off, --redact switches it on for the user, and says how it is undone."""
    shell("install", "claude-code", "--yes")
    assert not load(shell.store).redact
    done = shell("install", "claude-code", "--yes", "--redact")
    assert load(shell.store).redact
    assert "firsthand agent switch redact off" in done.error


def test_past_sessions_are_taken_in_when_asked_for(shell):
    """--import reads what the hosts kept before the install; without it the command is named."""
    transcript = shell.home / ".claude" / "projects" / "p" / "5d1c9f1e-0000-4000-8000-000000000000.jsonl"
    transcript.parent.mkdir(parents=True)
    line = {
        "parentUuid": None, "type": "user", "uuid": "a", "sessionId": transcript.stem,
        "timestamp": "2026-01-01T00:00:00Z", "message": {"role": "user", "content": "remember the heron"},
    }  # fmt: skip
    transcript.write_text(json.dumps(line) + "\n")
    assert "past sessions: firsthand import" in shell("install", "--yes").lines
    assert not (shell.store / "firsthand.db").exists()
    assert shell("install", "--yes", "--import").code == 0
    with Memory(shell.store) as memory:
        assert [event.text for event in memory.events()] == ["remember the heron"]
        assert memory.verify().ok


def test_imported_sessions_become_those_of_the_agents_of_their_folders(shell):
    """Of a usual place, where the folder is still there and recorded; a file named by itself is nobody's yet."""
    work, quiet = (shell.home / name for name in ("work", "quiet"))
    for number, cwd in enumerate((work, quiet, shell.home / "gone", work, "x" * 5_000)):
        if number in (0, 1):
            cwd.mkdir()
        transcript = shell.home / ".claude" / "projects" / "p" / f"5d1c9f1e-0000-4000-8000-00000000000{number}.jsonl"
        transcript.parent.mkdir(parents=True, exist_ok=True)
        line = {
            "parentUuid": None, "type": "user", "uuid": f"{number}", "sessionId": transcript.stem, "cwd": str(cwd),
            "timestamp": "2026-01-01T00:00:00Z", "message": {"role": "user", "content": f"heron {number}"},
        }  # fmt: skip
        transcript.write_text(json.dumps(line) + "\n")
    shell.store.mkdir(mode=0o700)
    (shell.store / "settings.json").write_text(json.dumps({"projects": {str(quiet): {"record": False}}}))
    assert shell("import", transcript.with_name("5d1c9f1e-0000-4000-8000-000000000000.jsonl")).code == 0
    with Memory(shell.store) as memory:
        assert agents_of(memory) == ()
    assert shell("import", shell.home / ".claude" / "projects").code == 0
    with Memory(shell.store) as memory:
        (agent,) = agents_of(memory)
        assert [name[-1] for name in agent.sessions()] == ["0", "3"]
        assert agent.name.startswith("work-")
        assert memory.verify().ok


def test_an_edited_rule_of_cursor_is_not_taken_away(shell):
    """A rule that the user has changed is theirs: an uninstall leaves it."""
    project = shell.home / "p"
    project.mkdir()
    shell("install", "cursor", "--yes", "--project", project)
    rule = project / ".cursor" / "rules" / "firsthand.mdc"
    assert "`recall`" in rule.read_text()
    rule.write_text("mine", encoding="utf-8")
    shell("uninstall", "cursor", "--yes", "--project", project)
    assert rule.read_text(encoding="utf-8") == "mine"


def test_the_hosts_own_variables_name_their_folders(shell, monkeypatch):
    """CLAUDE_CONFIG_DIR and CODEX_HOME lead to the files that the hosts read."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(shell.home / "cc"))
    monkeypatch.setenv("CODEX_HOME", str(shell.home / "cx"))
    shell("install", "claude-code", "--yes")
    shell("install", "codex", "--yes")
    names = {"cc/settings.json", "cc/.claude.json", "cx/hooks.json", "cx/config.toml", "store/settings.json"}
    assert {*files_below(shell.home)} == names


def test_an_outdated_install_is_told_and_renewed(shell):
    """Hooks whose program is gone, or with an event missing, are out of date until installed again."""
    shell("install", "codex", "--yes")
    path = shell.home / ".codex" / "hooks.json"
    now = path.read_text(encoding="utf-8")
    for older in (
        *(now.replace(str(launcher.path()), command) for command in EARLIER),
        now.replace('"Stop"', '"Interrupt"'),
    ):
        path.write_text(older, encoding="utf-8")
        (told,) = installed(shell.home)
        assert (told.current, len(told.events), told.fault) == (False, 10, "")
        shell("install", "codex", "--yes")
        assert json.loads(path.read_bytes()) == json.loads(now)
        assert installed(shell.home)[0].current


def test_hooks_that_the_host_holds_back_are_told(shell):
    """Codex runs no hook that is not trusted: install says so by event, until its configuration names them all."""
    said = shell("install", "codex", "--yes")
    path = shell.home / ".codex" / "hooks.json"
    (told,) = installed(shell.home)
    assert (told.current, told.held.untrusted) == (True, tuple(json.loads(path.read_bytes())["hooks"]))
    assert "held back by codex: never trusted: SessionStart, UserPromptSubmit" in said.text
    states = "".join(
        f'[hooks.state."{path}:{name}:0:0"]\ntrusted_hash = "sha256:another"\n'
        for name in ("session_start", "user_prompt_submit")
    )
    (path.parent / "config.toml").write_text(states, encoding="utf-8")
    assert installed(shell.home)[0].held.changed == ("SessionStart", "UserPromptSubmit")
    (path.parent / "config.toml").write_text("hooks = [", encoding="utf-8")
    assert "expected Codex' configuration in TOML" in installed(shell.home)[0].fault


@pytest.mark.parametrize("arguments", [["emacs"], ["codex", "--project", "/no/such/folder"]])
def test_what_cannot_be_installed_is_refused(shell, arguments):
    """An unknown host and a project that is not there are errors that say what was expected."""
    for command in ("install", "uninstall"):
        said = shell(command, "--yes", *arguments)
        assert said.code == 5
        assert said.error.startswith("firsthand: expected")


# everything ----------------------------------------------------------------------------------------


def test_everything_goes_and_the_store_only_when_its_path_is_typed(shell):
    """--everything removes hosts, programs and spool; the store only with its path typed, and never files of others."""
    settings = {"PATH": "/nowhere", "XDG_STATE_HOME": str(shell.home / "state"),
                "XDG_RUNTIME_DIR": str(shell.home / "run")}  # fmt: skip
    store = shell.store
    assert shell.process("install", "codex", "--yes", **settings).code == 0
    shell.append("kept for now")
    late = store / "hooks" / "late"
    late.mkdir(parents=True)
    (late / "0-x.0.call").write_bytes(b"")
    said = shell.on_terminal("uninstall", "--everything", "--yes", answer=b"yes\n", **settings)
    assert "the spool with 1 calls" in said.text
    assert f"the store stays: {store}" in said.text
    assert (store / "firsthand.db").exists()
    assert not (shell.home / ".codex" / "hooks.json").exists()
    (store / "mine.txt").write_text("x")
    said = shell.on_terminal("uninstall", "--everything", "--yes", answer=f"{store}\n".encode(), **settings)
    assert [path.name for path in store.iterdir()] == ["mine.txt"]
    assert "it has 1 files of others, such as mine.txt" in said.text
    assert not (shell.home / "state" / "firsthand").exists()
    shutil.rmtree(store)


# the plugin ----------------------------------------------------------------------------------------

PLUGIN = ROOT / "plugins" / "claude-code"


def test_the_plugins_hooks_are_those_that_install_writes(shell):
    """The plugin hooks the same events with the same matchers and timeouts, by the command on PATH."""
    shell("install", "claude-code", "--yes")
    wanted = json.loads((shell.home / ".claude" / "settings.json").read_bytes())["hooks"]
    for groups in wanted.values():
        groups[0]["hooks"][0] |= {"command": "firsthand", "args": ["hook", "claude-code"]}
    assert json.loads((PLUGIN / "hooks" / "hooks.json").read_bytes())["hooks"] == wanted


def test_the_plugin_is_whole():
    """Manifest, marketplace, server and skill name one another, with the package's version."""
    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_bytes())
    market = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_bytes())
    (offered,) = market["plugins"]
    assert (ROOT / offered["source"]).resolve() == PLUGIN
    assert manifest["name"] == offered["name"] == "firsthand"
    assert manifest["version"] == offered["version"] == firsthand.__version__
    servers = json.loads((PLUGIN / ".mcp.json").read_bytes())
    assert servers == {"mcpServers": {"firsthand": {"command": "firsthand", "args": ["mcp"]}}}
    skill = (PLUGIN / "skills" / "firsthand-memory" / "SKILL.md").read_text(encoding="utf-8")
    head = re.match(r"---\nname: ([a-z-]+)\ndescription: ([^\n]+)\n---\n", skill)
    assert head is not None
    assert head[1] == "firsthand-memory"
    assert len(head[2]) < 1_024
    assert len(skill) < 4_000
