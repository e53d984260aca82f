"""A session as a caller has it: what stands in the log, its window, its notes and its executors.

It decides nothing: each method hands on what it was given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from firsthand.context.executors import Executor, begin
from firsthand.context.session_log import SessionLog
from firsthand.context.session_window import SessionWindow
from firsthand.context.tools import PullLimits
from firsthand.log.results import Appended
from firsthand.notes.claim import Claim
from firsthand.notes.writer import note
from firsthand.space import Address
from firsthand.tokens import CounterOrName
from firsthand.value import short_repr
from firsthand.window import Budget


class Session(SessionLog):
    """A run of turns to append to. The session begins with its first event."""

    def __repr__(self) -> str:
        return short_repr("Session", {"name": self.name} | ({"agent": self.agent_name} if self.agent_name else {}))

    def note(
        self,
        text: str | bytes,
        *,
        sources: Iterable[Address] = (),
        situations: Sequence[str] | None = None,
        sort: str = "note",
        claims: Iterable[Claim | Mapping[str, Any]] = (),
        **fields: Any,
    ) -> Appended:
        """Append a note to this session; `Memory.note` says what the arguments are, and what was left out."""
        fields = self._by_agent() | fields
        named: dict[str, Any] = {"sources": sources, "situations": situations, "sort": sort, "claims": claims}
        return note(self.space, text, session=self.name, fields=fields, **named).event

    def window(
        self,
        budget: int | Budget,
        *,
        format: str | None = None,  # noqa: A002 - the package's word
        counter: CounterOrName | None = None,
        pull: bool | PullLimits = True,
    ) -> SessionWindow:
        """Open the session's context window: what the model will see, kept under a budget of tokens.

        Args:
            budget: tokens of everything that is sent, or a whole `Budget` with its marks.
            format: of the requests: ``openai-chat``, ``openai-responses`` or ``anthropic``; None is that of the
                session's messages.
            counter: counts tokens as the model does, or the name of the model or tokenizer (``gpt-5``,
                ``tiktoken:o200k_base``, `tokens.tokenizers.named`); None is the estimate for the format.
            pull: offer recall, expand, task and decide to the model as tools; or their limits of one turn.

        Raises:
            InvalidArgument: the budget is no budget.
            FormatError: there is no such format.
        """
        return SessionWindow(self, budget, format=format, counter=counter, pull=pull)

    def executor(
        self, name: str | None = None, *, agent: str = "", call: str | Appended | None = None, task: str = ""
    ) -> Executor:
        """Begin an executor: a session below this one with a window of its own (total-recall 6).

        All that happens in it is one item here, which opens to everything (`Memory.open_span`).

        Args:
            name: among its siblings; None makes one.
            call: the tool call of this session that it answers; None appends one of the tool ``delegate``.
            task: what it is to do.

        Raises:
            InvalidArgument: the name holds ``/`` or is taken, or the call is none of this session's.
        """
        return begin(self, name, agent=agent, call=call, task=task)
