"""What of a task state a recall is conditioned on (total-recall 3.1, 4).

Pure: a state in, conditions out.
"""

from __future__ import annotations

from firsthand.answer import LINES_MAX, Conditions
from firsthand.context.task_state import TaskState


def of_task(state: TaskState, session: str = "") -> Conditions:
    """Give a session's task as the conditions of a recall: what was set; without a goal, the last request."""
    aim = state.goal or state.request
    return Conditions(
        goal=aim.text if aim is not None else "",
        phase=state.phase.text if state.phase is not None else "",
        open_loops=tuple(entry.text for entry in state.open_loops)[:LINES_MAX],
        session=session,
    )
