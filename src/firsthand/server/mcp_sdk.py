"""The MCP SDK, of either major: 2.x has ``MCPServer``, 1.x ``FastMCP``, and little else differs for us.

The invariant: nothing here is imported before a server is made, since the SDK takes
a second to import and is an extra; where it is not installed the error says what to
type. Names of the SDK stand in this file and in no other.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from importlib import import_module
from typing import Any
from urllib.parse import unquote

from firsthand import InvalidArgument
from firsthand.environment import extra_command
from firsthand.value import value

_NO_JSON, _NO_REQUEST, _NO_PARAMETERS = -32_700, -32_600, -32_602  # of JSON-RPC
Answering = Callable[[Mapping[str, Any], Any], Awaitable[Any]]


def missing() -> str:
    """Say that the library of MCP is not installed, and what to type."""
    return f"the MCP server needs the extra agents, and mcp is not installed: {extra_command('agents')}"


@value
class Sdk:
    """The parts of the SDK that a server is made of.

    Attributes:
        major: 1 or 2.
        server, tool, annotations: its classes of these.
        result: the class of what a call of a tool gives.
        tool_error, resource_error: errors that a client is told of in words.
        metadata, arguments: classes that hold what a tool takes.
        completion: the class of what completes an argument.
    """

    major: int
    server: Any
    tool: Any
    annotations: Any
    result: Any
    tool_error: Any
    resource_error: Any
    metadata: Any
    arguments: Any
    completion: Any


def load() -> Sdk:
    """Import the SDK that is installed.

    Raises:
        InvalidArgument: none is.
    """
    try:
        import_module("mcp")
    except ModuleNotFoundError as error:
        raise InvalidArgument(missing()) from error
    try:
        base, types, major = import_module("mcp.server.mcpserver"), import_module("mcp_types"), 2
    except ModuleNotFoundError:  # the older major
        base, types, major = import_module("mcp.server.fastmcp"), import_module("mcp.types"), 1
    errors = import_module(f"{base.__name__}.exceptions")
    functions = import_module(f"{base.__name__}.utilities.func_metadata")
    return Sdk(
        major, base.MCPServer if major == 2 else base.FastMCP, import_module(f"{base.__name__}.tools").Tool,
        types.ToolAnnotations, types.CallToolResult, errors.ToolError, errors.ResourceError,
        functions.FuncMetadata, functions.ArgModelBase, types.Completion,
    )  # fmt: skip


def make_tool(
    sdk: Sdk,
    answering: Answering,
    *,
    name: str,
    description: str,
    takes: Mapping[str, Any],
    gives: Mapping[str, Any],
    reads: bool,
) -> Any:
    """Make a tool whose schemas are those given, and which is handed its arguments as they came.

    The SDK would derive them from a signature: three times the words, and an unknown argument dropped unsaid.

    Args:
        takes, gives: JSON Schemas.
        reads: it changes nothing.
    """

    class Arguments(sdk.arguments):  # type: ignore[misc, name-defined]
        model_config = {"extra": "allow"}  # noqa: RUF012 - the form that pydantic reads

        def model_dump_one_level(self) -> dict[str, Any]:
            return {"given": dict(self.model_extra or {})}

    anything = import_module("pydantic").create_model("Anything", __config__={"extra": "allow"})

    async def run(given: dict[str, Any], ctx: Any) -> Any:
        return await answering(given, ctx)

    # of what only reads, the other two say nothing; of the openness of the world there is none
    hints = {"readOnlyHint": reads, "openWorldHint": False}
    hints |= {} if reads else {"destructiveHint": False, "idempotentHint": True}
    # 1.x wants a model beside a schema; 2.x would check an answer of ours against it once more
    about = sdk.metadata(arg_model=Arguments, **({"output_model": anything} if sdk.major == 1 else {}))
    about.output_schema = dict(gives)
    return sdk.tool(
        fn=run, name=name, description=description, parameters=dict(takes), fn_metadata=about,
        is_async=True, context_kwarg="ctx", annotations=sdk.annotations.model_validate(hints),
    )  # fmt: skip


def make_result(sdk: Sdk, text: str, structured: Mapping[str, Any]) -> Any:
    """Make the answer to a call: a text block, and the same as an object."""
    content = [{"type": "text", "text": text}]
    return sdk.result.model_validate({"content": content, "structuredContent": dict(structured)})


def make_server(
    sdk: Sdk, name: str, *, instructions: str, version: str, tools: list[Any], http: Mapping[str, Any]
) -> Any:
    """Make a server.

    Args:
        http: options of `http_app`, which 1.x takes here.
    """
    if sdk.major == 2:
        title = "Firsthand: memory that keeps the source"
        return sdk.server(
            name, title=title, instructions=instructions, version=version, tools=tools, log_level="WARNING"
        )
    server = sdk.server(name, instructions=instructions, tools=tools, log_level="WARNING", **http)
    server._mcp_server.version = version  # noqa: SLF001 - 1.x tells its own version otherwise
    return server


def http_app(sdk: Sdk, server: Any, http: Mapping[str, Any]) -> Any:
    """Give the ASGI application of a server."""
    return server.streamable_http_app(**(http if sdk.major == 2 else {}))


async def serve_lines(sdk: Sdk, server: Any, lines: Any, out: Any) -> None:
    """Serve a session whose messages are lines, as over standard streams."""
    lowlevel = server._lowlevel_server if sdk.major == 2 else server._mcp_server  # noqa: SLF001 - as its own `run` does
    async with import_module("mcp.server.stdio").stdio_server(_readable(sdk, lines, out), out) as (reading, writing):
        await lowlevel.run(reading, writing, lowlevel.create_initialization_options())


async def _readable(sdk: Sdk, lines: Any, out: Any) -> AsyncIterator[str]:
    """Yield the lines that the SDK can read; the others, which it drops unsaid, are answered by an error here."""
    if sdk.major == 2:
        read = import_module("mcp_types").jsonrpc_message_adapter.validate_json
    else:
        read = import_module("mcp.types").JSONRPCMessage.model_validate_json
    async for line in lines:
        if not line.strip():
            continue
        if error := _refusal(line, read):
            await out.write(json.dumps({"jsonrpc": "2.0", **error}) + "\n")
            await out.flush()
        else:
            yield line


def _refusal(line: str, read: Callable[[str], Any]) -> dict[str, Any]:
    """Say by which id and error a line is answered that the SDK cannot read; empty where it can, or none is due."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        return {"id": None, "error": {"code": _NO_JSON, "message": f"expected a line of JSON: {error}"}}
    if not isinstance(message, dict):
        what = "expected an object with jsonrpc, id and method; batches are not taken"
        return {"id": None, "error": {"code": _NO_REQUEST, "message": what}}
    number = message["id"] if type(message.get("id")) in (str, int) else None
    if number is None and {"id", "method"} <= message.keys():
        return {"id": None, "error": {"code": _NO_REQUEST, "message": "expected a string or an integer as the id"}}
    try:
        read(line)
    except ValueError as error:
        is_request = message.get("jsonrpc") == "2.0" and isinstance(message.get("method"), str)
        if is_request and number is None:  # a notification, which is never answered
            return {}
        code = _NO_PARAMETERS if is_request else _NO_REQUEST
        return {"id": number, "error": {"code": code, "message": f"the message cannot be read: {error}"}}
    return {}


def decoded(sdk: Sdk, name: str) -> str:
    """Read a name that stood in a resource's address: 1.x leaves it percent-encoded."""
    return unquote(name) if sdk.major == 1 else name
