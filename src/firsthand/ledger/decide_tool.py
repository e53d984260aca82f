"""The tool `decide`, as a window and a protocol offer it to a model: its words, and what a call of it states.

The invariant: a call states nothing that `statements` would not take from an agent, so it never goes without
quotes; a refusal names the arguments of the tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from firsthand.errors import DecisionRefused, InvalidArgument
from firsthand.formats.tool_definitions import DECIDE, Tool
from firsthand.ledger.statements import How, Stated, assert_fact, retract, supersede
from firsthand.space import Space

ACTIONS = ("assert", "supersede", "retract")
_BARE = {"type": "string"}


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


TOOL = Tool(
    DECIDE,
    "Keep what the user decided: assert a fact, supersede what it replaces, or retract what is taken back. Quotes "
    "are checked word for word; it counts when your turn is over.",
    {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": [*ACTIONS]},
            "quote": _text("the user's words that say so"),
            "subject": _BARE,
            "text": _text("assert: the fact"),
            "quote_old": _text("supersede: the old words"),
            "old": _text("its pointer"),
            "at": _text("quote's pointer"),
        },
        "required": ["action", "quote"],
    },
)


def decide(space: Space, arguments: Mapping[str, str], **how: Unpack[How]) -> Stated:
    """State what a call of the tool says.

    Args:
        arguments: by the names of the tool's parameters.

    Raises:
        DecisionRefused: the quotes do not prove it; the message says how to mend them.
        InvalidArgument: there is no such action, or an argument that it needs is missing.
    """
    action, quote, old, at = (arguments.get(name, "") for name in ("action", "quote", "old", "at"))
    try:
        match action:
            case "assert":
                return assert_fact(space, arguments.get("subject", ""), arguments.get("text", ""), quote, at=at, **how)
            case "supersede":
                return supersede(space, old, at, arguments.get("quote_old", ""), quote, **how)
            case "retract":
                return retract(space, old, quote, **how)
            case _:
                raise InvalidArgument(f"action is one of {', '.join(ACTIONS)}; got {action[:60]!r}")
    except DecisionRefused as error:
        raise DecisionRefused(str(error).replace("quote_new", "quote")) from error
