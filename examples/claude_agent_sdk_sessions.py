"""Sessions of the Claude Agent SDK in a memory: mirrored, read back by the SDK, told to the next one.

    pip install 'firsthand[claude-agent-sdk]'
    python examples/claude_agent_sdk_sessions.py    # offline: a transcript that was written before stands for the CLI

With the CLI and a key the same options run a query: `query(prompt="Go on.", options=options)`.
"""

from __future__ import annotations

import asyncio
import tempfile

from claude_agent_sdk import list_sessions_from_store, project_key_for_directory

from firsthand import Memory
from firsthand.adapters.claude_agent_sdk import FirsthandSessionStore

SESSION = "0b4e2f6a-1c3d-4e5f-8a9b-0c1d2e3f4a5b"
SAID = [
    ("user", "Move the staging database to db7.internal, port 5433."),
    ("assistant", "Staging now runs on db7.internal:5433; the old one is stopped."),
]


def mirrored() -> list[dict]:
    """Give entries as the SDK mirrors them, a hundred milliseconds behind what happens."""
    return [
        {
            "type": role, "uuid": f"{SESSION[:-1]}{number}", "parentUuid": None, "sessionId": SESSION,
            "isSidechain": False, "cwd": "/srv/shop", "timestamp": f"2026-11-22T10:00:0{number}.000Z",
            "message": {"role": role, "content": text},
        }
        for number, (role, text) in enumerate(SAID)
    ]  # fmt: skip


async def run(memory: Memory, cwd: str) -> str:
    """Have one session mirrored, and give what the next one is told."""
    store = FirsthandSessionStore(memory, agent="shop")
    await store.append({"project_key": project_key_for_directory(cwd), "session_id": SESSION}, mirrored())
    for session in await list_sessions_from_store(store, directory=cwd):
        print("session:", session.session_id, "|", session.first_prompt)
    print("episodes:", await store.end())
    options = await store.options(cwd=cwd)  # for query(prompt=..., options=options)
    return str(options.system_prompt["append"])


def main() -> None:
    """Run it in a folder that is removed at the end."""
    with tempfile.TemporaryDirectory() as folder, Memory(f"{folder}/store") as memory:
        print(asyncio.run(run(memory, folder)))


if __name__ == "__main__":
    main()
