"""The documents say what is true of the repository: what they name exists, what they show runs."""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from firsthand.answer import Outcome
from firsthand.cli.cli import main
from firsthand.event import Kind, Trust

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
REPOSITORY_PATH = re.compile(
    r"(?<![\w./-])(?:src|packages|tests|docs|bench|tools|examples)(?:/[\w.*-]*\w)+(?:::[\w:]+)?"
)
LINK = re.compile(r"\]\(([^)\s]+)\)")
STORE_FILES = {"firsthand.db", "firsthand.address"}  # looks like a module, is a file of a store


def text_of(document: Path) -> str:
    return document.read_text(encoding="utf-8")


def blocks(document: Path, *languages: str) -> list[str]:
    """Give the fenced blocks of a document that are in one of the languages."""
    return [body for language, body in FENCE.findall(text_of(document)) if language in languages]


def prose(document: Path) -> str:
    return FENCE.sub("", text_of(document))


def code_spans(document: Path) -> list[str]:
    return CODE.findall(prose(document))


def command_lines(document: Path) -> list[str]:
    """Give what a reader would type: lines of console blocks, and commands set as code in the text."""
    typed = [
        line.removeprefix("$ ").strip()
        for block in blocks(document, "console", "sh", "bash")
        for line in block.splitlines()
    ]
    return typed + [span.strip() for span in code_spans(document)]


def tables(document: Path) -> Iterator[list[str]]:
    """Give the rows of a document's tables as lists of cells, without heads and rules."""
    previous_was_row = False
    for line in prose(document).splitlines():
        is_row = line.startswith("|")
        if is_row and previous_was_row and not set(line) <= set("|- :"):
            yield [cell.strip() for cell in line.strip().strip("|").split("|")]
        previous_was_row = is_row


@cache
def names_in(module: Path) -> set[str]:
    """Give the functions of a test module, methods as ``Class::name``."""
    found: set[str] = set()
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{item.name}" for item in node.body if isinstance(item, ast.FunctionDef)}
    return found


def run(arguments: list[str], home: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as a new user would: an empty home, no settings, an empty folder to stand in."""
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(home), "LANG": "C.UTF-8"}
    return subprocess.run(
        arguments, cwd=home, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


@cache
def help_of(command: str = "") -> str:
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(io.StringIO()):
        try:
            code = main([*command.split(), "--help"])
        except SystemExit as end:
            code = end.code
    return shown.getvalue() if code == 0 else ""


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_path_a_document_names_exists(document: Path) -> None:
    """A file, folder or test that is named in a document is in the repository."""
    missing = []
    shown = "\n".join([prose(document), *blocks(document, "console", "sh", "bash", "python")])
    for named in REPOSITORY_PATH.findall(shown):  # other blocks hold examples and output
        path, _, test = named.partition("::")
        if not (list(ROOT.glob(path)) if "*" in path else (ROOT / path).exists()) or (
            test and test not in names_in(ROOT / path)
        ):
            missing.append(named)
    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_leads_somewhere(document: Path) -> None:
    """A link to another document, or to a heading of one, has that document and that heading."""
    broken = []
    for target in LINK.findall(prose(document)):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, anchor = target.partition("#")
        file = (document.parent / path).resolve() if path else document
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert broken == []


def anchors(document: Path) -> set[str]:
    """Give the anchors that a forge makes of a document's headings."""
    headings = re.findall(r"^#+ (.+)$", prose(document), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_module_a_document_names_can_be_imported(document: Path) -> None:
    """A dotted name that begins with the package is a module, or something in one."""
    dotted = {
        span.removesuffix("()")
        for span in code_spans(document)
        if re.fullmatch(r"firsthand(_evals)?(\.\w+)+(\(\))?", span) and span not in STORE_FILES
    }
    assert [name for name in sorted(dotted) if not importable(name)] == []


def importable(name: str) -> bool:
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        module = ".".join(parts[:length])
        try:
            found: object = importlib.import_module(module)
        except ModuleNotFoundError:
            continue
        for attribute in parts[length:]:
            if not hasattr(found, attribute):
                return False
            found = getattr(found, attribute)
        return True
    return False


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_make_target_a_document_names_exists(document: Path) -> None:
    """What a document tells the reader to make, the Makefile makes."""
    targets = set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {match[1] for line in command_lines(document) if (match := re.match(r"make ([a-z][\w-]*)", line))}
    assert "test" in targets
    assert named - targets == set()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_a_document_names_exists(document: Path) -> None:
    """A command of Firsthand that is named in a document is in its help, with the options shown."""
    wrong = []
    for line in command_lines(document):
        match = re.match(r"(?:firsthand|fh)(?: ([a-z][\w-]*))?(?: (.*))?$", line)
        if match is None:
            continue
        shown = help_of(match[1] or "")
        named = re.match(r"[a-z][\w-]*(?= |$)", match[2] or "")
        if "\n  COMMAND\n" in shown or "\n  WHAT\n" in shown:  # a group: what follows names one of its commands
            shown = help_of(f"{match[1]} {named[0]}") if named else shown
        options = re.findall(r"(?<![\w-])--[a-z][\w-]*", match[2] or "")
        if not shown or any(not re.search(rf"(?<![\w-]){option}(?![\w-])", shown) for option in options):
            wrong.append(line)
    assert wrong == []


@pytest.mark.parametrize("document", [path for path in DOCUMENTS if blocks(path, "python")], ids=lambda path: path.name)
def test_python_of_a_document_runs(document: Path, tmp_path: Path) -> None:
    """The Python blocks of a document, typed one after the other into an empty home, run."""
    done = run([sys.executable, "-W", "error", "-c", "\n".join(blocks(document, "python"))], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_readme_shows_python_and_commands() -> None:
    """The README shows how to use Firsthand from Python and from a shell."""
    readme = ROOT / "README.md"
    assert any("firsthand" in block for block in blocks(readme, "python"))
    assert any(line.startswith("make ") for line in command_lines(readme))
    assert any(line.startswith("firsthand ") for line in command_lines(readme))


def test_the_readme_is_short_and_begins_with_what_to_type() -> None:
    """The README has at most 900 words, 100 of them before the first command, and eight rows of figures."""
    readme = text_of(ROOT / "README.md")
    before, _, after = readme.partition("```console")
    assert after
    assert len(before.split()) <= 100
    assert len(readme.split()) <= 900
    figures = readme.partition("<!-- figures:begin -->")[2].partition("<!-- figures:end -->")[0]
    assert 0 < figures.count("\n| ") - 1 <= 8


@pytest.mark.parametrize("picture", sorted((ROOT / "docs").glob("*.svg")), ids=lambda path: path.name)
def test_a_picture_loads_nothing(picture: Path) -> None:
    """A drawing of the documents is whole: no script, and nothing that a browser would fetch."""
    tree = ET.fromstring(text_of(picture))
    names = {name.rpartition("}")[2] for element in tree.iter() for name in (element.tag, *element.attrib)}
    assert not names & {"script", "image", "foreignObject", "onload"}
    addresses = re.findall(r"(?:(?:href|src)=\"|url\(|@import ?)[^#]", text_of(picture))
    assert addresses == []


def glossary() -> list[tuple[str, str]]:
    _, *sections = re.split(r"^## ", text_of(ROOT / "docs" / "glossary.md"), flags=re.MULTILINE)
    return [(head.strip(), body.strip()) for head, _, body in (section.partition("\n") for section in sections)]


def test_glossary_has_each_word_once_in_order() -> None:
    """Each word of the glossary has one heading, and a reader finds it by the alphabet."""
    words = [word.casefold() for word, _ in glossary()]
    assert len(words) > 50
    assert words == sorted(set(words))


def test_glossary_says_each_word_in_one_short_paragraph() -> None:
    """No entry of the glossary is empty, longer than a short paragraph, or in two."""
    assert [word for word, body in glossary() if not 3 <= len(body.split()) <= 75 or "\n" in body] == []


def test_glossary_knows_the_closed_sets() -> None:
    """Each kind, each label of trust and each outcome of an answer stands in its entry."""
    entries = dict(glossary())
    missing = [kind for kind in Kind if kind.replace("_", " ") not in entries["kind"]]
    missing += [trust for trust in Trust if f"`{trust}`" not in entries["trust"]]
    missing += [outcome.value for outcome in Outcome if f"`{outcome.value}`" not in entries["outcome"]]
    assert missing == []


def test_decisions_are_numbered_and_begin_with_their_contract() -> None:
    """Decisions count from 1 without a gap; each says what must hold before what was chosen."""
    files = sorted((ROOT / "docs" / "decisions").iterdir())
    assert [file.name[:5] for file in files] == [f"{number:04}-" for number in range(1, len(files) + 1)]
    for file in files:
        assert re.fullmatch(r"\d{4}-[a-z0-9-]+\.md", file.name)
        assert text_of(file).startswith(f"# {file.name[:4]} ")
        sections = re.findall(r"^## (.+)$", text_of(file), re.MULTILINE)
        assert sections == ["Contract", "Choice", "Measured", "Rejected", "Consequences"], file.name
        assert len(text_of(file).split()) <= 700, f"{file.name} is longer than a page"


PAPERS = {
    "Total Recall": [
        *("Table A", "Table 1", "Table 2", "Proposition 1", "Figure 1", "Figure 2", "Figure 3", "4.2, definition"),
        *("4.2, proof", "1.2, first table", "7.3, table", "8.2, table", "9.1, table", "10.4, latency table"),
        *("A.1", "A.2", "A.3", "A.4"),
    ],
    "The recall problem": [
        *("8.2, definition", "8.3, table", "8.4, table", "8.5, table", "8.7, first table", "8.7, case 1 table"),
        *("8.7, case 2 table", "8.7, case 3 table", "8.7, summary table", "8.8, first table", "8.8, second table"),
        *(f"7.{mode}" for mode in range(1, 7)),
        *(f"9.4, item {item}" for item in range(1, 7)),
        *(f"11, item {item}" for item in range(1, 9)),
    ],
    "Reclaim evaluation": [
        *(f"Table {table}" for table in range(1, 20)),
        *(f"Figure {figure}" for figure in range(1, 4)),
        *("Definition 1", "eq. 2"),
        *"ABCDEFGHIJK",
    ],
    "Faulty memories": [
        *("Figure 1a", "Figure 1b", "Figure 2", "Figure 3", "Figure 4", "Figure 5", "Figure 6", "Figure 9a"),
        *("Figures 10, 18", "Figure 11", "Tables 2, 3", "Version 2, Table 5"),
        *("Appendix D.5", "Appendix G.2", "Appendix I.1"),
    ],
}
"""What each paper numbers; recall-problem numbers neither tables nor figures, so its rows go by section."""


def paper_rows(paper: str) -> list[list[str]]:
    """Give the rows under one paper's heading."""
    document = text_of(ROOT / "docs" / "papers.md")
    assert document.count("\n") <= 300, "a table that nobody reads to its end"
    section = re.search(rf"^## {re.escape(paper)}\n(.*?)(?=^## |\Z)", document, re.MULTILINE | re.DOTALL)
    assert section is not None, f"docs/papers.md has no section on {paper}"
    lines = [line for line in section[1].splitlines() if line.startswith("| ") and not line.startswith("| section ")]
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]


@pytest.mark.parametrize("paper", PAPERS)
def test_papers_lists_every_numbered_thing(paper: str) -> None:
    """Every numbered table, figure, definition, algorithm and appendix of a paper has a row."""
    sections = [row[0] for row in paper_rows(paper)]
    missing = [
        label
        for label in PAPERS[paper]
        if not any(re.search(rf"(?<![\w.]){re.escape(label)}(?![\w.]?\w)", section) for section in sections)
    ]
    assert missing == []


@pytest.mark.parametrize("paper", PAPERS)
def test_papers_rows_say_their_state(paper: str) -> None:
    """A row that is built names a module that exists and a command; one that is not names neither."""
    wrong = []
    for row in paper_rows(paper):
        assert len(row) == 7, f"seven cells expected: {row}"
        _, what, module, command, _, ours, state = row
        if state in {"built", "built, not yet effective on real sessions"}:
            modules = re.findall(r"`([^`]+)`", module)
            good = bool(modules) and all((ROOT / name).exists() for name in modules) and command.startswith("`")
        else:
            good = state in {"background", "outside", "withdrawn"} and {module, command, ours} == {"—"}
        if not good or not what:
            wrong.append(row)
    assert wrong == []


def test_bad_inputs_are_all_listed() -> None:
    """The table of bad inputs has each number from 1 to 96 once, with what is expected of it."""
    rows = [row for row in tables(ROOT / "docs" / "how-tested.md") if row[0].isdigit()]
    assert [int(row[0]) for row in rows] == list(range(1, 97))
    assert [row for row in rows if len(row) != 4 or not all(row)] == []


def test_bad_inputs_name_tests_or_nothing() -> None:
    """The last column of the table holds tests by file and name, or a dash."""
    rows = [row for row in tables(ROOT / "docs" / "how-tested.md") if row[0].isdigit()]
    one = r"`(packages/firsthand-evals/)?tests/[\w/]+\.py::\w+(::\w+)?`"
    assert [row[0] for row in rows if not re.fullmatch(rf"—|{one}(, {one})*", row[3])] == []


def test_changelog_has_the_version_at_hand() -> None:
    """The version of the package has an entry in the changelog."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert re.search(rf"^## {re.escape(version)}( |$)", text_of(ROOT / "CHANGELOG.md"), re.MULTILINE)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_no_document_names_a_machine(document: Path) -> None:
    """No document holds a path of the machine that it was written on."""
    assert re.findall(r"(?<![\w.])/(?:work|root|tmp/bash)\b[^\s`]*", text_of(document)) == []
