"""Appending, as every engine does it: drafts are checked and prepared here, and submitted by the engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from firsthand.errors import InvalidDraft
from firsthand.event import Draft, IdMaker

from .payload import PayloadStore
from .prepare import BATCH_EVENTS_MAX, Batch, DraftGroup, Prepared, check_name, prepare
from .results import Appended


class AppendVerbs(ABC):
    """The two ways into a log."""

    artifacts: PayloadStore
    _inline_max: int
    _ids: IdMaker

    @abstractmethod
    def namespace_key(self, namespace: str) -> int:
        """Give a namespace's number."""

    @abstractmethod
    def _submit(self, batches: tuple[Batch, ...]) -> tuple[Appended, ...]: ...

    def append(
        self, drafts: Sequence[Draft], *, namespace: str, session: str, expected_position: int | None = None
    ) -> tuple[Appended, ...]:
        """Append events to one session, all or none; on return they are on disk.

        Raises:
            InvalidDraft: a field is of the wrong type or over its limit.
            IdConflict: an id is there with other bytes.
            StaleExpectation: the session does not end at ``expected_position``.
            StoreBusy: other writers held the store past the timeout, or its server cannot be reached.
            StoreFull, StoreFailed: the disk, or the server, refused.
        """
        self._check_writer()
        check_name(namespace, "namespace", empty=False)
        check_name(session, "session", empty=False)
        if expected_position is not None and expected_position < 0:
            raise InvalidDraft(f"expected_position is the session's last one, or 0; got {expected_position}")
        if not drafts:
            return ()
        if len(drafts) > BATCH_EVENTS_MAX:
            raise InvalidDraft(f"one append takes at most {BATCH_EVENTS_MAX:,} events; got {len(drafts):,}. Split it.")
        return self._submit((Batch(namespace, session, self._prepared(drafts, namespace), expected_position),))

    def append_group(self, groups: Sequence[DraftGroup], *, namespace: str) -> tuple[Appended, ...]:
        """Append events to several sessions in one transaction, all or none: an import's way.

        The ids are derived from the source records (`event.derived_id`): one that is there is known.
        """
        self._check_writer()
        check_name(namespace, "namespace", empty=False)
        for group in groups:
            check_name(group.session, "session", empty=False)
        batches = tuple(
            Batch(namespace, group.session, self._prepared(group.drafts, namespace), derived_ids=True)
            for group in groups
        )
        return self._submit(batches) if batches else ()

    def submit(self, batches: object) -> tuple[Appended, ...]:
        """Append what was prepared before: a restore's events, or those of a `StoreBusy` (``error.batch``).

        Raises:
            InvalidDraft: it is not that.
        """
        if not isinstance(batches, tuple) or not all(isinstance(batch, Batch) for batch in batches):
            raise InvalidDraft(f"expected prepared batches, such as StoreBusy.batch; got {type(batches).__name__}")
        return self._submit(batches)

    def _check_writer(self) -> None:  # noqa: B027 - most engines learn it from the server
        """Raise where this handle cannot write, before a payload is read."""

    def _prepared(self, drafts: Sequence[Draft], namespace: str) -> tuple[Prepared, ...]:
        key = self.namespace_key(namespace)
        return tuple(prepare(draft, key, self.artifacts, self._inline_max, self._ids) for draft in drafts)
