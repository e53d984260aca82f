"""Tokens of an issuer: whose are taken, what of them is checked, and how seldom the issuer is asked."""

from __future__ import annotations

import base64
import contextlib
import hmac
import json
import socket
import threading
import time

import pytest

pytest.importorskip("joserfc", reason="the extra teams is not installed")

from joserfc.jwk import OctKey, RSAKey
from oidc_publisher import AUDIENCE, CURVE, NOW, RSA, Publisher, token

from firsthand.errors import InvalidArgument
from firsthand.server.teams import oidc
from firsthand.server.teams.grants import Refused
from firsthand.server.teams.oidc import AGAIN_S, LEEWAY_S, OLD_S, Issuer


@pytest.fixture
def publisher():
    made = Publisher()
    yield made
    made.close()


@pytest.fixture
def clock():
    return [float(NOW)]


@pytest.fixture
def issuer(publisher, clock):
    return Issuer(publisher.url, AUDIENCE, lambda: clock[0])


def part(fields):
    return base64.urlsafe_b64encode(json.dumps(fields).encode()).rstrip(b"=").decode()


def refused(issuer, text):
    """Say why a token is refused; its words are not repeated."""
    with pytest.raises(Refused) as caught:
        issuer.subject(text)
    assert caught.value.status == 401
    assert "alice" not in f"{caught.value} {caught.value.reason}"
    return caught.value.reason


def test_a_right_token_names_its_subject(publisher, issuer):
    """A token that the issuer signed for this server, by any of its keys, is of its subject."""
    assert issuer.subject(token(publisher)) == "alice"
    assert issuer.subject(token(publisher, CURVE, "ES256", sub="bob")) == "bob"
    assert issuer.subject(token(publisher, aud=["https://other.example.com", AUDIENCE])) == "alice"


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "https://other.example.com"}, {"aud": None}, {"aud": [AUDIENCE + "x"]}, {"iss": "https://evil.example.com"},
        {"iss": None}, {"exp": NOW - LEEWAY_S - 1}, {"exp": None}, {"nbf": NOW + LEEWAY_S + 1}, {"sub": None},
        {"sub": 5}, {"sub": "a\nb"}, {"sub": "x" * 201}, {"exp": "never"},
    ],
)  # fmt: skip
def test_a_wrong_claim_is_refused(publisher, issuer, claims):
    """Another audience or issuer, a time that is over or not yet, and a subject that is no name are refused."""
    assert refused(issuer, token(publisher, **claims))
    assert issuer.subject(token(publisher)) == "alice"


def test_only_signatures_of_the_issuer_count(publisher, issuer):
    """No signature, that of a stranger, a changed token, and the public key as a secret are refused, as is no token."""
    right = token(publisher)
    header, payload, signature = right.split(".")
    claims = json.loads(base64.urlsafe_b64decode(payload + "=="))
    public = RSA.as_pem(private=False)
    for secret in (public, json.dumps(RSA.as_dict(private=False)).encode()):
        signed = f"{part({'alg': 'HS256', 'kid': 'first'})}.{payload}"
        mark = base64.urlsafe_b64encode(hmac.digest(secret, signed.encode(), "sha256")).rstrip(b"=").decode()
        assert refused(issuer, f"{signed}.{mark}")
    stranger = RSAKey.generate_key(2048, {"kid": "first"})
    assert refused(issuer, token(publisher, stranger))
    for alg in ("none", "None", "nOnE"):
        assert refused(issuer, f"{part({'alg': alg, 'kid': 'first'})}.{payload}.")
        assert refused(issuer, f"{part({'alg': alg, 'kid': 'first'})}.{payload}.{signature}")
    assert refused(issuer, f"{header}.{part(claims | {'sub': 'root'})}.{signature}")
    own = part({"alg": "RS256", "kid": "first", "jwk": stranger.as_dict(private=False)})
    assert refused(issuer, f"{own}.{payload}.{signature}")
    for text in ("x", "a.b.c", "..", f"{header}.{payload}", "é.é.é", "\0.\0.\0"):
        assert refused(issuer, text)


def test_a_symmetric_key_of_the_issuer_is_no_key(publisher, issuer):
    """A key that the issuer publishes by mistake, and that everybody then knows, signs nothing."""
    secret = OctKey.generate_key(256, {"kid": "shared"})
    publisher.keys.append(secret.as_dict())
    assert refused(issuer, token(publisher, secret, "HS256"))
    encryption = RSAKey.generate_key(2048, {"kid": "enc"})
    publisher.keys.append(encryption.as_dict(private=False) | {"use": "enc"})
    assert refused(issuer, token(publisher, encryption))


def test_new_keys_are_read_and_strangers_cannot_have_the_issuer_asked(publisher, issuer, clock):
    """A key that the issuer has changed to is known after a pause; a flood of unknown ones asks it once."""
    assert issuer.subject(token(publisher)) == "alice"
    asked = len(publisher.asked)
    second = RSAKey.generate_key(2048, {"kid": "second"})
    for _ in range(20):
        assert refused(issuer, token(publisher, second))
    assert len(publisher.asked) == asked
    publisher.keys = [second]
    clock[0] += AGAIN_S
    assert issuer.subject(token(publisher, second)) == "alice"
    assert refused(issuer, token(publisher))
    assert len(publisher.asked) == asked + 2


def test_old_keys_are_read_again_and_hold_while_the_issuer_is_away(publisher, issuer, clock):
    """After an hour the keys are read anew; an issuer that does not answer then leaves those that are known."""
    assert issuer.subject(token(publisher)) == "alice"
    publisher.named = "https://another.example.com"
    clock[0] += OLD_S + 1
    assert issuer.subject(token(publisher, exp=NOW + 2 * OLD_S)) == "alice"
    publisher.named, publisher.keys = publisher.url, [CURVE]
    clock[0] += AGAIN_S
    assert refused(issuer, token(publisher, exp=NOW + 2 * OLD_S))


def test_an_issuer_that_is_away_at_first_is_no_refusal_of_a_token(publisher, issuer, clock):
    """Where no key was ever read the answer is 503, and no stranger can have the issuer asked again at once."""
    publisher.named = "https://another.example.com"
    for number in range(3):
        with pytest.raises(Refused) as caught:
            issuer.subject("a.b.c" if number else token(publisher))
        assert (caught.value.status, caught.value.wait_s) == (503, AGAIN_S)
    assert len(publisher.asked) == 1
    publisher.named = publisher.url
    clock[0] += AGAIN_S
    assert issuer.subject(token(publisher)) == "alice"


@pytest.mark.parametrize("drips", [False, True])
def test_an_issuer_that_hangs_is_waited_for_so_long_in_all(monkeypatch, drips):
    """An issuer that takes a connection and says nothing, or a byte of a header now and then, is given up in time."""
    monkeypatch.setattr(oidc, "TIMEOUT_S", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        ended = threading.Event()

        def drip():
            connection = listening.accept()[0]
            with contextlib.suppress(OSError), connection:
                connection.sendall(b"HTTP/1.1 200 OK\r\nx: ")
                while not ended.wait(0.05):
                    connection.sendall(b"x" if drips else b"")

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        begun = time.monotonic()
        with pytest.raises(Refused) as caught:
            Issuer(f"http://127.0.0.1:{listening.getsockname()[1]}", AUDIENCE).subject("a.b.c")
        assert (caught.value.status, time.monotonic() - begun < 5) == (503, True)
        ended.set()
        thread.join(10)
        assert not thread.is_alive()


@pytest.mark.parametrize(
    "bad",
    [{"kty": "EC", "crv": "P-999", "x": "AA", "y": "AA", "kid": "n"}, "no key", None, {"kty": []}, {"kty": "RSA"}],
)
def test_a_key_of_an_unknown_form_leaves_the_others(publisher, issuer, bad, monkeypatch):
    """Of what an issuer publishes each key that can be read counts, whatever stands beside it."""
    documents = publisher.documents()
    documents["/keys"]["keys"].insert(0, bad)
    monkeypatch.setattr(publisher, "documents", lambda: documents)
    assert issuer.subject(token(publisher)) == "alice"
    assert issuer.subject(token(publisher, CURVE, "ES256")) == "alice"


@pytest.mark.parametrize("address", ["https://[", "https://x:port/keys", "https://\x01/", 5, None, ["https://x"]])
def test_a_wrong_address_of_keys_is_an_issuer_that_is_away(publisher, issuer, address, monkeypatch):
    """Where the keys are said to be at no address the answer is 503."""
    about = {"issuer": publisher.url, "jwks_uri": address}
    monkeypatch.setattr(publisher, "documents", lambda: {"/.well-known/openid-configuration": about})
    with pytest.raises(Refused) as caught:
        issuer.subject(token(publisher))
    assert caught.value.status == 503


@pytest.mark.parametrize("address", ["http://login.example.com", "ftp://x", "", "login.example.com"])
def test_an_issuer_is_named_by_https(address):
    """An issuer in the open net is refused, as is one without an audience."""
    with pytest.raises(InvalidArgument):
        Issuer(address, AUDIENCE)
    with pytest.raises(InvalidArgument):
        Issuer("https://login.example.com", "")
