"""store head, store accept-head, and verify with a head that was kept: what leaves the machine, and comes back."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from firsthand import Memory


@pytest.fixture
def key(tmp_path):
    pytest.importorskip("cryptography")
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    file = tmp_path / "key.pem"
    made = Ed25519PrivateKey.generate()
    file.write_bytes(made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return file


@pytest.fixture
def full(shell):
    """A store with two events."""
    shell.append("one")
    shell.append("two")
    return shell


def test_a_head_is_kept_and_verified(full, tmp_path):
    """`store head` prints what `verify --head` takes, as a text or out of a file, of the same namespace alone."""
    kept = full("store", "head")
    assert kept.code == 0
    file = tmp_path / "head"
    file.write_text(kept.text)
    full.append("one more")
    for head in (kept.text.strip(), file):
        assert full("store", "verify", "--head", head).code == 0
    whole = full("store", "head", "--json")
    file.write_text(whole.text)
    assert full("store", "verify", "--head", file).code == 0
    refused = full("store", "verify", "--head", file, "--namespace", "other")
    assert (refused.code, "is of namespace 'default'" in refused.error) == (5, True)
    forged = kept.text.strip()[:-4] + "0000"
    assert full("store", "verify", "--head", forged).code == 3


def test_a_signed_head_is_verified_with_its_key(full, tmp_path, key):
    """A signed head names its key; a changed one, or one of another key than asked for, is refused."""
    kept = full("store", "head", "--sign", key)
    assert kept.code == 0
    file = tmp_path / "head"
    file.write_text(kept.text)
    verified = full("store", "verify", "--head", file)
    assert verified.code == 0
    public = kept.json["key"]
    assert f"signed with the key {public}" in verified.text
    assert full("store", "verify", "--head", file, "--key", public).code == 0
    other = full("store", "verify", "--head", file, "--key", "A" * 43 + "=")
    assert (other.code, "expected a head signed with the key" in other.error) == (5, True)
    file.write_text(kept.text.replace('"head":"', '"head":"1'))
    changed = full("store", "verify", "--head", file)
    assert (changed.code, "signature" in changed.error) == (5, True)
    missing = full("store", "head", "--sign", tmp_path / "none")
    assert (missing.code, "openssl genpkey" in missing.error) == (5, True)


@pytest.mark.files_only("puts an older copy of the folder back")
def test_a_rollback_is_named_and_accepted(full):
    """An older store in the place of a newer one is named by verify and doctor; accept-head takes it as it is."""
    older = full.home / "older"
    shutil.copytree(full.store, older)
    full.append("one more")
    shutil.rmtree(full.store)
    older.rename(full.store)
    named = full("store", "verify")
    assert named.code == 3
    assert "1 acknowledged event of namespace default is missing: position " in named.text
    doctor = full("doctor", "--no-canary")
    assert doctor.code == 3
    assert "1 acknowledged event of namespace default is missing" in doctor.text
    accepted = full("store", "accept-head")
    assert (accepted.code, accepted.text.startswith("accepted  1 acknowledged event")) == (0, True)
    assert full("store", "verify").code == 0
    assert "nothing is missing" in full("store", "accept-head", "--store", full.store).text


@pytest.mark.files_only("cuts the write-ahead log")
def test_a_loss_is_named_for_good(full):
    """After the next write verify says what is lost and ends with 0; so does its JSON."""
    full.damaged = True
    older = full.home / "older"
    shutil.copytree(full.store, older)
    full.append("one more")
    shutil.rmtree(full.store)
    older.rename(full.store)
    with Memory.open(full.store, namespace="default", embedder="none") as memory:
        head = memory.head()
        (loss,) = memory.verify().losses
    verified = full("store", "verify")
    assert (verified.code, f"lost  {loss}" in verified.text) == (0, True)
    position = int(head.partition(":")[0])
    assert full("store", "verify", "--json").json["losses"] == [
        {"namespace": "default", "position": position, "missing": [[position - 1, position]]}
    ]
    assert "loss" in full("timeline").text
    assert subprocess.run(["ls", full.store / "damaged"], check=True, capture_output=True).stdout.count(b"\n") == 1
