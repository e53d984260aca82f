"""The forms that a note of the second set may have, from a table to a comment in code.

Each takes rows of a label, a value and a sentence, and a topic; what stands in a row stands in the text,
between two marks that `second_note` takes out, so that a place to cut is known. The invariant: nothing but
the rows' own words carries a value.

Who works on the probe does not read this file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from firsthand.value import value

OPEN, CLOSE = "\ue000", "\ue001"


@value
class Row:
    """One thing to write down: by its name and value, or as a sentence without a full stop."""

    label: str
    shown: str
    told: str


Form = Callable[[Sequence[Row], str], str]


def marked(row: Row) -> str:
    """Give the sentence between marks, with a capital."""
    return OPEN + row.told[:1].upper() + row.told[1:] + CLOSE


def low(row: Row) -> str:
    """Give the sentence between marks."""
    return OPEN + row.told + CLOSE


def cell(row: Row) -> str:
    """Give the value between marks."""
    return OPEN + row.shown + CLOSE


def key(row: Row) -> str:
    """Give the label as a key."""
    return "_".join(row.label.lower().replace("'", "").split())


# by label and value ------------------------------------------------------------------------------------


def pipes(rows: Sequence[Row], topic: str) -> str:
    return f"### {topic}\n\n| what | noted |\n|:--|--:|\n" + "\n".join(f"| {r.label} | {cell(r)} |" for r in rows)


def columns(rows: Sequence[Row], topic: str) -> str:
    width = max(len(r.label) for r in rows) + 3
    return f"{topic}\n{'-' * (width + 8)}\n" + "\n".join(f"{r.label:<{width}}{cell(r)}" for r in rows)


def boxes(rows: Sequence[Row], topic: str) -> str:
    left, right = max(len(r.label) for r in rows), max(len(r.shown) for r in rows)
    rule = f"+{'-' * (left + 2)}+{'-' * (right + 2)}+"
    body = [f"| {r.label:<{left}} | {cell(r)}{' ' * (right - len(r.shown))} |" for r in rows]
    return "\n".join([topic, rule, *body, rule])


def markup(rows: Sequence[Row], topic: str) -> str:
    cells = "".join(f"<tr><th>{r.label}</th><td>{cell(r)}</td></tr>" for r in rows)
    return f"<table><caption>{topic}</caption>{cells}</table>"


def object_(rows: Sequence[Row], topic: str) -> str:
    return json.dumps({"about": topic, "kept": {r.label: cell(r) for r in rows}}, ensure_ascii=False, indent=1)


def records(rows: Sequence[Row], topic: str) -> str:
    lines = (json.dumps({"k": r.label, "v": cell(r)}, ensure_ascii=False) for r in rows)
    return "\n".join([json.dumps({"topic": topic}, ensure_ascii=False), *lines])


def yaml(rows: Sequence[Row], topic: str) -> str:
    return f"---\nabout: {topic}\nkept:\n" + "\n".join(f"  - {key(r)}: {cell(r)}" for r in rows)


def ini(rows: Sequence[Row], topic: str) -> str:
    return f"; {topic}\n[memo]\n" + "\n".join(f"{key(r)} = {cell(r)}" for r in rows)


def csv(rows: Sequence[Row], topic: str) -> str:
    return f"# {topic}\nname\tnoted\n" + "\n".join(f"{r.label}\t{cell(r)}" for r in rows)


def quoted(rows: Sequence[Row], topic: str) -> str:
    return f'"about","{topic}"\n' + "\n".join(f'"{r.label}","{cell(r)}"' for r in rows)


def ticket(rows: Sequence[Row], topic: str) -> str:
    return f"[TASK] {topic}\nstate: open\nassignee: none\n>> " + "\n>> ".join(f"{r.label}: {cell(r)}" for r in rows)


def log(rows: Sequence[Row], topic: str) -> str:
    return f"INFO memo.open topic={topic!r}\n" + "\n".join(
        f"INFO memo.put name={r.label!r} value={cell(r)!r}" for r in rows
    ).replace("\\ue000", OPEN).replace("\\ue001", CLOSE)


def comment(rows: Sequence[Row], topic: str) -> str:
    return f"# {topic}\n#\n" + "\n".join(f"#   {r.label} -> {cell(r)}" for r in rows) + "\nraise SystemExit"


def outline(rows: Sequence[Row], topic: str) -> str:
    return f"* {topic}\n" + "\n".join(f"** {r.label} :: {cell(r)}" for r in rows)


def asked(rows: Sequence[Row], topic: str) -> str:
    return f"({topic})\n" + "\n".join(f"Q: {r.label}?\nA: {cell(r)}" for r in rows)


def sloppy(rows: Sequence[Row], topic: str) -> str:
    return f"re {topic.lower().rstrip('.')}: " + " // ".join(f"{r.label.lower()} {cell(r)}" for r in rows)


def tabular(rows: Sequence[Row], topic: str) -> str:
    body = " \\\\\n".join(f"{r.label} & {cell(r)}" for r in rows)
    return f"% {topic}\n\\begin{{tabular}}{{lr}}\n{body} \\\\\n\\end{{tabular}}"


KEYED: dict[str, Form] = {
    "pipes": pipes, "columns": columns, "boxes": boxes, "markup": markup, "object": object_, "records": records,
    "yaml": yaml, "ini": ini, "csv": csv, "quoted": quoted, "ticket": ticket, "log": log, "comment": comment,
    "outline": outline, "asked": asked, "sloppy": sloppy, "tabular": tabular,
}  # fmt: skip


# by sentences --------------------------------------------------------------------------------------------


def prose(rows: Sequence[Row], _topic: str) -> str:
    return " ".join(f"{marked(r)}." for r in rows)


def email(rows: Sequence[Row], topic: str) -> str:
    body = "\n".join(f"{marked(r)}." for r in rows)
    return f"From: assistant\nTo: whoever continues\nSubject: {topic}\n\nHello,\n\n{body}\n\nRegards"


def minutes(rows: Sequence[Row], topic: str) -> str:
    return f"MINUTES. Item: {topic}\n" + "\n".join(f"  · It was stated that {low(r)}." for r in rows)


def turns(rows: Sequence[Row], topic: str) -> str:
    return f"<assistant> {topic}\n" + "\n".join(f"<user> {low(r)}" for r in rows)


def dashes(rows: Sequence[Row], topic: str) -> str:
    return f"{topic}\n" + "\n".join(f"– {low(r)}" for r in rows)


def docstring(rows: Sequence[Row], topic: str) -> str:
    return f'"""{topic}\n\n' + "\n".join(f"    {marked(r)}." for r in rows) + '\n"""'


def slashes(rows: Sequence[Row], topic: str) -> str:
    return f"// {topic}\n" + "\n".join(f"// NB {low(r)}" for r in rows)


def run_on(rows: Sequence[Row], _topic: str) -> str:
    return "ok noting: " + " and ".join(low(r) for r in rows)


SPOKEN: dict[str, Form] = {
    "prose": prose, "email": email, "minutes": minutes, "turns": turns, "dashes": dashes, "docstring": docstring,
    "slashes": slashes, "run_on": run_on,
}  # fmt: skip
FORMS: dict[str, Form] = KEYED | SPOKEN


def bare(text: str) -> str:
    """Take the marks out."""
    return text.replace(OPEN, "").replace(CLOSE, "")
