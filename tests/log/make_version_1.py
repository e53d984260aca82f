"""Makes ``version_1.tar.xz``: two stores of version 1 and what they said of themselves.

Run with the first edition (commit d36c38b) on the path:

    PYTHONPATH=first/src python tests/log/make_version_1.py tests/log/version_1.tar.xz
"""

from __future__ import annotations

import io
import json
import sys
import tarfile
import tempfile
from pathlib import Path

from firsthand import Kind, Memory, sweep
from firsthand.event import Draft
from firsthand.ledger.decision_log import ledger_of

PORTS = ("The staging port is 8080.", "The staging port is now 8443.", "Change it to 9000.")


def turn(number: int) -> list[dict[str, object]]:
    """Make a question, a tool call, its result and an answer."""
    filler = " ".join(f"word{number}x{k}" for k in range(60))
    function = {"name": "bash", "arguments": json.dumps({"command": f"cat module{number}.py"})}
    return [
        {"role": "user", "content": f"Question {number} about module{number}?"},
        {
            "role": "assistant", "content": None,
            "tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": f"call_{number}", "content": f"module{number} says {filler}"},
        {"role": "assistant", "content": f"Answer {number}."},
    ]  # fmt: skip


def several(folder: Path) -> dict[str, object]:
    """Two namespaces, turn about: a window with receipts and anatomies, a ledger, an artifact, an erasure."""
    with Memory.open(folder, namespace="work") as work, Memory.open(folder, namespace="home") as home:
        window = work.session("s").window(2_000)
        messages: list[dict[str, object]] = []
        ledgers = []
        for number in range(12):
            messages += turn(number)
            window.request(messages[:-1])
            home.session("talk").user(PORTS[number] if number < len(PORTS) else f"Home thought {number}.")
            if number % 4 == 2:
                sweep(home)
                ledgers.append(int(home.head().partition(":")[0]))
        home.append([Draft(Kind.DOCUMENT, bytes(range(256)) * 100)], session="files")
        (gone,) = work.append([Draft(Kind.NOTE, b"an erased secret")], session="notes")
        head = work.head()
        work.erase([gone])
        return {
            "kept_head": head,
            "head": work.head(),
            "events": {m.namespace: [(e.id, e.position, e.chain.hex()) for e in m.events()] for m in (work, home)},
            "replays": {a.pointer: (a.sha256, a.through) for a in work.anatomies()},
            "decisions": [(d.id, d.position, d.through) for d in ledger_of(home).decisions()],
            "ledgers": {at: {k: d.id for k, d in ledger_of(home).at(at).latest.items()} for at in ledgers},
            "receipts": sum(1 for _ in work.events(kind=Kind.RECEIPT)),
        }


def single(folder: Path) -> dict[str, object]:
    """One namespace: three messages, one of them erased."""
    with Memory.open(folder) as memory:
        texts = ("red boat", "blue boat", "green boat")
        pointers = [memory.session("s").user(text).pointer for text in texts]
        head = memory.head()
        memory.erase([pointers[1]])
        return {"kept_head": head, "head": memory.head(), "pointers": pointers}


def main() -> None:
    """Write the archive."""
    with tempfile.TemporaryDirectory() as name, tarfile.open(sys.argv[1], "w:xz") as archive:
        folder = Path(name)
        told = {"several": several(folder / "several"), "single": single(folder / "single")}
        (folder / "said.json").write_text(json.dumps(told))
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.name != "lock" and "queue" not in path.parts and "cache" not in path.parts:
                info = tarfile.TarInfo(str(path.relative_to(folder)))
                info.size, info.mode = path.stat().st_size, 0o600
                archive.addfile(info, io.BytesIO(path.read_bytes()))


if __name__ == "__main__":
    main()
