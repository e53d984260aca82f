"""Heads are kept elsewhere as a line, signed or not, and read back."""

from __future__ import annotations

import base64
import json
import subprocess

import pytest

from firsthand.errors import InvalidArgument, QueryError
from firsthand.log.signature import KeptHead, kept_head, read_head

pytest.importorskip("cryptography")

HEAD = KeptHead("42:" + "9f" * 32, "default", "00" * 16)
# RFC 8032, 7.1, TEST 1: a key that everybody knows.
SECRET = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
PUBLIC = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")


@pytest.fixture
def key(tmp_path):
    file = tmp_path / "key.pem"
    der = bytes.fromhex("302e020100300506032b657004220420") + SECRET
    text = base64.b64encode(der).decode()
    file.write_text(f"-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n")
    return file


def test_a_bare_head_is_read_as_it_is():
    """What people keep as position:hash is a head without a signature."""
    assert read_head(f" {HEAD.head}\n") == KeptHead(HEAD.head)
    assert read_head(kept_head(HEAD)) == HEAD


def test_a_signed_head_names_the_key_that_signed_it(key):
    """A signed line gives the head, where it was taken, and the public key that belongs to the private one."""
    line = kept_head(HEAD, key)
    assert "\n" not in line
    assert read_head(line) == KeptHead(HEAD.head, "default", "00" * 16, base64.b64encode(PUBLIC).decode())


def test_every_change_of_a_signed_head_is_refused(key):
    """Another head, namespace, store, key or signature in the line does not pass for the signed one."""
    fields = json.loads(kept_head(HEAD, key))
    other = base64.b64encode(bytes(range(32))).decode()
    changes = {
        "head": "41" + HEAD.head[2:], "namespace": "else", "store": "11" * 16, "key": other,
        "signature": base64.b64encode(bytes(64)).decode(),
    }  # fmt: skip
    for name, field in changes.items():
        with pytest.raises(QueryError, match="signature"):
            read_head(json.dumps(fields | {name: field}))
    for name in ("key", "signature"):
        with pytest.raises(QueryError, match="signature"):
            read_head(json.dumps({field: fields[field] for field in fields if field != name}))


@pytest.mark.parametrize("text", ["{", "{}", '{"firsthand_head":2}', '{"firsthand_head":1,"store":1}', "[" * 9_000])
def test_what_is_no_head_is_refused(text):
    """Other JSON than a head is named as such."""
    if text.startswith("{"):
        with pytest.raises(QueryError, match="expected position:hash"):
            read_head(text)
    else:
        assert read_head(text).head == text  # `verify` says what a head looks like


def test_what_is_no_key_is_refused(tmp_path, key):
    """A missing file, other bytes and a key of another sort are named, with how to make one."""
    with pytest.raises(InvalidArgument, match="openssl genpkey"):
        kept_head(HEAD, tmp_path / "none")
    (tmp_path / "text").write_text("no key")
    with pytest.raises(InvalidArgument, match="expected an Ed25519 private key"):
        kept_head(HEAD, tmp_path / "text")
    made = subprocess.run(["openssl", "genpkey", "-algorithm", "x25519"], capture_output=True, check=False)
    if made.returncode == 0:
        (tmp_path / "other").write_bytes(made.stdout)
        with pytest.raises(InvalidArgument, match="another sort"):
            kept_head(HEAD, tmp_path / "other")
