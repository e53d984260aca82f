"""What the fixture ``reclaim`` gives a test: the assertions, as the command line wants them, with their figures kept.

The invariant: figures are kept whether an assertion holds or not.
"""

from __future__ import annotations

from typing import Any

from firsthand_evals.testing import asserting, lossless, reclaiming


class Reclaim:
    """The assertions of one test.

    Args:
        problems, seed: in place of what an assertion is called with; None leaves that.
        kept: gets a name and a sentence for each assertion; pytest writes them into the JUnit report.
    """

    def __init__(self, *, problems: int | None, seed: int | None, kept: list[tuple[str, object]]) -> None:
        self._problems, self._seed, self._kept = problems, seed, kept

    def assert_correctable(self, memory: Any, **options: Any) -> None:
        """Assert what `firsthand_evals.testing.assert_correctable` does."""
        __tracebackhide__ = True
        self._hold(reclaiming.correctable(memory, **self._chosen(options, counted=True)))

    def assert_lossless(self, memory: Any, **options: Any) -> None:
        """Assert what `firsthand_evals.testing.assert_lossless` does."""
        __tracebackhide__ = True
        self._hold(lossless.lossless(memory, **self._chosen(options, counted=False)))

    def assert_no_silent_partial(self, memory: Any, **options: Any) -> None:
        """Assert what `firsthand_evals.testing.assert_no_silent_partial` does."""
        __tracebackhide__ = True
        self._hold(reclaiming.no_silent_partial(memory, **self._chosen(options, counted=True)))

    def _chosen(self, options: dict[str, Any], *, counted: bool) -> dict[str, Any]:
        """Let the command line go before what a test says."""
        typed = {"seed": self._seed} | ({"problems": self._problems} if counted else {})
        return options | {name: given for name, given in typed.items() if given is not None}

    def _hold(self, checked: asserting.Result) -> None:
        __tracebackhide__ = True
        self._kept.append((f"firsthand {checked.of} {checked.name}", checked.figures))
        asserting.hold(checked)
