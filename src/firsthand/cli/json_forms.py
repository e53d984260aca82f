"""The JSON that ``--json`` gives: stable keys, times as ISO 8601 with offset, unknown as null.

Content that is UTF-8 is a string; other bytes are ``{"base64": ...}``, so the
exact bytes can always be had back. The keys are an interface: they are added to,
never renamed.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from firsthand.value import asdict

if TYPE_CHECKING:  # a recall does not pay for the import of an import
    from firsthand import Anatomy, Answer, Budget, Event, Hit, ImportReport, Moment, Receipt, TaskState, Verification
    from firsthand.context.anatomy_diff import Difference
    from firsthand.context.must_stay import Stay
    from firsthand.log.read import SessionInfo
    from firsthand.window import Item, Marker


def of_bytes(data: bytes) -> str | dict[str, str]:
    """Give bytes as text where they are UTF-8, else in base64."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def of_moment(moment: Moment | None) -> str | None:
    """Give a time, or null."""
    return None if moment is None else str(moment)


def of_event(event: Event) -> dict[str, Any]:
    """Give an event without its content; an artifact's preview stands under ``preview``."""
    artifact = event.artifact
    return {
        "pointer": f"fh:{event.id}",
        "position": event.position,
        "namespace": event.namespace,
        "session": event.session,
        "sequence": event.sequence,
        "turn": event.turn,
        "part": event.part,
        "kind": event.kind,
        "agent": event.agent,
        "origin": event.origin,
        "trust": event.trust,
        "time": of_moment(event.time),
        "ingested": of_moment(event.ingested),
        "media": event.media,
        "meta": dict(event.meta),
        "bytes": event.size_bytes,
        "artifact": None if artifact is None else artifact.digest.hex(),
        "erased": event.erased,
        "chain": event.chain.hex(),
    }


def of_hit(hit: Hit) -> dict[str, Any]:
    """Give one hit."""
    return {
        "pointer": hit.pointer,
        "position": hit.position,
        "session": hit.session,
        "turn": hit.turn,
        "kind": hit.kind,
        "agent": hit.agent,
        "origin": hit.origin,
        "trust": hit.trust,
        "time": of_moment(hit.time),
        "bytes": hit.size_bytes,
        "score": hit.score,
        "parts": dict(hit.parts),
        "exact": list(hit.exact),
        "preview": hit.preview,
        "spans": list(hit.spans),
        "copies": list(hit.copies),
        "companion_of": hit.companion_of or None,
        "replaces": hit.replaces or None,
        "claims": hit.claims or None,
    }


def of_answer(answer: Answer) -> dict[str, Any]:
    """Give an answer."""
    return {
        "query": answer.query.text,
        "outcome": answer.outcome.value,
        "band": answer.band,
        "likelihood": answer.likelihood,
        "signals": dict(answer.signals),
        "hits": [of_hit(hit) for hit in answer.hits],
        "companions": [of_hit(hit) for hit in answer.companions],
        "said": [of_hit(hit) for hit in answer.said],
        "attempts": list(answer.attempts),
        "more": answer.more,
        "skip": answer.query.skip,
        "truncated": answer.truncated,
        "notes": list(answer.notes),
        "through": answer.through,
        "task": None if answer.query.conditions is None else asdict(answer.query.conditions),
        "now": of_moment(answer.query.now),
    }


def of_session(session: SessionInfo) -> dict[str, Any]:
    """Give one session of a list."""
    return asdict(session) | {"first": of_moment(session.first), "last": of_moment(session.last)}


def of_verification(verification: Verification) -> dict[str, Any]:
    """Give what a verification saw."""
    problems = [
        {
            "where": problem.where,
            "what": problem.what,
            "position": problem.position,
            "pointer": f"fh:{problem.id}" if problem.id else None,
        }
        for problem in verification.problems
    ]
    losses = [
        asdict(loss) | {"missing": [[positions[0], positions[-1]] for positions in loss.missing]}
        for loss in verification.losses
    ]
    return asdict(verification) | {"ok": verification.ok, "problems": problems, "losses": losses}


def of_import(report: ImportReport) -> dict[str, Any]:
    """Give what an import did."""
    return asdict(report) | {
        "records": report.records,
        "events_new": report.events_new,
        "events_known": report.events_known,
        "injected": report.injected,
        "quarantined_count": report.quarantined_count,
        "refused_count": len(report.refused),
        "ok": report.ok,
    }


# the window ----------------------------------------------------------------------------------------


def of_anatomy(anatomy: Anatomy) -> dict[str, Any]:
    """Give the record of one call; under ``paper`` its fields as the paper names them (total-recall A.4)."""
    return asdict(anatomy) | {
        "time": of_moment(anatomy.time),
        "tokens": anatomy.tokens,
        "utilisation_percent": anatomy.utilisation_percent,
        "paper": anatomy.fields_of_the_paper,
    }


def of_difference(diff: Difference) -> dict[str, Any]:
    """Give what lies between two calls."""
    return {
        "before": diff.before.pointer,
        "after": diff.after.pointer,
        "tokens": diff.tokens,
        "bytes": diff.bytes,
        "compactions": diff.compactions,
        "changes": [asdict(change) for change in diff.changes],
        "events_compared": diff.events_compared,
        "came": [of_item(item) for item in diff.came],
        "left": [of_item(item) for item in diff.left],
        "resized": [of_item(item) for item in diff.resized],
        "markers_came": list(diff.markers_came),
        "markers_left": list(diff.markers_left),
        "merged": [asdict(merge) for merge in diff.merged],
        "sentences": list(diff.sentences),
    }


def of_item(item: Item) -> dict[str, Any]:
    """Give one item of a window."""
    return {
        "pointer": f"fh:{item.id}",
        "position": item.position,
        "turn": item.turn,
        "kind": item.kind,
        "tokens": item.tokens,
        "shortened": item.shortened,
        "accesses": list(item.accesses),
    }


def of_stay(stay: Stay) -> dict[str, Any]:
    """Give one item of a window and why it is there."""
    return of_item(stay.item) | {"reason": stay.reason, "protected": stay.protected}


def of_marker(marker: Marker) -> dict[str, Any]:
    """Give one marker."""
    return asdict(marker) | {
        "pointer": marker.pointer,
        "start": of_moment(marker.start),
        "end": of_moment(marker.end),
        "text": marker.text,
    }


def of_budget(budget: Budget) -> dict[str, Any]:
    """Give a budget and its marks."""
    return asdict(budget) | {"high_tokens": budget.high_tokens, "low_tokens": budget.low_tokens}


def of_task(task: TaskState) -> dict[str, Any]:
    """Give a task state."""
    return asdict(task)


def of_receipt(pointer: str, receipt: Receipt) -> dict[str, Any]:
    """Give what one compaction did."""
    return asdict(receipt) | {
        "pointer": pointer,
        "budget": of_budget(receipt.budget),
        "markers": [of_marker(marker) for marker in receipt.markers],
        "text": receipt.text,
    }
