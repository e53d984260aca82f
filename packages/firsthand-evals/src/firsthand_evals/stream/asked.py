"""The models of a stream: named by what was typed, under one cap, recorded in one folder."""

from __future__ import annotations

from firsthand import InvalidArgument
from firsthand.llm import asked
from firsthand.llm.asked import named, opened
from firsthand.llm.budget import CALLS_MAX, Cap, Meter, Price
from firsthand_evals.stream.packs import Options


class Asked(asked.Asked):
    """One model of one run; make it with `Asked.of`."""

    @classmethod
    def of(cls, options: Options) -> Asked | None:
        """Give the model that was typed; None without one.

        Raises:
            InvalidArgument: what was typed does not fit together.
            ModelUnavailable: it cannot be loaded.
        """
        of_model = {"temperature", "calls_max", "tokens_max", "price", "cost_max", "replay"}
        if options.model is None:
            given = sorted(name for name in of_model if getattr(options, name) not in (None, False))
            if given:
                raise InvalidArgument(f"--{given[0].replace('_', '-')} is of a run with a model: name one (--model)")
            return None
        if options.folder is None:
            raise InvalidArgument(
                "a run with a model is kept, so that no reply is paid for twice: name a folder (--out DIR)"
            )
        price = None if options.price is None else Price(*options.price)
        calls = CALLS_MAX if options.calls_max is None else options.calls_max
        meter = Meter(Cap(calls, options.tokens_max, options.cost_max), price)
        one = named(options.model, temperature=options.temperature or 0.0)
        model = None if options.replay else opened(one, options.key)
        return cls(one, options.folder, meter, price, model)

    def beside(self, options: Options, model: str) -> Asked:
        """Give another model of the same run: under the same cap, in the same folder."""
        one = named(model, temperature=options.temperature or 0.0)
        reached = None if options.replay else opened(one, options.key)
        return Asked(one, self._folder, self._meter, self.price, reached)
