"""JSON with comments, changed in place."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.errors import FormatError
from firsthand.hosts import jsonc

BLANK = st.sampled_from(["", " ", "\n", "\n  ", "\r\n\t", " // c\n", " /* x */ ", "\n    // y\n  ", "  \n"])
SCALAR = st.sampled_from(["1", "true", '"a, // b"', '"é\\n"', "null", "-1.5e3"])


def _container(inner):
    def written(items, signs, blanks, trailing, colon):
        text = signs[0]
        for number, item in enumerate(items):
            name = json.dumps(f"k{number}") + colon if signs == "{}" else ""
            comma = "," if trailing or number < len(items) - 1 else ""
            text += blanks[number % len(blanks)] + name + item + blanks[(number + 1) % len(blanks)] + comma
        return text + blanks[-1] + signs[1]

    return st.builds(
        written, st.lists(inner, max_size=4), st.sampled_from(["{}", "[]"]),
        st.lists(BLANK, min_size=1, max_size=4), st.booleans(), st.sampled_from([":", " : "]),
    )  # fmt: skip


OBJECT = _container(st.recursive(SCALAR, _container, max_leaves=6)).filter(lambda text: text.startswith("{"))


@given(OBJECT, st.sampled_from(["", "\ufeff"]), BLANK)
def test_what_is_put_in_and_dropped_leaves_the_same_bytes(text, mark, end):
    """Members and items of lists come and go byte for byte, with comments, commas, marks and any indentation."""
    text = mark + text + end
    server = {"command": "x", "args": ["a", "b"]}
    first = jsonc.put(text, ("mcpServers", "firsthand"), server)
    both = jsonc.push(first, ("hooks", "Stop"), {"hooks": [{"type": "c"}]})
    assert jsonc.plain(both) == {
        **jsonc.plain(text), "mcpServers": {"firsthand": server}, "hooks": {"Stop": [{"hooks": [{"type": "c"}]}]},
    }  # fmt: skip
    assert jsonc.put(both, ("mcpServers", "firsthand"), server) == both
    after = jsonc.drop(jsonc.drop(both, ("hooks", "Stop", 0)), ("mcpServers", "firsthand"))
    empty = re.sub(r"\{\r?\n[ \t]*\}", "{}", text)  # a line end in it is taken for one of ours
    assert after == text or (not jsonc.plain(text) and after == empty)
    for name, listed in jsonc.plain(text).items():
        if isinstance(listed, list) and listed:
            assert jsonc.drop(jsonc.push(text, (name,), {"z": 1}), (name, len(listed))) == text


def test_what_is_written_looks_like_the_rest():
    """Indentation, line ends and a comment on a line stay as they were; the new member has its own lines."""
    text = '{\r\n\t// mine\r\n\t"a": 1 // one\r\n}\r\n'
    assert jsonc.put(text, ("b", "c"), [2]) == (
        '{\r\n\t// mine\r\n\t"a": 1, // one\r\n\t"b": {\r\n\t\t"c": [\r\n\t\t\t2\r\n\t\t]\r\n\t}\r\n}\r\n'
    )
    assert jsonc.put("", ("a",), 1) == '{\n  "a": 1\n}\n'
    assert jsonc.put('{"a": 1}', ("a",), 2) == '{"a": 2}'


@pytest.mark.parametrize("text", ['{"a" 1}', "{,}", "{'a': 1}", '{"a": 1} x', '{"a": 1', "/* {", '"a"', '{"a": tru}'])
def test_what_is_no_json_is_refused(text):
    """A text that a host could not read is no text to write into."""
    with pytest.raises(FormatError, match="expected"):
        jsonc.put(text, ("b",), 1)


def test_comments_and_trailing_commas_are_told_with_their_lines():
    """Who reads plain JSON only can be told where it stops."""
    read = jsonc.read('{\n"a": [1, ], // x\n"b": "// no",\n}')
    assert [jsonc.line_of('{\n"a": [1, ], // x\n"b": "// no",\n}', at) for at in read.comments] == [2]
    assert len(read.trailing_commas) == 2
