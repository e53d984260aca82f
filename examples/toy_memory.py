"""Two toy memories for docs/test-your-memory.md: one that cuts a session off, one that keeps its source.

    firsthand eval reclaim --memory ./toy_memory.py:write --experiment places
    firsthand eval reclaim --memory ./toy_memory.py:Notes --experiment places

Run it in this folder: a memory is named by its file and its name. `Notes` forgets nothing as
long as it lives, and says what it does not carry; it is no memory for real work.
"""

import re


def write(messages, budget):
    """Carry the session as far as it fits."""
    said = [f"{one['role']}: {one['content']}" for one in messages]
    return "\n".join(said)[:budget]


class Notes:
    """Keep every message; carry what the user stated, how much of it, and answer with the rest when asked."""

    def __init__(self):
        self.said = []

    def write(self, messages, budget):
        for one in messages:
            ours = one["role"] == "system" or one["content"].startswith(("RECALL:", "Recalled:"))
            if not ours:  # what it carried and answered itself is no news
                self.said.append(one)
        stated = []
        for one in self.said:
            if one["role"] == "user":
                stated += re.split(r"(?<=[.;?!])\s+", one["content"])
        stated = [one for one in stated if not one.endswith("?")]
        kept = []
        for one in stated:
            if len("\n".join([*kept, one])) + 40 <= budget:
                kept.append(one)
        return "\n".join([*kept, f"{len(kept)} of {len(stated)} statements kept."])

    def recall(self, query):
        words = set(query.lower().split())
        said = [f"{one['role']}: {one['content']}" for one in self.said]
        return "\n".join(sorted(said, key=lambda one: -len(words & set(one.lower().split()))))
