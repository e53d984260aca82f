"""The port: what a request is, and what it costs to have one at hand."""

from __future__ import annotations

import subprocess
import sys

import pytest

import firsthand.llm
from firsthand.errors import InvalidArgument
from firsthand.llm.port import MESSAGES_MAX, REPLY_TOKENS_MAX, STOPS_MAX, TEMPERATURE_MAX, TOOLS_MAX, Request, checked

USER = {"role": "user", "content": "hello"}
TOOL = {"type": "function", "function": {"name": "look_up"}}


def test_nothing_is_imported_before_it_is_used():
    """Importing the package and the room brings neither an HTTP client nor a model; naming the port does not either."""
    code = (
        "import sys, firsthand, firsthand.llm; firsthand.llm.Model; "
        "print({'httpx', 'xllamacpp', 'firsthand.llm.local', 'firsthand.llm.compatible'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "set()\n"


def test_every_public_name_is_there():
    """Each name that the room promises can be had, in order, and another one is no attribute."""
    assert firsthand.llm.__all__ == sorted(firsthand.llm.__all__)
    assert all(getattr(firsthand.llm, name).__name__ == name for name in firsthand.llm.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Anthropic'"):
        firsthand.llm.Anthropic  # noqa: B018


def test_a_request_is_a_copy():
    """A request has what was given as JSON has it, and what the caller changes later does not change it."""
    messages = [{"role": "user", "content": [{"type": "text", "text": "hello"}]}]
    request = checked(messages, (TOOL,), 7, 1, ["end"])
    messages[0]["content"][0]["text"] = "changed"
    held = {"role": "user", "content": [{"type": "text", "text": "hello"}]}
    assert request == Request((held,), (TOOL,), 7, 1.0, ("end",))


def test_limits_are_taken_and_what_is_over_them_is_not():
    """The greatest number of everything is a request; one more is refused with the limit in the error."""
    checked([USER] * MESSAGES_MAX, [TOOL] * TOOLS_MAX, REPLY_TOKENS_MAX, TEMPERATURE_MAX, ["x"] * STOPS_MAX)
    for over, named in [
        (([USER] * (MESSAGES_MAX + 1), (), 1, 0, ()), "100,000 messages"),
        (([USER], [TOOL] * (TOOLS_MAX + 1), 1, 0, ()), "128 tools"),
        (([USER], (), REPLY_TOKENS_MAX + 1, 0, ()), "1,000,000; got 1000001"),
        (([USER], (), 1, TEMPERATURE_MAX + 0.1, ()), "from 0 to 2; got 2.1"),
        (([USER], (), 1, 0, ["x"] * (STOPS_MAX + 1)), "at most 4 texts"),
        (([USER | {"content": "a", "deep": _deep(100_000)}], (), 1, 0, ()), "JSON values only"),
    ]:
        with pytest.raises(InvalidArgument) as told:
            checked(*over)
        assert named in str(told.value)


def _deep(levels: int) -> list:
    held: list = []
    for _ in range(levels):
        held = [held]
    return held
