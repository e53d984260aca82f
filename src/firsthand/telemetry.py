"""Spans of OpenTelemetry for the verbs of a memory, named as the gen_ai conventions name them.

    search_memory    recall                     create_memory    append, note, append_messages, assert_fact
    update_memory    supersede, retract         delete_memory    erase

The invariant: without a program that has loaded OpenTelemetry's API (extra `telemetry`) nothing is imported and
nothing is done. No words of a question or of the log are in a span, unless the user has opted in by
``OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true``.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sized
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

from firsthand import environment
from firsthand.answer import Answer, Query
from firsthand.log.results import Erasure

P = ParamSpec("P")
T = TypeVar("T")
OPERATIONS = {
    "recall": "search_memory", "append": "create_memory", "note": "create_memory", "append_messages": "create_memory",
    "assert_fact": "create_memory", "supersede": "update_memory", "retract": "update_memory", "erase": "delete_memory",
}  # fmt: skip


def traced(method: Callable[P, T]) -> Callable[P, T]:
    """Have a verb of `Memory` make a span of its kind."""

    @functools.wraps(method)
    def verb(*arguments: P.args, **named: P.kwargs) -> T:
        if "opentelemetry.trace" not in sys.modules:
            return method(*arguments, **named)
        space: Any = arguments[0]
        asked = {**named, "query": arguments[1]} if method.__name__ == "recall" and len(arguments) > 1 else named
        with span(method.__name__, space.namespace, asked) as report:
            result = method(*arguments, **named)
            report(result)
        return result

    return verb


@contextmanager
def span(verb: str, namespace: str, asked: Mapping[str, Any], **more: str | int) -> Iterator[Callable[[object], None]]:
    """Make the span of a verb; what is yielded takes its result.

    Args:
        more: attributes of a client: ``server_address`` and ``server_port``.
    """
    trace: Any = sys.modules.get("opentelemetry.trace")
    if trace is None or verb not in OPERATIONS:
        yield lambda _result: None
        return
    about: dict[str, Any] = {
        "gen_ai.operation.name": OPERATIONS[verb], "gen_ai.provider.name": "firsthand",
        "gen_ai.memory.store.id": namespace, **{name.replace("_", ".", 1): value for name, value in more.items()},
    }  # fmt: skip
    about |= {"gen_ai.conversation.id": asked["session"]} if asked.get("session") else {}
    about |= {"gen_ai.retrieval.top_k": asked["hits_max"]} if asked.get("hits_max") else {}
    content = environment.telemetry_content()
    if content and (query := asked.get("query")):
        about["gen_ai.memory.query.text"] = query.text if isinstance(query, Query) else query
    kind = trace.SpanKind.CLIENT if more else trace.SpanKind.INTERNAL
    tracer = trace.get_tracer("firsthand")
    with tracer.start_as_current_span(OPERATIONS[verb], kind=kind, attributes=about) as made:

        def report(result: object) -> None:
            counted = result.erased if isinstance(result, Erasure) else result
            made.set_attribute("gen_ai.memory.record.count", len(counted) if isinstance(counted, Sized) else 1)
            if content and isinstance(result, Answer):
                records = [{"id": hit.pointer, "content": hit.preview, "score": hit.score} for hit in result.hits]
                made.set_attribute("gen_ai.memory.records", json.dumps(records))

        try:
            yield report
        except Exception as error:
            made.set_attribute("error.type", type(error).__name__)
            raise
