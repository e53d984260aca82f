"""One writer of `figure_writers`: appends until the time is up and reports how many in each second.

``python writer_process.py ours|bare PATH NAME START SECONDS TEXTS`` with START in
seconds of the system clock and TEXTS a JSON file. Prints a JSON list, one number
for each second from START on.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path


def main() -> None:
    engine, path, name, start, seconds, texts = sys.argv[1:]
    append = _opened(engine, Path(path), name)
    begin, full_seconds = float(start), int(seconds)
    counts = [0] * full_seconds
    words = json.loads(Path(texts).read_text(encoding="utf-8"))
    time.sleep(max(0.0, begin - time.time()))
    number = 0
    while True:
        append(words[number % len(words)])
        number += 1
        second = int(time.time() - begin)  # an event counts in the second in which it was acknowledged
        if second >= full_seconds:
            break
        counts[second] += 1
    print(json.dumps(counts))


def _opened(engine: str, path: Path, name: str) -> Callable[[str], object]:
    if engine == "ours":
        from firsthand import Memory

        return Memory(path).session(name).user
    from engines import RowsAndIndex

    return RowsAndIndex(path).append


if __name__ == "__main__":
    main()
