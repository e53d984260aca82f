"""evals/stream/packs.py: what can be run by its name, and what each takes."""

from __future__ import annotations

from importlib import import_module

import pytest

from firsthand.cli.arguments import parser
from firsthand.errors import InvalidArgument
from firsthand.value import fields
from firsthand_evals import registry
from firsthand_evals.stream import packs
from firsthand_evals.stream.packs import Options


def test_every_pack_can_be_typed_run_and_found():
    """The names that are typed are those of the packs; each has a module that runs, options that are, and a row."""
    stream = ["eval", "stream"]
    for name, takes in packs.PACKS.items():
        assert parser(stream).parse_args([*stream, "--pack", name]).pack == name
        assert callable(import_module(f"firsthand_evals.stream.{name.partition('-')[0]}_pack").run)
        assert takes <= set(fields(Options)) - packs.ALWAYS
        assert registry.named(packs.experiment(name)).ours


def test_an_option_that_a_pack_does_not_take_is_refused():
    """Nothing typed is without effect: a pack says what it takes; an unknown one is refused with those there are."""
    with pytest.raises(InvalidArgument, match="takes no --model; it takes --arm, --budget"):
        packs.run("own-sessions", Options(model="local"))
    with pytest.raises(InvalidArgument, match="no pack 'x'; these are: ledger, "):
        packs.run("x", Options())


def test_a_headline_counts_checks():
    """It says how many held, and that none was asked."""
    assert packs.headline([True, False], "2 streams") == "1 of 2 checks held (2 streams)"
    assert packs.headline([], "2 streams") == "no check was asked (2 streams)"
