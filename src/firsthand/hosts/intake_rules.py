"""What of a record is kept out of the log before it is written, by the user's settings.

    secrets        each becomes ``[secret:SORT:HASH]``, in contents, facts, envelope, and names of tools and subagents
    ignored tools  a call and its result keep their places, and say that they were not recorded
    off the record records of a session from within a pause are left out

The invariant: what is replaced stands in nothing that is appended, the source record
included; what the rules do not name is kept byte for byte. The same secret gives the same
mark under the same key. ``raw`` changes with it, so a cursor is counted on the bytes as they came.

Pure. It knows neither settings nor files.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from firsthand.event import Draft, Kind, to_bytes
from firsthand.moment import Moment
from firsthand.record import SPELLINGS, Record, make, spell
from firsthand.unasked.secrets import Finder, Marker, find, masked
from firsthand.value import replace

REDACTED = "redacted"
"""The fact in meta: how many secrets of each sort were replaced."""
NOT_RECORDED = "[not recorded: the user's settings ignore it]"
CALLS_MAX = 10_000
"""Ignored calls whose results are awaited."""
CARRIED_MAX = 200
"""Of those, the newest, that the next reading of a source awaits too."""
Interval = tuple[int, int | None]
"""From and to, in microseconds since 1970; None while it goes on."""


class CaptureRules:
    """Rules of one store, for one import or one hook.

    Args:
        mark: makes the marks of secrets; None redacts nothing.
        finder: what finds secrets.
        tools, paths: patterns of tools' names, and of paths of sources and in tools' calls.
        off_record: gives the intervals of a session that are off the record.
    """

    def __init__(
        self,
        mark: Marker | None = None,
        finder: Finder = find,
        *,
        tools: Sequence[str] = (),
        paths: Sequence[str] = (),
        off_record: Callable[[str], Sequence[Interval]] = lambda _: (),
    ) -> None:
        self._mark, self._finder, self._tools, self._paths = mark, finder, tools, paths
        self._off_record = off_record
        self._ignored: dict[str, None] = {}
        self.name: Callable[[str], str] = lru_cache(10_000)(lambda name: self.text(name)[0])

    def leaves_out(self, path: str) -> bool:
        """Say whether a source is not read at all."""
        return _matches(path, self._paths)

    def kept(self, record: Record, session: str) -> Record:
        """Give what of a record is kept; one without drafts where nothing is."""
        intervals = self._off_record(session.partition("/agent-")[0])
        if intervals and _is_within([draft.time for draft in record.drafts], intervals):
            return replace(record, drafts=(), injected=True)
        if (self._tools or self._paths) and any(map(self._is_ignored, record.drafts)):
            return self._blanked(record)
        return self._redacted(record) if self._mark is not None else record

    def await_results(self, call_ids: Iterable[str]) -> None:
        """Ignore the results of calls that an earlier reading of the source ignored."""
        self._ignored |= dict.fromkeys(call_ids)

    @property
    def awaited(self) -> list[str]:
        """Ids of the newest calls that were ignored."""
        return [*self._ignored][-CARRIED_MAX:]

    def ignores(self, tool: str, tool_input: str, call_id: str = "") -> bool:
        """Say whether a tool's call is ignored; a result with its id then is too."""
        is_ignored = any(fnmatchcase(tool, pattern) for pattern in self._tools) or (
            bool(self._paths) and any(_matches(text, self._paths) for text in _texts(_value(tool_input)))
        )
        if is_ignored and call_id:
            self._ignored[self.name(call_id)] = None
            if len(self._ignored) > CALLS_MAX:
                del self._ignored[next(iter(self._ignored))]
        return is_ignored

    def text(self, text: str) -> tuple[str, Counter[str]]:
        """Give a text without its secrets, and how many of each sort there were."""
        if self._mark is None:
            return text, Counter()
        secrets = self._finder(text)
        return masked(text, secrets, self._mark), Counter(secret.sort for secret in secrets)

    def value(self, thing: Any, counts: Counter[str]) -> Any:
        """Give a value of JSON without the secrets in its texts; adds to the counts."""
        if isinstance(thing, str):
            clean, sorts = self.text(thing)
            counts.update(sorts)
            return clean
        if isinstance(thing, Mapping):
            return {name: self.value(member, counts) for name, member in thing.items()}
        return [self.value(member, counts) for member in thing] if isinstance(thing, list) else thing

    def session(self, session: str) -> str:
        """Give a session's name without the secrets in its subagent's id; the host's own id of it stays."""
        main, sign, agent = session.partition("/agent-")
        return f"{main}{sign}{self.name(agent)}"

    # records -------------------------------------------------------------------------------------------

    def _is_ignored(self, draft: Draft) -> bool:
        call_id = str(draft.meta.get("call_id") or "")
        if draft.kind is Kind.TOOL_CALL:
            words = draft.content.decode("utf-8", "replace") if isinstance(draft.content, bytes) else ""
            return self.ignores(str(draft.meta.get("tool") or ""), words, call_id)
        if draft.kind is Kind.TOOL_RESULT:
            tool = str(draft.meta.get("tool") or draft.origin.removeprefix("tool:"))
            return self.name(call_id) in self._ignored or any(fnmatchcase(tool, pattern) for pattern in self._tools)
        return False

    def _blanked(self, record: Record) -> Record:
        """Keep the places of a record's events, and none of its words: what stands around them may repeat them."""
        drafts = tuple(
            replace(self._named(draft), content=_blank(draft), envelope=b"", meta=self.value(_facts(draft), Counter()))
            for draft in record.drafts
        )
        return replace(record, drafts=drafts)

    def _named(self, draft: Draft) -> Draft:
        return replace(draft, agent=self.name(draft.agent), origin=self.name(draft.origin))

    def _redacted(self, record: Record) -> Record:
        raw, counts, drafts = record.raw, Counter[str](), []
        for draft in record.drafts:
            own: Counter[str] = Counter()
            content, meta = draft.content, self.value(dict(draft.meta), own)
            if isinstance(content, bytes):
                clean, sorts = self.text(content.decode("utf-8", "surrogateescape"))
                own.update(sorts)
                if sorts:
                    changed = clean.encode("utf-8", "surrogateescape")
                    raw, content = rewritten(raw, content, changed), changed
            clean_meta = {**meta, REDACTED: dict(own)} if own else meta
            drafts.append(replace(self._named(draft), content=content, meta=clean_meta))
            counts.update(own)
        around, more = self.text(raw.decode("utf-8", "surrogateescape"))
        if not counts and not more:
            return record
        if more and drafts and not counts:  # only around the contents: in a copy of them, or in a field of its own
            drafts[0] = replace(drafts[0], meta={**drafts[0].meta, REDACTED: dict(more)})
        clean_raw = around.encode("utf-8", "surrogateescape")
        made = make(clean_raw, drafts, session=record.session, identity=record.identity, fault=record.fault)
        return replace(made, injected=record.injected)


def _blank(draft: Draft) -> bytes:
    return to_bytes(json.dumps(NOT_RECORDED) if draft.media == "application/json" else NOT_RECORDED)


def _facts(draft: Draft) -> dict[str, Any]:
    return {name: draft.meta[name] for name in ("tool", "call_id") if name in draft.meta} | {"ignored": True}


def _is_within(times: Iterable[Moment | None], intervals: Sequence[Interval]) -> bool:
    """Say whether an event is from within an interval; one without a time may be: a host repeats the last prompt so."""
    return any(
        time is None or (start <= time.microseconds and (end is None or time.microseconds < end))
        for time in times
        for start, end in intervals
    )


def _matches(path: str, patterns: Sequence[str]) -> bool:
    return len(path) < 4_096 and any(
        fnmatchcase(path, pattern) or fnmatchcase(path, f"*/{pattern}") for pattern in patterns
    )


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # it is text
        return text


def _texts(thing: Any) -> Iterable[str]:
    """Yield the texts of a value, and the words of each: a command names files too."""
    waiting = [thing]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
            yield from (word.strip("'\"") for word in value.split())
        else:
            waiting += value.values() if isinstance(value, dict) else value if isinstance(value, list) else []


def rewritten(raw: bytes, old: bytes, new: bytes) -> bytes:
    """Write another content wherever one stands in a record, in each spelling."""
    for spelling in SPELLINGS:
        try:
            raw = raw.replace(spell(old, spelling), spell(new, spelling))
        except ValueError:  # no text cannot stand there in a spelling of texts
            continue
    return raw
