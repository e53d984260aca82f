"""Asks a memory for every message of several sessions, word for word.

What is said is what gets lost: ports, checksums, paths, versions, a traceback with its
spaces, other scripts, letters made of two characters. The invariant: the words that a
message is asked with are not the exact string that is wanted.
"""

from __future__ import annotations

import json
import random
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from firsthand import InvalidArgument, pointer
from firsthand.errors import MemoryFault
from firsthand.value import value
from firsthand_evals.reclaim import seam
from firsthand_evals.reclaim.ask import opening
from firsthand_evals.testing.reclaiming import address

if TYPE_CHECKING:
    from firsthand_evals.reclaim.seam import Memory

LOSSLESS = "lossless"
SESSIONS_MAX = 16
POINTERS_MAX = 32
"""That are followed for one message."""
_OWNERS = ("harbour", "orchard", "quarry", "lighthouse", "foundry", "vineyard", "aviary", "sawmill",
           "brewery", "observatory", "tannery", "dockyard", "granary", "smithy", "glasshouse", "ferry")  # fmt: skip
_HEX = "0123456789abcdef"
_SIGN = "cafe\u0301, \u05de\u05d2\u05d3\u05dc, \U0001f469\u200d\U0001f527, \u6771\u4eac\u90fd"
"""Two characters for one letter, a script from right to left, a picture made of three, no spaces."""
SAID = "Noted."


@value
class Line:
    """One message: who said it, what, and the words to ask for it."""

    session: int
    role: str
    text: str
    asked: str


@value
class Lost:
    """A message that did not come back.

    Attributes:
        answers: what the memory answered, by what it was asked; empty when it cannot be asked.
        altered: True when it came back in other spaces, cases or characters.
    """

    line: Line
    answers: tuple[tuple[str, str], ...]
    altered: bool


@value
class Lossless:
    """What came of all messages.

    Attributes:
        said: characters of them; ``carried``: what the memory carried out of the last session.
        fault: why the memory failed; empty when it did not.
    """

    name: str
    address: str
    shared: bool
    budget: int
    recalls: bool
    lines: tuple[Line, ...]
    lost: tuple[Lost, ...]
    said: int
    carried: str
    fault: str = ""

    of = LOSSLESS
    least = 1.0

    @property
    def held(self) -> bool:
        """Whether all came back."""
        return not self.lost and not self.fault

    @property
    def figures(self) -> str:
        """Say how many came back."""
        if self.fault:
            return f"it failed: {self.fault}"
        return f"{len(self.lines) - len(self.lost)} of {len(self.lines)} messages came back word for word"


def lossless(memory: Any, *, budget: int = 600, sessions: int = 5, seed: int = 0) -> Lossless:
    """Say sessions to a memory, then ask for each message; see `assert_lossless`.

    Raises:
        InvalidArgument: it is no memory, or a number is out of its range.
    """
    if isinstance(sessions, bool) or sessions not in range(1, SESSIONS_MAX + 1):
        raise InvalidArgument(f"sessions are a whole number from 1 to {SESSIONS_MAX}; got {sessions!r}")
    subject = seam.subject(memory)
    lines = tuple(line for session in range(sessions) for line in _session(session, seed))
    carried, lost, fault, asks = "", [], "", False
    try:
        with seam.made(subject, None) as made:
            asks = seam.recalls(made)
            for session in range(sessions):
                told = [one for one in lines if one.session == session]
                carried = seam.carry(made, [*opening(carried, made), *_messages(told)], budget).text
            lost = [one for line in lines if (one := _lost(made, carried, line)) is not None]
    except MemoryFault as error:
        fault = str(error)
    return Lossless(subject.name, address(memory), subject.shared, budget, asks, lines, tuple(lost),
                    sum(len(one.text) for one in lines), carried, fault)  # fmt: skip


def _messages(lines: list[Line]) -> Iterator[dict[str, str]]:
    for line in lines:
        yield {"role": line.role, "content": line.text}
        if line.role == "user":
            yield {"role": "assistant", "content": SAID}


def _lost(memory: Memory, carried: str, line: Line) -> Lost | None:
    """Look for a message in what is carried, then in what the memory answers; None when it is there."""
    seen = [carried]
    if _stands(line.text, carried):
        return None
    answers: list[tuple[str, str]] = []
    if seam.recalls(memory):
        open_ = [line.asked, *pointer.find(carried)]
        for query in open_:
            answer = seam.pull(memory, query).text
            answers.append((query, answer))
            if _stands(line.text, answer):
                return None
            seen.append(answer)
            new = [one for one in pointer.find(answer) if one not in open_]
            open_ += new[: POINTERS_MAX + 1 - len(open_)]
    return Lost(line, tuple(answers), any(_plain(line.text) in _plain(text) for text in seen))


def _stands(text: str, within: str) -> bool:
    """Say whether a text stands in another one, as it is or as a string of JSON."""
    return any(one in within for one in (text, json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]))


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _session(session: int, seed: int) -> Iterator[Line]:
    """Make the messages of a session; the owner is named in all of them and in no other session's."""
    chance = random.Random(f"lossless {seed} {session}")  # noqa: S311 - repeatable on purpose
    owner = _OWNERS[session]
    code = "".join(chance.choice(_HEX) for _ in range(40))
    port, line, size = chance.randint(20_000, 60_000), chance.randint(100, 999), chance.randint(1_000, 9_999)
    version = f"{chance.randint(1, 9)}.{chance.randint(10, 30)}.{chance.randint(0, 9)}rc{chance.randint(1, 9)}"
    place = f'\n\t  File "load.py", line {line}, in read\n'
    trace = f"Traceback (most recent call last):{place}    KeyError:  'tide_{size}'  "
    sign = f"\u00abGr\u00f6\u00dfe {size} \u00b5m\u00bb, {_SIGN}{port}\u53f7"
    told = (
        ("user", f"The gateway of the {owner} listens on port {port}.", "gateway port"),
        ("user", f"Checksum of the {owner} archive: sha1:{code}", "archive checksum"),
        ("assistant", f"I wrote the {owner} settings to /etc/{owner}.d/{code[:7]}/o-{line}.toml", "settings file"),
        ("user", f"Pin the {owner} driver to {version}+local.{size % 7}, not to anything newer!", "driver version"),
        ("assistant", f"The {owner} import failed:\n\n    {trace}", "import traceback"),
        ("user", f"On the sign of the {owner} stands: {sign}", "sign"),
        ("user", f"The {owner} scale reads -{line / 10_000:.4f} kg;   the old one is gone.", "scale reads"),
    )
    for role, text, words in told:
        yield Line(session, role, text, f"{owner} {words}")
