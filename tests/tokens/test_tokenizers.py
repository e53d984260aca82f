"""Exact tokenizers from files: they count what the file says, and refuse what is no such file."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sys
from pathlib import Path

import pytest
from counter_suite import CounterSuite

from firsthand import Memory
from firsthand.errors import InvalidArgument
from firsthand.tokens import identity
from firsthand.tokens.exact import PATTERNS, PIECE_CHARACTERS_MAX
from firsthand.tokens.tokenizers import FILE_BYTES_MAX, named, tiktoken, tokenizer_json

MERGES = (b"in", b"ing", b" t", b"th", b"he", b" th", b" the", b"  ", b"12", b"123", b"\n\n")


def ranks(merges=MERGES) -> bytes:
    """A small encoding in OpenAI's form: all bytes, and a few merges in order of rank."""
    tokens = [*(bytes([byte]) for byte in range(256)), *merges]
    return b"".join(base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(tokens))


def json_tokenizer(path: Path) -> Path:
    """Write a small tokenizer.json that also cuts at 4 tokens, pads to 8 and puts tokens around every text."""
    from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, processors

    signs = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("i", "n"), ("in", "g"), ("Ġ", "t"), ("Ġt", "h"), ("Ġth", "e")]
    names = [*signs, *("".join(pair) for pair in merges)]
    made = Tokenizer(models.BPE({name: number for number, name in enumerate(names)}, merges))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.add_special_tokens([AddedToken("<s>", special=True), AddedToken("<|im_end|>", special=True)])
    made.post_processor = processors.TemplateProcessing("<s> $A <s>", special_tokens=[("<s>", made.token_to_id("<s>"))])
    made.enable_truncation(4)
    made.enable_padding(length=8)
    made.save(str(path))
    return path


class TestTiktoken(CounterSuite):
    @pytest.fixture
    def counter(self, tmp_path):
        (tmp_path / "ranks").write_bytes(ranks())
        return tiktoken("cl100k_base", tmp_path / "ranks")


class TestTokenizerJson(CounterSuite):
    @pytest.fixture
    def counter(self, tmp_path):
        return tokenizer_json(json_tokenizer(tmp_path / "tokenizer.json"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [(" the", 1), (" thing", 2), ("thing", 2), (" the thing", 3), ("1234", 2), ("\n\n", 1), ("é", 2), ("<s>", 3)],
)
def test_tiktoken_counts_what_the_ranks_say(tmp_path, text, expected):
    """Merges of the file are applied within a word, a number of three digits, a line end; other bytes count alone."""
    (tmp_path / "cl100k_base.tiktoken").write_bytes(ranks())
    assert tiktoken("cl100k_base", tmp_path)(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [(" the", 1), (" thing", 2), ("a thing", 3), ("é", 2), ("<s>", 3), ("<|im_end|>", 10)]
)
def test_a_tokenizer_json_counts_the_text_alone(tmp_path, text, expected):
    """What its file says of truncation, padding and tokens around a text counts for nothing."""
    assert tokenizer_json(json_tokenizer(tmp_path / "t.json"))(text) == expected
    assert tokenizer_json(tmp_path / "t.json")(text * 100) >= expected * 90


@pytest.mark.parametrize(
    ("encoding", "text", "pieces"),
    [
        ("cl100k_base", "It's done: HTTPServer, 12345!\n\n  x\r\n", ["It", "'s", " done", ":", " HTTPServer", ",", " ",
         "123", "45", "!\n\n", " ", " x", "\r\n"]),
        ("o200k_base", "It's done: HTTPServer, 12345!\n\n  x\r\n", ["It's", " done", ":", " HTTPServer", ",", " ",
         "123", "45", "!\n\n", " ", " x", "\r\n"]),
        ("o200k_base", "camelCase a/b//\nÜBERgröße", ["camel", "Case", " a", "/b", "//\n", "ÜBERgröße"]),
    ],
)  # fmt: skip
def test_each_encoding_cuts_a_text_as_it_should(encoding, text, pieces):
    """Words, contractions, digits, signs and blanks are cut apart as the encoding's definition has it."""
    from tokenizers import Regex, pre_tokenizers

    split = pre_tokenizers.Split(Regex(PATTERNS[encoding]), behavior="isolated")
    assert [piece for piece, _ in split.pre_tokenize_str(text)] == pieces


@pytest.mark.parametrize("encoding", PATTERNS)
def test_the_encoding_in_a_folder_is_found(tmp_path, encoding):
    """A folder holds an encoding under its own name, or under the name that tiktoken's cache has for it."""
    address = f"https://openaipublic.blob.core.windows.net/encodings/{encoding}.tiktoken"
    cached = tmp_path / hashlib.sha1(address.encode()).hexdigest()
    cached.write_bytes(ranks())
    assert tiktoken(encoding, tmp_path)("thing") == 2
    (tmp_path / f"{encoding}.tiktoken").write_bytes(ranks([]))
    assert tiktoken(encoding, tmp_path)("thing") == 5


def test_identity_tells_files_apart(tmp_path):
    """Two files have two identities, the same bytes one, and the encoding is named."""
    for name, merges in (("one", MERGES), ("two", MERGES[:-1]), ("three", MERGES)):
        (tmp_path / name).write_bytes(ranks(merges))
    one, two, three = (identity(tiktoken("o200k_base", tmp_path / name)) for name in ("one", "two", "three"))
    assert one == three == f"tiktoken o200k_base {hashlib.sha256(ranks()).hexdigest()[:12]}"
    assert one != two
    data = json_tokenizer(tmp_path / "t.json").read_bytes()
    assert identity(tokenizer_json(tmp_path / "t.json")) == f"tokenizer.json {hashlib.sha256(data).hexdigest()[:12]}"


def test_a_text_longer_than_a_piece_counts_all_of_it(tmp_path):
    """Three pieces of words count as their parts do; the cuts add at most two tokens each."""
    (tmp_path / "ranks").write_bytes(ranks())
    count = tiktoken("cl100k_base", tmp_path / "ranks")
    words = " the" * (3 * PIECE_CHARACTERS_MAX // 4)
    assert 0 <= count(words) - 3 * PIECE_CHARACTERS_MAX // 4 <= 4


def test_a_million_blanks_end(tmp_path):
    """A run on which tiktoken's own pattern gives up is counted, in pieces."""
    (tmp_path / "ranks").write_bytes(ranks())
    assert tiktoken("cl100k_base", tmp_path / "ranks")(" " * 1_200_000) == 600_000


# by name -------------------------------------------------------------------------------------------


def test_a_name_counts_by_the_files_of_this_machine(tmp_path, monkeypatch):
    """An encoding, a model of OpenAI, a file and a model of Hugging Face count as their files in the caches say."""
    (tmp_path / "fb374d419588a4632f3f557e76b4b70aebbca790").write_bytes(ranks())
    (tmp_path / "9b5ad71b2ce5302211f9c61530b329a4922fc6a4").write_bytes(ranks(()))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    counts = {name: named(name)(" thing") for name in ("tiktoken:o200k_base", "gpt-4o", "gpt-oss-120b", "gpt-4")}
    assert counts == {"tiktoken:o200k_base": 2, "gpt-4o": 2, "gpt-oss-120b": 2, "gpt-4": 6}
    model = tmp_path / "models--maker--small"
    (model / "refs").mkdir(parents=True)
    (model / "refs" / "main").write_text("c0ffee")
    file = model / "snapshots" / "c0ffee" / "tokenizer.json"
    file.parent.mkdir(parents=True)
    json_tokenizer(file)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    for name in (f"tokenizers:{file}", "tokenizers:maker/small", "maker/small"):
        assert named(name)("a thing") == 3
    with Memory.open(tmp_path / "store") as memory:
        memory.session("s").user("A thing.")
        window = memory.session("s").window(4_000, counter="gpt-4o")
        assert window.request().anatomy.counter == identity(named("gpt-4o"))
        assert memory.verify().ok


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gpt-4o", "get_encoding.'o200k_base'. once .*TIKTOKEN_CACHE_DIR"),
        ("tiktoken:r50k", "an encoding is one of"),
        ("sonnet", "expected a model of OpenAI, tiktoken:ENCODING.* got 'sonnet'"),
        ("maker/large", "hf download maker/large tokenizer.json"),
        ("tokenizers:absent.json", "got 'absent.json'. Nothing is downloaded"),
    ],
)
def test_a_name_without_a_file_says_what_to_do(tmp_path, monkeypatch, name, expected):
    """Nothing is downloaded or guessed: the error says which command brings the file, or which names there are."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "absent"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(InvalidArgument, match=expected):
        named(name)


# what is refused -----------------------------------------------------------------------------------


def test_an_unknown_encoding_is_refused(tmp_path):
    """An encoding whose pattern is not known is refused, and the known ones are named."""
    (tmp_path / "ranks").write_bytes(ranks())
    with pytest.raises(InvalidArgument, match="cl100k_base, o200k_base; got 'gpt-4'"):
        tiktoken("gpt-4", tmp_path / "ranks")


def test_an_empty_folder_says_how_to_get_the_file(tmp_path):
    """Nothing is downloaded: the error names both files it looked for, and the call that fetches them."""
    with pytest.raises(InvalidArgument, match=r"o200k_base.tiktoken or fb374d.* found neither.*get_encoding") as raised:
        tiktoken("o200k_base", tmp_path)
    assert "Nothing is downloaded" in str(raised.value)


@pytest.mark.parametrize("make", [lambda path: tiktoken("o200k_base", path), tokenizer_json], ids=["ranks", "json"])
def test_a_missing_file_is_refused(tmp_path, make):
    """A file that is not there is named, with what the system says and that nothing is downloaded."""
    with pytest.raises(InvalidArgument, match=r"absent, got: No such file.*nothing is downloaded"):
        make(tmp_path / "absent")


def test_a_file_of_another_size_is_refused(tmp_path):
    """A file over the limit is refused before it is read as a whole."""
    with (tmp_path / "large").open("wb") as file:
        file.truncate(FILE_BYTES_MAX + 1)  # a hole, no bytes on disk
    with pytest.raises(InvalidArgument, match="at most 268,435,456 bytes"):
        tokenizer_json(tmp_path / "large")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x00\x01 not base64\n", "a token in base64 and its rank"),
        (b"IQ== one\n", "a token in base64 and its rank"),
        (b"IQ==\n", "a token in base64 and its rank"),
        (b"", "256 have none"),
        (ranks()[: len(ranks()) // 2], "have none: the file is cut short"),
    ],
)
def test_what_are_no_ranks_is_refused(tmp_path, data, said):
    """Other lines than ranks, and ranks that leave a byte out, are refused with what was expected."""
    (tmp_path / "ranks").write_bytes(data)
    with pytest.raises(InvalidArgument, match=said):
        tiktoken("cl100k_base", tmp_path / "ranks")


@pytest.mark.parametrize("data", [b"", b"{}", b"[1, 2]", b"\xff", json.dumps({"model": {"type": "?"}}).encode()])
def test_what_is_no_tokenizer_json_is_refused(tmp_path, data):
    """A file of another form is refused, whatever the package says of it."""
    (tmp_path / "t.json").write_bytes(data)
    with pytest.raises(InvalidArgument, match=r"expected the bytes of a tokenizer.json"):
        tokenizer_json(tmp_path / "t.json")


@pytest.mark.parametrize("package", ["tiktoken", "tokenizers"])
def test_without_the_package_the_extra_is_named(tmp_path, monkeypatch, package):
    """Where the package is not installed, the error names the extra that brings it."""
    monkeypatch.setitem(sys.modules, package, None)
    path = tmp_path / "file"
    path.write_bytes(ranks())
    with pytest.raises(InvalidArgument, match=rf"needs {package}: pip install 'firsthand\[tokens\]'"):
        tiktoken("cl100k_base", path) if package == "tiktoken" else tokenizer_json(path)


# beside the real files -----------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", PATTERNS)
def test_as_tiktoken_itself(encoding):
    """With the real ranks, counts are those of tiktoken's own encoding of that name."""
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", "")
    try:
        count = tiktoken(encoding, folder or "absent")
    except InvalidArgument as absent:
        pytest.skip(f"TIKTOKEN_CACHE_DIR names no folder with {encoding}: {absent}")
    import tiktoken as package

    own = package.get_encoding(encoding)
    for text in (
        "It's 12345 HTTPServer's\r\n\r\n  größe//\n 東京 \u0301x <|endoftext|>",
        "\t\tx = {'a': [1, 2]}\n" * 40,
    ):
        assert count(text) == len(own.encode_ordinary(text))
