"""Runs the evaluation: a session, a memory of it, a fresh session, a correction, and an item that keeps all of it.

A case says everything that one question depends on; an item is what came of it. The
invariant: an item's key is made of every parameter of its case and of its reader, the
temperature included, so that an item read back from a file stands for exactly the case
it was made of; items are yielded as they are made, so that a run that breaks off loses
none; and the outcomes of a run add up to its cases.

It knows no experiment (`sweeps`) and no table.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from firsthand.errors import FormatError, InvalidArgument
from firsthand.evals.reclaim import drift, scoring, seam
from firsthand.evals.reclaim.corrections import DIRECTED, correction
from firsthand.evals.reclaim.readers import MAY_RECALL, MEMORY_HEAD, RECALL, RECALLED, REPLY_TOKENS_MAX, SYSTEM, Reader
from firsthand.evals.reclaim.seam import BUDGET_CHARACTERS, CUT, Carried, Memory, Subject
from firsthand.evals.reclaim.tasks import Problem
from firsthand.tokens import estimate
from firsthand.value import asdict, value

VERSION = 1
"""Of what an item means; raised when a case of the same parameters would be asked in other words."""
PULLS_MAX = 4
REPETITIONS_MAX = 1_000
CASES_MAX = 1_000_000
CALLS_MAX = 2_000
"""Of a reader that costs; more must be asked for."""
LINE_BYTES_MAX = 64 << 20
NO_MORE = "You have asked often enough; answer now."

Probe = Callable[[str, Sequence[Mapping[str, str]], Memory], str]
"""Says how correctable a carried text is (one of the probe's regimes), of the session it stands for."""


@value
class Case:
    """One question to one memory, with everything it depends on.

    Attributes:
        experiment: whose item it is.
        depth, filler, source_at, premise: see `drift.dialogue`.
        budget: characters that may be carried; None carries the whole session, as if it had not ended.
        repetition: number of this one among equal cases.
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
    budget: int | None = BUDGET_CHARACTERS
    repetition: int = 0
    extra: tuple[tuple[str, str | int | float], ...] = ()
    say: Callable[[Sequence[Mapping[str, str]]], str] | None = None
    said_by: str = ""

    def parameters(self, reader: Reader) -> dict[str, Any]:
        """Give what the item's key is made of."""
        return {
            "version": VERSION, "experiment": self.experiment, "memory": self.subject.name, "reader": reader.name,
            "temperature": reader.temperature, "problem": self.problem.id, "family": self.problem.family,
            "correction": self.correction, "depth": self.depth, "filler": self.filler, "source_at": self.source_at,
            "premise": self.premise, "budget": self.budget, "repetition": self.repetition, "said_by": self.said_by,
            **dict(self.extra),
        }  # fmt: skip


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
        prompt_tokens: sent to the reader in all, estimated.
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
    prompt_tokens: int

    @property
    def emitted(self) -> bool:
        """True when it commits to a value, right or wrong."""
        return self.outcome in scoring.EMITTED


@value
class Talk:
    """A fresh session: what was said in it, and what the memory was asked."""

    messages: tuple[dict[str, str], ...]
    replies: tuple[str, ...]
    pulls: tuple[seam.Pull, ...]
    prompt_tokens: int


@value
class Planned:
    """What a run will ask of its reader: at least so many calls, with about so many tokens; pulls come on top."""

    cases: int
    calls: int
    tokens: int


def cases(
    memory: Any,
    problems: Sequence[Problem],
    *,
    corrections: Sequence[str] = (DIRECTED,),
    repetitions: int = 1,
    experiment: str = "reclaim",
    **same: Any,
) -> tuple[Case, ...]:
    """Make the cases of one memory: each problem under each correction.

    Args:
        memory: see `seam.subject`.
        same: further fields of `Case`, the same for all.

    Raises:
        InvalidArgument: there is no problem, a number is out of its range, or it is no memory.
    """
    if not problems or not corrections:
        raise InvalidArgument("an evaluation wants at least one problem and one correction; got none")
    if repetitions not in range(1, REPETITIONS_MAX + 1):
        raise InvalidArgument(f"repetitions are a whole number from 1 to {REPETITIONS_MAX:,}; got {repetitions!r}")
    subject = seam.subject(memory)
    return tuple(
        Case(experiment, subject, problem, kind, repetition=repetition, **same)
        for problem in problems
        for kind in corrections
        for repetition in range(repetitions)
    )


def plan(asked: Sequence[Case], reader: Reader, known: Mapping[str, Item] | None = None) -> Planned:
    """Say what asking will take, without asking."""
    left = [case for case in asked if key(case, reader) not in (known or {})]
    turns = [correction(case.correction, case.problem).turns for case in left]
    tokens = 0
    for case, said in zip(left, turns, strict=True):
        carried = case.budget if case.budget is not None else 400 * (case.depth + case.filler + 1)
        tokens += len(said) * (estimate(SYSTEM + "".join(said)) + carried // 4 + REPLY_TOKENS_MAX)
    return Planned(len(left), sum(map(len, turns)), tokens)


def run(
    asked: Sequence[Case],
    reader: Reader,
    *,
    known: Mapping[str, Item] | None = None,
    over: str = CUT,
    probe: Probe | None = None,
    calls_max: int = CALLS_MAX,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Item]:
    """Ask every case, and yield what came of it, in order.

    Args:
        known: items by their key, such as `load` gives them: these cases are not asked again.
        over: ``cut`` or ``error``: what to do with a text over the budget.
        probe: judges what was carried.
        progress: called with cases done and cases in all.

    Raises:
        InvalidArgument: there are too many cases, two are the same, or a reader that costs would be asked too often;
            nothing is asked then.
        ModelError: the reader gave no reply. What was yielded before is whole; run again with it as ``known``.
    """
    keys = [key(case, reader) for case in asked]
    if len(keys) > CASES_MAX or len(set(keys)) < len(keys):
        raise InvalidArgument(f"a run has at most {CASES_MAX:,} cases, all different; got {len(keys):,}, "
                              f"{len(set(keys)):,} of them different")  # fmt: skip
    planned = plan(asked, reader, known)
    if reader.costs and planned.calls > calls_max:
        raise InvalidArgument(
            f"this run asks {reader.name} at least {planned.calls:,} times and at most {calls_max:,} are allowed; "
            "take fewer problems, corrections or repetitions, or allow more calls"
        )
    for number, (case, name) in enumerate(zip(asked, keys, strict=True), 1):
        kept = (known or {}).get(name)
        yield kept if kept is not None else ask(case, reader, over=over, probe=probe)
        if progress is not None:
            progress(number, len(asked))


def ask(case: Case, reader: Reader, *, over: str = CUT, probe: Probe | None = None) -> Item:
    """Ask one case."""
    problem = case.problem
    # 1) the session that drifts
    session = drift.dialogue(
        problem, case.depth, filler=case.filler, source_at=case.source_at, premise=case.premise, say=case.say
    )
    # 2) what a memory makes of it
    memory: Memory | None = None
    carried = Carried("", 0, 0, 0, over=False)
    if case.budget is not None:
        memory = case.subject.make(problem) if case.subject.policy else case.subject.make()
        carried = seam.carry(memory, session, case.budget, over=over)
    # 3) the correction in a fresh session, or at the end of the same one
    before = opening(carried.text, memory) if memory is not None else session
    turns = correction(case.correction, problem).turns
    said = talk(reader, before, turns, memory)
    scored = scoring.score(said.replies[-1], problem)
    regime = probe(carried.text, session, memory) if probe is not None and memory is not None else ""
    attractor = problem.attractor if case.say is None else _committed(session, problem)
    outcome = scored.outcome
    if scored.value and outcome != scoring.RECOVERED:  # what it had concluded by itself may differ from the script
        outcome = scoring.ATTRACTOR if scored.value == attractor else scoring.WRONG
    return Item(
        key(case, reader), case.parameters(reader), sha256(session), carried.text, carried.used, carried.written,
        carried.over, tuple(asdict(one) for one in said.pulls), turns, said.replies, outcome, scored.value,
        scored.hedged, problem.answer, attractor, regime, said.prompt_tokens,
    )  # fmt: skip


def opening(carried: str, memory: Memory) -> list[dict[str, str]]:
    """Write the start of a fresh session, that has nothing but what was carried."""
    told = f"{SYSTEM} {MAY_RECALL.format(most=PULLS_MAX)}" if seam.recalls(memory) else SYSTEM
    return [{"role": "system", "content": f"{told}\n\n{MEMORY_HEAD}\n{carried}"}]


def talk(reader: Reader, before: Sequence[Mapping[str, str]], turns: Sequence[str], memory: Memory | None) -> Talk:
    """Say the turns one by one, and let the reader answer each, asking the memory in between if it can be asked."""
    messages = [dict(one) for one in before]
    replies: list[str] = []
    pulls: list[seam.Pull] = []
    tokens = 0
    for turn in turns:
        messages.append({"role": "user", "content": turn})
        for asked in range(PULLS_MAX + 2):
            tokens += sum(estimate(one["content"]) for one in messages)
            reply = reader.answer(messages)
            messages.append({"role": "assistant", "content": reply})
            query = _query(reply) if memory is not None and seam.recalls(memory) else None
            if query is None or asked == PULLS_MAX + 1:
                break
            if asked == PULLS_MAX:
                messages.append({"role": "user", "content": f"{RECALLED} {NO_MORE}"})
                continue
            assert memory is not None  # without one there is no query
            pulls.append(seam.pull(memory, query))
            messages.append({"role": "user", "content": f"{RECALLED}\n{pulls[-1].text}"})
        replies.append(reply)
    return Talk(tuple(messages), tuple(replies), tuple(pulls), tokens)


def _query(reply: str) -> str | None:
    """Give what a reply asks the memory for; None when it answers."""
    first = reply.strip().split("\n", 1)[0]
    return first.removeprefix(RECALL).strip() if first.startswith(RECALL) and "ANSWER:" not in reply else None


def _committed(session: Sequence[Mapping[str, str]], problem: Problem) -> str:
    """Give what a session that was not scripted concluded; empty when it committed to nothing."""
    for message in reversed(session):
        line = scoring.answer_line(message["content"]) if message["role"] == "assistant" else None
        found = scoring.values(line, problem.kind, problem.options) if line else []
        if len(found) == 1:
            return found[0]
    return ""


# items in a file -----------------------------------------------------------------------------------


def key(case: Case, reader: Reader) -> str:
    """Give the key of a case and its reader."""
    return sha256(case.parameters(reader))[:24]


def sha256(thing: Any) -> str:
    """Hash JSON values."""
    return hashlib.sha256(json.dumps(thing, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def keep(items: Iterable[Item], file: Path) -> Iterator[Item]:
    """Write items to a file as they come, one a line, behind those that it has; yield them on."""
    held = set(load(file))
    _mend(file)
    with file.open("a", encoding="utf-8", newline="\n") as opened:
        for item in items:
            if item.key not in held:
                opened.write(json.dumps(asdict(item), ensure_ascii=False) + "\n")
                opened.flush()
            yield item


def load(file: Path) -> dict[str, Item]:
    """Read the items of a file, by key; empty without a file. A last line that was cut off is left out.

    Raises:
        FormatError: another line is no item.
    """
    if not file.is_file():
        return {}
    found: dict[str, Item] = {}
    with file.open("rb") as opened:
        for number, line in enumerate(iter(lambda: opened.readline(LINE_BYTES_MAX), b""), 1):
            if not line.endswith(b"\n"):
                return found  # the run broke off while it was written; that case is asked again
            try:
                item = _item(json.loads(line))
            except (ValueError, TypeError) as error:
                raise FormatError(
                    f"{file}:{number} is no item of this evaluation ({error}); delete the line"
                ) from error
            found[item.key] = item
    return found


def _mend(file: Path) -> None:
    """Cut off a last line that is not whole, so that what is written next does not run into it."""
    whole = file.read_bytes() if file.is_file() else b""
    if whole and not whole.endswith(b"\n"):
        with file.open("rb+") as opened:
            opened.truncate(whole.rfind(b"\n") + 1)


def _item(row: dict[str, Any]) -> Item:
    row |= {name: tuple(row[name]) for name in ("pulls", "turns", "replies") if name in row}
    return Item(**row)
