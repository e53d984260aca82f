"""Many nights come to what one sleep comes to, whatever was said and whenever somebody slept."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from firsthand import Memory, Moment
from firsthand.agents.agent_digest import digest_of
from firsthand.agents.sleep import sleep
from firsthand.ledger.decision_log import ledger_of
from stores import SOAK

BEGIN_US, DAY_US = 1_790_000_000_000_000, 86_400_000_000
SAID = some.builds(
    lambda thing, cue, value: f"The {thing} port is {cue}{value}.",
    some.sampled_from(["staging", "mail", "cache"]), some.sampled_from(["", "now ", "still "]), some.integers(1, 4),
)  # fmt: skip
SAID |= some.sampled_from(["Forget about the mail port.", "LOG_LEVEL=info", "LOG_LEVEL=debug", "Is the cache port 3?"])
NIGHTS = some.lists(some.lists(some.tuples(some.sampled_from("ab"), SAID), max_size=4), min_size=1, max_size=5)


def lived(store: Path, nights, *, every: bool) -> tuple[list[str], list[str]]:
    """Say what was said night by night, sleeping each night or at the end alone; give decisions and digest."""
    with Memory.open(store, embedder="none") as memory:
        agent = memory.agent("shop")
        number = 0
        for night, said in enumerate(nights):
            for session, text in said:
                number += 1
                agent.enrol(session)
                at = Moment(BEGIN_US + night * DAY_US + number)
                memory.session(session).user(text, id=f"{number:026d}", time=at)
            if (every or night == len(nights) - 1) and any(memory.events(agent.session, limit=1)):
                now = Moment(BEGIN_US + (night + 1) * DAY_US)
                assert sleep(memory, agent, now=now, quiet_seconds=0).finished
        standing = [line for line in digest_of(agent).text.splitlines() if "- 2026-" not in line]
        assert memory.verify().ok
        return sorted(one.id for one in ledger_of(memory).decisions()), standing


@settings(max_examples=60 if SOAK else 8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(NIGHTS)
def test_many_nights_come_to_what_one_sleep_comes_to(nights):
    """The decisions are the same ones, and what stands in the digest is the same, its sessions' versions aside."""
    with tempfile.TemporaryDirectory() as home:
        every, once = (lived(Path(home) / str(one), nights, every=one) for one in (True, False))
    assert every == once
