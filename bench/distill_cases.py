"""Made-up sessions for distilling: long ones, whose deciding line stands somewhere in a tool's output.

Each case: what the user asks last, what is concluded, the same in other words, and the line that decides it. Written
before the code that they measure; those with an even number were looked at while it was written, the others not.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

CASES: list[dict[str, str]] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
_SUBJECTS = ("billing", "catalog", "search", "gateway", "reports", "worker", "ingest", "mailer", "media", "auth")
_ELSEWHERE = (
    "INFO {0} {1} started", "docs/{0}.md: see also {1}", "TODO {0}: ask about {1} again", "test_{0}_{1} PASSED",
    "  # {0} and {1} are tracked in the other board", "grep: {0} {1}: 12 matches", "| {0} | {1} | open |",
)  # fmt: skip
_VERBS = ("check", "rename", "format", "split", "document", "review", "clean up", "simplify")


def messages(number: int) -> list[dict[str, str]]:
    """Make the session of a case: 20 to 80 messages, the deciding line in one long tool output."""
    draw = random.Random(number)
    case = CASES[number]
    question, claim, line = case["asked"], case["claim"], case["decides"]
    words = [word for word in f"{claim} {question}".split() if len(word) > 3 and word.isalpha()]
    turns = draw.randint(6, 26)
    at = draw.randrange(1, max(2, turns * 2 // 3))
    made: list[dict[str, str]] = []
    for turn in range(turns):
        subject = draw.choice(_SUBJECTS)
        asked = f"Please {draw.choice(_VERBS)} the {subject} module, it is about {draw.randint(2, 90)} files."
        output = list(_noise(draw, subject, draw.randint(8, 40)))
        if turn == at:
            asked = f"Before you go on with {subject}: {question}"
            output.insert(draw.randrange(len(output)), line)
        else:  # what the claim names is spoken of elsewhere, too
            output += [draw.choice(_ELSEWHERE).format(*draw.sample(words, 2)) for _ in range(draw.randint(0, 2))]
            draw.shuffle(output)
        made.append({"role": "user", "content": asked})
        made.append({"role": "tool", "content": "\n".join(output)})
        made.append({"role": "assistant", "content": f"Done with {subject}; {draw.randint(1, 9)} files changed."})
    made += [
        {"role": "user", "content": f"Now tell me: {question}"},
        {"role": "assistant", "content": f"As far as I see, {claim}."},
    ]
    return [message | {"pointer": f"fh:01J8ZQ4T9M6V3K2N7P5R8S{place:04}"} for place, message in enumerate(made)]


def _noise(draw: random.Random, subject: str, lines: int) -> Iterator[str]:
    """Yield lines as tools print them: tests, listings, logs, diffs, settings, processes."""
    for _ in range(lines):
        number, other = draw.randint(10, 99_999), draw.choice(_SUBJECTS)
        day, clock = number % 28 + 1, f"09:{number % 60:02}"
        yield draw.choice((
            f"tests/{subject}/test_{other}.py::test_{draw.choice(_VERBS).replace(' ', '_')}_{number % 40} PASSED",
            f"-rw-r--r-- 1 app app {number} Jan {day} {clock} src/{subject}/{other}.py",
            f"2026-01-{day:02}T{clock}:11Z INFO {subject} handled request {number} in {number % 900} ms",
            f"+    {other}_limit = {number}  # {subject}",
            f"{number:x}{number * 7:x} Move {subject} helpers next to {other}",
            f"pid {number} {other} Running restarts={number % 4} age={number % 90}d",
            f"{subject}.{other}.timeout: {number % 600}",
            f"WARNING {subject}: {other} answered after {number % 40}.{number % 10}s, trying again",
            f"error count of {other} since midnight: {number % 12}", "",
        ))  # fmt: skip
