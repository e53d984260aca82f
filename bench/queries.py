"""Queries for the recall figures, drawn from the texts that are searched and from real questions on them.

The same setting draws the same queries. Knows no engine.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from setting import SEED, Setting

SAMPLE_TEXTS = 100_000
RARE_SHARE = 2e-4  # a rare word stands in at most this share of the texts
COMMON_WORDS = 100
_WORD = re.compile(r"[A-Za-z]{4,20}")
_EXACT = re.compile(
    r"(?:/[\w.-]+){2,}"  # a path
    r"|[\w.+-]+@[\w-]+\.[\w.]+"  # an address
    r"|\b[0-9a-f]*\d[0-9a-f]{7,}\b"  # a hash or a long number
    r"|\b[a-z]+(?:_[a-z0-9]+){1,5}\b"  # an identifier
)
_IDENTIFIER = re.compile(r"\b[a-z]+(?:[A-Z][a-z]+)+\b|\b[a-z]+(?:_[a-z]+)+\b|\b(?=\w*\d)[0-9a-f]{10,}\b")

RARE, QUESTION, EXACT, COMMON = "rare terms", "questions", "exact strings", "common words only"
CLASSES = (RARE, QUESTION, EXACT, COMMON)
PART = "parts of identifiers"
"""A further class, of which the first edition finds next to nothing."""
Queries = dict[str, list[str]]


def draw(setting: Setting, count: int, wanted: int) -> Queries:
    """Draw ``wanted`` different queries of each class for a store of ``count`` events.

    Raises:
        ValueError: the texts do not have so many.
    """
    chance = random.Random(SEED)
    texts = list(setting.texts(min(count, SAMPLE_TEXTS)))
    frequency: Counter[str] = Counter()
    for text in texts:
        frequency.update({word.lower() for word in _WORD.findall(text)})
    chance.shuffle(texts)
    most = max(2, int(RARE_SHARE * len(texts)))
    common = [word for word, _ in frequency.most_common(COMMON_WORDS)]
    queries = {
        RARE: _first(_rare(texts, frequency, most), wanted),
        QUESTION: _first(_questions(setting.data, chance), wanted),
        EXACT: _first(_exact(texts), wanted),
        PART: _first(_parts(texts), wanted),
        COMMON: _first((" ".join(chance.sample(common, 6)) for _ in range(10 * wanted)), wanted),
    }
    for name, found in queries.items():
        if len(found) < wanted:
            raise ValueError(f"expected {wanted} queries of the class {name}; the data gave {len(found)}")
    return queries


def _rare(texts: list[str], frequency: Counter[str], most: int) -> Iterator[str]:
    """Three rare words that stand in one text."""
    for text in texts:
        words = [w for w in dict.fromkeys(_WORD.findall(text)) if frequency[w.lower()] <= most]
        if len(words) >= 3:
            yield " ".join(words[:3])


def _questions(data: Path, chance: random.Random) -> Iterator[str]:
    """What people asked about the conversations of locomo, function words and all."""
    questions: list[str] = []
    for path in sorted((data / "locomo").glob("*.json")):
        loaded = json.loads(path.read_text(encoding="utf-8"))
        for conversation in loaded if isinstance(loaded, list) else [loaded]:
            questions.extend(str(entry["question"]) for entry in conversation["qa"])
    chance.shuffle(questions)
    yield from questions


def _exact(texts: list[str]) -> Iterator[str]:
    """A path, address, hash, number or identifier, as it stands in a text."""
    for text in texts:
        found = _EXACT.search(text)
        if found and 8 <= len(found[0]) <= 80:
            yield found[0]


def _parts(texts: list[str]) -> Iterator[str]:
    """A piece of an identifier, cut anywhere: two thirds of it from its second sign."""
    for text in texts:
        found = _IDENTIFIER.search(text)
        if found and 10 <= len(found[0]) <= 40:
            yield found[0][1 : 1 + 2 * len(found[0]) // 3]


def _first(found: Iterator[str], wanted: int) -> list[str]:
    """Take the first different ones."""
    seen: dict[str, None] = {}
    for query in found:
        seen[query] = None
        if len(seen) == wanted:
            break
    return list(seen)
