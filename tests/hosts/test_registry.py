"""The registry of hosts."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firsthand.hosts import registry
from firsthand.hosts.registry import installed, recognise
from firsthand.hosts.transcript import STATE_BYTES_MAX, Source

HOSTS = (*registry.HOSTS, *installed())

JUNK = (
    b"", b"\0" * 4_096, b"\xff\xfe" * 50, b"{" * 4_000, b"[" * 4_000, b"{}\n" * 9, b"[]", b"null", b'"x"',
    b"From \n" * 40, b"Subject: x", b"[10:00] <a> ", b'{"type":"session","id":' + b"9" * 5_000 + b"}\n",
    b'[{"task_id": ' + b"1" * 5_000 + b', "traj": []}]', b'{"sessionId": "\\ud800", "projectHash": 1}\n',
)  # fmt: skip


def test_every_host_has_a_name_that_a_session_may_begin_with():
    """Names are lower case, without a colon, and say whose transcript it is."""
    assert all(host.name == host.name.lower() and ":" not in host.name and host.name for host in HOSTS)


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: type(host).__name__)
@pytest.mark.parametrize("number", range(len(JUNK)))
@pytest.mark.parametrize("final", [False, True])
def test_no_host_loses_or_raises_over_junk(host, number, final):
    """Whatever the bytes, every host gives them back, and a state that fits."""
    data = JUNK[number]
    found = list(host.read(iter([data[:7], data[7:]]), Source("/x/y.jsonl", data, final=final)))
    assert b"".join(reading.record.raw for reading in found) == data
    assert all(len(json.dumps(dict(reading.state))) <= STATE_BYTES_MAX for reading in found)
    assert isinstance(host.session("/x/y.jsonl", data), str)


TOKENS = st.sampled_from([
    b"{", b"}", b"[", b"]", b'"', b":", b",", b"\n", b"\0", b"\xff", b"\\", b"From a 1:2\n", b"Subject: x\n",
    b"[10:00] <a> x\n",
    b'"type":"message"', b'"message":{"role":"user","content":', b'"id":"1"', b'"traj":[', b'"trajectory":[',
    b'"turns":[[',
    b'"history":[', b'"conversation":', b'"data":[', b"1e999", b"null", b"true", "\u2028é".encode(),
])  # fmt: skip


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(TOKENS, max_size=40).map(b"".join), st.integers(1, 9), st.booleans())
def test_no_host_loses_a_byte_of_what_looks_like_its_own(data, size, final):
    """Pieces of records in any order: every host gives back every byte, and raises nothing."""
    for host in HOSTS:
        pieces = (data[at : at + size] for at in range(0, len(data), size))
        found = [reading.record.raw for reading in host.read(pieces, Source("/x/y.jsonl", data, final=final))]
        assert b"".join(found) == data, type(host).__name__


@pytest.mark.parametrize("data", [b"", b"words", b"\0" * 100, b'{"a": 1}', b"[1, 2]", b"<html>"])
def test_what_no_host_knows_is_none(data):
    """A file that is of no host is told so."""
    assert recognise("/x/file.json", data) is None


def test_parsers_of_benchmark_data_are_found_when_they_are_installed(monkeypatch):
    """A source that only another distribution knows is its host's; without the distribution nobody knows it."""
    head = b'{"trajectory": [{"role": "user"}], "history": [], "info": {}}'
    assert [type(host).__name__ for host in installed()][:2] == ["SweAgent", "Tau"]
    known = recognise("/runs/a__b-1.traj", head)
    monkeypatch.setattr(registry, "installed", tuple)
    assert type(known).__name__ == "SweAgent"
    assert recognise("/runs/a__b-1.traj", head) is None
