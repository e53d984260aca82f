"""Cases written by hand: odd sessions and odd notes, the verdict of each argued in a comment above it.

In a note «2» stands for the pointer of the second message, «2:0-40» for a range of its
bytes and «none» for a pointer that leads nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random

from .case import SEED, Case, new_id
from .gold import Regime

ROLES = {"U": "user", "A": "assistant", "T": "tool", "S": "system"}


def written(
    name: str,
    gold: Regime,
    claim: str,
    said: Sequence[str],
    note: str,
    missing: Sequence[str] = (),
    leads: Mapping[str, str] | None = None,
) -> Case:
    """Make a case of messages that begin with the letter of their role.

    Args:
        leads: what pointers that are named by a word of their own, like «span», lead to.
    """
    rng = Random(f"{SEED}:hand:{name}")
    pointers = ["fh:" + new_id(rng) for _ in said]
    messages = [
        {"role": ROLES[text[0]], "content": text[3:], "pointer": pointer}
        for text, pointer in zip(said, pointers, strict=True)
    ]
    expand = {message["pointer"]: message["content"] for message in messages}
    named = {word: "fh:" + new_id(rng) for word in ("none", *(leads or {}))}

    def pointer(found: re.Match[str]) -> str:
        if found[1] in named:
            return named[found[1]]
        place, _, span = found[1].partition(":")
        address = pointers[int(place) - 1]
        if span:
            start, end = map(int, span.split("-"))
            address, whole = f"{address}@{span}", expand[address].encode()
            expand[address] = whole[start:end].decode()
        return address

    for word, text in (leads or {}).items():
        expand[named[word]] = re.sub("«([^»]+)»", pointer, text)
    return Case(
        f"hand-{name}", "hand", tuple(messages), re.sub("«([^»]+)»", pointer, note), expand, claim, gold, tuple(missing)
    )
