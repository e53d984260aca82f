"""evals/reclaim/multiwoz.py: times of real dialogues, from a file made here in the shape of MultiWOZ 2.1."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from firsthand.errors import FormatError, InvalidArgument
from firsthand_evals.reclaim import drift, experiments, multiwoz, run
from firsthand_evals.reclaim.readers import Believing, Recomputing


def turn(text, **belief):
    return {"text": text, "metadata": belief}


def dialogue(time="12:45", said=None, *, slot=("restaurant", "book", "time"), repeated=True):
    domain, part, name = slot
    belief = {domain: {part: {name: time}}}
    return {
        "log": [
            turn("I want to eat something Indian ."),
            turn("There are nine .", restaurant={"book": {"time": ""}}),
            turn(said or f"Book the restaurant for 3 at {time} , please ."),
            turn(f"Booked for {time} ." if repeated else "Booked .", **belief),
            turn("Thanks !"),
            turn("Bye .", **belief),
        ]
    }


DATA = {
    "A": dialogue(),
    "B": dialogue("16:15", "I leave after 16:15 by train .", slot=("train", "semi", "leaveAt")),
    "noon": dialogue("12:00", "Book it for noon ."),  # not said as a time
    "late": dialogue("24:30", "Book it for 24:30 ."),  # no time of a day
    "changed": {
        "log": [
            *dialogue("09:00")["log"][:4],
            turn("No, at 10:00 ."),
            turn("Ok .", restaurant={"book": {"time": "10:00"}}),
        ]
    },
    "other": dialogue("18:00", "My wife was born at 18:00 ."),
}
DATA["other"]["log"][1]["metadata"] = {"restaurant": {"book": {"time": "18:00"}}}  # the belief had it before


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "val.json"
    path.write_text(json.dumps(DATA))
    return path


def test_the_time_is_one_that_a_user_said_and_the_belief_ends_with(file):
    """Said word for word, kept to the end, of the slot that the utterance filled; a later correction counts."""
    found = {one.id: (one.ask, one.answer) for one in multiwoz.problems(file, 3)}
    assert found == {
        "m-A": ("the time of the restaurant booking", "12:45"),
        "m-B": ("the departure time of the train", "16:15"),
        "m-changed": ("the time of the restaurant booking", "10:00"),
    }


def test_the_session_is_the_dialogue_with_a_wrong_confirmation(file):
    """The user's words stay; the system repeats the wrong time, which nobody had said, and confirms it."""
    problem = next(one for one in multiwoz.problems(file, 3) if one.id == "m-A")
    session = drift.dialogue(problem, 1)
    assert [one["content"] for one in session[1:7:2]] == [
        "I want to eat something Indian .", "Book the restaurant for 3 at 12:45 , please .", "Thanks !",
    ]  # fmt: skip
    assert session[4]["content"] == f"Booked for {problem.attractor} ."
    assert session[8]["content"] == f"Confirmed: the time of the restaurant booking is {problem.attractor}."
    assert problem.attractor != "12:45"
    assert problem.source == ("the user said: Book the restaurant for 3 at 12:45 , please .",)


def test_the_wrong_time_is_one_that_nobody_said(tmp_path):
    """Where the nearest wrong time was spoken of, another one is planted."""
    path = tmp_path / "near.json"
    near = dialogue("12:45")
    near["log"][4]["text"] = "We had 14:00 before ."
    path.write_text(json.dumps({"A": near}))
    (problem,) = multiwoz.problems(path, 1)
    assert problem.attractor == "14:15"


def test_a_zip_reads_as_the_file_in_it(file, tmp_path):
    """The set as it is published is a zip of one file."""
    packed = tmp_path / "val.json.zip"
    with zipfile.ZipFile(packed, "w") as opened:
        opened.write(file, "val.json")
    assert multiwoz.problems(packed, 3) == multiwoz.problems(file, 3)


def test_the_wall_stands_on_real_dialogue(file):
    """Lossy, padded and blank recover nothing, source-first everything; believing emits the wrong time from lossy."""
    (found,) = experiments.tables_of(run.run(experiments.sweep("dialogues", 3, data=file), Recomputing()))
    shares = {(one.label("memory"), one.label("exact")): one.recovered.share for one in found.cells}
    assert {name: share for (name, exact), share in shares.items() if exact} == {
        "lossy": 0, "lossy_padded": 0, "source_first": 1, "blank": 0,
    }  # fmt: skip
    (believed,) = experiments.tables_of(run.run(experiments.sweep("dialogues", 3, data=file), Believing()))
    assert believed.cell(memory="lossy", exact=1).attractor.share == 1
    assert believed.cell(memory="blank", exact=1).abstained.share == 1
    assert (believed.pairs[-1].difference.mean, believed.pairs[-1].verdict) == (1, "too few")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[1]", "dialogues by name"),
        ("{", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        ('{"A": {"turns": []}}', "has no turns"),
        ('{"A": 1}', "has no turns"),
    ],
)
def test_another_file_is_refused(tmp_path, text, says):
    """What is not of this shape says what was expected."""
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(FormatError, match=says):
        multiwoz.problems(path, 1)


def test_more_than_there_are_is_refused(file):
    """Asking for more dialogues than have a time says how many have one."""
    with pytest.raises(InvalidArgument, match="has 3 dialogues"):
        multiwoz.problems(file, 4)


def test_what_is_no_file_is_refused_unread(file, monkeypatch):
    """A folder, a device without an end, a name that is not there, and a file over the limit are named at once."""
    for path in (file.parent, file.parent / "none.json", Path("/dev/zero")):
        with pytest.raises(FormatError, match="is no file that is there; expected MultiWOZ"):
            multiwoz.problems(path, 1)
    monkeypatch.setattr(multiwoz, "FILE_BYTES_MAX", 10)
    with pytest.raises(FormatError, match="has over 1 GiB"):
        multiwoz.problems(file, 1)
