"""Firsthand under the stream: raw, asked by recall; and consolidated by rules that its gate lets in.

    firsthand eval stream --memory ./firsthand_memory.py:Raw --memory ./firsthand_memory.py:Consolidated

Both have a store of their own, in a folder that goes at the end of the stream.
"""

import tempfile
from contextlib import ExitStack

from firsthand import Memory
from firsthand.ledger.consolidation import consolidate_in, consolidated_view
from firsthand.ledger.entries import View
from firsthand_evals.stream.consolidators import rules_plus_exceptions

HITS_MAX = 16


class Raw:
    """Keep every line as what a user said; a question gets what recall finds, the newest last."""

    def __init__(self):
        self._open = ExitStack()
        folder = self._open.enter_context(tempfile.TemporaryDirectory())
        self.memory = self._open.enter_context(Memory(folder, embedder="none"))
        self.session = self.memory.session("stream")

    def update(self, episodes):
        for line in episodes:
            self.session.user(line)

    def view(self):
        return "\n".join(event.text for event in self.session.events())

    def ask(self, question):
        hits = self.memory.recall(question, hits_max=HITS_MAX).hits
        return "\n".join(hit.preview for hit in sorted(hits, key=lambda hit: hit.position))

    def close(self):
        self._open.close()


class Consolidated(Raw):
    """Have rules written of the lines after every update, keep those that pass the gate, and show what stands."""

    ask = None

    def update(self, episodes):
        super().update(episodes)
        consolidate_in(self.memory, lambda raw: rules_plus_exceptions.write(raw, View()).entries, "rule", keep=True)

    def view(self):
        return consolidated_view(self.memory).text
