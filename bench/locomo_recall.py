"""Recall@10 on the conversations of locomo: what share of the evidence turns the first ten hits hold.

One event a turn, its speaker as the agent, the caption of a shared image in meta;
questions of categories 1 to 4. BM25 with stemming over ``Speaker: text`` reaches
.550 (README of the data). Run: ``python bench/locomo_recall.py --data DATA``.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from firsthand.answer import Query
from firsthand.event import Draft, Kind
from firsthand.index.text import TextIndex
from firsthand.log.log import Log
from firsthand.recall.search import search

HITS = 10
CATEGORIES = (1, 2, 3, 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds locomo/")
    data = parser.parse_args().data
    recalls: list[float] = []
    for number, one in enumerate(json.loads((data / "locomo" / "locomo_dev6.json").read_bytes())):
        with tempfile.TemporaryDirectory() as folder:
            recalls += conversation(Path(folder) / "store", f"conversation-{number}", one)
    print(f"{len(recalls):,} questions: recall@{HITS} {sum(recalls) / len(recalls):.3f}")


def conversation(folder: Path, name: str, one: dict[str, Any]) -> list[float]:
    """Give the recall of each question of one conversation."""
    log = Log(folder, indexes=(TextIndex(),))
    turns = [turn for key, value in one["conversation"].items() if isinstance(value, list) for turn in value]
    drafts = [
        Draft(
            Kind.USER_MESSAGE,
            turn["text"].encode(),
            agent=turn["speaker"],
            meta={"caption": turn["blip_caption"]} if turn.get("blip_caption") else {},
        )
        for turn in turns
    ]
    appended = [
        a
        for at in range(0, len(drafts), 500)
        for a in log.append(drafts[at : at + 500], namespace="default", session=name)
    ]
    place = {a.position: turn["dia_id"] for a, turn in zip(appended, turns, strict=True)}
    out = []
    for question in one["qa"]:
        evidence = set(question["evidence"]) & set(place.values())
        if question["category"] in CATEGORIES and evidence:
            answer = search(log.reader, "default", Query(question["question"], hits_max=HITS))
            out.append(len(evidence & {place[hit.position] for hit in answer}) / len(evidence))
    log.close()
    return out


if __name__ == "__main__":
    main()
