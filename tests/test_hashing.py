"""Hashes without OpenSSL are the hashes with it."""

from __future__ import annotations

import hashlib
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from firsthand import hashing


@given(st.binary(max_size=5_000))
def test_sha256_is_hashlib_s(data):
    """Whatever the bytes, and whichever of the two made it, the SHA-256 is the one of the standard library."""
    assert hashing.sha256(data) == hashlib.sha256(data).digest()


@given(st.binary(max_size=500), st.integers(1, 32), st.binary(max_size=32), st.binary(max_size=8))
def test_blake2s_is_hashlib_s(data, size, key, person):
    """Whatever bytes, size, key and person, the BLAKE2s is the one of the standard library."""
    expected = hashlib.blake2s(data, digest_size=size, key=key, person=person).digest()
    assert hashing.blake2s(data, size=size, key=key, person=person) == expected


def test_openssl_is_loaded_for_much_and_not_for_little():
    """A process that hashes little has not loaded hashlib; once it has hashed much it has, with the same result."""
    source = (
        "import sys; from firsthand import hashing\n"
        "assert '_hashlib' not in sys.modules\n"
        "little = hashing.sha256(b'x' * hashing.LITTLE_BYTES); assert '_hashlib' not in sys.modules\n"
        "much = hashing.sha256(b'x' * hashing.LITTLE_BYTES); assert '_hashlib' in sys.modules\n"
        "print(little.hex() == much.hex(), little.hex())"
    )
    told = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True).stdout
    assert told.split() == ["True", hashlib.sha256(b"x" * hashing.LITTLE_BYTES).hexdigest()]
