"""Implicit recall on real coding sessions: how often a user's message is answered unasked, and whether that is of use.

    python bench/reminders_bench.py --data DATA --out FOLDER

The sessions of a set are one agent's, one after the other; at each message of the user that is not trivial the
reminder is made as hooks make it, from the sessions before, and then the session is appended. Held-back sessions only.
FOLDER/reminders.json has a sample, spread over each set, for a person to judge; quality/reminder_judgements.json has
the judgements, each with its reason, and the shares in REMINDERS.md are made of them.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from firsthand import Memory
from firsthand.agent_space import AgentSpace
from firsthand.agents.reminders import is_trivial, remind
from firsthand.agents.settings import Settings
from firsthand.answer import Band
from machine import describe
from quality import coding
from quality.store_process import fill
from quality.values import USER

JUDGEMENTS = Path(__file__).parent / "quality" / "reminder_judgements.json"
BANDS = ("likely", "possible")
SAMPLE, SESSIONS_MAX, DEADLINE_MS = 15, 40, 60_000
LOOKED_AT = (
    "Looked at while tuning: none of these sessions; they are of the held-back halves, judged after the last change."
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds pi-sessions and so on")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="folder for REMINDERS.md")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    replayed = {name: list(replay(chosen.data, name)) for name in coding.READERS}
    shown = [[row for row in rows if row["shown"]] for rows in replayed.values()]
    samples = [row for rows in shown for row in rows[:: max(1, -(-len(rows) // SAMPLE))]]
    (chosen.out / "reminders.json").write_text(json.dumps(samples, indent=1, ensure_ascii=False), encoding="utf-8")
    judged = json.loads(JUDGEMENTS.read_text(encoding="utf-8")) if JUDGEMENTS.exists() else []
    lines = [
        "# Reminders on real sessions", "", LOOKED_AT, "",
        f"`python bench/reminders_bench.py --data DATA`, {datetime.now(UTC).date()}, {describe(chosen.out)}.", "",
        "| set | messages | `likely` | `possible` | judged, of use: `likely` | `possible` |", "|---" * 6 + "|",
    ]  # fmt: skip
    for name, rows in replayed.items():
        own = [one for one in judged if one["set"] == name]
        spoke = [sum(row["band"] == band for row in rows if row["shown"]) for band in BANDS]
        useful = [[one["useful"] for one in own if one["band"] == band] for band in BANDS]
        cells = [name, len(rows), *spoke, *(f"{sum(row)} of {len(row)}" for row in useful)]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    (chosen.out / "REMINDERS.md").write_text("\n".join([*lines, ""]), encoding="utf-8")
    print("\n".join(lines))
    return 0


def replay(data: Path, name: str) -> Iterator[dict[str, Any]]:
    """Yield each message of a held-back session with what it brought up."""
    sessions = list(coding.sessions(data, name).items())[:SESSIONS_MAX]
    names = list(coding.sessions(data, name))
    with tempfile.TemporaryDirectory() as folder, Memory(Path(folder) / "store", embedder="none") as memory:
        agent = AgentSpace(memory, "bench")
        settings = Settings(band=Band.POSSIBLE)  # the report tells what each band is worth
        for session, events in sessions:
            agent.enrol(session)
            rows = [
                {"speaker": "", "caption": "", **{key: getattr(one, key) for key in ("session", "kind", "text", "tool",
                 "call", "time")}}
                for one in events
            ]  # fmt: skip
            done = 0
            for index, event in enumerate(events):
                if event.kind != USER or is_trivial(event.text):
                    continue
                fill(memory, rows[done:index])
                done = index
                if coding.is_held_back(session, names):
                    reminder = remind(agent, event.text, session, settings, deadline_ms=DEADLINE_MS)
                    yield {
                        "set": name, "session": session, "index": index, "message": event.text[:1_500],
                        "band": str(reminder.answer.band) if reminder.answer else "", "skipped": str(reminder.skipped),
                        "shown": [f"{hit.session} {hit.kind}: {hit.preview}" for hit in reminder.hits],
                    }  # fmt: skip
            fill(memory, rows[done:])


if __name__ == "__main__":
    sys.exit(main())
