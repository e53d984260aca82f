"""Measure the estimates of tokens against exact tokenizers: ``python bench/token_estimates.py --data FOLDER``.

For each document of 100 tokens or more, and for each session as a whole, the estimate
over the truth, by data set and tokenizer: the worst, the 1st percentile, the mean, the
99th. Needs requirements-tokens.txt; a tokenizer whose package is missing is named and
left out. ``--tokenizer NAME=FILE`` adds a tokenizer.json.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from exact_counters import CLAUDE_4_7, GPT, Counter, counters, missing
from firsthand.tokens import CLAUDE, OPENAI, Estimate, estimate
from timing import percentile
from token_documents import Document, documents

TOKENS_MIN = 100
SLOW = "ctok"  # pure Python: counts a sample
SAMPLE = 10
SHOWN = ("worst", "1 %", "mean", "99 %", "session")  # the last: the worst whole session


@dataclass(frozen=True, slots=True)
class Compared:
    """Estimate over truth of each document, and of each session, of one data set with one tokenizer."""

    kind: str
    tokenizer: str
    documents: list[float]
    sessions: list[float]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of real text")
    parser.add_argument("--tokenizer", action="append", default=[], metavar="NAME=FILE", help="one more tokenizer.json")
    arguments = parser.parse_args()
    named = {name: Path(file) for name, _, file in (one.partition("=") for one in arguments.tokenizer)}
    texts = documents(arguments.data)
    exact = counters(named)
    print(f"{len(texts):,} documents, {sum(len(one.text) for one in texts) / 1e6:.1f} million characters")
    if missing():
        print(f"not installed, so not measured: {', '.join(missing())} (bench/requirements-tokens.txt)")
    for ours, names in families(list(exact)).items():
        print(f"\n{ours.identity}: {', '.join(names)}")
        print(f"{'data set':28}{'tokenizer':24}{'documents':>10}" + "".join(f"{name:>8}" for name in SHOWN))
        for one in (row for name in names for row in compare(ours, name, exact[name], texts)):
            print(_line(one))


def families(names: Sequence[str]) -> dict[Estimate, list[str]]:
    """Say which of the tokenizers each estimate is for."""
    return {
        estimate: [name for name in names if name not in CLAUDE_4_7],
        OPENAI: [name for name in names if name in GPT],
        CLAUDE: [name for name in names if name in CLAUDE_4_7],
    }


def compare(ours: Estimate, name: str, count: Counter, texts: Sequence[Document]) -> list[Compared]:
    """Compare one estimate with one tokenizer on every document, by data set."""
    held: dict[str, tuple[list[float], dict[str, list[int]]]] = {}
    for document in texts[:: SAMPLE if SLOW in name else 1]:
        true, said = count(document.text), ours(document.text)
        shares, sessions = held.setdefault(document.kind, ([], {}))
        if true >= TOKENS_MIN:
            shares.append(said / true)
        sums = sessions.setdefault(document.session, [0, 0])
        sums[0] += said
        sums[1] += true
    return [
        Compared(kind, name, shares, [said / true for said, true in sessions.values() if true >= TOKENS_MIN])
        for kind, (shares, sessions) in held.items()
        if shares
    ]


def _line(one: Compared) -> str:
    shares = one.documents
    mean = sum(shares) / len(shares)
    session = min(one.sessions)
    low, high = percentile(shares, 0.01), percentile(shares, 0.99)
    figures = "".join(f"{figure:8.2f}" for figure in (min(shares), low, mean, high))
    return f"{one.kind[:27]:28}{one.tokenizer[:23]:24}{len(shares):10,}{figures}{session:8.2f}"


if __name__ == "__main__":
    main()
