"""What a figure was measured on: processor, memory, file system, versions. Names no path and no host."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

import apsw

PACKAGES = ("firsthand", "apsw", "onnxruntime", "numpy", "backports.zstd")


def describe(work: Path) -> str:
    """Describe the machine in one line, with the file system that ``work`` lies on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = os.getloadavg()[0]
    return (
        f"{platform.system()} {platform.machine()}, {_processor()}, {os.cpu_count()} cores, {memory:.0f} GiB, "
        f"{file_system(work)}, load {load:.1f}"
    )


def versions() -> dict[str, str]:
    """Give the versions that were measured."""
    found = {"Python": platform.python_version(), "SQLite": apsw.sqlite_lib_version()}
    return found | {package: _version(package) for package in PACKAGES}


def _version(package: str) -> str:
    """Give the version of a package; a figure that does not need it is measured without."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def file_system(path: Path) -> str:
    """Name the file system of a folder; a sync on one that lives in memory costs nothing, so it is said aloud."""
    mounts = Path("/proc/mounts")
    if not mounts.exists():
        return "file system unknown"
    fields = [line.split() for line in mounts.read_text().splitlines()]
    holding = [(mount, kind) for _, mount, kind, *_ in fields if path.resolve().is_relative_to(mount)]
    kind = max(holding, key=lambda entry: len(entry[0]))[1]
    return "tmpfs (in memory: durable writes cost nothing here)" if kind == "tmpfs" else kind


def _processor() -> str:
    cpu = Path("/proc/cpuinfo")
    if not cpu.exists():
        return platform.processor() or "processor unknown"
    names = [line.split(":", 1)[1].strip() for line in cpu.read_text().splitlines() if line.startswith("model name")]
    return names[0] if names else "processor unknown"
