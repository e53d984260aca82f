"""An OpenID Connect issuer on loopback: it publishes keys, and signs whatever a test wants."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

NOW = 1_800_000_000
AUDIENCE = "https://memory.example.com"
RSA = RSAKey.generate_key(2048, {"kid": "first", "use": "sig"})
CURVE = ECKey.generate_key("P-256", {"kid": "curve"})


class Publisher:
    """The documents of an issuer on loopback, and how often each was asked for."""

    def __init__(self):
        self.keys, self.asked = [RSA, CURVE], []
        published = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                published.asked.append(self.path)
                data = json.dumps(published.documents().get(self.path)).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.named = self.url
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def documents(self):
        keys = [key.as_dict(private=False) if not isinstance(key, dict) else key for key in self.keys]
        return {
            "/.well-known/openid-configuration": {"issuer": self.named, "jwks_uri": f"{self.url}/keys"},
            "/keys": {"keys": keys},
        }

    def close(self):
        self._server.shutdown()
        self._server.server_close()


def token(publisher, key=RSA, alg="RS256", **claims):
    """Sign a token that is right but for the claims that are named; None leaves one out."""
    right = {"iss": publisher.url, "aud": AUDIENCE, "sub": "alice", "exp": NOW + 300, "nbf": NOW - 10, "iat": NOW - 10}
    fields = {name: claim for name, claim in (right | claims).items() if claim is not None}
    header = {"alg": alg, **({"kid": key.kid} if key.kid else {})}
    return jwt.encode(header, fields, key, algorithms=[alg])
