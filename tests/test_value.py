"""Values behave as frozen slotted dataclasses do, and start cheaper."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from firsthand.value import asdict, field, fields, replace, value


@value
class Point:
    """A place and what is known of it."""

    x: int
    y: int = 0
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sum(self) -> int:
        return self.x + self.y


@dataclasses.dataclass(frozen=True, slots=True)
class Reference:
    x: int
    y: int = 0
    about: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@value
class Positive:
    number: int

    def __post_init__(self) -> None:
        if self.number < 1:
            raise ValueError("a positive number is at least 1")


@value(order=True)
class Version:
    major: int
    minor: int = 0


@value(frozen=False)
class Tally:
    count: int = 0
    seen: list[str] = field(default_factory=list)


@value(frozen=False, eq=False)
class Place:
    number: int


@value
class Nothing:
    pass


@value
class Holder:
    points: tuple[Point, ...]
    by_name: Mapping[str, Point]


@pytest.mark.parametrize(
    ("positional", "named"),
    [((1,), {}), ((1, 2), {}), ((1, 2, {"a": 1}), {}), ((), {"x": 1, "about": {"b": 2}}), ((1,), {"y": None})],
)
def test_arguments_reach_the_fields_that_a_dataclass_gives_them(positional, named):
    """Positional and named arguments and defaults land where a dataclass puts them."""
    made, reference = Point(*positional, **named), Reference(*positional, **named)
    assert (made.x, made.y, made.about) == (reference.x, reference.y, reference.about)
    assert eval(repr(made), {"Point": Point}) == made


@pytest.mark.parametrize(("positional", "named"), [((), {}), ((1, 2, {}, 4), {}), ((1,), {"z": 1}), ((1,), {"x": 1})])
def test_wrong_arguments_are_refused_by_name(positional, named):
    """Too few, too many, unknown and doubled arguments raise the TypeError of any function."""
    with pytest.raises(TypeError, match=r"Point\.__init__\(\)"):
        Point(*positional, **named)


def test_a_factory_makes_a_default_for_each_instance():
    """Two instances do not share what a factory made, and None is a value like any other."""
    assert Point(1).about is not Point(1).about
    assert Point(1, about=None).about is None


def test_a_default_that_could_be_changed_is_refused():
    """A list as a default would be shared by all instances: the class is not made."""
    with pytest.raises(TypeError, match=r"Shared\.seen: all instances would share \[\]; use field\(\)"):

        @value
        class Shared:
            seen: list[int] = []  # noqa: RUF012 - what is refused


def test_fields_stay():
    """A frozen value refuses assignment, deletion and fields that it does not have."""
    point = Point(1)
    for change in (lambda: setattr(point, "x", 2), lambda: delattr(point, "x"), lambda: setattr(point, "z", 2)):
        with pytest.raises(AttributeError, match="Point is a value"):
            change()
    assert point == Point(1)
    assert not hasattr(point, "__dict__")


def test_equality_is_of_class_and_fields():
    """Equal fields of the same class are equal with equal hashes; another class or field is not."""
    assert Point(1, 2) == Point(1, 2)
    assert Point(1, 2) != Point(2, 1)
    assert Version(1) != Positive(1)
    assert hash(Version(1, 2)) == hash(Version(1, 2)) == hash((1, 2))
    assert {Positive(1), Positive(1), Positive(2)} == {Positive(2), Positive(1)}
    assert Nothing() == Nothing()
    assert hash(Nothing()) == hash(())
    assert hash(Positive(7)) == hash((7,))
    with pytest.raises(TypeError, match="unhashable"):
        hash(Point(1))  # it holds a dictionary


def test_order_only_where_asked():
    """A class made with order compares as its fields do, all four ways; another one does not."""
    versions = [Version(2), Version(1, 5), Version(1)]
    assert sorted(versions) == versions[::-1]
    older, newer = Version(1, 5), Version(2)
    assert (older < newer, older <= newer, older > newer, older >= newer) == (True, True, False, False)
    assert (older <= Version(1, 5), older >= Version(1, 5), older < Version(1, 5)) == (True, True, False)
    for wrong in (lambda: Point(1) < Point(2), lambda: older < (2, 0), lambda: older >= 1):
        with pytest.raises(TypeError):
            wrong()


def test_post_init_checks_every_instance():
    """``__post_init__`` runs for the first instance, the next ones and those of replace."""
    for wrong in (lambda: Positive(0), lambda: Positive(-1), lambda: replace(Positive(1), number=0)):
        with pytest.raises(ValueError, match="at least 1"):
            wrong()
    assert Positive(1).number == 1


def test_not_frozen_is_changed_and_has_no_hash():
    """A value that is not frozen takes assignments to its fields, and only to them."""
    tally = Tally()
    tally.count += 1
    tally.seen.append("one")
    assert (tally, Tally()) == (Tally(1, ["one"]), Tally(0, []))
    with pytest.raises(TypeError, match="unhashable"):
        hash(tally)
    with pytest.raises(AttributeError):
        tally.other = 1


def test_without_equality_identity_decides():
    """A class made with ``eq=False`` is equal to itself only, and can be a key."""
    one, other = Place(1), Place(1)
    assert one != other
    assert len({one, other, one}) == 2


def test_replace_changes_what_is_named():
    """A replaced value differs in the fields named; an unknown one is refused; the first stays."""
    point = Point(1, 2, {"a": 1})
    assert replace(point, y=5) == Point(1, 5, {"a": 1})
    assert replace(point) == point
    assert point == Point(1, 2, {"a": 1})
    with pytest.raises(TypeError, match="'z'"):
        replace(point, z=1)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_come_back(protocol):
    """A value survives pickling by each protocol."""
    for one in (Point(1, 2, {"a": [1]}), Version(1), Nothing(), Tally(2, ["x"])):
        assert pickle.loads(pickle.dumps(one, protocol)) == one


def test_copies_are_equal_and_deep_ones_share_nothing():
    """A copy shares what the fields hold, a deep copy does not."""
    point = Point(1, 2, {"a": [1]})
    assert copy.copy(point) == copy.deepcopy(point) == point
    assert copy.copy(point).about is point.about
    assert copy.deepcopy(point).about["a"] is not point.about["a"]


def test_asdict_takes_values_apart_at_any_depth():
    """Values in tuples and mappings become dictionaries, as `dataclasses.asdict` makes them."""
    holder = Holder((Point(1), Point(2, 3)), {"a": Point(4)})
    expected = {
        "points": ({"x": 1, "y": 0, "about": {}}, {"x": 2, "y": 3, "about": {}}),
        "by_name": {"a": {"x": 4, "y": 0, "about": {}}},
    }
    assert asdict(holder) == expected
    assert dataclasses.asdict(holder) == expected


def test_fields_are_named_in_order_and_matched_by_position():
    """The fields of a class or an instance come in the order written, in patterns too."""
    assert fields(Point) == fields(Point(1)) == ("x", "y", "about")
    match Point(1, 2):
        case Point(x, y):
            assert (x, y) == (1, 2)
        case _:
            pytest.fail("a pattern by position did not match")


def test_the_standard_library_takes_it_for_a_dataclass():
    """Users who call dataclasses or inspect on a value get what a dataclass gives."""
    point = Point(1, 2)
    assert dataclasses.is_dataclass(Point)
    assert dataclasses.is_dataclass(point)
    assert dataclasses.replace(point, y=3) == Point(1, 3)
    assert [one.name for one in dataclasses.fields(point)] == ["x", "y", "about"]
    assert inspect.signature(Point) == inspect.signature(Reference)


def test_what_the_class_says_itself_stays():
    """Name, module, docstring and methods are those of the class as written; its own methods win."""

    @value
    class Loud:
        """Shouts."""

        word: str

        def __repr__(self) -> str:
            return self.word.upper()

    assert Point(1, 2).sum == 3
    assert (Loud.__doc__, Loud.__module__, Loud.__name__) == ("Shouts.", __name__, "Loud")
    assert Loud.__qualname__.endswith("<locals>.Loud")
    assert repr(Loud("a")) == "A"


LONG = {"x" * 40: "y" * 4_000, "z": b"\0" * 50_000}


@pytest.mark.parametrize(
    ("instance", "shown"),
    [
        (Point(1), "Point(x=1)"),
        (Point(1, 0, {}), "Point(x=1)"),
        (Point(1, about={"a": 1}), "Point(x=1, about={'a': 1})"),
        (Point(True, y=False), "Point(x=True, y=False)"),
        (Nothing(), "Nothing()"),
        (Point("a" * 500, "b" * 40, "c" * 40), f"Point(x='{'a' * 29}..., y='{'b' * 29}..., about='{'c' * 29}...)"),
    ],
)  # fmt: skip
def test_a_repr_leaves_out_defaults_and_cuts_the_longest_field(instance, shown):
    """A repr shows the fields that differ from their defaults, and cuts the longest of them where they are too many."""
    assert repr(instance) == shown


@pytest.mark.parametrize("instance", [Point(LONG, LONG, LONG), Holder((Point(LONG),) * 99, LONG), Point("\n" * 999)])
def test_a_repr_fits_a_line(instance):
    """Whatever stands in its fields, a repr is one line of at most 120 characters."""
    assert len(repr(instance)) <= 120
    assert "\n" not in repr(instance)


def test_first_instances_from_many_threads():
    """Threads that make the first instances of a class at once all get whole ones."""

    @value
    class Fresh:
        number: int
        seen: list[int] = field(default_factory=list)

    barrier, made = threading.Barrier(8), []

    def make(number: int) -> None:
        barrier.wait()
        made.append(Fresh(number))

    threads = [threading.Thread(target=make, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted((one.number, one.seen) for one in made) == [(number, []) for number in range(8)]
