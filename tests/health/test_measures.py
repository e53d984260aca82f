"""PC, SRR, ATR and SFR: the paper's tables from its counts, and agents measured by doing what their memory does."""

from __future__ import annotations

import pytest

from firsthand import Draft, Kind, Memory
from firsthand.health.measures import ambient_trigger_rate, measure, of_agent, unverified
from firsthand.health.report import Rate, Severity, Stage

# recall-problem 8.3, 8.4, 8.5: agent, indexed, found, tested, total, and PC, SRR, ATR as printed, in per cent.
TABLES = (
    ("noument", 72, 8, 10, 72, 100, 80, 14),
    ("grazient", 22, 10, 10, 22, 100, 100, 45),
    ("solarient", 22, 10, 10, 22, 100, 100, 45),
    ("ntent", 14, 10, 10, 14, 100, 100, 71),
    ("dokter", 46, 4, 10, 46, 100, 40, 22),
    ("clawent", 26, 4, 10, 26, 100, 40, 38),
    ("channent", 25, 9, 10, 26, 96, 90, 38),
    ("dalent", 18, 10, 10, 19, 95, 100, 53),
    ("sysent", 20, 9, 10, 23, 87, 90, 43),
    ("reschent", 6, 5, 7, 7, 86, 71, 100),
    ("animent", 0, 0, 7, 7, 0, 0, 100),
    ("doment", 0, 0, 6, 6, 0, 0, 100),
)
WORDS = ("harbour", "lantern", "copper", "meadow", "violin", "thimble", "walnut", "glacier", "saffron", "anchor",
         "pepper")  # fmt: skip


def episode(memory: Memory, name: str, said: str, agent: str = "a", **meta: object) -> str:
    """Write a session and its episode under a name; give the episode's pointer."""
    who, session = memory.agent(agent), f"made:{name}"
    who.enrol(session)
    last = memory.session(session).user(said)
    facts = {"name": name, "session": session, "terms": said.split(), "through": last.position, **meta}
    draft = Draft(Kind.EPISODE, f"# {name}\n- {said}".encode(), "text/markdown", facts, agent=agent)
    return str(memory.append([draft], session=who.session)[0].pointer)


@pytest.mark.parametrize("row", TABLES, ids=[row[0] for row in TABLES])
def test_the_formulas_give_the_papers_tables(row):
    """From the paper's counts the formulas give PC, SRR and ATR of each of its agents as it prints them."""
    _, indexed, found, tested, total, pc, srr, atr = row
    rates = (Rate(indexed, total), Rate(found, tested), ambient_trigger_rate(total))
    assert [round(100 * rate.share) for rate in rates] == [pc, srr, atr]


def test_the_paper_has_290_episodes_and_its_window_shows_110():
    """All twelve agents together have 290 episodes, of which a window of ten names each shows 110."""
    rates = [ambient_trigger_rate(row[4]) for row in TABLES]
    assert (sum(one.hits for one in rates), sum(one.of for one in rates)) == (110, 290)


def test_a_numbered_series_is_found_by_its_very_names(memory):
    """An agent with a numbered series of 24 look-alike episodes has PC and SRR 1, the paper's had .40."""
    for number in range(1, 25):
        word = WORDS[number % len(WORDS)]
        episode(memory, f"2026-01-{number:02}-proving-medqa-{number:03}", f"proving-medqa-{number:03}: the {word} case")
    one = measure(memory.agent("a"), sample_max=None)
    assert (one.episodes, one.coverage, one.recall, one.ambient) == (24, Rate(24, 24), Rate(24, 24), Rate(10, 24))
    assert one.missed == ()
    assert len(one.aliases) == 1


def test_cues_by_relevance_reach_what_a_window_of_names_does_not(memory):
    """At 72 episodes the cues for a message name its episode nine times in ten; a window shows one in seven."""
    for number in range(72):
        one, two, three = (WORDS[(number // step) % len(WORDS)] for step in (1, 12, 5))
        name = f"{one}-{two}-{number * 7:03}x"
        episode(memory, f"2026-02-01-{name}", f"the {one} of the {two} broke in case {number * 7:03}x, see {three}")
    found = measure(memory.agent("a"), sample_max=36)
    assert found.ambient == Rate(10, 72)
    assert found.effective.share >= 0.9


def test_an_older_version_above_the_current_one_is_a_contradiction(memory):
    """A key with two versions is counted; only the current one recalled first is no contradiction."""
    agent = memory.agent("a")
    for text in ("the staging port is 8080", "the staging port is 9191"):
        memory.append(
            [Draft(Kind.NOTE, text.encode(), meta={"file": "knowledge/staging-port.md"})], session=agent.session
        )
    assert measure(agent).contradiction == Rate(0, 1)
    for text in ("gateway budget gateway budget: 30 a month", "!!!"):
        memory.append(
            [Draft(Kind.NOTE, text.encode(), meta={"file": "knowledge/gateway-budget.md"})], session=agent.session
        )
    found = measure(agent)
    assert found.contradiction == Rate(1, 2)
    (one,) = [one for one in of_agent(found) if "older version" in one.what]
    assert (one.stage, one.severity, one.agent) == (Stage.RECALL, Severity.DEGRADED, "a")


def test_episodes_not_found_after_they_were_written_are_named(memory):
    """What the check after writing did not find again is named; what was never checked is not accused."""
    lost, _ = (episode(memory, name, name) for name in ("2026-01-01-quartz", "2026-01-02-walnut"))
    meta = {"type": "episode check", "episode": lost, "stage": "retrievable"}
    memory.append([Draft(Kind.SESSION, b"", meta=meta)], session="agent:a")
    assert unverified(memory.agent("a")) == ["2026-01-01-quartz"]
