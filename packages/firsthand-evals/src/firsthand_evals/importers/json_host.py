"""What the hosts of benchmark data share: a source is one JSON file, read whole and cut by its host."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from firsthand.formats.fields import to_name
from firsthand.hosts import json_file
from firsthand.hosts.json_file import Cut, JsonFile
from firsthand.hosts.transcript import Place, Reading, Source


class JsonHost:
    """A host whose sources are one JSON value each.

    Attributes:
        shape: how a source begins; ``holds``: what stands in its head, one of them.
        suffix: of its name.
    """

    name = ""
    places: tuple[Place, ...] = ()
    resumable = False
    spans_sessions = False
    shape: re.Pattern[bytes]
    holds: tuple[bytes, ...] = (b"",)
    suffix = ".json"

    def recognises(self, path: str, head: bytes) -> bool:
        """Say whether a source is of this host."""
        known = path.endswith(self.suffix) and any(word in head for word in self.holds)
        return known and self.shape.match(head) is not None

    def session(self, path: str, head: bytes) -> str:  # noqa: ARG002 (the port's shape)
        """Name the session of a source: as its file is called."""
        return to_name(PurePosixPath(path).name.removesuffix(self.suffix))

    def read(self, pieces: Iterable[bytes], source: Source) -> Iterator[Reading]:
        return json_file.read(pieces, source, self.name, self.cuts)

    def cuts(self, file: JsonFile, source: Source) -> Iterator[Cut]:
        raise AssertionError(f"{self.name} cuts its own sources; {source.path} of {len(file.data)} bytes was not")
