"""Who may do what: a principal's rights by namespace, and the right that each route and tool needs.

The invariant: the namespace of a request is one that its principal has a grant for, named by the address or the
header or, where there is one alone, by nothing; never by a body. What is not granted is refused by the same words
whether or not it exists. A route or tool that is missing in the tables is refused, and a test names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from firsthand.value import field, value

AUDIT = "firsthand-audit"
"""The namespace of the audit log: the server alone appends to it, and whoever may read it is an operator."""


class Right(StrEnum):
    """What a grant allows in a namespace."""

    READ = "read"
    APPEND = "append"
    LEDGER = "ledger"
    ERASE = "erase"
    ADMIN = "admin"


ROUTES: Mapping[str, Right] = {
    **dict.fromkeys(
        ("health", "head", "sessions", "timeline", "event", "facts", "ledger", "messages", "stats", "recall", "fence",
         "fenced", "check", "check_correction", "coverage", "verify", "expand", "live"), Right.READ),
    **dict.fromkeys(("append", "append_messages", "note"), Right.APPEND),
    **dict.fromkeys(("supersede", "retract", "assert_fact"), Right.LEDGER),
    "erase": Right.ERASE,
    **dict.fromkeys(("export", "grants"), Right.ADMIN),
    **dict.fromkeys(("sync/heads", "sync/links", "sync/pull", "sync/erasures"), Right.READ),
    **dict.fromkeys(("sync/push", "sync/artifact"), Right.APPEND),
    "sync/erase": Right.ERASE,
}  # fmt: skip
"""Of each route below ``/v1/``; events that erase or decide need the right to, too."""
TOOLS: Mapping[str, Right] = {
    **dict.fromkeys(("recall", "expand", "timeline", "health"), Right.READ),
    "remember": Right.APPEND,
    "decide": Right.LEDGER,
}
"""Of each tool of MCP."""
METHODS: Mapping[str, Right | None] = {
    **dict.fromkeys(
        ("initialize", "ping", "tools/list", "resources/list", "resources/templates/list", "prompts/list",
         "notifications/initialized", "notifications/cancelled", "notifications/progress",
         "notifications/roots/list_changed", "logging/setLevel", "server/discover"), None),
    **dict.fromkeys(("resources/read", "prompts/get", "completion/complete"), Right.READ),
}  # fmt: skip
"""Of each other method of MCP; None: any grant will do, for nothing of a namespace is read."""


class Refused(Exception):
    """A request is not allowed.

    Attributes:
        status: of HTTP.
        reason: a word for the audit log; what was asked for is not in it.
        wait_s: after which it may be sent again; 0 for never.
    """

    def __init__(self, status: int, why: str, reason: str, wait_s: float = 0.0) -> None:
        super().__init__(why)
        self.status, self.reason, self.wait_s = status, reason, wait_s


@value
class Principal:
    """Who asks.

    Attributes:
        rights: by namespace.
    """

    name: str
    rights: Mapping[str, frozenset[Right]] = field(default_factory=dict)

    def namespace(self, named: str) -> str:
        """Give the namespace of a request.

        Args:
            named: by the request; empty where it names none.

        Raises:
            Refused: it is not granted, or there are several to choose from, or none.
        """
        if named and named in self.rights:
            return named
        if named:
            raise Refused(404, "expected a namespace that you have a grant for", "namespace")
        if len(self.rights) != 1:
            what = "name one of yours in the header firsthand-namespace" if self.rights else "you have no grant yet"
            raise Refused(400 if self.rights else 403, f"expected a namespace; {what}", "namespace")
        return next(iter(self.rights))

    def check(self, namespace: str, right: Right | None) -> None:
        """Refuse what is not granted.

        Raises:
            Refused: this right is not.
        """
        if right is None or right in self.rights.get(namespace, ()):
            return
        raise Refused(403, f"expected a grant of {right} in this namespace", str(right))

    @property
    def is_operator(self) -> bool:
        """True when the audit log, and what is counted of the server, may be read."""
        return Right.READ in self.rights.get(AUDIT, ())
