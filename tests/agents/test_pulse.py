"""When each hook last fired."""

from __future__ import annotations

from firsthand.agents.pulse import Fired, beat, fired
from firsthand.hosts.hook import HookEvent
from firsthand.moment import Moment


def test_the_last_time_of_each_hook_is_told(tmp_path):
    """One entry a host and event, with the newest time; a strange file is passed over."""
    assert fired(tmp_path) == ()
    for second in (5, 9):
        beat(tmp_path, "codex", HookEvent.SESSION_START, Moment(second * 1_000_000))
    beat(tmp_path, "cursor", HookEvent.STOP, Moment(7_000_000))
    (tmp_path / "hooks" / "fired" / "strange").touch()
    assert fired(tmp_path) == (
        Fired("codex", HookEvent.SESSION_START, Moment(9_000_000)),
        Fired("cursor", HookEvent.STOP, Moment(7_000_000)),
    )
