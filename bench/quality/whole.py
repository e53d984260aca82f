"""Measure one set whole: every method on the same questions, ours, the baselines and the peers; then count."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from timing import percentile, say

from . import baselines, hops, measures, ours, peers, sureness
from .baselines import Baselines, Embed
from .encoder import MODEL
from .measures import SHARES, Estimate, Row
from .ours import Attempts, Configuration
from .values import Half, Question, Ranked, Talk

ALL = "all"
BASELINES = (baselines.WORDS, baselines.DENSE, baselines.FUSED, baselines.WEIGHED)
_TEN = SHARES.index("recall@10")


@dataclass(frozen=True, slots=True)
class Setting:
    """What a run works with.

    Attributes:
        work: folder for stores and the peers' answers; what is kept there is found again.
        embed: gives a text's vector, one row a text.
        peers_python: an interpreter that has the peers; None leaves them out.
    """

    work: Path
    embed: Embed
    stems: Callable[[str], list[str]]
    configurations: tuple[Configuration, ...]
    peers_python: Path | None


@dataclass(frozen=True, slots=True)
class Asked:
    """A talk and all that is asked of it: its own questions, then those of another talk."""

    talk: Talk
    questions: tuple[Question, ...]


def measure(name: str, talks: Sequence[Talk], setting: Setting) -> dict[str, Any]:
    """Measure one set; gives values for the report, estimates as dictionaries."""
    asked = [Asked(talk, talk.questions + sureness.foreign(talks, number)) for number, talk in enumerate(talks)]
    ranked: dict[str, list[Ranked]] = {}
    _add(ranked, _baselines(asked, setting))
    if setting.peers_python:
        _add(ranked, _peers(name, asked, setting))
    attempts: dict[str, list[Attempts]] = {}
    about: dict[str, Any] = {}
    for configuration in setting.configurations:
        told = _ours(configuration, asked, setting)
        ranked[configuration.name] = [one for part in told for one in part.ranked]
        attempts[configuration.name] = [one for part in told for one in part.attempts]
        about[configuration.name] = _about(told)
    return _values({
        "set": name,
        "talks": {half.value: sum(one.talk.half is half for one in asked) for half in Half},
        "events": sum(len(one.talk.said) for one in asked),
        "quality": _quality(asked, ranked, list(about)),
        "sureness": _sureness(asked, ranked, list(about)),
        "proposition 1": {one: _proposition(asked, made) for one, made in attempts.items() if made},
        "ours": about,
    })  # fmt: skip


# rankings --------------------------------------------------------------------------------------------


def _baselines(asked: Sequence[Asked], setting: Setting) -> dict[str, list[Ranked]]:
    method = Baselines(setting.stems, setting.embed)
    out: dict[str, list[Ranked]] = {}
    for one in asked:
        say(f"{one.talk.name}: baselines")
        _add(out, method.rank(one.talk.said, one.questions))
    return out


def _peers(name: str, asked: Sequence[Asked], setting: Setting) -> dict[str, list[Ranked]]:
    assert setting.peers_python is not None, "asked for only with an interpreter"
    say(f"{name}: peers")
    folder = setting.work / "peers"
    folder.mkdir(parents=True, exist_ok=True)
    given = {one.talk.name: (one.talk, one.questions) for one in asked}
    found = peers.measured(setting.peers_python, folder, setting.work / "models" / MODEL, setting.embed, given)
    return {label: [one for talk in asked for one in by_talk[talk.talk.name]] for label, by_talk in found.items()}


def _ours(configuration: Configuration, asked: Sequence[Asked], setting: Setting) -> list[ours.Told]:
    out = []
    for one in asked:
        say(f"{one.talk.name}: {configuration.name}")
        folder = Path(tempfile.mkdtemp(prefix="store-", dir=setting.work))
        try:
            out.append(ours.told(configuration, folder / "store", one.talk, one.questions))
        finally:
            shutil.rmtree(folder)
    return out


def _add(into: dict[str, list[Ranked]], more: Mapping[str, list[Ranked]]) -> None:
    for name, ranked in more.items():
        into.setdefault(name, []).extend(ranked)


def _about(told: Sequence[ours.Told]) -> dict[str, Any]:
    seconds = [one for part in told for one in part.seconds]
    return {
        "threshold": told[0].threshold,
        "gates": sorted({part.gate for part in told if part.gate}),
        "answers with vectors": sum(part.near for part in told) / len(seconds),
        "recall p50 ms": 1e3 * percentile(seconds, 0.5),
        "recall p95 ms": 1e3 * percentile(seconds, 0.95),
    }


# counting --------------------------------------------------------------------------------------------


def _quality(asked: Sequence[Asked], ranked: Mapping[str, list[Ranked]], own: Sequence[str]) -> dict[str, Any]:
    """Count each method over all answerable questions, by half and by group, and ours beside each other one."""
    which = [(one, question) for one in asked for question in one.questions]
    answerable = [number for number, (_, question) in enumerate(which) if question.evidence]
    counts = {
        method: np.array([
            measures.counted(rankings[number].units(which[number][0].talk.said), which[number][1].evidence)
            for number in answerable
        ])
        for method, rankings in ranked.items()
    }  # fmt: skip
    halves = [which[number][0].talk.half for number in answerable]
    parts = {ALL: np.ones(len(answerable), bool)} | {
        half.value: np.array([one is half for one in halves]) for half in Half
    }
    parts = {part: chosen for part, chosen in parts.items() if chosen.any()}
    groups = [which[number][1].group for number in answerable]
    ten = {method: rows[:, _TEN] for method, rows in counts.items()}
    return {
        "n": {part: int(chosen.sum()) for part, chosen in parts.items()},
        "methods": {
            method: {part: _shares(rows[chosen]) for part, chosen in parts.items()} for method, rows in counts.items()
        },
        "groups, recall@10": {
            group: {method: measures.estimate(row) for method, row in rows.items()}
            for group, rows in measures.by_group(groups, ten).items()
        },
        "differences": {
            mine: {
                other: {
                    part: _differences(counts[mine][chosen], counts[other][chosen]) for part, chosen in parts.items()
                }
                for other in counts
                if other != mine
            }
            for mine in own
        },
    }


def _shares(rows: Row) -> dict[str, Estimate]:
    return {share: measures.estimate(rows[:, column]) for column, share in enumerate(SHARES)}


def _differences(mine: Row, other: Row) -> dict[str, Estimate]:
    return {share: measures.difference(mine[:, column], other[:, column]) for column, share in enumerate(SHARES)}


def _sureness(asked: Sequence[Asked], ranked: Mapping[str, list[Ranked]], own: Sequence[str]) -> dict[str, Any]:
    """Set what each method claims of answerable questions beside what it claims of those that are not, by kind."""
    which = [(one, question) for one in asked for question in one.questions]
    kinds = sorted({question.group for _, question in which if not question.evidence})
    if not kinds:
        return {}
    out: dict[str, Any] = {}
    yes = [number for number, (_, question) in enumerate(which) if question.evidence]
    found = float(np.mean([ranked[own[0]][number].outcome == "found" for number in yes]))
    for method in (*own, baselines.DENSE, baselines.WORDS):
        rankings = ranked[method]
        best = np.array([one.best for one in rankings])
        rows: dict[str, Any] = {}
        if method in own:
            right = [bool(which[k][1].evidence & set(rankings[k].units(which[k][0].talk.said))) for k in yes]
            rows["answerable"] = sureness.typed([rankings[k] for k in yes], right)
            rows["reliability"] = sureness.reliability(best[yes], right)
        for kind in kinds:
            no = [k for k, (_, question) in enumerate(which) if not question.evidence and question.group == kind]
            one = {"n": len(no), "curve": sureness.curve(best[yes], best[no], found)}
            if method in own:
                one |= sureness.typed([rankings[k] for k in no])
            else:
                one |= _threshold(method, which, best, yes, no)
            rows[kind] = one
        out[method] = rows
    return out


def _threshold(
    method: str, which: Sequence[tuple[Asked, Question]], best: Row, yes: Sequence[int], no: Sequence[int]
) -> dict[str, Any]:
    """Give a baseline at its threshold: the paper's cosine, or the best BM25 score of the tuned half."""
    if method == baselines.DENSE:
        return sureness.at_threshold(sureness.COSINE, best[list(yes)], best[list(no)])
    halves = {
        half: [np.array([best[k] for k in part if which[k][0].talk.half is half]) for part in (yes, no)]
        for half in Half
    }
    if not all(len(part) for parts in halves.values() for part in parts):
        return {}
    threshold = measures.best_threshold(*halves[Half.TUNED])
    return sureness.at_threshold(threshold, *halves[Half.HELD_OUT])


def _proposition(asked: Sequence[Asked], attempts: Sequence[Attempts]) -> dict[str, Any]:
    questions = [question for one in asked for question in one.questions if question.evidence]
    pairs = list(zip(questions, attempts, strict=True))
    out = {ALL: hops.proposition(questions, attempts)}
    for group in sorted({question.group for question in questions}):
        own = [pair for pair in pairs if pair[0].group == group]
        out[group] = hops.proposition([question for question, _ in own], [made for _, made in own])
    return out


def _values(thing: Any) -> Any:
    """Write estimates as dictionaries and numbers with four places, all the way down."""
    if isinstance(thing, Estimate):
        return _values(asdict(thing))
    if isinstance(thing, dict):
        return {key: _values(one) for key, one in thing.items()}
    if isinstance(thing, list):
        return [_values(one) for one in thing]
    return round(float(thing), 4) if isinstance(thing, float) else thing
