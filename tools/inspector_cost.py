"""Measure what each page of the inspector costs: the server's processor, and bytes; of a store of so many events.

    python tools/inspector_cost.py                             100,000 events
    python tools/inspector_cost.py --events 1000000 --store /tmp/million     made once, kept there

Each page is asked for once and then five times more, in this process, without a socket: the first answer reads what a
server reads once of a store, the best of the others is what a look costs. The sessions are those of
`tests/server/inspector_store.py`: a coding session as a host records it, over and over with other chances, and one of
a window with its calls.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

HOME = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(HOME / "tests" / "server"), str(HOME / "tests")]
from inspector_store import BEGIN_US, SESSION, WINDOW, coding_drafts, fill  # noqa: E402 - of the tests
from page_client import PageClient  # noqa: E402 - of the tests

from firsthand import Memory  # noqa: E402 - behind the path of the tests

AGAIN = 5
SESSION_EVENTS = 1_250


def make(store: Path, events: int) -> None:
    """Fill a store with coding sessions, a window's calls and decisions; what is there already stays."""
    with Memory(store, embedder="none") as memory:
        for number in range(len(memory.sessions()), max(0, events - 2_600) // SESSION_EVENTS):
            begin = BEGIN_US - (number + 9) * 86_400_000_000
            memory.append(list(coding_drafts(55, 100 + number, begin)), session=f"codex:{number:08x}-past")
        if not any(session.name == SESSION for session in memory.sessions()):
            fill(memory)
        memory.log.flush_indexes("default")


def pages(client: PageClient) -> dict[str, str]:
    """Give the address of every page, with what costs most of each."""
    call = client.ask(f"/calls.json?name={WINDOW}&call=20").json()["call"]["pointer"]
    before = client.ask(f"/calls.json?name={WINDOW}&call=8").json()["call"]["pointer"]
    event = client.ask(f"/session.json?name={SESSION}&open=9").json()
    pointer = next(row for row in event["turns"] if row.get("number") == 9)["pointer"]
    return {
        "sessions": "/sessions", "sessions, filtered by words": "/sessions?q=invoice",
        "session": f"/session?name={SESSION}", "session, three turns open": f"/session?name={SESSION}&open=9,13,14",
        "session, words in it": f"/session?name={SESSION}&find=rounding", "turn": f"/turn?name={SESSION}&open=9",
        "what the model saw": f"/calls?name={WINDOW}&call=20", "its messages": f"/sent?pointer={call}",
        "two calls compared": f"/compared?pointer={call}&against={before}",
        "what the model saw, of a host": f"/calls?name={SESSION}",
        "recall": "/recall?q=why+does+the+rounding+test+fail",
        "recall, an exact string": "/recall?q=db-7.internal", "event": f"/event?pointer={pointer}",
        "pointer, unfolded": f"/source?pointer={pointer}", "volunteered": "/volunteered",
        "ledger": "/ledger",
        "health": "/health", "erase": "/erase", "erase, by words": "/erase?words=port+5433",
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=100_000, help="of the store, about")
    parser.add_argument("--store", type=Path, help="folder of the store; made there when it has too few sessions")
    parser.add_argument("--only", default="", help="pages whose name begins so")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = chosen.store or Path(folder) / "store"
        make(store, chosen.events)
        client = PageClient(store)
        print(f"{client.ask('/sessions.json').json()['events']:,} events\n")
        print("| page | first, ms | then, ms | kB |\n|---|---|---|---|")
        for name, address in pages(client).items():
            if not name.startswith(chosen.only):
                continue
            seconds = []
            for _ in range(1 + AGAIN):
                response = client.ask(address)
                seconds.append(client.processor_s)
            assert response.status_code == 200, (name, response.text[:400])
            first, best, size = seconds[0] * 1e3, min(seconds[1:]) * 1e3, len(response.content) / 1e3
            print(f"| {name} | {first:.0f} | {best:.0f} | {size:.0f} |")
        client.stores.close()


if __name__ == "__main__":
    main()
