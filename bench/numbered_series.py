"""Numbered series and near-identical names, made from a seed: what recall-problem 7.6 calls temporal aliasing.

Every member of a series says almost the same, mentions the number before its own and
others' numbers too, and differs in its name alone: of its session, of its file, or at
the beginning of its text. A question is made of the name, as people and slugs say it.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Member:
    """One member: where it is kept, what it says, and the questions that ask for it alone."""

    session: str
    file: str
    text: str
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Series:
    """How the members of one series are called and asked for."""

    name: str
    session: Callable[[int], str]
    file: Callable[[int], str]
    begins: Callable[[int], str]
    mention: Callable[[int], str]
    asked: tuple[Callable[[int], str], ...]


def members(series: Series, count: int, seed: int) -> list[Member]:
    """Make the members 1 to ``count`` of a series, in order; each mentions the one before it and two others."""
    chance = random.Random(f"{series.name} {count} {seed}")
    return [
        Member(
            series.session(number),
            series.file(number),
            _text(series, number, count, chance),
            tuple(ask(number) for ask in series.asked),
        )
        for number in range(1, count + 1)
    ]


def _text(series: Series, number: int, count: int, chance: random.Random) -> str:
    others = [series.mention(max(1, number - 1)), *(series.mention(chance.randint(1, count)) for _ in range(2))]
    result = chance.choice(("passed", "failed", "was repeated", "stays open"))
    text = (
        f"{series.begins(number)}The run {result} with {chance.randint(5, 9)} of 9 points. As in {others[0]}, but the "
        f"second step came first. Compare {others[1]} and {others[2]}; {others[0]} is the better example."
    )
    return text[:1].upper() + text[1:]


def _none(_: int) -> str:
    return ""


def _pulls(_: int) -> str:
    return "work"


def _sha(number: int) -> str:
    return hashlib.sha1(b"member %d" % number, usedforsecurity=False).hexdigest()


def _host(number: int) -> str:
    return f"10.0.{number // 200}.{number % 200 + 1}"


SERIES = (
    Series(
        "session, three digits", lambda n: f"proving-medqa-{n:03}", _none, _none, lambda n: f"-{n:03}",
        (lambda n: f"proving-medqa-{n:03}", lambda n: f"proving medqa {n:03}", lambda n: f"what came of medqa {n}?"),
    ),
    Series(
        "session, four digits", lambda n: f"lectio-{n:04}", _none, _none, lambda n: f"lectio {n}",
        (lambda n: f"lectio-{n:04}", lambda n: f"lectio {n}"),
    ),
    Series(
        "session, dated", lambda n: f"2026-03-{n % 28 + 1:02}-standup-{n}", _none, _none, lambda n: f"standup {n}",
        (lambda n: f"standup {n}", lambda n: f"2026-03-{n % 28 + 1:02}-standup-{n}"),
    ),
    Series(
        "file", _pulls, lambda n: f"episodes/reading-{n:03}.md", _none, lambda n: f"reading-{n:03}",
        (lambda n: f"reading {n}", lambda n: f"reading-{n:03}.md", lambda n: f"open reading-{n:03}"),
    ),
    Series(
        "pull request", _pulls, _none, lambda n: f"PR #{4000 + n}: ", lambda n: f"#{4000 + n}",
        (lambda n: f"PR #{4000 + n}", lambda n: f"pull request {4000 + n} PR"),
    ),
    Series(
        "version", _pulls, _none, lambda n: f"Release v1.2.{n}: ", lambda n: f"v1.2.{n}",
        (lambda n: f"v1.2.{n}", lambda n: f"release v1.2.{n}"),
    ),
    Series(
        "case", _pulls, _none, lambda n: f"Case {n}. ", lambda n: f"case {n}",
        (lambda n: f"case {n}", lambda n: f"case {n:03}", lambda n: f"how did case {n} end?"),
    ),
    Series(
        "host", _pulls, _none, lambda n: f"Host {_host(n)} ", _host,
        (_host, lambda n: f"host {_host(n)}"),
    ),
    Series(
        "port", _pulls, _none, lambda n: f"The worker on port {8000 + n}: ", lambda n: f"port {8000 + n}",
        (lambda n: f"worker on port {8000 + n}",),
    ),
    Series(
        "commit", _pulls, _none, lambda n: f"Commit {_sha(n)}: ", lambda n: _sha(n)[:8],
        (_sha, lambda n: f"commit {_sha(n)[:10]}"),
    ),
)  # fmt: skip
