"""The bench's table and its timing: what a figure claims must follow from its two numbers."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))

from engines import Fts5Alone, RowsAndIndex
from machine import describe
from queries import CLASSES, PART, draw
from setting import Setting
from table import Bound, Row, Target


def row(ours: float, baseline: float, target: Target | None = None, *, less: bool = True, note: str = "") -> Row:
    return Row("append", ours, baseline, "ms", "bare insert", less, target, note)


@pytest.mark.parametrize(
    ("target", "kept", "broken"),
    [
        (Target(Bound.RATIO_MAX, 1.5), (3.0, 2.0), (3.1, 2.0)),
        (Target(Bound.RATIO_MIN, 0.8), (1.6, 2.0), (1.5, 2.0)),
        (Target(Bound.OURS_MAX, 10.0), (10.0, 1.0), (10.1, 99.0)),
        (Target(Bound.OURS_MIN, 0.0), (1.0, 9.0), (0.0, 9.0)),
        (Target(Bound.OVER_MAX, 50.0), (61.0, 11.0), (62.0, 11.0)),
    ],
)
def test_target_at_its_edge(target: Target, kept: tuple[float, float], broken: tuple[float, float]) -> None:
    """A target is met up to its bound and missed just beyond it."""
    assert (row(*kept, target).met, row(*broken, target).met) == (True, False)


def test_no_figure_without_its_baseline() -> None:
    """A row cannot be made without a baseline above zero."""
    with pytest.raises(ValueError, match="append: a baseline is a number above zero; got 0"):
        row(1.0, 0)


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    """A setting over a small folder of made texts and questions."""
    data, work = tmp_path / "data", tmp_path / "work"
    (data / "locomo").mkdir(parents=True)
    work.mkdir()
    questions = [{"question": f"When did the crew see the {name} again and what was it?"} for name in "aabcdefgh"]
    (data / "locomo" / "made.json").write_text(json.dumps([{"qa": questions}]))
    rare = ["".join("abcdefghij"[int(digit)] for digit in f"{k:04}") for k in range(600)]
    texts = [
        f"this with that from these when /srv/file{k}.log {rare[k]}_of_the_row {' '.join(rare[3 * k : 3 * k + 3])}"
        for k in range(200)
    ]
    (data / "texts.json").write_text(json.dumps([*texts, "a long one " * 20]))
    return Setting(data, work, quick=True)


def test_jsonl_holds_the_texts_and_little_else(setting: Setting) -> None:
    """The raw JSONL that disk is measured against has the texts in order, in lines of four fields."""
    lines = [json.loads(line) for line in setting.jsonl(250).read_text(encoding="utf-8").splitlines()]
    assert [line["content"] for line in lines] == list(setting.texts(250)) == list(setting.written_texts(250))
    assert {tuple(line) for line in lines} == {("session", "role", "timestamp", "content")}
    assert [lines[k]["session"] for k in (0, 199, 200, 249)] == ["s00000", "s00000", "s00001", "s00001"]


def test_queries_are_drawn_alike_and_differ(setting: Setting) -> None:
    """Each class has as many different queries as asked for, the same in every run; too few is an error."""
    queries = draw(setting, 200, 8)
    assert set(queries) == {*CLASSES, PART}
    assert [len(set(found)) for found in queries.values()] == [8] * (len(CLASSES) + 1)
    assert draw(setting, 200, 8) == queries
    with pytest.raises(ValueError, match="expected 9 queries of the class questions; the data gave 8"):
        draw(setting, 200, 9)


def test_fts5_alone_finds_the_text(tmp_path: Path) -> None:
    """FTS5 alone answers a query with the row that alone holds its words, and holds all rows."""
    texts = [f"common words and number_{k} running late" for k in range(50)] + ["the zebra's runs, at night_fall"]
    fts5 = Fts5Alone(tmp_path / "fts5.db")
    fts5.extend(texts)
    assert (next(row for row, _ in fts5.recall("zebra AND night_fall")), len(fts5)) == (51, 51)
    fts5.close()


def test_bare_rows_keep_every_append(tmp_path: Path) -> None:
    """The baseline of an append is durable too: WAL, FULL, one row and one index row an append."""
    rows = RowsAndIndex(tmp_path / "rows.db")
    rows.append("one")
    rows.extend(["two", "three"])
    db = rows._db
    assert db.execute("SELECT position, text FROM event").fetchall() == [(1, "one"), (2, "two"), (3, "three")]
    assert db.execute("SELECT rowid FROM word WHERE word MATCH 'three OR one' ORDER BY rowid").fetchall() == [
        (1,),
        (3,),
    ]
    assert (db.pragma("journal_mode"), db.pragma("synchronous")) == ("wal", 2)
    rows.close()


def test_machine_line_names_no_path(tmp_path: Path) -> None:
    """The machine is described by its parts; neither folder nor host name goes into the results."""
    line = describe(tmp_path)
    assert "cores" in line
    assert str(tmp_path) not in line
    assert tmp_path.name not in line


def test_the_readme_shows_what_was_measured() -> None:
    """The README's table is the one that the results give; no figure in it was typed by hand."""
    root = Path(__file__).parents[1]
    sys.path.insert(0, str(root / "tools"))
    try:
        from fill_figures import filled
    finally:
        sys.path.remove(str(root / "tools"))
    readme = (root / "README.md").read_text(encoding="utf-8")
    results = json.loads((root / "bench" / "results.json").read_text(encoding="utf-8"))
    assert results
    assert filled(readme, results) == readme


def test_the_plot_of_markers_shows_what_was_measured() -> None:
    """The drawing in docs/ is made of the rows of the last `make bench`, with a point for each of them."""
    root = Path(__file__).parents[1]
    sys.path.insert(0, str(root / "tools"))
    try:
        from plot_markers import PLOT, plot
    finally:
        sys.path.pop(0)
    drawn = plot(json.loads((root / "bench" / "results.json").read_text(encoding="utf-8")))
    assert PLOT.read_text(encoding="utf-8") == drawn
    assert drawn.count("<circle ") == 8


def test_each_report_says_first_what_was_looked_at():
    """The first lines of every report, behind its verdict where it begins with one, say what was looked at."""
    reports = sorted((Path(__file__).parents[1] / "bench").glob("*.md"))
    first = {report.name: "\n".join(report.read_text(encoding="utf-8").split("\n\n")[1:3]) for report in reports}
    assert len(first) > 5
    assert [name for name, text in first.items() if "\nLooked at while tuning: " not in f"\n{text}"] == []
