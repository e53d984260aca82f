"""A process that talks and compacts without end, and says of each compaction when it begins and what came of it."""

from __future__ import annotations

import sys

from firsthand import Budget, Memory


def main(store: str) -> None:
    with Memory.open(store) as memory:
        window = memory.session("s").window(Budget(1_500, hot_turns=1), pull=False)
        number = memory.stats().events
        while True:
            number += 1
            window.add(
                [
                    {"role": "user", "content": f"Where is part {number} of /srv/data/part-{number}.bin?"},
                    {"role": "assistant", "content": f"Part {number} is on shelf {number * 7} " + "and so on " * 40},
                ]
            )
            print("begins", window.state.cycle, flush=True)
            window.compact()
            print("done", window.state.cycle, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
