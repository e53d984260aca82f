"""Fit the weights of the estimates of tokens: ``python bench/fit_estimates.py --data FOLDER``, prints the tables.

The least weights that keep every document above `BOUND` of the largest count of any
tokenizer of a family: a linear program over the documents of 100 tokens and more, the
objective being how far over the truth real documents are in the mean. Needs numpy,
scipy and requirements-tokens.txt; give what is not on PyPI by ``--tokenizer NAME=FILE``,
and folders of further text (other languages) by ``--more``. What a weight must satisfy
besides, so that an estimate is never 0 and never more than its parts, stands as rows of
the program; `tests/test_tokens.py` checks the tables that come out.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linprog

from exact_counters import counters
from firsthand.tokens.estimates import _DIGITS, _LOWER, _SHAPE, _SIGNS, _UPPER, _WIDE_FROM
from firsthand.tokens.table import UNIT
from timing import say
from token_documents import Document, documents
from token_estimates import SAMPLE, SLOW, families

BOUND = 0.965  # above the 0.95 that is promised: weights are rounded, and other documents come
TOKENS_MIN = 100
ROWS_FIRST, ROWS_MORE = 3_000, 2_000  # documents that the program begins with, and takes in where it falls short
NEVER = ("random letters", "random signs")  # of made texts: nobody's text, and it would double every weight
STARTS, JOINED = ("l", "U", "d", "n"), ("Ul", "sl", "sU", "pn", "pp", "ll", "nn", "s" * 8)
COMMON = tuple("ing and on re es ou th you for ent ate tion to at is in er ed".split())  # noqa: SIM905
BYTES: dict[str, tuple[list[int], float, float]] = {  # name: the bytes, least and most weight in tokens
    **{chr(b): ([b], 0.06, 1.6 if chr(b) in "jkqvwxz" else 1.1) for b in _LOWER},
    **{chr(b): ([b], 0.3, 2.0) for b in _SIGNS},
    "capital": ([*_UPPER], 0.12, 1.2),
    "digit": ([*_DIGITS], 0.3, 1.1),
    "space": ([32], 0.05, 1.0),
    "tab": ([9], 0.3, 2.0),
    "line_feed": ([10], 0.3, 3.0),
    "carriage_return": ([13], 0.5, 1.5),
    "control": ([b for b in (*range(32), 127) if b not in (9, 10, 13)], 0.96, 1.5),
    **{f"wide {low:X}": ([*range(low, high)], least, 3.95)
       for low, high, least in zip(_WIDE_FROM, _WIDE_FROM[1:],
                                   (1, 0.5, 1, 1, 1, 1, 1, 1, 2, 2, 1, 1, 1, 2, 3.1), strict=False)},
}  # fmt: skip
NAMES = [*BYTES, *(f"start {one}" for one in STARTS), *(f"joined {one}" for one in JOINED), "capitals",
         *(f"common {one}" for one in COMMON)]  # fmt: skip
AT = {name: number for number, name in enumerate(NAMES)}
SHARES = {
    (run, letter): len(NAMES) + n for n, (run, letter) in enumerate((r, c) for r in COMMON for c in sorted(set(r)))
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of real text")
    parser.add_argument("--more", type=Path, action="append", default=[], help="one more folder of text")
    parser.add_argument("--tokenizer", action="append", default=[], metavar="NAME=FILE", help="one more tokenizer.json")
    arguments = parser.parse_args()
    exact = counters({name: Path(file) for name, _, file in (one.partition("=") for one in arguments.tokenizer)})
    texts = [one for folder in (arguments.data, *arguments.more) for one in documents(folder)]
    texts = [one for one in dict.fromkeys(texts) if not one.kind.endswith(NEVER)]
    features = np.array([_features(one.text) for one in texts], float)
    for ours, names in families(list(exact)).items():
        say(f"{ours.family}: {', '.join(names)}")
        truth = np.max([_counts(exact[name], name, texts) for name in names], 0) if names else np.zeros(len(texts))
        if names:
            _print(ours.family, fit(features, truth, np.array([not one.is_made for one in texts])))


def fit(features: Any, truth: Any, real: Any) -> dict[str, int]:
    """Solve the program; a document joins it when the weights found so far fall short of it."""
    at = np.flatnonzero(truth >= TOKENS_MIN)
    shares = np.hstack([features[at] / truth[at, None], np.zeros((len(at), len(SHARES)))])
    cost = shares[real[at]].mean(0) + 2e-3 * shares.mean(0)
    bounds = [(low, high) for _, low, high in BYTES.values()] + [(0.0, 3.95)] * (len(cost) - len(BYTES))
    never_more, slack, borne = _laws()
    active = set(np.random.default_rng(0).choice(len(at), min(ROWS_FIRST, len(at)), replace=False).tolist())
    while True:
        rows = sorted(active)
        found = linprog(
            cost, A_ub=np.vstack([-shares[rows], never_more]), b_ub=np.concatenate([[-BOUND] * len(rows), slack]),
            A_eq=borne, b_eq=np.zeros(len(borne)), bounds=bounds, method="highs",
        )  # fmt: skip
        if found.x is None:
            raise ValueError(f"no weights satisfy every row: {found.message}")
        short = shares @ found.x
        missed = np.flatnonzero(short < BOUND - 1e-6)
        if not len(missed):
            return {name: _rounded(name, weight) for name, weight in zip(NAMES, found.x, strict=False)}
        active |= set(missed[np.argsort(short[missed])[:ROWS_MORE]].tolist())


def _laws() -> tuple[Any, Any, Any]:
    """Write the invariants of `table.Weights` as rows: what is taken off, less what bears it, is below 0."""
    rows: list[tuple[dict[int, float], float]] = []
    for pair, start in (("sl", "l"), ("Ul", "l"), ("sU", "U"), ("pn", "n")):
        rows.append(({AT[f"joined {pair}"]: 1, AT[f"start {start}"]: -1}, 0))
    rows.append(({AT["capitals"]: 1, AT["start U"]: -1}, 0))
    for letter in map(chr, _LOWER):
        taken = {column: 1.0 for (_, one), column in SHARES.items() if one == letter}
        rows.append((taken | {AT["joined ll"]: 0.5, AT[letter]: -1}, -1 / UNIT))
    rows += [({AT["joined pp"]: 0.5, AT[chr(sign)]: -1}, -1 / UNIT) for sign in _SIGNS]
    rows += [({AT["joined nn"]: 0.5, AT[end]: -1}, -1 / UNIT) for end in ("line_feed", "carriage_return")]
    rows.append(({AT["joined " + "s" * 8]: 1 / 8, AT["space"]: -1}, -1 / UNIT))
    size = len(NAMES) + len(SHARES)
    laws, borne = np.zeros((len(rows), size)), np.zeros((len(COMMON), size))
    for number, (weights, _) in enumerate(rows):
        laws[number, list(weights)] = list(weights.values())
    for number, run in enumerate(COMMON):
        borne[number, AT[f"common {run}"]] = 1
        for letter in set(run):
            borne[number, SHARES[run, letter]] = -run.count(letter)
    return laws, np.array([slack for _, slack in rows]), borne


def _features(text: str) -> list[int]:
    data = text.encode("utf-8", "surrogatepass")
    single = np.bincount(np.frombuffer(data, np.uint8), minlength=256)
    shape = data.translate(_SHAPE)
    return [
        *(int(single[members].sum()) for members, _, _ in BYTES.values()),
        *(len(re.findall(run.encode() + b"+", shape)) for run in STARTS),
        *(-shape.count(pair.encode()) for pair in JOINED),
        shape.count(b"UUUU"),
        *(-data.count(run.encode()) for run in COMMON),
    ]


def _counts(count: Any, name: str, texts: list[Document]) -> Any:
    every = SAMPLE if SLOW in name else 1
    return np.array([count(one.text) if number % every == 0 else 0 for number, one in enumerate(texts)])


def _rounded(name: str, weight: float) -> int:
    if name in {"joined pp", "joined ll", "joined nn", "joined " + "s" * 8}:
        return int(np.floor(weight * UNIT + 1e-6))
    if name in {"line_feed", "space", "tab"}:  # of long runs of one sign, where a 64th each adds up
        return int(np.ceil(weight * UNIT - 1e-6))
    return round(weight * UNIT)


def _print(family: str, weights: dict[str, int]) -> None:
    signs: dict[int, str] = defaultdict(str)
    for name in (*map(chr, _LOWER), *map(chr, _SIGNS)):
        signs[weights[name]] += name
    print(f"# {family}\nWeights(\n    signs={dict(sorted(signs.items()))!r},")
    for name in ("capital", "digit", "space", "tab", "line_feed", "carriage_return", "control"):
        print(f"    {name}={weights[name]},")
    print(f"    wide={tuple(weights[name] for name in BYTES if name.startswith('wide '))!r},")
    for field, key in (("starts", "start "), ("joined", "joined "), ("common", "common ")):
        print(f"    {field}={dict(_named(weights, key))!r},")
    print(f"    capitals={weights['capitals']},\n)")


def _named(weights: dict[str, int], key: str) -> Iterator[tuple[str, int]]:
    yield from ((name.removeprefix(key), weight) for name, weight in weights.items() if name.startswith(key) and weight)


if __name__ == "__main__":
    main()
