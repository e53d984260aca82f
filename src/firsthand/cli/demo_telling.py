"""What the demo says as it goes, and what it holds against itself."""

from __future__ import annotations

from typing import Any

from firsthand.cli.display import cut
from firsthand.cli.output import Output
from firsthand.value import field, value


@value(frozen=False)
class Telling:
    """What the demo says, and what it holds against itself."""

    out: Output
    facts: dict[str, Any] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def head(self, text: str) -> None:
        """Begin a part."""
        self.line()
        self.line(self.out.style(text, "strong"))

    def line(self, text: str = "") -> None:
        """Say a line, unless the answer is JSON."""
        if not self.out.as_json:
            self.out.line(cut(text, self.out.width) if self.out.width else text)

    def hold(self, true: bool, what: str) -> str:
        """Keep what did not come out as it should; give the word for it."""
        if true:
            return self.out.style("yes", "good")
        self.failures.append(what)
        return self.out.style("NO", "bad")
