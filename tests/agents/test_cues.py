"""Cues: names by relevance and recency under a budget, with words matched by their beginnings."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand import Kind, Trust
from firsthand.agents.cues import Cues, Named, cues, names_of, words_of
from firsthand.event import Draft
from firsthand.tokens import estimate

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from agents_made import AGENTS, all_made
from cues_bench import STEMS, effective


def named(name: str, group: str = "Episodes") -> Named:
    return Named(name, group, frozenset(words_of(name, STEMS)))


NAMES = [named(f"2026-03-{30 - n:02}-{slug}") for n, slug in enumerate(
    ("video-review", "\u7f13\u5b58", "forum-specs",
      "cold-start-bootstrap", "lectio-0032", "lectio-0033", "caching-layer", "tax-ledger")
)]  # fmt: skip


def chosen(message: str, names=None, **options) -> Cues:
    return cues(NAMES if names is None else names, words_of(message, STEMS), **options)


def test_without_a_match_the_newest_are_shown():
    """A message that shares no word with any name brings up the newest names, in order, and says of how many."""
    made = chosen("zebra", tokens_max=60)
    assert made.names == tuple(one.name for one in NAMES[: len(made.names)])
    assert made.text == f"Episodes ({len(made.names)} of 8): {', '.join(made.names)}"
    assert (made.matched, made.of) == (0, 8)


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("why does bootstrapping fail?", "cold-start-bootstrap"),
        ("the caches are stale", "caching-layer"),
        ("lectio 32", "lectio-0032"),
        ("see lectio-0033", "lectio-0033"),
        ("the LEDGERS", "tax-ledger"),
        ("\u4eca\u5929\u7684\u7f13\u5b58\u95ee\u9898", "\u7f13\u5b58"),
    ],
)
def test_a_name_that_shares_a_word_comes_first(message, name):
    """Endings do not matter, numbers match exactly but for leading zeros, case does not matter."""
    assert chosen(message).names[0].endswith(name)


def test_a_name_that_is_too_long_gives_way_to_one_that_fits():
    """A name without room does not keep shorter ones out, and hidden signs are shown."""
    made = chosen("x", [named("long-" * 100, "E"), named("a\u202eb", "E")], tokens_max=20)
    assert made.names == ("a\u202eb",)
    assert made.text == "E (1 of 2): a\\u202eb"


@pytest.mark.parametrize("agent", AGENTS)
def test_names_chosen_for_the_message_cover_what_a_window_does_not(agent):
    """Of the twelve agents, at least .9 of the episodes are among the cues of a message that comes back to them."""
    rate, recent = effective(all_made()[agent])
    assert rate >= 0.9
    assert recent <= min(10, AGENTS[agent]) / AGENTS[agent]


@given(
    st.lists(
        st.builds(named, name=st.text(max_size=40), group=st.sampled_from("AB")),
        max_size=20,
    ),
    st.text(max_size=80),
    st.integers(1, 100),
)
def test_never_over_the_budget_and_always_the_same(names, message, tokens_max):
    """Whatever names and message: at most the tokens asked for, no name that is not there, the same line again."""
    made = chosen(message, names, tokens_max=tokens_max)
    assert estimate(made.text) <= tokens_max or not made.text
    assert set(made.names) <= {one.name for one in names}
    assert made == chosen(message, names, tokens_max=tokens_max)


def episode(agent, name: str, session: str) -> str:
    meta = {"name": name, "session": session, "through": 1}
    draft = Draft(Kind.EPISODE, b"# x", "text/markdown", meta, agent=agent.name, trust=Trust.AGENT)
    return agent.space.append([draft], session=agent.session)[0].pointer


def groups(agent) -> list[tuple[str, str]]:
    return [(name.group, name.name) for name in names_of(agent)]


def test_the_newest_version_of_each_counts(memory):
    """A session that went on and a file that changed have one name each; a deleted file has none."""
    agent = memory.agent("shop")
    episode(agent, "2026-03-01-old", "a")
    agent.learn("retry", "three")
    assert len(groups(agent)) == 2
    newest = episode(agent, "2026-03-02-new-zebra", "a")
    agent.learn("retry", "five")
    agent.learn("entities/ada", "owner")
    expected = [("Entities", "ada"), ("Knowledge", "retry"), ("Episodes", "2026-03-02-new-zebra")]
    assert groups(agent) == expected
    assert names_of(agent)[2].pointer == newest
    assert agent.cues("who is the owner?").names[0] == "ada"
    assert agent.cues("the zebras").names[0] == "2026-03-02-new-zebra"
    (agent.folder / "knowledge/retry.md").unlink()
    agent.follow()
    assert groups(agent) == [expected[0], expected[2]]


def test_what_was_erased_has_no_name(memory):
    """After an erasure the names have it no more."""
    agent = memory.agent("shop")
    pointer = episode(agent, "2026-03-01-secret", "a")
    episode(agent, "2026-03-02-other", "b")
    file = agent.learn("secret-file", "words").pointer
    assert len(groups(agent)) == 3
    memory.erase([file])
    assert "secret-file" not in [name for _, name in groups(agent)]
    memory.erase([pointer])
    assert [name for _, name in groups(agent)] == ["2026-03-02-other"]
