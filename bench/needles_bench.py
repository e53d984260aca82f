"""Are needles of a window found again after 5, 20 and 50 compactions? A check: it ends with 1 where one is missed.

    python bench/needles_bench.py --data DATA [--traces 4] [--parts 9] [--minilm FILE]

Generated sessions of 150,000 tokens, their flood made of real texts, and real ones go through a window small enough
for 50 compactions. After 5, 20 and 50 of them, or at the end, each question on what was said by then is asked as a
model's call of recall; the needle must stand in what comes back, or in the window, as a whole string. Beside it stand
the newest messages, running summaries made by rule, our own and LangChain's where it is installed, and the first with
BM25 without stop words over passages of 1,000 characters of all messages, as many as fit the tokens of our answer.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import corpus
from compaction import generated, real
from compaction.method import HIGH, LOW
from compaction.ours import Ours
from compaction.plain import Truncation
from compaction.strings import stands
from compaction.summaries import Extract, RunningSummary
from compaction.values import Ask, Trace, count, text_of, tokens_of_all
from firsthand.index.embed.minilm import MiniLM
from machine import describe
from quality.baselines import order, pieces
from quality.bm25 import BM25, stems
from quality.kept import Kept
from timing import say

SEED = 8
COMPACTIONS = (5, 20, 50)
WINDOW_TOKENS, WINDOW_TOKENS_MIN = 6_000, 2_500
ANSWER_TOKENS = 2_000
EXACT_MIN = 0.99
FLOOD_TEXTS, FLOOD_CHARACTERS_MIN = 1_500, 600
ASKS = (Ask.EXACT, Ask.PARAPHRASED, Ask.PERSONAL)
METHODS = {
    "Firsthand": "Firsthand", "BM25": "BM25 over passages, same tokens", "truncation": "newest messages",
    "summary": "running summary", **({"LangChain": "LangChain's summary"} if find_spec("langchain") else {}),
}  # fmt: skip
"""The methods that can run here, and the head of each one's column."""
FIRST_HALF = ("pi-0", "pi-1", "swe-agent-0", "swe-agent-2", "tau-0", "intercode-0", "intercode-1")
"""Looked at while tuning, with generated sessions of odd numbers."""
Row = tuple[int, str, Ask]
"""After how many compactions, of which set, how asked."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of real sessions")
    parser.add_argument("--traces", type=int, default=2, help="generated sessions")
    parser.add_argument("--parts", type=int, default=9, help="of each set of real sessions, at most")
    parser.add_argument("--half", choices=("first", "second"), help="only sessions looked at while tuning, or none")
    parser.add_argument("--sets", nargs="*", default=("generated", *real.SETS), help="only these")
    parser.add_argument("--minilm", type=Path, help="ask with vectors of all-MiniLM-L6-v2, too; they are kept here")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="folder for the page")
    chosen = parser.parse_args()
    counts: Counter[tuple[Row, str]] = Counter()
    embedder = Kept(MiniLM(), chosen.minilm) if chosen.minilm else "none"
    for name in chosen.sets:
        for trace in traces_of(name, chosen):
            say(f"{trace.name}: a window of {window_tokens(trace):,} tokens")
            for row, method in measure(name, trace, embedder):
                counts[row, method] += 1
    missed = [verdict for row in sorted({row for row, _ in counts}) for verdict in missed_by(row, counts)]
    command = "python bench/needles_bench.py --data DATA "
    command += f"--traces {chosen.traces} --parts {chosen.parts} --sets {' '.join(chosen.sets)}"
    command += " --minilm FILE" * bool(chosen.minilm) + (f" --half {chosen.half}" if chosen.half else "")
    lines = [
        "# Needles after 5, 20 and 50 compactions", "", *(missed or ["Every promise is kept."]), "",
        f"Looked at while tuning: {', '.join(FIRST_HALF)}, and generated sessions of odd numbers.", "",
        "None of them is here." if chosen.half == "second" else "Others alone: NEEDLES-second.md.", "",
        f"`{command}`, {datetime.now(UTC).date()}, {describe(chosen.out)}.", "",
        f"An answer has at most {ANSWER_TOKENS:,} tokens, and BM25 as many as ours. n: asked on what was said by then.",
        "", about_langchain(),
        *(line for number in COMPACTIONS for line in table(number, counts)), "",
    ]  # fmt: skip
    chosen.out.mkdir(parents=True, exist_ok=True)
    (chosen.out / f"NEEDLES{'-second' * (chosen.half == 'second')}.md").write_text("\n".join(lines), encoding="utf-8")
    print("\n".join(lines))
    return 1 if missed else 0


def traces_of(name: str, chosen: argparse.Namespace) -> list[Trace]:
    """Give the sessions of a set."""
    if name != "generated":
        made = real.traces(chosen.data, name, parts=chosen.parts, seed=SEED)
        return [trace for trace in made if not chosen.half or (trace.name in FIRST_HALF) == (chosen.half == "first")]
    texts = corpus.texts(chosen.data / "swe-agent", FLOOD_TEXTS, seed=SEED)
    long = [text for text in texts if len(text) > FLOOD_CHARACTERS_MIN]
    numbers = range(chosen.half == "first", chosen.traces, 2 if chosen.half else 1)
    return [generated.trace(number, generated.FULL, long, seed=SEED) for number in numbers]


def measure(name: str, trace: Trace, embedder: Any) -> Iterator[tuple[Row, str]]:
    """Feed a session to all methods, and yield what each found after so many compactions of ours."""
    window, due = window_tokens(trace), [*COMPACTIONS]
    ours, others = Ours(window, embedder), [Truncation(window), RunningSummary(window, Extract())]
    if "LangChain" in METHODS:
        from compaction.middleware import Summarization

        others.append(Summarization(window, Extract()))
    said: list[str] = []
    for number, step in enumerate(trace.steps, 1):
        for method in (ours, *others):
            method.feed(step)
        said += [text_of(message) for message in step]
        if due and (ours.compactions >= due[0] or (number == len(trace.steps) and due[0] == COMPACTIONS[-1])):
            ours.memory.follow()
            passages, everything, after = Passages(said), "\n".join(said), due.pop(0)
            for question in trace.questions:
                if question.ask in ASKS and stands(question.answer, everything):
                    row = (after, name, question.ask)
                    text = ours.recall(question.text, ANSWER_TOKENS, exactly=True).text
                    contexts = [method.ask(question.text).context for method in (ours, *others)]
                    best = passages.answer(question.text, count(text))
                    answers = (text + contexts[0], best + contexts[1], *contexts[1:])
                    yield row, "n"
                    hits = (stands(question.answer, text) for text in answers)
                    yield from ((row, method) for method, is_hit in zip(METHODS, hits, strict=True) if is_hit)
    ours.close()


def window_tokens(trace: Trace) -> int:
    """Give a window that the session compacts fifty times or nearly so: a compaction takes a third of it out."""
    total = sum(map(tokens_of_all, trace.steps))
    return max(WINDOW_TOKENS_MIN, min(WINDOW_TOKENS, int(total / (0.3 * 1.3 * COMPACTIONS[-1]))))


class Passages:
    """BM25 over passages of messages, the best of them up to a number of tokens."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._terms = stems()
        self._pieces = [piece for text in texts for piece in pieces(text)]
        self._words = BM25([self._terms(piece) for piece in self._pieces])

    def answer(self, question: str, tokens_max: int) -> str:
        """Give the best passages that fit, whole; the first that does not fit is cut."""
        shown = ""
        for number in order(self._words.scores(self._terms(question)), above=0.0):
            room = 4 * tokens_max - len(shown)
            if room <= 0:
                break
            shown += self._pieces[number][:room]
        return shown


def about_langchain() -> str:
    """Say how LangChain's middleware was run, or that it was not."""
    if "LangChain" not in METHODS:
        return "LangChain's summary is not in the tables: install `firsthand[langchain]`."
    return (
        f"LangChain's summary: SummarizationMiddleware of langchain {version('langchain')}, asked after each step, "
        f"from {HIGH:.0%} of the window down to {LOW:.0%} as the running summary, with its extract and its room. It "
        "hands over all that leaves; its default is the last 4,000 tokens of it. Where a step is larger than the "
        "window both exceed it, LangChain's for longer."
    )


def missed_by(row: Row, counts: Counter[tuple[Row, str]]) -> Iterator[str]:
    """Say what promise a row misses."""
    (after, name, ask), n, ours, passages = row, *(counts[row, method] for method in ("n", "Firsthand", "BM25"))
    if ask is Ask.EXACT and ours < EXACT_MIN * n:
        yield f"MISSED after {after}: {name}, exact: {ours} of {n}, promised {EXACT_MIN:.0%}; BM25 {passages}."
    elif ours < passages:
        yield f"MISSED after {after}: {name}, {ask.value}: {ours} of {n}, BM25 {passages}."


def table(after: int, counts: Counter[tuple[Row, str]]) -> list[str]:
    """Write what was found after so many compactions."""
    heads = f"| set | question | n | {' | '.join(METHODS.values())} |"
    rows = sorted({row for row, _ in counts if row[0] == after})
    shares = [[counts[row, method] / max(1, counts[row, "n"]) for method in METHODS] for row in rows]
    return ["", f"## After {after}", "", heads, "|---" * (3 + len(METHODS)) + "|"] + [
        f"| {name} | {ask.value} | {counts[row, 'n']} | {' | '.join(f'{share:.0%}' for share in of_row)} |"
        for row, of_row in zip(rows, shares, strict=True)
        for _, name, ask in [row]
    ]


if __name__ == "__main__":
    sys.exit(main())
