"""mem0 under the stream: lines as they come (infer=False), or what a model makes of them.

    pip install mem0ai langchain chromadb    # all-MiniLM-L6-v2 of ChromaDB embeds, so that no service is asked for that
    firsthand eval stream --memory ./mem0_memory.py:Raw
    export MODEL=name OPENAI_BASE_URL=http://localhost:8080/v1 OPENAI_API_KEY=...
    firsthand eval stream --memory ./mem0_memory.py:Inferred

What mem0 gives is put in order of time, the newest last.
"""

import os
import tempfile

os.environ.setdefault("MEM0_TELEMETRY", "False")
try:
    from chromadb.utils.embedding_functions import DefaultEmbeddingFunction
    from langchain_core.embeddings import Embeddings
    from mem0 import Memory
except ImportError as error:
    raise ImportError("this memory is mem0's; run: pip install mem0ai langchain chromadb") from error

HITS_MAX, ALL = 16, 100_000


class MiniLM(Embeddings):
    def __init__(self):
        self.embed = DefaultEmbeddingFunction()

    def embed_documents(self, texts):
        return [vector.tolist() for vector in self.embed(list(texts))]

    def embed_query(self, text):
        return self.embed_documents([text])[0]


class Raw:
    infer = False

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        model = os.environ.get("MODEL", "")
        if self.infer and not model:
            raise ValueError("mem0 asks a model what to keep; set MODEL, OPENAI_BASE_URL and OPENAI_API_KEY")
        store = {"path": f"{self.folder.name}/vectors", "embedding_model_dims": 384, "on_disk": True}
        self.memory = Memory.from_config({
            "embedder": {"provider": "langchain", "config": {"model": MiniLM(), "embedding_dims": 384}},
            "vector_store": {"provider": "qdrant", "config": store},
            "llm": {"provider": "openai", "config": {"model": model, **({} if self.infer else {"api_key": "none"})}},
            "history_db_path": f"{self.folder.name}/history.db",
        })  # fmt: skip

    def update(self, episodes):
        for line in episodes:
            self.memory.add(line, user_id="stream", infer=self.infer)

    def view(self):
        return self._lines(self.memory.get_all(filters={"user_id": "stream"}, top_k=ALL))

    def ask(self, question):
        return self._lines(self.memory.search(question, filters={"user_id": "stream"}, top_k=HITS_MAX))

    def close(self):
        self.memory.close()
        self.folder.cleanup()

    def _lines(self, found):
        oldest_first = sorted(found["results"], key=lambda memory: memory["updated_at"] or memory["created_at"])
        return "\n".join(memory["memory"] for memory in oldest_first)


class Inferred(Raw):
    infer = True
