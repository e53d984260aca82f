"""Does a distilled note hold the line that decides, beside BM25 over sentences and the head of the session?

    python bench/distill_bench.py [--half even|odd]

Looked at while tuning: the even cases of distill_cases.py alone. A note holds its source when the deciding line
stands in it whole; a false "n of n" says that all is kept while a sentence is missing.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable

from distill_cases import CASES, messages
from firsthand.notes.distill import distill
from quality.bm25 import BM25, stems

BUDGETS = (120, 300, 600, 2_400)
Messages = list[dict[str, str]]


def sentences(session: Messages) -> list[str]:
    """Cut what users and tools said into sentences and lines."""
    ends = {"user": r"(?<=[.!?;])\s+|\n+", "tool": r"\n+"}
    said = [message for message in session if message["role"] in ends]
    pieces = [piece.strip() for message in said for piece in re.split(ends[message["role"]], message["content"])]
    return [piece for piece in pieces if piece]


def by_bm25(session: Messages, budget: int, query: str) -> str:
    """Fill the budget with the sentences that BM25 ranks first for a query."""
    pieces, cut = sentences(session), stems()
    scores = BM25([cut(piece) for piece in pieces]).scores(cut(query))
    note = ""
    for place in sorted(range(len(pieces)), key=lambda place: -scores[place]):
        if len(note) + len(pieces[place]) + 1 <= budget:
            note += pieces[place] + "\n"
    return note


def head(session: Messages, budget: int, _: str) -> str:
    """Cut the session to the budget."""
    return "\n".join(message["content"] for message in session)[:budget]


def ours(session: Messages, budget: int, query: str) -> str:
    """Distil the session for a claim."""
    return distill(session, budget, query or None).text


METHODS: dict[str, Callable[[Messages, int, str], str]] = {
    "distill": ours,
    "BM25 over sentences": by_bm25,
    "head": head,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--half", choices=("even", "odd"), help="these cases alone")
    half = parser.parse_args().half
    numbers = [number for number in range(len(CASES)) if half is None or number % 2 == (half == "odd")]
    print(f"sources held of {len(numbers)} at {BUDGETS} characters; false 'n of n'")
    for which, place in (("the claim", "claim"), ("other words", "other_words"), ("no claim", "")):
        for name, method in METHODS.items():
            kept, false = [0] * len(BUDGETS), 0
            for number in numbers:
                session = messages(number)
                query = CASES[number][place] if place else ""
                if name != "distill":  # which takes what was asked and answered last by itself
                    query = " ".join([query, *(message["content"] for message in session[-2:])])
                for column, budget in enumerate(BUDGETS):
                    note = method(session, budget, query)
                    kept[column] += CASES[number]["decides"].strip() in note
                    counted = re.match(r"(\d+) of (\d+) ", note)
                    false += bool(
                        counted and counted[1] == counted[2] and any(one not in note for one in sentences(session))
                    )
            print(f"{which:12} {name:20} {kept} {false if name == 'distill' else '-'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
