"""Spans and metrics: what a program that watches sees, and that nobody else pays for it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytest.importorskip("opentelemetry.sdk", reason="the extra telemetry is not installed")

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from page_client import PageClient

from firsthand import Client, Erased, Memory
from firsthand.errors import ServerFailed
from firsthand.server import measures


@pytest.fixture(scope="module")
def exporter():
    """Where the spans of this process go."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


@pytest.fixture
def spans(exporter):
    """Give the spans since the last time, oldest first, but for those inside of others."""
    exporter.clear()

    def finished():
        made = exporter.get_finished_spans()
        exporter.clear()
        return [(each.name, each.kind.name, dict(each.attributes)) for each in made if each.parent is None]

    return finished


def test_verbs_make_the_spans_of_the_conventions(memory, spans):
    """Each verb is a span of its operation with store, session and count, and without any word."""
    session = memory.session("s")
    said = session.user("use npm")
    new = session.user("pnpm from now on")
    usual = {"gen_ai.provider.name": "firsthand", "gen_ai.memory.store.id": "default", "gen_ai.memory.record.count": 1}
    created = {"gen_ai.operation.name": "create_memory", "gen_ai.conversation.id": "s", **usual}
    assert spans() == [("create_memory", "INTERNAL", created)] * 2
    memory.recall("npm", hits_max=7)
    memory.supersede(said, new, "use npm", "pnpm from now on", by="user")
    memory.erase([said])
    made = spans()
    assert [name for name, _, _ in made] == ["search_memory", "update_memory", "delete_memory"]
    assert (made[0][2]["gen_ai.retrieval.top_k"], made[0][2]["gen_ai.memory.record.count"]) == (7, 2)
    assert "npm" not in json.dumps([made])
    with pytest.raises(Erased):
        memory.supersede(said, new, "use npm", "pnpm from now on", by="user")
    (failed,) = spans()
    assert failed[2]["error.type"] == "Erased"


def test_words_are_in_a_span_where_the_user_opted_in(memory, spans, monkeypatch):
    """With OpenTelemetry's own variable a search has its text and its records, in the form of the conventions."""
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
    said = memory.session("s").user("the port is 5433")
    memory.recall("port 5433")
    about = spans()[-1][2]
    assert about["gen_ai.memory.query.text"] == "port 5433"
    (record,) = json.loads(about["gen_ai.memory.records"])
    assert (record["id"], record["content"], 0 < record["score"] <= 1) == (said.pointer, "the port is 5433", True)


def test_a_client_makes_spans_of_its_own(spans):
    """A call of a client is a span of kind client with the server's address, failed ones included."""
    with Client("http://127.0.0.1:9", token="x", timeout_s=0.1) as client, pytest.raises(ServerFailed):
        client.recall("which port?")
    ((name, kind, about),) = spans()
    assert (name, kind, about["server.address"], about["server.port"]) == ("search_memory", "CLIENT", "127.0.0.1", 9)
    assert about["error.type"] == "ServerFailed"


def test_nobody_else_pays_for_it(tmp_path):
    """Using a memory loads no OpenTelemetry, and the process of a hook loads no event loop."""
    source = (
        "import sys; from firsthand import Memory\n"
        f"with Memory({str(tmp_path / 'store')!r}) as memory:\n"
        "    memory.session('s').user('hello'); memory.recall('hello')\n"
        "import firsthand.server.daemon\n"
        "print([name for name in sys.modules if name.startswith(('opentelemetry', 'prometheus', 'asyncio'))])"
    )
    assert subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_prometheus_reads_what_was_counted(tmp_path, monkeypatch):
    """Metrics want the token, count verbs, recalls, events and failures, and hold no word of a user's."""
    pytest.importorskip("prometheus_client", reason="the extra telemetry is not installed")
    parser = pytest.importorskip("prometheus_client.parser")
    monkeypatch.setenv("FIRSTHAND_STORE", str(tmp_path / "store"))
    token = {"Authorization": "Bearer sesame", "Cookie": "", "Accept": "text/plain"}
    program = PageClient(tmp_path / "store")
    program.base = ""

    def post(verb, fields):
        return program.ask(f"/v1/{verb}", "POST", content=json.dumps(fields), **token).status_code

    assert program.ask("/metrics").status_code == 401
    events = [{"kind": "user_message", "content": "the secret port"}, {"kind": "note", "content": "x"}]
    assert [post("append", {"session": "hidden", "events": events}) for _ in range(2)] == [200, 200]
    assert post("recall", {"query": "secret port"}) == 200
    assert post("recall", {"query": "secret port", "hits_max": 0}) == 400
    answer = program.ask("/metrics", **token)
    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (200, "text/plain")
    samples = {
        (sample.name, frozenset(sample.labels.values())): sample.value
        for family in parser.text_string_to_metric_families(answer.text)
        for sample in family.samples
    }
    assert samples["firsthand_events_appended_total", frozenset({"api", "user_message"})] == 2
    assert samples["firsthand_recall_requests_total", frozenset({"api", "found"})] == 1
    assert samples["firsthand_calls_total", frozenset({"api", "recall", "QueryError"})] == 1
    assert samples["firsthand_call_duration_seconds_count", frozenset({"api", "append"})] == 2
    assert 0 < samples["firsthand_call_duration_seconds_sum", frozenset({"api", "append"})] < 60
    assert samples["firsthand_call_duration_seconds_bucket", frozenset({"api", "append", "+Inf"})] == 2
    assert samples["firsthand_log_bytes", frozenset()] > 4_096
    assert samples["firsthand_memory_bytes", frozenset()] > 1 << 20
    assert not [word for word in ("secret", "hidden", str(tmp_path)) if word in answer.text]
    program.stores.close()
    with Memory(tmp_path / "store", read_only=True) as memory:
        assert memory.verify().problems == ()


def test_without_the_extra_metrics_say_what_to_install(tmp_path, monkeypatch):
    """Where the library is missing the answer is one sentence with the command, and no page of nothing."""
    monkeypatch.setattr(measures, "find_spec", lambda _name: None)
    answer = PageClient(tmp_path).ask("/../metrics", Authorization="Bearer sesame", Accept="text/plain")
    assert (answer.status_code, "firsthand[telemetry]" in answer.json()["detail"]) == (501, True)
