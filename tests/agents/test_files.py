"""An agent's files: edits go into the log, nothing of a person's is overwritten, all of it can be restored."""

from __future__ import annotations

import json
from hashlib import sha256

import pytest

from firsthand import InvalidArgument, Kind, Memory, Unresolvable
from firsthand.agents import files
from firsthand.errors import StoreBusy, StoreFailed


def write(agent, file: str, content: bytes | str) -> None:
    path = agent.folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def done(followed) -> list[tuple[str, str]]:
    return [(one.what, one.file) for one in followed.changes]


def test_every_edit_is_a_version_with_its_exact_bytes(agent):
    """New, changed and deleted files are events of a person's; each names the one before; nothing new is no event."""
    write(agent, "knowledge/retry policy.md", "three times\r\n")
    first = agent.follow()
    write(agent, "knowledge/retry policy.md", "four times")
    second = agent.follow()
    (agent.folder / "knowledge/retry policy.md").unlink()
    third = agent.follow()
    file = "knowledge/retry policy.md"
    assert [done(one) for one in (first, second, third, agent.follow())] == [
        [("new", file)], [("changed", file)], [("deleted", file)], [],
    ]  # fmt: skip
    pointers = [one.changes[0].pointer for one in (first, second, third)]
    assert [agent.space.expand(one) for one in pointers[:2]] == [b"three times\r\n", b"four times"]
    event = agent.space.event(pointers[1])
    assert (event.origin, event.trust, event.meta["supersedes"]) == ("user", "trusted", [pointers[0]])
    assert files.outdated(agent) == frozenset(pointers)


def test_recall_gives_the_newest_version_first(agent):
    """Of two versions that both hold what is asked for, the current one comes first."""
    write(agent, "knowledge/retry.md", "The retry limit of the payment gateway is 3.")
    agent.follow()
    write(agent, "knowledge/retry.md", "The retry limit of the payment gateway is 5.")
    newest = agent.follow().changes[0].pointer
    answer = agent.space.recall("retry limit of the payment gateway")
    assert answer.hits[0].pointer == newest
    assert {one.pointer for one in answer.hits[1:]} <= files.outdated(agent)


def test_what_cannot_be_followed_is_told(agent, monkeypatch):
    """Links, binary and large files, other encodings, other suffixes and too many files are named with the reason."""
    monkeypatch.setattr(files, "FILES_MAX", 6)
    monkeypatch.setattr(files, "BYTES_MAX", 50)
    write(agent, "knowledge/a.md", "text")
    write(agent, "knowledge/größe 日本.md", "text")
    write(agent, "knowledge/deep/er/b.md", "text")
    write(agent, "knowledge/.hidden.md", "text")
    write(agent, "knowledge/notes.txt", "text")
    write(agent, "knowledge/binary.md", b"a\0b")
    write(agent, "knowledge/latin.md", b"caf\xe9")
    write(agent, "knowledge/large.md", "x" * 51)
    (agent.folder / "knowledge/link.md").symlink_to(agent.space.path / "firsthand.db")
    followed = agent.follow()
    assert done(followed) == [
        ("new", "knowledge/a.md"), ("new", "knowledge/deep/er/b.md"), ("new", "knowledge/größe 日本.md"),
    ]  # fmt: skip
    assert sorted(followed.left_out) == [
        "knowledge/binary.md is binary",
        "knowledge/large.md has 51 bytes; at most 50 are followed",
        "knowledge/latin.md is no UTF-8 at byte 3",
        "knowledge/link.md is a link; links are not followed",
        "knowledge/notes.txt does not end in .md",
    ]
    for number in range(4):
        write(agent, f"entities/{number}.md", "text")
    assert "knowledge/größe 日本.md is over the 6 files that are followed" not in agent.follow().left_out
    write(agent, "entities/9.md", "text")
    assert any("over the 6 files" in one for one in agent.follow().left_out)


def test_a_folder_that_is_lost_is_no_deletion_and_comes_back(agent):
    """When the whole folder is gone nothing counts as deleted, and restore writes all files anew, byte for byte."""
    write(agent, "knowledge/a.md", "one")
    write(agent, "entities/b.md", b"two\n")
    agent.follow()
    for path in sorted(agent.folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    assert agent.follow().changes == ()
    assert sorted(agent.restore()) == ["entities/b.md", "knowledge/a.md"]
    assert (agent.folder / "entities/b.md").read_bytes() == b"two\n"
    assert agent.follow().changes == ()


def test_a_deleted_file_comes_back_when_it_is_named(agent):
    """Restore leaves deleted files alone, unless one is named; what stands there is never overwritten."""
    write(agent, "knowledge/a.md", "one")
    agent.follow()
    (agent.folder / "knowledge/a.md").unlink()
    agent.follow()
    assert agent.restore() == ()
    assert agent.restore(["knowledge/a.md"]) == ("knowledge/a.md",)
    assert files.versions(agent)["knowledge/a.md"].deleted is False
    write(agent, "knowledge/a.md", "mine")
    assert agent.restore(["knowledge/a.md"]) == ()
    assert (agent.folder / "knowledge/a.md").read_text() == "mine"
    with pytest.raises(Unresolvable, match="no version"):
        agent.restore(["knowledge/never.md"])


def test_what_is_learned_stands_in_the_log_and_in_the_folder(agent):
    """Learn writes both; an edit that stood there is a version of its own before it is overwritten."""
    agent.learn("retry", "three")
    write(agent, "knowledge/retry.md", "a person's")
    change = agent.learn("retry", "five")
    version = files.versions(agent)["knowledge/retry.md"]
    assert [agent.space.expand(one) for one in (*version.earlier[::-1], version.pointer)] == [
        b"three", b"a person's", b"five",
    ]  # fmt: skip
    assert (agent.folder / "knowledge/retry.md").read_text() == "five"
    assert (change.what, agent.learn("retry", "five"), agent.follow().changes) == ("changed", None, ())


@pytest.mark.parametrize(
    "name", ["../../out.md", "knowledge/../../out.md", "/etc/x.md", "knowledge/.x.md", "other/x.md"]
)
def test_no_name_leads_out_of_the_folder(agent, name):
    """A name with a way up, an absolute one, a hidden one and one of another folder are refused."""
    with pytest.raises(InvalidArgument, match="expected a name"):
        agent.learn(name, "text")


def test_a_link_in_the_place_of_a_folder_is_not_written_through(agent, tmp_path):
    """A folder that was replaced by a link to elsewhere is refused, and nothing is written there."""
    (tmp_path / "elsewhere").mkdir()
    agent.folder.mkdir(parents=True)
    (agent.folder / "knowledge").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreFailed, match="is a link; put a plain folder in its place"):
        agent.learn("a", "text")
    assert [*(tmp_path / "elsewhere").iterdir()] == []


def test_knowledge_is_learned_by_one_at_a_time(agent, monkeypatch):
    """Whoever comes while another one writes is refused, so the file says what the newest version says."""
    put = files._put

    def meanwhile(*given: object) -> None:
        monkeypatch.setattr(files, "_put", put)
        with Memory.open(agent.space.path, embedder="none") as other, pytest.raises(StoreBusy, match="in a moment"):
            other.agent(agent.name).learn("retry", "theirs")
        put(*given)

    monkeypatch.setattr(files, "WAIT_S", 0.0)
    monkeypatch.setattr(files, "_put", meanwhile)
    agent.learn("retry", "mine")
    assert agent.follow().changes == ()
    assert [one.content for one in agent.own(Kind.NOTE)] == [b"mine"]
    assert (agent.folder / "knowledge" / "retry.md").read_bytes() == b"mine"


def test_two_who_follow_at_once_append_once(agent):
    """A second process that saw the same edit, with its memory of the folder lost, adds no second version."""
    write(agent, "knowledge/a.md", "one")
    agent.follow()
    (agent.folder / files.STATE_FILE).unlink()
    assert agent.follow().changes == ()
    (agent.folder / files.STATE_FILE).write_text("torn {")
    assert agent.follow().changes == ()
    assert len([*agent.space.events(agent.session)]) == 1


def test_pages_of_earlier_versions_go_unless_somebody_changed_them(agent):
    """What an earlier version generated here and nobody touched is removed; a changed page and the rest stay."""
    agent.learn("retry", "three")
    for file, text in (("preamble.md", "ours"), ("episodes/day.md", "ours"), ("digest.md", "mine")):
        write(agent, file, text)
    hashes = [sha256(text).hexdigest() for text in (b"ours", b"three")]
    written = ("preamble.md", "episodes/day.md", "digest.md", "knowledge/retry.md")
    write(agent, files.GENERATED_FILE, json.dumps(dict.fromkeys(written, hashes)))
    assert agent.follow().changes == ()
    left = sorted(path.relative_to(agent.folder).as_posix() for path in agent.folder.rglob("*.*") if path.is_file())
    assert left == [files.STATE_FILE, files.LOCK_FILE, "digest.md", "knowledge/retry.md"]
