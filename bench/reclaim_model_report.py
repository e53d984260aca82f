"""The report of bench/reclaim_model_bench.py, from the items and replies that its folder holds; asks nothing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from firsthand_evals import stats
from firsthand_evals.probe.prompted import unsupported
from firsthand_evals.reclaim import drift, items, scoring, tables, tasks
from firsthand_evals.reclaim.items import Item
from firsthand_evals.reclaim.models import ITEMS, REPLIES
from firsthand_evals.reclaim.policies import BLANK, BOTH, SOURCE_FIRST
from firsthand_evals.reclaim.tasks import Problem
from firsthand_evals.reclaim.writers import OF_A_MODEL
from machine import describe

PROBLEMS_MAX = 64
SEPARATE = ("recovered", "attractor", "another value", "nothing")
INTRODUCTION = """\
SmolLM2-135M-Instruct (Q4_1, 98 MB, llama.cpp through `xllamacpp`, temperature 0) as reader and as writer, end to end
through Inspect AI. It is the smallest model that runs everywhere; no figure here says anything of a larger one. Made by
`python bench/reclaim_model_bench.py --out FOLDER`, then `--write bench/RECLAIM-MODEL.md`; sums and puzzles are those of
seed 0, the correction is directed, 600 characters may be carried. Intervals: Wilson, 95 %; a zero says how large it
could be (rule of three)."""


def report(folder: Path) -> str:
    """Write the report, in Markdown."""
    parts = {name: list(items.load(folder / name / ITEMS).values()) for name in ("reader", "writer", "server")}
    lines = ["# A small model in the reclaim evaluation", "", INTRODUCTION, ""]
    lines += reader(parts["reader"]) if parts["reader"] else ["The reader was not run."]
    lines += writer(parts["writer"]) if parts["writer"] else ["", "The writer was not run."]
    lines += server(parts["server"], parts["reader"]) if parts["server"] else ["", "The server was not run."]
    lines += ["", "## What it took", "", *took(folder, parts), "", f"{datetime.now(UTC):%Y-%m-%d}, {describe(folder)}."]
    return "\n".join(lines) + "\n"


def reader(found: Sequence[Item]) -> list[str]:
    """Tell how it read."""
    strict = Counter(item.outcome for item in found)
    lines = [
        "## As reader", "",
        (f"Scored as everybody is (the last line `ANSWER: ...`), {strict['malformed']} of {len(found)} replies hold no "
        f"answer line that can be read; {strict['recovered']} recover, {strict['attractor']} give the carried wrong "
        f"value, {strict['wrong']} another one, {strict['abstained']} abstain. It was told to end with such a line. "
        + ("With so few, the evaluation says nothing of memories, and that is its result."
           if strict["malformed"] > len(found) / 2 else "")), "",
        ("What it says all the same, read leniently (the last line of the reply that names one number, or one person "
        "of the puzzle, whatever stands around it; no table but this one reads so):"), "",
        "| memory | task | n | right | the carried wrong value | another value | nothing |",
        "|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for family in dict.fromkeys(item.parameters["family"] for item in found):
        for memory in dict.fromkeys(item.parameters["memory"] for item in found):
            own = [item for item in found if (item.parameters["memory"], item.parameters["family"]) == (memory, family)]
            said = Counter(map(leniently, own))
            cells = " | ".join(str(stats.rate(said[one], len(own))) for one in SEPARATE)
            lines.append(f"| {memory} | {family} | {len(own)} | {cells} |")
    pairs = [(family, name) for family in ("arithmetic", "logic") for name in (SOURCE_FIRST, BOTH, BLANK)]
    lines += ["", "Paired by problem, read leniently, the share that gives the carried wrong value:", ""]
    for family, name in pairs:
        sides = [
            {item.parameters["problem"]: [float(leniently(item) == "attractor")] for item in found
             if (item.parameters["memory"], item.parameters["family"]) == (memory, family)}
            for memory in (name, "lossy")
        ]  # fmt: skip
        if sides[0] and sides[0].keys() == sides[1].keys():
            pair = tables.Pair(f"{family}, {name} minus lossy", (), stats.difference(*sides))
            lines.append(f"- {pair}")
    return lines


def writer(found: Sequence[Item]) -> list[str]:
    """Tell how it wrote."""
    by_rule = [item for item in found if item.parameters["reader"] == "recomputing"]
    lines = [
        "", "## As writer", "",
        ("Notes that it wrote of the sums, read by the recomputing reader (which takes what stands there and nothing "
        "else). *Made up*: notes that hold a number, amount or exact string that the session does not have "
        "(`firsthand.unsupported`); the checked writer is Firsthand's own (`firsthand.distill_by_model`), which takes "
        "such pieces out. *The conclusion*: notes that name one amount, the carried wrong value. *Before*, *behind*, "
        "*marked*: where the source-first prompt stands, to the session or to marks about it; the latter two with at "
        "most 200 tokens. What recovers behind it are copies of the session's beginning. *Cut*: notes that were longer "
        "than the budget."), "",
        "| writer | n | recovered | carried wrong value | silent | abstained | made up | the conclusion | size | cut |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    sessions = {name: drift.dialogue(problem) for name, problem in problems().items()}
    for memory in dict.fromkeys(item.parameters["memory"] for item in by_rule):
        own = [item for item in by_rule if item.parameters["memory"] == memory]
        said = Counter(item.outcome for item in own)
        made_up = sum(bool(unsupported(item.carried, sessions[item.parameters["problem"]])) for item in own)
        counts = [stats.rate(said[one], len(own)) for one in ("recovered", "attractor", "wrong", "abstained")]
        alone = sum(concludes_alone(item) for item in own)
        cells = " | ".join(map(str, (*counts, stats.rate(made_up, len(own)), stats.rate(alone, len(own)))))
        used = sum(item.used for item in own) / len(own)
        lines.append(f"| {memory} | {len(own)} | {cells} | {used:.0f} | {sum(item.over for item in own)} |")
    not_run = [
        name for name in OF_A_MODEL if not any(one.parameters["memory"].startswith(f"{name} ") for one in by_rule)
    ]
    lines += ["", f"Not run: {', '.join(not_run)}."] if not_run else []
    read = [item for item in found if item.parameters["reader"] != "recomputing"]
    if read:
        said = Counter(map(leniently, read))
        told = ", ".join(f"{said[one]} {one}" for one in SEPARATE)
        strict = Counter(item.outcome for item in read)
        lines += ["", f"Read by itself: {strict['malformed']} of {len(read)} malformed; leniently {told}."]
    return lines


def concludes_alone(item: Item) -> bool:
    """Say whether what is carried names one amount, and that is the carried wrong value."""
    problem = problems()[item.parameters["problem"]]
    return {str(one) for one in scoring.values(item.carried, problem.kind, problem.options)} == {problem.attractor}


def server(found: Sequence[Item], inside: Sequence[Item]) -> list[str]:
    """Tell whether the same model behind a server says the same."""
    same = {(item.parameters["memory"], item.parameters["problem"]): item.replies for item in inside}
    both = [item for item in found if (item.parameters["memory"], item.parameters["problem"]) in same]
    alike = sum(same[item.parameters["memory"], item.parameters["problem"]] == item.replies for item in both)
    return [
        "", "## Behind a server", "",
        (f"The same weights behind llama.cpp's own OpenAI-compatible server, asked by `--model "
        f"http://127.0.0.1:18434/v1#{found[0].parameters['reader'].split(' ')[0]}`: {len(found)} items, none lost; "
        f"{alike} of {len(both)} replies are those of the model in this process, character by character."),
    ]  # fmt: skip


def took(folder: Path, parts: dict[str, list[Item]]) -> list[str]:
    """Tell calls, tokens and seconds, out of the record."""
    lines = ["| part | items | replies recorded | tokens of prompts | of replies | seconds a reply, median |",
             "|---|---|---|---|---|---|"]  # fmt: skip
    for name, own in parts.items():
        replies = [
            held["reply"]
            for file in sorted((folder / name / REPLIES).glob("*.jsonl"))
            for held in map(json.loads, file.read_text().splitlines())
            if "reply" in held
        ]
        if replies:
            seconds = sorted(reply["seconds"] for reply in replies)[len(replies) // 2]
            prompts, said = (sum(reply[of] for reply in replies) for of in ("prompt_tokens", "completion_tokens"))
            lines.append(f"| {name} | {len(own)} | {len(replies)} | {prompts:,} | {said:,} | {seconds:.1f} |")
    shared = (
        "The machine was shared with other work, and the seconds say so; behind the server they hold the wait of those "
        "that were asked at once. Requests that were alike were asked once."
    )
    return [*lines, "", shared]


def leniently(item: Item) -> str:
    """Say what a reply names in the last of its lines that names one value."""
    problem = problems()[item.parameters["problem"]]
    for line in reversed(item.replies[-1].splitlines()):
        named = scoring.values(line, problem.kind, problem.options)
        if len(named) == 1:
            return {problem.answer: "recovered", problem.attractor: "attractor"}.get(named[0], "another value")
    return "nothing"


@cache
def problems() -> dict[str, Problem]:
    """Give the problems that are asked, by id."""
    return {one.id: one for one in (*tasks.arithmetic(PROBLEMS_MAX), *tasks.logic(PROBLEMS_MAX))}
