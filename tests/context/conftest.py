"""Lets pytest tell in full what asserts of the helpers compare."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("pack_windows")
