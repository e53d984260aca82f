"""A server for teams over a store in PostgreSQL, with principals, for the tests of this folder.

with Team(server, make_database(server), tmp_path) as team:
key = team.key("alice", shop=["read", "append"])       a key, and grants by namespace
team.client(key).session("s").user("...")               the verbs of Memory
team.ask(key, "POST", "/v1/recall", {"query": "..."})   any request
team.mcp(key, "tools/call", {"name": "recall", ...})    a message of MCP
other = team.server()                                   a further server over the same store
"""

from __future__ import annotations

import json
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import httpx
from postgres_server import OWNER, PostgresServer

from firsthand import Client, Verification
from firsthand.server.teams.administration import Administration
from firsthand.server.teams.gateway import Terms
from firsthand.server.teams.grants import AUDIT
from firsthand.server.teams.service import TeamServer

EVERY = ("read", "append", "ledger", "erase", "admin")


class Team:
    """A store, its owner, and servers over it in threads of this process.

    Attributes:
        owner: makes keys, grants and limits.
        logged: the lines that the servers logged.
        url, gateway: of the first server.
    """

    def __init__(self, postgres: PostgresServer, database: str, folder: Path, **terms: Any) -> None:
        self._until, self._folder, self._terms = ExitStack(), folder, terms
        self.dsn = postgres.dsn(database=database)
        self.owner_dsn = postgres.dsn(OWNER, database)
        self.owner = self._until.enter_context(Administration(self.owner_dsn))
        self.logged: list[str] = []
        first = self.server()
        self.url, self.gateway = first.url, first.gateway

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._until.close()

    def server(self) -> TeamServer:
        """Start a further server, which ends with the first one."""
        audience = self._terms.get("audience", "")
        options = {name: term for name, term in self._terms.items() if name != "audience"}
        terms = Terms(**{"url": "https://memory.example.com", "requests_per_s": 0.0} | options)
        server = TeamServer(
            self.dsn, terms=terms, audience=audience, replicas=self._folder / "replicas", log=self.logged.append
        )
        thread = threading.Thread(target=server.run)
        thread.start()
        self._until.callback(thread.join)
        self._until.callback(server.stop)
        return server

    def key(self, principal: str, /, **grants: Any) -> str:
        """Make a key for a principal, with rights by namespace."""
        for namespace, rights in grants.items():
            self.owner.grant(principal, namespace, rights)
        return self.owner.add_key(principal)

    def verify(self, namespace: str) -> Verification:
        """Derive every hash of a namespace again."""
        return self.owner.log.verify(namespace=namespace)

    def audit(self) -> list[dict[str, Any]]:
        """Give what the audit log holds."""
        reader = self.owner.log.reader
        return [json.loads(reader.content(event)) for event in reader.events(AUDIT)]

    def client(self, key: str, namespace: str | None = None, url: str = "") -> Client:
        """Give a client of the first server, or of that at an address."""
        client = Client(url or self.url, token=key, namespace=namespace)
        self._until.callback(client.close)
        return client

    def ask(
        self, key: str, method: str, path: str, fields: Any = None, *, url: str = "", **headers: str
    ) -> httpx.Response:
        """Send any request."""
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        named |= {"authorization": f"Bearer {key}"} if key else {}
        content = fields if isinstance(fields, bytes | None) else json.dumps(fields).encode()
        return httpx.request(method, (url or self.url) + path, content=content, headers=named, timeout=30)

    def mcp(self, key: str, method: str, parameters: Any = None, *, query: str = "", url: str = "") -> httpx.Response:
        """Send a message of MCP."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters or {}}
        accepts = "application/json, text/event-stream"
        headers = {"accept": accepts, "content_type": "application/json", "mcp_protocol_version": "2025-06-18"}
        return self.ask(key, "POST", f"/mcp{query}", message, url=url, **headers)
