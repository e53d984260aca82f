"""Calls of an HTTP API, good and hostile, made from its OpenAPI document, and what no answer to them may be."""

from __future__ import annotations

import base64
import json
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import httpx

HANG_S = 10.0
RANGES = ("bytes=0-", "bytes=-1", "bytes=5-2", "bytes=0-0,2-3", "bytes=99999999999999999999-", "bytes=a-b", "lines=1-2")


@dataclass(frozen=True)
class Call:
    """One request."""

    method: str
    path: str
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Judge:
    """Sends calls and names what is wrong with the answers.

    Args:
        url, headers: of the server, and what every call carries.
        canaries: words that no answer may hold.
    """

    url: str
    headers: Mapping[str, str]
    canaries: Sequence[str] = ()
    calls: int = 0
    findings: list[str] = field(default_factory=list)
    statuses: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._client = httpx.Client(base_url=self.url, timeout=HANG_S)
        self._shapes = [shape for canary in self.canaries for shape in shapes(canary)]

    def send(self, call: Call) -> None:
        """Send a call; only the beginning of an endless answer is read."""
        self.calls += 1
        try:
            self._send(call)
        except httpx.TransportError:  # of a connection that the server has closed behind its last answer
            try:
                self._send(call)
            except httpx.TransportError as error:
                self._find("break", call, repr(error))
        except (httpx.InvalidURL, UnicodeError):  # no client sends it
            self.calls -= 1

    def _send(self, call: Call) -> None:
        begun = time.monotonic()
        try:
            with self._client.stream(
                call.method, call.path, content=call.content, headers={**self.headers, **call.headers}
            ) as response:
                live = response.headers.get("content-type", "").startswith("text/event-stream")
                body = next(response.iter_raw(), b"") if live else response.read()
        except httpx.TimeoutException:
            self._find("hang", call, f"no answer in {time.monotonic() - begun:.0f} s")
            return
        self.statuses.add(response.status_code)
        if response.status_code >= 500 and response.status_code != 503:
            self._find("fault", call, f"{response.status_code} {body[:200]!r}")
        if b"Traceback" in body:
            self._find("traceback", call, repr(body[:200]))
        seen = body + repr(sorted(response.headers.items())).encode()
        if any(shape in seen for shape in self._shapes):
            self._find("leak", call, f"{response.status_code} {body[:200]!r}")

    def _find(self, kind: str, call: Call, what: str) -> None:
        self.findings.append(
            f"{kind}: {call.method} {call.path[:200]} {str(call.content)[:300]} {call.headers}: {what}"
        )

    def close(self) -> None:
        self._client.close()


def shapes(canary: str) -> list[bytes]:
    """Give the forms in which a word could stand in an answer."""
    data = canary.encode()
    return [data, base64.b64encode(data).rstrip(b"=")[:-1], data.hex().encode(), quote(canary, safe="").encode()]


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


HOSTILE = (
    '"\\u0000"', '"a\\u0000b"', '"\\ud800"', '"\\udfff\\ud800"', "1e400", "-1e400", "NaN", "Infinity", "-Infinity",
    "9" * 400,
    f"-{'9' * 400}", "9" * 5_000, "9223372036854775808", "-9223372036854775809", "0", "-1", "1.5", "-0", "true",
    "false", "null", "[]", "{}", "[[]]", "[{}]", '{"":null}', '{"a":1,"a":2}', nested(90), nested(3_000),
    nested(120_000), f'"{"x" * 70_000}"', '["\\u0000"]', '["\\ud800"]', '{"base64":"!"}', '{"base64":5}', "[null]",
    '[{"kind":"note","content":"x"}]', '[{"kind":[],"content":{}}]', '[{"kind":"erasure","content":"x"}]',
    '[{"kind":"note","content":{"base64":"AA=="},"meta":{"a":1e400}}]', '[{"kind":"note","content":"x","part":1e400}]',
    '[{"kind":"note","content":"x","time":"9999-99-99"}]', '[{"kind":"note","content":"\\ud800","agent":"\\ud800"}]',
    '{"text":"x","scope":{"sessions":[null]}}', '{"text":"\\u0000","scope":5}', '[{"role":"user","content":"x"}]',
    '[{"role":[],"content":[{"type":"text"}]}]', '[{"role":"user","content":[{"type":"text","text":5}]}]',
    "[[1,2],[3]]",
    '["fh:\\u0000"]', '{"a":{"b":[{"c":null}]}}', '"\\u202e\\u2066"', '"%00%ff"', '"../../etc/passwd"',
    '"9:00"', '["9:00"]',
)  # fmt: skip
"""Values as JSON text that break readers of JSON, of numbers, of text or of types."""
ODD = "\0\x1f\x7f\u2028\ufffe\U0001f600\ud800ab/%:@#"


def value_of(chance: random.Random, known: Sequence[str]) -> str:
    """Give a value as JSON text: a known word, a list of one, odd signs, a number, or one of `HOSTILE`."""
    pick = chance.random()
    if pick < 0.3:
        return json.dumps(chance.choice(known))
    if pick < 0.35:
        return json.dumps([chance.choice(known)])
    if pick < 0.45:
        return json.dumps("".join(chance.choices(ODD, k=chance.randint(0, 9))))
    if pick < 0.5:
        return str(chance.randint(-3, 300))
    return chance.choice(HOSTILE)


def call_of(chance: random.Random, document: Mapping[str, Any], known: Sequence[str]) -> Call:
    """Make a call of one of a document's routes, most of them with what it must have."""
    path = chance.choice(sorted(document["paths"]))
    method, about = chance.choice(sorted(document["paths"][path].items()))
    names = [name for name in _parameters(about) if chance.random() < 0.7]
    if chance.random() < 0.1:
        names += chance.choices(["namespace", "unknown", "\0", *names], k=1)
    headers = {}
    if chance.random() < 0.2:
        name = chance.choice(["Range", "Accept", "Content-Type", "firsthand-namespace", "Origin", "Content-Encoding"])
        headers[name] = chance.choice(
            [*RANGES, "", "text/html", "x/y; charset=utf-7", "%00", "%ff", *map(quote, known)]
        )
    members = [(name, value_of(chance, known)) for name in names]
    if method == "get":
        query = "&".join(f"{quote(name)}={quote(_plain(text), errors='surrogatepass')}" for name, text in members)
        return Call("GET", f"{path}?{query}"[:60_000], None, headers)
    whole = "{" + ",".join(f"{json.dumps(name)}:{text}" for name, text in members) + "}"
    body = whole if chance.random() < 0.95 else value_of(chance, known)
    return Call("POST", path, body.encode("utf-8", "surrogatepass"), headers)


def _parameters(about: Mapping[str, Any]) -> list[str]:
    names = [each["name"] for each in about.get("parameters", ()) if each["in"] == "query"]
    content = about.get("requestBody", {}).get("content", {}).get("application/json", {})
    return [*names, *content.get("schema", {}).get("properties", ())]


def _plain(text: str) -> str:
    """Give what a JSON text holds where it is a string, else the text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text[:2_000]
    return value if isinstance(value, str) else text[:2_000]


def attack(judge: Judge, document: Mapping[str, Any], known: Sequence[str], calls: int) -> None:
    """Send so many calls, the same in every run."""
    chance = random.Random(20)
    for _ in range(calls):
        judge.send(call_of(chance, document, known))
