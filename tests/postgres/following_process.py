"""A process that follows a namespace into a folder until it is ended, and says which position it has reached.

python following_process.py DSN NAMESPACE FOLDER
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from firsthand.index.text import TextIndex
from firsthand.log.postgres.replica import open_replica


def main() -> None:
    dsn, namespace, folder = sys.argv[1:]
    replica = open_replica(dsn, namespace, Path(folder), indexes=(TextIndex(),))
    os.write(1, b"ready\n")
    while True:
        os.write(1, f"{replica.follow()}\n".encode())


if __name__ == "__main__":
    main()
