"""Run the command line as ``python -m firsthand``."""

from __future__ import annotations

import sys

if not sys.flags.safe_path:
    del sys.path[0]  # the current folder, which may be a stranger's checkout: no file of it stands in for a library

from firsthand.cli.cli import main

sys.exit(main())
