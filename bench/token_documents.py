"""Documents to count tokens of: every text of a data folder, its JSON as it stands, code, and what programs make.

Knows no tokenizer.
"""

from __future__ import annotations

import base64
import json
import random
import sysconfig
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LINES = 20  # of a log, in one document
CODE_CHARACTERS_MAX = 20_000
MADE_BYTES = 600


@dataclass(frozen=True, slots=True)
class Document:
    """A text, the data set it is of, and the session it belongs to."""

    kind: str
    session: str
    text: str

    @property
    def is_made(self) -> bool:
        """Whether a program made it here, so that it is not of anyone's data."""
        return self.kind.startswith("made: ")


def documents(data: Path) -> list[Document]:
    """Give each text of the folder once a session, then code of the standard library and made texts."""
    found = [*_of_folder(data), *_code(), *_made()]
    return list(dict.fromkeys(one for one in found if one.text))


def _of_folder(data: Path) -> Iterator[Document]:
    for file in sorted(data.rglob("*")):
        name = file.relative_to(data).parts[0]
        if file.suffix in {".json", ".traj"}:
            held = json.loads(file.read_bytes())
            for number, part in enumerate(held if isinstance(held, list) else [held]):
                session = f"{file.relative_to(data)} {number}"
                yield from (Document(name, session, text) for text in _strings(part))
                if len(raw := json.dumps(part)) <= MADE_BYTES * 1_000:
                    yield Document(f"{name}, JSON", session, raw)
        elif file.suffix == ".jsonl":
            for line in file.read_bytes().decode("utf-8", "replace").splitlines():
                yield Document(f"{name}, JSON", str(file), line)
                yield from (Document(name, str(file), text) for text in _strings(json.loads(line)))
        elif file.suffix == ".txt" and not file.name.endswith(".annotation.txt"):
            text = file.read_bytes().decode("utf-8", "replace")
            lines = text.splitlines(keepends=True)
            parts = range(0, len(lines), LINES) if ".ascii." in file.name else range(1)
            yield from (
                Document(name, str(file), "".join(lines[at : at + LINES]) if len(parts) > 1 else text) for at in parts
            )


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value.encode("utf-8", "replace").decode()
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def _code() -> Iterator[Document]:
    for file in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[::3]:
        yield Document("Python's library", file.name, file.read_text("utf-8", "replace")[:CODE_CHARACTERS_MAX])


def _made() -> Iterator[Document]:
    chance = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    for number in range(20):
        some = chance.randbytes(MADE_BYTES)
        made = {
            "base64": base64.b64encode(some).decode(),
            "base32": base64.b32encode(some).decode(),
            "base85": base64.b85encode(some).decode(),
            "hex": some.hex(),
            "hex in capitals": some.hex().upper(),
            "UUIDs": "\n".join(str(uuid.UUID(bytes=some[at : at + 16])) for at in range(0, 592, 16)),
            "digits": "".join(str(byte) for byte in some),
            "decimal fractions": ", ".join(f"{byte * 1.2345:.6f}" for byte in some),
            "repr of bytes": repr(some),
            "JSON escapes": json.dumps("".join(chr(chance.randint(0x20, 0x2FF)) for _ in range(300))),
            "single letters": " ".join(chance.choice(letters) for _ in range(300)),
            "words of random capitals": " ".join(
                "".join(chance.choices(letters.upper(), k=chance.randint(1, 12))) for _ in range(200)
            ),
            "emoji": "".join(chr(chance.randint(0x1F300, 0x1F64F)) for _ in range(200)),
            "random letters": "".join(chance.choices(letters, k=1_000)),
            "random signs": "".join(chance.choices("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", k=500)),
        }
        yield from (Document(f"made: {kind}", str(number), text) for kind, text in made.items())
    for sign, kind in ((" ", "spaces"), ("\n", "line ends"), ("\t", "tabs"), ("-", "dashes"), ("=", "equals signs")):
        yield from (Document(f"made: {kind}", str(size), sign * size) for size in (5_000, 20_000))
