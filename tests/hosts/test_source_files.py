"""Finding sources: in order, once, and never outside of what was named."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from samples import JSONL, PI
from shelf import Shelf

from firsthand.errors import SourceRejected
from firsthand.hosts.importer import import_found, import_paths
from firsthand.hosts.registry import HOSTS
from firsthand.hosts.source_files import DEPTH_MAX, Found, in_paths, in_usual_places


def names(found: list[Found], root: Path) -> list[str]:
    return [one.path.relative_to(root).as_posix() for one in found if not one.refused]


def test_a_folder_gives_its_files_in_the_order_of_their_last_writing_each_once(tmp_path):
    """What was written last comes last, by name where that is the same; a file that is named twice comes once."""
    for name, seconds in (("b.jsonl", 3), ("a/z.jsonl", 2), ("a/b/c.jsonl", 1), ("a.jsonl", 2)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(JSONL)
        os.utime(tmp_path / name, (seconds, seconds))
    found = in_paths([tmp_path, tmp_path / "b.jsonl"])
    assert names(found, tmp_path) == ["a/b/c.jsonl", "a/z.jsonl", "a.jsonl", "b.jsonl"]
    assert {one.size_bytes for one in found} == {len(JSONL)}


def test_links_that_lead_out_are_refused_and_links_inside_are_read_once(tmp_path):
    """A link out of the folder, or to nowhere, is named and not followed; one inside is found at its own place."""
    root, outside = tmp_path / "root", tmp_path / "root-outside"
    root.mkdir()
    outside.mkdir()
    (outside / "secret.jsonl").write_bytes(JSONL)
    (root / "own.jsonl").write_bytes(JSONL)
    (root / "to-file.jsonl").symlink_to(outside / "secret.jsonl")
    (root / "to-folder").symlink_to(outside)
    (root / "nowhere.jsonl").symlink_to(tmp_path / "gone.jsonl")
    (root / "again.jsonl").symlink_to(root / "own.jsonl")
    (root / "loop").symlink_to(root)
    found = in_paths([root])
    assert names(found, root) == ["own.jsonl"]
    assert [one.path.name for one in found if "leads out of" in one.refused] == [
        "nowhere.jsonl", "to-file.jsonl", "to-folder",
    ]  # fmt: skip
    assert import_found(Shelf(), found).events_new == 3


def test_a_link_that_the_user_names_is_followed(tmp_path):
    """Naming a link is the permission to read what it leads to."""
    (tmp_path / "own.jsonl").write_bytes(JSONL)
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "own.jsonl")
    assert [one.path for one in in_paths([tmp_path / "link.jsonl"])] == [tmp_path / "own.jsonl"]


def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path):
    """A FIFO without a writer, a socket and a device are refused at once, each by what it is."""
    os.mkfifo(tmp_path / "a.fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.fsencode(tmp_path / "b.sock"))
        found = in_paths([tmp_path / "a.fifo", tmp_path / "b.sock", "/dev/zero"])
        report = import_found(Shelf(), found)
    assert [one.refused.rsplit(" is ", 1)[1] for one in report.sources] == [
        "a FIFO; only regular files are read",
        "a socket or a device; only regular files are read",
        "a device; only regular files are read",
    ]
    with pytest.raises(SourceRejected, match="a FIFO"):
        import_paths(Shelf(), [tmp_path / "a.fifo"], home=tmp_path)


def test_a_folder_nested_too_deeply_is_refused_by_name(tmp_path):
    """Beyond the depth limit a folder is named in the report, and what lies above it is read."""
    deep = tmp_path
    for _ in range(DEPTH_MAX + 1):
        deep /= "d"
        deep.mkdir()
        (deep / "x.jsonl").write_bytes(JSONL)
    found = in_paths([tmp_path])
    assert len(names(found, tmp_path)) == DEPTH_MAX
    assert [one.path for one in found if one.refused] == [deep]


@pytest.mark.parametrize("name", ["missing.jsonl", "x\0y.jsonl", "n" * 300])
def test_a_path_that_leads_nowhere_is_refused(tmp_path, name):
    """A path that is not there, or cannot be one, is refused with its name."""
    with pytest.raises(SourceRejected):
        import_paths(Shelf(), [f"{tmp_path}/{name}"], home=tmp_path)


def test_the_usual_places_are_looked_into_under_the_home_folder(tmp_path):
    """A host's sessions are found where it keeps them, and a variable's folder stands in for the usual one."""
    usual = tmp_path / "home/.pi/agent/sessions/--srv--/s.jsonl"
    other = tmp_path / "elsewhere/sessions/--srv--/t.jsonl"
    for path in (usual, other):
        path.parent.mkdir(parents=True)
        path.write_bytes(PI)
    home = tmp_path / "home"
    assert [one.path for one in in_usual_places(HOSTS, home, {})] == [usual]
    moved = in_usual_places(HOSTS, home, {"PI_CODING_AGENT_DIR": tmp_path / "elsewhere"})
    assert [one.path for one in moved] == [other]
    report = import_paths(Shelf(), None, home=home)
    assert (report.events_new, [one.host for one in report.sources]) == (5, ["pi"])


def test_a_usual_place_does_not_lead_out_of_its_folder(tmp_path):
    """A link planted among the sessions does not bring in a file from elsewhere."""
    (tmp_path / "secret.jsonl").write_bytes(PI)
    place = tmp_path / "home/.pi/agent/sessions/x"
    place.mkdir(parents=True)
    (place / "s.jsonl").symlink_to(tmp_path / "secret.jsonl")
    (one,) = in_usual_places(HOSTS, tmp_path / "home", {})
    assert "leads out of" in one.refused


def test_an_empty_home_has_nothing_to_import(tmp_path):
    """Without any host's folder the report is empty and no error."""
    report = import_paths(Shelf(), None, home=tmp_path)
    assert (report.sources, report.events_new, report.ok) == ((), 0, True)
