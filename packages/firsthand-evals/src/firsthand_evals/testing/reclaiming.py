"""What a memory is asked of sessions that went wrong, and what came of it, item by item.

The invariant: every memory is asked the same cases for the same arguments; an item is
broken by what is in it, and nothing is left out of the count.
"""

from __future__ import annotations

import json
import random
import sys
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firsthand import InvalidArgument, pointer
from firsthand.errors import MemoryFault
from firsthand.value import value
from firsthand_evals.probe.probe import probe
from firsthand_evals.reclaim import run, scoring, seam, tasks
from firsthand_evals.reclaim.ask import opening
from firsthand_evals.reclaim.drift import PLACES, WORDINGS
from firsthand_evals.reclaim.items import Case, Item
from firsthand_evals.reclaim.readers import Recomputing

if TYPE_CHECKING:
    from firsthand_evals.probe.probe import Verdict
    from firsthand_evals.reclaim.readers import Reader
    from firsthand_evals.reclaim.seam import Memory, Subject

FILLER = 4
SIZES = (4, 8, 16, 32)
CONSIDERED = (8, 16, 32)
CHAINS = (4, 8)
WRONG = (scoring.WRONG, scoring.ATTRACTOR)
SILENT = "uncorrectable_silent"
CORRECTABLE, NO_SILENT_PARTIAL = "correctable", "no_silent_partial"


@value
class Asked:
    """A case, what came of it, and what the probe says of what was carried."""

    case: Case
    item: Item
    verdict: Verdict | None


@value
class Reclaimed:
    """What came of all cases of an assertion.

    Attributes:
        of: which assertion; ``name``: of the memory; ``address``: for the command line, empty when it has none.
        shared: True when one object served for all problems.
        broken: those that do not hold, in order.
        least: share that must hold.
    """

    of: str
    name: str
    address: str
    shared: bool
    budget: int
    asked: tuple[Asked, ...]
    broken: tuple[Asked, ...]
    least: float

    @property
    def held(self) -> bool:
        """Whether the assertion holds."""
        return len(self.asked) - len(self.broken) >= self.least * len(self.asked)

    @property
    def figures(self) -> str:
        """Say how many were brought back, or were wrong."""
        if self.of == CORRECTABLE:
            return f"{len(self.asked) - len(self.broken)} of {len(self.asked)} items were brought back"
        return f"{len(self.broken)} of {len(self.asked)} items were wrong, or looked whole, without a sign"


def correctable(
    memory: Any, *, budget: int = 600, problems: int = 6, seed: int = 0, least: float = 1.0,
    reader: Reader | None = None,
) -> Reclaimed:  # fmt: skip
    """Ask for sums and puzzles whose source stands anywhere in the session; see `assert_correctable`.

    Raises:
        InvalidArgument: it is no memory, or a number is out of its range.
    """
    if not 0 < least <= 1:
        raise InvalidArgument(f"least is a share of the items, over 0 and at most 1; got {least!r}")
    subject = seam.subject(memory)
    cases = [
        Case(CORRECTABLE, subject, problem, filler=FILLER, source_at=place, wording=number % len(WORDINGS),
             budget=budget)
        for problems_of in (tasks.arithmetic(problems, seed), tasks.logic(problems, seed))
        for number, problem in enumerate(problems_of)
        for place in PLACES
    ]  # fmt: skip
    asked = tuple(_ask(cases, reader))
    broken = tuple(one for one in asked if one.item.outcome != scoring.RECOVERED)
    return Reclaimed(CORRECTABLE, subject.name, address(memory), subject.shared, budget, asked, broken, least)


def no_silent_partial(
    memory: Any, *, budget: int = 300, problems: int = 3, seed: int = 0, reader: Reader | None = None
) -> Reclaimed:
    """Ask where the source does not fit, is hidden, or comes bit by bit; see `assert_no_silent_partial`.

    Raises:
        InvalidArgument: it is no memory, or a number is out of its range.
    """
    subject = seam.subject(memory)
    asked = tuple(_ask(list(_outgrowing(subject, budget, problems, seed)), reader))
    broken = tuple(one for one in asked if _is_silent(one.item))
    return Reclaimed(NO_SILENT_PARTIAL, subject.name, address(memory), subject.shared, budget, asked, broken, 1.0)


def address(memory: Any) -> str:
    """Give what the command line takes for a function or class; empty for what has no such name.

    ``./file.py:name`` for a module that stands in the current folder, else ``module:name``.
    """
    module, name = getattr(memory, "__module__", ""), getattr(memory, "__qualname__", "")
    if not module or not name or "<" in name or module == "__main__":
        return ""
    file = Path(getattr(sys.modules.get(module), "__file__", None) or "")
    here = file.suffix == ".py" and file.parent == Path.cwd()
    return f"./{file.name}:{name}" if here else f"{module}:{name}"


def _outgrowing(subject: Subject, budget: int, problems: int, seed: int) -> Iterator[Case]:
    for items in SIZES:
        for problem in tasks.ledger(problems, items, seed):
            yield Case(NO_SILENT_PARTIAL, subject, problem, budget=budget, extra=(("items", items),))
    for decoys in CONSIDERED:
        for problem in tasks.noisy(problems, decoys, seed):
            yield Case(NO_SILENT_PARTIAL, subject, problem, budget=budget, extra=(("considered", decoys),))
    for hops in CHAINS:  # nobody errs in them: what goes wrong there, the memory did
        for problem in tasks.ledger(problems, hops, seed):
            yield Case(NO_SILENT_PARTIAL, subject, problem, budget=budget, premise=False, hops=hops)


def _is_silent(item: Item) -> bool:
    """Say whether an item is wrong without a sign: a wrong value was given, or the note looks as if it were whole."""
    if item.outcome == scoring.FAILED or item.outcome in WRONG or item.blast:
        return True
    return item.outcome != scoring.RECOVERED and item.regime == SILENT


def _ask(cases: Sequence[Case], reader: Reader | None) -> Iterator[Asked]:
    """Ask the cases one by one, and let the probe judge what each carried."""
    for case in cases:
        judged: list[Verdict] = []
        item = run.one(case, reader or Recomputing(), probe=_judge(case.problem.ask, judged))
        yield Asked(case, item, judged[-1] if judged else None)


def _judge(claim: str, judged: list[Verdict]) -> Callable[[str, Sequence[Mapping[str, str]], Memory], str]:
    """Make the probe of a case, which leaves its verdict in a list."""

    def judge(text: str, session: Sequence[Mapping[str, str]], memory: Memory) -> str:
        expand = (lambda at: _pulled(memory, at)) if seam.recalls(memory) else None
        judged.append(probe(text, [dict(one) for one in session], claim=claim, expand=expand))
        return judged[-1].regime

    return judge


def _pulled(memory: Memory, at: str) -> str | None:
    """Ask a memory for what stands at a pointer of ours; None for another address, or when it answers nothing."""
    return (seam.pull(memory, at).text or None) if pointer.find(at) else None


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
                told = [line for line in lines if line.session == session]
                carried = seam.carry(made, [*opening(carried, made), *_messages(told)], budget).text
            lost = [one for line in lines if (one := _lost(made, carried, line)) is not None]
    except MemoryFault as error:
        fault = str(error)
    return Lossless(subject.name, address(memory), subject.shared, budget, asks, lines, tuple(lost),
                    sum(len(line.text) for line in lines), carried, fault)  # fmt: skip


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
