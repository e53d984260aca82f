"""evals/reclaim/files.py: what a run leaves behind."""

from __future__ import annotations

import json

import pytest
from reclaim_runs import Head, report

from firsthand.errors import InvalidArgument
from firsthand_evals import registry
from firsthand_evals.reclaim import files, tables
from firsthand_evals.reclaim.page import page


def test_a_run_before_stands_beside_until_there_is_one_more(tmp_path):
    """A new run puts the items of the one before aside; one that goes on leaves them."""
    file = files.begin(tmp_path, resume=False)
    assert file == tmp_path / "items.jsonl"
    file.write_text("one\n")
    assert files.begin(tmp_path, resume=True).read_text() == "one\n"
    assert not files.begin(tmp_path, resume=False).exists()
    assert (tmp_path / "items.previous.jsonl").read_text() == "one\n"
    assert not files.begin(tmp_path, resume=False).exists()
    assert (tmp_path / "items.previous.jsonl").read_text() == "one\n"


def test_tables_and_headlines_are_kept(tmp_path):
    """Tables stand as JSON, the page as HTML and Markdown, and each experiment has its last result."""
    found = report(("reclaim", "completeness"), Head, "head", 1)
    files.keep(tmp_path, found.tables, ("head",), page(found), "recomputing")
    folder = tmp_path / "results" / "reclaim"
    assert json.loads((folder / "tables.json").read_text()) == [
        json.loads(json.dumps(tables.as_json(one))) for one in found.tables
    ]
    assert (folder / "report.html").read_text().startswith("<!doctype html>")
    assert (folder / "report.md").read_text().startswith("# Reclaim evaluation of head\n")
    assert registry.last_result(tmp_path, "reclaim").endswith(": recomputing: head 1.00 (n = 4)")
    assert "recomputing: head" in registry.last_result(tmp_path, "reclaim-completeness")


def test_one_run_at_a_time_writes_into_a_folder(tmp_path):
    """A second run is refused while the first one writes, and not afterwards; another folder is free."""
    told = r"another run is writing into .*one; wait until it ends"
    with files.held(tmp_path / "one"), files.held(tmp_path / "two"), pytest.raises(InvalidArgument, match=told):
        files.held(tmp_path / "one").__enter__()
    with files.held(tmp_path / "one"):
        pass
