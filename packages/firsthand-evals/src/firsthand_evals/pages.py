"""Reports of experiments: one page has a verdict, a picture, tables, checks, and what the words mean, in this order.

    Page(title, verdict, picture, sections, checks, meanings, about)  ->  html(page), markdown(page)

The invariants: the page of HTML is one file that runs nothing and fetches nothing; whatever
a memory, a reader or a session wrote stands in it escaped, without control characters; a
picture is the only markup that is put in as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from firsthand.cli.display import table as aligned
from firsthand.printable import shown
from firsthand.value import value
from firsthand_evals.pictures import Picture

Row = Sequence[str]
_NUMBER = re.compile(r"[-+]?\.?\d[\d,.]*( %)?( \[.*\]| of [\d,]+.*|, .*)?|-|")


@value
class Table:
    """A table: heads, rows, a sentence above it, and the numbers of the rows that are of the user's own."""

    heads: Row
    rows: Sequence[Row]
    about: str = ""
    own: frozenset[int] = frozenset()

    @property
    def numeric(self) -> tuple[bool, ...]:
        """Say of each column whether it holds numbers alone; those stand at the right."""
        return tuple(
            any(row[at] for row in self.rows) and all(_NUMBER.fullmatch(row[at]) for row in self.rows)
            for at in range(len(self.heads))
        )


@value
class Fold:
    """Something that is opened to be read: a line, and texts with what each is."""

    summary: str
    texts: tuple[tuple[str, str], ...]


@value
class Section:
    """A part of a page; ``where`` is its place in a paper."""

    heading: str
    where: str = ""
    about: str = ""
    pictures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    remarks: Sequence[str] = ()
    folds: Sequence[Fold] = ()


@value
class Judged:
    """A check or requirement: a sentence, and whether it held; None says that it binds nobody."""

    says: str
    held: bool | None


@value
class Page:
    """A report.

    Attributes:
        verdict: the sentence that answers the report's question; it says so where it rests on too few.
        picture: the one that shows it; None where nothing was counted.
        meanings: words of the page with what they mean; ``about``: what was run, as pairs of words.
    """

    title: str
    verdict: str
    picture: Picture | None
    sections: Sequence[Section]
    checks: Sequence[Judged] = ()
    meanings: Sequence[tuple[str, str]] = ()
    about: Sequence[tuple[str, str]] = ()


def html(page: Page) -> str:
    """Write a page as one file of HTML."""
    return str(_environment(html=True).get_template("page.html").render(page=page))


def markdown(page: Page) -> str:
    """Write a page as Markdown, without its pictures."""
    return text("page.md", {"cells": _cells}, page=page)


def lines(page: Page, tables_max: int = 1) -> list[str]:
    """Write a page in short for a terminal: the verdict, the first tables of each section, and the checks."""
    short = [shown(page.verdict)]
    for section in page.sections:
        short += ["", *section_lines(section, tables_max)]
    return [*short, *(shown(check.says) for check in page.checks)]


def section_lines(section: Section, tables_max: int = 1) -> list[str]:
    """Write the heading of a section, its first tables and its remarks."""
    tables = [line for table in section.tables[:tables_max] for line in aligned([table.heads, *table.rows])]
    heading = ": ".join(filter(None, (section.heading, section.about)))
    return [shown(line) for line in (heading, *tables, *section.remarks)]


def _cells(row: Row) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


def text(template: str, filters: Mapping[str, Callable[..., Any]] | None = None, **context: Any) -> str:
    """Write a text by a template of this package; what is to be made printable goes through a filter."""
    environment = _environment(html=False)
    environment.filters |= filters or {}
    return str(environment.get_template(template).render(**context)).rstrip("\n") + "\n"


@cache
def _environment(*, html: bool) -> Environment:
    return Environment(
        loader=PackageLoader("firsthand_evals"), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        autoescape=html,  # noqa: S701 - what is no HTML is not escaped
        finalize=_printable if html else None,
    )  # fmt: skip


def _printable(printed: object) -> object:
    """Show text without control characters; markup of our own stays as it is."""
    return printed if isinstance(printed, Markup) else shown(str(printed), lines=True)
