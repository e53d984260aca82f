"""The command ``eval``: its list, a small run, what is kept of it, and what is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import firsthand_evals
from firsthand import Memory
from firsthand.cli import cli


def run(capsys, *words: str) -> tuple[int, str, str]:
    code = cli.main(["eval", *words])
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.fixture(autouse=True)
def _home(monkeypatch, tmp_path):
    monkeypatch.setenv("FIRSTHAND_STORE", str(tmp_path / "no store"))
    monkeypatch.delenv("FIRSTHAND_NAMESPACE", raising=False)


def test_the_list_names_every_experiment(capsys, tmp_path):
    """The list shows paper, need and command of each experiment, and no last result where none was kept."""
    code, said, _ = run(capsys, "list", "--out", str(tmp_path))
    assert code == 0
    assert "recall-ab  recall-problem 8.6, 8.7, 8.8" in said
    assert "needs data; takes as the data does; python bench/quality_bench.py" in said
    assert "last " not in said
    code, said, _ = run(capsys, "list", "--json")
    told = [json.loads(line) for line in said.splitlines()]
    assert (code, {one["last"] for one in told}) == (0, {""})
    assert next(one for one in told if one["name"] == "recall-ab")["ours"]
    code, said, _ = run(capsys, "list", "--faults")
    assert (code, "a lossy note keeps its source: wall: " in said) == (0, True)
    code, said, warned = run(capsys, "list", "--out", str(tmp_path / "none"))
    assert (code, said) == (5, "")
    assert "--out is the folder that results were kept in" in warned


def test_a_small_run_is_shown_kept_and_listed(capsys, tmp_path):
    """A run by its name prints every item and figure, keeps them, and is then the last result in the list."""
    code, said, warned = run(
        capsys, "run", "recall-ab", "--worlds", "1", "--cases", "2", "--repetitions", "1", "--seed", "1",
        "--condition", "recall", "--out", str(tmp_path), "--calls-max", "1", "--json",
    )  # fmt: skip
    lines = [json.loads(line) for line in said.splitlines()]
    items = [one["item"] for one in lines if "item" in one]
    cells = {(one["cell"]["sort"], one["cell"]["condition"]): one["cell"] for one in lines if "cell" in one}
    assert len(items) == 3 * 2 * 2
    assert {one["condition"] for one in items} == {"none", "recall"}
    assert all(one["start"] == one["message"] == "" for one in items if one["condition"] == "none")
    assert cells["experience", "none"]["right"]["mean"] == 0.0
    # What the user said is put before the reader; a short result of a command is as soon had again.
    by_variant = {item["variant"]: item for item in items if item["condition"] == "recall"}
    assert by_variant["told"]["right"]
    assert by_variant["printed"]["message"] == ""
    assert not by_variant["printed"]["right"]
    assert cells["experience", "recall"]["useful"]["hits"] == 1
    assert code == (1 if "makes answers worse" in warned else 0)
    kept = tmp_path / "results" / "recall-ab"
    assert sorted(file.name for file in kept.iterdir()) == ["items.jsonl", "report.html", "summary.json"]
    assert [json.loads(line) for line in (kept / "items.jsonl").read_text().splitlines()] == items
    assert "last " in run(capsys, "list", "--out", str(tmp_path))[1]


SCRIPT = "import sys\nprint('asked', *sys.argv[1:])\nprint('\\x1b[31mall well')\nsys.exit('--fail' in sys.argv)\n"


def write_script(folder):
    script = folder / "bench" / "quality_bench.py"
    script.parent.mkdir(parents=True)
    script.write_text(SCRIPT)


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout that the package stands in, whose script of the experiment `quality` is a small one."""
    write_script(tmp_path / "checkout")
    around = tmp_path / "checkout" / "packages" / "firsthand-evals" / "src"
    monkeypatch.setattr(firsthand_evals, "__file__", str(around / "firsthand_evals" / "__init__.py"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_no_script_of_the_current_folder_runs(capsys, tmp_path, monkeypatch):
    """A folder that looks like a checkout is a stranger's: its script of the same name does not run."""
    write_script(tmp_path)
    monkeypatch.chdir(tmp_path)
    installed = tmp_path / "installed" / "lib" / "python" / "site-packages" / "firsthand_evals" / "__init__.py"
    monkeypatch.setattr(firsthand_evals, "__file__", str(installed))
    code, said, warned = run(capsys, "run", "quality", "--data", "there")
    assert (code, said) == (5, "")
    assert "pip install -e ." in warned


def test_python_m_firsthand_imports_nothing_of_the_current_folder(tmp_path):
    """A stray module beside a user's shell is not imported by a command, whatever library it is called after."""
    for name in ("json", "apsw", "tempfile", "inspect_ai"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a stranger ran')\n")
    done = subprocess.run([sys.executable, "-m", "firsthand", "eval", "list", "--json"], cwd=tmp_path, text=True,
                          capture_output=True, check=False)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_a_script_of_the_repository_runs_in_a_checkout(capsys, checkout):
    """Its words are told, its last line and exit code are kept as its last result."""
    code, said, warned = run(capsys, "run", "--out", "kept", "quality", "--data", "there", "--quick")
    assert (code, said) == (0, "asked --data there --quick\n\\x1b[31mall well\n")
    assert "kept in" in warned
    assert "all well (exit code 0, " in run(capsys, "list", "--out", "kept")[1]
    code, said, warned = run(capsys, "run", "--out", "kept", "--json", "quality", "--data", "there", "--fail")
    assert (code, json.loads(said)["exit_code"]) == (1, 1)
    assert "quality ended with exit code 1" in warned
    assert "(exit code 1, " in run(capsys, "list", "--out", "kept")[1]


def test_a_command_of_ours_runs_by_its_name(capsys, tmp_path):
    """What stands behind the name is its own, also what is kept where."""
    code, said, _ = run(capsys, "run", "--out", str(tmp_path), "reclaim-completeness", "--problems", "1", "--json")
    assert code == 0
    found = [json.loads(line)["item"]["parameters"] for line in said.splitlines() if line.startswith('{"item"')]
    assert {one["experiment"] for one in found} == {"completeness"}
    assert "firsthand 1.00 (n = 4)" in run(capsys, "list", "--out", str(tmp_path))[1]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["run", "reclaim-dialogues"], "--data FILE"),
        (["run", "nothing"], "there is no experiment 'nothing'"),
        (["run", "quality"], "--data DATA"),
        (["recall-ab", "--condition", "nothing"], "there is no condition 'nothing'"),
        (["recall-ab", "--model", "http://localhost:1/v1"], "URL#NAME"),
    ],
)
def test_what_cannot_be_run_is_refused_with_what_to_type(capsys, words, told):
    """An unknown experiment, condition or model is refused before anything is made."""
    code, said, warned = run(capsys, *words)
    assert (code, said) == (5, "")
    assert told in warned


def test_results_in_a_store_are_its_owners_alone(capsys, tmp_path, monkeypatch):
    """Without --out, what is kept in the store's folder is of mode 0700 and 0600, whatever the umask."""
    store = tmp_path / "store"
    with Memory.open(store):
        pass
    monkeypatch.setenv("FIRSTHAND_STORE", str(store))
    before = os.umask(0)
    try:
        assert run(capsys, "run", "reclaim-completeness", "--problems", "1")[0] == 0
    finally:
        os.umask(before)
    assert (store / "results" / "reclaim" / "items.jsonl").is_file()
    assert [str(path) for path in store.rglob("*") if path.stat().st_mode & 0o077] == []
