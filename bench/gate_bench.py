"""How well recall knows whether it found what was asked: reliability, risk and coverage, false-found rates.

    python bench/gate_bench.py --data DATA --model MODEL --kept FOLDER

Writes ``bench/gate.json`` and ``bench/GATE.md``; ``python tools/plot_gate.py`` draws the first. Every gate is judged
on talks that it never saw: a default fitted on the talks of the other *sets*, the same drawn to the store by questions
made of its own events, and both with a default fitted on all other *talks*. Beside them two plain thresholds: the
cosine of all-MiniLM to the nearest event (recall-problem 8.7 puts it at .35) and the best BM25 score.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from firsthand.answer import Query
from firsthand.recall import calibrate, logistic
from firsthand.recall.gate import Gate
from firsthand.recall.logistic import Weighed
from firsthand.recall.signals import NAMES
from gate_fit import arguments, fitted
from gate_rows import MADE, REAL, Row, rows
from machine import describe
from quality.encoder import Vectors
from quality.measures import separation
from quality.sureness import COSINE, FOREIGN

HERE = Path(__file__).parent
OURS = "made of the store itself"
GATES = {
    "other sets": "default fitted on other sets",
    "other sets, own": f"the same, drawn to questions {OURS}",
    "other talks": "default fitted on all other talks",
    "other talks, own": f"the same, drawn to questions {OURS}",
}
PLAIN = {"cosine": "cosine of all-MiniLM", "bm25": "best BM25 score"}
TRICKED = {"5 adversarial", "abstention"}
COSTS = (0.5, 1.0, 3.0, 9.0)
BINS = 10

Scores = dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments(parser)
    parser.add_argument("--out", type=Path, default=HERE)
    chosen = parser.parse_args()
    found = rows(chosen.data, chosen.kept, Vectors(chosen.kept / "vectors", chosen.model))
    report = {
        "machine": describe(chosen.kept),
        "date": datetime.now(UTC).date().isoformat(),
        "made": len([row for row in found if row["kind"] == MADE]),
        "sets": {name: judged(found, name) for name in dict.fromkeys(row["set"] for row in found)},
    }
    (chosen.out / "gate.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    (chosen.out / "GATE.md").write_text(markdown(report), encoding="utf-8")


def judged(found: Sequence[Row], name: str) -> dict[str, Any]:
    """Judge every gate on the real questions of one set."""
    real = [row for row in found if row["set"] == name and row["kind"] == REAL]
    scores = {gate: [0.0] * len(real) for gate in GATES}
    for talk in dict.fromkeys(row["talk"] for row in real):
        own = [row for row in found if row["talk"] == talk and row["kind"] == MADE]
        for gate, others in (
            ("other sets", [row for row in found if row["set"] != name]),
            ("other talks", [row for row in found if row["talk"] != talk]),
        ):
            prior = _gate(fitted(others))
            learned = calibrate.learn([row["signals"] for row in own], [row["truth"] for row in own], prior, position=1)
            for number, row in enumerate(real):
                if row["talk"] == talk:
                    scores[gate][number] = _chance(prior, row)
                    scores[f"{gate}, own"][number] = _chance(learned, row)
    out: dict[str, Any] = {"questions": len(real), "true": _mean([row["truth"] for row in real])}
    out["gates"] = {gate: _of_gate(real, each) for gate, each in scores.items()}
    out["plain"] = {plain: _curve(real, [row[plain] for row in real]) for plain in PLAIN}
    at = out["gates"]["other talks, own"]["at"][f"{Query('x').cost:g}"]["found"]
    for each in (*scores, *PLAIN):
        told = scores.get(each) or [row[each] for row in real]
        out["gates" if each in scores else "plain"][each]["false found at equal found"] = _false_at(real, told, at)
    passed = [row["cosine"] >= COSINE for row in real]
    out["plain"]["cosine"]["at .35"] = _rates(real, passed)
    return out


def _gate(weighed: Weighed) -> Gate:
    return Gate(weighed.weights[0], dict(zip(NAMES, weighed.weights[1:], strict=True)), questions=10_000)


def _chance(gate: Gate, row: Row) -> float:
    weights = (gate.bias, *(gate.weights.get(name, 0.0) for name in NAMES))
    return Weighed(weights).chance(row["signals"])


def _of_gate(real: Sequence[Row], chances: Sequence[float]) -> dict[str, Any]:
    truths = [row["truth"] for row in real]
    order = sorted(range(len(real)), key=lambda number: chances[number])
    bins = [order[len(order) * at // BINS : len(order) * (at + 1) // BINS] for at in range(BINS)]
    return {
        **_curve(real, chances),
        "calibration error": logistic.calibration_error(chances, truths),
        "brier": logistic.brier(chances, truths),
        "reliability": [
            {"told": _mean([chances[one] for one in each]), "true": _mean([truths[one] for one in each])}
            for each in bins
            if each
        ],
        "at": {f"{cost:g}": _rates(real, [one >= cost / (1 + cost) for one in chances]) for cost in COSTS},
    }


def _curve(real: Sequence[Row], scores: Sequence[float]) -> dict[str, Any]:
    """Measure how a score ranks answers that are right above those that are not, without any threshold."""
    right = [score for row, score in zip(real, scores, strict=True) if row["truth"]]
    wrong = [score for row, score in zip(real, scores, strict=True) if not row["truth"]]
    order = sorted(range(len(real)), key=lambda number: -scores[number])
    missed, risks = 0, []
    for count, number in enumerate(order, 1):
        missed += not real[number]["truth"]
        risks.append(missed / count)
    return {"right above wrong": separation(right, wrong) if right and wrong else None, "area of risk": _mean(risks)}


GROUPS: dict[str, Callable[[Row], bool]] = {
    "answerable": lambda row: row["group"] not in TRICKED and row["group"] != FOREIGN,
    "tricked": lambda row: row["group"] in TRICKED,
    FOREIGN: lambda row: row["group"] == FOREIGN,
}


def _rates(real: Sequence[Row], passed: Sequence[bool]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for group, is_in in GROUPS.items():
        found[group] = _mean([one for row, one in zip(real, passed, strict=True) if is_in(row)])
    right = [row["truth"] for row, one in zip(real, passed, strict=True) if one]
    return {"found": found["answerable"], "tricked": found["tricked"], FOREIGN: found[FOREIGN], "right": _mean(right)}


def _false_at(real: Sequence[Row], scores: Sequence[float], share: float) -> dict[str, Any]:
    """Set the threshold that a share of the answerable questions passes, and say what else passes it."""
    answerable = sorted((one for row, one in zip(real, scores, strict=True) if GROUPS["answerable"](row)), reverse=True)
    bound = answerable[max(0, round(share * len(answerable)) - 1)]
    return _rates(real, [one >= bound for one in scores])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def markdown(report: dict[str, Any]) -> str:
    """Write the report."""
    lines = [
        "# How sure recall is",
        "",
        f"`python bench/gate_bench.py --data DATA --model MODEL --kept FOLDER`, {report['date']}; {report['machine']}.",
        "",
        (
            "Truth: one of the first ten hits of one attempt, no model, no vectors, is a turn of the evidence. "
            "*Answerable* questions have evidence, *tricked* ones are LoCoMo category 5 and BEAM abstention, *foreign* "
            "ones are of another talk. No gate saw the real questions of the talk it is judged on. "
            f"{report['made']:,} questions were made of the stores themselves. *Area of risk*: the share of wrong ones "
            "among those passed, mean over all thresholds; less is better."
        ),
    ]
    for name, one in report["sets"].items():
        lines += ["", f"## {name}: {one['questions']:,} questions, {one['true']:.0%} true", ""]
        lines += ["| gate | right above wrong | area of risk | calibration error | Brier |", "|---|---|---|---|---|"]
        for gate, label in GATES.items():
            each = one["gates"][gate]
            error = f"{each['calibration error']:.3f} | {each['brier']:.3f}"
            lines.append(f"| {label} | {each['right above wrong']:.3f} | {each['area of risk']:.3f} | {error} |")
        for plain, label in PLAIN.items():
            each = one["plain"][plain]
            lines.append(f"| {label} | {each['right above wrong']:.3f} | {each['area of risk']:.3f} | - | - |")
        lines += [
            "",
            "| threshold | found of answerable | of tricked | of foreign | right of found |",
            "|---|---|---|---|---|",
        ]
        for cost, rates in one["gates"]["other talks, own"]["at"].items():
            lines.append(f"| cost {cost}, confidence from {float(cost) / (1 + float(cost)):.2f} {_cells(rates)}")
        lines.append(f"| cosine from {COSINE} {_cells(one['plain']['cosine']['at .35'])}")
        for plain, label in PLAIN.items():
            rates = one["plain"][plain]["false found at equal found"]
            lines.append(f"| {label}, as many found as at cost 3 {_cells(rates)}")
    return "\n".join(lines) + "\n"


def _cells(rates: dict[str, float]) -> str:
    return f"| {rates['found']:.0%} | {rates['tricked']:.0%} | {rates[FOREIGN]:.0%} | {rates['right']:.0%} |"


if __name__ == "__main__":
    main()
