"""evals/reclaim/writers.py: a model gets prompt, budget and session, and what it writes is carried and judged."""

from __future__ import annotations

from firsthand.evals.reclaim import experiments, run, tables, writers
from firsthand.evals.reclaim.experiments import Options
from firsthand.evals.reclaim.readers import Recomputing
from firsthand.llm import Recorded, Reply


class Clerk:
    """A writer that follows its prompt in all wordings but one, where it writes the conclusion."""

    def __init__(self) -> None:
        self.asked = []

    def complete(self, messages, *, max_tokens, temperature=0.0, tools=(), stop=()):
        self.asked.append(messages)
        prompt, told = (one["content"] for one in messages)
        opening = next(line for line in told.splitlines() if line.startswith("user: "))
        concludes = prompt.startswith(writers.PROMPTS["source_first_d"])
        text = "You concluded: $1." if concludes else opening.partition("A note")[0]
        return Reply(f" {text} ", {"role": "assistant", "content": text}, (), None, None, 0.0)


def test_the_spread_over_four_wordings_is_measured(tmp_path):
    """Three wordings keep the source and one does not: the table says how far apart they are; replayed alike."""
    clerk = Clerk()
    file = tmp_path / "said.jsonl"
    cases = experiments.cases(["prompts"], Options(n=3, writers=writers.wordings(Recorded(file, clerk))))
    items = list(run.run(cases, Recomputing()))
    (found,) = tables.tables(items)
    assert [(cell.label("memory"), cell.recovered.share) for cell in found.cells] == [
        ("source_first_auto", 1), ("source_first_b", 1), ("source_first_c", 1), ("source_first_d", 0),
    ]  # fmt: skip
    assert found.remarks == ("spread 1.00 over 4 wordings, n = 3 each",)
    assert len(clerk.asked) == 12
    again = experiments.cases(["prompts"], Options(n=3, writers=writers.wordings(Recorded(file))))
    assert list(run.run(again, Recomputing())) == items


def test_a_writer_is_told_its_budget_and_sees_the_session():
    """The prompt ends with the budget, the session follows with its roles, and the note is carried without spaces."""
    clerk = Clerk()
    memory = writers.written(clerk, "summary").make()
    told = [{"role": "user", "content": "7 mugs at $4 each. A note"}, {"role": "assistant", "content": "ANSWER: 1"}]
    assert memory.write(told, 80) == "user: 7 mugs at $4 each."
    assert clerk.asked == [
        [
            {"role": "system", "content": f"{writers.SUMMARY} Write at most 80 characters, and nothing but the note."},
            {"role": "user", "content": "user: 7 mugs at $4 each. A note\nassistant: ANSWER: 1"},
        ]
    ]
