"""The registry of hosts."""

from __future__ import annotations

import json

import pytest

from firsthand.hosts.port import STATE_BYTES_MAX, Source
from firsthand.hosts.registry import HOSTS, recognise

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


@pytest.mark.parametrize("data", [b"", b"words", b"\0" * 100, b'{"a": 1}', b"[1, 2]", b"<html>"])
def test_what_no_host_knows_is_none(data):
    """A file that is of no host is told so."""
    assert recognise("/x/file.json", data) is None
