"""The memory provider of Hermes Agent: its lifecycle, one to one on ours.

    system_prompt_block   the preamble           sync_turn        the log
    prefetch              cues, implicit recall  on_pre_compress  exact strings and pointers
    handle_tool_call      recall, expand, remember, decide, timeline, health
    on_session_end        the episode            on_memory_write  a note

The invariant: nothing here raises for a fault of Firsthand's (`adapters.loop`). A session that is not the primary one
(a subagent, a scheduled run) is told things and records nothing, as Hermes asks.

It runs without Hermes too: the base class is Hermes' own where it can be imported.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from firsthand import AgentTools, FirsthandError
from firsthand.adapters.loop import UNREACHABLE, Loop
from firsthand.agents.hosted_session import HostedSession
from firsthand.environment import default_store
from firsthand.value import value

NAME = "firsthand"
HOST = "hermes"
SETTINGS_FILE = "firsthand.json"
SETTINGS_BYTES_MAX = 65_536
PREFIX = "firsthand_"  # Hermes has one list of tools, and other names are short too
PRIMARY = ("", "primary")


def _base() -> Any:
    """Give Hermes' base class of memory providers; `object` where Hermes is not installed."""
    try:
        return import_module("agent.memory_provider").MemoryProvider
    except ModuleNotFoundError as error:
        if error.name not in {"agent", "agent.memory_provider"}:
            raise
        return object


@value
class RecallStatus:
    """What the newest prefetch put in, as Hermes shows it."""

    provider_label: str
    count: int
    glyph: str = "\N{BOOKMARK}"


class FirsthandProvider(_base()):  # type: ignore[misc]
    """Firsthand as Hermes' memory."""

    def __init__(self) -> None:
        self._settings: dict[str, Any] = {}
        self._loop: Loop | None = None
        self._refused = ""
        self._recalled = 0

    @property
    def name(self) -> str:
        return NAME

    # start and end -----------------------------------------------------------------------------------

    def is_available(self) -> bool:
        """Say that it can be used: it needs no key and no network."""
        return True

    def unavailable_reason(self) -> str:
        """Say why the memory is not there, and what to do; empty while it is."""
        return self._refused

    def initialize(self, session_id: str, **facts: Any) -> None:
        """Open the store and begin a session."""
        try:
            self._settings = _read_settings(str(facts.get("hermes_home") or ""))
        except (OSError, ValueError) as error:  # told by each of the calls below
            self._refused, self._loop = f"the memory cannot be opened: {error}", None
            return
        agent = str(self._settings.get("agent") or facts.get("agent_identity") or HOST)
        self._begin(session_id, agent, records=str(facts.get("agent_context") or "") in PRIMARY)

    def initialize_for_inspection(self, session_id: str, **facts: Any) -> None:
        """Open the store to show what there is, and record nothing."""
        self.initialize(session_id, **facts | {"agent_context": "inspection"})

    def _begin(self, session_id: str, agent: str, *, records: bool) -> None:
        across, store = self._settings.get("across") is True, self._settings.get("store") or None
        loop = Loop(store, host=HOST, session=session_id or "unnamed", agent=agent, across=across, records=records)
        is_open = loop.hosted("open", lambda _: True, False)
        self._refused = "" if is_open else f"the memory cannot be opened: {loop.failed}"
        self._loop = loop if is_open else None

    def shutdown(self) -> None:
        """Let the store go; what was acknowledged is on disk."""
        if self._loop is not None:
            self._loop.close()
        self._loop, self._recalled = None, 0

    # what the model is told ----------------------------------------------------------------------------

    def system_prompt_block(self) -> str:
        """Give when to use the tools, and the preamble."""
        if self._loop is None:
            return f"Firsthand: {self._refused}" if self._refused else ""
        return "\n".join(filter(None, (AgentTools.instructions(), self._loop.preamble())))

    def prefetch(self, query: str, *, session_id: str = "") -> str:  # noqa: ARG002 - a provider has one session
        """Give what a message brings up."""
        if self._loop is None:
            return ""
        text = self._loop.prompt(query)
        self._recalled = self._loop.recalled
        return text

    def recall_status(self) -> Any:
        """Say how many events the newest prefetch brought up; None without any."""
        if not self._recalled:
            return None
        hermes: Any = import_module(_base().__module__)  # without Hermes that of `object`, which has no such name
        return getattr(hermes, "RecallStatus", RecallStatus)("Firsthand", self._recalled)

    # what happens --------------------------------------------------------------------------------------

    def sync_turn(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",  # noqa: ARG002 - a provider has one session
        messages: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        """Record a turn: from the list of messages, with its tool calls, where there is one."""
        turn = {"role": "user", "content": user_content}, {"role": "assistant", "content": assistant_content}
        if self._loop is None:
            return
        if messages:
            self._loop.sync(messages)
        else:
            self._loop.add([message for message in turn if message["content"]])

    def on_pre_compress(self, messages: Sequence[Mapping[str, Any]]) -> str:
        """Record what is about to be compressed, and give exact strings of it with pointers."""
        if self._loop is None:
            return ""
        self._loop.sync(messages)
        return self._loop.hosted("compact", lambda hosted: str(hosted.compressing()), "")

    def on_session_end(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Record what is left and write the episode."""
        if self._loop is not None:
            self._loop.sync(messages)
            self._loop.end()

    def on_session_switch(
        self,
        new_session_id: str,
        *,
        parent_session_id: str = "",  # noqa: ARG002 - an episode names its session; lineage is Hermes' own
        reset: bool = False,
        **_: Any,
    ) -> None:
        """Go on in another session; one that is over gets its episode."""
        loop = self._loop
        if loop is None or loop.session == new_session_id:
            return
        if reset:
            loop.end()
        loop.close()
        self._begin(new_session_id, loop.agent, records=loop.records)

    def on_memory_write(
        self,
        action: str,
        target: str,  # noqa: ARG002 - which of Hermes' files
        content: str,
        metadata: Mapping[str, Any] | None = None,  # noqa: ARG002 - Hermes' own
    ) -> None:
        """Keep what Hermes writes into its own memory files as a note; what it removes there stays in the log."""
        if self._loop is not None and self._loop.records and action in {"add", "replace"} and content.strip():
            self._loop.hosted("note", lambda hosted: hosted.remember(content), None)

    # tools ---------------------------------------------------------------------------------------------

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """Give the tools in the form of functions."""
        return [
            {"name": PREFIX + tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
            for tool in AgentTools.definitions()
        ]

    def handle_tool_call(self, tool_name: str, args: Mapping[str, Any], **_: Any) -> str:
        """Answer a call as JSON; what went wrong stands under ``error``."""
        name = tool_name.removeprefix(PREFIX)

        def called(hosted: HostedSession) -> dict[str, Any]:
            try:
                return dict(hosted.tools.call(name, args).structured)
            except FirsthandError as error:
                return {"error": AgentTools.sentence(name, error, store=str(hosted.tools.space.path))}

        refused = {"error": f"{name} was not done: {self._refused or UNREACHABLE}"}
        return json.dumps(refused if self._loop is None else self._loop.hosted(name, called, refused))

    # setup ---------------------------------------------------------------------------------------------

    def get_config_schema(self) -> list[dict[str, Any]]:
        """Say what can be set up; nothing has to be."""
        return [
            {"key": "store", "description": "Folder of the store", "default": str(default_store()), "type": "text"},
            {"key": "agent", "description": "Name of the agent; default: the profile's", "type": "text"},
            {"key": "across", "description": "Recall from other agents' sessions", "default": False, "type": "boolean"},
        ]

    def save_config(self, values: Mapping[str, Any], hermes_home: str) -> None:
        """Keep what was set up in Hermes' folder."""
        known = {setting["key"] for setting in self.get_config_schema()}
        chosen = {key: value for key, value in values.items() if key in known and value not in ("", None)}
        (Path(hermes_home) / SETTINGS_FILE).write_text(json.dumps(chosen, indent=2) + "\n", encoding="utf-8")

    def backup_paths(self) -> list[str]:
        """Name the store's folder."""
        return [str(self._settings.get("store") or default_store())]


def _read_settings(home: str) -> dict[str, Any]:
    """Read what was set up.

    Raises:
        OSError, ValueError: it cannot be read.
    """
    path = Path(home) / SETTINGS_FILE
    if not home or not path.is_file():
        return {}
    with path.open("rb") as file:
        fields = json.loads(file.read(SETTINGS_BYTES_MAX))
    if not isinstance(fields, dict):
        raise ValueError(  # noqa: TRY004 - of the file's content, no argument's type
            f"expected a JSON object in {path}; got {str(fields)[:60]!r}"
        )
    return fields


def register(context: Any) -> None:
    """Hand the provider to Hermes."""
    context.register_memory_provider(FirsthandProvider())
