"""A static embedder: the mean of one vector a token, out of the package ``wordllama`` (MIT).

Small (a 16 MB table), a hundred times faster than a transformer, and weaker: on
locomo it finds fewer than BM25, and the more beside it. Its table and its
tokenizer's file are pinned by hash; the package itself is not imported, since it
sets up logging as it is.

The invariant: the same text gives the same vector. Nothing is loaded before the first text.
"""

from __future__ import annotations

import json
import struct
import threading
from collections.abc import Sequence
from typing import Any

from firsthand.environment import extra_command
from firsthand.errors import ModelUnavailable

from .pinned import PinnedFile, read

TABLE = PinnedFile(
    "wordllama",
    "weights/l2_supercat_256.safetensors",
    "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
)
TOKENIZER = PinnedFile(
    "wordllama",
    "tokenizers/l2_supercat_tokenizer_config.json",
    "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
)


class Static:
    """Embeds with wordllama's table: 256 dimensions, English, texts of any length."""

    identity = f"wordllama-256 {TABLE.sha256[:12]}"
    dimension = 256

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any, Any] | None = None

    def embed(self, texts: Sequence[str]) -> Any:
        """Embed texts.

        Raises:
            ModelUnavailable: the package is not installed, or holds other files.
        """
        tokenizer, table, numpy = self._load()
        means = numpy.zeros((len(texts), self.dimension), numpy.float32)
        plain = [text.encode("utf-8", "replace").decode() for text in texts]  # a lone surrogate is no text
        for at, text in enumerate(plain):  # not as a batch: its threads would not survive a fork
            numbers = tokenizer.encode(text, add_special_tokens=False).ids
            if numbers:
                means[at] = table[numbers].mean(axis=0)
        return means

    def query(self, text: str) -> Any:
        """Embed one text."""
        return self.embed([text])[0]

    def _load(self) -> tuple[Any, Any, Any]:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._open()
            return self._loaded

    def _open(self) -> tuple[Any, Any, Any]:
        try:
            import numpy  # noqa: ICN001, PLC0415 - an extra
            import tokenizers  # noqa: PLC0415
        except ModuleNotFoundError as error:
            raise ModelUnavailable(f"embedder static needs {error.name}; run: {extra_command('static')}") from error
        tokenizer = tokenizers.Tokenizer.from_str(read(TOKENIZER, "static").decode())
        tokenizer.no_padding()
        tokenizer.no_truncation()
        data = read(TABLE, "static")
        (length,) = struct.unpack_from("<Q", data)
        (facts,) = (entry for name, entry in json.loads(data[8 : 8 + length]).items() if name != "__metadata__")
        table = numpy.frombuffer(data, "<f2", offset=8 + length).reshape(facts["shape"])
        return tokenizer, table.astype(numpy.float32), numpy
