"""Sixteen ways for a note of the third set to end, four of each regime, none worded as the older parts are.

Each way says what it put in; what it comes to is computed all the same.

Who works on the probe does not read this file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from random import Random

from firsthand.value import replace

from .case import dice, new_id
from .second_note import Formed, Matter, Noted
from .third_forms import CLOSE, FORMS, KEYED, LINED, OPEN, bare
from .third_note import Given, Held
from .third_tongues import LANGUAGES
from .third_words import fill

EACH = 16


def noted(kind: str, number: int, make: Callable[[Random], Matter]) -> Formed:
    """Hold the session and write the note in one of sixteen ways."""
    rng = dice("third " + kind, number)
    matter = make(rng)
    held = Held(rng, matter)
    return held.formed(kind, number, Writer(rng, matter, held).ways()[number % EACH]())


class Writer:
    """Writes the note; each way says what it put in."""

    def __init__(self, rng: Random, matter: Matter, held: Held) -> None:
        self._rng, self._matter, self._held = rng, matter, held
        self._words = LANGUAGES[matter.language]
        self._all, self._extras = list(matter.givens), list(matter.extras)
        self._gone = rng.choice([one for one in self._all if self._decides(one)])
        self._kept = self._extras if matter.single else [one for one in self._all if one is not self._gone]
        self._form = rng.choice(matter.forms.split())
        concluded = matter.answer if not matter.single and rng.random() < 0.15 else matter.wrong
        self._concluded = fill(rng.choice(matter.concluded.split("|")), concluded)

    def _decides(self, gone: Given) -> bool:
        """Whether the rest alone leads elsewhere: without the slowest of four the fastest is the same."""
        try:
            return bool(self._matter.work({one.key: one.value for one in self._all if one is not gone})
                        != self._matter.answer)  # fmt: skip
        except KeyError:
            return True

    def ways(self) -> list[Callable[[], Noted]]:
        """Name the ways, four of each regime."""
        return [
            self._whole, self._pointed_one, self._admitted, self._part,
            self._among, self._cited, self._about, self._alone,
            self._copied, self._hops, self._unfounded, self._slip,
            self._two_blocks, self._moved, self._gap, self._overclaimed,
        ]  # fmt: skip

    # what they share

    def _write_marked(self, givens: Sequence[Given], form: str = "") -> str:
        return FORMS[form or self._form]([one.row(self._rng) for one in givens], self._matter.topic)

    def _write(self, givens: Sequence[Given], form: str = "") -> str:
        return bare(self._write_marked(givens, form))

    def _say(self, choices: Sequence[str], **more: object) -> str:
        n = len(self._all) + (len(self._extras) if self._matter.single else 0)
        return self._rng.choice(list(choices)).format(
            **{"k": n - 1, "n": n, "m": 1, "c": self._concluded, "t": self._matter.topic, "p": self._held.sources}
            | {"x": self._gone.label} | more
        )  # fmt: skip

    def _beside(self, text: str, more: str) -> str:
        return f"{text}\n\n{more}" if self._rng.random() < 0.6 else f"{more}\n\n{text}"

    def _mixed(self, givens: Sequence[Given]) -> list[Given]:
        return self._rng.sample(list(givens), len(givens))

    def _spoken(self) -> list[Given]:
        """Give the value of each given as the session's turns leave it."""
        return [one for _, some in self._held.turns for one in some]

    def _lined(self) -> str:
        """Choose a form with a line for each row."""
        return self._rng.choice([name for name in self._matter.forms.split() if name in LINED])

    def _nowhere(self) -> str:
        return "fh:" + new_id(self._rng)

    def _looks_whole(self, rows: Sequence[Given]) -> bool:
        """Whether rows that lack something, or have something wrong, give an answer of their own all the same.

        What gives none, like spendings without the sum that they were taken from, does not look whole by itself.
        """
        if not self._matter.alike or self._matter.space is not None or not rows:
            return False
        signs = {one.value > 0 for one in self._all if isinstance(one.value, int)}
        return not signs or {one.value > 0 for one in rows} == signs

    # correctable

    def _whole(self) -> Noted:
        """Write all in another order, perhaps with a true word that it is all."""
        text = self._write(self._mixed(self._all))
        if not self._matter.single and self._rng.random() < 0.4:
            text = self._beside(text, self._say(self._words.all_here))
        return Noted(text, self._all)

    def _among(self) -> Noted:
        """Write the extras among the givens, and the wrong conclusion before or after."""
        both = self._mixed([*self._all, *self._extras])
        more = self._say(self._words.aside) if self._matter.single else self._concluded
        return Noted(self._beside(self._write(both), more), both, concludes=not self._matter.single)

    def _copied(self) -> Noted:
        """Copy the turns, sometimes with what the agent said to them."""
        names = {"user": self._words.user, "tool": self._words.tool, "assistant": self._words.agent}
        messages = self._held.session.messages
        of_matter = {pointer for pointer, _ in self._held.turns}
        if self._rng.random() < 0.5 and not self._matter.single:
            of_matter.add(self._held.agent)
        text = "\n".join(names[each["role"]] + each["content"] for each in messages if each["pointer"] in of_matter)
        return Noted(text, self._spoken(), concludes=self._held.agent in of_matter)

    def _two_blocks(self) -> Noted:
        """Write one half in one form and the other in another, perhaps beside a pointer that leads nowhere."""
        rows = self._mixed([*self._all, *self._extras] if self._matter.single else self._all)
        half, other = len(rows) // 2, self._rng.choice(self._matter.forms.split())
        text = f"{self._write(rows[:half])}\n\n{self._write(rows[half:], other)}" if half else self._write(rows)
        if self._rng.random() < 0.4:
            text += "\n\n" + self._say(self._words.source, p=self._nowhere())
        return Noted(text, rows)

    # reachable

    def _pointed_one(self) -> Noted:
        """Point to the words of the one thing that is missing."""
        pointer, words = self._held.span(self._gone)
        choices = self._words.rest if self._matter.space is not None else self._words.part
        more = self._say(choices, p=pointer)
        text = self._beside(self._write(self._kept), more) if self._kept else more
        return Noted(text, self._kept, [self._gone], admits=True, expand={pointer: words})

    def _cited(self) -> Noted:
        """Give the conclusion and its sources, or a wrong value and its source, or a pointer for each value."""
        way = self._rng.randrange(3)
        if way == 0 or self._matter.space is not None:
            pointer, text = self._held.stretch()
            if self._rng.random() < 0.4:
                return Noted(self._say(self._words.based, p=pointer), [], self._spoken(), concludes=True,
                             expand={pointer: text})  # fmt: skip
            return Noted(self._say(self._words.based), [], self._spoken(), concludes=True)
        if way == 1:
            rows = [one.slipped() if one is self._gone else one for one in self._all]
            text = self._beside(self._write(rows), self._say(self._words.source))
            return Noted(text, rows, self._spoken(), concludes=self._matter.single)
        spans = {one.key: self._held.span(one) for one in self._all}
        form = self._form if self._form in KEYED else "arrows"
        rows = [replace(one.row(self._rng), shown=spans[one.key][0]) for one in self._mixed(self._all)]
        return Noted(bare(FORMS[form](rows, self._matter.topic)), [], self._all, expand=dict(spans.values()))

    def _hops(self) -> Noted:
        """Cite an earlier note, which leads to the sources."""
        memo = self._nowhere()
        earlier = self._words.earlier.format(c=self._concluded, p=self._held.sources)
        if self._kept and self._rng.random() < 0.4:
            earlier = f"{self._write(self._kept)}\n{self._say(self._words.rest)}"
        concludes = self._rng.random() < 0.5
        text = self._say(self._words.based if concludes else self._words.pointed, p=memo)
        return Noted(text, [], self._spoken(), admits=not concludes, concludes=concludes, expand={memo: earlier})

    def _moved(self) -> Noted:
        """Leave a marker with a pointer where a row stood."""
        pointer, words = self._held.span(self._gone)
        if self._matter.space is not None or self._rng.random() < 0.5:
            pointer, words = self._held.stretch()
            return Noted(self._without(self._say(self._words.moved, p=pointer)), self._around(), self._spoken(),
                         admits=True, expand={pointer: words})  # fmt: skip
        return Noted(self._without(self._say(self._words.moved, p=pointer)), self._around(), [self._gone],
                     admits=True, expand={pointer: words})  # fmt: skip

    def _around(self) -> list[Given]:
        """Give all rows but the one that is gone, in their order."""
        return [one for one in [*self._all, *self._extras] if one is not self._gone]

    def _without(self, marker: str) -> str:
        """Put a marker in the place of the row that is gone."""
        rows = self._around()
        place = self._all.index(self._gone) if not self._matter.single else self._rng.randint(0, len(rows) - 1)
        stand_in = replace(self._gone, shown="\ue002", told="\ue002", slip=None)
        text = self._write([*rows[:place], stand_in, *rows[place:]], self._lined())
        return "\n".join(marker if "\ue002" in line else line for line in text.split("\n"))

    # loud

    def _admitted(self) -> Noted:
        """Say that something is missing, or send the reader for the rest to where it is not."""
        more = self._say(self._words.honest)
        if self._rng.random() < 0.25:
            more = self._say(self._words.rest, p=self._rng.choice((self._held.idle, self._nowhere())))
        return Noted(self._beside(self._write(self._kept), more), self._kept, admits=True)

    def _about(self) -> Noted:
        """Say what it was about and nothing of it."""
        asides = self._rng.sample(list(self._words.aside), self._rng.randint(0, 2))
        return Noted(self._rng.choice((" ", "\n- ")).join([self._matter.topic, *asides]))

    def _unfounded(self) -> Noted:
        return Noted(self._say(self._words.unfounded), admits=True, concludes=True)

    def _gap(self) -> Noted:
        """Leave a gap that is seen where a value or a row stood."""
        if self._matter.space is not None or self._rng.random() < 0.5:
            return Noted(self._without(self._say(self._words.elided)), self._around(), admits=True)
        gap, form = self._say(self._words.gap), self._form if self._form in KEYED else "bold"
        rows = [replace(one.row(self._rng), shown=gap) if one is self._gone else one.row(self._rng)
                for one in [*self._all, *self._extras]]  # fmt: skip
        return Noted(bare(FORMS[form](rows, self._matter.topic)), self._around(), admits=True)

    # silent

    def _part(self) -> Noted:
        """Write a part as if it were the whole; where one sees that it is none, with the conclusion."""
        text = self._write(self._mixed(self._kept))
        if self._looks_whole(self._kept) and self._rng.random() < 0.6:
            return Noted(text, self._kept)
        return Noted(self._beside(text, self._concluded), self._kept, concludes=True)

    def _alone(self) -> Noted:
        """Keep the conclusion alone, perhaps hedged, perhaps with a pointer that leads to nothing of use."""
        pointer = self._rng.choice((self._held.agent, self._held.idle, self._nowhere()))
        return Noted(self._rng.choice((
            self._say(self._words.based, p=pointer), self._say(self._words.hedge),
            f"{self._say(self._words.aside)} {self._concluded}", f"{self._matter.topic} {self._concluded}",
        )), concludes=True)  # fmt: skip

    def _slip(self) -> Noted:
        """Get one value wrong, or write among the rest what was not chosen."""
        if self._matter.unmarked is not None and self._rng.random() < 0.5:
            rows = self._mixed([*self._all, self._matter.unmarked])
            return Noted(self._write(rows), rows)
        rows = [one.slipped() if one is self._gone else one for one in self._all]
        if self._matter.single:
            rows = [*rows, *self._extras] if self._rng.random() < 0.5 else rows
            return Noted(self._write(self._mixed(rows)), rows, concludes=True)
        found = self._matter.work({one.key: one.value for one in rows})
        if found is None or isinstance(found, frozenset) or self._rng.random() < 0.5:
            return Noted(self._beside(self._write(rows), self._concluded), rows, concludes=True)
        return Noted(self._write(self._mixed(rows)), rows)

    def _overclaimed(self) -> Noted:
        """Say falsely that all is there, or break off, or cite a note or a part that does not do."""
        way = self._rng.randrange(3 if self._matter.single else 4)
        if way == 0:
            return self._cut()
        if way == 1:
            claim = self._say(self._words.all_here)
            text = self._beside(self._write(self._kept), claim)
            ends = not self._looks_whole(self._kept)
            return Noted(f"{self._concluded}\n{text}" if ends else text, self._kept, concludes=ends)
        if way == 2:
            memo = self._nowhere()
            earlier = self._words.earlier.format(c=self._concluded, p=self._nowhere())
            return Noted(self._say(self._words.based, p=memo), concludes=True, expand={memo: earlier})
        other = self._rng.choice(self._kept)
        pointer, words = self._held.span(other)
        return Noted(self._say(self._words.based, p=pointer), [], [other], concludes=True, expand={pointer: words})

    def _cut(self) -> Noted:
        """Break off within a number or a name, so that what is left looks whole, or before a row."""
        before = self._extras if self._matter.single else [one for one in self._all if one is not self._gone]
        rows = [*before, self._gone]  # the last one decides, so that what is cut off does
        marked = self._write_marked(rows, self._lined())
        values = list(re.finditer(f"{OPEN}([^{CLOSE}]*){CLOSE}", marked))
        victim = len(rows) - 1 if self._matter.single else self._rng.randrange(1, len(values))
        end = _inside(values[victim], rows[victim]) or marked.rfind("\n", 0, values[victim].start())
        note = bare(marked[:end]).rstrip(" .,:/-")
        ends = not self._looks_whole(rows[:victim])
        return Noted(f"{self._concluded}\n{note}" if ends else note, rows[:victim], concludes=ends)


def _inside(found: re.Match[str], row: Given) -> int:
    """Say where a text breaks off within a value, so that another value is left; 0 where none would be."""
    number = re.search(r"\d[\d.,:/-]*\d", found[1])
    name = re.search(r"\b[0-9a-f]{7,}\b|[\w-]+[./_][\w./_-]{6,}", found[1])
    if isinstance(row.value, date | tuple) or not (name or number):
        return 0
    if name and not name[0].replace(".", "").isdigit():
        return found.start(1) + name.start() + len(name[0]) // 2
    if number is None or re.fullmatch(r"\d[.,]0+", number[0]):
        return 0
    return found.start(1) + number.start() + (len(number[0]) // 2 if number[0].isdigit() else 1)
