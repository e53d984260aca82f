"""Exact tokenizers from files that the caller names.

The invariant: a file that is not there is an error that says so; nothing is ever
downloaded. What the files hold, and how it counts, `firsthand.tokens.exact` knows.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

from firsthand.environment import tiktoken_cache
from firsthand.errors import InvalidArgument
from firsthand.tokens.exact import PATTERNS, Tiktoken, TokenizerJson, package

FILE_BYTES_MAX = 256 * 1024 * 1024

_CACHED = {
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
}  # the names under which tiktoken's own cache keeps their files


def named(name: str) -> Tiktoken | TokenizerJson:
    """Count exactly, by the name of a tokenizer or of a model whose files are on this machine.

    Args:
        name: ``tiktoken:o200k_base`` or a model of OpenAI (``gpt-5``), from tiktoken's cache; ``tokenizers:`` and
            the path of a tokenizer.json or a model of Hugging Face, from its cache (``Qwen/Qwen3-8B`` alone will do).

    Raises:
        InvalidArgument: the name is not known, its file is not there, or the package is missing.
    """
    library, colon, what = name.partition(":")
    if library == "tiktoken" and colon:
        return tiktoken(what)
    if library == "tokenizers" and colon:
        return tokenizer_json(what if Path(what).is_file() else _of_hugging_face(what))
    if "/" in name:
        return tokenizer_json(_of_hugging_face(name))
    try:
        encoding: str = package("tiktoken.model").encoding_name_for_model(name)
    except KeyError as error:
        raise InvalidArgument(
            f"expected a model of OpenAI, tiktoken:ENCODING, tokenizers:FILE or a model of Hugging Face "
            f"(ORGANISATION/MODEL); got {name!r:.80}: name one of these, or give a function that counts"
        ) from error
    return tiktoken("o200k_base" if encoding == "o200k_harmony" else encoding)  # whose ranks are the same


def _of_hugging_face(model: str) -> str:
    """Find the tokenizer of a model in the cache of Hugging Face's hub."""
    try:
        file = import_module("huggingface_hub").try_to_load_from_cache(model, "tokenizer.json")
    except (ImportError, ValueError):  # not installed, or no name of a model
        file = None
    if isinstance(file, str):
        return file
    raise InvalidArgument(
        f"expected a tokenizer.json, or a model whose tokenizer.json is in Hugging Face's cache; got {model!r:.200}. "
        f"Nothing is downloaded here: run 'hf download {model} tokenizer.json' once where there is a network"
    )


def tiktoken(encoding: str, path: str | os.PathLike[str] | None = None) -> Tiktoken:
    """Count as OpenAI's models do.

    Args:
        encoding: ``o200k_base`` (GPT-4o and later) or ``cl100k_base``.
        path: the file of its ranks, or a folder that holds it: as ``<encoding>.tiktoken``, or under the name that
            tiktoken gives it in its cache; None is that cache (the folder that ``TIKTOKEN_CACHE_DIR`` names, else
            ``data-gym-cache`` in the temporary folder).

    Raises:
        InvalidArgument: the encoding is not known, the file is not there or holds no ranks, or the package is
            missing.
    """
    if encoding not in PATTERNS:
        raise InvalidArgument(f"an encoding is one of {', '.join(PATTERNS)}; got {encoding!r:.80}")
    file = tiktoken_cache() if path is None else Path(path)
    if path is None or file.is_dir():
        names = (f"{encoding}.tiktoken", _CACHED[encoding])
        files = [file / name for name in names if (file / name).is_file()]
        if not files:
            raise InvalidArgument(
                f"expected {' or '.join(names)} in {file}, found neither. Nothing is downloaded here: "
                f"call tiktoken.get_encoding({encoding!r}) once where there is a network, and name its cache folder "
                f"(TIKTOKEN_CACHE_DIR)"
            )
        file = files[0]
    return Tiktoken(encoding, _read(file))


def tokenizer_json(path: str | os.PathLike[str]) -> TokenizerJson:
    """Count as the model does whose ``tokenizer.json`` is named (Hugging Face's format).

    Raises:
        InvalidArgument: the file is not there or is no tokenizer, or the package is missing.
    """
    return TokenizerJson(_read(Path(path)))


def _read(file: Path) -> bytes:
    try:
        with file.open("rb") as source:
            data = source.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise InvalidArgument(
            f"expected a tokenizer's file at {file}, got: {error.strerror}; nothing is downloaded here, name a file"
        ) from error
    if len(data) > FILE_BYTES_MAX:
        raise InvalidArgument(f"expected a tokenizer's file of at most {FILE_BYTES_MAX:,} bytes; {file} is larger")
    return data
