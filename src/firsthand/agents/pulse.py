"""When each hook last fired: an empty file a host and event, whose time says it.

It costs a hook two calls of the operating system, and answers the question that
nobody asked for five days in the paper's case (recall-problem 5.2): do they still come?
"""

from __future__ import annotations

import os
from pathlib import Path

from firsthand.agents import small_files
from firsthand.hosts.hook import HookEvent
from firsthand.moment import Moment, now
from firsthand.value import value

FIRED_MAX = 1_000
CANARY = "canary"
"""The namespace of canaries: they run the hooks too, and must not make dead ones look alive."""


@value
class Fired:
    """A hook and when it last fired."""

    host: str
    event: HookEvent
    moment: Moment


def beat(store: Path, host: str, event: HookEvent, at: Moment | None = None) -> None:
    """Note that a hook fired.

    Raises:
        StoreError: it cannot be written.
    """
    folder = store / "hooks" / "fired"
    path = folder / f"{host}.{event.value.replace(' ', '-')}"
    nanoseconds = (at or now()).microseconds * 1000
    with small_files.ours(f"touch {path}"):
        try:
            os.utime(path, ns=(nanoseconds, nanoseconds), follow_symlinks=False)
        except FileNotFoundError:
            small_files.write(path, b"")
            os.utime(path, ns=(nanoseconds, nanoseconds))


def fired(store: Path) -> tuple[Fired, ...]:
    """Tell when each hook last fired, by host and event."""
    folder = store / "hooks" / "fired"
    known = {event.value.replace(" ", "-"): event for event in HookEvent}
    hooks = []
    for name in small_files.names(folder, "", FIRED_MAX):
        host, _, word = name.rpartition(".")
        if host and word in known:
            with small_files.ours(f"look at {folder / name}"):
                at = (folder / name).stat().st_mtime_ns
            hooks.append(Fired(host, known[word], Moment(at // 1000)))
    return tuple(hooks)
