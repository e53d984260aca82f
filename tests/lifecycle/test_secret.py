"""Secrets are seen by their shape, and what is none stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.lifecycle.secret import found, without_secrets

SECRETS = (
    "sk-" + "proj-a1B2c3D4e5F6g7H8i9J0", "ghp_" + "a" * 36, "AKIA" + "IOSFODNN7EXAMPLE", "xoxb-" + "123456789012-abc",
    "eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxMjM0In0.sig", "glpat-" + "x1y2z3a4b5c6d7e8f9",
)  # fmt: skip


@pytest.mark.parametrize("secret", SECRETS)
def test_keys_of_known_shapes_do_not_get_through(secret):
    """A token of a known shape is replaced by where it stands, wherever in a text it is."""
    assert without_secrets(f"use {secret} here", "fh:1") == "use [a secret, fh:1] here"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("password = hunter2!", "password = [a secret, p]"),
        ("export API_KEY='abc-123-def'", "export API_KEY='[a secret, p]'"),
        ("the password is Tr0ub4dor", "the password is [a secret, p]"),
        ("postgres://app:s3cr3t@db/x", "postgres://app:[a secret, p]@db/x"),
        ("Authorization: Bearer abcdefghijkl123", "Authorization: Bearer [a secret, p]"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "[a secret, p]"),
    ],
)
def test_values_behind_a_word_for_a_secret_do_not_get_through(text, clean):
    """What is set as a password, key or token is replaced; the words around it stay."""
    assert without_secrets(text, "p") == clean


@pytest.mark.parametrize(
    "text",
    ["tokens: 2400", "the token is expired", "secret: ingredient", "max_tokens=4096", "keyboard: qwerty1", "risk-free"],
)
def test_what_is_no_secret_stays(text):
    """Plain words and plain numbers behind such a word are none."""
    assert without_secrets(text, "p") == text


@given(st.text(max_size=60), st.sampled_from(SECRETS), st.text(max_size=60))
def test_nothing_that_is_found_is_left(before, secret, after):
    """In any surroundings, a text that was cleaned holds no secret of the ones that were in it."""
    cleaned = without_secrets(f"{before} {secret} {after}", "p")
    assert secret not in cleaned
    assert all(cleaned[start:end] != secret for start, end in found(cleaned))
