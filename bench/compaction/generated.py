"""Generated traces of the paper's sizes: needles in early turns, then a flood (total-recall 10.1).

What the paper's own benchmark does not have (peers.md 1.14): distractors, which say
the same of other things all through the flood; questions in other words; questions
that need one string to find another; and questions about what never happened, asked
of things that did occur. The same seed and texts give the same trace.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .subjects import (
    CAUSES,
    FLAGS,
    FOLDERS,
    OTHERS,
    OUTCOMES,
    PATCH,
    REGIONS,
    SETTINGS,
    SUBJECTS,
    TEMPLATES,
    TICKET,
    TWO_STEP,
)
from .values import CYCLES, Ask, Needle, Question, Step, Trace, agent, checkpoints, tokens_of_all, tool, user

SEEDED_SHARE = 0.5  # of one window: the needles stand in its first half
DISTRACTOR_SHARE = 0.25  # of the steps of the flood
PAIR_SHARE = 0.2  # of the needles: pairs for the two-step questions, each of two needles
NEVER_SHARE = 0.4  # questions about what never happened, for each needle
OPENINGS = (
    "We looked at", "The team went over", "I opened", "Somebody asked about", "We came back to", "I compared",
)  # fmt: skip
PLACES = (
    "the old dashboard", "the second draft", "the garden of forms", "the meeting notes", "the long table", "the log",
)  # fmt: skip
FINDINGS = (
    "and the color had changed", "and nobody had touched it", "which was read", "and it was moved",
    "and lunch was late",
)  # fmt: skip
SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu bra cle dri flo gru sha".split()  # noqa: SIM905


@dataclass(frozen=True, slots=True)
class Shape:
    """How large a generated trace is.

    Attributes:
        flood_characters_max: of one tool result of the flood.
        turn_steps: tool results in a turn.
    """

    window_tokens: int
    needles: int
    flood_characters_max: int
    turn_steps: int


FULL = Shape(30_000, 50, 1_600, 6)
"""The paper's sizes: 50 needles, about 150,000 tokens, five windows of 30,000."""
SMALL = Shape(2_000, 8, 240, 2)
"""A fifteenth of it, so that a model of 135 million parameters on two cores can read it all."""
TINY = Shape(800, 4, 120, 2)
"""For the test: a few replies of a model are enough for it."""


def trace(number: int, shape: Shape, texts: Sequence[str], *, seed: int) -> Trace:
    """Make one trace.

    Args:
        texts: real texts for the flood; empty makes them up.
    """
    chance = random.Random(f"{seed} {number}")
    facts = _Facts(chance)
    needles, questions = facts.draw(shape.needles)
    flood = _flood(chance, texts, facts, shape)
    steps: list[Step] = [user("You help with operations. Note what you learn; you will be asked for details later.")]
    seeded_tokens = int(shape.window_tokens * SEEDED_SHARE)
    waiting = [needle.sentence for needle in needles]
    tokens = 0
    while tokens < (CYCLES[-1] + 0.3) * shape.window_tokens:
        due = int(len(needles) * min(1.0, tokens / seeded_tokens)) - (len(needles) - len(waiting))
        said = waiting.pop(0) if waiting and due >= 0 else ""
        step = next(flood) if not said else _carry(chance, said, next(flood))
        tokens += tokens_of_all(step)
        steps.append(step)
    assert not waiting, "the first half of the window is too short for its needles"
    return Trace(
        f"generated-{number}",
        shape.window_tokens,
        tuple(steps),
        tuple(needles),
        tuple(questions),
        checkpoints(steps, shape.window_tokens),
    )


class _Facts:
    """Draws facts, so that no string and no statement about a thing comes twice."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._used: set[str] = set()

    def draw(self, count: int) -> tuple[list[Needle], list[Question]]:
        pairs = max(1, int(count * PAIR_SHARE / 2))
        subjects = list(SUBJECTS)
        self._chance.shuffle(subjects)
        combos = list(itertools.product(subjects, TEMPLATES))
        self._chance.shuffle(combos)
        needles: list[Needle] = []
        questions: list[Question] = []
        seconds: list[Needle] = []
        for subject in subjects[:pairs]:
            second = self._pair(subject, needles, questions)
            seconds.append(second)
        singles = count - 2 * pairs
        for subject, template in combos[:singles]:
            self._state(subject, template, needles, questions)
        self._chance.shuffle(needles)
        for subject, (kind, _, exact, _) in combos[singles : singles + int(count * NEVER_SHARE)]:
            questions.append(Question(exact.format(s=subject), Ask.NEVER, "", kind))
        return needles + seconds, questions  # a pair's second half is never beside its first

    def _pair(self, subject: str, needles: list[Needle], questions: list[Question]) -> Needle:
        ticket = self._state(subject, TICKET, needles, questions).string
        kind, statement, exact, other = PATCH
        path = self.string(kind)
        questions += [
            Question(exact.format(t=ticket), Ask.EXACT, path, kind),
            Question(other.format(t=ticket), Ask.PARAPHRASED, path, kind),
            Question(TWO_STEP.format(s=subject), Ask.TWO_STEP, path, kind, through=ticket),
        ]
        return Needle(path, statement.format(t=ticket, v=path), kind)

    def _state(
        self, subject: str, template: tuple[str, str, str, str], needles: list[Needle], questions: list[Question]
    ) -> Needle:
        kind, statement, exact, other = template
        string = self.string(kind)
        needle = Needle(string, _sentence(statement.format(s=subject, v=string)), kind)
        needles.append(needle)
        questions.append(Question(exact.format(s=subject), Ask.EXACT, string, kind))
        questions.append(Question(other.format(d=SUBJECTS[subject]), Ask.PARAPHRASED, string, kind))
        return needle

    def distractor(self) -> str:
        """Say of another thing what is said of the needles' things."""
        kind, statement, _, _ = self._chance.choice([*TEMPLATES, TICKET, PATCH])
        subject = self._chance.choice(OTHERS)
        return _sentence(statement.format(s=subject, t=self.string("ticket"), v=self.string(kind)))

    def string(self, kind: str) -> str:
        """Make a string of a kind that was not there before."""
        while (made := self._make(kind)) in self._used:
            pass
        self._used.add(made)
        return made

    def _make(self, kind: str) -> str:
        draw = self._chance
        match kind:
            case "hash":
                return f"{draw.getrandbits(160):040x}"[: draw.choice((12, 40))]
            case "path":
                return f"/{draw.choice(FOLDERS)}/{self._word()}/{self._word()}-{draw.randrange(100, 999)}.{self._end()}"
            case "parameter":
                return f"{draw.choice(SETTINGS)}={draw.randrange(11, 9_999)}"
            case "cause":
                return f"{draw.choice(CAUSES)} node-{draw.randrange(1_000, 9_999)} {draw.choice(OUTCOMES)}"
            case "negative":
                flag = f"--{draw.choice(FLAGS)}-{draw.randrange(10, 99)}"
                return flag if draw.random() < 0.5 else f"{draw.choice(REGIONS)}-{draw.randrange(1_000, 9_999)}"
            case "time":
                day = f"2026-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}"
                return f"{day}T{draw.randrange(24):02}:{draw.randrange(60):02}:{draw.randrange(60):02}Z"
            case "ticket":
                return f"INC-{draw.randrange(10_000, 99_999)}"
        raise AssertionError(f"no strings of kind {kind}")

    def _word(self) -> str:
        return "".join(self._chance.choices(SYLLABLES, k=3))

    def _end(self) -> str:
        return self._chance.choice(("toml", "patch", "bin", "lock", "d"))


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] if text.startswith(("the ", "only ")) else text


def _carry(chance: random.Random, said: str, step: Step) -> Step:
    """Put a sentence where such things are said: by the user, in a tool's result, by the agent."""
    place = chance.randrange(3)
    if place == 0:
        return user(f"One more thing before you go on. {said} Now look at the next file.")
    if place == 1:
        return agent(f"I looked at it. {said} I go on with the next one.")
    first, *rest = step[-1]["content"].splitlines() or [""]
    return (*step[:-1], {**step[-1], "content": "\n".join([first, f"note: {said}", *rest])})


def _flood(chance: random.Random, texts: Sequence[str], facts: _Facts, shape: Shape) -> Iterator[Step]:
    """Yield tool steps without end; a short exchange ends each turn."""
    for number in itertools.count():
        body = (chance.choice(texts) if texts else _made_up(chance))[: shape.flood_characters_max]
        if chance.random() < DISTRACTOR_SHARE:
            body = f"{body}\nnote: {facts.distractor()}"
        name = "".join(chance.choices(SYLLABLES, k=3))
        yield tool(f"call_{number}", "read", {"path": f"src/{name}.py"}, body)
        if number % shape.turn_steps == shape.turn_steps - 1:
            yield agent(f"{name} is read; nothing there is what we look for.")
            yield user(f"Fine. Read on, in {''.join(chance.choices(SYLLABLES, k=2))}.")


def _made_up(chance: random.Random) -> str:
    """Write plain sentences about work that leads nowhere."""
    return " ".join(
        f"{chance.choice(OPENINGS)} {chance.choice(PLACES)}, {chance.choice(FINDINGS)} {chance.randrange(2, 90)} times."
        for _ in range(24)
    )
