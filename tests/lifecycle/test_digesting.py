"""The digest of an agent: as of any position, traceable, never over a person's file, gone with what is erased."""

from __future__ import annotations

import pytest

from firsthand import Trust, digest_of, ledger_of, pointer, sweep, write_digest
from firsthand.consolidate.digest import LINES_MIN
from firsthand.lifecycle.files import DIGEST_FILE

SAID = ("The staging port is 8080.", "My favourite colour is teal.", "The staging port is now 8443.", "LOG_LEVEL=info")


@pytest.fixture
def working(agent):
    """An agent with one session in which some facts were said, and swept."""
    agent.enrol("one")
    session = agent.memory.session("one")
    for text in SAID:
        session.user(text)
        session.agent("Noted.")
    sweep(agent.memory, agent.name)
    return agent


def lines(digest):
    """Give what the lines of a digest say, without pointers."""
    return [line.partition(" (fh:")[0] for line in digest.text.splitlines()]


def test_what_stands_is_listed_and_traceable(working):
    """The digest has each fact that stands, and the pointer of each line gives its words back."""
    made = digest_of(working)
    assert lines(made) == [
        "# What stands", "## Facts: 2 of 2", "- The staging port is now 8443.", "- My favourite colour is teal.",
        "## Settings: 1 of 1", "- LOG_LEVEL=info",
    ]  # fmt: skip
    for line in made.text.splitlines():
        for address in pointer.find(line):
            assert f"- {working.memory.expand(address).decode()} ({address})" == line


def test_any_position_is_rebuilt_as_it_was(working):
    """The digest of each position is the same after further facts, a sweep, an undoing and an episode."""
    memory = working.memory
    head = int(memory.head().partition(":")[0])
    before = {one: digest_of(working, as_of=one) for one in range(head + 1)}
    assert before[head] == digest_of(working)
    memory.session("one").user("The staging port is now 9000.")
    sweep(memory, working.name)
    ledger_of(memory).undo(ledger_of(memory).decisions()[0].id, following=True)
    working.close("one")
    assert {one: digest_of(working, as_of=one) for one in before} == before
    assert "- The staging port is now 9000." in lines(digest_of(working))
    assert digest_of(working).sessions == 1


def test_an_undone_decision_brings_its_fact_back(working):
    """After an undoing the digest has the fact again."""
    log = ledger_of(working.memory)
    assert "- The staging port is 8080." not in lines(digest_of(working))
    log.undo(log.decisions()[0].id)
    assert "- The staging port is 8080." in lines(digest_of(working))


def test_tools_and_secrets_stand_in_no_line(working):
    """What an untrusted message says is in no line, and a secret in what a user said is not shown."""
    session = working.memory.session("one")
    session.user("The staging port is now 666.", trust=Trust.UNTRUSTED)
    session.user("API_TOKEN=ghp_A9f8K2mQ7xZ1vB4nC6tY3wE5rU0iO8pL2sD7")
    made = digest_of(working)
    assert "666" not in made.text
    assert "ghp_A9f8K2mQ7xZ1vB4nC6tY3wE5rU0iO8pL2sD7" not in made.text
    assert any(line.startswith("- API_TOKEN=") for line in lines(made))


def test_it_is_written_and_a_persons_file_stays(working):
    """The files are written; one that a person changed stays, and the difference says what would be there."""
    session = working.memory.session("one")
    for number in range(20):
        session.user(f"The port of box{number} is {number}.")
    first = write_digest(working, lines_max=LINES_MIN)
    assert (first.files, first.left_out, first.difference) == (("digest/facts.md", DIGEST_FILE), (), "")
    file = working.folder / DIGEST_FILE
    assert file.read_text() == first.digest.text
    file.write_text("# Mine\n")
    second = write_digest(working)
    assert file.read_text() == "# Mine\n"
    assert DIGEST_FILE not in second.files
    assert "was changed by hand and stays so" in second.left_out[0]
    assert "-# Mine" in second.difference.splitlines()
    assert "+# What stands" in second.difference.splitlines()
    assert not (working.folder / "digest/facts.md").exists()  # nothing is demoted any more
    file.unlink()
    assert write_digest(working).difference == ""


def test_what_is_erased_stands_in_no_file(working):
    """Erasing an event removes the digest that cites it, and the next one is without it."""
    write_digest(working)
    event = next(one for one in working.memory.events("one") if one.text.startswith("My favourite"))
    erasure = working.memory.erase([f"fh:{event.id}"])
    assert erasure.files == ()
    assert not (working.folder / DIGEST_FILE).exists()
    write_digest(working)
    assert "teal" not in (working.folder / DIGEST_FILE).read_text()
