"""Asks one case: a session, a memory of it, a fresh session, a correction, a scored reply.

The invariant: the fresh session holds nothing of the first one but what was carried, and
what the memory answers when it is asked; the memory is closed, if it can be, whatever
happens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from firsthand.value import asdict, value
from firsthand_evals.reclaim import scoring, seam
from firsthand_evals.reclaim.corrections import correction
from firsthand_evals.reclaim.items import Case, Item, key, sha256
from firsthand_evals.reclaim.readers import MAY_RECALL, MEMORY_HEAD, PULLS_MAX, RECALL, RECALLED, SYSTEM, Reader
from firsthand_evals.reclaim.seam import Carried, Memory
from firsthand_evals.reclaim.tasks import Problem

NO_MORE = "You have asked often enough; answer now."

Probe = Callable[[str, Sequence[Mapping[str, str]], Memory], str]
"""Says how correctable a carried text is (one of the probe's regimes), of the session it stands for."""


@value
class Talk:
    """A fresh session: what was said in it, and what the memory was asked."""

    messages: tuple[dict[str, str], ...]
    replies: tuple[str, ...]
    pulls: tuple[seam.Pull, ...]


def ask(case: Case, reader: Reader, *, probe: Probe | None = None) -> Item:
    """Ask one case."""
    problem = case.problem
    # 1) the session that drifts
    session = case.session()
    turns = correction(case.correction, problem)
    if case.budget is None:  # it goes on in the same session
        carried, regime, said = Carried("", 0, 0, 0, over=False), "", talk(reader, session, turns, None)
    else:
        with seam.made(case.subject, problem) as memory:
            # 2) what a memory makes of it
            carried = seam.carry(memory, session, case.budget)
            regime = probe(carried.text, session, memory) if probe is not None else ""
            # 3) the correction in a fresh session
            said = talk(reader, opening(carried.text, memory), turns, memory)
    # 4) what came of it
    scored = scoring.score(said.replies[-1], problem)
    attractor = problem.attractor if case.say is None else _committed(session, problem)
    outcome = scored.outcome
    if scored.value and outcome != scoring.RECOVERED:  # what it had concluded by itself may differ from the script
        outcome = scoring.ATTRACTOR if scored.value == attractor else scoring.WRONG
    return Item(
        key(case, reader), case.parameters(reader), sha256(session), carried.text, carried.used, carried.written,
        carried.over, tuple(asdict(pull) for pull in said.pulls), turns, said.replies, outcome, scored.value,
        scored.hedged, problem.answer, attractor, regime,
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
    for turn in turns:
        messages.append({"role": "user", "content": turn})
        for asked in range(PULLS_MAX + 2):
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
    return Talk(tuple(messages), tuple(replies), tuple(pulls))


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
