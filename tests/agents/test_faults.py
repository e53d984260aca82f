"""Faults are kept, within a bound."""

from __future__ import annotations

from firsthand.agents.faults import FAULTS_BYTES_MAX, Fault, faults, keep_fault
from firsthand.moment import Moment


def test_a_fault_comes_back_as_it_was(tmp_path):
    """Where, what, whose and when; a torn line is passed over."""
    fault = Fault("recall", "expected ä, got\nb", "s", Moment(1_795_000_000_000_000))
    keep_fault(tmp_path, fault)
    with (tmp_path / "hooks" / "faults.jsonl").open("a") as file:
        file.write('{"time": "20')
    assert faults(tmp_path) == (fault,)


def test_the_newest_faults_are_kept_within_the_bound(tmp_path):
    """However many come, the file stays small and the last one is there."""
    for number in range(2_000):
        keep_fault(tmp_path, Fault("record", f"{number} " + "x" * 300))
    assert (tmp_path / "hooks" / "faults.jsonl").stat().st_size <= FAULTS_BYTES_MAX
    assert faults(tmp_path)[-1].text.startswith("1999 ")
    assert len(faults(tmp_path)) > 300
