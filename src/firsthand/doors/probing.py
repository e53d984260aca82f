"""The command probe: whether notes can still be corrected, from themselves or through their pointers.

    summary.md: uncorrectable_silent: what it takes is not there, and the note looks as if it were whole
      missing: 9 pens at $2
    of 4 notes 2 correctable, 1 reachable, 0 uncorrectable_loud, 1 uncorrectable_silent (0.250 [0.046, 0.699])

The invariant: one line a note, and of several notes every regime is counted; nothing
is averaged away. No model is asked.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from firsthand import InvalidArgument, Memory, Verdict, probe_in, probe_report
from firsthand import probe as judge
from firsthand.doors.display import count, shown
from firsthand.doors.exits import DONE, NOTHING_FOUND, USAGE
from firsthand.doors.output import Output
from firsthand.doors.stores import to_read
from firsthand.evals.stats import rate
from firsthand.value import asdict, value

BYTES_MAX = 64 * 1024 * 1024
"""Of one file."""
ITEMS_MAX = 100_000
_KEYS = {"note", "messages", "claim", "expand", "id"}


@value
class Item:
    """One note to judge.

    Attributes:
        name: of its file, with its number when the file has several.
        expand: what pointers of the note lead to; None leaves it to the messages.
    """

    name: str
    note: str
    messages: tuple[dict[str, Any], ...] = ()
    claim: str | None = None
    expand: dict[str, str] | None = None


def probe(chosen: argparse.Namespace, out: Output) -> int:
    """Judge each note, and count the regimes."""
    try:
        items = [item for file in chosen.file for item in _items(file)]
        stored = bool(chosen.session or chosen.source)
        if stored:
            with to_read(chosen) as memory:
                verdicts = [_stored(memory, item, chosen) for item in items]
        else:
            verdicts = [_judged(item, chosen.claim) for item in items]
    except (InvalidArgument, OSError) as error:
        out.warn(f"firsthand probe: {shown(str(error))}")
        return USAGE
    for item, verdict in zip(items, verdicts, strict=True):
        _print(item, verdict, out)
    _sum_up(verdicts, out)
    return DONE if all(one.correctable for one in verdicts) else NOTHING_FOUND


def _judged(item: Item, claim: str | None) -> Verdict:
    expand = None if item.expand is None else item.expand.get
    try:
        return judge(item.note, item.messages, claim=claim or item.claim, expand=expand)
    except InvalidArgument as error:
        raise InvalidArgument(f"{item.name}: {error}") from error


def _stored(memory: Memory, item: Item, chosen: argparse.Namespace) -> Verdict:
    if item.messages:
        raise InvalidArgument(f"{item.name}: a note stands on its messages or on --session and --source; got both")
    claim = chosen.claim or item.claim
    return probe_in(memory, item.note, session=chosen.session, sources=chosen.source, claim=claim)


# reading ------------------------------------------------------------------------------------------------


def _items(file: str) -> Iterator[Item]:
    """Read the notes of a file: JSON when it is objects with a note, in a list or one a line, else one note."""
    if file == "-":
        data = sys.stdin.buffer.read(BYTES_MAX + 1)
    else:
        with Path(file).open("rb") as opened:
            data = opened.read(BYTES_MAX + 1)
    if len(data) > BYTES_MAX:
        raise InvalidArgument(f"{file}: a file of at most {BYTES_MAX:,} bytes was expected; split it")
    text = data.decode("utf-8", "replace")
    found = _json(text) if text.lstrip()[:1] in {"{", "["} else None
    lines = [line for line in text.split("\n") if line.strip()]
    if found is None and len(lines) > 1 and all(line.lstrip()[:1] == "{" for line in lines):
        found = [_json(line) for line in lines]
    if isinstance(found, dict) and "note" in found:
        yield _item(file, found)
    elif isinstance(found, list) and found and all(isinstance(one, dict) and "note" in one for one in found):
        if len(found) > ITEMS_MAX:
            raise InvalidArgument(f"{file}: at most {ITEMS_MAX:,} notes were expected; got {len(found):,}")
        yield from (_item(f"{file} {number}", one) for number, one in enumerate(found, 1))
    else:
        yield Item(file, text)


def _json(text: str) -> Any:
    """Read JSON; None for a text that is none: a note may begin like JSON, and is judged as the text that it is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # it is no JSON: that is what None says
        return None


def _item(name: str, found: dict[str, Any]) -> Item:
    if unknown := set(found) - _KEYS:
        raise InvalidArgument(f"{name}: expected {', '.join(sorted(_KEYS))}; got {', '.join(sorted(unknown))}")
    messages, expand, claim = found.get("messages", []), found.get("expand"), found.get("claim")
    wrong = not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages)
    if not isinstance(found["note"], str) or wrong or not (claim is None or isinstance(claim, str)):
        raise InvalidArgument(f"{name}: note and claim are texts, messages a list of objects with role and content")
    if expand is not None and not (isinstance(expand, dict) and all(isinstance(one, str) for one in expand.values())):
        raise InvalidArgument(f"{name}: expand is an object: what stands at each pointer, as text")
    return Item(str(found.get("id", name)), found["note"], tuple(messages), claim, expand)


# printing -----------------------------------------------------------------------------------------------


def _print(item: Item, verdict: Verdict, out: Output) -> None:
    if out.as_json:
        out.json({"id": item.name, **asdict(verdict)})
        return
    style = "good" if verdict.correctable else "bad" if verdict.regime.endswith("silent") else "warn"
    out.line(f"{shown(item.name)}: {out.style(verdict.regime, style)}: {verdict.detail}")
    for text in verdict.missing:
        out.line(f"  missing: {shown(text)}")
    if not (verdict.missing or verdict.correctable):
        for one in verdict.claims:
            if one.regime == verdict.regime:
                out.line(f"  concluded: {shown(one.what)}")


def _sum_up(verdicts: list[Verdict], out: Output) -> None:
    """Count the regimes of several notes; the last is given with its interval."""
    if len(verdicts) < 2:
        return
    report = probe_report(verdicts)
    silent = report.of("uncorrectable_silent")
    if out.as_json:
        out.json({"n": report.n, **dict(report.counts)})
        return
    counted = ", ".join(f"{number} {regime}" for regime, number in report.counts)
    out.line(f"of {count(report.n, 'note')} {counted}; silent {rate(silent, report.n)}")
