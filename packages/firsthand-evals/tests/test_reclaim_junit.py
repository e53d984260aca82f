"""evals/reclaim/page.py: requirements as test cases that any CI reads."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from reclaim_runs import Head, Nasty, ran

from firsthand_evals.reclaim import experiments
from firsthand_evals.reclaim.page import cut, junit
from firsthand_evals.reclaim.requirements import requirements
from firsthand_evals.reclaim.validators import Check


def made(names, memory, checks=()):
    found = ran(names, memory, "mine")[1]
    own = requirements(found, experiments.tables_of(found), ("mine",))
    return own, ET.fromstring(junit(own, checks).encode())


def test_each_requirement_is_a_test_case_and_counts_add_up():
    """The suite of a memory holds its requirements by experiment and name, and a failure for each broken one."""
    checks = (Check("it has a cliff", 2, ()), Check("nothing is there", 0, ()))
    own, tree = made(("disposition", "completeness"), Head, checks)
    mine, itself = tree.findall("testsuite")
    assert [one.get("name") for one in mine.findall("testcase")] == [one.name for one in own]
    assert {one.get("classname") for one in mine.findall("testcase")} == {
        "reclaim", "reclaim.disposition", "reclaim.completeness"
    }  # fmt: skip
    broken = sum(not one.held for one in own)
    assert len(mine.findall("testcase/failure")) == broken > 0
    assert (mine.get("tests"), mine.get("failures")) == (str(len(own)), str(broken))
    assert (itself.get("tests"), itself.get("failures")) == ("2", "1")
    assert itself.find("testcase/failure").get("message") == "nothing is there: nothing to look at"
    assert (tree.get("tests"), tree.get("failures")) == (str(len(own) + 2), str(broken + 1))


def test_a_run_that_broke_off_is_a_failure():
    """A file without an item is not green: that the run did not come to its end is a test case of its own."""
    tree = ET.fromstring(junit((), (), "0 of 20 cases have an item").encode())
    assert (tree.get("tests"), tree.get("failures")) == ("1", "1")
    assert tree.find("testsuite/testcase/failure").get("message") == "0 of 20 cases have an item"
    assert ET.fromstring(junit((), ()).encode()).get("tests") == "0"


def test_a_failure_shows_one_item_whole():
    """What was asked, carried and answered stands in the failure."""
    own, tree = made(("completeness",), Head)
    failure = tree.find(".//failure")
    first = next(one for one in own if not one.held)
    assert failure.get("message") == f"{first.found} (n = {first.n})"
    item = first.broken[0]
    assert f"right is {item.answer}\n" in failure.text
    assert item.carried in failure.text
    assert f"correction: {item.turns[-1]}\nreply: {item.replies[-1]}" in failure.text


def test_no_sign_that_xml_forbids_reaches_the_file():
    """Control signs, lone halves and tags of a memory are told as escapes."""
    _, tree = made(("reclaim",), Nasty)
    told = "\n".join(one.text for one in tree.iter("failure"))
    assert "<script>alert(1)</script> ]]> & \\x00\\x1b[31m \\u202e \\ud800" in told
    assert "fault: Nasty raised in write(): KeyError: '<b>gone</b>'" in told


def test_a_long_text_is_cut_and_says_by_how_much():
    """Nothing is cut without a word."""
    assert cut("abc", 3) == "abc"
    assert cut("abcde", 3) == "abc … 2 more characters"
