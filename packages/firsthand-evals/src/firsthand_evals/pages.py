"""Pages of HTML from templates: one file each, that runs nothing and fetches nothing.

The invariant: whatever a memory, a reader or a session wrote stands in a page escaped,
without control characters; a picture is the only markup that is put in as it is.
"""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from firsthand.printable import shown
from firsthand.value import value


@value
class Picture:
    """A picture with what stands below it."""

    svg: Markup
    caption: str


def render(template: str, **context: Any) -> str:
    """Write a page by a template of this package."""
    environment = Environment(
        loader=PackageLoader("firsthand_evals"), autoescape=True, undefined=StrictUndefined, finalize=_printable,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    text: str = environment.get_template(template).render(**context)
    return text


def _printable(given: object) -> object:
    """Show text without control characters; markup of our own stays as it is."""
    return given if isinstance(given, Markup) else shown(str(given), lines=True)
