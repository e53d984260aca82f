"""all-MiniLM-L6-v2 through onnxruntime: what every dense method of the quality bench embeds with.

The first 256 tokens of a text, mean of the token vectors, length 1: as ChromaDB's default does.
Needs numpy, onnxruntime and tokenizers only, so that the peers' interpreter can use it too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MODEL = "all-MiniLM-L6-v2"
DIMENSION = 384
TOKENS_MAX = 256
BATCH_TOKENS = 4_096
THREADS = 1

Matrix = NDArray[np.float32]


class Encoder:
    """The model in a folder with ``model.onnx`` and ``tokenizer.json``."""

    def __init__(self, folder: Path) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = THREADS
        self._session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(max_length=TOKENS_MAX)
        self._tokenizer.no_padding()

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Embed texts, one row each; texts of like length share a batch."""
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]
        out = np.empty((len(texts), DIMENSION), np.float32)
        order = sorted(range(len(ids)), key=lambda number: len(ids[number]))
        start = 0
        while start < len(order):
            end = start + 1  # the last one of a batch is its longest: all are padded to it
            while end < len(order) and (end + 1 - start) * len(ids[order[end]]) <= BATCH_TOKENS:
                end += 1
            chosen = order[start:end]
            out[chosen] = self._batch([ids[number] for number in chosen])
            start = end
        return out

    def _batch(self, ids: Sequence[Sequence[int]]) -> Matrix:
        longest = max(map(len, ids))
        padded = np.zeros((len(ids), longest), np.int64)
        mask = np.zeros_like(padded)
        for row, one in enumerate(ids):
            padded[row, : len(one)] = one
            mask[row, : len(one)] = 1
        inputs = {"input_ids": padded, "attention_mask": mask, "token_type_ids": np.zeros_like(padded)}
        (state,) = self._session.run(["last_hidden_state"], inputs)
        summed = (state * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return np.asarray(summed / np.linalg.norm(summed, axis=1, keepdims=True), np.float32)


class Vectors:
    """Texts and their vectors, computed once and kept in a file of the work folder."""

    def __init__(self, folder: Path, model: Path) -> None:
        self._folder, self._model = folder, model
        self._encoder: Encoder | None = None
        folder.mkdir(parents=True, exist_ok=True)

    def of(self, texts: Sequence[str]) -> Matrix:
        """Give one row a text."""
        name = hashlib.sha256(json.dumps([MODEL, TOKENS_MAX, *texts]).encode()).hexdigest()[:24]
        file = self._folder / f"{name}.npy"
        if not file.exists():
            self._encoder = self._encoder or Encoder(self._model)
            unfinished = file.with_suffix(".part.npy")
            np.save(unfinished, self._encoder.encode(texts))
            unfinished.rename(file)
        return np.asarray(np.load(file), np.float32)
