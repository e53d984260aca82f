"""Memories that a language model writes: by a source-first prompt, in four wordings, or as a summary (6, 11).

The four wordings mean the same: what they differ in is the sensitivity that section 11
of reclaim-evaluation asks about. The invariant: a writer sees the session and its budget,
and what it writes is carried as it is, cut by the harness like any other memory's.

What a model made up stays in, and is what is measured.
"""

from __future__ import annotations

from firsthand_evals.endpoint import Model
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
OF_A_MODEL = ("summary", "running_summary", "source_first_auto")


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


class Maker:
    """Makes the memories of one kind that a model writes, and says how often it asks."""

    def __init__(self, model: Model, name: str) -> None:
        self._model, self._name = model, name

    def __call__(self) -> Written | Running:
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
    """Give the summaries of a model, and its source-first note."""
    return tuple(written(model, name, by) for name in OF_A_MODEL)
