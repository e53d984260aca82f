"""Memories that a language model writes: by a source-first prompt, in four wordings, or as a plain summary (6, 11).

The four wordings mean the same: what they differ in is the sensitivity that section 11
of reclaim-evaluation asks about. The invariant: a writer sees the session and its budget,
and what it writes is carried as it is, cut by the harness like any other memory's.

It checks nothing: what a model made up stays in, and is what is measured. The checked
distiller of Firsthand is in the room notes.
"""

from __future__ import annotations

from firsthand.evals.reclaim.seam import Messages, Subject
from firsthand.llm import Model

NOTE_TOKENS_MAX = 600
PROMPTS = {
    "source_first_auto": (
        "Write a short note of this conversation for a later session in which a mistake in it may have to be mended. "
        "Keep each fact, amount and unit that one needs to work the answer out again. Do not state the answer or "
        "anything else that follows from them: it can be worked out again."
    ),
    "source_first_b": (
        "Note down the given facts of this conversation, with numbers and units exactly as given, so that somebody "
        "else can redo the calculation or the reasoning. Leave out results and conclusions."
    ),
    "source_first_c": (
        "Somebody will have to check the result of this conversation without seeing it. List what was given, complete "
        "and unchanged. The result itself does not belong in the list."
    ),
    "source_first_d": (
        "Compress this conversation to its inputs: every quantity, price, name, condition and time that was told. Drop "
        "outputs, totals and restatements."
    ),
}
"""Four wordings of one intent; the first is the one that stands for the deployable policy."""
SUMMARY = "Summarise this conversation in a few sentences for a later session."


class Written:
    """A note that a model writes."""

    def __init__(self, model: Model, prompt: str, tokens_max: int = NOTE_TOKENS_MAX) -> None:
        self._model, self._prompt, self._tokens_max = model, prompt, tokens_max

    def write(self, messages: Messages, budget: int) -> str:
        """Let the model write.

        Raises:
            ModelError: there is no reply.
        """
        told = "\n".join(f"{one['role']}: {one['content']}" for one in messages)
        asked = [
            {
                "role": "system",
                "content": f"{self._prompt} Write at most {budget} characters, and nothing but the note.",
            },
            {"role": "user", "content": told},
        ]
        return self._model.complete(asked, max_tokens=self._tokens_max).text.strip()


def written(model: Model, name: str) -> Subject:
    """Give one wording as a subject; ``summary`` is the plain one."""
    prompt = SUMMARY if name == "summary" else PROMPTS[name]
    return Subject(name, lambda: Written(model, prompt))


def wordings(model: Model) -> tuple[Subject, ...]:
    """Give all four wordings."""
    return tuple(written(model, name) for name in PROMPTS)
