"""Power loss at every step of the medium, simulated below SQLite and below the artifacts."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from medium import Ledger, RecordingDisk, RecordingVFS

from firsthand.errors import Unresolvable
from firsthand.event import Draft, Kind
from stores import SOAK, assert_whole, open_log

KEEP = ("nothing", "beginning", "some", "everything")
SEEDS = range(8 if SOAK else 1)


def recorded_run(root: Path, ledger: Ledger, synchronous: str = "") -> None:
    """Make a store and work with it: single events, batches, artifacts, checkpoints in between."""
    vfs = RecordingVFS(f"power {root}", ledger)
    log = open_log(root, vfs=vfs.name, disk=RecordingDisk(ledger), inline_max=200)
    if synchronous:
        log.writer.pragma("synchronous", synchronous)
    log.writer.wal_autocheckpoint(12)
    for number in range(60 if SOAK else 10):
        contents = [
            f"event {number} part {part} ".encode() * (40 if number % 5 == 2 else 1) for part in range(1 + number % 3)
        ]
        appended = log.append(
            [Draft(Kind.NOTE, content) for content in contents], namespace="default", session=f"session {number % 2}"
        )
        ledger.acknowledge([(one.id, content) for one, content in zip(appended, contents, strict=True)])
    log.close()


def materialise(files: dict[str, bytes], recorded: Path, root: Path) -> None:
    """Write what a crash left to another place."""
    for path, data in files.items():
        target = root / Path(path).relative_to(recorded)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    root.mkdir(parents=True, exist_ok=True)


def lost_after(ledger: Ledger, moment: int, keep: str, seed: int, recorded: Path, root: Path) -> int:
    """Recover from a crash and say how many acknowledged events are not there; all else must be whole."""
    materialise(ledger.left_by_a_crash(moment, keep, seed), recorded, root)
    log = open_log(root)
    lost = 0
    for identifier, content in (pair for batch in ledger.acknowledged(moment) for pair in batch):
        lost += not holds(log, identifier, content)
    log.append([Draft(Kind.NOTE, b"after the crash")], namespace="default", session="session 0")
    assert_whole(log)
    log.close()
    shutil.rmtree(root)
    return lost


def holds(log, identifier: str, content: bytes) -> bool:
    try:
        event = log.reader.event("default", identifier)
    except Unresolvable:
        return False
    assert log.reader.content(event) == content
    return True


def moments(ledger: Ledger) -> range:
    return range(len(ledger.steps) + 1)


@pytest.mark.parametrize("keep", KEEP)
def test_no_power_loss_takes_an_acknowledged_event(tmp_path, keep):
    """Whenever the power fails, and whatever of the unsynced writes survives, what was acknowledged is there."""
    ledger = Ledger()
    recorded = tmp_path / "recorded"
    recorded_run(recorded, ledger)
    assert len(ledger.steps) > 100
    for seed in SEEDS:
        for moment in moments(ledger):
            lost = lost_after(ledger, moment, keep, seed, recorded, tmp_path / f"{seed}-{moment}")
            assert lost == 0, f"moment {moment}, seed {seed}"


def test_the_simulation_convicts_a_weaker_setting(tmp_path):
    """With ``synchronous=NORMAL`` the same simulation finds lost events: it can see what it looks for."""
    ledger = Ledger()
    recorded = tmp_path / "recorded"
    recorded_run(recorded, ledger, "NORMAL")
    lost = [
        lost_after(ledger, moment, "nothing", 0, recorded, tmp_path / f"{moment}") for moment in moments(ledger)[::3]
    ]
    assert max(lost) > 0
