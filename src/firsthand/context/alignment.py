"""Which members of a caller's list the session has already, when the list was trimmed or rewritten.

    known   s 1 2 3 4 5            s stays, 1 to 3 were replaced by S, 4 and 5 stay, 6 is new
    list    s S 4 5 6              pairs (0, 0) (4, 2) (5, 3)

The invariant: pairs ascend on both sides, and only equal members are paired. Where the list can be
read in two ways that differ in what is new, it is refused.

Pure: members are digests; what they stand for is not known here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from firsthand.errors import FormatError

Digests = Sequence[bytes | None]
"""Of messages in order; None for one that cannot be compared any more, since it was erased or is damaged."""
Pair = tuple[int, int]
"""Index of a known message, and of the same one in the caller's list."""

ENDS_MAX = 16  # places of the newest known message in a list that are looked at
INSTEAD = "Give what is new to add() and call request() without a list"


def aligned(known: Digests, members: Sequence[bytes]) -> list[Pair]:
    """Pair the members of a list with the known messages that they are.

    Of the ways to read it that one holds by which the fewest members repeat a known message that occurs once, and
    then the fewest are new in the middle; unless all behind the common beginning may as well be new.

    Raises:
        FormatError: several ways are as likely, and differ in what is new.
    """
    common = next((n for n, (old, new) in enumerate(zip(known, members, strict=False)) if old != new), None)
    common = min(len(known), len(members)) if common is None else common
    prefix = [(number, number) for number in range(common)]
    if common == len(known):
        return prefix
    count = _common_lengths(known, members)
    readings = [_pairs(known, members, count, len(known), len(members))]
    last = max((number for number, digest in enumerate(known) if digest is not None), default=-1)
    ends = [end for end, digest in enumerate(members) if last >= 0 and digest == known[last]][-ENDS_MAX:]
    readings += [[*_pairs(known, members, count, last, end), (last, end)] for end in ends]  # it has the newest: trimmed
    times = Counter(known)

    def doubts(pairs: Sequence[Pair]) -> tuple[int, int]:
        paired = {at for _, at in pairs}
        end = pairs[-1][1] if pairs else 0
        others = [at for at in range(len(members)) if at not in paired]
        return sum(times[members[at]] == 1 for at in others), sum(at < end for at in others)

    least = min(map(doubts, readings))
    likely = [pairs for pairs in readings if doubts(pairs) == least]
    if doubts(prefix)[0] <= least[0]:
        likely = [*likely, prefix] if doubts(prefix)[0] == least[0] else [prefix]
    known_members = {tuple(at for _, at in pairs) for pairs in likely}
    if len(known_members) > 1:
        raise FormatError(
            f"expected a list of which it can be told what is new; its messages repeat each other, so that "
            f"{' or '.join(sorted(str(len(members) - len(each)) for each in known_members))} of {len(members)} may be. "
            f"{INSTEAD}, or leave a message in it that occurs once"
        )
    return max(likely, key=len)


def _common_lengths(known: Digests, members: Sequence[bytes]) -> Callable[[int, int], int]:
    """Give the function from two lengths to the most pairs of beginnings so long.

    A row of the usual table is one whole number, a bit for each member (Hyyrö 2004): two thousand messages on
    each side take some milliseconds.
    """
    places: dict[bytes | None, int] = {}
    for number, digest in enumerate(members):
        places[digest] = places.get(digest, 0) | 1 << number
    full = (1 << len(members)) - 1
    rows = [full]
    for old in known:
        row = rows[-1]
        here = row & (places.get(old, 0) if old is not None else 0)
        rows.append(((row + here) | (row - here)) & full)
    return lambda length, end: (~rows[length] & ((1 << end) - 1)).bit_count()


def _pairs(
    known: Digests, members: Sequence[bytes], count: Callable[[int, int], int], length: int, end: int
) -> list[Pair]:
    """Pair as many as can be of two beginnings, of equal choices the latest."""
    pairs = []
    while length and end:
        if known[length - 1] == members[end - 1]:
            length, end = length - 1, end - 1
            pairs.append((length, end))
        elif count(length - 1, end) == count(length, end):
            length -= 1
        else:
            end -= 1
    return pairs[::-1]
