"""Fill a store with one talk and ask it, in a process of its own: ``python store_process.py JOB OUT``.

Run by the interpreter of the edition that is measured, the first one's too, so it uses nothing of the bench but
`kept` and of Firsthand only what all editions have: `Memory.append`, `Memory.follow`, `Memory.recall`. One session of
the store for each session of the talk, the speaker as the agent, a picture's caption in the event's meta. A question
is asked at the time of the talk's last event.
"""

from __future__ import annotations

import itertools
import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from firsthand import Draft, Kind, Memory, Moment, Trust
from firsthand.answer import Query

APPENDED = 500  # events an append, at most
DEADLINE_MS = 120_000  # no answer is cut short because the machine is busy
SPEAKERS = {
    "user_message": ("user", Trust.TRUSTED), "agent_message": ("agent", Trust.AGENT),
    "tool_call": ("agent", Trust.AGENT), "reasoning": ("agent", Trust.AGENT), "summary": ("host", Trust.AGENT),
}  # fmt: skip


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_bytes())
    folder = Path(job["folder"])
    if job.get("copy_of"):
        shutil.copytree(job["copy_of"], folder)
    with _opened(folder, job) as memory:
        before = time.process_time()
        numbers = fill(memory, job["events"])
        memory.follow()
        filled = time.process_time() - before
        now = max((event["time"] for event in job["events"] if event["time"] is not None), default=None)
        answers = [ask(memory, text, numbers, now, job) for text in job["questions"]]
    Path(sys.argv[2]).write_text(json.dumps({"fill seconds": filled, "answers": answers}))


def fill(memory: Memory, events: list[dict[str, Any]]) -> dict[int, int]:
    """Append the events, session by session as they come; give the number of the event at each position."""
    numbers: dict[int, int] = {}
    for session, group in itertools.groupby(enumerate(events), key=lambda pair: pair[1]["session"]):
        pairs = list(group)
        for start in range(0, len(pairs), APPENDED):
            part = pairs[start : start + APPENDED]
            appended = memory.append([_draft(event) for _, event in part], session=session)
            numbers |= {at.position: number for (number, _), at in zip(part, appended, strict=True)}
    return numbers


def ask(memory: Memory, text: str, numbers: dict[int, int], now: float | None, job: dict[str, Any]) -> dict[str, Any]:
    """Recall as it is by default, but for time and room."""
    query = Query(
        text, hits_max=job["hits"], budget_tokens_max=job["tokens"], deadline_ms=DEADLINE_MS,
        now=None if now is None else Moment(int(now * 1_000_000)),
    )  # fmt: skip
    before = time.process_time()
    answer = memory.recall(query)
    seconds = time.process_time() - before
    likelihood = getattr(answer, "likelihood", None)
    return {
        "numbers": [numbers.get(hit.position, -1) for hit in answer.hits],
        "shown": [len(hit.preview) for hit in answer.hits],
        "said": [numbers.get(hit.position, -1) for hit in getattr(answer, "said", ())],
        "best": answer.confidence if likelihood is None else likelihood,
        "band": str(getattr(answer, "band", "") or answer.outcome.value),
        "seconds": seconds,
    }


def _draft(event: dict[str, Any]) -> Draft:
    origin, trust = SPEAKERS.get(event["kind"], (f"tool:{event['tool'] or 'unknown'}", Trust.UNTRUSTED))
    meta = {"caption": event["caption"], "tool": event["tool"], "call_id": event["call"]}
    return Draft(
        Kind[event["kind"].upper()], event["text"].encode(),
        "application/json" if event["kind"] == "tool_call" and event["text"][:1] == "{" else "text/plain",
        {name: value for name, value in meta.items() if value},
        agent=event["speaker"], origin=origin, trust=trust,
        time=None if event["time"] is None else Moment(int(event["time"] * 1_000_000)),
    )  # fmt: skip


def _opened(folder: Path, job: dict[str, Any]) -> Memory:
    opened = getattr(Memory, "open", Memory)  # the first edition opens a store by a method
    if not job["embedder"]:
        return opened(folder, embedder="none")
    from firsthand.index.embed.named import named
    from quality.kept import Kept

    return opened(folder, embedder=Kept(named(job["embedder"]), Path(job["kept"])))


if __name__ == "__main__":
    main()
