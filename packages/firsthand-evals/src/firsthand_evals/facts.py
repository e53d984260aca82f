"""What the cases of `firsthand_evals.cases` are about: templates of facts, of rules, and of common knowledge.

In a template ``{c}`` stands for a made-up component and ``{v}`` for a made-up value, so
that no reader can know them. A topic is a set of words that a reader of English ties
to each other ("dumps" and "backup"): a search by words cannot, and the scripted reader
can. The invariant, which a test checks: a question that is told in other words shares
no word with what it asks for.

It knows no store and no case; the templates stand in ``facts.toml``.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from firsthand.value import value

NUMBER, PATH, HASH, NAME = "number", "path", "hash", "name"
"""Sorts of value that a case asks for."""


@value
class Fact:
    """One thing of a system that only its own people know.

    Attributes:
        wanted: which sort of value it has.
        told: what somebody says; ``printed``: what a command prints instead.
        moved: what is said when the value has changed.
        asked: a question in three phrasings; ``other``: in other words, without the component.
        topic: words that tie the other words to what was told.
        belief: what a reader who was told nothing takes for true; empty for no idea.
    """

    wanted: str
    told: str
    printed: str
    moved: str
    asked: tuple[str, ...]
    other: tuple[str, ...]
    topic: str
    belief: str = ""


@value
class Rule:
    """A procedure that was learned from a failure.

    Attributes:
        text: speaks of none of the situations.
        learned: the request it was learned in.
        again: a like request, told by another person in partly the same words; ``other``: in none of them.
        topic: words that tie a request to the text.
        belief: the step that a reader takes who was told no rule.
    """

    text: str
    learned: str
    again: tuple[str, ...]
    other: tuple[str, ...]
    topic: str
    belief: str


@value
class Common:
    """What every reader knows, and what a memory may hold that looks like it.

    Attributes:
        asked: a question in three phrasings.
        right: its answer.
        said: the same, as somebody says it.
        tempting: something of the user's own system that shares its words and has another value.
    """

    asked: tuple[str, ...]
    right: str
    said: str
    tempting: str


def _rows(name: str) -> list[dict[str, Any]]:
    """Read the rows of a kind, with lists as tuples."""
    return [{field: tuple(it) if isinstance(it, list) else it for field, it in row.items()} for row in _DATA[name]]


_DATA: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
COMPONENTS: tuple[str, ...] = tuple(_DATA["components"])
FACTS = tuple(Fact(**row) for row in _rows("facts"))
RULES = tuple(Rule(**row) for row in _rows("rules"))
COMMON = tuple(Common(**row) for row in _rows("common"))


def topics() -> tuple[frozenset[str], ...]:
    """Give the sets of words that a reader of English ties to each other."""
    return tuple(frozenset(topic.split()) for topic in (*(it.topic for it in FACTS), *(it.topic for it in RULES)))
