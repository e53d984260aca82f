"""docs/test-your-memory.md does what it shows: its files and commands print what stands there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

HOME = Path(__file__).resolve().parents[3]
PAGE = (HOME / "docs" / "test-your-memory.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(?:(py) (\S+)|(console))\n(.*?)^```", re.MULTILINE | re.DOTALL)


def follow(folder: Path) -> list[tuple[str, str, str]]:
    """Do what the page says, in order; give each command, what the page shows of it, and what it printed."""
    done = []
    for _, name, console, body in FENCE.findall(PAGE):
        if not console:
            with (folder / name).open("a", encoding="utf-8") as file:
                file.write(body)
            if "class Notes" in body:  # "write `from toy import Notes as write`"
                test = folder / "test_toy.py"
                test.write_text(test.read_text("utf-8").replace("import write", "import Notes as write"), "utf-8")
            continue
        typed, _, shown = body.removeprefix("$ ").partition("\n")
        done.append((typed, shown, typed_in(typed, folder)))
    return done


def typed_in(command: str, folder: Path) -> str:
    bin_ = str(Path(sys.executable).parent)
    environment = {
        "PATH": f"{bin_}{os.pathsep}{os.environ.get('PATH', '')}",
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",  # a file that is changed within its second would be taken from there
    }
    return subprocess.run(
        shlex.split(command), cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=300, check=False,
    ).stdout  # fmt: skip


def missing(shown: str, printed: str) -> list[str]:
    """Give the shown lines that were not printed, in their order; how long it took may differ."""
    left = iter([timeless(line) for line in printed.splitlines()])
    wanted = [timeless(line) for line in shown.splitlines() if line != "..."]
    return [line for line in wanted if not any(line == one for one in left)]


def timeless(line: str) -> str:
    return re.sub(r"in \d+\.\d+s", "in a moment", line.rstrip())


def test_a_stranger_gets_what_the_page_shows(tmp_path):
    """Its files and commands, in an empty folder and an empty home, give the output that the page shows."""
    done = follow(tmp_path)
    assert [typed.split()[0] for typed, _, _ in done] == ["python", "python", "firsthand", "python"]
    for typed, shown, printed in done:
        assert missing(shown, printed) == [], f"{typed}\n{printed}"
    assert (tmp_path / "report.html").stat().st_size > 10_000
    assert "firsthand correctable Notes" in (tmp_path / "report.xml").read_text("utf-8")


def test_the_memories_of_the_page_are_the_example():
    """What the page shows as toy.py is examples/toy_memory.py, apart from its docstring."""
    example = (HOME / "examples" / "toy_memory.py").read_text(encoding="utf-8")
    parts = [body.removeprefix("import re\n").strip() for _, name, _, body in FENCE.findall(PAGE) if name == "toy.py"]
    assert len(parts) == 2
    assert [part for part in parts if part not in example] == []
