"""What the user wants kept out of the log, read from the settings: rules for hooks and imports, and the key of marks.

The invariant: only the user's settings say so, a checkout's file never; where secrets are
to be replaced and the key cannot be read, nothing is recorded rather than recorded whole.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

from firsthand.agents import pauses, settings, small_files
from firsthand.agents.settings import Settings
from firsthand.errors import StoreFailed
from firsthand.hosts.hook import HookCall, HookEvent
from firsthand.hosts.intake_rules import CaptureRules
from firsthand.unasked import secret_library, secrets
from firsthand.value import replace

KEY_FILE = "redaction.key"
"""In the store's folder, for the owner alone; no export and no backup holds it."""


def rules_of(store: Path, chosen: Settings | None = None) -> CaptureRules:
    """Give the rules of a store's user.

    Args:
        chosen: settings that hold; None takes those for all projects.

    Raises:
        StoreError: the key cannot be read or made.
    """
    chosen = settings.load(store) if chosen is None else chosen
    mark = secrets.keyed_mark(key_of(store)) if chosen.redact else None
    finder = secret_library.load(store / secret_library.RULES_FOLDER) if chosen.redact else secrets.find
    return CaptureRules(
        mark, finder, tools=chosen.ignore_tools, paths=chosen.ignore_paths,
        off_record=lambda session: pauses.intervals(store, session),
    )  # fmt: skip


def key_of(store: Path) -> bytes:
    """Give the key of a store's marks, made where there is none.

    Raises:
        StoreError: it cannot be read or made, or is none.
    """
    path = store / KEY_FILE
    data = small_files.read(path)
    if data is None:
        made = path.with_name(f".{KEY_FILE}.{os.urandom(6).hex()}")
        small_files.write(made, os.urandom(secrets.KEY_BYTES))
        with small_files.ours(f"make {path}"):
            try:
                os.link(made, path)  # of two processes one makes it
            except FileExistsError:
                pass
            finally:
                made.unlink(missing_ok=True)
        data = small_files.read(path)
    if data is None or len(data) != secrets.KEY_BYTES:
        raise StoreFailed(
            f"expected {secrets.KEY_BYTES} bytes in {path}; it has {0 if data is None else len(data)}. Nothing is "
            "recorded while secrets cannot be marked. Put the file back, or remove it: then the same secret gets "
            "another mark."
        )
    return data


def learn_secrets(store: Path) -> bool:
    """Compile what the library behind the extra ``secrets`` knows, so that no hook waits; False without it."""
    if secret_library.is_installed():
        secret_library.load(store / secret_library.RULES_FOLDER)
    return secret_library.is_installed()


def redacted(call: HookCall, rules: CaptureRules) -> HookCall:
    """Give what of a hook's call is recorded: it without its secrets, those in names of tools and subagents too.

    The host's id of the session, its folder and its transcript stay as they are: by them the files are found.
    """
    counts: Counter[str] = Counter()
    texts = (
        "prompt", "tool", "tool_input", "tool_output", "call_id", "key", "error", "message", "agent_id", "source",
    )  # fmt: skip
    changes = {name: rules.value(getattr(call, name), counts) for name in texts}
    return replace(call, **changes) if counts else call


def is_ignored(call: HookCall, rules: CaptureRules) -> bool:
    """Say whether a call is of a tool, or names a path, that the user's settings ignore."""
    in_tool = call.event in (HookEvent.BEFORE_TOOL, HookEvent.AFTER_TOOL, HookEvent.TOOL_FAILED)
    return in_tool and rules.ignores(call.tool, call.tool_input, call.call_id)
