"""Hooks that come with a plugin of Claude Code are found where it keeps them, as far as the plugin is switched on."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from firsthand.hosts.installation import PLUGIN, PLUGIN_NAME, installed

HOOKS = Path(__file__).parents[2] / "plugins" / "claude-code" / "hooks" / "hooks.json"


class Claude:
    """A home in which Claude Code keeps a plugin, as version 2.1.330 was seen to."""

    def __init__(self, home: Path) -> None:
        self.home, self.project = home, home / "proj"
        self.folder = home / ".claude"
        self.at = self.folder / "plugins" / "cache" / "firsthand" / "firsthand" / "0.1.0"
        (self.at / "hooks").mkdir(parents=True)
        (self.project / ".claude").mkdir(parents=True)
        self.hooks = self.at / "hooks" / "hooks.json"
        self.hooks.write_bytes(HOOKS.read_bytes())
        self.list = self.folder / "plugins" / "installed_plugins.json"
        self.lists({PLUGIN_NAME: [{"scope": "user", "installPath": str(self.at), "version": "0.1.0"}]})
        self.switch(self.folder / "settings.json", on=True)

    def lists(self, plugins: object) -> None:
        self.list.write_text(json.dumps({"version": 2, "plugins": plugins}))

    def switch(self, place: Path, *, on: bool) -> None:
        place.write_text(json.dumps({"enabledPlugins": {PLUGIN_NAME: on}}))

    def found(self) -> list:
        return [one for one in installed(self.home, self.project) if one.scope == PLUGIN]


@pytest.fixture
def claude(tmp_path):
    return Claude(tmp_path / "home")


def on_path(folder: Path, monkeypatch) -> None:
    folder.mkdir()
    (folder / "firsthand").write_text("#!/bin/sh\n")
    (folder / "firsthand").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_a_plugins_hooks_are_told_with_their_command(claude, tmp_path, monkeypatch):
    """A plugin that is switched on has all events of Claude Code, and is current when its program is on PATH."""
    on_path(tmp_path / "bin", monkeypatch)
    (one,) = claude.found()
    assert (one.host, one.where, one.command, one.current, one.fault) == (
        "claude-code", claude.hooks, "firsthand hook claude-code", True, "",
    )  # fmt: skip
    assert len(one.events) == 11
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    (one,) = claude.found()
    assert (one.current, one.mend) == (False, "claude plugin update firsthand@firsthand, with firsthand on PATH")


def test_a_plugin_that_is_switched_off_runs_no_hooks(claude):
    """Off for the user, or for the project after the user's on, it is not told; on for the project alone it is."""
    claude.switch(claude.project / ".claude" / "settings.local.json", on=False)
    assert claude.found() == []
    claude.switch(claude.folder / "settings.json", on=False)
    claude.switch(claude.project / ".claude" / "settings.local.json", on=True)
    assert len(claude.found()) == 1
    (claude.project / ".claude" / "settings.local.json").unlink()
    assert claude.found() == []


def test_other_plugins_count_only_with_hooks_of_ours(claude):
    """A plugin without our hooks is none of our business; ours without its files is told with the reason."""
    other = claude.home / "other" / "hooks"
    other.mkdir(parents=True)
    (other / "hooks.json").write_text('{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say"}]}]}}')
    claude.lists({"other@market": [{"installPath": str(other.parent)}, {"installPath": str(claude.at)}, 7]})
    (claude.folder / "settings.json").write_text(json.dumps({"enabledPlugins": {"other@market": True}}))
    assert [one.where for one in claude.found()] == [claude.hooks]
    claude.lists({PLUGIN_NAME: [{"installPath": str(claude.home / "gone")}]})
    claude.switch(claude.folder / "settings.json", on=True)
    (one,) = claude.found()
    assert one.events == ()
    assert "gone/hooks/hooks.json cannot be read" in one.fault


@pytest.mark.parametrize("content", ["{", "[]", '"x"'])
def test_a_list_that_cannot_be_read_is_told(claude, content):
    """A torn list of plugins, or one of another shape, is a fault and not the absence of hooks."""
    claude.list.write_text(content)
    (one,) = claude.found()
    assert (one.events, one.where) == ((), claude.list)
    assert "installed_plugins.json" in one.fault


def test_the_command_that_mends_names_the_projects_folder(claude):
    """For hooks of a project the command leads to its folder, however deep the host's file lies in it."""
    (claude.project / ".github" / "hooks").mkdir(parents=True)
    for file in (".claude/settings.local.json", ".github/hooks/firsthand.json"):
        (claude.project / file).write_text("{}")
    places = {one.host: one.mend for one in installed(claude.home, claude.project) if one.scope == "project"}
    assert places == {
        "claude-code": f"firsthand install claude-code --project {claude.project}",
        "vscode": f"firsthand install vscode --project {claude.project}",
    }


def test_a_file_of_a_checkout_that_is_no_file_is_named_at_once(claude):
    """A pipe or a link to a device in the place of a project's settings keeps nobody waiting."""
    place = claude.project / ".claude" / "settings.local.json"
    place.parent.mkdir(parents=True, exist_ok=True)
    for make in (lambda: os.mkfifo(place), lambda: place.symlink_to("/dev/zero")):
        make()
        (found,) = (one for one in installed(claude.home, claude.project) if one.where == place)
        assert "it is no regular file" in found.fault
        place.unlink()
