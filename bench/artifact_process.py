"""One reading of memory for `figure_artifact`: what a process with Firsthand needs at its highest.

``python artifact_process.py idle|append STORE BYTES`` prints a JSON object. The
payload is made while it is read, so that no copy of it stands in this process.
"""

from __future__ import annotations

import hashlib
import json
import resource
import sys
import time
from pathlib import Path

from firsthand import Memory

LINE = "{0:012d} INFO worker-{1} wrote /var/data/part-{2:05d}.parquet checksum {3} in {4} ms\n"
LINES_A_PIECE = 4_096


class Log:
    """A build log of a given size that is made as it is read; every line is another one."""

    def __init__(self, size_bytes: int) -> None:
        self._left, self._number, self._ready = size_bytes, 0, b""
        self.digest = hashlib.sha256()

    def read(self, size: int, /) -> bytes:
        if not self._ready:
            self._ready = b"".join(self._line() for _ in range(LINES_A_PIECE))
        piece = self._ready[: min(size, self._left)]
        self._ready = self._ready[len(piece) :]
        self._left -= len(piece)
        self.digest.update(piece)
        return piece

    def _line(self) -> bytes:
        self._number += 1
        n = self._number
        mixed = hashlib.blake2b(n.to_bytes(8, "big"), digest_size=8).hexdigest()
        return LINE.format(n, n % 17, n % 99_991, mixed, n * 7_919 % 5_003).encode()


def main() -> None:
    what, store, size = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    memory = Memory(store)
    result: dict[str, float | bool] = {}
    if what == "append":
        session = memory.session("bench")
        source = Log(size)
        before = time.perf_counter()
        appended = session.tool_result(session.tool_call("bash", {"command": "make"}), source)
        result["append_seconds"] = time.perf_counter() - before
        digest = hashlib.sha256()
        before = time.perf_counter()
        for piece in memory.stream(appended.pointer):
            digest.update(piece)
        result["expand_seconds"] = time.perf_counter() - before
        result["same_bytes"] = digest.digest() == source.digest.digest()
    memory.close()
    print(json.dumps(result | {"peak_megabytes": peak_megabytes()}))


def peak_megabytes() -> float:
    """Read the most memory this process held at once.

    Linux carries ``ru_maxrss`` over from the process that started this one, so
    the kernel's own high-water mark of this program is read where there is one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


if __name__ == "__main__":
    main()
