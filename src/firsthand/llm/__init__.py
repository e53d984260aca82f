"""An optional model client: one verb, three models, nothing imported before it is used.

`OpenAICompatible` asks any server that speaks OpenAI chat completions, `LocalModel`
runs a small model in this process, `Recorded` replays what one of them said.
Nothing in Firsthand needs a model; this room is for those who want one.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from firsthand.llm.compatible import OpenAICompatible
    from firsthand.llm.local import LocalModel
    from firsthand.llm.port import Model, Reply, ToolCall
    from firsthand.llm.recorded import Recorded
    from firsthand.llm.written import CallExample

__all__ = ["CallExample", "LocalModel", "Model", "OpenAICompatible", "Recorded", "Reply", "ToolCall"]

_HOMES = {
    "CallExample": "written",
    "LocalModel": "local",
    "Model": "port",
    "OpenAICompatible": "compatible",
    "Recorded": "recorded",
    "Reply": "port",
    "ToolCall": "port",
}


def __getattr__(name: str) -> object:
    """Import a name where it is at home (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found
