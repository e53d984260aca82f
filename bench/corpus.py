"""Realistic texts in any number: the real ones of a data folder, then variations of them.

The first texts are those of the folder, each once, in a seeded order. Further
rounds say the same things about other matters: numbers are drawn anew, one word
in seven is another word of the folder, as often as that occurs there, and one in
fifty is a new one, so that the vocabulary grows as it does in life.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

TEXT_CHARACTERS_MIN, TEXT_CHARACTERS_MAX = 20, 4_000
OTHER_WORD_SHARE, NEW_WORD_SHARE = 1 / 7, 1 / 50
_VARIED = re.compile(r"\d+|[A-Za-z]{4,}")
_SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu bra cle dri flo gru sha".split()  # noqa: SIM905


def texts(data: Path, count: int, *, seed: int, without: Collection[str] = ()) -> Iterator[str]:
    """Yield ``count`` texts; the same data, count and seed give the same ones.

    Args:
        without: folders of the data whose texts are left out.

    Raises:
        ValueError: the folder holds no texts.
    """
    real = list(dict.fromkeys(_folder(data, without)))
    if not real:
        raise ValueError(f"expected JSON, JSONL or text files in {data}; found no text in it. Give another folder.")
    random.Random(seed).shuffle(real)
    yield from real[:count]
    pool = [word for text in real for word in _VARIED.findall(text) if not word[0].isdigit()]
    made = len(real)
    while made < count:
        chance = random.Random(f"{seed} {made}")
        for text in real[: count - made]:
            yield _vary(text, pool, chance)
        made += len(real)


def _vary(text: str, pool: list[str], chance: random.Random) -> str:
    draw = chance.random

    def other(match: re.Match[str]) -> str:
        word = match[0]
        if word[0].isdigit():
            return word if len(word) == 1 else str(chance.randrange(10 ** (len(word) - 1), 10 ** len(word)))
        drawn = draw()
        if drawn < NEW_WORD_SHARE:
            return "".join(chance.choices(_SYLLABLES, k=3))
        return pool[int(draw() * len(pool))] if drawn < OTHER_WORD_SHARE else word

    return _VARIED.sub(other, text)


def _folder(data: Path, without: Collection[str]) -> Iterator[str]:
    for file in sorted(data.rglob("*")):
        if file.relative_to(data).parts[0] in without:
            continue
        if file.suffix in {".json", ".traj"}:
            yield from _strings(json.loads(file.read_bytes()))
        elif file.suffix == ".jsonl":
            for line in file.read_bytes().splitlines():
                yield from _strings(json.loads(line))
        elif file.suffix == ".txt" and not file.name.endswith(".annotation.txt"):
            text = file.read_text("utf-8", "replace")
            yield from _fitting(text.splitlines() if ".ascii." in file.name else [text])


def _strings(value: Any) -> Iterator[str]:
    """Yield the texts in a JSON value: strings with a space in them."""
    if isinstance(value, str):
        yield from _fitting([value])
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _fitting(found: list[str]) -> Iterator[str]:
    for text in found:
        if len(text) >= TEXT_CHARACTERS_MIN and " " in text:
            yield text[:TEXT_CHARACTERS_MAX].encode("utf-8", "replace").decode()
