"""A model's lines are kept only where their claims stand in events; its failure and its cap are said."""

from __future__ import annotations

import pytest
from sessions_made import at, bootstrap

from firsthand import InvalidArgument, Memory, Refiner
from firsthand.agents.refiner import SPEND_FILE, Spend, claims_of
from firsthand.errors import ModelUnavailable, StoreError


@pytest.fixture
def memory(tmp_path):
    with Memory.open(tmp_path / "store") as opened:
        bootstrap(opened)
        yield opened
        assert opened.verify().problems == ()


def refiner(memory: Memory, reply: str, **more) -> Refiner:
    return Refiner(lambda prompt: reply, memory.path, now=lambda: at(0), **more)


def test_lines_that_are_borne_out_are_kept(memory):
    """A path, number or quotation that no event holds drops its line; the episode says how many were kept."""
    reply = (
        "- The manifest is kept in `boot.toml`.\n- It runs with version 2.14.3.\n- It is in src/other.py.\n"
        '- The user said "Never push to main".\n- The user said "push at once".\n- It took 17 tries.\n'
    )
    agent = memory.agent("me")
    agent.enrol("host:1")
    done = agent.close("host:1", refine=refiner(memory, reply))
    text = memory.expand(done.episode.pointer).decode()
    part = text.partition("## In a model's words: 3 of 6\n")[2].partition("\n\n")[0]
    assert part.splitlines() == [
        "- The manifest is kept in `boot.toml`.",
        "- It runs with version 2.14.3.",
        '- The user said "Never push to main".',
    ]
    assert "3 of 6 lines of the model stand in no event" in done.why
    assert "## Asked" in text


def test_a_model_that_fails_changes_nothing(memory):
    """The extractive episode stands when the model does not answer, and the result says so."""

    def fails(prompt: str) -> str:
        raise ModelUnavailable("nobody is there")

    agent = memory.agent("me")
    agent.enrol("host:1")
    made = Refiner(fails, memory.path, now=lambda: at(0))
    done = agent.close("host:1", refine=made)
    assert made.spent().calls == 1
    assert done.verified
    assert done.why == "the model gave no reply: nobody is there"
    assert "model" not in memory.expand(done.episode.pointer).decode()


def test_the_cap_holds_for_a_day(memory):
    """After so many calls no model is asked until the next day, whoever asks; a failed call was a call."""
    asked = []
    made = Refiner(lambda prompt: asked.append(prompt) or "- done", memory.path, calls_max=2, now=lambda: at(0))
    for _ in range(2):
        assert made("text", []).lines == ("done",)
    other = Refiner(lambda prompt: asked.append(prompt) or "", memory.path, calls_max=2, now=lambda: at(0))
    assert other("text", []).why.startswith("no model was asked: 2 of 2 calls")
    assert len(asked) == 2
    later = Refiner(lambda prompt: "- fine", memory.path, calls_max=2, now=lambda: at(24 * 60))
    assert later("text", []).lines == ("fine",)
    tokens = Refiner(lambda prompt: "- x", memory.path, tokens_max=100, now=lambda: at(48 * 60))
    assert tokens("word " * 500, []).why.startswith("no model was asked: 0 of 20 calls")


def test_what_was_spent_must_be_readable(memory):
    """A broken record of spending is an error, not a fresh start; a cap that is none is refused."""
    made = refiner(memory, "- x")
    assert made.spent() == Spend("2026-09-21")
    for broken in ("[", "7", '{"day": "2026-09-21", "calls": "many", "tokens": 1}'):
        (memory.path / SPEND_FILE).write_text(broken)
        with pytest.raises(InvalidArgument, match="what was spent on a model"):
            made("text", [])
    (memory.path / SPEND_FILE).unlink()
    (memory.path / SPEND_FILE).mkdir()
    with pytest.raises(StoreError, match="read"):
        made("text", [])
    with pytest.raises(InvalidArgument, match="calls_max is a whole number from 1"):
        refiner(memory, "", calls_max=0)


def test_the_model_sees_no_secret(memory):
    """What is sent is the extract, from which secrets were taken."""
    token = "ghp_" + "a1B2" * 9
    memory.session("host:1").user(f"The token is {token} now.", time=at(9))
    seen = []
    agent = memory.agent("me")
    agent.enrol("host:1")
    agent.close("host:1", refine=Refiner(lambda prompt: seen.append(prompt) or "", memory.path, now=lambda: at(0)))
    assert token not in seen[0]
    assert "[secret:github-token, fh:" in seen[0]


def test_what_of_a_line_is_a_claim():
    """Paths, files, numbers, names in code and quotations are; plain words are not."""
    line = 'Moved src/a.py and README.md, 3.5 s, `make x`, "never again", run_all and TypeError.'
    assert set(claims_of(line)) == {"src/a.py", "README.md", "3.5", "make x", "never again", "run_all", "TypeError"}
    assert claims_of("It was decided to keep the manifest.") == ()
