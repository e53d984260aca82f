"""What hosts run outlives its environment: an upgrade, a deleted environment, a machine without Python."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hook_runs import Hooked, claude_prompt, prompt, until

from firsthand import Memory
from firsthand.server import hook_client

PYTHON = Path(sys.executable)
ANY_PYTHON = shutil.which("python3", path="/usr/bin:/bin") or str(PYTHON.resolve())


@pytest.fixture
def user(tmp_path):
    """A user who has installed hooks for Claude Code; the server is stopped and the store verified at the end."""
    person = Hooked(tmp_path)
    assert person.command("install", "claude-code", "--yes").returncode == 0
    yield person
    person.end()
    if (person.store / "firsthand.db").exists():
        with Memory(person.store, read_only=True) as memory:
            assert memory.verify().ok


def environment_deleted(user: Hooked, *, python: bool = True) -> None:
    """Have the installation lie in an environment that is not there any longer, as one of ``uvx`` that was pruned."""
    gone = user.home / "gone" / "bin" / "python"
    changed = {str(PYTHON): str(gone)} if python else {str(Path(hook_client.__file__).parents[2]): str(gone.parent)}
    for name in ("installation", "firsthand-hook"):
        path = user.state_folder / name
        text = path.read_text()
        for old, new in changed.items():
            text = text.replace(old, new)
        path.write_text(text)


def path_with(user: Hooked, **programs: str) -> None:
    """Have nothing on PATH but these programs, beside what a shell has itself."""
    folder = user.home / "bin"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, target in programs.items():
        (folder / name).symlink_to(target)
    user.environment["PATH"] = str(folder)


def upgraded(user: Hooked, version: str, magic: str = "FHK1") -> None:
    """Have the client in the state folder be of another version."""
    path = user.state_folder / "hook.py"
    text = path.read_text()
    text = text.replace(f'VERSION = "{hook_client.VERSION}"', f'VERSION = "{version}"')
    path.write_text(text.replace('b"FHK1"', f'b"{magic}"'))
    shutil.rmtree(user.state_folder / "__pycache__", ignore_errors=True)


def test_settings_name_nothing_of_an_environment(user):
    """Every hook is the launcher in the state folder, and it works there."""
    hooks = json.loads((user.home / ".claude" / "settings.json").read_bytes())["hooks"]
    commands = {(hook["command"], *hook["args"]) for groups in hooks.values() for hook in groups[0]["hooks"]}
    assert commands == {(str(user.launcher), "claude-code")}
    assert user.hook(claude_prompt("hello"), host="claude-code").code == 0
    assert until(lambda: not user.kept())
    assert user.said() == ["hello"]


@pytest.mark.parametrize("python", [True, False])
def test_a_deleted_environment_costs_no_call_and_is_told_once(user, python):
    """With the interpreter or the package gone any Python keeps the calls; the host shows what to type, once."""
    environment_deleted(user, python=python)
    path_with(user, python3=ANY_PYTHON)
    answers = [user.hook(claude_prompt(f"prompt {number}"), host="claude-code") for number in range(3)]
    assert {answer.code for answer in answers} == {0}
    assert "firsthand install claude-code" in json.loads(answers[0].out)["systemMessage"]
    assert [answer.out for answer in answers[1:]] == [b"", b""]
    assert len(user.kept()) == 3
    assert user.status()["runs"] is False
    found = user.command("doctor", "--json", "--no-canary")
    what = [finding["what"] for finding in json.loads(found.stdout)["findings"]]
    assert any("hooks were installed with" in line and "/gone/bin" in line for line in what)
    assert user.command("install", "claude-code", "--yes").returncode == 0
    user.hook(claude_prompt("prompt 3"), host="claude-code")
    assert until(lambda: user.said() == [f"prompt {number}" for number in range(4)] and not user.kept())
    assert "installed with" not in user.doctor("hooks")


@pytest.mark.parametrize(("host", "key"), [("cursor", "user_message"), ("gemini", "systemMessage")])
def test_each_host_is_told_in_its_own_way(user, host, key):
    """The sentence stands where the host shows it, and only at the events that may say something."""
    environment_deleted(user)
    assert user.hook({**prompt(1), "hook_event_name": "postToolUse"}, host=host).out == b""
    event = "beforeSubmitPrompt" if host == "cursor" else "BeforeAgent"
    assert list(json.loads(user.hook({**prompt(2), "hook_event_name": event}, host=host).out)) == [key]


def test_no_python_at_all_is_said_and_named_by_the_doctor(user):
    """A machine without any Python gets its host's process back with 0 and a line; doctor names what was lost."""
    environment_deleted(user)
    path = user.environment["PATH"]
    path_with(user)
    answer = user.hook(claude_prompt("lost"), host="claude-code")
    assert (answer.code, answer.out) == (0, b"")
    assert answer.error.startswith(b"firsthand: nothing is recorded: no Python 3.8 or newer was found")
    assert len(answer.error.splitlines()) == 1
    user.environment["PATH"] = path
    what = [one["what"] for one in json.loads(user.command("doctor", "--json", "--no-canary").stdout)["findings"]]
    assert "a hook of claude-code found no Python 3.8 or newer: what it was told is lost" in what
    assert stat.S_IMODE((user.state_folder / "unanswered").stat().st_mode) == 0o600
    assert "found no Python" not in user.doctor("hooks")  # which installs again


def test_a_launcher_without_its_client_disturbs_no_host(user):
    """Where the client was deleted the launcher ends with 0: an error of Python's would forbid a tool in some hosts."""
    (user.state_folder / "hook.py").unlink()
    answer = user.hook(claude_prompt("lost"), host="claude-code")
    assert (answer.code, answer.out) == (0, b"")
    assert answer.error.startswith(b"firsthand: ")


@pytest.mark.parametrize("magic", ["FHK1", "FHK2"])
def test_a_newer_client_has_an_older_server_replaced(user, magic):
    """After an upgrade the running server steps down, whatever its protocol; each call is recorded once."""
    user.hook(claude_prompt("before"), host="claude-code")
    before = user.daemon()
    upgraded(user, "9.9.9", magic)
    for number in range(3):
        assert user.hook(claude_prompt(f"after {number}"), host="claude-code").code == 0
    assert until(lambda: user.said() == ["after 0", "after 1", "after 2", "before"] and not user.kept())
    assert user.daemon() != before


def test_an_older_client_is_renewed_by_its_server(user):
    """A client of an earlier version is answered, and the server puts its own in its place; so after a downgrade."""
    for version in ("0.0.1", "9.9.9"):
        upgraded(user, version)
        user.hook(claude_prompt(f"as {version}"), host="claude-code")
        own = Path(hook_client.__file__).read_bytes()
        assert until(lambda own=own: (user.state_folder / "hook.py").read_bytes() == own)
        user.hook(claude_prompt(f"after {version}"), host="claude-code")
        assert user.daemon()
        user.command("serve", "--stop")
    user.hook(claude_prompt("last"), host="claude-code")
    expected = ["after 0.0.1", "after 9.9.9", "as 0.0.1", "as 9.9.9", "last"]
    assert until(lambda: user.said() == expected and not user.kept())


def test_a_server_leaves_the_hooks_of_another_installation_alone(user):
    """What another environment installed stays as it is, unless that environment is gone."""
    other = user.home / "other"
    (other / "firsthand" / "server").mkdir(parents=True)
    (other / "firsthand" / "server" / "daemon.py").touch()
    record, client = user.state_folder / "installation", user.state_folder / "hook.py"
    record.write_text(f"{PYTHON}\n{other}\n")
    client.write_text(client.read_text() + "# theirs\n")
    renew = "from firsthand.server import launcher; launcher.renew()"
    command = [sys.executable, "-c", renew]
    subprocess.run(command, env=user.environment, check=True)
    assert client.read_text().endswith("# theirs\n")
    shutil.rmtree(other)
    subprocess.run(command, env=user.environment, check=True)
    assert client.read_bytes() == Path(hook_client.__file__).read_bytes()
    assert record.read_text().splitlines()[0] == sys.executable


def test_the_copies_are_the_user_s_alone_and_no_link_is_followed(user):
    """Folder 0700, files 0600, the program 0700; a link in the place of one is replaced, its target untouched."""
    target = user.home / "target"
    for name in ("hook.py", "firsthand-hook", "installation", "hosts.json"):
        target.write_text("mine")
        (user.state_folder / name).unlink()
        (user.state_folder / name).symlink_to(target)
        assert user.command("install", "claude-code", "--yes").returncode == 0
        assert (target.read_text(), (user.state_folder / name).is_symlink()) == ("mine", False)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in user.state_folder.iterdir()}
    assert {name: modes[name] for name in ("hook.py", "firsthand-hook", "installation", "hosts.json")} == {
        "hook.py": 0o600, "firsthand-hook": 0o700, "installation": 0o600, "hosts.json": 0o600,
    }  # fmt: skip
    assert stat.S_IMODE(user.state_folder.stat().st_mode) == 0o700


def test_a_folder_that_others_may_write_to_is_refused(user):
    """Nobody else may put the program there that every host runs: install says what to type, and changes nothing."""
    settings = user.home / ".claude" / "settings.json"
    settings.unlink()
    user.state_folder.chmod(0o777)
    done = user.command("install", "claude-code", "--yes")
    assert done.returncode == 5
    assert f"chmod go-w {user.state_folder}" in done.stderr
    assert not settings.exists()
    user.state_folder.chmod(0o700)


def test_an_uninstall_of_the_last_host_removes_the_copies(user):
    """They stay as long as a settings file names them, of another host or a project; then nothing is left of them."""
    project = user.home / "project"
    project.mkdir()
    for arguments in (("codex",), ("gemini", "--project", project)):
        assert user.command("install", *arguments, "--yes").returncode == 0
    user.hook(claude_prompt("hello"), host="claude-code")  # leaves the client compiled
    assert (user.state_folder / "__pycache__").is_dir()
    for arguments in (("claude-code",), ("codex",)):
        assert user.command("uninstall", *arguments, "--yes").returncode == 0
        assert user.launcher.exists()
    shutil.rmtree(project)  # a project that was deleted names nothing
    assert user.command("uninstall", "codex", "--yes").returncode == 0
    assert [path.name for path in user.state_folder.iterdir() if path.name != "heads"] == []
