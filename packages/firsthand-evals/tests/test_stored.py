"""probe/stored.py: a note is judged by what stands in a store."""

from __future__ import annotations

import pytest

from firsthand import InvalidArgument, Unresolvable
from firsthand_evals.probe.probe import probe_in


def test_a_note_is_judged_by_a_session_or_by_its_sources(memory):
    """`probe_in` reads what a note stands on from the store: a session, or events."""
    session = memory.session("s")
    bought = session.user("7 notebooks at $4 and 9 pens at $2. What is the total?")
    answer = session.agent("The total is $55.")
    claim = "the total"
    assert probe_in(memory, "7 notebooks at $4, 9 pens at $2", session="s", claim=claim).regime == "correctable"
    assert probe_in(memory, f"$55 ({bought.pointer})", session="s", claim=claim).regime == "reachable"
    assert probe_in(memory, f"$55 ({answer.pointer})", session="s", claim=claim).regime == "uncorrectable_silent"
    assert probe_in(memory, f"$55 (fh:{'0' * 26})", session="s", claim=claim).regime == "uncorrectable_silent"
    lost = probe_in(memory, "7 notebooks at $4", sources=[bought.pointer], claim=claim)
    assert (lost.regime, lost.missing) == ("uncorrectable_silent", ("7 notebooks at $4 and 9 pens at $2.",))
    with pytest.raises(InvalidArgument, match="nothing was said in session 'none'"):
        probe_in(memory, "x", session="none")
    with pytest.raises(Unresolvable):
        probe_in(memory, "x", sources=[f"fh:{'0' * 26}"])
    with pytest.raises(InvalidArgument, match="nothing was said in the sources"):
        probe_in(memory, "x")
