"""What can be typed of a model that a command asks; `firsthand.cli.asking` asks it."""

from __future__ import annotations

from typing import Any

from firsthand.cli.argument_values import decimal, number, prices

CALLS_MAX = 2_000


def add(one: Any) -> None:
    """Add the options of what a model may take, and of where its replies are kept."""
    asked = one.add_argument_group("a model, when one is named")
    asked.add_argument("--calls-max", type=number(1), default=CALLS_MAX, metavar="N", help="default 2,000")
    asked.add_argument("--tokens-max", type=number(1), metavar="N", help="stop before it takes more tokens")
    asked.add_argument(
        "--price", type=prices, metavar="PROMPT,REPLY", help="of a million tokens each, for the estimate and the cap"
    )
    asked.add_argument("--cost-max", type=decimal(0, 1_000_000), metavar="X", help="stop before it costs more")
    asked.add_argument(
        "--replies", metavar="DIR", help="keep its replies here, with the words they answer; what is there is not paid"
    )
    asked.add_argument("--replay", action="store_true", help="ask no model: answer from --replies")
