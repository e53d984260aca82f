"""The command ``eval prevalence``: how many conversations of a corpus have values that they determine themselves.

corpus  n    compact             diffuse             none
chats   100  0.41 [0.32, 0.51]   ...
"""

from __future__ import annotations

import argparse
from pathlib import Path

from firsthand.cli.display import shown, table
from firsthand.cli.exits import DONE
from firsthand.cli.output import Output
from firsthand.value import asdict
from firsthand_evals import registry
from firsthand_evals.commands.results import folder_kept
from firsthand_evals.reclaim.prevalence import Share, prevalence
from firsthand_evals.stats import Rate

NAME = "reclaim-prevalence"


def prevalence_(chosen: argparse.Namespace, out: Output) -> int:
    """Run the command."""
    corpora = {name: Path(place).expanduser() for name, place in chosen.data}
    found = prevalence(corpora, n=chosen.conversations, seed=chosen.seed)
    if out.as_json:
        for one in found:
            out.json({"corpus": asdict(one)})
    else:
        rows = [_row(one) for one in found]
        for line in table([("corpus", "n", "compact", "diffuse", "none"), *rows]):
            out.line(line)
    kept = folder_kept(chosen)
    if kept is not None:
        told = ", ".join(f"{one.corpus} {_rate(one.compact)} compact" for one in found)
        registry.keep(kept, NAME, {"headline": told, "corpora": [asdict(one) for one in found]})
        out.remark(f"kept in {shown(str(registry.folder_of(kept, NAME)))}")
    return DONE


def _row(one: Share) -> tuple[str, ...]:
    return shown(one.corpus), f"{one.n:,} of {one.found:,}", _rate(one.compact), _rate(one.diffuse), _rate(one.none)


def _rate(one: Rate) -> str:
    return f"{one.share or 0.0:.2f} [{one.low:.2f}, {one.high:.2f}]"
