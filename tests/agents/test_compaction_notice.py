"""What a new context is told of what left the window."""

from __future__ import annotations

from firsthand import Kind, Memory
from firsthand.agents import validity
from firsthand.agents.compaction_notice import left, lines
from firsthand.ledger.lineage import Lineage


def test_each_span_has_a_marker_and_only_the_newest_its_strings(tmp_path):
    """After two compactions two spans can be opened; what the summary in the log holds already is not said again."""
    with Memory.open(tmp_path) as memory:
        session = memory.session("s", agent="x")
        assert left(memory, "s") == ()
        session.user("never rename the module alpha_beta_gamma")
        session.agent("The first key is AKQ-77120.")
        session.append(Kind.SUMMARY, "a first summary")
        for number in range(6):
            session.user(f"go on with step {number}")
        session.agent("The build is 7f3a9c2e41d0b5c8 and the ticket is OPS-4471.")
        session.append(Kind.SUMMARY, "The ticket OPS-4471 was worked on.")
        told = lines(left(memory, "s"))
        spans = [line.rpartition(": ")[2] for line in told.splitlines() if " events" in line]
        assert len(spans) == 2
        assert [len(list(memory.open_span(one))) for one in spans] == [7, 2]
        assert "7f3a9c2e41d0b5c8" in told
        assert told.partition("Exact strings of what left:\n")[2].split()[::2] == ["7f3a9c2e41d0b5c8"]
        assert memory.verify().ok


def test_a_marker_names_no_part_of_a_secret_and_nothing_that_was_taken_out(tmp_path):
    """What a span was about is read from what may be shown: not from within a key, nor from a quarantined message."""
    key = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.ENUhJduRHHJEYXg4JdpmrcXgGCJbW56eCuNGMGmSrCG"
    with Memory.open(tmp_path) as memory:
        session = memory.session("s", agent="x")
        session.user(f"here {key}")
        out = session.user("zanzibar_secret_place")
        session.agent("kraken_module is done")
        Lineage(memory).quarantine(out.pointer)
        told = validity.funnel(memory).written(left(memory, "s"), lines)
        assert "kraken_module" in told
        assert "zanzibar" not in told
        assert not any(key[at : at + 8] in told for at in range(len(key) - 8))
        assert memory.verify().ok
