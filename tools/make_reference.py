"""Write docs/commands.md anew from the help of every command, so that the two never differ.

Run it with `make docs`; a test compares the file with what this makes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from firsthand.cli.arguments import parser

TARGET = Path(__file__).resolve().parents[1] / "docs" / "commands.md"
_HEAD = """# Commands

Written by `make docs` from the help of each command; do not edit it by hand. `fh` is short for `firsthand`.

What is piped is plain: no colour, no cutting to the width of a terminal, no progress. Remarks and progress go to
standard error, the answer alone to standard output. `--json` gives one JSON value a line, all ASCII; bytes that are
not UTF-8 stand as `{"base64": ...}`.
"""


def reference() -> str:
    """Give the whole text of the command reference."""
    top = parser(("eval",))
    parts = [_HEAD, _section("firsthand", top)]
    parts += [_section(f"firsthand {name}", one) for name, one in _commands(top)]
    return "\n".join(parts)


def _commands(above: argparse.ArgumentParser, before: str = "") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield each command below a parser by its words; a command of commands comes before its own."""
    above.format_help()  # a command learns its arguments when it is first used
    for action in above._actions:  # noqa: SLF001 - argparse has no other way to ask for them
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for name, one in action.choices.items():
                yield f"{before}{name}", one
                yield from _commands(one, f"{before}{name} ")


def _section(title: str, one: argparse.ArgumentParser) -> str:
    return f"## {title}\n\n```text\n{one.format_help().rstrip()}\n```\n"


def main() -> int:
    TARGET.write_text(reference(), encoding="utf-8")
    print(f"wrote {TARGET}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
