"""What of a task state a recall is conditioned on (total-recall 3.1, 4).

Pure: a state in, conditions out.
"""

from __future__ import annotations

from firsthand.answer import LINES_MAX, Conditions
from firsthand.task.state import TaskState


def of_task(state: TaskState, session: str = "") -> Conditions:
    """Give a session's task as the conditions of a recall; of its constraints, those are premises too."""
    pointers = dict.fromkeys(entry.pointer for entry in state.key_events if entry.pointer)
    return Conditions(
        goal=state.goal.text if state.goal is not None else "",
        phase=state.phase.text if state.phase is not None else "",
        open_loops=tuple(entry.text for entry in state.open_loops),
        premises=tuple(entry.text for entry in (*state.premises, *state.constraints))[:LINES_MAX],
        key_events=tuple(pointers)[:LINES_MAX],
        session=session,
    )
