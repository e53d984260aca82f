"""evals/reclaim/figures.py: numbers as people read them."""

from __future__ import annotations

from reclaim_runs import Head, ran

from firsthand_evals.pages import section_lines
from firsthand_evals.pictures import Figure
from firsthand_evals.reclaim import experiments, figures
from firsthand_evals.reclaim.page import section_of


def cell(memory, **labels):
    found = experiments.tables_of(ran(("reclaim",), Head, "head")[1])[0]
    return found.cell(memory=memory, family="arithmetic", correction="directed", **labels)


def test_a_share_of_all_or_none_has_the_interval_of_the_rule_of_three():
    """Where resampling knows no interval, three by the number of problems bounds the share."""
    assert figures.figure(cell("head"), "reclaim") == Figure(1.0, 0.0, 1.0)
    assert str(figures.figure(cell("lossy"), "reclaim")) == "0.00 [0.00, 1.00]"
    assert str(figures.figure(cell("lossy"), "silent")) == "0.00 [0.00, 0.56]"


def test_what_is_no_share_has_no_interval():
    """Characters are told as a number; a rate of nothing as a dash."""
    assert str(figures.figure(cell("head"), "used")) == "600"
    assert str(figures.figure(cell("blank"), "of_wrong_attractor")) == "-"
    assert str(Figure(1234.5, share=False)) == "1,234.5"


def test_a_cell_is_named_by_its_labels():
    """Words that stand for themselves are told alone, others with their label, the control by what it is."""
    (chain,) = experiments.tables_of(ran(("cascade",), Head, "head", n=1)[1])
    assert figures.label(chain.cell(memory="head", hops=2, premise=False)) == "head, hops 2, no error (control)"
    assert figures.label(chain.cell(memory="head", hops=2, premise=True), ("memory",)) == "hops 2, with an error"


def test_a_table_is_told_in_lines_with_its_differences():
    """Columns are aligned, and every row holds its n."""
    (table,) = experiments.tables_of(ran(("disposition",), Head, "head")[1])
    told = section_lines(section_of(table, ()), 2)
    assert told[1].split() == ["reader", "memory", "n", "wrong", "value", "abstained", "stale", "value", "stale", "of",
                               "wrong"]  # fmt: skip
    assert [line.split()[1:3] for line in told[2:5]] == [["lossy", "3"], ["blank", "3"], ["head", "3"]]
    assert told[6] == (
        "recomputing: commits to a wrong value: lossy minus blank: +0.000, too few (3 problems, 3 pairs)"
    )


def test_a_headline_is_of_ones_own_memory_and_leaves_the_control_out():
    """With a memory under test its share is told; without one that of every memory."""
    (table,) = experiments.tables_of(ran(("disposition",), Head, "head")[1])
    assert figures.headline(table, ("head",)) == "head 1.00 (n = 3)"
    assert figures.headline(table, ()) == "lossy 0.00 (n = 3), blank 0.00 (n = 3), head 1.00 (n = 3)"
    (chain,) = experiments.tables_of(ran(("cascade",), Head, "head", n=1)[1])
    assert figures.headline(chain, ("head",)) == "head 0.00 (n = 4)"
    assert figures.scores(ran(("disposition",), Head, "head")[1], ("nobody",)) == {}
