"""What is said in sessions, notes and prompts: ``words.toml``, by the module that says it."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any


@cache
def words(name: str) -> dict[str, Any]:
    """Give the words of a module, lists as tuples."""
    table: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))[name]
    return {key: _frozen(it) for key, it in table.items()}


def _frozen(it: Any) -> Any:
    return tuple(map(_frozen, it)) if isinstance(it, list) else it
