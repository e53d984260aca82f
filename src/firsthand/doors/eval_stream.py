"""The command ``eval stream``: what consolidation does to a memory, after every update.

    schedule stream: 20 streams of 40 updates, 320 episodes each, seeds 0 to 19, 20 arms
    arm        seen strong  seen weak  ...
    no memory  0.264        0.264
    C0 held: ...

Exit code 1 says that a check failed. Everything is made in memory: no store, no model, no
network.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from firsthand.doors.display import shown, table
from firsthand.doors.eval_results import folder_kept, progress
from firsthand.doors.exits import DONE, NOTHING_FOUND
from firsthand.doors.output import Output
from firsthand.evals import registry
from firsthand.evals.stream import arms, curves, page, report
from firsthand.evals.stream.checks import Check, checks
from firsthand.evals.stream.report import SHARES, Run
from firsthand.evals.stream.run import run
from firsthand.value import asdict

NAME = "stream"


def stream_(chosen: argparse.Namespace, out: Output) -> int:
    """Run the command."""
    ran: list[tuple[Run, Sequence[Check]]] = []
    for name in chosen.schedule or ["stream"]:
        streams = run(
            arms.chosen(chosen.arm), range(chosen.seed, chosen.seed + chosen.streams), name,
            episodes=chosen.episodes, progress=progress(out, f"{name}:", "streams"),
        )  # fmt: skip
        one = Run(name, chosen.episodes, tuple(streams))
        ran.append((one, checks(one.streams, one.episodes) if name == "stream" else ()))
        _show(*ran[-1], out)
    _write(chosen.markdown, "\n".join([report.HEAD, *(report.markdown(*one) for one in ran)]), out)
    _write(chosen.html, page.page(ran) if chosen.html else "", out)
    _keep(chosen, out, ran)
    broken = [str(one) for _, made in ran for one in made if not one.held]
    for told in broken:
        out.warn(told)
    return NOTHING_FOUND if broken else DONE


def _show(one: Run, made: Sequence[Check], out: Output) -> None:
    if out.as_json:
        for stream in one.streams:
            out.json({"stream": asdict(stream)})
        for check in made:
            out.json({"check": asdict(check)})
        return
    out.line(str(one))
    rows = [
        (name, *(f"{curves.end(one.streams, name, figure).mean:.3f}" for figure in SHARES),
         f"{curves.end(one.streams, name, 'characters').mean:,.0f}")
        for name in one.arms
    ]  # fmt: skip
    for line in table([("arm", *SHARES, "characters"), *rows]):
        out.line(line)
    for check in made:
        out.line(str(check))


def _write(file: str | None, text: str, out: Output) -> None:
    if file is not None:
        path = Path(file).expanduser()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        out.remark(f"written to {shown(str(path))}")


def _keep(chosen: argparse.Namespace, out: Output, ran: Sequence[tuple[Run, Sequence[Check]]]) -> None:
    kept = folder_kept(chosen)
    if kept is None:
        return
    made = [one for _, found in ran for one in found]
    held = sum(one.held for one in made)
    told = f"{held} of {len(made)} checks held" if made else "no check was asked"
    schedules = ", ".join(one.schedule for one, _ in ran)
    registry.keep(kept, NAME, {
        "headline": f"{told} ({ran[0][0].number} streams; {schedules})",
        "checks": [asdict(one) for one in made],
        "streams": [asdict(stream) for one, _ in ran for stream in one.streams],
    })  # fmt: skip
    out.remark(f"kept in {shown(str(registry.folder_of(kept, NAME)))}")
