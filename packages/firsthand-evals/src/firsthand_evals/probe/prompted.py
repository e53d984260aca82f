"""The distiller that asks a language model once, and takes out again what the model made up.

    written = distill_by_model(messages, 600, lambda prompt: model.complete([...]).text)
    written.text         what holds
    written.dropped      pieces that say what the session does not have
    written.verdict      of the probe: what of the session can still be corrected from it

The invariants: no number, amount, time, date, exact string or quotation stands in the
text that the session does not have; the text fits its budget; what was taken out is
told, never just missing; whether what is left suffices is asked of the probe, since a
model may drop what matters.

It does not see what is there and was said of another thing. A price in a
currency that the session writes nowhere is taken for the bare number that it says.
Source: reclaim-evaluation 6 (the one-prompt distiller; the wording is ours).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache

from firsthand.errors import InvalidArgument
from firsthand.value import value
from firsthand_evals.probe.probe import Verdict, probe
from firsthand_evals.probe.statements import Message
from firsthand_evals.probe.values import Value, in_base, read

PIECES_MAX = 2_000  # of a written text; what stands behind them is dropped, and told

_compiled = cache(re.compile)
_PROMPT = """\
Below stands a conversation in which a mistake may be found later, when nobody can look at it any more.
Write a note from which the result can then be worked out again:
- each given fact that the result depends on, one a line, with its numbers, units and names exactly as they were said;
- what was considered and not chosen, marked as not chosen;
- no result, total or conclusion: it follows from the facts, and it may be wrong.
Leave out everything else. At most {budget} characters, and nothing but the note.

{session}"""
_SENTENCE = r"(?<=[.!?;])\s+"
_LISTED = r"^\s*(?:[-*\u2022]|\(?\d{1,3}[.)])\s+"
_QUOTED = r'"([^"\n]{1,500})"|\u201c([^\u201d\n]{1,500})\u201d|\u00ab([^\u00bb\n]{1,500})\u00bb|`([^`\n]{1,500})`'


@value
class ModelNote:
    """A note that a model wrote.

    Attributes:
        text: what holds, within the budget.
        dropped: pieces that say what the session does not have, and those that the budget did not hold.
        unsupported: what of them the session does not have.
        verdict: of the probe, which looks at the note and at the session.
    """

    text: str
    dropped: tuple[str, ...]
    unsupported: tuple[str, ...]
    verdict: Verdict


def distill_by_model(messages: Sequence[Message], budget: int, model: Callable[[str], str]) -> ModelNote:
    """Let a model distil a session, and keep of its note what the session has.

    Args:
        budget: characters of the note.
        model: gives the reply to a prompt; what it raises goes on.

    Raises:
        InvalidArgument: the budget is negative, or the model gives no text.
    """
    if budget < 0:
        raise InvalidArgument(f"a budget is 0 or more; got {budget}")
    said: object = model(prompt(messages, budget))
    if not isinstance(said, str):
        raise InvalidArgument(f"a model gives text; got {type(said).__name__}")
    source = _Source(messages)
    kept: list[str] = []
    dropped: list[str] = []
    wrong: list[str] = []
    used = 0
    for number, piece in enumerate(_pieces(said)):
        made_up = source.lacks(piece) if number < PIECES_MAX else ()
        room = used + len(piece) + bool(kept) <= budget and number < PIECES_MAX
        if made_up or not room:
            dropped.append(piece)
            wrong += made_up
            continue
        used += len(piece) + bool(kept)
        kept.append(piece)
    text = "\n".join(kept)
    return ModelNote(text, tuple(dropped), tuple(dict.fromkeys(wrong)), probe(text, messages))


def prompt(messages: Sequence[Message], budget: int) -> str:
    """Write what the model is asked."""
    session = "\n".join(f"{one.get('role', '')}: {text}" for one in messages if (text := _content(one)))
    return _PROMPT.format(budget=budget, session=session)


def unsupported(text: str, messages: Sequence[Message]) -> tuple[str, ...]:
    """Give what a text says and messages do not have: numbers, amounts, times, dates, exact strings, quotations."""
    source = _Source(messages)
    return tuple(dict.fromkeys(one for piece in _pieces(text) for one in source.lacks(piece)))


def _pieces(text: str) -> list[str]:
    """Cut a text into sentences; the number of a line in a list stays with what it numbers."""
    found = []
    for line in text.splitlines():
        mark = _compiled(_LISTED).match(line)
        head = mark[0] if mark is not None else ""
        first, *rest = _compiled(_SENTENCE).split(line[len(head) :])
        found += [head + first, *rest]
    return [piece.strip() for piece in found if piece.strip()]


class _Source:
    """What messages have."""

    def __init__(self, messages: Sequence[Message]) -> None:
        said = [_content(message) for message in messages]
        self._text = _plain("\n".join(said))
        found = [one for text in said for one in read(text)]
        self._known = {(one.kind, *in_base(one)) for one in found}
        self._money = {(one.amount, one.unit) for one in found if one.kind == "money"}
        self._currencies = {unit for _, unit in self._money}
        self._amounts: set[Fraction | None] = {one.amount for one in found if one.kind in {"number", "money"}}
        self._bare: set[Fraction | None] = {one.amount for one in found if one.kind == "number"}

    def lacks(self, piece: str) -> tuple[str, ...]:
        """Give what a piece says that is not there, verbatim."""
        bare = _compiled(_LISTED).sub("", piece)  # the number of a line in a list is none of its values
        values = [one.text for one in read(bare) if not self._has(one)]
        quoted = [next(filter(None, found.groups())) for found in _compiled(_QUOTED).finditer(bare)]
        return (*values, *(one for one in quoted if _plain(one) not in self._text))

    def _has(self, one: Value) -> bool:
        if one.amount is None:
            return _plain(one.text) in self._text
        if (one.kind, *in_base(one)) in self._known:
            return True
        if one.kind == "number":  # a price without its currency, a count without its unit
            return one.amount in (self._amounts if not one.unit else self._bare)
        if one.kind == "money":  # a session that writes this currency nowhere may have named it once for all
            named = {unit for amount, unit in self._money if amount == one.amount}
            bare = one.amount in self._bare and one.unit not in self._currencies
            return bare or "" in named or (not one.unit and bool(named))
        return False


def _content(message: Message) -> str:
    """Give the text of a message; empty for one that only calls a tool."""
    content = message.get("content")
    if content is not None and not isinstance(content, str):
        raise InvalidArgument(f"the content of a message is text; got {type(content).__name__}: give it part by part")
    return content or ""


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
