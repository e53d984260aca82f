"""testing/plugin.py and fixture.py: the fixture `reclaim` and its options, as a project that uses them sees them."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from xml.etree import ElementTree as ET

import pytest

pytest_plugins = ["pytester"]

MEMORIES = """
def forgets(messages, budget):
    return "The total is $5."

class Keeps:
    def write(self, messages, budget):
        return "\\n".join(one["content"] for one in messages if one["role"] == "user")
"""
TESTS = """
from memories import Keeps, forgets

def test_keeps(reclaim):
    reclaim.assert_correctable(Keeps, budget=3000, problems=1)

def test_forgets(reclaim):
    reclaim.assert_correctable(forgets, problems=1)
    raise ValueError("not reached")

def test_partial(reclaim):
    reclaim.assert_no_silent_partial(forgets, problems=1)

def test_lossless(reclaim):
    reclaim.assert_lossless(Keeps, sessions=1)
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project with memories and tests of them."""
    pytester.makepyfile(memories=MEMORIES, test_memories=TESTS)
    return pytester


def properties(file) -> dict[str, dict[str, str]]:
    """Give what a JUnit report holds of each test: its properties."""
    cases = ET.parse(file).getroot().iter("testcase")
    return {case.get("name"): {one.get("name"): one.get("value") for one in case.iter("property")} for case in cases}


def test_the_package_brings_the_plugin():
    """The package names its plugin, so that whoever installs it has the fixture."""
    named = [(one.name, one.value) for one in entry_points(group="pytest11") if "firsthand" in one.value]
    assert named == [("firsthand_evals", "firsthand_evals.testing.plugin")]


def test_methods_assert_and_figures_are_reported(project):
    """Each method fails and holds as its assertion does; the JUnit report has the figures of both."""
    result = project.runpytest("--junitxml=report.xml", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=3)
    assert properties(project.path / "report.xml") == {
        "test_keeps": {"firsthand correctable Keeps": "8 of 8 items were brought back"},
        "test_forgets": {"firsthand correctable forgets": "0 of 8 items were brought back"},
        "test_partial": {
            "firsthand no_silent_partial forgets": "9 of 9 items were wrong, or looked whole, without a sign"
        },
        "test_lossless": {"firsthand lossless Keeps": "5 of 7 messages came back word for word"},
    }
    result.stdout.fnmatch_lines(
        [
            "E * AssertionError: forgets is not correctable: 0 of 8 items were brought back",
            "E *   | The total is $5.",
            "E *   firsthand eval reclaim --memory ./memories.py:forgets --experiment places --budget 600 --html *",
        ]
    )


def test_the_traceback_ends_in_the_test(project):
    """A failure points at the line of the test, and shows no line of the package."""
    result = project.runpytest("-k", "forgets", "-p", "no:cacheprovider")
    result.stdout.fnmatch_lines([">       reclaim.assert_correctable(forgets, problems=1)", "test_memories.py:7: *"])
    result.stdout.no_fnmatch_line("*asserting.py*")
    result.stdout.no_fnmatch_line("*fixture.py*")


def test_the_command_line_goes_before_the_test(project):
    """``--reclaim-problems`` and ``--reclaim-seed`` take the place of what a test says, where it says it."""
    options = ["--reclaim-problems=2", "--reclaim-seed=9", "--junitxml=report.xml", "-p", "no:cacheprovider"]
    result = project.runpytest(*options)
    result.assert_outcomes(passed=1, failed=3)
    found = properties(project.path / "report.xml")
    assert found["test_keeps"] == {"firsthand correctable Keeps": "16 of 16 items were brought back"}
    assert found["test_partial"] == {
        "firsthand no_silent_partial forgets": "18 of 18 items were wrong, or looked whole, without a sign"
    }
    result.stdout.fnmatch_lines(["*The first that broke: problem a9-0 (*"])


def test_a_run_without_such_tests_does_not_load_it():
    """Loading the plugin imports three modules of the package and nothing that they would need."""
    code = "import sys, pytest; before = set(sys.modules); import firsthand_evals.testing.plugin; print(sorted("
    code += "one for one in set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "['firsthand_evals', 'firsthand_evals.testing', 'firsthand_evals.testing.plugin']\n"
