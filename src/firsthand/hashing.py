"""SHA-256 and BLAKE2s, for a process that hashes little without loading OpenSSL.

`hashlib` loads it, which costs a hook's process 3 ms; the interpreter's own C modules
cost nothing, and are slower a byte. So the first `LITTLE_BYTES` of a process are hashed
by those, and what comes after by `hashlib`. The invariant: both give the same bytes.

It knows nothing of what is hashed. What is read piece by piece is large, and goes to
`hashlib` at once.
"""

from __future__ import annotations

TYPE_CHECKING = False  # known to type checkers by its name; `typing` would cost what is saved here
if TYPE_CHECKING:
    from typing import Any

LITTLE_BYTES = 1 << 18  # 1 ms at the slower rate, in all


def _own(*names: str) -> Any:
    """Give a hash function of the interpreter's own: ``module.function``, the first that is there, else hashlib's."""
    for name in names:
        module, _, function = name.partition(".")
        try:
            return getattr(__import__(module), function)
        except ImportError:  # it was built without, or has another version's name
            continue
    return _of_hashlib(names[0].partition(".")[2])


def _of_hashlib(function: str) -> Any:
    import hashlib

    return getattr(hashlib, function)


_sha256 = _own("_sha256.sha256", "_sha2.sha256")
_blake2s = _own("_blake2.blake2s")
_left = LITTLE_BYTES


def sha256(data: bytes) -> bytes:
    """Give the SHA-256 of some bytes: 32 bytes."""
    global _left, _sha256  # of the process: how much it may still hash, and by what
    if _left >= 0:
        _left -= len(data)
        if _left < 0:
            _sha256 = _of_hashlib("sha256")
    digest: bytes = _sha256(data).digest()
    return digest


def blake2s(data: bytes, *, size: int = 32, key: bytes = b"", person: bytes = b"") -> bytes:
    """Give the BLAKE2s of some bytes; `hashlib` takes it from the same place."""
    digest: bytes = _blake2s(data, digest_size=size, key=key, person=person).digest()
    return digest
