"""Small runs of the reclaim evaluation for the tests of what is made of them."""

from __future__ import annotations

from functools import cache

from firsthand_evals.reclaim import experiments, items, own, run, seam
from firsthand_evals.reclaim.page import Report
from firsthand_evals.reclaim.readers import Recomputing
from firsthand_evals.reclaim.requirements import requirements


class Head:
    """Keeps the beginning of a session."""

    def write(self, messages, budget):
        return " ".join(one["content"] for one in messages)[:budget]


class Nasty:
    """Writes what breaks a page or a file that does not escape it, over its budget; fails every fourth time."""

    text = "</pre><script>alert(1)</script> ]]> & \x00\x1b[31m \u202e \ud800 " + "long " * 3000
    calls = 0

    def write(self, messages, budget):
        type(self).calls += 1
        if self.calls % 4 == 0:
            raise KeyError("<b>gone</b>")
        return self.text

    def recall(self, query):
        return self.text


@cache
def ran(names, memory, name, n=3):
    """Ask experiments of one memory; give cases and items."""
    Nasty.calls = 0
    given = experiments.Options(n, subjects=(seam.subject(memory, name),))
    cases = own.cases(names, given, own.Changes())
    return cases, tuple(run.run(cases, Recomputing(), probe=own.regime))


@cache
def report(names, memory, name, n=3, checks=()):
    """Ask, and give all that a page shows."""
    cases, found = ran(names, memory, name, n)
    made = experiments.tables_of(found)
    by_key = {items.key(one, Recomputing()): one for one in cases}
    return Report(found, made, requirements(found, made, (name,)), checks, (name,), by_key, (("seed", "0"),))
