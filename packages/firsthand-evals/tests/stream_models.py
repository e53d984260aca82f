"""Scripted models for the stream evaluation: they read a prompt and reply as a model does, well or badly."""

from __future__ import annotations

import json
import re

from firsthand.ledger.entries import Episode
from firsthand.ledger.solver import Weak, shape_of
from firsthand_evals.stream.model_writer import NO_ANSWER
from firsthand_evals.stream.rules import groups, rule_of

BATCH = 8


def cases_of(prompt: str) -> list[Episode]:
    """Read the numbered cases of a prompt; the pointer is the number."""
    found = re.findall(r"^(\d+)\. (?:\(new\) )?case: (.+) => (.+)$", prompt, re.MULTILINE)
    return [Episode(number, asked.split()[0], asked, answer, int(number)) for number, asked, answer in found]


def entries_of(prompt: str) -> list[str]:
    """Read the entries of a prompt, in order."""
    return re.findall(r"^E\d+\. rule: (.+)$", prompt, re.MULTILINE)


def rules_of(cases: list[Episode]) -> list[tuple[str, list[int]]]:
    """Find the rule of each family, with the numbers of the cases that follow it."""
    made = (rule_of(shape, members) for (_, shape), members in groups(cases).items())
    return [(rule, [int(one.pointer) for one in holds]) for rule, holds in made if rule]


def question(prompt: str) -> str | None:
    """Give the question of a prompt that asks one."""
    _, between, rest = prompt.rpartition("\nQuestion: ")
    return rest.splitlines()[0] if between else None


def reads(prompt: str) -> str:
    """Answer from notes by rule, as a weak reader does; what the prompt says is known is read last."""
    asked = question(prompt) or ""
    known, notes = "", prompt
    if "\nWhat you know by yourself:\n" in prompt:
        known, notes = prompt.split("\nWhat you know by yourself:\n")[1].split("\nNotes:\n")
    notes = notes.rpartition("\nQuestion: ")[0]
    own = "\n".join(f"rule: {line}" for line in known.splitlines() if line)
    return Weak().answer(asked, notes) or Weak().answer(asked, own) or NO_ANSWER


def faithful(prompt: str) -> str:
    """Write the rules that hold, and every case that follows none where no buffer keeps it; lose nothing."""
    if question(prompt) is not None:
        return reads(prompt)
    rules = rules_of(cases_of(prompt))
    if '{"action"' not in prompt:
        return json.dumps([{"text": rule, "sources": numbers} for rule, numbers in rules])
    if "You may not consolidate" in prompt:
        return "[]"
    shapes = {rule.partition(" => ")[0] for rule, _ in rules}
    names = "that no action names is dropped" not in prompt and "name none" not in prompt and "rewritten" not in prompt
    actions = []
    for number, text in enumerate(entries_of(prompt), 1):
        if not (names and text.partition(" => ")[0] in shapes):
            actions.append({"action": "retain", "entries": [number]})
    for rule, numbers in rules:
        shape = rule.partition(" => ")[0]
        old = [n for n, text in enumerate(entries_of(prompt), 1) if text.partition(" => ")[0] == shape]
        actions.append({"action": "consolidate", "cases": numbers, "text": rule, "entries": old if names else []})
    return json.dumps(actions)


def merging(prompt: str) -> str:
    """Be faithful when shown much at once; of a small batch, make one rule of all that it knows."""
    if question(prompt) is not None or '{"action"' not in prompt or "You may not consolidate" in prompt:
        return faithful(prompt)
    cases, entries = cases_of(prompt), entries_of(prompt)
    if len(cases) > BATCH:
        return faithful(prompt)
    replaces = list(range(1, len(entries) + 1)) if "An entry that no action names stays" in prompt else []
    number = shape_of(cases[0].question)[1] if cases else 1
    text = f"* N => 1 * N + {number}"
    return json.dumps([{"action": "consolidate", "cases": [int(it.pointer) for it in cases], "entries": replaces,
                        "text": text}])  # fmt: skip


def silent(prompt: str) -> str:
    """Write nothing, ever; answer as a reader does."""
    return reads(prompt) if question(prompt) is not None else "[]"


def chatty(prompt: str) -> str:
    """Reply prose to everything."""
    return f"Certainly! I looked at {len(prompt)} characters.\nThere is a pattern."


def completion(text: str, tokens: int = 10) -> dict:
    """Write a reply as servers write it, with so many tokens of prompt."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"choices": [choice], "usage": {"prompt_tokens": tokens, "completion_tokens": 2}}
