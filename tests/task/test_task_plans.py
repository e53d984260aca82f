"""Plan tools and check boxes of hosts are read in their own shapes."""

from __future__ import annotations

import json

import pytest

from firsthand.task.plans import ITEMS_MAX, Plan, Step, boxes, creates, number, of_call, subject

DONE, ACTIVE, NEXT = Step("a", open=False), Step("b", active=True), Step("c")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("TodoWrite", {"todos": [
            {"content": "a", "status": "completed", "activeForm": "doing a"},
            {"content": "b", "status": "in_progress", "activeForm": "doing b"},
            {"content": "c", "status": "pending", "activeForm": "doing c"}]}),
        ("update_plan", {"explanation": "so", "plan": [
            {"step": "a", "status": "completed"}, {"step": "b", "status": "in_progress"},
            {"step": "c", "status": "pending"}]}),
        ("write_todos", {"todos": [
            {"description": "a", "status": "cancelled"}, {"description": "b", "status": "in_progress"},
            {"description": "c", "status": "pending"}]}),
        ("write_todos", {"todos": [
            {"content": "a", "status": "completed"}, {"content": "b", "status": "in_progress"},
            {"content": "c", "status": "pending"}]}),
        ("mcp__planner__task_tracker", {"command": "plan", "task_list": [
            {"title": "a", "status": "done"}, {"title": "b", "status": "in_progress"},
            {"title": "c", "status": "todo"}]}),
        ("manage_todo_list", {"operation": "write", "todoList": [
            {"title": "a", "status": "completed"}, {"title": "b", "status": "in-progress"},
            {"title": "c", "status": "not-started"}]}),
    ],
)  # fmt: skip
def test_the_lists_of_hosts(tool, arguments):
    """Whatever a host calls its items and their states, done, active and waiting ones are told apart."""
    assert of_call(tool, json.dumps(arguments)) == Plan((DONE, ACTIVE, NEXT))


def test_items_by_id():
    """Calls that change some items give those alone."""
    merge = {"merge": True, "todos": [{"id": "2", "status": "completed"}]}
    assert of_call("todo_write", json.dumps(merge)) == Plan((Step("", "2", open=False),), whole=False)
    update = json.dumps({"taskId": "7", "status": "in_progress"})
    assert of_call("TaskUpdate", update) == Plan((Step("", "7", active=True),), whole=False)
    assert of_call("TaskCreate", json.dumps({"subject": "Fix it"})) is None
    assert subject("TaskCreate", json.dumps({"subject": "Fix it", "description": "all of it"})) == "Fix it"
    assert subject("TaskUpdate", json.dumps({"subject": "Fix it"})) == ""
    assert creates("TaskCreate")
    assert not creates("TaskUpdate")
    assert number("Task #12 created successfully: Fix it") == "12"
    assert number("created\n#12") == ""


def test_an_empty_list_is_a_list():
    """A host that clears its list says that nothing is left."""
    assert of_call("TodoWrite", '{"todos": []}') == Plan(())


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("bash", '{"todos": [{"content": "a"}]}'),
        ("TodoWrite", "not json"),
        ("TodoWrite", "[" * 100_000),
        ("TodoWrite", "[]"),
        ("TodoWrite", '{"todos": "a"}'),
        ("TodoWrite", '{"todos": [1, null, {"status": "pending"}]}'),
        ("TaskUpdate", '{"status": "completed"}'),
        ("TaskUpdate", '{"taskId": "7"}'),
        ("TodoRead", "{}"),
    ],
)
def test_other_shapes_say_nothing(tool, arguments):
    """A call that is none of a plan tool, or cut off, is no empty plan."""
    assert of_call(tool, arguments) is None


def test_boxes_of_a_message():
    """Check boxes are read from lists, not from code."""
    message = "Plan:\n- [x] a\n* [~] b\n1. [ ] c\n```\n- [ ] in code\n```\n[ ] no item\n- [link](x)"
    assert boxes(message) == (DONE, ACTIVE, NEXT)


def test_lists_are_limited():
    """A list is read up to ITEMS_MAX items."""
    listed = json.dumps({"todos": [{"content": f"{n}"} for n in range(ITEMS_MAX + 1)]})
    plan = of_call("TodoWrite", listed)
    assert plan is not None
    assert len(plan.steps) == ITEMS_MAX
    assert len(boxes("- [ ] a\n" * (ITEMS_MAX + 1))) == ITEMS_MAX
