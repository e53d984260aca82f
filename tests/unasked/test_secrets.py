"""Secrets are seen by their shape, whole; and what is none stays."""

from __future__ import annotations

import random
import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.unasked.secrets import KEY_BYTES, find, keyed_mark, mask

_LOT = random.Random(7)
KEYS = {
    "github-token": "ghp_" + "".join(_LOT.choices(string.ascii_letters + string.digits, k=36)),
    "aws-access-key": "AKIA" + "IOSFODNN7EXAMPLE",
    "slack-token": "xoxb-" + "123456789012-abcDEF45",
    "gitlab-token": "glpat-" + "x1y2z3a4b5c6d7e8f9",
    "openai-key": "sk-" + "proj-a1B2c3D4e5F6g7H8i9J0",
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxMjM0In0.c2ln",
    "stripe-key": "sk_" + "live_4eC39HqLyjWDarjtT1zdp7dc",
    "telegram-token": "123456789:" + "AAE4hX9kQ2mZ7pL1vB6nC3wR8tY5uJ0sDfG",
    "private-key": "-----BEGIN RSA PRIVATE KEY-----\n"
    + "\n".join("".join(_LOT.choices(string.ascii_letters + string.digits + "+/", k=64)) for _ in range(9))
    + "\n-----END RSA PRIVATE KEY-----",
}


@pytest.mark.parametrize(("sort", "key"), KEYS.items())
def test_a_key_is_masked_whole_with_its_sort(sort, key):
    """A vendor's key and a private key's whole block become one mark that says the sort, and nothing else changes."""
    assert mask(f"use {key} here") == f"use [secret:{sort}] here"


def test_a_private_key_without_its_end_is_masked_to_the_end_of_its_lines():
    """A block that was cut, and one on a single line with written line ends, leave no line of the key."""
    whole = KEYS["private-key"]
    for text in (whole.rpartition("\n-----END")[0], whole.replace("\n", "\\n")):
        assert mask(f"KEY={text}") == "KEY=[secret:private-key]"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("password = hunter2!", "password = [secret:password]"),
        ("export API_KEY='abc-123-def-456'", "export API_KEY='[secret:secret]'"),
        ('{\\"client_secret\\": \\"q8Zr5Lw2Xv9K\\"}', '{\\"client_secret\\": \\"[secret:secret]\\"}'),
        ("mysql --password s3cr3tPw -u app", "mysql --password [secret:password] -u app"),
        ("postgres://app:s3cr3t@db/x", "postgres://app:[secret:url-password]@db/x"),
        ("Authorization: Bearer abcdefghijkl1234", "Authorization: Bearer [secret:bearer-token]"),
        ("Authorization: Basic YWxhZGRpbjpvcGVu", "Authorization: Basic [secret:authorization]"),
    ],
)
def test_what_is_set_under_a_name_for_a_secret_is_masked(text, clean):
    """What is assigned, sent in a header or stands in an address as a secret is masked; what is around it stays."""
    assert mask(text) == clean


@pytest.mark.parametrize(
    "text",
    [
        "tokens: 2400", "the token is expired", "secret: ingredient", "max_tokens=4096", "keyboard: qwerty1",
        "risk-free",
        "token = tokens[i + 1]", "password=os.environ['PW']", "api_key: ${API_KEY}", "token: <your-token>", "sk-learn",
        "Bearer valid_token_of_yours", "key=lambda pair: pair[1]",
        "git show 7f3a9c2e41d0b5c86a1f0e9d3c7b2a45", "pass: no",
        "[secret:github-token]", "password: [secret:password:4f2a9c0011aa]", "passwd file: /etc/passwd",
        "http://a:80/b@c",
    ],
)  # fmt: skip
def test_what_is_no_secret_stays(text):
    """Words, numbers, paths, names and calls of a program, placeholders and marks of secrets are none."""
    assert mask(text) == text


def test_a_keyed_mark_is_the_same_for_the_same_secret_and_another_under_another_key():
    """A mark tells whether two secrets are the same one, to nobody without the key what it is."""
    text = f"{KEYS['github-token']} {KEYS['github-token']} {KEYS['slack-token']}"
    one, two, three = mask(text, mark=keyed_mark(b"k" * KEY_BYTES)).split()
    assert one == two != three
    assert one.startswith("[secret:github-token:")
    assert mask(text, mark=keyed_mark(b"l" * KEY_BYTES)).split()[0] != one


@given(st.text(max_size=60), st.sampled_from([*KEYS.values()]), st.text(max_size=60))
def test_no_surroundings_bring_a_key_through(before, key, after):
    """In any surroundings a text that was masked has no key in it, and masking it again changes nothing."""
    clean = mask(f"{before} {key} {after}")
    assert key not in clean
    assert mask(clean) == clean


def seconds(text: str) -> float:
    begun = time.process_time()
    find(text)
    return time.process_time() - begun


def test_a_text_made_to_be_slow_is_not():
    """No text that is made to be slow takes more than 15 times what prose of its size takes in the same run."""
    size = 100_000
    words = "the token of this key has a password that nobody set, and the path to its secrets is kept below\n"
    prose = min(seconds(words * (size // len(words))) for _ in range(3))
    pieces = [
        "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----!", "password=", "password=a1", "token:::::",
        "token ", "eyJ", "eyJ-", "eyJ-a.eyJ-a", "://a:", "Bearer ", "sk-", "sk-a1", "xoxb-",
        "[secret:x]password=Zq81Lw2Xv9Kb ",
    ]  # fmt: skip
    times = {piece: min(seconds(piece * (size // len(piece))) for _ in range(2)) / prose for piece in pieces}
    assert {piece: time for piece, time in times.items() if time > 15} == {}


def test_a_key_behind_signs_like_its_own_is_masked():
    """A key that stands behind many beginnings of one, or in a long value, is masked as a whole."""
    for sort in ("openai-key", "jwt"):
        assert KEYS[sort] not in mask(f"{KEYS[sort][:3]}-" * 500 + KEYS[sort])
    assert mask("password=" * 900 + "Zq81Lw2X tail").endswith("[secret:password] tail")


@pytest.mark.parametrize("before", ["\\n", "\\t", "\\\\n", "\\u00e9", "\x1b[32m", "\\u001b[1;32m", "%20", "_", "**_"])
def test_what_ends_before_a_key_does_not_hide_it(before):
    """A key behind an escape as JSON writes it, a colour of a terminal or a sign of emphasis is masked."""
    for sort in ("github-token", "aws-access-key", "openai-key", "jwt"):
        assert mask(f"x {before}{KEYS[sort]} y") == f"x {before}[secret:{sort}] y"


def test_a_key_within_a_word_is_none():
    """A name that only holds what keys begin with stays."""
    for word in ("my_hf_abcdefgh1234567890xyzw", "desk-a1b2c3d4e5f6g7h8i9j0k1"):
        assert mask(word) == word


def test_the_library_adds_to_what_the_shapes_see(tmp_path):
    """With the extra a key that has no shape here is found in its place, also behind signs of several bytes."""
    pytest.importorskip("kingfisher_sdk")
    from firsthand.unasked import secret_library

    assert secret_library.ready(tmp_path / "rules") is find  # nobody waits for it
    finder = secret_library.load(tmp_path / "rules")
    text = f"h\u00e9llo \U0001f389 {KEYS['github-token']} end"
    assert mask(text, finder) == "h\u00e9llo \U0001f389 [secret:github-token] end"
    assert secret_library.ready(tmp_path / "rules") is finder
    assert oct((tmp_path / "rules").stat().st_mode & 0o777) == "0o700"
