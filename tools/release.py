"""Build both distributions, look into them, and live through the README with what was built, before a release.

    python tools/release.py            build twice, compare, check; then install and try in each Python that is here
    python tools/release.py --no-try   without the installing, which fetches dependencies from the index

Needs `hatchling` and `twine` beside the interpreter that runs it. Each step says ok, or ends with what is wrong; what
was not tried is said at the end. `tests/test_distributions.py` does the building at every test run.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from shutil import which

ROOT = Path(__file__).resolve().parents[1]
DISTRIBUTIONS = (ROOT, ROOT / "packages" / "firsthand-evals")
PYTHONS = ("3.11", "3.12", "3.13")
BYTES_MAX = 2_500_000
EPOCH = "1577836800"  # what is built says nothing of when
NEEDED = {
    "firsthand": (
        "firsthand/py.typed", "firsthand/log/dictionary_1.bin", "firsthand/server/inspector/static/style.css",
        "firsthand/server/inspector/templates/base.html",
    ),
    "firsthand_evals": (
        "firsthand_evals/py.typed", "firsthand_evals/registry.toml", "firsthand_evals/templates/page.html",
    ),
}  # fmt: skip
README_STEPS = (
    "firsthand --version", "firsthand install", "firsthand demo", "firsthand import", "firsthand doctor",
    "python readme.py", "firsthand serve --stop",
)  # fmt: skip


def build(source: Path, into: Path) -> dict[str, Path]:
    """Build a distribution; give its wheel and its source archive, by suffix."""
    into.mkdir(parents=True)
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(into)], cwd=source, check=True, capture_output=True,
        env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH},
    )  # fmt: skip
    return {path.suffix: path for path in into.iterdir()}


def digest(path: Path) -> str:
    """Give the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def faults(wheel: Path, archive: Path) -> list[str]:
    """Say what a wheel and a source archive lack, or have too much of."""
    name = wheel.name.partition("-")[0]
    with zipfile.ZipFile(wheel) as opened, tarfile.open(archive) as packed:
        inside, sources = set(opened.namelist()), packed.getnames()
    wrong = [f"{wheel.name} lacks {path}" for path in NEEDED[name] if path not in inside]
    wrong += [f"{wheel.name} holds {path}" for path in inside if not path.startswith((f"{name}/", f"{name}-"))]
    wrong += [f"{archive.name} holds {path}" for path in sources if re.search(r"/(tests|bench|\.git)(/|$)", path)]
    wrong += [f"{archive.name} lacks {end}" for end in ("/LICENSE", "/README.md", "/pyproject.toml")
              if not any(path.endswith(end) for path in sources)]  # fmt: skip
    wrong += [
        f"{path.name} is over {BYTES_MAX:,} bytes" for path in (wheel, archive) if path.stat().st_size > BYTES_MAX
    ]
    return wrong


def interpreters() -> dict[str, str]:
    """Find the Pythons that are here, by version."""
    here = {version: which(f"python{version}") for version in PYTHONS}
    for version in PYTHONS:
        folder = next(iter(sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))), None)
        here[version] = str(folder) if folder is not None else here[version]
    return {version: path for version, path in here.items() if path and is_version(path, version)}


def is_version(python: str, version: str) -> bool:
    """Say whether an interpreter runs and is of a version."""
    done = subprocess.run([python, "--version"], capture_output=True, text=True, check=False)
    return done.stdout.startswith(f"Python {version}.")


def live(python: str, wheel: Path, folder: Path, *, extra: str) -> None:
    """Install a wheel into a new environment, and take the README's steps in an empty home."""
    subprocess.run([python, "-m", "venv", str(folder / "venv")], check=True)
    fresh, home = folder / "venv" / "bin", folder / "home"
    home.mkdir()
    named = f"firsthand{extra} @ {wheel.as_uri()}"
    subprocess.run([fresh / "python", "-m", "pip", "install", "--quiet", named], check=True, capture_output=True)
    blocks = re.findall(
        r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    (home / "readme.py").write_text("\n".join(blocks), encoding="utf-8")
    for step in README_STEPS:
        done = subprocess.run(
            ["env", "-i", f"HOME={home}", f"PATH={fresh}:/usr/bin:/bin", "LANG=C.UTF-8", *step.split()], cwd=home,
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        # Nothing is installed into a host here, and no session is there to import: both say so with 1.
        if done.returncode not in ((0, 1) if step.split()[1] in {"install", "import", "doctor"} else (0,)):
            raise SystemExit(f"{step} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        if "Traceback" in done.stderr:
            raise SystemExit(f"{step} broke:\n{done.stderr}")


def say(line: str) -> None:
    """Say a step at once."""
    print(line, flush=True)


def check_builds(folder: Path) -> list[Path]:
    """Build each distribution twice; give the wheels."""
    wheels = []
    for source in DISTRIBUTIONS:
        first, second = (build(source, folder / source.name / turn) for turn in ("1", "2"))
        for suffix, path in first.items():
            if digest(path) != digest(second[suffix]):
                raise SystemExit(f"{path.name}: two builds are not the same bytes")
            say(f"ok  {path.name}: {path.stat().st_size:,} bytes, twice the same, sha256 {digest(path)[:16]}...")
        if wrong := faults(first[".whl"], first[".gz"]):
            raise SystemExit("\n".join(wrong))
        checked = [sys.executable, "-m", "twine", "check", "--strict", *map(str, first.values())]
        if (done := subprocess.run(checked, capture_output=True, text=True, check=False)).returncode:
            raise SystemExit(done.stdout + done.stderr)
        say(f"ok  {source.name}: contents and twine check")
        wheels.append(first[".whl"])
    return wheels


def main(words: Iterable[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-try", action="store_true", help="build and look, and install nothing")
    chosen = parser.parse_args(None if words is None else [*words])
    with tempfile.TemporaryDirectory() as place:
        wheel, _ = check_builds(Path(place))
        here = {} if chosen.no_try else interpreters()
        for version, python in here.items():
            for extra in ("", "[agents]"):
                folder = Path(place) / f"{version}{extra}"
                folder.mkdir()
                live(python, wheel, folder, extra=extra)
                say(f"ok  Python {version}: firsthand{extra} installed, and the README's steps taken in an empty home")
        for version in PYTHONS:
            if version not in here:
                say(f"--  Python {version} was not tried")
    say("--  Python 3.14, macOS and Windows were not tried")


if __name__ == "__main__":
    main()
