"""The methods that everybody has: BM25, a small embedder, and fixed fusions of the two, all given the same events."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from . import bm25
from .bm25 import BM25, Scores, Stems, Strong
from .encoder import Matrix
from .values import HITS, Event, Question, Ranked

RRF_K = 60
PIECE_CHARACTERS, PIECES_MAX = 1_000, 32
"""What is embedded of a long event: so many pieces of whole lines, as the model reads 256 tokens."""
Embed = Callable[[Sequence[str]], Matrix]

WORDS, STRONG = "BM25, stop words", "BM25 with dates, neighbours, speakers"
DENSE, SUM, SUM_WORDS, FUSED = (
    "all-MiniLM alone", "score sum of strong BM25 and all-MiniLM", "score sum of BM25 and all-MiniLM",
    "RRF of BM25 and all-MiniLM (k = 60)",
)  # fmt: skip
NAMES = (WORDS, STRONG, DENSE, SUM, SUM_WORDS, FUSED)


def rank(
    events: Sequence[Event], questions: Sequence[Question], terms: Stems, embed: Embed | None
) -> dict[str, list[Ranked]]:
    """Rank the events of a store for each question, by method; without an embedder by words only."""
    words, strong = BM25([terms(event.plain) for event in events]), Strong(events, terms)
    cosines = _cosines(events, [question.text for question in questions], embed) if embed else None
    out: dict[str, list[Ranked]] = {}
    for number, question in enumerate(questions):
        scores = {WORDS: words.scores(terms(question.text)), STRONG: strong.scores(question.text)}
        if cosines is not None:
            near = cosines[number]
            scores[DENSE] = near
            scores[SUM] = scaled(scores[STRONG]) + scaled(near)
            scores[SUM_WORDS] = scaled(scores[WORDS]) + scaled(near)
            scores[FUSED] = fuse([order(scores[WORDS], above=0.0), order(near)], len(events))
        for name, row in scores.items():
            best = order(row, above=0.0 if name in (WORDS, STRONG) else -np.inf)[: 10 * HITS]
            top = float(row[best[0]]) if len(best) else 0.0
            out.setdefault(name, []).append(Ranked(tuple(map(int, best)), top))
    return out


def kept(
    folder: Path, events: Sequence[Event], questions: Sequence[Question], embed: Embed | None
) -> dict[str, list[Ranked]]:
    """Rank as `rank` does, unless the same was ranked before and lies in the folder."""
    source = b"".join(Path(module).read_bytes() for module in (__file__, bm25.__file__))
    given = [[event.plain for event in events], [question.text for question in questions], embed is not None]
    file = folder / f"{hashlib.sha256(source + json.dumps(given).encode()).hexdigest()[:24]}.json"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        rows = {
            name: [(one.numbers, one.best) for one in row]
            for name, row in rank(events, questions, bm25.stems(), embed).items()
        }
        file.write_text(json.dumps(rows))
    known = json.loads(file.read_text()).items()
    return {name: [Ranked(tuple(numbers), best) for numbers, best in row] for name, row in known}


def pieces(text: str) -> Iterator[str]:
    """Cut a text into pieces of whole lines; a longer line is cut too."""
    piece = ""
    for line in text.splitlines(keepends=True):
        for start in range(0, len(line), PIECE_CHARACTERS):
            part = line[start : start + PIECE_CHARACTERS]
            if piece and len(piece) + len(part) > PIECE_CHARACTERS:
                yield piece
                piece = ""
            piece += part
    if piece or not text:
        yield piece


def order(scores: Scores, *, above: float = -np.inf) -> np.ndarray:
    """Give the numbers of the events by falling score; equal ones in the order of the talk."""
    best = np.argsort(-scores, kind="stable")
    return best[scores[best] > above]


def scaled(scores: Scores) -> Scores:
    """Scale scores to 0..1 between the least and the most."""
    low, high = scores.min(), scores.max()
    return (scores - low) / (high - low) if high > low else scores * 0


def fuse(lists: Sequence[np.ndarray], count: int) -> Scores:
    """Fuse whole rankings by reciprocal rank (Cormack et al., 2009)."""
    out = np.zeros(count)
    for numbers in lists:
        out[numbers] += 1 / (RRF_K + np.arange(1, len(numbers) + 1))
    return out


def _cosines(events: Sequence[Event], questions: Sequence[str], embed: Embed) -> Scores:
    """Give each question's cosine with the nearest piece of each event."""
    texts: list[str] = []
    starts: list[int] = []
    for event in events:
        starts.append(len(texts))
        texts += list(pieces(event.plain))[:PIECES_MAX]
    return np.maximum.reduceat(embed(questions) @ embed(texts).T, starts, axis=1).astype(np.float64)
