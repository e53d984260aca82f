"""The report as Markdown, made of quality.json and of nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from . import baselines
from .measures import SHARES
from .ours import MINILM, PLAIN
from .whole import ALL, BASELINES

Part = Mapping[str, Any]
_FIRST = ("recall@5", "recall@10", "MRR@10")

HEAD = """# Recall, beside what people use

Looked at while tuning: the tuned talks; the form of the ranking was settled \
with figures of the held out ones in view too.

Written by `python bench/quality_bench.py`, each set by the command that stands in it; the numbers are in quality.json \
beside it. Every method gets the same events and the same questions and gives ten hits. No model is asked anything, \
and nothing reaches a network.

*recall@k*: the share of a question's evidence among the first k hits, mean over questions; *any*, *all*: the share of \
questions with at least one, with all of it in ten. Brackets hold 95 % bootstrap intervals by question (5,000 draws, \
fixed seed); questions of one talk are not wholly independent, so the true intervals are somewhat wider. A difference \
is taken question by question; *no difference detectable* says that its interval holds 0. Constants were fitted on the \
tuned talks; the form of the ranking was settled with figures of the *held out* ones in view too, so these are held \
out of the fit, not unseen.

- *stemmed BM25*: the textbook formula (k1 1.2, b .75) over Snowball stems, no stop words.
- *all-MiniLM alone*: all-MiniLM-L6-v2, the first 256 tokens of a text, exact cosine.
- *plain RRF*, *RRF, BM25 twice*: reciprocal rank fusion of the two whole rankings, k = 60, equal or 2 : 1.
- *ChromaDB*: a collection with that model.
- *MemPalace*: drawers in its default store, found with the search that its MCP server gives to agents; a long text is \
split as its own tool splits it.
- *mem0*: `add(infer=False)` and `search` of its default store with its extras, its hybrid of cosine and BM25.

All three peers have the same model, by their own interfaces for an embedder of one's own: a function for ChromaDB, an \
endpoint on the same machine for the others. What mem0 would fetch comes from wheels instead: its spaCy model, and the \
stop words of its BM25.
"""
UNITS = {
    "locomo": "A turn is an event; evidence is turns, by their ids. Categories 1 to 4 are answerable, 5 is not.",
    "beam-100k": "A message is an event; evidence is messages, by their ids. Abstention is not answerable.",
    "beam-500k": "As beam-100k. Nothing was tuned on these talks.",
    "longmemeval": (
        "The sample names no turns, and its conversations hold evidence sessions only: all are in one store, and "
        "a question's evidence is the sessions of its own conversation. With 16 questions it tells little."
    ),
}
"""What counts as found in each set."""
BY_SCORE = """By the score of the method alone (ours: the confidence; BM25's and cosine's: that of the first hit). \
Baselines: cosine 0.35, the paper's; for BM25 the threshold that separates best on the tuned talks, measured on those \
held out. *False-found where* sets all at the share of answerable questions that our first configuration finds:"""


def as_json(report: Part) -> str:
    """Write the report as JSON, an estimate a line."""
    text = json.dumps(report, ensure_ascii=False, indent=1)
    return re.sub(r"\{[^{}]*\}", lambda found: " ".join(found[0].split()), text)


def markdown(report: Part) -> str:
    """Write the whole report."""
    parts = [HEAD]
    if report["targets"]:
        parts += ["## Targets", "", *_targets(report["targets"]), ""]
    if report["sets"]:
        parts += ["## At a glance", "", "recall@10 on the talks held out:", "", *_glance(report["sets"]), ""]
    for name, one in report["sets"].items():
        parts += [f"## {name}", "", UNITS[name], "", one["measured"], "", *_set(one)]
    return "\n".join(parts)


def targets(sets: Mapping[str, Part]) -> list[dict[str, Any]]:
    """Set the differences that the project promised beside those measured on the held-out talks."""
    out = []
    for what, name, other, wanted, mine in (
        ("nothing installed, above stemmed BM25", "locomo", baselines.WORDS, 0.07, PLAIN),
        ("all-MiniLM, above plain RRF", "locomo", baselines.FUSED, 0.08, MINILM),
    ):
        row = sets.get(name, {}).get("quality", {}).get("differences", {}).get(mine, {}).get(other)
        if row:
            out.append(_target(f"{name}: {what}", row, wanted))
    for name in ("locomo", "beam-100k"):
        quality = sets.get(name, {}).get("quality")
        if quality and MINILM in quality["differences"]:
            rows = quality["differences"][MINILM]
            singles = (baselines.WORDS, baselines.DENSE)
            best = max(singles, key=lambda one: quality["methods"][one]["held out"]["recall@10"]["mean"])
            out.append(_target(f"{name}: all-MiniLM, above the best single part ({best})", rows[best], 0.0))
            if PLAIN in rows:
                out.append(_target(f"{name}: all-MiniLM, above our own words alone", rows[PLAIN], 0.0))
    return out


def _target(what: str, row: Part, wanted: float) -> dict[str, Any]:
    return {"what": what, "wanted": wanted, **{part: one["recall@10"] for part, one in row.items()}}


def _targets(listed: Sequence[Part]) -> list[str]:
    body = []
    for one in listed:
        held = one["held out"]
        met = held["mean"] >= one["wanted"] if one["wanted"] else held["mean"] > 0
        verdict = ("yes" if _detectable(held) else "yes, but no difference detectable") if met else "NO"
        wanted = f"at least {_number(one['wanted'])}" if one["wanted"] else "above 0"
        body.append([one["what"], wanted, _spread(held), _spread(one[ALL]), verdict])
    return _table(["difference in recall@10", "wanted", "held out", "all talks", "met, held out"], body)


def _glance(sets: Mapping[str, Part]) -> list[str]:
    methods = dict.fromkeys(method for one in sets.values() for method in one["quality"]["methods"])
    body = []
    for method in methods:
        found = [one["quality"]["methods"].get(method) for one in sets.values()]
        body.append([method, *(_interval(one["held out"]["recall@10"]) if one else "-" for one in found)])
    counts = [f"{name} (n = {one['quality']['n']['held out']:,})" for name, one in sets.items()]
    return _table(["method", *counts], body)


def _set(one: Part) -> list[str]:
    quality = one["quality"]
    talks = ", ".join(f"{count} {half}" for half, count in one["talks"].items() if count)
    asked = ", ".join(f"{count:,} {part}" for part, count in quality["n"].items())
    lines = [
        f"{one['events']:,} events in {sum(one['talks'].values())} stores ({talks}); answerable questions: {asked}.",
        "",
    ]
    lines += [*_methods(quality), ""]
    if len(quality["groups, recall@10"]) > 1:
        lines += ["recall@10 by group, all talks:", "", *_groups(quality), ""]
    for mine, others in quality["differences"].items():
        lines += [f"{mine}, less each other method, recall@10:", "", *_differences(others, list(quality["n"])), ""]
    lines += [
        "Where another method has the better number:",
        "",
        *(_better(quality) or ["- nowhere in these tables"]),
        "",
    ]
    lines += _times(one["ours"])
    if one["sureness"]:
        lines += ["### Questions that cannot be answered", "", *_sureness(one["sureness"])]
    for mine, rows in one["proposition 1"].items():
        lines += [f"### Proposition 1: {mine}", "", *_proposition(rows), ""]
    return lines


def _methods(quality: Part) -> list[str]:
    """Give all measures over all talks, and the first three over the held-out ones."""
    held = "held out" in quality["n"] and len(quality["n"]) > 2
    heads = ["method", *SHARES, *(f"{share}, held out" for share in _FIRST if held)]
    body = []
    for method, parts in quality["methods"].items():
        cells = [_interval(parts[ALL][share]) for share in SHARES]
        cells += [_interval(parts["held out"][share]) for share in _FIRST] if held else []
        body.append([method, *cells])
    return _table(heads, body)


def _groups(quality: Part) -> list[str]:
    groups = quality["groups, recall@10"]
    counts = [next(iter(rows.values()))["count"] for rows in groups.values()]
    heads = ["method", *(f"{group} (n = {count:,})" for group, count in zip(groups, counts, strict=True))]
    return _table(heads, [[one, *(_interval(rows[one]) for rows in groups.values())] for one in quality["methods"]])


def _differences(others: Part, parts: Sequence[str]) -> list[str]:
    shown = [part for part in parts if part == ALL or len(parts) > 2]
    body = [[other, *(_told(rows[part]["recall@10"]) for part in shown)] for other, rows in others.items()]
    return _table(["beside", *shown], body)


def _better(quality: Part) -> list[str]:
    """Name every measure in which another method is detectably better than ours, or better at all."""
    out = []
    for mine, others in quality["differences"].items():
        for other, rows in others.items():
            if other in quality["differences"]:
                continue
            for share, one in rows[ALL].items():
                if one["mean"] < 0:
                    sure = "" if one["high"] < 0 else " (no difference detectable)"
                    out.append(f"- {other} over {mine}: {share} by {_spread(one, turned=True)}{sure}")
    return out


def _times(own: Part) -> list[str]:
    """Say what a recall took, and whether vectors took part: a silent absence would look like a tie."""
    said = [
        f"{name} p50 {one['recall p50 ms']:.1f} ms, p95 {one['recall p95 ms']:.1f} ms, vectors helped to find a hit in "
        f"{one['answers with vectors']:.0%} of the answers"
        for name, one in own.items()
    ]
    return [f"Processor time of a recall, the whole ladder included: {'; '.join(said)}.", ""]


def _sureness(methods: Part) -> list[str]:
    lines: list[str] = []
    typed, curves = [], []
    kinds = [kind for kind in next(iter(methods.values())) if kind not in {"answerable", "reliability"}]
    for method, rows in methods.items():
        if "answerable" in rows:
            for kind in ("answerable", *kinds):
                outcomes = rows[kind]["outcomes"]
                total = sum(outcomes.values())
                held = rows[kind].get("of found, with evidence")
                cells = [str(outcomes.get(one, 0)) for one in ("found", "weak", "absent", "filtered", "degraded")]
                typed.append(
                    [
                        method,
                        kind,
                        f"{total:,}",
                        *cells,
                        _interval(rows[kind]["found"]),
                        "-" if held is None else f"{held:.2f}",
                    ]
                )
        curves += [[method, kind, *_curve(rows[kind])] for kind in kinds]
    heads = [
        "method",
        "questions",
        "n",
        "found",
        "weak",
        "absent",
        "filtered",
        "degraded",
        "share found",
        "of these, with evidence in ten hits",
    ]
    lines += [
        "At the default threshold; *found* of what cannot be answered is a false find:",
        "",
        *_table(heads, typed),
        "",
    ]
    shares = list(next(iter(methods.values()))[kinds[0]]["curve"]["found at false-found"])
    found = next(iter(methods.values()))[kinds[0]]["curve"]["at our found share"]["found"]
    heads = ["method", "cannot be answered", "found / false-found at the baseline's threshold", "area under the curve",
             f"false-found where {found:.0%} are found", *(f"found at {share} false" for share in shares)]  # fmt: skip
    lines += [BY_SCORE, "", *_table(heads, curves), ""]
    for method, rows in methods.items():
        if "reliability" in rows:
            lines += [*_reliability(method, rows["reliability"]), ""]
    return lines


def _curve(row: Part) -> list[str]:
    at = f"{_interval(row['found'])} / {_interval(row['false found'])}" if "false found" in row else "-"
    curve = row["curve"]
    equal = f"{curve['at our found share']['false found']:.2f}"
    return [at, f"{curve['area']:.3f}", equal, *(f"{one:.2f}" for one in curve["found at false-found"].values())]


def _reliability(method: str, row: Part) -> list[str]:
    heads = ["confidence", "n", "mean confidence", "with evidence in ten hits"]
    body = [
        [f"{one['from']:.1f} to {one['to']:.1f}", f"{one['n']:,}", f"{one['told']:.2f}", f"{one['true']:.2f}"]
        for one in row["bins"]
    ]
    title = (
        f"{method}: confidence beside evidence, answerable questions; calibration error {row['calibration error']:.3f}."
    )
    return [title, "", *_table(heads, body)]


def _proposition(groups: Part) -> list[str]:
    heads = ["questions", "n", "of one event in one attempt: p", "all events in one attempt", "in two", "bound for two",
             "in one of twice the hits", "second misses: any event / what the first missed"]  # fmt: skip
    body = []
    for group, row in groups.items():
        if "p" not in row:
            body.append([group, f"0 of {row['questions']:,}", *["no second attempt"] * 6])
            continue
        again = row["second misses what the first missed"]
        dependence = f"{row['second misses']:.2f} / {'-' if again is None else f'{again:.2f}'}"
        body.append([
            group, f"{row['with a second attempt']:,} of {row['questions']:,}", f"{row['p']:.3f}",
            *(_interval(row[one]) for one in ("one attempt", "two attempts")), f"{row['bound']['mean']:.3f}",
            _interval(row["one of twice the hits"]), dependence,
        ])  # fmt: skip
    return _table(heads, body)


def _told(one: Part) -> str:
    return _spread(one) if _detectable(one) else f"{_spread(one)}: no difference detectable"


def _detectable(one: Part) -> bool:
    return bool(one["low"] > 0 or one["high"] < 0)


def _spread(one: Part, *, turned: bool = False) -> str:
    mean, low, high = one["mean"], one["low"], one["high"]
    if turned:
        mean, low, high = -mean, -high, -low
    return f"{_signed(mean)} [{_signed(low)}, {_signed(high)}]"


def _interval(one: Part) -> str:
    return f"{_number(one['mean'])} [{_number(one['low'])}, {_number(one['high'])}]"


def _number(number: float) -> str:
    return f"{number:.3f}".replace("0.", ".", 1)


def _signed(number: float) -> str:
    return f"{number:+.3f}".replace("0.", ".", 1)


def _table(heads: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}", *(f"| {' | '.join(row)} |" for row in body)]


assert set(BASELINES) == {baselines.WORDS, baselines.DENSE, baselines.FUSED, baselines.WEIGHED}
