"""Finds the files of a model in an installed package, and proves that they are the ones meant.

The invariant: what is read has the SHA-256 that stands in this code, so a package
that changes under its name is refused, and the identity of a space is true. No
package is imported, and nothing is downloaded.
"""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path

from firsthand.environment import extra_command
from firsthand.errors import ModelUnavailable
from firsthand.value import value


@value
class PinnedFile:
    """A file of a package.

    Attributes:
        package: as Python imports it.
        path: below the package's folder.
        sha256: hexadecimal.
    """

    package: str
    path: str
    sha256: str


def read(file: PinnedFile, extra: str) -> bytes:
    """Read a file of a package, checked.

    Args:
        extra: the one that brings it.

    Raises:
        ModelUnavailable: it is not installed, or not the file that is meant.
    """
    spec = importlib.util.find_spec(file.package)  # looks at folders; runs nothing of a top-level package
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    path = next((path for folder in folders if (path := Path(folder) / file.path).is_file()), None)
    if path is None:
        raise ModelUnavailable(f"{file.package}/{file.path} is not installed; run: {extra_command(extra)}")
    data = path.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    if digest != file.sha256:
        raise ModelUnavailable(
            f"{path} is not the file that was measured: its SHA-256 is {digest}, expected {file.sha256}. Install the "
            f"version that has it ({extra_command(extra)}), or use it through callable_embedder under another name."
        )
    return data
