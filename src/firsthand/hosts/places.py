"""Where the known hosts keep their sessions on this machine: what an import without paths looks at.

Only looked up, never opened.
"""

from __future__ import annotations

from pathlib import Path

from firsthand import environment
from firsthand.hosts.registry import HOSTS
from firsthand.value import value


@value
class UsualPlace:
    """A folder that a host keeps its sessions in.

    Attributes:
        host: name of the host.
        pattern: which files below the folder are its sessions, as a glob.
        exists: True when the folder is there.
    """

    host: str
    folder: Path
    pattern: str
    exists: bool


def usual_places() -> tuple[UsualPlace, ...]:
    """List the places that an import without paths looks at, in the order in which it does."""
    home, folders = environment.home(), environment.host_folders()
    places: list[UsualPlace] = []
    for host in HOSTS:
        for place in host.places:
            folder = folders.get(place.variable) or home / place.home
            places.append(UsualPlace(host.name, folder, place.pattern, folder.is_dir()))
    return tuple(places)
