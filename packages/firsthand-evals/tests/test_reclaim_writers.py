"""evals/reclaim/writers.py: a model gets prompt, budget and session, and what it writes is carried and judged."""

from __future__ import annotations

from firsthand_evals.endpoint import Reply
from firsthand_evals.models import Recorded
from firsthand_evals.reclaim import experiments, run, writers
from firsthand_evals.reclaim.experiments import Options
from firsthand_evals.reclaim.readers import Recomputing


class Clerk:
    """A writer that follows its prompt in all wordings but one, where it writes the conclusion."""

    def __init__(self) -> None:
        self.asked = []

    def complete(self, messages, *, max_tokens, temperature=0.0, tools=()):
        self.asked.append(messages)
        (told,) = (one["content"] for one in messages)
        prompt = told.rpartition("That was the conversation. ")[2]
        opening = next(line for line in told.splitlines() if line.startswith("user: "))
        concludes = prompt.startswith(writers.PROMPTS["source_first_d"])
        text = "You concluded: $1." if concludes else opening.partition("A note")[0]
        return Reply(f" {text} ", (), None, None)


def test_the_spread_over_four_wordings_is_measured(tmp_path):
    """Three wordings keep the source and one does not: the table says how far apart they are; replayed alike."""
    clerk = Clerk()
    file = tmp_path / "said.jsonl"
    cases = experiments.cases(["prompts"], Options(n=3, writers=writers.wordings(Recorded(file, lambda: clerk))))
    items = list(run.run(cases, Recomputing()))
    (found,) = experiments.tables_of(items)
    assert [(cell.label("memory"), cell.recovered.share) for cell in found.cells] == [
        ("source_first_auto", 1), ("source_first_b", 1), ("source_first_c", 1), ("source_first_d", 0),
    ]  # fmt: skip
    assert found.remarks == ("spread 1.00 over 4 wordings, n = 3 each",)
    assert len(clerk.asked) == 12
    again = experiments.cases(["prompts"], Options(n=3, writers=writers.wordings(Recorded(file))))
    assert list(run.run(again, Recomputing())) == items


def test_a_writer_is_told_its_budget_and_sees_the_session():
    """The session comes with its roles, the prompt behind it with the budget; the note is carried without spaces."""
    clerk = Clerk()
    memory = writers.written(clerk, "summary").make()
    told = [{"role": "user", "content": "7 mugs at $4 each. A note"}, {"role": "assistant", "content": "ANSWER: 1"}]
    assert memory.write(told, 80) == "user: 7 mugs at $4 each."
    assert clerk.asked == [
        [
            {
                "role": "user",
                "content": "This is a conversation between a user and an assistant:\n\n"
                "user: 7 mugs at $4 each. A note\nassistant: ANSWER: 1\n\n"
                f"That was the conversation. {writers.SUMMARY} Write at most 80 characters, and nothing but the note.",
            }
        ]
    ]


SESSION = [
    {"role": "user", "content": "7 mugs at $4 each, 9 pens at $2 each."},
    *({"role": role, "content": f"{role} says {number}"} for number in range(4) for role in ("assistant", "user")),
]


class Says:
    """A writer that says what it is told to, in turn."""

    def __init__(self, *texts: str) -> None:
        self.left, self.asked = list(texts), []

    def complete(self, messages, *, max_tokens, temperature=0.0, tools=()):
        self.asked.append(messages)
        return Reply(self.left.pop(0), (), None, None)


def test_a_running_summary_is_written_anew_from_itself_and_what_was_said_since():
    """Each call sees the summary so far and the next messages, none twice; the last summary is carried."""
    model = Says("first", " second ")
    subject = writers.written(model, "running_summary", "says")
    assert (subject.name, subject.make.calls(len(SESSION))) == ("running_summary by says", 2)
    assert subject.make().write(SESSION, 90) == "second"
    told = [one[1]["content"] for one in model.asked]
    lines = [f"{one['role']}: {one['content']}" for one in SESSION]
    assert told == [
        "Summary so far:\n(nothing yet)\n\nSaid since:\n" + "\n".join(lines[:6]),
        "Summary so far:\nfirst\n\nSaid since:\n" + "\n".join(lines[6:]),
    ]
    assert model.asked[0][0]["content"].endswith("Write at most 90 characters, and nothing but it.")


def test_the_memories_of_a_model_are_named_after_it():
    """Two writers are told apart in every table; all but the running summary ask once for a session."""
    found = writers.all_of(Says(), "tiny")
    assert [one.name for one in found] == [f"{name} by tiny" for name in writers.OF_A_MODEL]
    assert [one.make.calls(13) for one in found] == [1, 3, 1]
