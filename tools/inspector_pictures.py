"""Draw the pictures of docs/inspector.md and docs/own-store.md in a browser, of the session that the tests make.

    python tools/inspector_pictures.py

It needs Chromium and Playwright (extra ``dev``); the pictures are cut to 64 colours, to be small.
"""

from __future__ import annotations

import argparse
import io
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from firsthand import Memory
from firsthand.cli import cli
from firsthand.server.daemon_stores import Stores
from firsthand.server.http_server import HttpServer

HOME = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HOME / "tests" / "server"))
from inspector_store import SESSION, WINDOW, fill  # noqa: E402 - of the tests

PICTURES = {
    "inspector-session.png": f"/session?name={SESSION}&open=3",
    "inspector-calls.png": f"/calls?name={WINDOW}&call=20",
    "inspector-recall.png": "/recall?q=why+does+the+rounding+test+fail",
    "inspector-volunteered.png": "/volunteered",
}


def keep(screenshot: bytes, name: str) -> None:
    """Write a picture into the documents."""
    file = HOME / "docs" / name
    Image.open(io.BytesIO(screenshot)).quantize(64, dither=Image.Dither.NONE).save(file, optimize=True)
    print(f"wrote docs/{name}, {file.stat().st_size:,} bytes")


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        with Memory(store, embedder="none") as memory:
            fill(memory)
        stores = Stores()
        place = stores.place(str(store), "default", "none")
        server = HttpServer(stores, print, port=0)
        server.start()
        with sync_playwright() as run:
            browser = run.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            page.goto(f"{server.url}/open?key={server.keys.link()}&to=/{place}/sessions")
            for name, path in PICTURES.items():
                page.goto(f"{server.url}/{place}{path}")
                page.wait_for_timeout(1_500)
                keep(page.screenshot(), name)
            report = f"{folder}/own.html"
            cli.main(["--store", str(store), "eval", "own", "--html", report])
            page.goto(f"file://{report}")
            keep(page.screenshot(), "own-store.png")
            browser.close()
        server.stop()
        stores.close()


if __name__ == "__main__":
    main()
