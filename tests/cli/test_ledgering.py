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
    filled("ledger", "assert", "port", "it is 80", "--quote", TEXTS[0], "--at", old)
    decided = filled("ledger", "supersede", old, new, "--reason", "moved", "--json")
    made = decided.json
    assert (decided.code, made["action"], made["target"], made["by_fact"], made["by"]) == (
        0, "supersede", old, new, "user",
    )  # fmt: skip
    again = filled("ledger", "supersede", old, new)
    assert (again.code, "the same is decided already" in again.error) == (1, True)
    assert TEXTS[0] not in filled("agent", "digest", "--agent", "shop").text
    assert filled("ledger", "list").lines[1].split() == ["6", made["id"][-10:], "supersede", old, "user"]
    shown = filled("ledger", "show", made["id"][-10:])
    assert [line.partition(" (")[0] for line in shown.text.splitlines()[1:]] == [
        "by user: moved", "about: The port is 80.", "in its place: The port is now 81.",
    ]  # fmt: skip
    assert filled("ledger", "undo", made["id"], "--following", "--reason", "two ports").code == 0
    assert "undone" in filled("ledger", "list").lines[1]
    assert TEXTS[0] in filled("agent", "digest", "--agent", "shop").text
    again = filled("ledger", "undo", made["id"])
    assert (again.code, "is undone already; firsthand ledger undo" in again.error) == (1, True)


def test_a_person_retracts_and_restores(filled):
    """An event is named by the pointer that the digest shows."""
    filled("ledger", "assert", "name", "she is Ann", "--quote", TEXTS[2])
    line = next(line for line in filled("agent", "digest", "--agent", "shop").text.splitlines() if "Ann" in line)
    address = line.rpartition("(")[2].rstrip(")")
    assert filled("ledger", "retract", address, "--reason", "married").code == 0
    assert "Ann" not in filled("agent", "digest", "--agent", "shop").text
    assert filled("ledger", "restore", address).code == 0
    assert "Ann" in filled("agent", "digest", "--agent", "shop").text
    assert "Ann" not in filled("agent", "digest", "--agent", "shop", "--as-of", "6").text
    stands = filled("ledger", "restore", address)
    assert (stands.code, stands.error) == (1, f"{address} is not out\n")
    with Memory.open(filled.store, read_only=True) as memory:
        assert [(one.action, one.reason) for one in ledger_of(memory).decisions()] == [
            ("assert", ""),
            ("retract", "married"),
            ("restore", ""),
        ]


def test_what_the_user_quotes_is_checked(filled):
    """Quotes name the lines that are out; a wrong one is refused with what to copy, and nothing is kept."""
    old, new, _ = pointers(filled)
    wrong = filled("ledger", "supersede", old, new, "--quote-old", "port is 8", "--quote-new", "now 81")
    assert (wrong.code, wrong.error) == (
        5, "firsthand: supersede is refused: quote_old: not word for word; copy from: 'The port is 80.'\n",
    )  # fmt: skip
    right = filled("ledger", "supersede", old, new, "--quote-old", "port is 80", "--quote-new", "now 81")
    assert (right.code, right.error.count("1 event looked at hold")) == (0, 2)
    assert filled("ledger", "retract", new, "--quote", "is now 82").code == 5
    assert filled("ledger", "retract", new, "--quote", "is now 81").code == 0


def test_a_fact_is_asserted_listed_and_retracted(filled):
    """It stands with its words and their pointer, is shown with its quote, and goes as it came."""
    _, _, name = pointers(filled)
    assert filled("ledger", "assert", "name", "she is Ann", "--quote", "My name is Bob", "--at", name).code == 5
    made = filled("ledger", "assert", "name", "she is Ann", "--quote", "My name is Ann", "--at", name, "--json").json
    fact, words = filled("ledger", "facts").lines
    assert fact == f"{made['id'][-10:]}  name: she is Ann"
    assert words.endswith(f"'My name is Ann.'  {name}")
    assert "quoted: My name is Ann" in filled("ledger", "show", made["id"]).lines
    assert [each["text"] for each in filled("ledger", "facts", "--json").json_lines] == ["she is Ann"]
    assert filled("ledger", "facts", "--as-of", "4").code == 1
    assert filled("ledger", "retract", f"fh:{made['id']}").code == 0
    assert filled("ledger", "facts").code == 1


def test_what_waits_is_approved(filled):
    """A proposal that is no agent's to decide is listed with its state, and counts when it is let in."""
    _, new, _ = pointers(filled)
    with Memory.open(filled.store, embedder="none") as memory:
        waiting = memory.retract(new, "The port is now 81.", by="agent:shop").decision
        memory.assert_fact("port", "81", "The port is now 81.", at=new, session="one")
    rows = [line.split("  ")[-1].strip() for line in filled("ledger", "list").lines]
    assert rows == ["waits", "open"]
    assert "waits: a user said" in filled("ledger", "show", waiting.id).text
    assert "retract" in filled("ledger", "waiting").text
    assert filled("ledger", "approve", f"fh:{waiting.id}").code == 0
    with Memory.open(filled.store, read_only=True, embedder="none") as memory:
        assert not ledger_of(memory).at().stands(new)
        assert memory.verify().problems == ()


def test_the_digest_counts_its_facts(filled):
    """What was asserted is one of its facts, and as of a position before that it is none."""
    filled("ledger", "assert", "name", "she is Ann", "--quote", TEXTS[2])
    assert filled("agent", "digest", "--agent", "shop", "--json").json["facts"] == 1
    assert filled("agent", "digest", "--agent", "shop", "--json", "--as-of", "1").json["facts"] == 0


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("ledger", "undo"), 2, "the following arguments are required: ID"),
        (("ledger", "list", "--as-of", "99"), 5, "from 0 to 4, where this store is now; got 99"),
        (("agent", "digest", "--agent", "shop", "--as-of", "99"), 5, "from 0 to 4, where this store is now; got 99"),
        (
            ("agent", "digest", "--agent", "shop", "--as-of", "0"),
            1,
            "no fact stands",
        ),
        (("ledger", "list", "--as-of", "0"), 1, "nothing is decided as of position 0"),
        (("ledger", "show", "none"), 1, "expected the id of one decision"),
        (("ledger", "retract", "fh:" + "0" * 26), 1, "0" * 26),
        (("ledger", "supersede", "fh:" + "0" * 26), 2, "required: NEW"),
        (("agent", "digest", "--agent", "nobody"), 5, "no agent 'nobody' has anything in this store"),
        (("agent", "digest", "--agent", "shop", "--lines", "3"), 5, "at least 12 lines"),
    ],
)
def test_what_cannot_be_done_is_said(filled, arguments, code, told):
    """Each mistake has its exit code and a sentence that says what was expected."""
    done = filled(*arguments)
    assert (done.code, told in done.error) == (code, True)
