"""ChromaDB over episodes, under the stream: lines are documents, a question gets the nearest.

    pip install chromadb    # its default embedder, all-MiniLM-L6-v2, is fetched the first time
    firsthand eval stream --memory ./chroma_memory.py:Chroma

The nearest lines are given in the order in which they came.
"""

import uuid

try:
    import chromadb
except ImportError as error:
    raise ImportError("this memory is ChromaDB's; run: pip install chromadb") from error

HITS_MAX = 16


class Chroma:
    def __init__(self):
        client = chromadb.EphemeralClient(settings=chromadb.Settings(anonymized_telemetry=False))
        self.lines = client.create_collection(uuid.uuid4().hex, configuration={"hnsw": {"space": "cosine"}})

    def update(self, episodes):
        first = self.lines.count()
        ids = [f"{first + number:06d}" for number in range(len(episodes))]
        self.lines.add(ids=ids, documents=list(episodes))

    def view(self):
        found = self.lines.get()
        return "\n".join(line for _, line in sorted(zip(found["ids"], found["documents"], strict=True)))

    def ask(self, question):
        found = self.lines.query(query_texts=[question], n_results=min(HITS_MAX, self.lines.count()))
        return "\n".join(line for _, line in sorted(zip(found["ids"][0], found["documents"][0], strict=True)))
