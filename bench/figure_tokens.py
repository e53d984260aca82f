"""The estimates of tokens, against exact tokenizers: how far under the truth at most, how far over in the mean."""

from __future__ import annotations

import time

from exact_counters import counters, missing
from setting import Setting
from table import Bound, Row, Target
from timing import say
from token_documents import documents
from token_estimates import compare, families

WORST_MIN = 0.95


def measure(setting: Setting) -> list[Row]:
    """Compare each estimate with every tokenizer that is installed, on all real documents."""
    exact = counters()
    texts = [one for one in documents(setting.data) if not one.is_made]
    texts = texts[:: len(texts) // setting.scaled(len(texts))]
    say(f"tokens: {len(texts):,} documents, {len(exact)} tokenizers; not installed: {', '.join(missing()) or 'none'}")
    rows: list[Row] = []
    for ours, names in families(list(exact)).items():
        for name in names:
            compared = compare(ours, name, exact[name], texts)
            shares = [share for one in compared for share in one.documents]
            note = (
                f"estimate over truth of {len(shares):,} real documents of 100 tokens and more; the baseline is the"
                f" exact count, 1 in each; in the mean {sum(shares) / len(shares):.2f}"
            )
            target = Target(Bound.RATIO_MIN, WORST_MIN)
            label = f"tokens: {ours.identity}, worst document"
            rows.append(Row(label, min(shares), 1.0, "x", f"exact: {name}", False, target, note))
    rows.append(_speed(exact, [one.text for one in texts]))
    return rows


def _speed(exact: dict, texts: list[str]) -> Row:
    from firsthand.tokens import estimate

    size = sum(len(text.encode()) for text in texts) / 1e6
    seconds = {}
    for name, count in (("ours", estimate), ("exact", exact["cl100k"])):
        began = time.perf_counter()
        for text in texts:
            count(text)
        seconds[name] = time.perf_counter() - began
    return Row(
        "tokens: speed of the estimate", size / seconds["ours"], size / seconds["exact"], "MB/s", "exact: cl100k",
        less_is_better=False,
        note="all real documents, one call each, one thread",
    )  # fmt: skip
