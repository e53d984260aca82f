"""LangChain's summary under the stream: the newest messages, and before them a model's summary of the others.

    pip install langchain langchain-openai
    export MODEL=openai:name OPENAI_BASE_URL=http://localhost:8080/v1 OPENAI_API_KEY=...
    firsthand eval stream --memory ./langchain_summary.py:Summary

MODEL is as ``init_chat_model`` takes it.
"""

import os

try:
    from langchain.agents.middleware import SummarizationMiddleware
    from langchain.chat_models import init_chat_model
    from langchain_core.messages import HumanMessage, RemoveMessage
except ImportError as error:
    raise ImportError("this memory is LangChain's; run: pip install langchain langchain-openai") from error

TRIGGER, KEEP = ("messages", 32), ("messages", 16)


class Summary:
    def __init__(self):
        if not os.environ.get("MODEL"):
            raise ValueError("LangChain asks a model for a summary; set MODEL, such as openai:NAME")
        model = init_chat_model(os.environ["MODEL"])
        self.middleware = SummarizationMiddleware(model, trigger=TRIGGER, keep=KEEP)
        self.messages = []

    def update(self, episodes):
        self.messages += [HumanMessage(line) for line in episodes]
        changed = self.middleware.before_model({"messages": self.messages}, None)
        if changed is not None:
            self.messages = [one for one in changed["messages"] if not isinstance(one, RemoveMessage)]

    def view(self):
        return "\n".join(message.text for message in self.messages)
