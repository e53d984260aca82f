"""The commands ledger and digest, as a person types them."""

from __future__ import annotations

import pytest

from firsthand import Memory, Trust
from firsthand.ledger.decision_log import ledger_of

TEXTS = ("The port is 80.", "The port is now 81.", "My name is Ann.")


@pytest.fixture
def filled(shell):
    """A shell whose store has an agent with three notes of its user's."""
    with Memory.open(shell.store, embedder="none") as memory:
        memory.agent("shop").enrol("one")
        for text in TEXTS:
            memory.note(text, origin="user", trust=Trust.TRUSTED)
    return shell


def pointers(shell):
    """Give the pointers of the notes."""
    with Memory.open(shell.store, read_only=True, embedder="none") as memory:
        return [f"fh:{event.id}" for event in memory.events("notes")]


def test_an_event_is_superseded_shown_undone_and_compared(filled):
    """Supersede decides, list and show say what, undo takes it back, diff names it, and the digest follows."""
    old, new, _ = pointers(filled)
    decided = filled("ledger", "supersede", old, new, "--reason", "moved", "--json")
    made = decided.json
    assert (decided.code, made["action"], made["target"], made["by_fact"], made["by"]) == (
        0, "supersede", old, new, "user",
    )  # fmt: skip
    again = filled("ledger", "supersede", old, new)
    assert (again.code, "has the same decision already" in again.error) == (1, True)
    assert TEXTS[0] not in filled("agent", "digest", "--agent", "shop").text
    assert filled("ledger", "list").text.split() == ["5", made["id"][-10:], "supersede", old, "user"]
    shown = filled("ledger", "show", made["id"][-10:])
    assert [line.partition(" (")[0] for line in shown.text.splitlines()[1:]] == [
        "by user: moved", "about: The port is 80.", "in its place: The port is now 81.",
    ]  # fmt: skip
    assert filled("ledger", "undo", made["id"], "--following", "--reason", "two ports").code == 0
    assert "undone" in filled("ledger", "list").text.splitlines()[0]
    assert TEXTS[0] in filled("agent", "digest", "--agent", "shop").text
    again = filled("ledger", "undo", made["id"])
    assert (again.code, "is undone already; firsthand ledger undo" in again.error) == (1, True)
    diff = filled("ledger", "diff", "5", "6")
    assert diff.text == f"{old}: supersede {new} -> nothing decided\n"
    same = filled("ledger", "diff", "6", "6")
    assert (same.code, same.text, same.error) == (1, "", "the same is decided at 6 and at 6\n")


def test_a_person_tombstones_and_restores(filled):
    """An event is named by the pointer that the digest shows."""
    line = next(line for line in filled("agent", "digest", "--agent", "shop").text.splitlines() if "Ann" in line)
    address = line.rpartition("(")[2].rstrip(")")
    assert filled("ledger", "tombstone", address, "--reason", "married").code == 0
    assert "Ann" not in filled("agent", "digest", "--agent", "shop").text
    assert filled("ledger", "restore", address).code == 0
    assert "Ann" in filled("agent", "digest", "--agent", "shop").text
    assert "Ann" not in filled("agent", "digest", "--agent", "shop", "--as-of", "5").text
    stands = filled("ledger", "restore", address)
    assert (stands.code, stands.error) == (1, f"{address} is not out\n")
    with Memory.open(filled.store, read_only=True) as memory:
        assert [(one.action, one.reason) for one in ledger_of(memory).decisions()] == [
            ("tombstone", "married"),
            ("restore", ""),
        ]


def test_the_digest_is_written(filled):
    """Written, it stands in the agent's folder; as of a position it is only shown."""
    written = filled("agent", "digest", "--agent", "shop", "--write")
    assert (written.code, written.text.strip().endswith("shop/digest.md")) == (0, True)
    assert filled("agent", "digest", "--agent", "shop", "--json").json["notes"] == 3
    refused = filled("agent", "digest", "--agent", "shop", "--write", "--as-of", "1")
    assert (refused.code, "got both" in refused.error) == (5, True)


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("ledger", "undo"), 2, "the following arguments are required: ID"),
        (("ledger", "diff", "1"), 2, "required: POSITION"),
        (("ledger", "diff", "1", "x"), 2, "expected a whole number"),
        (("ledger", "diff", "1", "99"), 5, "from 0 to 4, where this store is now; got 99"),
        (("ledger", "list", "--as-of", "99"), 5, "from 0 to 4, where this store is now; got 99"),
        (("agent", "digest", "--agent", "shop", "--as-of", "99"), 5, "from 0 to 4, where this store is now; got 99"),
        (
            ("agent", "digest", "--agent", "shop", "--as-of", "0"),
            1,
            "no note stands and no session has an episode",
        ),
        (("ledger", "list", "--as-of", "0"), 1, "nothing is decided as of position 0"),
        (("ledger", "show", "none"), 1, "expected the id of one decision"),
        (("ledger", "tombstone", "fh:" + "0" * 26), 1, "0" * 26),
        (("ledger", "supersede", "fh:" + "0" * 26), 2, "required: NEW"),
        (("agent", "digest", "--agent", "nobody"), 5, "no agent 'nobody' has anything in this store"),
        (("agent", "digest", "--agent", "shop", "--lines", "3"), 5, "at least 12 lines"),
    ],
)
def test_what_cannot_be_done_is_said(filled, arguments, code, told):
    """Each mistake has its exit code and a sentence that says what was expected."""
    done = filled(*arguments)
    assert (done.code, told in done.error) == (code, True)
