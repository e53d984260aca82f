"""firsthand install and uninstall, on the files of a user's home and of a project."""

from __future__ import annotations

import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import firsthand
from firsthand import FormatError, InvalidArgument
from firsthand.agents.installation import installed
from firsthand.agents.installer import Change, Plan, backups, plan_install, plan_uninstall
from firsthand.agents.settings import load
from firsthand.cli import install as door
from firsthand.server import launcher

ROOT = Path(__file__).resolve().parents[2]
EARLIER = (
    "/gone/bin/python -I -S -E /gone/firsthand/doors/hook_client.py",
    f"{sys.executable} -I -S -E {launcher.hook_client.__file__}",
)
"""What versions before this one wrote."""
THEIRS = '{\n    "model": "opus",\n    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo hi"}]}]}\n}\n'
USER_FILES = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "cursor": ".cursor/hooks.json",
    "copilot": ".copilot/hooks/firsthand.json",
}
PROJECT_FILES = {
    "claude-code": ".claude/settings.local.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "cursor": ".cursor/hooks.json",
    "vscode": ".github/hooks/firsthand.json",
    "copilot": ".github/hooks/firsthand-copilot.json",
}


@pytest.fixture(autouse=True)
def _no_host_folders(monkeypatch):
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)


def files_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("host", USER_FILES)
def test_a_user_installs_and_uninstalls(shell, host):
    """In an empty home the hosts' own file is made, told as current, unchanged by a second run, and goes again."""
    path = shell.home / USER_FILES[host]
    done = shell("install", host, "--json")
    assert done.code == 0
    assert done.json["changed"][0] == str(path)
    assert done.json["to_do"] != []
    before = path.read_bytes()
    assert str(launcher.path()) in before.decode()
    again = shell("install", host, "--user")
    assert again.lines[0] == f"{host}: already installed; {path} stays as it is"
    assert path.read_bytes() == before
    (told,) = [line for line in shell("install", "--json").json_lines if line["where"] == str(path)]
    assert (told["host"], told["scope"], told["current"], told["fault"]) == (host, "user", True, "")
    assert shell("install", host, "--remove").code == 0
    assert files_below(shell.home) == set()
    assert (
        shell("install", host, "--remove").lines[0] == f"{host}: nothing of firsthand is there; {path} stays as it is"
    )


@pytest.mark.parametrize("host", PROJECT_FILES)
def test_a_project_installs_and_uninstalls(shell, host):
    """With --project everything lies below the project's folder, and nothing of it is left after an uninstall."""
    project = shell.home / "a project"
    project.mkdir()
    assert shell("install", host, "--project", project).code == 0
    assert PROJECT_FILES[host] in files_below(project)
    assert files_below(shell.home) == {f"a project/{name}" for name in files_below(project)}
    assert shell("install", host, "--remove", "--project", project).code == 0
    assert files_below(project) == set()


def test_settings_that_were_there_come_back_byte_for_byte(shell):
    """What a user had stays as it was, a copy is kept, and an uninstall gives the very bytes back."""
    path = shell.home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(THEIRS, encoding="utf-8")
    path.chmod(0o640)
    said = shell("install", "claude-code", "--store", shell.home / "s t", "--namespace", "team")
    copy = path.with_name("settings.json.before-firsthand")
    assert said.error.startswith(f"  what was there is kept in {copy}\n")
    assert copy.read_text(encoding="utf-8") == THEIRS
    told = json.loads(path.read_bytes())
    assert told["model"] == "opus"
    assert told["hooks"]["Stop"][0] == json.loads(THEIRS)["hooks"]["Stop"][0]
    assert told["hooks"]["Stop"][1]["hooks"][0] == {
        "type": "command",
        "command": str(launcher.path()),
        "args": ["claude-code", "--store", str(shell.home / "s t"), "--namespace", "team"],
        "timeout": 10,
        "async": True,
    }  # fmt: skip
    assert path.stat().st_mode & 0o777 == 0o640
    shell("install", "claude-code", "--remove")
    assert path.read_text(encoding="utf-8") == THEIRS
    assert files_below(shell.home) == {".claude/settings.json"}


def test_what_was_changed_since_is_kept_by_an_uninstall(shell):
    """A setting that the user wrote after the install stays; the older copy stays too and is not put back."""
    path = shell.home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(THEIRS, encoding="utf-8")
    shell("install", "claude-code")
    told = json.loads(path.read_bytes())
    path.write_text(json.dumps(told | {"model": "sonnet"}), encoding="utf-8")
    shell("install", "claude-code", "--remove")
    assert json.loads(path.read_bytes()) == json.loads(THEIRS) | {"model": "sonnet"}
    assert path.with_name("settings.json.before-firsthand").read_text(encoding="utf-8") == THEIRS


def test_an_older_copy_is_never_written_over(shell):
    """A second install over other settings keeps a second copy beside the first."""
    path = shell.home / ".codex" / "hooks.json"
    path.parent.mkdir()
    for content in ('{"a": 1}', '{"b": 2}', '{"a": 1}'):
        path.write_text(content, encoding="utf-8")
        shell("install", "codex")
    first, second = backups(path)[:2]
    assert (first.read_text(), second.read_text()) == ('{"a": 1}', '{"b": 2}')
    assert not backups(path)[2].exists()


def test_a_dry_run_shows_and_writes_nothing(shell):
    """--dry-run prints the difference, as JSON the whole content, and no file is made."""
    said = shell("install", "gemini", "--dry-run")
    assert said.error == "nothing was written\n"
    assert '+    "BeforeAgent": [' in said.lines
    assert any("gemini mcp add" in line or "no MCP server" in line for line in said.lines)
    (change,) = shell("install", "gemini", "--dry-run", "--json").json["changes"]
    assert change["path"] == str(shell.home / ".gemini" / "settings.json")
    assert "BeforeAgent" in json.loads(change["after"])["hooks"]
    assert files_below(shell.home) == set()


def test_a_link_is_followed(shell):
    """Settings that are a link stay one: the file that it leads to is changed."""
    real = shell.home / "dotfiles" / "claude.json"
    real.parent.mkdir()
    real.write_text(THEIRS, encoding="utf-8")
    link = shell.home / ".claude" / "settings.json"
    link.parent.mkdir()
    link.symlink_to(real)
    assert shell("install", "claude-code").code == 0
    assert link.is_symlink()
    assert str(launcher.path()) in real.read_text(encoding="utf-8")
    shell("install", "claude-code", "--remove")
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == THEIRS


@pytest.mark.parametrize("content", ['{"a": 1, // mine\n}', "[]", '{"hooks": 3}', "\ufeff{,}"])
def test_settings_with_comments_are_refused_unharmed(shell, content):
    """A file that is no plain JSON, or of another shape, is left alone, with what to do; no copy is made."""
    path = shell.home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(content, encoding="utf-8")
    for options in ((), ("--remove",)):
        said = shell("install", "claude-code", *options)
        assert said.code == 5
        assert "expected" in said.error
    assert path.read_text(encoding="utf-8") == content
    assert files_below(shell.home) == {".claude/settings.json"}
    (told,) = shell("install", "--json").json_lines
    assert (told["events"], told["current"]) == ([], False)
    assert str(path) in told["fault"]


def test_read_only_settings_are_refused(shell):
    """A file without a write permission is not gone round by replacing it."""
    path = shell.home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(THEIRS, encoding="utf-8")
    path.chmod(0o444)
    said = shell("install", "claude-code")
    assert (said.code, "is read-only. Make it writable" in said.error) == (5, True)
    assert path.read_text(encoding="utf-8") == THEIRS


def test_when_one_file_cannot_be_changed_none_is(shell):
    """A plan of several files that fails at one writes nothing at all."""
    (shell.home / ".cursor" / "mcp.json").mkdir(parents=True)
    plan = plan_install("cursor", ["firsthand", "hook", "cursor"], home=shell.home / "other", server=["py"])
    broken = Plan("cursor", (*plan.changes[:1], Change(shell.home / ".cursor", "x", None, b"")))
    with pytest.raises(InvalidArgument, match="something else is there"):
        door._write(broken)
    assert not (shell.home / "other").exists()


def test_a_file_written_meanwhile_is_read_again(shell):
    """A change between reading and writing makes the plan be made anew, so that it is not lost."""
    path = shell.home / ".codex" / "hooks.json"
    path.parent.mkdir()
    path.write_text('{"a": 1}', encoding="utf-8")
    plan = plan_install("codex", ["firsthand", "hook", "codex"], home=shell.home)
    path.write_text('{"a": 2}', encoding="utf-8")
    assert door._write(plan) is None
    assert path.read_text(encoding="utf-8") == '{"a": 2}'
    assert files_below(shell.home) == {".codex/hooks.json"}


def test_many_installs_at_once_leave_one_whole_file(shell):
    """Several writers at once leave valid settings with every event once, and no scratch file."""
    with ThreadPoolExecutor(4) as pool:
        list(
            pool.map(
                lambda _: door._write(plan_install("codex", ["firsthand", "hook", "codex"], home=shell.home)), range(20)
            )
        )
    hooks = json.loads((shell.home / ".codex" / "hooks.json").read_bytes())["hooks"]
    assert {len(groups) for groups in hooks.values()} == {1}
    assert [name for name in files_below(shell.home) if "before" not in name] == [".codex/hooks.json"]


def test_a_switch_for_a_folder_deep_in_a_project_is_of_the_project(shell):
    """The switch is of all that is under version control with the folder."""
    deep = shell.home / "p" / "src" / "deep"
    deep.mkdir(parents=True)
    (shell.home / "p" / ".git").mkdir()
    shell("install", "claude-code", "--project", deep, "--tool-output")
    folders = (deep, shell.home / "p", shell.home)
    assert [load(shell.store, str(folder)).tool_output for folder in folders] == [True, True, False]


def test_settings_that_are_no_text_are_refused(shell):
    """Bytes that are no UTF-8 are not rewritten."""
    path = shell.home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(FormatError, match="UTF-8"):
        plan_install("claude-code", ["x"], home=shell.home)


def test_tool_output_makes_the_host_wait_and_switches_it_on(shell):
    """--tool-output installs without async and sets the switch, of the user or of the project."""
    project = shell.home / "p"
    project.mkdir()
    shell("install", "claude-code", "--project", project, "--tool-output")
    hooks = json.loads((project / ".claude" / "settings.local.json").read_bytes())["hooks"]
    assert "async" not in hooks["PostToolUse"][0]["hooks"][0]
    table = {"projects": {str(project.resolve()): {"tool_output": True}}}
    assert json.loads((shell.store / "settings.json").read_bytes()) == table
    assert not (project / ".firsthand.json").exists()
    shell("install", "claude-code", "--tool-output")
    assert json.loads((shell.store / "settings.json").read_bytes()) == {**table, "tool_output": True}


def test_redaction_is_off_until_it_is_asked_for(shell):
    """Installing leaves it off, --redact switches it on for the user, and says how it is undone."""
    shell("install", "claude-code")
    assert not load(shell.store).redact
    done = shell("install", "claude-code", "--redact")
    assert load(shell.store).redact
    assert "firsthand agent switch redact off" in done.out.decode() + done.error


def test_mcp_is_registered_where_the_hosts_file_is_known(shell):
    """With a server given, Claude Code's project and Cursor get it in a file, the others as a command to type."""
    server = ["py", "-m", "firsthand", "mcp"]
    home, project = shell.home, shell.home / "p"
    claude = plan_install("claude-code", ["x"], home=home, project=project, server=server)
    assert [(one.path, one.what) for one in claude.changes] == [
        (project / ".claude/settings.local.json", "hooks"), (project / ".mcp.json", "MCP server"),
    ]  # fmt: skip
    assert json.loads(claude.changes[1].after) == {
        "mcpServers": {"firsthand": {"command": "py", "args": ["-m", "firsthand", "mcp"]}}
    }
    cursor = plan_install("cursor", ["x"], home=home, project=project, server=server)
    assert [one.path.relative_to(project).as_posix() for one in cursor.changes] == [
        ".cursor/hooks.json", ".cursor/mcp.json", ".cursor/rules/firsthand.mdc",
    ]  # fmt: skip
    assert b"`recall`" in cursor.changes[2].after
    for host, add, remove in (
        ("claude-code", "claude mcp add --scope user firsthand -- py -m firsthand mcp",
         "claude mcp remove --scope user firsthand"),
        ("codex", "codex mcp add firsthand -- py -m firsthand mcp", "codex mcp remove firsthand"),
        ("gemini", "gemini mcp add --scope user firsthand py -- -m firsthand mcp",
         "gemini mcp remove --scope user firsthand"),
        ("copilot", "copilot mcp add firsthand -- py -m firsthand mcp", "copilot mcp remove firsthand"),
    ):  # fmt: skip
        assert f"MCP server: {add}" in plan_install(host, ["x"], home=home, server=server).to_do
        assert plan_uninstall(host, home=home).to_do == (f"if you added the MCP server: {remove}",)
    ours = plan_install("gemini", ["x"], home=home, project=project, server=server).to_do
    assert "MCP server: gemini mcp add --scope project firsthand py -- -m firsthand mcp" in ours
    without = plan_install("codex", ["x"], home=home)
    assert "no MCP server was registered: pip install 'firsthand[agents]', then run this again" in without.to_do


def test_an_edited_rule_of_cursor_is_not_taken_away(shell):
    """A rule that the user has changed is theirs: an uninstall leaves it."""
    project = shell.home / "p"
    project.mkdir()
    shell("install", "cursor", "--project", project)
    rule = project / ".cursor" / "rules" / "firsthand.mdc"
    rule.write_text("mine", encoding="utf-8")
    shell("install", "cursor", "--remove", "--project", project)
    assert rule.read_text(encoding="utf-8") == "mine"


def test_vscode_has_no_file_of_the_users(shell):
    """VS Code runs Claude Code's hooks for the user; the error says which command that is."""
    said = shell("install", "vscode")
    assert (said.code, "Run firsthand install claude-code --user" in said.error) == (5, True)
    with pytest.raises(InvalidArgument):
        plan_uninstall("vscode", home=shell.home)


def test_the_hosts_own_variables_name_their_folders(shell, monkeypatch):
    """CLAUDE_CONFIG_DIR and CODEX_HOME lead to the files that the hosts read."""
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(shell.home / "cc"))
    monkeypatch.setenv("CODEX_HOME", str(shell.home / "cx"))
    shell("install", "claude-code")
    shell("install", "codex")
    assert files_below(shell.home) == {"cc/settings.json", "cx/hooks.json"}


def test_an_outdated_install_is_told_and_renewed(shell):
    """Hooks whose program is gone, or with an event missing, are out of date until installed again."""
    shell("install", "codex")
    path = shell.home / ".codex" / "hooks.json"
    now = path.read_text(encoding="utf-8")
    for older in (
        *(now.replace(str(launcher.path()), command) for command in EARLIER),
        now.replace('"Stop"', '"Interrupt"'),
    ):
        path.write_text(older, encoding="utf-8")
        (told,) = installed(shell.home)
        assert (told.current, len(told.events), told.fault) == (False, 10, "")
        assert "out of date: run firsthand install codex" in shell("install").text
        shell("install", "codex")
        assert json.loads(path.read_bytes()) == json.loads(now)
        assert installed(shell.home)[0].current


def test_hooks_that_the_host_holds_back_are_told(shell):
    """Codex runs no hook that is not trusted: the list says so by event, until its configuration names them all."""
    shell("install", "codex")
    path = shell.home / ".codex" / "hooks.json"
    (told,) = installed(shell.home)
    assert (told.current, told.held.untrusted) == (True, tuple(json.loads(path.read_bytes())["hooks"]))
    assert "held back by the host: never trusted: SessionStart, UserPromptSubmit" in shell("install").text
    states = "".join(
        f'[hooks.state."{path}:{name}:0:0"]\ntrusted_hash = "sha256:another"\n'
        for name in ("session_start", "user_prompt_submit")
    )
    (path.parent / "config.toml").write_text(states, encoding="utf-8")
    (told,) = installed(shell.home)
    assert told.held.changed == ("SessionStart", "UserPromptSubmit")
    assert json.loads(shell("install", "--json").out)["waits"] == told.waits
    (path.parent / "config.toml").write_text("hooks = [", encoding="utf-8")
    assert "expected Codex' configuration in TOML" in installed(shell.home)[0].fault


def test_without_a_host_an_empty_machine_says_so(shell, monkeypatch):
    """Where no host's settings are, the list is empty with a reason and its own exit code."""
    monkeypatch.chdir(shell.home)
    said = shell("install")
    assert (said.code, said.out) == (1, b"")
    assert "firsthand install HOST" in said.error
    assert installed(shell.home, shell.home) == ()


@pytest.mark.parametrize("arguments", [["emacs"], ["codex", "--project", "/no/such/folder"]])
def test_what_cannot_be_installed_is_refused(shell, arguments):
    """An unknown host and a project that is not there are errors that say what was expected."""
    said = shell("install", *arguments)
    assert said.code == 5
    assert said.error.startswith("firsthand: expected")


# the plugin ----------------------------------------------------------------------------------------

PLUGIN = ROOT / "plugins" / "claude-code"


def test_the_plugins_hooks_are_those_that_install_writes(shell):
    """The plugin hooks the same events with the same matchers and timeouts, by the command on PATH."""
    shell("install", "claude-code")
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
