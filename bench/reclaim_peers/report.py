"""What came of the items of bench/reclaim_bench.py: JSON, and Markdown made of that JSON and of nothing else.

The invariant: every figure stands with its n; an interval resamples problems, since the places and repetitions of one
problem are alike; where all or none of the items are counted it is Wilson's over problems. Where another memory has
the better number, the text says so.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from firsthand_evals import stats
from firsthand_evals.reclaim import items as files
from firsthand_evals.reclaim import tables
from firsthand_evals.reclaim.items import Item

from .peers import KINDS, NOT_ASKED
from .writer import Writer

OURS, ALONE = "firsthand", "firsthand_note"
FAULT_CHARACTERS_MAX = 200
PAGE, BEGIN, END = Path("docs") / "reclaim-figures.md", "<!-- systems:begin -->", "<!-- systems:end -->"
IN_SHORT = {"short": "10 messages", "long": "66 messages", "cliff": "32 items in 300 characters", "decoys": "32 decoys",
            "chain": "64 sessions", "written": "written by SmolLM2"}  # fmt: skip
"""What the page shows of each part."""
BY = {"short": ("reader", "memory"), "long": ("reader", "memory"), "written": ("reader", "memory"),
      "cliff": ("reader", "memory"), "decoys": ("reader", "memory"), "read": ("reader", "memory"),
      "chain": ("reader", "memory", "hops", "premise")}  # fmt: skip
SPLITS = {"short": ("family", "source_at"), "long": ("family", "source_at"), "written": ("family", "source_at")}
LABELS = {
    OURS: "Firsthand: note and store", ALONE: "Firsthand: note alone", "lossy": "lossy (paper's)",
    "lossy_padded": "lossy, padded (paper's)", "source_first": "source-first (paper's)", "blank": "blank (paper's)",
    "source_first_tagged": "source-first, tagged (paper's)",
} | {kind.name: kind.label for kind in KINDS}  # fmt: skip
TITLES = {
    "short": "Sessions of 10 messages", "long": "Sessions of 66 messages",
    "cliff": "Past the cliff: 32 items, 300 characters",
    "decoys": "Under decoys: 4 items bought, 32 considered, 420 characters",
    "chain": "Memory that feeds memory: 8 and 64 sessions, 200 characters",
    "written": "Memories that a model writes", "read": "A model reads",
}  # fmt: skip
Row = dict[str, Any]


# JSON ---------------------------------------------------------------------------------------------------


def write(work: Path, out: Path, measured: str, versions: Mapping[str, str], parts: Sequence[str]) -> None:
    """Write both files of the parts that the folder has items of."""
    found = {name: part(name, tuple(files.load(work / f"{name}.jsonl").values()), work) for name in parts
             if (work / f"{name}.jsonl").is_file()}  # fmt: skip
    told = {"measured": measured, "versions": dict(versions), "parts": found}
    text = json.dumps(told, ensure_ascii=False).replace('{"labels"', '\n{"labels"').replace('{"about"', '\n{"about"')
    (out / "reclaim.json").write_text(text + "\n", encoding="utf-8")
    (out / "RECLAIM.md").write_text(markdown(json.loads(text)), encoding="utf-8")
    page = out.parent / PAGE
    if page.is_file():
        page.write_text(filled(page.read_text(encoding="utf-8"), json.loads(text)), encoding="utf-8")


def part(name: str, asked: Sequence[Item], work: Path) -> Row:
    """Count the items of one part."""
    own = asked_of_all(asked) if name in SPLITS else asked
    spent = work / f"{name}-spent.json"
    by = BY[name]
    return {
        "cells": [cell(one) for one in tables.cells(own, by)],
        "splits": {split: [cell(one) for one in tables.cells(own, (*by, split))] for split in SPLITS.get(name, ())},
        "pairs": pairs(name, own),
        "faults": faults(own),
        "spent": json.loads(spent.read_text(encoding="utf-8")) if spent.is_file() else {},
    }


def asked_of_all(asked: Sequence[Item]) -> tuple[Item, ...]:
    """Leave out problems that not every memory of a reader was asked at every place: like is compared with like."""
    memories: dict[str, set[str]] = {}
    found: dict[tuple[str, str], list[str]] = {}
    for item in asked:
        of = item.parameters
        memories.setdefault(of["reader"], set()).add(of["memory"])
        found.setdefault((of["reader"], of["problem"]), []).append(of["memory"])
    places = max(Counter(held).most_common(1)[0][1] for held in found.values())
    whole = {one for one, held in found.items() if Counter(held) == dict.fromkeys(memories[one[0]], places)}
    return tuple(item for item in asked if (item.parameters["reader"], item.parameters["problem"]) in whole)


def cell(one: tables.Cell) -> Row:
    """Keep what the report shows."""
    shares = {name: share(getattr(one, name), one) for name in ("recovered", "attractor", "silent", "abstained")}
    rest = {name: getattr(one, name) for name in ("n", "problems", "used", "over", "pulls", "pulled")}
    mean = (
        one.reclaim
        if 0 < one.recovered.hits < one.n
        else stats.rate(one.problems * one.recovered.hits // one.n, one.problems)
    )
    return {
        "labels": dict(one.labels), **rest, **shares, "low": mean.low, "high": mean.high,
        "malformed": one.malformed.hits, "failed": one.failed.hits,
        "blast": one.blast.mean, "blast_abstained": one.blast_abstained,
    }  # fmt: skip


def share(counted: stats.Rate, one: tables.Cell) -> float:
    return counted.hits / one.n


def pairs(name: str, own: Sequence[Item]) -> list[Row]:
    """Set ours beside every other memory, over the cases that both were asked."""
    found = []
    kept = [item for item in own if item.parameters["premise"]]  # a control has nothing to recover from
    by = ("hops",) if name == "chain" else ()
    worths: tuple[tuple[str, Callable[[Item], float]], ...] = (("recovered", tables.recovered), ("wrong", tables.wrong))
    for reader in dict.fromkeys(str(item.parameters["reader"]) for item in kept):
        of_reader = [item for item in kept if item.parameters["reader"] == reader]
        others = dict.fromkeys(str(item.parameters["memory"]) for item in of_reader)
        for ours, other, (about, worth) in itertools.product((OURS, ALONE), others, worths):
            for pair in tables.paired(of_reader, ours, other, worth, about, by) if other != ours else ():
                of = pair.difference
                told = {"about": about, "reader": reader, "ours": ours, "other": other, **dict(pair.labels)}
                found.append(
                    told | {"mean": of.mean, "low": of.low, "high": of.high, "problems": of.clusters, "n": of.n}
                )
    return found


def faults(own: Iterable[Item]) -> dict[str, dict[str, int]]:
    """Count what memories raised; sentences that differ in numbers alone are one, told by the first."""
    found: dict[str, dict[str, list[str]]] = {}
    for item in own:
        if item.fault:
            alike = found.setdefault(str(item.parameters["memory"]), {})
            alike.setdefault(re.sub(r"\d+", "0", item.fault), []).append(item.fault.partition(": ")[2])
    return {
        name: {told[0][:FAULT_CHARACTERS_MAX]: len(told) for told in alike.values()} for name, alike in found.items()
    }


def spent(work: Path, name: str, writer: Writer) -> None:
    """Keep what a part's model was asked."""
    told = {
        peer: {"calls": calls, "prompt_tokens": writer.prompt_tokens[peer], "reply_tokens": writer.reply_tokens[peer]}
        for peer, calls in sorted(writer.calls.items())
    }
    (work / f"{name}-spent.json").write_text(json.dumps({"model": writer.name, "peers": told}), encoding="utf-8")


# Markdown -----------------------------------------------------------------------------------------------


HEAD = """# Systems compared: can a memory be corrected?

Written by `python bench/reclaim_bench.py`; the numbers are in reclaim.json beside it. Measured: {measured}. \
Peers, each in an interpreter of its own: {versions}.

A session takes a wrong subtotal (or clue) for granted and commits to a wrong answer. A memory carries a bounded \
text of it into a fresh session, where the user says which part was wrong, without the right value, and asks \
again (directed correction, reclaim-evaluation 3.2). The source stands in the first, a middle or the last \
message, or scattered, with the same weight. The budget is enforced for all alike: what is longer is cut. \
Problems are made from a seed that no other run uses, in a wording of the session that nobody who worked on our \
notes has read; scoring is by the answer line.

- *recovered*: the right answer, share of all items. [ ]: 95 % interval over problems (bootstrap; Wilson's over \
problems where it is all or none). *stale*: the wrong answer of the session. *new wrong*: another one, worked \
out as if all were there. *abstained*: said that it does not know. *no answer*: wrote no readable answer line; \
*failed*: the memory raised; both are numbers of items, counted as not recovered.
- *carried*: characters in the fresh session, on average. *asked*: questions of the reader to the memory, and \
the characters it was given, an item. Asking is free here and is therefore counted.
- *Firsthand minus it*: difference of the recovered shares over the same cases, with its interval, our note with \
its store; where the interval holds 0, no difference is detectable.
- The reader *recomputing* is a rule: it works the answer out of what stands before it, asks when that is not \
enough or says that it is a part, and abstains else. *Asks first* asks every memory before it looks, which helps \
stores that do not say how much is missing. Readers that are models read worse, or guess.
- *(paper's)*: notes made by hand from the problem, which no memory under test sees. *blank* and *lossy* are the \
floor.
- *LangChain ConversationSummaryMemory* is what the paper measured; *SummarizationMiddleware* is its successor. \
The length of a reply is set to the budget. *mem0*: its defaults, hybrid search with its extras; *(infer=False)* \
stores messages as they are and needs no model. *ChromaDB*: one document a message, all-MiniLM-L6-v2; four hits \
for a question shaped like a correction are carried (as in the paper), ten answer a question. *Not asked*: what \
they carry alone, as the paper measured them. All are general memories and none was made for this; each is used \
with its defaults.
"""


def markdown(told: Row) -> str:
    """Write the report."""
    versions = ", ".join(f"{name} {version}" for name, version in told["versions"].items()) or "none measured"
    lines = [HEAD.format(measured=told["measured"], versions=versions)]
    for name, one in told["parts"].items():
        lines += [f"## {TITLES[name]}", "", *PARTS[name](name, one), *_faults(one), *_better(name, one), ""]
    lines += ["## What is not shown here", "", *(f"- {one}" for one in LIMITS), ""]
    return "\n".join(lines)


LIMITS = (
    """How these systems do with a good writer: the small local model is what runs here without a key, and what it \
writes has little to do with the session. The paper has LangChain's summary at .35 and .47 recovered (arithmetic, \
logic) with an 8B writer and reader and at .88 on arithmetic with a frontier writer, and mem0, of that time, near .1 \
with either (Table 8, section 6). `--writer URL#NAME` runs them with any model behind OpenAI's interface.""",
    """Letta: PyPI's `letta` 0.34.12 is Letta Code, an agent for a terminal. It runs without anybody's server \
(`letta --backend local connect openai-compatible --base-url ...`, tried here), but its first request has 107 kB of \
system prompt and tools, which the small model's 8,192 tokens do not hold; and its memory is what a capable model \
writes by calls of tools, over a talk that it leads itself. Not measured.""",
    """claude-mem 13.25.3: hooks of Claude Code and a worker under Bun, which lets Claude, Gemini or OpenRouter write \
observations of tool calls; it has no call that takes a session of messages. Not measured.""",
    """mem0 over 64 sessions: it embeds, indexes and syncs every message for itself, and the time was not there.""",
    """Stores that hold much else: each problem has a store of its own here, for all alike. Retrieval tuned for the \
question, other chunks, reranking: the peers stand as their defaults are.""",
    """Whether a model would ask its memory at all: the readers by rule do.""",
)


def filled(page: str, told: Row) -> str:
    """Put the table in short between the marks of a page; a page without them is left as it is."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    return f"{before}{begin}\n{in_short(told)}\n{end}{after}" if end else page


def in_short(told: Row) -> str:
    """Write what each memory recovered, and how often it was wrong anew, with the reader that works it out."""
    found: dict[str, dict[str, Row]] = {}
    for name, one in told["parts"].items():
        for row in one["cells"] if name in IN_SHORT else ():
            labels = row["labels"]
            longest = labels.get("hops") == max(each["labels"].get("hops", 0) for each in one["cells"])
            if labels["reader"] == "recomputing" and (name != "chain" or (longest and labels["premise"])):
                found.setdefault(_label(labels["memory"]), {})[name] = row
    names = [name for name in IN_SHORT if any(name in held for held in found.values())]
    body = [
        [memory, *(_short(row) if row else "" for row in shown)]
        for memory, held in found.items()
        for shown in ([held.get(name) for name in names],)
    ]
    ns = [_ns([held[name] for held in found.values() if name in held]) for name in names]
    heads = [f"{IN_SHORT[name]}; {n}" for name, n in zip(names, ns, strict=True)]
    return "\n".join(_table(["recovered (new wrong value)", *heads], body))


def _short(row: Row) -> str:
    if row["failed"] == row["n"]:
        return "failed"
    return f"{_number(row['recovered'])} ({_number(row['silent'])})"


def _systems(_name: str, one: Row) -> list[str]:
    """Write the table of a part whose source stands at four places."""
    lines = []
    for reader in _readers(one):
        own = [row for row in one["cells"] if row["labels"]["reader"] == reader]
        if not own:
            continue
        body = []
        for row in own:
            memory = row["labels"]["memory"]
            split = (_split(one, "family", reader, memory, family) for family in ("arithmetic", "logic"))
            families = map(_recovered, split)
            body.append(
                [_label(memory), _carried(row), _asked(row), *families, *_wrong(row), _minus(one, reader, memory)]
            )
        heads = ["memory", "carried", "asked", "recovered, arithmetic", "recovered, logic", "stale", "new wrong",
                 "abstained", "no answer", "failed", "Firsthand minus it"]  # fmt: skip
        lines += [f"Reader: {reader}; n = {_ns(own)}.", "", *_table(heads, body), ""]
    return [*lines, *_places(one)]


def _places(one: Row) -> list[str]:
    reader = _readers(one)[0]
    places = list(dict.fromkeys(row["labels"]["source_at"] for row in one["splits"]["source_at"]))
    body = [
        [_label(memory), *(_recovered(_split(one, "source_at", reader, memory, place)) for place in places)]
        for memory in dict.fromkeys(
            row["labels"]["memory"] for row in one["cells"] if row["labels"]["reader"] == reader
        )
    ]
    return [f"Recovered by where the source stands ({reader}):", "", *_table(["memory", *places], body), ""]


def _plain(_name: str, one: Row) -> list[str]:
    lines = []
    for reader in _readers(one):
        own = [row for row in one["cells"] if row["labels"]["reader"] == reader]
        body = [
            [_label(row["labels"]["memory"]), _carried(row), _asked(row), _recovered(row), *_wrong(row),
             _minus(one, reader, row["labels"]["memory"])]
            for row in own
        ]  # fmt: skip
        heads = ["memory", "carried", "asked", "recovered", "stale", "new wrong", "abstained",
                 "no answer", "failed", "Firsthand minus it"]  # fmt: skip
        lines += [f"Reader: {reader}; n = {_ns(own)}.", "", *_table(heads, body), ""]
    return lines


def _chain(_name: str, one: Row) -> list[str]:
    about = (
        "One item more in each session; the first has a wrong subtotal, or, as a control, none. Sessions answered "
        "wrongly are the mean of a chain, that first one included; asked is the sum over a chain."
    )
    lines = [about, ""]
    for reader in _readers(one):
        own = [row for row in one["cells"] if row["labels"]["reader"] == reader]
        heads = ["memory", "sessions", "error", "sessions answered wrongly", "not answered", "recovered at the end",
                 "new wrong at the end", "carried", "asked", "Firsthand minus it"]  # fmt: skip
        lines += [
            f"Reader: {reader}; n = {_ns(own)} a row.",
            "",
            *_table(heads, [_chained(one, row) for row in own]),
            "",
        ]
    return lines


def _chained(one: Row, row: Row) -> list[str]:
    labels = row["labels"]
    planted = "planted" if labels["premise"] else "none (control)"
    minus = _minus(one, labels["reader"], labels["memory"], hops=labels["hops"]) if labels["premise"] else ""
    blast = [f"{row[name]:.2f}" for name in ("blast", "blast_abstained")]
    came = [*blast, _recovered(row), _number(row["silent"]), _carried(row), _asked(row), minus]
    return [_label(labels["memory"]), str(labels["hops"]), planted, *came]


def _spent(name: str, one: Row) -> list[str]:
    """Write a part of a model, and what it was asked."""
    told = one["spent"]
    lines = (_systems if "family" in one["splits"] else _plain)(name, one)
    if not told:
        return lines
    sessions = {row["labels"]["memory"].partition(" by ")[0]: row["n"] for row in one["cells"]}
    asked = [
        f"{LABELS.get(peer, peer)}: {spent['calls']:,} calls, {spent['prompt_tokens']:,} tokens read and "
        f"{spent['reply_tokens']:,} written" + (f" for {sessions[peer]} sessions" if peer in sessions else "")
        for peer, spent in told["peers"].items()
    ]
    who = "Written" if name == "written" else "Written and read"
    return [f"{who} by {told['model']}. {'; '.join(asked)}.", "", *lines]


PARTS: dict[str, Callable[[str, Row], list[str]]] = {
    "short": _systems, "long": _systems, "cliff": _plain, "decoys": _plain, "chain": _chain, "written": _spent,
    "read": _spent,
}  # fmt: skip


def _faults(one: Row) -> list[str]:
    return [
        f"{_label(memory)} failed: {'; '.join(f'{count} times {text!r}' for text, count in counted.items())}.\n"
        for memory, counted in one["faults"].items()
    ]


def _better(name: str, one: Row) -> list[str]:
    """Say where another memory has the better number, by how much, and whether that can be told from none."""
    found = []
    for pair in sorted(one["pairs"], key=lambda pair: pair["ours"] == ALONE):
        more = pair["about"] == "recovered"
        by, low, high = (
            (-pair["mean"], -pair["high"], -pair["low"]) if more else (pair["mean"], pair["low"], pair["high"])
        )
        if by <= 0 or pair["other"] in {OURS, ALONE}:
            continue
        what = "recovers more than" if more else "gives fewer wrong values than"
        where = f" over {pair['hops']} sessions" if name == "chain" else ""
        found.append(
            f"- {_label(pair['other'])} {what} {LABELS[pair['ours']]}{where} ({pair['reader']}): by {by:.2f} "
            f"[{low:.2f}, {high:.2f}], {pair['problems']} problems{'' if low > 0 else '; no difference detectable'}"
        )
    found += _cheaper(one)
    return ["Where another one has the better number:", "", *(found or ["- nowhere in this part"]), ""]


def _cheaper(one: Row) -> list[str]:
    """Say where a memory that recovers as much takes fewer characters than ours."""
    found = []
    for row in one["cells"]:
        labels = row["labels"]
        if labels["memory"] in {OURS, ALONE} or "(paper" in _label(labels["memory"]) or not row["recovered"]:
            continue
        same = {name: held for name, held in labels.items() if name != "memory"}
        for own in (other for other in one["cells"] if other["labels"] == {**same, "memory": OURS}):
            takes, mine = (each["used"] + each["pulled"] for each in (row, own))
            as_good = row["recovered"] >= own["recovered"] and row["blast"] <= own["blast"]
            if takes < mine and as_good:
                where = f" over {same['hops']} sessions" if "hops" in same else ""
                planted = ", without an error" * (same.get("premise") is False)
                found.append(
                    f"- {_label(labels['memory'])} recovers as much as {LABELS[OURS]} and takes fewer characters{where}"
                    f"{planted} ({same['reader']}): {takes:,.0f}, not {mine:,.0f}"
                )
    return found


# cells --------------------------------------------------------------------------------------------------


def _readers(one: Row) -> list[str]:
    return list(dict.fromkeys(row["labels"]["reader"] for row in one["cells"]))


def _split(one: Row, split: str, reader: str, memory: str, held: str) -> Row | None:
    for row in one["splits"][split]:
        labels = row["labels"]
        if (labels["reader"], labels["memory"], labels[split]) == (reader, memory, held):
            return dict(row)
    return None


def _minus(one: Row, reader: str, memory: str, **where: Any) -> str:
    for pair in one["pairs"]:
        same = all(pair[name] == held for name, held in where.items())
        if same and (pair["about"], pair["reader"], pair["ours"], pair["other"]) == ("recovered", reader, OURS, memory):
            told = f"{pair['mean']:+.2f} [{pair['low']:+.2f}, {pair['high']:+.2f}]"
            return told if pair["low"] > 0 or pair["high"] < 0 else f"{told}, none detectable"
    return ""


def _recovered(row: Row | None) -> str:
    return "" if row is None else f"{_number(row['recovered'])} [{_number(row['low'])}, {_number(row['high'])}]"


def _wrong(row: Row) -> list[str]:
    unread = [str(row[name] or "") for name in ("malformed", "failed")]
    return [*(_number(row[name]) for name in ("attractor", "silent", "abstained")), *unread]


def _carried(row: Row) -> str:
    return f"{row['used']:.0f}" + (f" ({row['over']} cut)" if row["over"] else "")


def _asked(row: Row) -> str:
    return f"{row['pulls']:.1f} ({row['pulled']:,.0f})" if row["pulls"] else "no"


def _number(of: float) -> str:
    return f"{of:.2f}".removeprefix("0") if of < 1 else f"{of:.2f}"


def _label(memory: str) -> str:
    name, _, by = memory.removesuffix(NOT_ASKED).partition(" by ")
    unasked = NOT_ASKED if memory.endswith(NOT_ASKED) else ""
    return LABELS.get(name, name) + (f", written by {by}" if by else "") + unasked


def _ns(rows: Sequence[Row]) -> str:
    found = sorted({(row["n"], row["problems"]) for row in rows})
    return " or ".join(f"{n} items of {problems} problems" for n, problems in found)


def _table(heads: Sequence[str], body: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|", *(f"| {' | '.join(row)} |" for row in body)]
