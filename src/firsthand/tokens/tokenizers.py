"""Exact tokenizers from files that the caller names.

The invariant: a file that is not there is an error that says so; nothing is ever
downloaded. What the files hold, and how it counts, `firsthand.tokens.exact` knows.
"""

from __future__ import annotations

import os
from pathlib import Path

from firsthand.errors import InvalidArgument
from firsthand.tokens.exact import Tiktoken, TokenizerJson

FILE_BYTES_MAX = 256 * 1024 * 1024

_CACHED = {
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
}  # the names under which tiktoken's own cache keeps their files


def tiktoken(encoding: str, path: str | os.PathLike[str]) -> Tiktoken:
    """Count as OpenAI's models do.

    Args:
        encoding: ``o200k_base`` (GPT-4o and later) or ``cl100k_base``.
        path: the file of its ranks, or a folder that holds it: as ``<encoding>.tiktoken``, or under the name that
            tiktoken gives it in its cache (the folder that ``TIKTOKEN_CACHE_DIR`` names, else ``data-gym-cache``
            in the temporary folder).

    Raises:
        InvalidArgument: the encoding is not known, the file is not there or holds no ranks, or the package is
            missing.
    """
    file = Path(path)
    if file.is_dir():
        names = (f"{encoding}.tiktoken", _CACHED.get(encoding, f"{encoding}.tiktoken"))
        files = [file / name for name in names if (file / name).is_file()]
        if not files:
            raise InvalidArgument(
                f"expected {' or '.join(dict.fromkeys(names))} in {file}, found neither. Nothing is downloaded here: "
                f"call tiktoken.get_encoding({encoding!r}) once where there is a network, and name its cache folder"
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
