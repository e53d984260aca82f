"""A server that speaks OpenAI's embeddings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from json_server import JsonServer


class EmbeddingServer(JsonServer):
    """Gives the vectors of a function, the last one first: a client has to look at their numbers."""

    def __init__(self, vector_of: Callable[[str], Any]) -> None:
        def answer(body: dict[str, Any]) -> dict[str, Any]:
            data = [{"index": n, "embedding": [float(x) for x in vector_of(t)]} for n, t in enumerate(body["input"])]
            return {"data": data[::-1]}

        super().__init__(answer)
