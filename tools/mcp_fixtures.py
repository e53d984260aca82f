"""Serve Firsthand's MCP server for the conformance suite, with the tools, resources and prompts that it asks for.

Not part of the package. The suite sends no token, so the guard is the SDK's own; all
else is the server that ``firsthand serve`` runs. The fixtures are named and worded
as the suite's scenarios want them.

    python tools/mcp_fixtures.py STORE PORT
"""

from __future__ import annotations

import base64
import sys
from typing import Any

import anyio
import uvicorn
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import (
    AudioContent,
    EmbeddedResource,
    ImageContent,
    PromptMessage,
    TextContent,
    TextResourceContents,
)

from firsthand.server import mcp_sdk
from firsthand.server.mcp_server import Door, Served

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
SOUND = base64.b64encode(b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0D\xac\0\0\x88X\1\0\2\0\x10\0data\0\0\0\0").decode()
MIME = {"image": "image/png", "audio": "audio/wav"}


def text(said: str) -> TextContent:
    return TextContent(type="text", text=said)


def image() -> ImageContent:
    return ImageContent(type="image", data=PIXEL, mime_type=MIME["image"])


def embedded(uri: str, said: str, mime: str = "text/plain") -> EmbeddedResource:
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri=uri, mime_type=mime, text=said))


def add_tools(server: Any) -> None:
    """Add the tools of the scenarios ``tools-call-*``."""

    @server.tool(structured_output=False)
    async def test_simple_text() -> Any:
        """Give a text."""
        return text("This is a simple text response for testing.")

    @server.tool(structured_output=False)
    async def test_image_content() -> Any:
        """Give an image."""
        return image()

    @server.tool(structured_output=False)
    async def test_audio_content() -> Any:
        """Give a sound."""
        return AudioContent(type="audio", data=SOUND, mime_type=MIME["audio"])

    @server.tool(structured_output=False)
    async def test_embedded_resource() -> Any:
        """Give a resource."""
        return embedded("test://embedded-resource", "This is an embedded resource content.")

    @server.tool(structured_output=False)
    async def test_multiple_content_types() -> Any:
        """Give three kinds of content."""
        resource = embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json")
        return [text("Multiple content types test:"), image(), resource]

    @server.tool()
    async def test_error_handling() -> str:
        """Fail."""
        raise ToolError("This tool intentionally returns an error for testing")

    @server.tool()
    async def test_tool_with_progress(ctx: Context) -> str:
        """Report progress three times."""
        for done in (0, 50, 100):
            await ctx.report_progress(done, 100)
            await anyio.sleep(0.05)
        return "done"


def add_resources(server: Any) -> None:
    """Add the resources of the scenarios ``resources-read-*`` and ``resources-templates-read``."""

    @server.resource("test://static-text", mime_type="text/plain", description="A text.")
    async def static_text() -> str:
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", mime_type="image/png", description="An image.")
    async def static_binary() -> bytes:
        return base64.b64decode(PIXEL)

    @server.resource("test://template/{id}/data", mime_type="application/json", description="By an id.")
    async def template(id: str) -> str:  # noqa: A002 - the word of the suite
        return f'{{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}}'


def add_prompts(server: Any) -> None:
    """Add the prompts of the scenarios ``prompts-get-*``."""

    @server.prompt(description="A prompt without arguments.")
    async def test_simple_prompt() -> Any:
        return "This is a simple prompt for testing."

    @server.prompt(description="A prompt with two arguments.")
    async def test_prompt_with_arguments(arg1: str, arg2: str) -> Any:
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @server.prompt(description="A prompt with a resource.")
    async def test_prompt_with_embedded_resource(resourceUri: str) -> Any:  # noqa: N803 - the word of the suite
        found = embedded(resourceUri, "Embedded resource content for testing.")
        said = PromptMessage(role="user", content=text("Please process the embedded resource above."))
        return [{"role": "user", "content": found.model_dump(by_alias=True, mode="json")}, said.model_dump(mode="json")]

    @server.prompt(description="A prompt with an image.")
    async def test_prompt_with_image() -> Any:
        said = text("Please analyze the image above.")
        return [{"role": "user", "content": one.model_dump(by_alias=True, mode="json")} for one in (image(), said)]


def main() -> None:
    store, port = sys.argv[1], int(sys.argv[2])
    door = Door(Served(store=store, agent="conformance", cwd=store))
    for add in (add_tools, add_resources, add_prompts):
        add(door.server)
    uvicorn.run(mcp_sdk.http_app(door.sdk, door.server, door.http), host="127.0.0.1", port=port, log_level="error")


if __name__ == "__main__":
    main()
