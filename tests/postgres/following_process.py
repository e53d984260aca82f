"""A process that follows a namespace into a folder until it is ended, and says which position it has reached.

python following_process.py DSN NAMESPACE FOLDER FAULT
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from kill_faults import FAULTS

from firsthand.index.text import TextIndex
from firsthand.log.postgres.replicas import Replicas


def main() -> None:
    dsn, namespace, folder, fault = sys.argv[1:]
    FAULTS[fault]()
    replica = Replicas(dsn, Path(folder), Path(folder), 10**12).open_log(namespace, indexes=(TextIndex(),))
    os.write(1, b"ready\n")
    while True:
        replica.follow()
        os.write(1, f"{replica.local.reader.head(namespace)[0]}\n".encode())


if __name__ == "__main__":
    main()
