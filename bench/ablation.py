"""What each part of a hit's score is worth: one switched off at a time, on the same questions.

Parts: premise, phase, superseded, task relevance (`firsthand.recall.factors`), maximal marginal
relevance with lambda from .5 to 1, companions, neighbours. Sets: evidence turns of locomo and
beam-100k; values that changed (beam's knowledge updates, and generated ones); pairs of events
that belong together (generated, and real); what an agent used next (pi, tau-bench, SWE-agent),
with and without its task state. One attempt each: the ladder is measured by its own bench.

Run: ``python bench/ablation.py --data DATA``; it writes ABLATION.md and ablation.json beside itself.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pairs
from ablation_sets import TASK_SETS, Case, cases, held, imported, updates
from firsthand import Answer, Draft, Kind, Memory, Query, Scope
from firsthand.recall.factors import NO_STRENGTHS, STRENGTHS
from firsthand.recall.search import search
from firsthand.value import replace
from quality.measures import Estimate, difference, estimate
from quality.ours import Store
from quality.sets import beam, locomo
from quality.values import Talk

HITS = 10
HERE = Path(__file__).parent
WHOLE = "as it is"
LAMBDAS = (0.5, 0.6, 0.7, 1.0)
GENERAL: dict[str, dict[str, Any]] = {
    WHOLE: {},
    "no superseded": {"strengths": replace(STRENGTHS, superseded=0.0)},
    "no companions": {"partners_max": 0},
    "no neighbours": {"neighbours": False},
    **{f"lambda {one:g}": {"mmr_lambda": one} for one in LAMBDAS},
}
OF_TASKS: dict[str, dict[str, Any]] = {
    WHOLE: {},
    "no task at all": {"conditions": None},
    **{
        f"no {name.replace('_', ' ')}": {"strengths": replace(STRENGTHS, **{name: 0.0})}
        for name in ("premise", "phase", "task_relevance")
    },
    "task relevance at full strength": {"strengths": replace(STRENGTHS, task_relevance=1.0)},
    "phase at full strength": {"strengths": replace(STRENGTHS, phase=1.0)},
    "no factors": {"strengths": NO_STRENGTHS},
    "lambda 0.7": {"mmr_lambda": 0.7},
    "lambda 1": {"mmr_lambda": 1.0},
}
OF_UPDATES: dict[str, dict[str, Any]] = {
    **{name: GENERAL[name] for name in (WHOLE, "no superseded")},
    "superseded at full strength": {"strengths": replace(STRENGTHS, superseded=1.0)},
}
OF_PAIRS = {name: GENERAL[name] for name in (WHOLE, "no companions")}
ABOUT = (
    "Written by `python bench/ablation.py --data DATA` from `ablation.json`. Each row switches one part off, or "
    "changes it; the difference is to the row *as it is*, question by question, with its 95 % bootstrap "
    f"interval. One attempt, without the ladder and without vectors, {HITS} hits."
)
Values = dict[str, dict[str, list[float]]]  # by measure, by variant, a value a question


def asked(memory: Memory, query: Query, variant: Mapping[str, Any]) -> Answer:
    """Ask one attempt of a variant: what a query takes is put into it, the rest goes to the search."""
    given = dict(variant)
    of_query = {name: given.pop(name) for name in ("mmr_lambda", "conditions") if name in given}
    reader = memory._log.reader  # the switches are no option of a memory
    return search(reader, memory.namespace, replace(query, attempts_max=1, **of_query), **given)


def _query(text: str, **more: Any) -> Query:
    return Query(text, hits_max=HITS, budget_tokens_max=400, deadline_ms=60_000, **more)


# sets --------------------------------------------------------------------------------------------------


def evidence(talks: Sequence[Talk]) -> Values:
    """Recall of evidence turns, and how early the first one comes."""
    values: Values = defaultdict(lambda: defaultdict(list))
    for talk in talks:
        with tempfile.TemporaryDirectory() as folder, Memory.open(Path(folder) / "store") as memory:
            store = Store(memory, talk)
            for question in talk.answerable:
                for name, variant in GENERAL.items():
                    units = store.units(asked(memory, _query(question.text), variant))
                    found = [len(question.evidence & set(units[:n])) / len(question.evidence) for n in (5, HITS)]
                    first = next((1 / at for at, unit in enumerate(units, 1) if unit in question.evidence), 0.0)
                    for measure, value in zip(("recall@5", "recall@10", "MRR@10"), (*found, first), strict=True):
                        values[measure][name].append(value)
    return values


def beam_updates(data: Path, talks: Sequence[Talk]) -> Values:
    """Knowledge updates: whether the best event of the new value comes before that of the old one."""
    values: Values = defaultdict(lambda: defaultdict(list))
    for talk, folder in zip(talks, sorted((data / "beam-100k").iterdir(), key=lambda one: int(one.name)), strict=True):
        probing = json.loads((folder / "probing_questions" / "probing_questions.json").read_bytes())
        with tempfile.TemporaryDirectory() as made, Memory.open(Path(made) / "store") as memory:
            store = Store(memory, talk)
            for one in probing["knowledge_update"]:
                sources = one.get("source_chat_ids")
                if not isinstance(sources, dict):
                    continue
                new, old = ({str(x) for x in sources.get(key, ())} for key in ("updated_info", "original_info"))
                if not new - old or not old - new:
                    continue
                for name, variant in OF_UPDATES.items():
                    units = store.units(asked(memory, _query(one["question"]), variant))
                    values["new before old"][name].append(_before(units, new - old, old - new))
    return values


def _before(units: Sequence[str], new: set[str], old: set[str]) -> float:
    """Say whether a new one comes before every old one: 1, 0, or a half where neither comes."""
    places = [next((at for at, unit in enumerate(units) if unit in some), len(units)) for some in (new, old)]
    return 0.5 if places[0] == places[1] else float(places[0] < places[1])


def generated_updates() -> Values:
    """The same for generated facts, and whether the old value is still among the hits."""
    values: Values = defaultdict(lambda: defaultdict(list))
    with tempfile.TemporaryDirectory() as folder, Memory.open(Path(folder) / "store") as memory:
        made = updates()
        places = []
        for number, one in enumerate(made):
            drafts = [Draft(Kind.USER_MESSAGE, text.encode()) for text in one.texts]
            appended = memory.append(drafts, session=f"facts-{number}")
            places.append((str(appended[one.old].pointer), str(appended[one.new].pointer)))
        for one, (old, new) in zip(made, places, strict=True):
            for name, variant in OF_UPDATES.items():
                pointers = [hit.pointer for hit in asked(memory, _query(one.query), variant)]
                values["new before old"][name].append(_before(pointers, {new}, {old}))
                values["old still among ten"][name].append(float(old in pointers))
    return values


def generated_pairs() -> dict[str, Values]:
    """Whether both members of a pair are found, by class."""
    by_class: dict[str, Values] = {kind: defaultdict(lambda: defaultdict(list)) for kind in pairs.KINDS}
    with tempfile.TemporaryDirectory() as folder, Memory.open(Path(folder) / "store") as memory:
        sessions, made = pairs.generated()
        members: dict[int, list[str]] = defaultdict(list)
        for number, lines in enumerate(sessions):
            drafts = [Draft(Kind.USER_MESSAGE, line.text.encode(), agent=line.speaker) for line in lines]
            for line, at in zip(lines, memory.append(drafts, session=f"talk-{number}"), strict=True):
                members[line.of].append(str(at.pointer))
        for number, pair in enumerate(made):
            _both(memory, _query(pair.query), members[number], by_class[pair.kind])
    return by_class


def real_pairs(memory: Memory, count: int = 120) -> Values:
    """Calls and results: asked for in words of the call that not every call has."""
    values: Values = defaultdict(lambda: defaultdict(list))
    by_call: dict[tuple[str, Any], list[str]] = defaultdict(list)
    texts = {}
    for event in memory.events():
        if event.kind in {Kind.TOOL_CALL, Kind.TOOL_RESULT} and event.meta.get("call_id") and event.is_searchable:
            by_call[event.session, event.meta["call_id"]].append(f"fh:{event.id}")
            if event.kind is Kind.TOOL_CALL:
                texts[event.session, event.meta["call_id"]] = event.text
    whole = [key for key, both in by_call.items() if len(both) == 2 and len(texts.get(key, "")) > 20]
    for key in random.Random(3).sample(whole, min(count, len(whole))):
        words = [word for word in dict.fromkeys(_words(texts[key])) if len(word) > 3][:12]
        _both(memory, _query(" ".join(words)), by_call[key], values)
    return values


def _words(text: str) -> Iterator[str]:
    return (word for word in "".join(sign if sign.isalnum() or sign in "_-." else " " for sign in text).split())


def _both(memory: Memory, query: Query, members: Sequence[str], values: Values) -> None:
    for name, variant in OF_PAIRS.items():
        pointers = [hit.pointer for hit in asked(memory, query, variant)]
        for count in (5, HITS):
            values[f"both@{count}"][name].append(float(set(members) <= set(pointers[:count])))


def locomo_pairs(talks: Sequence[Talk]) -> Values:
    """Two neighbouring turns of a session that one question names as its evidence."""
    values: Values = defaultdict(lambda: defaultdict(list))
    for talk in talks:
        with tempfile.TemporaryDirectory() as folder, Memory.open(Path(folder) / "store") as memory:
            store = Store(memory, talk)
            joined = {
                (one.unit, other.unit) for one, other in itertools.pairwise(talk.said) if one.session == other.session
            }
            for question in talk.answerable:
                for pair in (pair for pair in sorted(joined) if set(pair) <= question.evidence):
                    for name, variant in OF_PAIRS.items():
                        units = store.units(asked(memory, _query(question.text), variant))
                        for count in (5, HITS):
                            values[f"both@{count}"][name].append(float(set(pair) <= set(units[:count])))
    return values


def tasks(memory: Memory, kind: Kind) -> Values:
    """What an agent used next: the share of its names that the hits hold."""
    values: Values = defaultdict(lambda: defaultdict(list))
    for case in cases(memory, kind):
        query = _query(case.query, conditions=case.conditions, scope=Scope(before_position=case.position))
        for name, variant in OF_TASKS.items():
            values["names held@10"][name].append(_held(memory, query, variant, case))
    return values


def _held(memory: Memory, query: Query, variant: Mapping[str, Any], case: Case) -> float:
    return held(memory, [hit.pointer for hit in asked(memory, query, variant)], case.used)


# report ------------------------------------------------------------------------------------------------


def _sets(data: Path) -> Iterator[tuple[str, Callable[[], Values]]]:
    talks = {"locomo": locomo(data), "beam-100k": beam(data, "beam-100k")}
    for name, some in talks.items():
        yield f"evidence of {name}", lambda some=some: evidence(some)  # type: ignore[misc]
    yield "knowledge updates of beam-100k", lambda: beam_updates(data, talks["beam-100k"])
    yield "generated updates", generated_updates
    for kind in pairs.KINDS:
        yield f"generated pairs: {kind}", lambda kind=kind: generated_pairs()[kind]  # type: ignore[misc]
    yield "locomo: neighbouring turns that are evidence of one question", lambda: locomo_pairs(talks["locomo"])
    for name, kind in TASK_SETS.items():
        for what, run in (
            ("calls and results", real_pairs),
            ("what the agent used next", lambda m, k=kind: tasks(m, k)),
        ):
            yield f"{name}: {what}", lambda name=name, run=run: _with_store(data / name, run)  # type: ignore[misc]


def _with_store(data: Path, run: Callable[[Memory], Values]) -> Values:
    with tempfile.TemporaryDirectory() as folder, imported(Path(folder) / "store", data) as memory:
        return run(memory)


def measured(values: Values) -> dict[str, Any]:
    """Give each measure's estimate for each variant, and its difference from the whole."""
    return {
        measure: {
            name: {"estimate": asdict(estimate(row)), "difference": asdict(difference(row, by_name[WHOLE]))}
            for name, row in by_name.items()
        }
        for measure, by_name in values.items()
    }


def markdown(report: Mapping[str, Any]) -> str:
    """Write the report from the figures of ablation.json alone."""
    out = [
        "# What each part of a hit's score is worth", "",
        ABOUT, "",
    ]  # fmt: skip
    for name, measures in report["sets"].items():
        out += [f"## {name[0].upper()}{name[1:]}", ""]
        for measure, variants in measures.items():
            out += [f"{measure}, {variants[WHOLE]['estimate']['count']:,} questions:", ""]
            out += ["| variant | mean | 95 % interval | difference |", "|---|---|---|---|"]
            out += [_row(variant, both) for variant, both in variants.items()]
            out += [""]
    return "\n".join(out)


def _row(variant: str, both: Mapping[str, Any]) -> str:
    one, other = Estimate(**both["estimate"]), Estimate(**both["difference"])
    told = f"{other.mean:+.3f} ({other.low:+.3f} to {other.high:+.3f})"
    if variant == WHOLE:
        told = ""
    elif not other.detectable:
        told = f"{told}, none detectable"
    return f"| {variant} | {one.mean:.3f} | {one.low:.3f} to {one.high:.3f} | {told} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds locomo/, beam-100k/ ...")
    parser.add_argument("--only", default="", help="sets whose name holds this; the others stay as they were measured")
    chosen = parser.parse_args()
    file = HERE / "ablation.json"
    sets = json.loads(file.read_text())["sets"] if chosen.only and file.exists() else {}
    for name, run in _sets(chosen.data):
        if chosen.only in name:
            started = time.perf_counter()
            sets[name] = measured(run())
            print(f"{name}: {time.perf_counter() - started:.0f} s", flush=True)
    report = {"sets": sets}
    file.write_text(json.dumps(report, indent=1) + "\n")
    (HERE / "ABLATION.md").write_text(markdown(report) + "\n")


if __name__ == "__main__":
    main()
