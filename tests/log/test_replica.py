"""A replica answers for its engine's namespace: the same events, the same recall, nothing stale, nothing erased."""

from __future__ import annotations
