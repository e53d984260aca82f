"""Write docs/api.md anew from the docstrings of the public names and tests/api_examples.md, so that it never differs.

Run it with `make docs`; a test compares the page with what this makes, and runs every example.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import firsthand
from firsthand import errors

HOME = Path(__file__).resolve().parents[1]
TARGET = HOME / "docs" / "api.md"
EXAMPLES = HOME / "tests" / "api_examples.md"
_HEAD = """# The public names

Written by `make docs` from the docstrings and from `tests/api_examples.md`; do not edit it by hand. Everything here is
imported from `firsthand`: `from firsthand import Memory`. What is not here is imported from its room, such as
`firsthand.tokens`, and may change. Each example runs as a test, in an empty folder.
"""
_SECTION = re.compile(r"^(Args|Attributes|Returns|Yields|Raises):$")


def page() -> str:
    """Give the whole text of the page."""
    shown = examples()
    parts = [_HEAD, _index(), *(_entry(name, shown[name]) for name in firsthand.__all__ if name in shown), _tree()]
    return "\n".join(parts)


def examples() -> dict[str, str]:
    """Give the example of each name: what stands under its heading."""
    pieces = re.split(r"^## (\w+)\n", EXAMPLES.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return {name: text.strip() for name, text in zip(pieces[::2], pieces[1::2], strict=True)}


def _index() -> str:
    rows = [f"| [{name}](#{name.lower()}) | {_purpose(getattr(firsthand, name))} |" for name in _names()]
    return "\n".join(["| name | what it is |", "|---|---|", *rows, ""])


def _names() -> list[str]:
    return [name for name in firsthand.__all__ if not name.startswith("__")]


def _entry(name: str, example: str) -> str:
    public = getattr(firsthand, name)
    first, *rest = _documented(public, name)
    made = _documented(public.__init__, name)[1:] if inspect.getdoc(getattr(public, "__init__", None)) else []
    made = made if "Args:" in made else []  # of a class whose docstring says nothing of its arguments
    lines = [f"## {name}", "", first, "", *_signature(name, public), *rest, *made]
    lines += ["", *example.splitlines(), ""]
    if inspect.isclass(public) and not issubclass(public, (Enum, Exception)):
        lines += _methods(public)
    return re.sub(r"\n{3,}", "\n\n", "\n".join([*lines, ""]))


def _signature(name: str, public: Any) -> list[str]:
    if inspect.isclass(public) and issubclass(public, Exception):
        return ["```text", f"{name}({public.__base__.__name__})", "```", ""]
    if inspect.isclass(public) and issubclass(public, Enum):
        return [", ".join(f"`{member.value}`" for member in public) + ".", ""]
    if getattr(public, "_is_protocol", False):
        return []
    return ["```text", _call(name, public), "```", ""]


def _call(name: str, function: Any) -> str:
    """Write a call with its parameters, a line each where they are longer than a line."""
    parameters = inspect.signature(function).parameters.values()
    written = [_parameter(one) for one in parameters if one.name not in {"self", "cls"}]
    for at, one in enumerate([one for one in parameters if one.name not in {"self", "cls"}]):
        if one.kind is one.KEYWORD_ONLY and "*" not in written:
            written.insert(at, "*")
    gives = inspect.signature(function).return_annotation
    arrow = "" if gives in {inspect.Signature.empty, "None"} or inspect.isclass(function) else f" -> {_type(gives)}"
    line = f"{name}({', '.join(written)}){arrow}"
    return line if len(line) <= 110 else "\n    ".join([f"{name}(", *(f"{one}," for one in written)]) + f"\n){arrow}"


def _parameter(one: inspect.Parameter) -> str:
    stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
    typed = "" if one.annotation is one.empty else f": {_type(one.annotation)}"
    if one.default is one.empty:
        return f"{stars}{one.name}{typed}"
    default = str(one.default) if isinstance(one.default, Enum) else repr(one.default)
    return f"{one.name}{typed} = {'...' if default.startswith('<') else default}"


def _type(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _methods(public: Any) -> Iterator[str]:
    for name, member in _public_members(public):
        function = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        if isinstance(member, property):
            yield from [f"**`.{name}`** {_purpose(member)}", ""]
        else:
            first, *rest = _documented(function, name)
            call = _call(name, function)
            yield from ["```text", f".{call}", "```"] if "\n" in call else [f"**`.{call}`**"]
            yield from ["", first, "", *rest, ""]


def _public_members(public: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a class has under public names with a docstring, its own first, in the order written."""
    if not inspect.isclass(public):
        return
    seen = set()
    for above in public.__mro__:
        if not above.__module__.startswith("firsthand"):
            continue
        for name, member in vars(above).items():
            is_verb = isinstance(member, (property, classmethod, staticmethod)) or inspect.isfunction(member)
            if is_verb and not name.startswith("_") and name not in seen and inspect.getdoc(member):
                seen.add(name)
                yield name, member


def _purpose(public: Any) -> str:
    return _plain((inspect.getdoc(public) or "").split("\n\n")[0].replace("\n", " ")).replace("|", "\\|")


def _documented(public: Any, name: str) -> list[str]:
    """Give a docstring as lines of Markdown: the sentence first, then paragraphs, and a list for each section."""
    document = inspect.getdoc(public)
    assert document, f"{name} has no docstring"
    first, *paragraphs = document.split("\n\n")
    lines = [_plain(first.replace("\n", " "))]
    for paragraph in paragraphs:
        head, *below = paragraph.split("\n")
        if _SECTION.match(head):
            lines += ["", f"{head.rstrip(':')}:", "", *_items(below)]
        else:
            lines += ["", _plain(paragraph.replace("\n", " "))]
    return [*lines, ""]


def _items(lines: list[str]) -> list[str]:
    """Give the entries of a section: those that begin at its margin, each with the lines that go on below."""
    items: list[str] = []
    for line in lines:
        text = line.strip()
        named = re.match(r"([\w, *]+): (.*)", text) if len(line) - len(line.lstrip()) <= 4 else None
        if named:
            names = ", ".join(f"`{name.strip()}`" for name in named[1].split(","))
            items.append(f"- {names}: {_plain(named[2])}")
        elif items:
            items[-1] += f" {_plain(text)}"
        else:
            items.append(_plain(text))
    return items


def _plain(text: str) -> str:
    return text.replace("``", "`")


def _tree() -> str:
    """Give the tree of errors as `firsthand.errors` draws it."""
    tree = (errors.__doc__ or "").partition("\n\n    ")[2]
    head = "## All errors\n\nThey are in `firsthand.errors`; the common ones are public names."
    return f"{head}\n\n```text\n    {tree}```\n"


def main() -> int:
    TARGET.write_text(page(), encoding="utf-8")
    print(f"wrote {TARGET}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
