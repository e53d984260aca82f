"""LangChain's SummarizationMiddleware, driven as an agent's graph drives it.

Before each model call the middleware is given the state; what it answers goes through
LangGraph's own reducer. Its defaults stay as they are (20 messages kept, its own
prompt) but for the trigger, which it has none of, the token count, which is the one of
all methods here, and the length of a reply, which is a setting of the model. In a
window too small for 20 messages it keeps tokens instead, down to the common low mark. By
default it shows its summariser only the last 4,000 tokens of what leaves
(``trim_tokens_to_summarize``); ``whole`` lifts that.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.graph.message import add_messages

from firsthand.llm.port import Model

from .method import HIGH, LOW, SUMMARY_SHARE, Shown
from .summaries import Summariser
from .values import Message, Step, text_of_all, tokens_of_all

KEPT = 20
ROOMY_TOKENS = 10_000
SUMMARY_PREFIX = "Here is a summary of the conversation to date:"


class PortModel(BaseChatModel):
    """Our model port as a chat model of LangChain."""

    port: Any
    max_tokens: int
    calls: int = 0

    @property
    def _llm_type(self) -> str:
        return "firsthand-port"

    def _generate(self, messages: list[BaseMessage], stop: list[str] | None = None, *_: Any, **__: Any) -> ChatResult:
        self.calls += 1
        plain = [{"role": "user", "content": message.text} for message in messages]
        reply = self.port.complete(plain, max_tokens=self.max_tokens, stop=stop or ())
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content=reply.text))])


class LangChainSummary:
    """The middleware over a state of its own."""

    searches = False

    def __init__(
        self,
        window_tokens: int,
        *,
        model: Model | None = None,
        summariser: Summariser | None = None,
        whole: bool = False,
    ) -> None:
        assert (model is None) != (summariser is None), "either a model writes the summaries or a rule does"
        self._summary_tokens = int(window_tokens * SUMMARY_SHARE)
        low = int(window_tokens * LOW) - self._summary_tokens
        self._model = PortModel(port=model, max_tokens=self._summary_tokens)
        self._rule = summariser
        settings: dict[str, Any] = {"trim_tokens_to_summarize": None} if whole else {}
        settings |= {"summarizer": self._by_rule} if summariser is not None else {}
        self._middleware = SummarizationMiddleware(
            self._model,
            trigger=("tokens", int(window_tokens * HIGH)),
            keep=("messages", KEPT) if window_tokens >= ROOMY_TOKENS else ("tokens", low),
            token_counter=_tokens,
            **settings,
        )
        self._messages: list[AnyMessage] = []
        self._text: str | None = None
        self.compactions = 0
        self.model_calls = 0
        by = "model" if summariser is None else summariser.name
        self.name = f"LangChain summarization ({by}{', untrimmed' if whole else ''})"

    def feed(self, messages: Step) -> None:
        self._text = None
        self._messages = _added(self._messages, [_theirs(message) for message in messages])
        update = self._middleware.before_model({"messages": self._messages}, None)  # type: ignore[arg-type,typeddict-item]
        if update is not None:
            self._messages = _added(self._messages, update["messages"])
            self.compactions += 1
            self.model_calls = self._model.calls

    def carried_tokens(self) -> int:
        return _tokens(self._messages)

    def ask(self, question: str, *, hops: int = 1) -> Shown:  # noqa: ARG002 (it has no search)
        if self._text is None:
            self._text = text_of_all(map(_ours, self._messages))
        return Shown(self._text)

    def close(self) -> None:
        self._messages = []

    def _by_rule(self, messages: list[AnyMessage]) -> str:
        assert self._rule is not None
        before = "\n".join(one.text for one in messages if one.text.startswith(SUMMARY_PREFIX))
        rest = [_ours(one) for one in messages if not one.text.startswith(SUMMARY_PREFIX)]
        return self._rule(before.removeprefix(SUMMARY_PREFIX), rest, self._summary_tokens)


def _added(held: list[AnyMessage], new: Sequence[Any]) -> list[AnyMessage]:
    return list(add_messages(held, list(new)))  # type: ignore[arg-type]


def _tokens(messages: Iterable[Any]) -> int:
    return tokens_of_all(map(_ours, messages))


def _theirs(message: Message) -> BaseMessage:
    content = message.get("content") or ""
    match message["role"]:
        case "user":
            return HumanMessage(content)
        case "system":
            return SystemMessage(content)
        case "tool":
            return ToolMessage(content, tool_call_id=message["tool_call_id"])
    calls = [
        {"id": call["id"], "name": call["function"]["name"], "args": json.loads(call["function"]["arguments"])}
        for call in message.get("tool_calls") or ()
    ]
    return AIMessage(content, tool_calls=calls)


def _ours(message: BaseMessage) -> Message:
    roles = {"human": "user", "ai": "assistant", "tool": "tool", "system": "system"}
    calls = [
        {"function": {"name": call["name"], "arguments": json.dumps(call["args"], ensure_ascii=False)}}
        for call in getattr(message, "tool_calls", ())
    ]
    return {"role": roles[message.type], "content": message.text, "tool_calls": calls}
