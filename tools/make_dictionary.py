"""Make the compression dictionary of event bodies, from text that this project makes itself.

    .venv/bin/python tools/make_dictionary.py src/firsthand/log/dictionary_1.bin

Three lists beside this file hold the material, all of it written for this
project: common words, most frequent first; turns of phrase of mail, talk and
agents; shapes of transcripts, tool output and source code with holes to fill.
Samples are generated from them by a seeded generator, so the same version of
zstd gives the same bytes again. No text of another project and no recorded
conversation goes in.

Stores depend on the bytes forever: a better dictionary is dictionary 2, beside
this one. It needs ``backports.zstd`` and prints size, id and SHA-256.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import sys
import uuid
from pathlib import Path

from backports.zstd import ZstdDict, finalize_dict, train_dict

from firsthand.event import encode_body
from firsthand.record import cut

DICTIONARY_BYTES_MAX = 65_536
LEVEL = 5  # the statistics serve levels 3 to 6 alike; log.compression picks its own
SEED = 1
SAMPLES = 6_000
TRAINED_BYTES = 48_000  # of the dictionary; the rest is the lists themselves
LISTS = Path(__file__).parent / "dictionary"
_HOLE = re.compile(r"\{(\w+)\}")
_ALPHANUMERIC = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789"
_EXTENSIONS = ("py", "ts", "md", "json", "txt", "js", "toml", "sh", "log")
_MEDIA = ("text/plain", "text/plain", "text/plain", "application/json", "text/markdown")


class Author:
    """Writes samples. One seed, one text."""

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)
        self.words = (LISTS / "words.txt").read_text().split()
        self.phrases = [line for line in (LISTS / "phrases.txt").read_text().split("\n") if line]
        self.shapes = (LISTS / "shapes.txt").read_text().split("%%\n")
        self._lines = [
            line.strip()
            for shape in self.shapes
            if "import" in shape
            for line in shape.split("\n")
            if line and "{code}" not in line
        ]
        self._weights = [1 / (rank + 8) for rank in range(len(self.words))]

    def fill(self, shape: str) -> str:
        """Fill the holes of a shape; a word drawn for one is often drawn for the next one too."""
        names = [self.word() for _ in range(4)]

        def filled(match: re.Match[str]) -> str:
            hole = match[1]
            if hole in ("word", "Word"):
                name = self._draw.choice(names)
                return name.capitalize() if hole == "Word" else name
            maker = getattr(self, f"_{hole}", None)
            return maker() if maker is not None else match[0]

        return _HOLE.sub(filled, shape)

    def word(self) -> str:
        return self._draw.choice([w for w in self._draw.choices(self.words, k=4) if len(w) > 2] or self.words)

    def talk(self, sentences: int, *, spaced: bool = False) -> str:
        """Write sentences of phrases and words; ``spaced`` as old mail archives keep them, lower case, sign by sign."""
        out: list[str] = []
        for _ in range(sentences):
            parts: list[str] = []
            while len(parts) < self._draw.randrange(3, 12):
                if self._draw.random() < 0.35:
                    parts.append(self._draw.choice(self.phrases).strip())
                else:
                    parts += self._draw.choices(self.words, self._weights, k=self._draw.randrange(1, 5))
            sentence = " ".join(parts)
            if spaced:
                sentence = re.sub(r"([^\w\s])", r" \1 ", sentence.lower()).replace("  ", " ")
                out.append(sentence + self._draw.choice((" .", " .", " ,", " ?")))
            else:
                out.append(sentence[:1].upper() + sentence[1:] + self._draw.choice((".", ".", "!", "?", ",", ":")))
        return self._draw.choice((" ", " ", "\n", "\n\n")).join(out)

    def sample(self) -> bytes:
        """Write one event body."""
        chance = self._draw.random()
        if chance < 0.30:
            text = self.talk(self._draw.randrange(1, 8))
        elif chance < 0.45:
            text = self.talk(self._draw.randrange(2, 10), spaced=True)
        else:
            text = "\n".join(self.fill(self._draw.choice(self.shapes)) for _ in range(self._draw.randrange(1, 3)))
            start = self._draw.randrange(max(1, len(text) // 2))
            text = text[start:] if self._draw.random() < 0.5 else text
        content = text[: self._draw.randrange(100, 3000)].encode()
        envelope, meta = self._record(content) if self._draw.random() < 0.4 else (b"", self._meta())
        return encode_body(self._draw.choice(_MEDIA).encode(), meta, envelope, content)

    def _record(self, content: bytes) -> tuple[bytes, bytes]:
        """Wrap a content in the line of a host, and cut it out again as the import does."""
        line = self.fill(self._draw.choice([shape for shape in self.shapes if shape.startswith("{")]))
        spelled = json.dumps(content.decode(), ensure_ascii=False)
        raw = re.sub(r'"text":"[^"]*"|"content":"[^"]*"', lambda _: '"text":' + spelled, line, count=1).encode()
        return cut(raw, [content]), self._meta()

    def _meta(self) -> bytes:
        shown = {
            "call_id": f"toolu_01{self._id22()}",
            "tool": self._draw.choice(("bash", "read", "edit", "Bash", "Read")),
        }
        if self._draw.random() < 0.3:
            shown = {"role": self._draw.choice(("user", "assistant", "tool")), "model": "claude-opus-4-5"}
        return json.dumps(shown, separators=(",", ":")).encode() if self._draw.random() < 0.7 else b""

    # what fills a hole -------------------------------------------------------------------------------

    def _sentence(self) -> str:
        return self.talk(1)

    def _mail(self) -> str:
        return self.talk(2, spaced=True)

    def _code(self) -> str:
        return self.fill(self._draw.choice(self._lines))

    def _path(self) -> str:
        folders = self._draw.choices(("src", "lib", "tests", "packages", "docs", "core", "utils", self.word()), k=2)
        return f"{'/'.join(folders)}/{self.word()}_{self.word()}.{self._draw.choice(_EXTENSIONS)}"

    def _number(self) -> str:
        return str(int(10 ** self._draw.uniform(0.5, 5)))

    def _two(self) -> str:
        return f"{self._draw.randrange(60):02}"

    def _hex(self) -> str:
        return f"{self._draw.getrandbits(28):07x}"

    def _sha(self) -> str:
        return f"{self._draw.getrandbits(160):040x}"

    def _uuid(self) -> str:
        return str(uuid.UUID(int=self._draw.getrandbits(128), version=4))

    def _id22(self) -> str:
        return "".join(self._draw.choices(_ALPHANUMERIC, k=22))

    def _id24(self) -> str:
        return "".join(self._draw.choices(_ALPHANUMERIC, k=24))

    def _iso(self) -> str:
        month, day, hour = self._draw.randrange(1, 13), self._draw.randrange(1, 29), self._draw.randrange(24)
        return f"2025-{month:02}-{day:02}T{hour:02}:{self._two()}:{self._two()}.{self._draw.randrange(1000):03}Z"

    def _name(self) -> str:
        return f"{self.word().capitalize()} {self.word().capitalize()}"


def content_of(author: Author, samples: list[bytes]) -> bytes:
    """Put the dictionary's content together; what stands last costs least to refer to."""
    trained = train_dict(samples, TRAINED_BYTES).dict_content
    shapes = "\n".join(_HOLE.sub("", shape) for shape in author.shapes)
    words = " ".join(author.words[::-1])
    phrases = " ".join(author.phrases)
    listed = f"{words} {shapes} {phrases}".encode()
    return listed[-(DICTIONARY_BYTES_MAX - TRAINED_BYTES - 1024) :] + trained[1024:]


def main() -> int:
    target = Path(sys.argv[1])
    author = Author(SEED)
    samples = [author.sample() for _ in range(SAMPLES)]
    basis = ZstdDict(content_of(author, samples), is_raw=True)
    content = finalize_dict(basis, samples, DICTIONARY_BYTES_MAX, LEVEL).dict_content
    target.write_bytes(content)
    found = ZstdDict(content)
    print(f"{target}: {len(content):,} bytes, id {found.dict_id}, sha256 {hashlib.sha256(content).hexdigest()}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
