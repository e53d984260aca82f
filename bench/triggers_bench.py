"""Are deep rules found by case descriptions? The test of recall-problem 8.8, made from seeds (trigger_cases.py).

    python bench/triggers_bench.py                  without a model
    python bench/triggers_bench.py --model FOLDER   also all-MiniLM-L6-v2 (FOLDER as bench/minilm.py writes it)
    python bench/triggers_bench.py --data DATA      the retold cases among real events of coding sessions

40 rules in three fields of work; each is learned from three cases, among more cases and score cards that repeat
cases' words. A question is another case of one of these situations. The paper's system found 1 rule of 5.

Beside them 30 rules with situations by one writer, asked for with cases that another one told who had not seen the
rules' words (situations_retold.json).
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

import apsw
import numpy as np

from firsthand import Kind, Memory
from firsthand.recall.stop_words import STOP_WORDS
from quality import coding
from trigger_cases import RETOLD, REWORDED, Situation, World, drafts, world

SEEDS = (11, 12, 13)
QUESTIONS = 2
REAL_EVENTS = 1_000
TOPS = (3, 10)
LABELS = {RETOLD: "retold by another person", REWORDED: "in other phrases throughout"}

Find = Callable[[str], Sequence[int]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, help="folder of model.onnx and tokenizer.json: measures plain dense too")
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    parser.add_argument("--data", type=Path, help="folder of real sessions, to put the retold cases among")
    chosen = parser.parse_args()
    for name, found in retold(chosen.data, chosen.model).items():
        rates = ", ".join(f"first {top}: {sum(one <= top for one in found) / len(found):.3f}" for top in (1, *TOPS))
        print(f"retold by another writer, {name}: {rates} of {len(found)} questions")
    for asked, label in LABELS.items():
        worlds = [world(seed, questions=QUESTIONS, asked=asked) for seed in chosen.seeds]
        _print_overlaps(label, worlds)
        ranks: dict[str, list[int]] = {}
        shown: list[bool] = []
        for made in worlds:
            for name, found in measure(made, chosen.model).items():
                ranks.setdefault(name, []).extend(found)
            shown += ruleless(made)
        for name, found in ranks.items():
            rates = ", ".join(f"first {top}: {sum(one <= top for one in found) / len(found):.3f}" for top in TOPS)
            print(f"  {name}: {rates} of {len(found)} questions")
        print(
            f"  of {len(shown)} questions that no rule is for, {sum(shown) / len(shown):.3f} are shown one all the same"
        )


def measure(made: World, model: Path | None) -> dict[str, list[int]]:
    """Give the rank of the right rule for every question, by method."""
    texts = [text for _, _, text in drafts(made)]
    rules = [number for number, (_, kind, _) in enumerate(drafts(made)) if kind == "rule"]
    methods: dict[str, Find] = {"BM25": _bm25(texts)}
    if model is not None:
        methods["all-MiniLM-L6-v2"] = _dense(texts, model)
    with tempfile.TemporaryDirectory() as folder, Memory(Path(folder) / "store", embedder="none") as memory:
        positions = fill(memory, made)
        known = {position: number for number, position in enumerate(positions)}
        find_ours = _recalled(memory)
        methods["Firsthand, no model"] = lambda text: [known[position] for position in find_ours(text)]
        return {
            name: [
                _rank(find(question), rules[number])
                for number, situation in enumerate(made.situations)
                for question in situation.questions
            ]
            for name, find in methods.items()
        }


def retold(data: Path | None, model: Path | None) -> dict[str, list[int]]:
    """Give the rank of the right rule for every case that another writer told, by method."""
    entries = json.loads((Path(__file__).parent / "situations_retold.json").read_text(encoding="utf-8"))
    events = list(islice(coding.swe(data), REAL_EVENTS)) if data else []
    texts = [f"{entry['rule']} {' '.join(entry['situations'])}" for entry in entries] + [one.text for one in events]
    methods: dict[str, Find] = {"BM25 over rule and situations": _bm25(texts)}
    if model is not None:
        methods["all-MiniLM-L6-v2 over rule and situations"] = _dense(texts, model)
    found = {
        name: [_rank(find(entry["query"]), number) for number, entry in enumerate(entries)]
        for name, find in methods.items()
    }
    for embedder in ("none", "minilm") if model is not None else ("none",):
        with tempfile.TemporaryDirectory() as folder, Memory(Path(folder) / "store", embedder=embedder) as memory:
            positions = [
                memory.note(entry["rule"], situations=entry["situations"], sort="rule").event.position
                for entry in entries
            ]
            positions += [memory.session(event.session).agent(event.text).position for event in events]
            memory.follow()
            find = _recalled(memory)
            found[f"Firsthand, {embedder}"] = [
                _rank(find(entry["query"]), position) for entry, position in zip(entries, positions, strict=False)
            ]
    return found


def fill(memory: Memory, made: World) -> list[int]:
    """Append a world as a log; a rule rests on the score cards of its cases. Give the positions, in order."""
    positions: list[int] = []
    cards: list[str] = []
    for session, kind, text in drafts(made):
        if kind == "rule":
            positions.append(memory.note(text, sources=cards, sort="rule").event.position)
            cards = []
            continue
        append = memory.session(session).user if kind == Kind.USER_MESSAGE else memory.session(session).agent
        appended = append(text)
        positions.append(appended.position)
        cards = [*cards, appended.pointer] if text.startswith("Score card") else cards
    return positions


def ruleless(made: World) -> list[bool]:
    """Say for each question of a situation without a rule whether a rule stands among the first hits."""
    with tempfile.TemporaryDirectory() as folder, Memory(Path(folder) / "store", embedder="none") as memory:
        fill(memory, made)
        return [
            any(hit.kind is Kind.NOTE for hit in memory.recall(question, hits_max=TOPS[0]))
            for question in made.ruleless
        ]


def overlap(question: str, text: str) -> float:
    """Give the share of a question's stemmed content words that a text holds."""
    asked = _stems(question) - _stems(" ".join(STOP_WORDS))
    return len(asked & _stems(text)) / len(asked)


def _print_overlaps(label: str, worlds: Sequence[World]) -> None:
    pairs = [(s, q, made) for made in worlds for s in made.situations for q in s.questions]
    with_cases = [max(overlap(q, case.text) for case in s.learning) for s, q, _ in pairs]
    with_rule = [overlap(q, s.rule) for s, q, _ in pairs]
    with_card = [max(overlap(q, card) for card in _cards(made.situations)) for _, q, made in pairs]
    print(
        f"questions {label}: of their words {np.mean(with_cases):.2f} stand in the closest case that was learned from, "
        f"{np.mean(with_rule):.2f} in the rule, {np.mean(with_card):.2f} in the closest score card"
    )


def _cards(situations: Sequence[Situation]) -> list[str]:
    return [case.card for situation in situations for case in (*situation.learning, *situation.shallow)]


def _recalled(memory: Memory) -> Find:
    return lambda text: [hit.position for hit in memory.recall(text, hits_max=max(TOPS), budget_tokens_max=10_000)]


def _rank(found: Sequence[int], right: int) -> int:
    """Give the place of a document, from 1; far behind when it is not there."""
    places = list(found)
    return places.index(right) + 1 if right in places else len(places) + 1_000


def _bm25(texts: Sequence[str]) -> Find:
    db = apsw.Connection("")
    db.execute("CREATE VIRTUAL TABLE plain USING fts5(text, tokenize='porter unicode61')")
    db.executemany("INSERT INTO plain (rowid, text) VALUES (?, ?)", enumerate(texts))
    sql = "SELECT rowid FROM plain WHERE plain MATCH ? ORDER BY rank LIMIT ?"

    def find(question: str) -> list[int]:
        words = " OR ".join(f'"{word}"' for word in sorted(_words(question)))
        return [row for (row,) in db.execute(sql, (words, max(TOPS))).fetchall()]

    return find


def _dense(texts: Sequence[str], model: Path) -> Find:
    from quality.encoder import Encoder

    encoder = Encoder(model)
    vectors = encoder.encode(texts)
    return lambda question: np.argsort(-(vectors @ encoder.encode([question])[0]), kind="stable").tolist()


def _words(text: str) -> set[str]:
    return {"".join(sign for sign in word if sign.isalnum()) for word in text.split()} - {""}


_TOKENIZE = apsw.Connection("").fts5_tokenizer("porter", ["unicode61"])


def _stems(text: str) -> set[str]:
    return set(
        _TOKENIZE(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False)
    )


if __name__ == "__main__":
    main()
