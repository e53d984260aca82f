"""Firsthand: a session's window with markers, and recall as the agent has it.

Everything goes through the public package: `Session.window` for what is carried, the
pull's own limits and texts for what a question brings in. In windows under
`TOOLS_TOKENS_MIN` the schemas of the tools are left out of the budget, as under hooks,
which recall by themselves: three schemas would take most of so small a window.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from firsthand import Memory
from firsthand.context.session_window import limits_of
from firsthand.context.tools import ANSWER_TOKENS_MIN, Pull, PullLimits
from firsthand.formats.tool_definitions import RECALL, Call
from firsthand.window import Budget

from .method import HIGH, LOW, Found, Shown, pull, pull_tokens
from .values import Step, count, text_of_all

TOOLS_TOKENS_MIN = 4_000
ABSENT = ("absent", "weak", "filtered")


class Ours:
    """The session's window; recall with the question as the query."""

    name = "Firsthand"
    searches = True

    def __init__(self, window_tokens: int, embedder: Any = "none") -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="firsthand-bench-")
        self.memory = Memory(Path(self._folder.name) / "store", namespace="bench", embedder=embedder)
        self._pull_tokens = pull_tokens(window_tokens)
        budget = Budget(window_tokens - self._pull_tokens, high=HIGH, low=LOW)
        with_tools = window_tokens >= TOOLS_TOKENS_MIN
        self._window = self.memory.session("trace").window(budget, format="openai-chat", counter=count, pull=with_tools)
        self.compactions = 0
        self._carried = 0
        self._text = ""

    def feed(self, messages: Step) -> None:
        self._window.add([dict(message) for message in messages])
        request = self._window.request()
        self.compactions += request.receipt is not None
        self._carried = request.tokens
        self._text = text_of_all(request.body["messages"])

    def carried_tokens(self) -> int:
        return self._carried

    def ask(self, question: str, *, hops: int = 1) -> Shown:
        found = pull(self.recall, question, self._pull_tokens, hops)
        return Shown(self._text, found.text, found.absent)

    def close(self) -> None:
        self.memory.close()
        self._folder.cleanup()

    def recall(self, query: str, tokens_max: int, *, exactly: bool = False) -> Found:
        """Call recall as the model would, with the package's own limits unless the window has less room.

        Args:
            exactly: the answer's room is as many tokens as were given, whatever the window's limits are.
        """
        usual = limits_of(self._window.budget)
        tokens = tokens_max if exactly else max(ANSWER_TOKENS_MIN, min(usual.answer_tokens, tokens_max))
        tools = Pull(
            self.memory, "trace", PullLimits(tokens=max(tokens, usual.tokens), answer_tokens=tokens), count=count
        )
        visible = {item.id for item in self._window.state.items if not item.shortened}
        text = tools.answer(Call("bench", RECALL, {"query": query}), visible=visible).text
        outcome = text.splitlines()[1].partition(":")[0]
        return Found(text, absent=outcome in ABSENT)
