"""bench/reclaim_model_bench.py and its report: what the record of a run says, and how replies are read."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

import reclaim_model_bench
from firsthand.llm import Recorded, Reply
from firsthand.value import replace
from firsthand_evals.reclaim import items, run, tasks, writers
from firsthand_evals.reclaim.models import ITEMS
from firsthand_evals.reclaim.policies import LOSSY, SOURCE_FIRST, policy
from firsthand_evals.reclaim.readers import Asked, Believing, Recomputing
from reclaim_model_report import leniently, report

SUM, PUZZLE = tasks.arithmetic(1)[0], tasks.logic(1)[0]


class Says:
    """A model that repeats what stands behind the memory's head, without an answer line."""

    def complete(self, messages, *, max_tokens, temperature=0.0, tools=(), stop=()):
        text = f"The correct answer is: {Believing().answer(messages).removeprefix('ANSWER: ')}"
        return Reply(text, {"role": "assistant", "content": text}, (), 100, 10, 1.5)


class Writes:
    """A writer that keeps the first message, and makes up a price."""

    def complete(self, messages, *, max_tokens, temperature=0.0, tools=(), stop=()):
        text = f"{messages[-1]['content'].split('user: ')[1].partition('A note')[0]}\nMaps at $977 each."
        return Reply(text, {"role": "assistant", "content": text}, (), None, None, 0.0)


@pytest.fixture
def folder(tmp_path):
    """Make a folder as a run leaves it."""
    subjects = [policy(LOSSY), policy(SOURCE_FIRST)]
    read = [case for one in subjects for case in run.cases(one, (*tasks.arithmetic(3), *tasks.logic(3)))]
    (tmp_path / "reader" / "replies").mkdir(parents=True)
    recorded = Recorded(tmp_path / "reader" / "replies" / "small-0.jsonl", Says())
    kept(tmp_path / "reader", run.run(read, Asked(recorded, "small")))
    kept(tmp_path / "server", run.run(read[:4], Asked(Says(), "small (asking in words)")))
    written = [
        case for name in ("source_first_auto", "source_first_checked")
        for case in run.cases(writers.written(Writes(), name, "small"), tasks.arithmetic(3))
    ]  # fmt: skip
    kept(tmp_path / "writer", run.run(written, Recomputing()))
    return tmp_path


def kept(folder: Path, found) -> None:
    folder.mkdir(exist_ok=True)
    list(items.keep(found, folder / ITEMS))


def item(problem, reply):
    (made,) = run.run(run.cases(policy(LOSSY), [problem]), Recomputing())
    return replace(made, replies=(reply,))


@pytest.mark.parametrize(
    ("problem", "reply", "read"),
    [
        (SUM, "The correct answer is: {answer}", "recovered"),
        (SUM, "It was {answer}.\nThe total is {attractor}.", "attractor"),
        (SUM, "I got 7 and 9.\nSo 3.\nOr 4 or 5.", "another value"),
        (SUM, "I cannot say.", "nothing"),
        (SUM, "1 or 2", "nothing"),
        (PUZZLE, "You are right, it is {attractor}.", "attractor"),
        (PUZZLE, "It is {answer}, not {attractor}.", "recovered"),
        (PUZZLE, "The cook.", "nothing"),
    ],
)
def test_a_reply_without_an_answer_line_is_read_by_its_last_value(problem, reply, read):
    """The last line that names one value counts, whatever stands around it."""
    assert leniently(item(problem, reply.format(answer=problem.answer, attractor=problem.attractor))) == read


def test_the_report_counts_what_the_folder_holds(folder):
    """Strictly nothing is recovered, leniently the conclusion is repeated; writers, server and cost are told."""
    told = report(folder)
    assert "12 of 12 replies hold no answer line that can be read; 0 recover, 0 give" in told
    assert "| lossy | arithmetic | 3 | 0 of 3 (at most 1.000) | 1.000 [0.439, 1.000] (3 of 3) |" in told
    assert "- arithmetic, source_first minus lossy: -1.000 [-1.000, -1.000] fewer (3 problems, 3 pairs)" in told
    rows = {line.split(" | ")[0]: line for line in told.splitlines() if " by small" in line}
    all_, none = "1.000 [0.439, 1.000] (3 of 3)", "0 of 3 (at most 1.000)"
    assert rows["| source_first_auto by small"].split(" | ")[2:7] == [all_, none, none, none, all_]
    assert rows["| source_first_checked by small"].split(" | ")[2:7] == [all_, none, none, none, none]
    assert "4 items, none lost; 4 of 4 replies are those of the model in this process" in told
    assert "| reader | 12 | 12 | 1,200 | 120 | 1.5 |" in told


def test_a_report_says_which_part_was_not_run(tmp_path):
    """An empty folder is no failure and no figure."""
    told = report(tmp_path)
    assert [line for line in told.splitlines() if line.endswith("was not run.")] == [
        "The reader was not run.", "The writer was not run.", "The server was not run.",
    ]  # fmt: skip


def test_a_report_asks_nothing(folder, tmp_path, monkeypatch):
    """With --write the folder is read, and no model is loaded or asked."""
    out = tmp_path / "report.md"
    monkeypatch.setattr(sys, "argv", ["reclaim_model_bench.py", "--out", str(folder), "--write", str(out)])
    reclaim_model_bench.main()
    assert out.read_text().startswith("# A small model in the reclaim evaluation\n")
