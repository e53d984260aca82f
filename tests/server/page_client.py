"""The application of the server without a socket, to ask it for pages of a store in a folder."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import httpx

from firsthand.server.app import application
from firsthand.server.auth import Keys, cookie_name
from firsthand.server.daemon_stores import Stores

HOST = "127.0.0.1:1"


class PageClient:
    """Asks for pages as a browser does that came by a link.

    Attributes:
        faults: what the application wrote to the log.
    """

    def __init__(self, store: Path, namespace: str = "default") -> None:
        self.stores, self.keys, self.faults = Stores(), Keys("sesame"), []
        self.base = f"/{self.stores.place(str(store), namespace, 'none')}"
        self.cookie = self.keys.cookie()
        self.app = application(self.stores, self.keys, self.faults.append, lambda _change: None)
        self.processor_s = 0.0

    def ask(self, path: str, method: str = "GET", form: dict | None = None, content=None, **headers) -> httpx.Response:
        """Ask for a page below the store's."""
        about = {"Cookie": f"{cookie_name(HOST)}={self.cookie}", "Accept": "text/html"} | headers

        async def go() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}", timeout=60) as client:
                return await client.request(method, self.base + path, data=form, content=content, headers=about)

        begun = time.process_time()
        response = asyncio.run(go())
        self.processor_s = time.process_time() - begun
        return response

    def send(self, path: str, form: dict) -> httpx.Response:
        """Send a form as a page of the server does."""
        return self.ask(path, "POST", form | {"proof": self.keys.form(self.cookie)}, Origin=f"http://{HOST}")
