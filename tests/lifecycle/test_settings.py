"""The switches: by user, by project, by session, the later over the earlier."""

from __future__ import annotations

import json

import pytest

from firsthand.errors import InvalidArgument
from firsthand.lifecycle.settings import SWITCHES, Settings, load, project_file, session_file, switch, user_file


def test_the_session_goes_before_the_project_and_the_project_before_the_user(tmp_path):
    """Each file says only what it says; the nearest one counts."""
    store, project = tmp_path / "store", tmp_path / "proj"
    (project / ".git").mkdir(parents=True)
    (project / "deep").mkdir()
    switch(user_file(store), "recall", on=False)
    assert not load(store, str(project), "s").recall
    switch(project_file(project / "deep"), "recall", on=True)
    assert load(store, str(project / "deep"), "s").recall
    assert not load(store, "", "s").recall
    switch(session_file(store, "s"), "recall", on=False)
    assert not load(store, str(project), "s").recall
    assert load(store, str(project), "t").recall


@pytest.mark.parametrize("name", SWITCHES)
def test_each_switch_can_be_turned(tmp_path, name):
    """Turned to what it is not, it reads back so, and all else in the file stays."""
    place = user_file(tmp_path)
    place.write_text(json.dumps({"agent": "x", "cost": 5}))
    on = not getattr(Settings(), name)
    switch(place, name, on=on)
    read = load(tmp_path)
    assert (getattr(read, name), read.agent, read.cost, read.faults) == (on, "x", 5, ())


def test_a_checkout_does_not_open_what_other_agents_remember(tmp_path):
    """A project's file may come from a stranger: across is the user's, or the session's, to turn on."""
    store, project = tmp_path / "store", tmp_path / "proj"
    project.mkdir()
    project_file(project).write_text('{"across": true, "cues": false}')
    read = load(store, str(project), "s")
    assert (read.across, read.cues, len(read.faults)) == (False, False, 1)
    assert "firsthand switch across on" in read.faults[0]
    with pytest.raises(InvalidArgument, match="switched on by the user"):
        switch(project_file(project), "across", on=True)
    switch(session_file(store, "s"), "across", on=True)
    assert load(store, str(project), "s").across
    switch(user_file(store), "across", on=True)
    read = load(store, str(project))
    assert (read.across, read.faults) == (True, ())
    switch(project_file(project), "across", on=False)
    assert not load(store, str(project)).across


@pytest.mark.parametrize("name", ["sleep", "consolidate"])
def test_a_checkout_lets_no_work_be_done_unasked(tmp_path, name):
    """A project's file switches neither sleep nor consolidation on, however it came there; it may switch them off."""
    store, project = tmp_path / "store", tmp_path / "proj"
    project.mkdir()
    project_file(project).write_text(json.dumps({name: True}))
    read = load(store, str(project))
    assert (getattr(read, name), [f"firsthand switch {name} on" in one for one in read.faults]) == (False, [True])
    with pytest.raises(InvalidArgument, match="switched on by the user"):
        switch(project_file(project), name, on=True)
    switch(user_file(store), name, on=True)
    assert getattr(load(store, str(project)), name)
    switch(project_file(project), name, on=False)
    assert not getattr(load(store, str(project)), name)


@pytest.mark.parametrize("name", ["sleep", "sleep_at", "consolidate"])
def test_no_session_says_whether_a_memory_sleeps(tmp_path, name):
    """What is of all of a memory is not a session's: no file of one changes it, and each that tries is named."""
    place = session_file(tmp_path, "s")
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps({name: "04:00" if name == "sleep_at" else True, "cues": False}))
    read = load(tmp_path, "", "s")
    assert (getattr(read, name), read.cues) == (getattr(Settings(), name), False)
    assert ["of all of an agent's memory" in one for one in read.faults] == [True]
    if name != "sleep_at":
        with pytest.raises(InvalidArgument, match="got the file of one session"):
            switch(place, name, on=True)
        with pytest.raises(InvalidArgument, match="got the file of one session"):
            switch(place, name, on=False)


def test_a_folder_of_a_project_may_be_called_like_that_of_the_sessions(tmp_path):
    """Where a project or a store lies says nothing of whose its switches are."""
    for place in (tmp_path / "sessions" / ".firsthand.json", tmp_path / "hooks" / "sessions" / ".firsthand.json",
                  user_file(tmp_path / "sessions")):  # fmt: skip
        place.parent.mkdir(parents=True, exist_ok=True)
        assert not switch(place, "sleep", on=False).sleep


def test_each_session_has_switches_of_its_own_however_long_its_name(tmp_path):
    """Names that begin alike, and those of any script, are told apart; each file's name is one that can be had."""
    names = ["cursor:" + sign * 190 + end for sign in ("a", "\u65e5", "/") for end in ("1", "2")]
    for name in names[::2]:
        switch(session_file(tmp_path, name), "recall", on=False)
    assert [load(tmp_path, "", name).recall for name in names] == [False, True] * 3


def test_what_is_no_switch_and_no_settings_file_is_refused_unharmed(tmp_path):
    """The file stays byte for byte."""
    place = user_file(tmp_path)
    with pytest.raises(InvalidArgument, match="one of the switches"):
        switch(place, "cost", on=True)
    for data in (b"{", b"[]", b"// mine\n{}"):
        place.write_bytes(data)
        with pytest.raises(InvalidArgument, match="a JSON object"):
            switch(place, "recall", on=False)
        assert place.read_bytes() == data


def test_a_file_that_cannot_be_read_changes_nothing_and_is_named(tmp_path):
    """A torn file, a wrong type and an unknown name each give a sentence."""
    user_file(tmp_path).write_text('{"recall": "no", "dance": true, "hits_max": 2}')
    read = load(tmp_path)
    assert (read.recall, read.hits_max, len(read.faults)) == (True, 2, 2)
    user_file(tmp_path).write_text("{")
    assert load(tmp_path).faults[0].endswith("It changes nothing.")
