"""The forms that a note of the third set may have: tables, lists, configuration, code, marked-up and plain text.

None is a form of an older part. Each takes rows of a label, a value and a sentence, and a topic; what stands in a
row stands between two marks that are taken out later, so that a place to cut is known. The invariant: nothing but
the rows' own words carries a value.

Who works on the probe does not read this file.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from .second_forms import CLOSE, OPEN, Form, Row, bare, cell, key, low

__all__ = ["CLOSE", "FORMS", "KEYED", "LINED", "OPEN", "Row", "bare"]


def marked(row: Row) -> str:
    """Give the sentence between marks, with a capital unless it begins with a name out of code."""
    first = row.told.split()[0]
    return low(row) if set(first) & set("_/.0123456789") else OPEN + row.told[:1].upper() + row.told[1:] + CLOSE


# by label and value ------------------------------------------------------------------------------------


def dotted(rows: Sequence[Row], topic: str) -> str:
    width = max(len(r.label) for r in rows) + 6
    return f"{topic}\n" + "\n".join(f"{r.label + ' ':.<{width}} {cell(r)}" for r in rows)


def three(rows: Sequence[Row], topic: str) -> str:
    body = "\n".join(f"{at} | {r.label} | {cell(r)}" for at, r in enumerate(rows, 1))
    return f"{topic}\n\n# | item | value\n--|--|--\n{body}"


def turned(rows: Sequence[Row], topic: str) -> str:
    return f"**{topic}**\n\n| value | of what |\n|---|---|\n" + "\n".join(f"| {cell(r)} | {r.label} |" for r in rows)


def semicolons(rows: Sequence[Row], topic: str) -> str:
    return f"{topic}\n" + "\n".join(f"{r.label};{cell(r)}" for r in rows)


def toml(rows: Sequence[Row], topic: str) -> str:
    return f"# {topic}\n[session]\n" + "\n".join(f'"{r.label}" = "{cell(r)}"' for r in rows)


def dotenv(rows: Sequence[Row], topic: str) -> str:
    return f"# {topic}\n" + "\n".join(f"{key(r).upper().replace('-', '_')}='{cell(r)}'" for r in rows)


def flat(rows: Sequence[Row], topic: str) -> str:
    return json.dumps({"_": topic} | {r.label: cell(r) for r in rows}, ensure_ascii=False)


def array(rows: Sequence[Row], topic: str) -> str:
    return topic + "\n" + json.dumps([[r.label, cell(r)] for r in rows], ensure_ascii=False)


def mapping(rows: Sequence[Row], topic: str) -> str:
    return f"# {topic}\nremembered:\n" + "\n".join(f'  "{r.label}": "{cell(r)}"' for r in rows)


def logfmt(rows: Sequence[Row], topic: str) -> str:
    return f"{topic}\nlevel=info " + " ".join(f'{key(r)}="{cell(r)}"' for r in rows)


def checklist(rows: Sequence[Row], topic: str) -> str:
    return f"## {topic}\n" + "\n".join(f"- [x] {r.label}: {cell(r)}" for r in rows)


def numbered(rows: Sequence[Row], topic: str) -> str:
    return f"{topic}\n" + "\n".join(f"{at}) {r.label}: {cell(r)}" for at, r in enumerate(rows, 1))


def bold(rows: Sequence[Row], topic: str) -> str:
    return f"{topic}\n" + "\n".join(f"* **{r.label}** — {cell(r)}" for r in rows)


def headings(rows: Sequence[Row], topic: str) -> str:
    return f"# {topic}\n\n" + "\n\n".join(f"#### {r.label}\n{cell(r)}" for r in rows)


def tree(rows: Sequence[Row], topic: str) -> str:
    last = len(rows) - 1
    return f"{topic}\n" + "\n".join(f"{'└' if at == last else '├'}─ {r.label}: {cell(r)}" for at, r in enumerate(rows))


def elements(rows: Sequence[Row], topic: str) -> str:
    body = "\n".join(f'  <fact of="{r.label}">{cell(r)}</fact>' for r in rows)
    return f'<memory about="{topic}">\n{body}\n</memory>'


def assigned(rows: Sequence[Row], topic: str) -> str:
    return f"# {topic}\nfacts = dict()\n" + "\n".join(f'facts["{r.label}"] = "{cell(r)}"' for r in rows)


def trailers(rows: Sequence[Row], topic: str) -> str:
    return f"chore: {topic}\n\n" + "\n".join(f"{r.label.title().replace(' ', '-')}: {cell(r)}" for r in rows)


def added(rows: Sequence[Row], topic: str) -> str:
    return f"@@ {topic} @@\n" + "\n".join(f"+{r.label} = {cell(r)}" for r in rows)


def arrows(rows: Sequence[Row], topic: str) -> str:
    return f"{topic}\n" + "\n".join(f"{r.label} → {cell(r)}" for r in rows)


def defined(rows: Sequence[Row], topic: str) -> str:
    return f"{topic}\n\n" + "\n\n".join(f"{r.label}\n:   {cell(r)}" for r in rows)


def stamped(rows: Sequence[Row], topic: str) -> str:
    return f"--- {topic} ---\n" + "\n".join(f"[memo] {r.label}: {cell(r)}" for r in rows)


def inline(rows: Sequence[Row], topic: str) -> str:
    return f"{topic} " + " | ".join(f"{r.label}={cell(r)}" for r in rows)


KEYED: dict[str, Form] = {
    "dotted": dotted, "three": three, "turned": turned, "semicolons": semicolons, "toml": toml, "dotenv": dotenv,
    "flat": flat, "array": array, "mapping": mapping, "logfmt": logfmt, "checklist": checklist, "numbered": numbered,
    "bold": bold, "headings": headings, "tree": tree, "elements": elements, "assigned": assigned,
    "trailers": trailers, "added": added, "arrows": arrows, "defined": defined,
    "stamped": stamped, "inline": inline,
}  # fmt: skip


# by sentences --------------------------------------------------------------------------------------------


def chained(rows: Sequence[Row], topic: str) -> str:
    return f"{topic} " + "; ".join(low(r) for r in rows) + "."


def bullets(rows: Sequence[Row], topic: str) -> str:
    return f"{topic}\n" + "\n".join(f"• {marked(r)}." for r in rows)


def counted(rows: Sequence[Row], topic: str) -> str:
    return f"{topic} " + ", ".join(f"({at}) {low(r)}" for at, r in enumerate(rows, 1))


def handoff(rows: Sequence[Row], topic: str) -> str:
    return f"# Handoff\n{topic}\n\n" + "\n".join(f"> {marked(r)}" for r in rows)


def lines(rows: Sequence[Row], _topic: str) -> str:
    return "\n".join(f"{marked(r)}." for r in rows)


def wrapped(rows: Sequence[Row], _topic: str) -> str:
    return "<memory>\n" + " ".join(f"{marked(r)}." for r in rows) + "\n</memory>"


def listed(rows: Sequence[Row], topic: str) -> str:
    return json.dumps({"summary": topic, "statements": [low(r) for r in rows]}, ensure_ascii=False)


def stars(rows: Sequence[Row], topic: str) -> str:
    return f"*{topic}*\n" + "\n".join(f"   ★ {low(r)}" for r in rows)


def one_column(rows: Sequence[Row], topic: str) -> str:
    return f"| {topic} |\n|:--|\n" + "\n".join(f"| {low(r)} |" for r in rows)


SPOKEN: dict[str, Form] = {
    "chained": chained, "bullets": bullets, "counted": counted, "handoff": handoff, "lines": lines,
    "wrapped": wrapped, "listed": listed, "stars": stars, "one_column": one_column,
}  # fmt: skip
FORMS: dict[str, Form] = KEYED | SPOKEN
LINED = frozenset(
    "dotted three semicolons toml dotenv mapping checklist bold tree assigned trailers added arrows stamped "
    "bullets handoff lines stars one_column".split()
)
"""The forms with a line for each row, so that a line can be taken out and a note can end with any of them."""
