"""What the parts of a text cost in one family of models: the form of the tables in `weights`.

The invariants that make an estimate at least 1 and never more than its parts stand
beside the weights that they bind; ``tests/test_tokens.py`` checks every table against
them. Nothing here counts.
"""

from __future__ import annotations

from firsthand.value import value

UNIT = 64  # weights are in 64ths of a token: whole numbers, so that sums do not depend on their order


@value
class Weights:
    """What the parts of a text cost in one family, in `UNIT`; all are at least 0.

    Attributes:
        signs: of single letters and punctuation, by weight.
        capital, digit, space, tab, line_feed, carriage_return, control: of one such byte.
        wide: of a sign outside ASCII, by its first byte (`_WIDE_FROM`).
        starts: of the beginning of a run of one class. At least what the run takes off for what stands before it.
        joined: taken off for each such pair or run of classes: a word after a space, two signs together. For a
            run, less than its bytes weigh.
        capitals: of each four capitals in a row; at most the start of a run of them, since joining two
            texts may join two runs and save one start.
        common: taken off for each such run of letters. What all that can share one letter take off it
            together is less than it weighs.
    """

    signs: dict[int, str]
    capital: int
    digit: int
    space: int
    tab: int
    line_feed: int
    carriage_return: int
    control: int
    wide: tuple[int, ...]
    starts: dict[str, int]
    joined: dict[str, int]
    capitals: int
    common: dict[str, int]
