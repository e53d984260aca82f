"""docs/commands.md is what --help says, and every option of it is used by a test."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def reference() -> str:
    spec = importlib.util.spec_from_file_location("make_reference", ROOT / "tools" / "make_reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.reference()


def test_the_reference_is_up_to_date():
    """The file in the repository is what `make docs` would write now."""
    assert (ROOT / "docs" / "commands.md").read_text(encoding="utf-8") == reference()


def test_every_option_appears_in_a_test():
    """There is no option that no test types."""
    declared = set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", reference(), re.MULTILINE))
    assert {"--store", "--explain", "--containing"} <= declared
    folders = (Path(__file__).parent, ROOT / "tests" / "postgres", ROOT / "packages" / "firsthand-evals" / "tests")
    typed = "".join(path.read_text(encoding="utf-8") for folder in folders for path in folder.glob("test_*.py"))
    assert {option for option in declared if f'"{option}"' not in typed} == set()
