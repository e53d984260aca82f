"""A LangGraph chat whose notes outlive the thread, and whose thread outlives the process; no network, a fake model.

    pip install 'firsthand[langgraph]' && python examples/langgraph_notes.py

The store is Firsthand's log: each note is an event, and a search is a recall. So is each checkpoint of the thread.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import Any

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, SystemMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import Runtime

from firsthand import Memory
from firsthand.adapters.langgraph_checkpointer import FirsthandSaver
from firsthand.adapters.langgraph_store import FirsthandStore

NOTES = ("notes", "ada")


def replies() -> Iterator[AIMessage]:
    """Give what the fake model says, in order."""
    yield AIMessage("Noted.")
    yield AIMessage("Noted.")
    yield AIMessage("Staging listens on port 5544.")


def chat(memory: Memory, model: GenericFakeChatModel) -> Any:
    """Compile a graph of one node: search the notes, answer, note what was said."""

    def answer(state: MessagesState, runtime: Runtime) -> dict[str, Any]:
        text = str(state["messages"][-1].content)
        notes = [item.value["text"] for item in runtime.store.search(NOTES, query=text, limit=1) if item.score]
        print(f"> {text}\n  notes: {notes}")
        reply = model.invoke([SystemMessage(f"Notes: {notes}"), *state["messages"]])
        runtime.store.put(NOTES, str(state["messages"][-1].id), {"text": text})
        print(f"  {reply.content}")
        return {"messages": [reply]}

    builder = StateGraph(MessagesState)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    return builder.compile(checkpointer=FirsthandSaver(memory), store=FirsthandStore(memory))


def run(folder: str) -> list[str]:
    """Talk in two threads, in two openings of the store; give the messages of the first thread."""
    model = GenericFakeChatModel(messages=replies())
    monday, tuesday = {"configurable": {"thread_id": "monday"}}, {"configurable": {"thread_id": "tuesday"}}
    with Memory(folder) as memory:
        graph = chat(memory, model)
        graph.invoke({"messages": [("user", "The staging database listens on port 5544.")]}, monday)
        graph.invoke({"messages": [("user", "Umbrellas are in the cupboard.")]}, monday)
    with Memory(folder) as memory:  # as another process would
        graph = chat(memory, model)
        graph.invoke({"messages": [("user", "Which port does staging listen on?")]}, tuesday)
        return [str(message.content) for message in graph.get_state(monday).values["messages"]]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        print("\n".join(["monday's thread:", *run(f"{folder}/store")]))
