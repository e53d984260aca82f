"""Are needles of a window found again after 50 compactions? A check: it ends with 1 when a promise is missed.

    python bench/needles_bench.py --data DATA [--traces 4] [--minilm FILE]

Generated sessions of 150,000 tokens, their flood made of real texts, and real ones (pi, swe-agent, tau) go through a
window small enough for 50 compactions and more. Then each question is asked as a model's call of recall, and the
needle must stand in the text that comes back. BM25 without stop words over passages of 1,000 characters of the same
messages, as many as fit the same tokens, stands beside it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import corpus
from compaction import generated, real
from compaction.ours import Ours
from compaction.values import Ask, Trace, count, text_of
from firsthand.index.embed.minilm import MiniLM
from machine import describe
from quality.baselines import order, pieces
from quality.bm25 import BM25, stems
from quality.kept import Kept
from timing import say

SEED = 8
COMPACTIONS = 50
WINDOW_TOKENS, WINDOW_TOKENS_MIN = 6_000, 2_500
ANSWER_TOKENS = 2_000
EXACT_MIN = 0.99
FLOOD_TEXTS, FLOOD_CHARACTERS_MIN = 1_500, 600
ASKS = (Ask.EXACT, Ask.PARAPHRASED)
REAL = ("pi", "swe-agent", "tau")
LOOKED_AT = "Looked at while tuning: none of the generated sessions; the real ones are partly development data."


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of real sessions")
    parser.add_argument("--traces", type=int, default=4, help="generated sessions")
    parser.add_argument("--parts", type=int, default=1, help="of each set of real sessions, at most")
    parser.add_argument("--sets", nargs="*", default=("generated", *REAL), help="only these")
    parser.add_argument("--minilm", type=Path, help="ask with vectors of all-MiniLM-L6-v2, too; they are kept here")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="folder for NEEDLES.md")
    chosen = parser.parse_args()
    texts = [
        t for t in corpus.texts(chosen.data / "swe-agent", FLOOD_TEXTS, seed=SEED) if len(t) > FLOOD_CHARACTERS_MIN
    ]
    sets = {"generated": [generated.trace(n, generated.FULL, texts, seed=SEED) for n in range(chosen.traces)]}
    sets |= {name: real.traces(chosen.data, name, parts=chosen.parts, seed=SEED) for name in REAL}
    embedder = Kept(MiniLM(), chosen.minilm) if chosen.minilm else "none"
    rows = [row for name in chosen.sets for row in measure(name, sets[name], embedder)]
    missed = [verdict for row in rows if (verdict := missed_by(row))]
    machine = describe(chosen.out)
    lines = [
        "# Needles after 50 compactions", "", LOOKED_AT, "",
        f"`python bench/needles_bench.py --data DATA --traces {chosen.traces}`, {datetime.now(UTC).date()}, {machine}.",
        "", f"{ANSWER_TOKENS:,} tokens an answer at most.", "",
        *table(rows), "", *(missed or ["Every promise is kept."]), "",
    ]  # fmt: skip
    chosen.out.mkdir(parents=True, exist_ok=True)
    (chosen.out / "NEEDLES.md").write_text("\n".join(lines), encoding="utf-8")
    print("\n".join(lines))
    return 1 if missed else 0


def measure(name: str, traces: Sequence[Trace], embedder: Any) -> list[dict[str, Any]]:
    """Feed the sessions to windows; give a row a kind of question, counts summed over sessions."""
    rows = {ask: {"set": name, "ask": ask.value, "n": 0, "ours": 0, "passages": 0} for ask in ASKS}
    compactions, seconds, tokens = [], 0.0, []
    for trace in traces:
        window = window_tokens(trace)
        say(f"{trace.name}: a window of {window:,} tokens")
        ours = Ours(window, embedder)
        for step in trace.steps:
            ours.feed(step)
        ours.memory.follow()
        compactions.append(ours.compactions)
        passages = Passages([text_of(message) for step in trace.steps for message in step])
        for question in trace.questions:
            if question.ask not in ASKS:
                continue
            row = rows[question.ask]
            before = time.process_time()
            text = ours.recall(question.text, ANSWER_TOKENS, exactly=True).text
            seconds += time.process_time() - before
            tokens.append(count(text))
            row["n"] += 1
            row["ours"] += question.answer in text
            row["passages"] += question.answer in passages.answer(question.text, count(text))
        ours.close()
    about = {"compactions": min(compactions), "ms": 1e3 * seconds / len(tokens), "tokens": sum(tokens) / len(tokens)}
    return [row | about for row in rows.values()]


def window_tokens(trace: Trace) -> int:
    """Give a window that the session compacts fifty times or nearly so: a compaction takes a third of it out."""
    total = sum(count(text_of(message)) + 4 for step in trace.steps for message in step)
    return max(WINDOW_TOKENS_MIN, min(WINDOW_TOKENS, int(total / (0.3 * 1.3 * COMPACTIONS))))


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


def missed_by(row: dict[str, Any]) -> str:
    """Say what promise a row misses; empty when it keeps them."""
    if row["ask"] == Ask.EXACT and row["ours"] < EXACT_MIN * row["n"]:
        return f"MISSED: {row['set']}, exact: {row['ours']} of {row['n']}, promised {EXACT_MIN:.0%}."
    if row["ask"] == Ask.PARAPHRASED and row["ours"] < row["passages"]:
        return f"MISSED: {row['set']}, paraphrased: {row['ours']} of {row['n']}, passages {row['passages']}."
    return ""


def table(rows: Sequence[dict[str, Any]]) -> list[str]:
    heads = "| set | question | n | found | BM25 over passages, same tokens | compactions | tokens | ms |"
    return [heads, "|---" * 8 + "|"] + [
        f"| {row['set']} | {row['ask']} | {row['n']} | {row['ours'] / max(1, row['n']):.0%} | "
        f"{row['passages'] / max(1, row['n']):.0%} | {row['compactions']} | {row['tokens']:,.0f} | {row['ms']:.1f} |"
        for row in rows
    ]


if __name__ == "__main__":
    sys.exit(main())
