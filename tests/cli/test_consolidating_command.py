"""firsthand ledger entries, propose and quarantine."""

from __future__ import annotations

import json

import pytest

from firsthand import Memory, Trust

LEVELS = (7, 8, 9, 12, 15)


@pytest.fixture
def store(tmp_path):
    """A store with five statements of a user that follow a rule, and one that does not."""
    path = tmp_path / "store"
    with Memory.open(path, embedder="none") as memory:
        for level in LEVELS:
            memory.session("s").user(f"birch level {level} => {3 * level + 2}")
        memory.session("s").user("birch level 20 => 5")
    yield path
    with Memory.open(path, embedder="none") as memory:
        assert memory.verify().problems == ()


def test_a_rule_is_proposed_kept_shown_and_taken_out(shell, store):
    """Each step says what it did; after a quarantine the statements are shown again, and after a release the rule."""
    said = shell("--store", store, "ledger", "propose")
    assert (said.code, said.lines[0][10:]) == (0, "  rule: birch level N => 3 * N + 2  would be kept")
    assert len(shell("--store", store, "ledger", "entries").lines) == 6
    name = shell("--store", store, "ledger", "propose", "--keep").lines[0][:10]
    said = shell("--store", store, "ledger", "entries")
    assert said.lines[0] == f"{name}  rule: birch level N => 3 * N + 2  (5 sources)"
    assert said.lines[1].startswith("            case: birch level 20 => 5  (fh:")
    said = shell("--store", store, "ledger", "entries", name)
    assert [line.partition("  ")[2] for line in said.lines[2:]] == [
        f"birch level {level} => {3 * level + 2}" for level in LEVELS
    ]
    said = shell("--store", store, "ledger", "quarantine", name, "--reason", "the tariff changed")
    assert (said.code, said.lines[0][26:39]) == (0, "  quarantine ")
    assert shell("--store", store, "ledger", "quarantine", name).code == 1
    assert len(shell("--store", store, "ledger", "entries").lines) == 6
    said = shell("--store", store, "ledger", "propose", "--keep")
    assert said.lines[0].endswith("refused: quarantine")
    assert said.lines[1].strip() == "it was taken out; release it first"
    assert shell("--store", store, "ledger", "quarantine", name, "--release").code == 0
    assert len(shell("--store", store, "ledger", "entries").lines) == 2


def test_json_gives_entries_and_cases(shell, store):
    """Every line is one value, with all that an entry stands on."""
    judged = json.loads(shell("--store", store, "ledger", "propose", "--keep", "--json").lines[0])
    assert (judged["accepted"], judged["reason"], len(judged["entry"]["sources"])) == (True, "", 5)
    entry, case = map(json.loads, shell("--store", store, "ledger", "entries", "--json").lines)
    assert (entry["text"], case["answer"]) == ("birch level N => 3 * N + 2", "5")
    shown = json.loads(shell("--store", store, "ledger", "entries", entry["id"], "--json").lines[0])
    assert next(iter(shown["words"].values())) == "birch level 7 => 23"


@pytest.mark.parametrize(
    ("words", "code"),
    [(("propose", "--as-of", "3"), 2), (("propose", "--theta", "2"), 2), (("entries", "nothing"), 1),
     (("entries", "nothing", "--as-of", "3"), 5)],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(shell, store, words, code):
    """A time for a proposal or for one entry, no share, no such entry: none does anything."""
    assert shell("--store", store, "ledger", *words).code == code
    assert shell("--store", store, "ledger", "entries", "--json").lines[0].startswith('{"pointer"')


def test_an_empty_store_has_nothing(shell, tmp_path):
    """Without statements there is nothing to show or to propose."""
    Memory.open(tmp_path / "store", embedder="none").close()
    assert shell("--store", tmp_path / "store", "ledger", "entries").code == 1
    assert shell("--store", tmp_path / "store", "ledger", "propose").code == 1


def test_what_a_page_said_is_let_in_by_name(shell, tmp_path):
    """A rule of untrusted statements is held until its id is approved."""
    path = tmp_path / "store"
    with Memory.open(path, embedder="none") as memory:
        for level in LEVELS:
            memory.session("s").user(f"birch level {level} => {3 * level + 2}", trust=Trust.UNTRUSTED)
    held = json.loads(shell("--store", path, "ledger", "propose", "--keep", "--json").lines[0])
    assert (held["accepted"], held["reason"]) == (False, "trust")
    said = shell("--store", path, "ledger", "propose", "--keep", "--theta", "0.9", "--approve", held["proposed"])
    assert said.lines[0].endswith("  kept")
    assert shell("--store", path, "ledger", "entries", "--as-of", "5").lines[0].endswith(")")
    assert len(shell("--store", path, "ledger", "entries", "--agent", "nobody").text) == 0
