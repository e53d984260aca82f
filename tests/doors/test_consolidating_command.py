"""firsthand consolidate and firsthand quarantine."""

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
            memory.session("s").user(f"The value of birch level {level} is {3 * level + 2}.")
        memory.session("s").user("The value of birch level 20 is 5.")
    yield path
    with Memory.open(path, embedder="none") as memory:
        assert memory.verify().problems == ()


def test_a_rule_is_proposed_kept_shown_and_taken_out(shell, store):
    """Each step says what it did; after a quarantine the statements are shown again, and after a release the rule."""
    said = shell("--store", store, "consolidate", "propose")
    assert (said.code, said.lines[0][10:]) == (0, "  rule: N birch level value => 3 * N + 2  would be kept")
    assert len(shell("--store", store, "consolidate").lines) == 6
    name = shell("--store", store, "consolidate", "keep").lines[0][:10]
    said = shell("--store", store, "consolidate")
    assert said.lines[0] == f"{name}  rule: N birch level value => 3 * N + 2  (5 sources)"
    assert said.lines[1].startswith("            case: 20 birch level value => 5  (fh:")
    said = shell("--store", store, "consolidate", "show", name)
    assert [line.partition("  ")[2] for line in said.lines[2:]] == [
        f"The value of birch level {level} is {3 * level + 2}." for level in LEVELS
    ]
    said = shell("--store", store, "quarantine", name, "--reason", "the tariff changed")
    assert (said.code, said.lines[0][26:39]) == (0, "  quarantine ")
    assert shell("--store", store, "quarantine", name).code == 1
    assert len(shell("--store", store, "consolidate").lines) == 6
    said = shell("--store", store, "consolidate", "keep")
    assert said.lines[0].endswith("refused: quarantine")
    assert said.lines[1].strip() == "it was taken out; release it first"
    assert shell("--store", store, "quarantine", name, "--release").code == 0
    assert len(shell("--store", store, "consolidate").lines) == 2


def test_json_gives_entries_and_cases(shell, store):
    """Every line is one value, with all that an entry stands on."""
    judged = json.loads(shell("--store", store, "consolidate", "keep", "--json").lines[0])
    assert (judged["accepted"], judged["reason"], len(judged["entry"]["sources"])) == (True, "", 5)
    entry, case = map(json.loads, shell("--store", store, "consolidate", "--json").lines)
    assert (entry["text"], case["answer"]) == ("N birch level value => 3 * N + 2", "5")
    shown = json.loads(shell("--store", store, "consolidate", "show", entry["id"], "--json").lines[0])
    assert next(iter(shown["words"].values())) == "The value of birch level 7 is 23."


@pytest.mark.parametrize(
    ("words", "code"),
    [(("show",), 5), (("list", "x"), 5), (("propose", "--as-of", "3"), 5), (("keep", "--theta", "2"), 2),
     (("show", "nothing"), 1)],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(shell, store, words, code):
    """A word that is missing or too many, a time for a proposal, no share, no such entry: none does anything."""
    assert shell("--store", store, "consolidate", *words).code == code
    assert shell("--store", store, "consolidate", "--json").lines[0].startswith('{"pointer"')


def test_an_empty_store_has_nothing(shell, tmp_path):
    """Without statements there is nothing to show or to propose."""
    Memory.open(tmp_path / "store", embedder="none").close()
    assert shell("--store", tmp_path / "store", "consolidate").code == 1
    assert shell("--store", tmp_path / "store", "consolidate", "propose").code == 1


def test_what_a_page_said_is_let_in_by_name(shell, tmp_path):
    """A rule of untrusted statements is held until its id is approved."""
    path = tmp_path / "store"
    with Memory.open(path, embedder="none") as memory:
        for level in LEVELS:
            memory.session("s").user(f"The value of birch level {level} is {3 * level + 2}.", trust=Trust.UNTRUSTED)
    held = json.loads(shell("--store", path, "consolidate", "keep", "--json").lines[0])
    assert (held["accepted"], held["reason"]) == (False, "trust")
    said = shell("--store", path, "consolidate", "keep", "--theta", "0.9", "--approve", held["proposed"])
    assert said.lines[0].endswith("  kept")
    assert shell("--store", path, "consolidate", "--as-of", "5").lines[0].endswith(")")
    assert len(shell("--store", path, "consolidate", "--agent", "nobody").text) == 0
