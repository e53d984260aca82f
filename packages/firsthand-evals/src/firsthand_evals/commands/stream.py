"""The command ``eval stream``: what consolidation does to a memory, after every update, by pack.

    schedule stream: 20 streams of 40 updates, 320 episodes each, seeds 0 to 19, 20 arms
    arm        seen strong  seen weak  ...
    no memory  0.264        0.264
    C0 held: ...

Exit code 1 says that a check failed. What a pack is, is said in `evals.stream.packs`.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from firsthand import environment
from firsthand.cli.display import shown, table
from firsthand.cli.exits import DONE, NOTHING_FOUND
from firsthand.cli.output import Output
from firsthand.cli.stores import to_read
from firsthand.value import fields
from firsthand_evals import registry
from firsthand_evals.commands.results import can_be_written, folder_kept, progress
from firsthand_evals.stream import packs
from firsthand_evals.stream.packs import ALWAYS, Options, Pack, Report


def stream_(chosen: argparse.Namespace, out: Output) -> int:
    """Run the command."""
    can_be_written(chosen, "html", "markdown")
    pack, kept = packs.named(chosen.pack), folder_kept(chosen)
    typed = {name: getattr(chosen, name) for name in fields(Options) if name not in ALWAYS}
    found = packs.run(
        pack,
        Options(
            **{name: it for name, it in typed.items() if it not in (None, [], False)}, folder=kept,
            key=environment.model_key(), tell=out.warn, store=partial(to_read, chosen), progress=partial(progress, out),
        ),
    )  # fmt: skip
    _show(found, out)
    if chosen.markdown is not None:
        _write(chosen.markdown, found.markdown(), out)
    if chosen.html is not None:
        _write(chosen.html, found.html(), out)
    _keep(kept, pack, found, out)
    for told in found.failed:
        out.warn(told)
    return NOTHING_FOUND if found.failed else DONE


def _show(found: Report, out: Output) -> None:
    if out.as_json:
        for one in found.records:
            out.json(one)
        return
    for section in found.sections:
        out.line(section.told)
        for line in (*table(section.rows), *section.lines):
            out.line(line)


def _write(file: str, text: str, out: Output) -> None:
    path = Path(file).expanduser()
    path.write_text(text, encoding="utf-8")
    out.remark(f"written to {shown(str(path))}")


def _keep(kept: Path | None, pack: Pack, found: Report, out: Output) -> None:
    if kept is not None:
        registry.keep(kept, pack.experiment, {"headline": found.headline, **found.kept})
        out.remark(f"kept in {shown(str(registry.folder_of(kept, pack.experiment)))}")
