"""bench/month_bench.py: a made month goes through it without a problem, and each thing that it looks for is found."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from firsthand import Memory

BENCH = Path(__file__).parent.parent / "bench"
DAYS = 20
"""Enough for the mistake and all that builds on it."""


@pytest.fixture(scope="module")
def bench():
    """The bench, imported from where it stands."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCH))
        import month_bench

        yield month_bench
        sys.modules.pop("month_bench")


@pytest.fixture(scope="module")
def lived(bench, tmp_path_factory):
    """A month of one agent that slept every night: its folder, its days, its nights, and what was found wrong."""
    folder = tmp_path_factory.mktemp("month")
    spread = [[bench.Session(f"day-{day}", told(bench, day))] for day in range(DAYS)]
    for day, text in bench.FOLLOWED:
        spread[day].append(bench.Session(f"gateway-{day}", [bench.said("user", text), bench.said("agent", "Noted.")]))
    problems: list[str] = []
    with Memory.open(folder / "store", embedder="none") as memory:
        nights = bench.month(memory, spread, problems)
    return folder, spread, nights, problems


def told(bench, day: int) -> list:
    """Say settings that are new and that change; more in all than a digest has lines for."""
    texts = [f"The port of box{day}x{number} is {8000 + number}." for number in range(8)]
    texts += [f"The port of the staging gateway is now {9000 + day}.", f"MODE=day{day}"]
    said = [bench.said("user", text) for text in texts]
    return [*said, bench.said("agent", f"We decided to keep box{day} as it is.")]


def test_every_night_has_a_bounded_digest_whose_facts_are_in_the_bytes(bench, lived):
    """No night is over its lines, and each fact of it, in linked files too, has the words of its pointer's bytes."""
    _, _, nights, problems = lived
    assert (len(nights), problems) == (DAYS, [])
    assert max(one.lines for one in nights) <= bench.LINES_MAX < nights[-1].facts
    assert nights[-1].detail_files > 0
    assert [one.traced >= one.facts > 0 for one in nights] == [True] * DAYS


def test_any_night_is_made_again_as_of_its_position(bench, lived, tmp_path):
    """From a copy without anything derived each digest comes out the same; one that says something else is named."""
    folder, _, nights, _ = lived
    problems: list[str] = []
    bench.again(folder / "store", tmp_path / "copy", nights[::5], problems)
    assert problems == []
    nights[4].text += "- another line\n"
    bench.again(folder / "store", tmp_path / "other", nights[4:5], problems)
    nights[4].text = nights[4].text.removesuffix("- another line\n")
    assert problems == [f"night 5 is another digest as of position {nights[4].position}"]


def test_one_mistake_goes_with_all_that_followed_from_it(bench, lived, tmp_path):
    """What was right stands again, also a night later, and what was imported is byte for byte what it was."""
    folder, spread, _, _ = lived
    names = [one.name for day in spread for one in day]
    problems: list[str] = []
    bench.shutil.copytree(folder / "store", tmp_path / "store")
    with Memory.open(tmp_path / "store", embedder="none") as memory:
        before = bench.imported(memory, names)
        assert bench.undone(memory, DAYS, problems) == "3 decisions undone"
        assert (problems, bench.imported(memory, names) == before, memory.verify().problems) == ([], True, ())
        assert bench.undone(memory, DAYS, problems) == "0 decisions undone"
    assert problems[0] == "before undoing, the digest does not say what the last of the mistakes says"


def test_words_that_are_not_those_of_the_bytes_are_seen(bench, lived):
    """A line that says more than its pointer's bytes is a problem; a session's line names none."""
    folder, _, nights, _ = lived
    with Memory.open(folder / "store", embedder="none", read_only=True) as memory:
        line = next(line for line in nights[-1].text.splitlines() if "box19x2 " in line)
        assert bench.traced(memory, [line, "- a session (fh:00000000000000000000000000)"]) == (1, [])
        wrong = line.replace("8002", "8003")
        assert bench.traced(memory, [wrong]) == (0, [wrong])
