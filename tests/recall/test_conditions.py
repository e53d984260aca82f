"""The conditions of a recall, from a task state."""

from __future__ import annotations

from firsthand.answer import Conditions
from firsthand.context.task_state import Entry, TaskState, of_task


def test_a_state_without_anything_conditions_nothing():
    """An empty state gives empty conditions."""
    assert of_task(TaskState()) == Conditions()


def test_a_state_is_taken_over_by_field():
    """Goal, phase and open loops come as texts."""
    state = TaskState(goal=Entry("ship"), phase=Entry("verify"), open_loops=(Entry("test it"),))
    assert of_task(state, "deploy") == Conditions("ship", "verify", ("test it",), "deploy")


def test_without_a_goal_the_last_request_counts():
    """As long as nobody set a goal, what the user asked last stands in its place."""
    assert of_task(TaskState(request=Entry("fix it"))).goal == "fix it"
    assert of_task(TaskState(request=Entry("fix it"), goal=Entry("ship"))).goal == "ship"
