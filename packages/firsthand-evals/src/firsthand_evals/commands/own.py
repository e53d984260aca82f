"""The command ``eval own``: what a user's own store would have brought, what was volunteered, what a summary lost.

    Before 9 of 105 messages recall would have brought something; ...

The store is opened to be read alone; no model and no network.
"""

from __future__ import annotations

import argparse

from firsthand import InvalidArgument
from firsthand.cli.exits import DONE
from firsthand.cli.output import Output
from firsthand.cli.stores import to_read
from firsthand.value import asdict
from firsthand_evals import own_report, pages
from firsthand_evals.commands.experiments import can_be_written, progress, show, write
from firsthand_evals.own_store import Replay


def own(chosen: argparse.Namespace, out: Output) -> int:
    """Run the command."""
    can_be_written(chosen, "html")
    with to_read(chosen) as memory:
        replay = Replay(memory, moments=chosen.moments, seed=chosen.seed)
        if not replay.sessions:
            raise InvalidArgument(
                f"expected a store with sessions; {memory.path} has none in the namespace {memory.namespace!r}: "
                "firsthand import brings in what your agents have kept"
            )
        findings = replay.findings(progress(out, "replayed", "messages"))
    page = own_report.page(findings, (("seed of the sample", str(chosen.seed)), ("command", "firsthand eval own")))
    show([{"own": asdict(findings)}], page, out)
    if chosen.html is not None:
        write(chosen.html, pages.html(page), out)
    return DONE
