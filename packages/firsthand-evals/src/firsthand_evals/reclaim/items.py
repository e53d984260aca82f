"""What is asked and what came of it: cases, items, and files of items, one a line.

A case says everything that one question depends on; an item is what came of it, whole.
The invariant: an item's key is made of every parameter of its case and of its reader,
the temperature included, so that an item read back from a file stands for exactly the
case it was made of.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from firsthand import FormatError
from firsthand.value import asdict, value
from firsthand_evals.reclaim import drift, scoring
from firsthand_evals.reclaim.corrections import DIRECTED
from firsthand_evals.reclaim.readers import Reader
from firsthand_evals.reclaim.seam import BUDGET_CHARACTERS, Subject
from firsthand_evals.reclaim.tasks import Problem

VERSION = 1
"""Of what an item means; raised when a case of the same parameters would be asked in other words."""
LINE_BYTES_MAX = 64 << 20


@value
class Case:
    """One question to one memory, with everything it depends on.

    Attributes:
        experiment: whose item it is.
        depth, filler, source_at, premise, wording: see `drift.dialogue`; without a premise a chain has no error.
        budget: characters that may be carried; None carries the whole session, as if it had not ended.
        repetition: number of this one among equal cases.
        hops: sessions of a chain, one item of the problem in each (see `cascade`); 0 is one session.
        extra: further parameters, for tables.
        say: gives the assistant's words in the first session; None is the script. ``said_by`` is its name.
    """

    experiment: str
    subject: Subject
    problem: Problem
    correction: str = DIRECTED
    depth: int = 4
    filler: int = 0
    source_at: str = "first"
    premise: bool = True
    wording: int = 0
    budget: int | None = BUDGET_CHARACTERS
    repetition: int = 0
    hops: int = 0
    extra: tuple[tuple[str, str | int | float], ...] = ()
    say: Callable[[Sequence[Mapping[str, str]]], str] | None = None
    said_by: str = ""

    def parameters(self, reader: Reader) -> dict[str, Any]:
        """Give what the item's key is made of."""
        return {
            "version": VERSION, "experiment": self.experiment, "memory": self.subject.name, "reader": reader.name,
            "temperature": reader.temperature, "problem": self.problem.id, "family": self.problem.family,
            "correction": self.correction, "depth": self.depth, "filler": self.filler, "source_at": self.source_at,
            "premise": self.premise,
            "wording": self.wording, "budget": self.budget, "repetition": self.repetition, "hops": self.hops,
            "said_by": self.said_by,
            **dict(self.extra),
        }  # fmt: skip

    def session(self, *, scripted: bool = False) -> list[dict[str, str]]:
        """Write the session that drifts; ``scripted`` commits to the wrong conclusion whoever speaks."""
        return drift.dialogue(
            self.problem, self.depth, filler=self.filler, source_at=self.source_at, premise=self.premise,
            wording=self.wording, say=None if scripted else self.say,
        )  # fmt: skip


@value
class Item:
    """What came of a case.

    Attributes:
        key: of the parameters.
        parameters: see `Case`.
        session_sha256: of the first session's messages.
        carried: the text, ``used`` characters of it, ``written`` by the memory, ``over`` the budget or not.
        pulls: what the reader asked the memory: query, text, characters, cut.
        turns: what the user said in the fresh session; ``replies``: what was answered, the last one scored.
        outcome: see `scoring`; ``given``: the value committed to; ``hedged``.
        answer, attractor: what was right, and what the session had concluded.
        regime: what the probe says of the carried text; empty when it was not asked.
        hops: of a chain, what came of each session: truth, given, outcome, carried, used, pulls, reply.
        fault: why the memory under test failed; the outcome is then ``failed``, and nothing else is there.
    """

    key: str
    parameters: dict[str, Any]
    session_sha256: str
    carried: str
    used: int
    written: int
    over: bool
    pulls: tuple[dict[str, Any], ...]
    turns: tuple[str, ...]
    replies: tuple[str, ...]
    outcome: str
    given: str
    hedged: bool
    answer: str
    attractor: str
    regime: str
    hops: tuple[dict[str, Any], ...] = ()
    fault: str = ""

    @property
    def emitted(self) -> bool:
        """True when it commits to a value, right or wrong."""
        return self.outcome in scoring.EMITTED

    @property
    def silent(self) -> bool:
        """True when it gives a wrong value that was worked out anew, as if all were there (reclaim-evaluation 7)."""
        return self.outcome == scoring.WRONG

    @property
    def blast(self) -> int:
        """Sessions of a chain that were answered with a wrong value."""
        return sum(hop["outcome"] in {scoring.WRONG, scoring.ATTRACTOR} for hop in self.hops)


def failed(case: Case, reader: Reader, fault: str) -> Item:
    """Make the item of a case whose memory failed: it counts, and is not lost."""
    concluded = case.problem.attractor if case.say is None else ""  # what it said by itself is not known then
    return Item(
        key(case, reader), case.parameters(reader), "", "", 0, 0, False, (), (), (), scoring.FAILED, "", False,
        case.problem.answer, concluded, "", fault=fault,
    )  # fmt: skip


def key(case: Case, reader: Reader) -> str:
    """Give the key of a case and its reader."""
    return sha256(case.parameters(reader))[:24]


def sha256(thing: Any) -> str:
    """Hash JSON values."""
    return hashlib.sha256(
        json.dumps(thing, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass")
    ).hexdigest()


@contextmanager
def appending(file: Path) -> Iterator[TextIO]:
    """Open a file of items to write behind those that it has; a last line that is not whole is cut off."""
    whole = file.read_bytes() if file.is_file() else b""
    if whole and not whole.endswith(b"\n"):
        with file.open("rb+") as opened:
            opened.truncate(whole.rfind(b"\n") + 1)
    with file.open("a", encoding="utf-8", newline="\n") as opened:
        yield opened


def write(item: Item, opened: TextIO) -> Item:
    """Write an item as a line, at once; as ASCII, since a memory may write what no UTF-8 can."""
    opened.write(json.dumps(asdict(item)) + "\n")
    opened.flush()
    return item


def keep(items: Iterable[Item], file: Path) -> Iterator[Item]:
    """Write items to a file as they come, one a line, behind those that it has; yield them on."""
    known = set(load(file))
    with appending(file) as opened:
        for item in items:
            yield item if item.key in known else write(item, opened)


def load(file: Path) -> dict[str, Item]:
    """Read the items of a file, by key; empty without a file. A last line that was cut off is left out."""
    if not file.is_file():
        return {}
    found: dict[str, Item] = {}
    with file.open("rb") as opened:
        for number, line in enumerate(iter(lambda: opened.readline(LINE_BYTES_MAX), b""), 1):
            if not line.endswith(b"\n") and len(line) < LINE_BYTES_MAX:
                return found  # the run broke off while it was written; that case is asked again
            try:
                item = _item(json.loads(line))
            except (ValueError, TypeError, RecursionError) as error:
                raise FormatError(
                    f"{file}:{number} is no item of this evaluation ({error}); delete the line"
                ) from error
            found[item.key] = item
    return found


def _item(row: dict[str, Any]) -> Item:
    row |= {name: tuple(row[name]) for name in ("pulls", "turns", "replies", "hops") if name in row}
    return Item(**row)
