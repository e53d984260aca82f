"""What stands behind an option: what cannot be read is a usage error that says what was expected and what came."""

from __future__ import annotations

import pytest

from firsthand.cli.arguments import parser


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["agent", "sleep", "--seconds", "nan"], "expected a number from 0.001 to 86400; got 'nan'"),
        (["agent", "sleep", "--seconds", "-1"], "expected a number from 0.001 to 86400; got '-1'"),
        (["agent", "preamble", "--tokens", "0"], "expected a whole number from 1 to 1,000,000,000; got '0'"),
        (["agent", "cues", "why", "--tokens", "many"], "expected a whole number from 1 to 1,000,000,000; got 'many'"),
        (["recall", "why", "--limit", "201"], "expected a whole number from 1 to 200; got '201'"),
        (["import", "--map", "content"], "expected NAME=FIELD such as content=text; got 'content'"),
        (["recall", "why", "--since", "soon"], "or seconds since 1970; got 'soon'"),
    ],
)
def test_what_is_out_of_its_range_is_refused_as_it_is_typed(typed, said, capsys):
    """A wrong number, pair or time ends the command with 2 before any store is opened."""
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(typed)
    assert (ended.value.code, said in " ".join(capsys.readouterr().err.split())) == (2, True)
