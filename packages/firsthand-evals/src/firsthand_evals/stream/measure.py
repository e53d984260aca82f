"""What a memory is worth after one update: what it answers, what it lost, what stands in it word for word.

    seen          current facts that are answered right
    exceptions    ... those that the rule of their family does not give
    rule          questions that no episode answers, by the rule
    p0            ... of these, the ones that are answered without any memory; alone: how many these are
    variant       current facts, some of them, asked for in other words
    regressed     of what was answered right before and is current still, the share that is answered wrong
    kept          episodes whose question and answer stand in one line of the memory
    characters    that a reader is given for one question, over current facts and questions that no episode answers
    whole         its length; of one that is asked, that of all its answers to current facts if these are more

The invariant: all are counted by equality with what the world says; no judge is asked. A
value that a later one took the place of is no regression. It knows no consolidator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from firsthand.ledger.entries import BETWEEN, CASE, RULE, Episode, View, current
from firsthand.ledger.solver import Solver, Weak, shape_of
from firsthand.value import field, value
from firsthand_evals.stream.arms import RETRIEVED_LINES, Shows
from firsthand_evals.stream.port import PortView
from firsthand_evals.stream.rules import Strong
from firsthand_evals.stream.world import Understanding, World, reworded

STRONG, WEAK = "strong", "weak"
MODEL = "model"
"""The reader that is one."""
READERS = (STRONG, WEAK)
"""A reader that makes a rule of three cases by itself, and one that can not."""
HALVED = 0.5
VARIANTS_MAX = 32
"""Current facts that are asked for in other words: as many, at equal distance."""
Figures = Mapping[str, float]


@value(eq=False)
class Before:
    """What earlier updates showed.

    Attributes:
        right: by reader, the answers that were right once, by question.
        characters: of the memory after the last update; None before the first.
    """

    right: dict[str, dict[str, str]] = field(default_factory=dict)
    characters: list[int] = field(default_factory=list)


def readers(world: World) -> dict[str, Solver]:
    """Give both readers, with what they know by themselves of a world."""
    return {STRONG: Strong(world.knows()), WEAK: Weak(world.knows())}


def measured(
    world: World, view: View | PortView, episodes: Sequence[Episode], shows: Shows, asked: Mapping[str, Solver],
    before: Before, length: int | None = None,
) -> Figures:  # fmt: skip
    """Measure a memory after an update, and remember what was right.

    Args:
        episodes: all that happened so far.
        shows: what of the view a reader is given.
        length: of what is retrieved for a question, in characters; None goes by the number of lines.
    """
    view = View() if shows == "nothing" else view
    text, given = view.text, lru_cache(maxsize=None)(_given(view, shows, length))
    now = current(episodes)
    figures: dict[str, float] = {}
    for name, solver in asked.items():
        right = {
            question: episode.answer for question, episode in now.items()
            if solver.answer(episode.case, given(question)) == episode.answer
        }  # fmt: skip
        off_rule = [question for question, episode in now.items() if episode.answer != world.by_rule(question)]
        was = before.right.setdefault(name, {})
        held = [question for question, answer in was.items() if now[question].answer == answer]
        by_rule = [solver.answer(task.question, given(task.question)) == task.answer for task in world.unseen]
        words = Understanding(solver, world.own)
        others = [
            words.answer(asked_so, given(asked_so if shows == "own" else episode.question)) == episode.answer
            for place, episode in enumerate(_some([*now.values()]))
            for asked_so in (reworded(episode.case, place),)
        ]
        without = [task for task in world.unseen if solver.answer(task.question, "") == task.answer]
        alone = [solver.answer(task.question, given(task.question)) == task.answer for task in without]
        figures |= {
            f"seen {name}": _share(len(right), len(now)),
            f"exceptions {name}": _share(sum(one in right for one in off_rule), len(off_rule)),
            f"rule {name}": _share(sum(by_rule), len(by_rule)), f"p0 {name}": _share(sum(alone), len(alone)),
            f"alone {name}": _share(len(without), len(world.unseen)),
            f"variant {name}": _share(sum(others), len(others)),
            f"regressed {name}": _share(sum(one not in right for one in held), len(held), none=0.0),
        }  # fmt: skip
        was |= right
    answers = [given(question) for question in now]
    whole = len(text)
    if isinstance(view, PortView) and view.port.asks:  # one that shows little keeps what it answers all the same
        whole = max(whole, len("\n".join({line: None for answer in answers for line in answer.split("\n")})))
    answers += [given(task.question) for task in world.unseen]
    figures |= {"characters": sum(map(len, answers)) / len(answers), "whole": whole}
    return {**figures, **_size(view, text, whole, episodes, before)}


def _some(facts: Sequence[Episode]) -> Sequence[Episode]:
    """Choose facts at equal distance."""
    return facts[:: max(1, -(-len(facts) // VARIANTS_MAX))]


def _given(view: View | PortView, shows: Shows, length: int | None) -> Callable[[str], str]:
    """Give what a reader is given for a question."""
    if isinstance(view, PortView) and view.port.asks:
        return view.port.ask
    if isinstance(view, View) and shows == "retrieved":
        return _retrieved(view, length)
    text = view.text
    return lambda _: text


def _size(view: View | PortView, text: str, whole: int, episodes: Sequence[Episode], before: Before) -> Figures:
    known = {episode.pointer: episode for episode in episodes}
    families = [{known[name].scope for name in entry.sources if name in known} for entry in view.entries]
    lines = text.split("\n") if text else []
    was = before.characters[-1] if before.characters else 0
    before.characters.append(whole)
    return {
        "entries": len(view.entries), "raw": len(view.raw),
        "families covered": len(set().union(*families)) if families else 0,
        "of several families": sum(len(family) > 1 for family in families),
        "without sources": sum(not entry.sources for entry in view.entries), "said twice": len(lines) - len(set(lines)),
        "halved": float(whole < HALVED * was), "kept": _share(len(standing(text, episodes)), len(episodes)),
    }  # fmt: skip


def standing(text: str, episodes: Sequence[Episode]) -> frozenset[str]:
    """Name the episodes whose question and answer stand in one line of a memory, rule or case."""
    told = {line.removeprefix(CASE).removeprefix(RULE) for line in text.split("\n")}
    return frozenset(episode.pointer for episode in episodes if f"{episode.case}{BETWEEN}{episode.answer}" in told)


def _retrieved(view: View, length: int | None) -> Callable[[str], str]:
    """Give of the raw episodes those of a question's shape: its own answer, and the newest others.

    Args:
        length: in characters, of all lines together, which then go on with the newest of other shapes; None gives the
            named number of lines.
    """
    by_shape: dict[str, list[Episode]] = {}
    own: dict[str, Episode] = {}
    for episode in view.raw:
        by_shape.setdefault(shape_of(episode.question)[0], []).append(episode)
        own[episode.question] = episode

    def given(question: str) -> str:
        asked = " ".join(question.casefold().split())
        near = [episode for episode in by_shape.get(shape_of(asked)[0], ()) if episode.question != asked]
        answer = [own[asked]] if asked in own else []
        if length is None:
            return "\n".join(episode.line for episode in (*near[-RETRIEVED_LINES + len(answer) :], *answer))
        there = {episode.pointer for episode in near}
        far = (episode for episode in reversed(view.raw) if episode.pointer not in there and episode.question != asked)
        return "\n".join(reversed([*_within((episode.line for episode in (*answer, *reversed(near), *far)), length)]))

    return given


def _within(lines: Iterable[str], length: int) -> Iterator[str]:
    """Give lines as far as they fit, line ends counted."""
    left = length + 1
    for line in lines:
        left -= len(line) + 1
        if left < 0:
            return
        yield line


def _share(hits: int, n: int, *, none: float = 1.0) -> float:
    return hits / n if n else none
