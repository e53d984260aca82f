"""A public record of a memory that is written again after every question, scored anew without any model.

The Dynamic Cheatsheet repository (suzgunmirac/dynamic-cheatsheet, MIT) holds for several
models and question sets every state of a memory that is rewritten whole, and the answers
given with it, with an empty memory, and with raw retrieval:

    results/AIME_2024/gpt-4o_DynamicCheatsheet_Cumulative.jsonl       a line a question, in order
    results/AIME_2024/gpt-4o_EmptyCheatsheet.jsonl                    the same questions

Of what stood word for word it is counted how much stands some updates later; of what was
answered right with an empty memory, how much is wrong with the rewritten one. The
invariant: an answer is right when it is the target, character for character; what is
compared is the same questions in the same order, else the data are refused. None of the
data are ours, and none are in here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from firsthand.errors import FormatError, SourceRejected
from firsthand.value import value
from firsthand_evals.stats import Rate, rate
from firsthand_evals.stream.measure import HALVED

CUMULATIVE, EMPTY = "DynamicCheatsheet_Cumulative", "EmptyCheatsheet"
RETRIEVED, SYNTHESIS = "Dynamic_Retrieval", "DynamicCheatsheet_RetrievalSynthesis"
VARIANTS = (EMPTY, RETRIEVED, SYNTHESIS, CUMULATIVE)
LATER = (1, 5, 10, 20)
LINE_CHARACTERS_MIN = 25
QUARTERS_FROM = 100
"""Questions of a stream from which its quarters are told; of fewer a quarter says nothing."""
FILE_BYTES_MAX = 64 << 20
FILES_MAX = 200
_NUMBER = re.compile(r"(?<![\w.])\d{2,}(?:\.\d+)?(?!\w)")
"""A number of two digits or more, with what stands after its point; a version such as 1.0 is none."""
Parts = frozenset[str]


@value
class Survives:
    """Of what stood in the memory after an update, how much stood there ``updates`` later too, over all updates."""

    updates: int
    stood: int
    n: int

    @property
    def share(self) -> float:
        """Give the share; 0 when nothing stood."""
        return self.stood / self.n if self.n else 0.0


@value
class Detail:
    """What became of one sort of exact content.

    Attributes:
        ever: how many different ones were ever written; ``left`` of them stand at the end.
    """

    survives: tuple[Survives, ...]
    ever: int
    left: int


@value
class Stream:
    """One model on one set of questions.

    Attributes:
        right: by variant of memory, which answers were right, in order.
        characters: of the rewritten memory after each update.
        halved: updates, from 1, after which less than half of it was left.
        numbers, lines: what became of exact content.
    """

    name: str
    right: dict[str, tuple[bool, ...]]
    characters: tuple[int, ...]
    halved: tuple[int, ...]
    numbers: Detail
    lines: Detail

    @property
    def regressed(self) -> Rate:
        """Give the share of what an empty memory answered right that is wrong with the rewritten one."""
        pairs = [with_it for with_it, without in self._pairs() if without]
        return rate(pairs.count(False), len(pairs))

    @property
    def by_chance(self) -> float:
        """Give McNemar's exact probability that rewritten and empty memory differ so much by chance, both sides."""
        won = sum(with_it and not without for with_it, without in self._pairs())
        lost = sum(without and not with_it for with_it, without in self._pairs())
        return mcnemar(won, lost)

    def quarters(self, variant: str) -> tuple[int, ...]:
        """Count the right answers in each quarter of the stream."""
        right = self.right[variant]
        ends = [round(len(right) * at / 4) for at in range(5)]
        return tuple(sum(right[start:end]) for start, end in pairwise(ends))

    def _pairs(self) -> list[tuple[bool, bool]]:
        return [*zip(self.right[CUMULATIVE], self.right[EMPTY], strict=True)]


def mcnemar(won: int, lost: int) -> float:
    """Give the exact two-sided probability of so uneven a split of so many pairs that differ."""
    n, fewer = won + lost, min(won, lost)
    if not n:
        return 1.0
    so_few: int = sum(math.comb(n, at) for at in range(fewer + 1))
    return min(1.0, so_few / 2.0 ** (n - 1))


def streams(folder: Path) -> tuple[Stream, ...]:
    """Score every stream of a folder that has the rewritten and the empty memory.

    Args:
        folder: a checkout of the repository, or its ``results``.

    Raises:
        SourceRejected: there is no such stream below it, or there are too many files.
        FormatError: a file is not of the layout, or two of one stream have other questions.
    """
    root = folder / "results" if (folder / "results").is_dir() else folder
    files = sorted(root.glob(f"*/*_{CUMULATIVE}.jsonl"))
    if not files or len(files) > FILES_MAX:
        raise SourceRejected(
            f"expected 1 to {FILES_MAX} files SET/MODEL_{CUMULATIVE}.jsonl below {root}; found {len(files)}. Name a "
            "checkout of suzgunmirac/dynamic-cheatsheet, or its folder results (--data DIR)"
        )
    found = [_stream(file) for file in files if _beside(file, EMPTY).is_file()]
    if not found:
        raise SourceRejected(f"no stream below {root} has the answers of an empty memory beside it ({EMPTY})")
    return tuple(found)


def _beside(file: Path, variant: str) -> Path:
    return file.with_name(file.name.replace(CUMULATIVE, variant))


def _stream(file: Path) -> Stream:
    told = [*_lines(file)]
    states = [_state(one, file) for one in told]
    right = {}
    for variant in VARIANTS:
        other = _beside(file, variant)
        if other.is_file():
            answered = [*_lines(other)]
            if [_text(one, "raw_input", other) for one in answered] != [_text(one, "raw_input", file) for one in told]:
                raise FormatError(f"{other} and {file} should hold the same questions in the same order, and do not")
            right[variant] = tuple(
                _text(one, "final_answer", other).strip() == _text(one, "target", other).strip() for one in answered
            )
    sizes = [len(one) for one in states]
    halved = [at for at in range(1, len(sizes)) if sizes[at] < HALVED * sizes[at - 1]]
    name = f"{file.parent.name} {file.name.removesuffix(f'_{CUMULATIVE}.jsonl')}"
    return Stream(name, right, tuple(sizes), tuple(halved), _detail(states, numbers), _detail(states, lines))


def numbers(text: str) -> Parts:
    """Give the exact numbers of a memory."""
    return frozenset(_NUMBER.findall(text))


def lines(text: str) -> Parts:
    """Give the lines of a memory that are long enough to be told apart."""
    return frozenset(it for line in text.splitlines() if len(it := line.strip()) >= LINE_CHARACTERS_MIN)


def _detail(states: Sequence[str], parts_of: Callable[[str], Parts]) -> Detail:
    stood = [parts_of(one) for one in states]
    survives = []
    for later in LATER:
        pairs = [*zip(stood, stood[later:], strict=False)]
        survives.append(
            Survives(later, sum(len(one & other) for one, other in pairs), sum(len(one) for one, _ in pairs))
        )
    ever = frozenset[str]().union(*stood)
    return Detail(tuple(survives), len(ever), len(stood[-1]) if stood else 0)


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    if file.stat().st_size > FILE_BYTES_MAX:
        raise FormatError(f"{file} is larger than {FILE_BYTES_MAX >> 20} MB, and no result file is")
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        try:
            found = json.loads(line)
        except ValueError as error:
            raise FormatError(f"line {number} of {file} should be JSON, and is not ({error})") from error
        if not isinstance(found, dict):
            raise FormatError(f"line {number} of {file} should be an object; got {line[:60]!r}")
        yield found


def _text(one: dict[str, Any], name: str, file: Path) -> str:
    if name not in one:
        raise FormatError(f"a line of {file} has no {name!r}; it has {', '.join(one)[:120]}")
    return str(one[name])


def _state(one: dict[str, Any], file: Path) -> str:
    steps = one.get("steps")
    last = steps[-1] if isinstance(steps, list) and steps else None
    if not isinstance(last, dict) or not isinstance(last.get("new_cheatsheet"), str):
        raise FormatError(f"a line of {file} should end with a step that has a new_cheatsheet, and has none")
    return str(last["new_cheatsheet"])
