"""Memories that a language model writes: by a source-first prompt, in four wordings, or as a summary (6, 11).

The four wordings mean the same: what they differ in is the sensitivity that section 11
of reclaim-evaluation asks about. The invariant: a writer sees the session and its budget,
and what it writes is carried as it is, cut by the harness like any other memory's.

What a model made up stays in, and is what is measured; only ``source_first_checked`` is
Firsthand's own distiller, which takes it out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from firsthand import InvalidArgument
from firsthand.value import value
from firsthand_evals import pages
from firsthand_evals.endpoint import Model
from firsthand_evals.probe.statements import Message, content_of, plain, read
from firsthand_evals.reclaim.seam import Messages, Subject
from firsthand_evals.reclaim.words import words

NOTE_TOKENS_MAX = 600
_WORDS = words("writers")
PROMPTS: dict[str, str] = _WORDS["prompts"]
"""Four wordings of one intent; the first is the one that stands for the deployable policy."""
SUMMARY, RUNNING = _WORDS["summary"], _WORDS["running"]
_BEFORE, _BEHIND, _LIMIT = _WORDS["before"], _WORDS["behind"], _WORDS["limit"]
"""The prompt stands behind the session: a small model that reads it before goes on with the session instead."""
RUNNING_MESSAGES = 6
"""That a running summary takes in at once."""
OF_A_MODEL = ("summary", "running_summary", "source_first_auto", "source_first_checked")


class Written:
    """A note that a model writes."""

    def __init__(self, model: Model, prompt: str, tokens_max: int = NOTE_TOKENS_MAX) -> None:
        self._model, self._prompt, self._tokens_max = model, prompt, tokens_max

    def write(self, messages: Messages, budget: int) -> str:
        told = "\n".join(f"{message['role']}: {message['content']}" for message in messages)
        asked = f"{_BEFORE}\n\n{told}\n\n{_BEHIND} {self._prompt} {_LIMIT.format(budget=budget)}"
        return self._model.complete([{"role": "user", "content": asked}], max_tokens=self._tokens_max).text.strip()


class Running:
    """A summary that is written anew every few messages, from itself and what was said since (6, App. F)."""

    def __init__(self, model: Model, tokens_max: int = NOTE_TOKENS_MAX) -> None:
        self._model, self._tokens_max = model, tokens_max

    def write(self, messages: Messages, budget: int) -> str:
        summary = "(nothing yet)"
        for first in range(0, len(messages), RUNNING_MESSAGES):
            told = "\n".join(
                f"{message['role']}: {message['content']}" for message in messages[first : first + RUNNING_MESSAGES]
            )
            asked = [
                {"role": "system", "content": f"{RUNNING} Write at most {budget} characters, and nothing but it."},
                {"role": "user", "content": f"Summary so far:\n{summary}\n\nSaid since:\n{told}"},
            ]
            summary = self._model.complete(asked, max_tokens=self._tokens_max).text.strip()
        return summary


class Checked:
    """A source-first note that a model writes, without what the session does not have (`distill_by_model`)."""

    def __init__(self, model: Model, tokens_max: int = NOTE_TOKENS_MAX) -> None:
        self._model, self._tokens_max = model, tokens_max

    def write(self, messages: Messages, budget: int) -> str:
        """Let the model write, and check it."""
        return distill_by_model(messages, budget, self._said).text

    def _said(self, prompt: str) -> str:
        return self._model.complete([{"role": "user", "content": prompt}], max_tokens=self._tokens_max).text


class Maker:
    """Makes the memories of one kind that a model writes, and says how often it asks."""

    def __init__(self, model: Model, name: str) -> None:
        self._model, self._name = model, name

    def __call__(self) -> Written | Running | Checked:
        if self._name == "source_first_checked":
            return Checked(self._model)
        if self._name == "running_summary":
            return Running(self._model)
        return Written(self._model, SUMMARY if self._name == "summary" else PROMPTS[self._name])

    def calls(self, messages: int) -> int:
        """Count the calls for a session of so many messages."""
        return -(-messages // RUNNING_MESSAGES) if self._name == "running_summary" else 1


def written(model: Model, name: str, by: str = "") -> Subject:
    """Give a wording as a subject; ``summary`` and ``running_summary`` are the plain ones.

    Args:
        by: the model's name; it stands behind the subject's, so that items of two writers are told apart.
    """
    return Subject(f"{name} by {by}" if by else name, Maker(model, name))


def wordings(model: Model, by: str = "") -> tuple[Subject, ...]:
    """Give all four wordings."""
    return tuple(written(model, name, by) for name in PROMPTS)


def all_of(model: Model, by: str) -> tuple[Subject, ...]:
    """Give the summaries of a model, its source-first note, and the one that is checked."""
    return tuple(written(model, name, by) for name in OF_A_MODEL)


PIECES_MAX = 2_000  # of a written text; what stands behind them is dropped, and told
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
    return pages.text("distil.txt", budget=budget, session=session).removesuffix("\n")


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
