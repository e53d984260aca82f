"""LangChain's SummarizationMiddleware in the same budget, with an extract by rule in the place of its model.

It is asked before every model call, as in an agent, and decides itself when to summarise and what leaves.
"""

from __future__ import annotations

from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AnyMessage, convert_to_messages, convert_to_openai_messages
from langgraph.graph.message import add_messages
from langgraph.runtime import Runtime

from .method import HIGH, LOW, SUMMARY_SHARE, Kept
from .summaries import Summariser
from .values import Message, Step, tokens_of_all


class Summarization(Kept):
    """Have LangChain replace what leaves by a summary, at the marks and in the room of the running summary.

    Its summariser gets all that leaves: the usual limit of 4,000 tokens is for a model.
    """

    def __init__(self, window_tokens: int, summariser: Summariser) -> None:
        super().__init__(window_tokens)
        summary_tokens = int(window_tokens * SUMMARY_SHARE)
        self.name = f"LangChain's summary ({summariser.name})"
        self._messages: list[AnyMessage] = []
        self._middleware = SummarizationMiddleware(
            FakeListChatModel(responses=[]),  # never called: the summariser writes
            trigger=("tokens", int(window_tokens * HIGH) + 1),
            keep=("tokens", int(window_tokens * LOW) - summary_tokens),
            token_counter=lambda messages: tokens_of_all(convert_to_openai_messages(messages)),
            trim_tokens_to_summarize=None,
            summarizer=lambda messages: summariser("", convert_to_openai_messages(messages), summary_tokens),
        )

    def feed(self, messages: Step) -> None:
        self._text = None
        self._messages += convert_to_messages([dict(message) for message in messages])
        if update := self._middleware.before_model({"messages": self._messages}, Runtime()):
            self._messages = add_messages(self._messages, update["messages"])
            self.compactions += 1

    def carried_tokens(self) -> int:
        return tokens_of_all(self.context())

    def context(self) -> list[Message]:
        return convert_to_openai_messages(self._messages)
