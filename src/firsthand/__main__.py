"""Run the command line as ``python -m firsthand``."""

from __future__ import annotations

import sys

from firsthand.doors.cli import main

sys.exit(main())
