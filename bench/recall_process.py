"""Ask an existing store queries, one after the other, in processor time: ``python recall_process.py JOB OUT``.

Run by the interpreter of the edition that is measured. The job names the store, the queries, how many of them only
warm up, and whether they are asked through a session's window, as an agent's own recall is.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from pathlib import Path

from firsthand import Memory


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_bytes())
    opened = getattr(Memory, "open", Memory)  # the first edition opens a store by a method
    with opened(job["store"], read_only=not job["window"]) as memory:
        outcomes: Counter[str] = Counter()

        def recall(query: str) -> None:
            answer = memory.recall(query)
            outcomes[f"{answer.outcome.value}{'' if answer.hits else ', no hits'}"] += 1

        ask = _Window(memory, job["window"]) if job["window"] else recall
        if isinstance(ask, _Window):
            ask.next_turn()
        for query in job["queries"][: job["warm up"]]:
            ask(query)
        outcomes.clear()
        seconds = []
        for query in job["queries"][job["warm up"] :]:
            if isinstance(ask, _Window):
                ask.next_turn()
            before = time.process_time()
            ask(query)
            seconds.append(time.process_time() - before)
    Path(sys.argv[2]).write_text(json.dumps({"seconds": seconds, "outcomes": outcomes}))


class _Window:
    """A window on a session that has begun, and a model's calls of recall there, one a turn: a turn has few."""

    def __init__(self, memory: Memory, session: str) -> None:
        self._window = memory.session(session).window(100_000, format="openai-chat")

    def next_turn(self) -> None:
        self._window.add({"role": "user", "content": "What have we said about this?"})
        self._window.request()

    def __call__(self, query: str) -> None:
        function = {"name": "recall", "arguments": json.dumps({"query": query})}
        call = {"id": "bench", "type": "function", "function": function}
        results = self._window.answer({"role": "assistant", "content": "", "tool_calls": [call]})
        assert results, "the window has no recall"


if __name__ == "__main__":
    main()
