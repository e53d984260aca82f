"""Follows a store with vectors in a process of its own, slowly enough to be killed in the middle."""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from embedders import failing_embedder, vector_of
from firsthand import Memory

store, milliseconds = sys.argv[1], float(sys.argv[2])


def embed(texts):
    time.sleep(milliseconds / 1000)
    return [vector_of(text) for text in texts]


with Memory.open(store, embedder=failing_embedder("words", embed)) as memory:
    print("begins", flush=True)
    memory.follow(progress=lambda done, total: print(done, total, flush=True))
