"""What is built and published: the same bytes twice, with all that runs and nothing that does not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("hatchling", reason="builds need hatchling: make test installs it")
sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

from release import DISTRIBUTIONS, build, digest, faults


@pytest.mark.parametrize("source", DISTRIBUTIONS, ids=lambda path: path.name)
def test_a_distribution_is_reproducible_and_whole(source, tmp_path):
    """Two builds are the same bytes; the wheel has templates and styles, the archive its licence and no tests."""
    first, second = build(source, tmp_path / "1"), build(source, tmp_path / "2")
    assert {suffix: digest(path) for suffix, path in first.items()} == {
        suffix: digest(path) for suffix, path in second.items()
    }
    assert faults(first[".whl"], first[".gz"]) == []
