"""firsthand ledger entries, propose and quarantine."""

from __future__ import annotations

import json

import pytest

from firsthand import Memory

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


@pytest.fixture
def rules(shell, store, tmp_path):
    """A file with a rule that somebody wrote of the statements that ``ledger entries`` lists."""
    said = shell("--store", store, "ledger", "entries", "--json")
    path = tmp_path / "rules.json"
    pointers = [json.loads(line)["pointer"] for line in said.lines]
    path.write_text(json.dumps([{"text": "birch level N => 3 * N + 2", "sources": pointers}]))
    return path


def test_a_rule_is_proposed_kept_shown_and_taken_out(shell, store, rules):
    """Each step says what it did; after a quarantine the statements are shown again, and after a release the rule."""
    said = shell("--store", store, "ledger", "propose", rules)
    assert (said.code, said.lines[0][10:]) == (0, "  rule: birch level N => 3 * N + 2  would be kept")
    assert len(shell("--store", store, "ledger", "entries").lines) == 6
    shell("--store", store, "ledger", "propose", rules, "--keep", "--by", "model:tiny")
    said = shell("--store", store, "ledger", "entries")
    name = said.lines[0][:10]
    assert said.lines[0] == f"{name}  rule: birch level N => 3 * N + 2  (5 sources)"
    assert said.lines[1].startswith("            case: birch level 20 => 5  (fh:")
    said = shell("--store", store, "ledger", "entries", name)
    assert "by model:tiny" in said.lines[1]
    assert [line.partition("  ")[2] for line in said.lines[2:]] == [
        f"birch level {level} => {3 * level + 2}" for level in LEVELS
    ]
    said = shell("--store", store, "ledger", "quarantine", name, "--reason", "the tariff changed")
    assert (said.code, said.lines[0][26:39]) == (0, "  quarantine ")
    assert shell("--store", store, "ledger", "quarantine", name).code == 1
    assert len(shell("--store", store, "ledger", "entries").lines) == 6
    said = shell("--store", store, "ledger", "propose", rules, "--keep")
    assert said.lines[0].endswith("refused: quarantine")
    assert said.lines[1].strip() == "it was taken out; release it first"
    assert shell("--store", store, "ledger", "quarantine", name, "--release").code == 0
    assert len(shell("--store", store, "ledger", "entries").lines) == 2


def test_json_gives_entries_and_cases(shell, store, rules):
    """Every line is one value, with all that an entry stands on."""
    judged = json.loads(shell("--store", store, "ledger", "propose", rules, "--keep", "--json").lines[0])
    assert (judged["accepted"], judged["reason"], len(judged["entry"]["sources"])) == (True, "", 5)
    entry, case = map(json.loads, shell("--store", store, "ledger", "entries", "--json").lines)
    assert (entry["text"], case["answer"]) == ("birch level N => 3 * N + 2", "5")
    shown = json.loads(shell("--store", store, "ledger", "entries", entry["id"], "--json").lines[0])
    assert next(iter(shown["words"].values())) == "birch level 7 => 23"


@pytest.mark.parametrize(
    ("words", "code"),
    [(("propose",), 2), (("propose", "r.json", "--theta", "2"), 2), (("propose", "missing.json"), 5),
     (("entries", "nothing"), 1), (("entries", "nothing", "--as-of", "3"), 5)],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(shell, store, words, code):
    """No file, no share, a time for one entry, no such entry: none does anything."""
    assert shell("--store", store, "ledger", *words).code == code
    assert shell("--store", store, "ledger", "entries", "--json").lines[0].startswith('{"pointer"')


@pytest.mark.parametrize("text", ["", "prose", "7", '["x"]', '[{"text": "x"}]', '[{"text": "x", "sources": 3}]'])
def test_a_file_of_another_form_is_refused_whole(shell, store, tmp_path, text):
    """What is not the list that was asked for writes nothing, and the form is said."""
    path = tmp_path / "rules.json"
    path.write_text(text)
    said = shell("--store", store, "ledger", "propose", path, "--keep")
    assert (said.code, said.lines) == (5, [])
    assert 'expected a list such as [{"text": "birch level N' in said.error


def test_an_empty_store_has_nothing(shell, tmp_path):
    """Without statements there is nothing to show."""
    Memory.open(tmp_path / "store", embedder="none").close()
    assert shell("--store", tmp_path / "store", "ledger", "entries").code == 1
