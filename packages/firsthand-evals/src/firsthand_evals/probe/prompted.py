"""The distiller that asks a language model once, and takes out again what the model made up.

The invariants: no number, time, date, exact string or quotation stands in the text that
the session does not have; the text fits its budget; what was taken out is told, never
just missing. It does not see what is there and was said of another thing.
Source: reclaim-evaluation 6 (the one-prompt distiller; the wording is ours).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from firsthand import InvalidArgument
from firsthand.value import value
from firsthand_evals.probe.statements import Message, content_of, plain, read

PIECES_MAX = 2_000  # of a written text; what stands behind them is dropped, and told
_PROMPT = """\
Below stands a conversation in which a mistake may be found later, when nobody can look at it any more.
Write a note from which the result can then be worked out again:
- each given fact that the result depends on, one a line, with its numbers, units and names exactly as they were said;
- what was considered and not chosen, marked as not chosen;
- no result, total or conclusion: it follows from the facts, and it may be wrong.
Leave out everything else. At most {budget} characters, and nothing but the note.

{session}"""
_SENTENCE = re.compile(r"(?<=[.!?;])\s+")
_LISTED = re.compile(r"^\s*(?:[-*\u2022]|\(?\d{1,3}[.)])\s+")
_QUOTED = re.compile(r'"([^"\n]{1,500})"|\u201c([^\u201d\n]{1,500})\u201d|`([^`\n]{1,500})`')


@value
class ModelNote:
    """A note that a model wrote.

    Attributes:
        text: what holds, within the budget.
        dropped: pieces that say what the session does not have, and those that the budget did not hold.
        unsupported: what of them the session does not have.
    """

    text: str
    dropped: tuple[str, ...]
    unsupported: tuple[str, ...]


def distill_by_model(messages: Sequence[Message], budget: int, model: Callable[[str], str]) -> ModelNote:
    """Let a model distil a session, and keep of its note what the session has.

    Args:
        budget: characters of the note.
        model: gives the reply to a prompt; what it raises goes on.
    """
    if budget < 0:
        raise InvalidArgument(f"a budget is 0 or more; got {budget}")
    reply: object = model(prompt(messages, budget))
    if not isinstance(reply, str):
        raise InvalidArgument(f"a model gives text; got {type(reply).__name__}")
    pieces: list[str] = []
    dropped: list[str] = []
    wrong: list[str] = []
    used = 0
    for number, piece in enumerate(_pieces(reply)):
        made_up = unsupported(piece, messages) if number < PIECES_MAX else ()
        if made_up or number >= PIECES_MAX or used + len(piece) + bool(pieces) > budget:
            dropped.append(piece)
            wrong += made_up
            continue
        used += len(piece) + bool(pieces)
        pieces.append(piece)
    return ModelNote("\n".join(pieces), tuple(dropped), tuple(dict.fromkeys(wrong)))


def prompt(messages: Sequence[Message], budget: int) -> str:
    """Write what the model is asked."""
    session = "\n".join(f"{message.get('role', '')}: {text}" for message in messages if (text := content_of(message)))
    return _PROMPT.format(budget=budget, session=session)


def unsupported(text: str, messages: Sequence[Message]) -> tuple[str, ...]:
    """Give the exact values and quotations of a text that messages do not have, verbatim."""
    session = "\n".join(content_of(message) for message in messages)
    known, words = frozenset(read(session)), plain(session)
    found = [piece for line in text.splitlines() for piece in _lacking(_LISTED.sub("", line), known, words)]
    return tuple(dict.fromkeys(found))


def _lacking(line: str, known: frozenset[object], words: str) -> list[str]:
    quoted = [next(filter(None, match.groups())) for match in _QUOTED.finditer(line)]
    return [found.text for found in read(line) if found not in known] + [it for it in quoted if plain(it) not in words]


def _pieces(text: str) -> list[str]:
    """Cut a text into sentences; the number of a line in a list stays with what it numbers."""
    cut = []
    for line in text.splitlines():
        mark = _LISTED.match(line)
        head = mark[0] if mark is not None else ""
        first, *rest = _SENTENCE.split(line[len(head) :])
        cut += [head + first, *rest]
    return [piece.strip() for piece in cut if piece.strip()]
