"""One attempt of a recall: from words to candidates in their order, with what speaks for each.

Candidates come from the index (rows with rare terms, ranked; rows with all terms; rows
with exact strings and phrases) and, where an embedder is configured, from the vectors.
Their neighbours raise them, the best are read from the log, in blocks, and are scored
there on their bytes. What the index does not reach is searched in the log itself.

The invariant: the order depends on the log, the query and the frequencies; an
accelerator, its absence or its lag never change it, nor does how many are asked for:
a further block comes behind those before it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

import apsw

from firsthand.answer import Query, Scope
from firsthand.event import Event, Kind, to_text
from firsthand.index.passages import position_of, row_of
from firsthand.index.reach import Reach, reach
from firsthand.index.tokenizer import Tokenize, stems, tokenizer
from firsthand.log.read import Reader
from firsthand.value import field, replace, value

from .around import within
from .candidates import Candidates, Ranker
from .evidence import Evidence, Row
from .factors import CANDIDATES_MAX, NEUTRAL, STRENGTHS, Candidate, Strengths, factors, task_of
from .fuse import LIMIT_ROWS, About, about, fuse
from .lexical import Deadline, Lexical, agents_of, where
from .match import Matcher
from .near import Near
from .neighbours import NO_SUPPORT, Neighbours, Support
from .plan import POSTINGS_INTERACTIVE, Plan, Question, ask, budget, plan
from .rank import Frequencies, Match, base, score, whole
from .reformulate import AS_ASKED, Weighed
from .scan import Scanned, scan
from .signals import SEEN_MAX, Seen, Signals, close_in, signals
from .triggers import FEEDBACK_ROWS, Trigger, Triggers, good

BLOCK_ROWS = 32
"""Candidates are read and ranked this many at a time; a page never changes those before it."""
PASSAGES_MAX = 8
"""Most passages of one event that are read in a block: the best come first."""
LATE_ROWS = 200
"""Of what was found in the log itself, so many are ranked beside the first candidates, the best by their words."""
SPEAKER_SHARE = 0.8
"""What a row gains when the query names who said it, as a share of its score: .73 becomes .76 on locomo."""
BEHIND_EVENTS_MAX = 256
"""Vectors further behind than this are a stage that is behind; the newest few are found by their words alone."""
TERMS_MAX, TEXT_CHARACTERS = 256, 1_200  # of a row, for its factors


@value
class Scored:
    """A candidate in its place.

    Attributes:
        row: of the index.
        base: from 0 to 1.
        parts: the five factors of the score, by name, in the order of the formula.
        found_by: what the base is made of, by name; of no common scale.
        total: the score.
        match: what of the question stands in the row.
    """

    row: int
    base: float
    parts: dict[str, float]
    found_by: dict[str, float]
    total: float
    match: Match

    @property
    def position(self) -> int:
        """Where its event stands in the store."""
        return position_of(self.row)


@value
class Attempt:
    """What came of one attempt.

    Attributes:
        how: what made its words: ``as asked``, ``key terms`` ...
        text: its words.
        ranked: best first.
        signals: what it shows of its own worth.
        triggers: notes that were learned in a situation like the one asked of, best first: each is kept a place.
        cosines: of the nearest events in meaning, by position, best first; empty without vectors.
        notes: what was bounded or behind.
        fault: the stage that is broken, in a sentence; empty when all is well.
    """

    how: str
    text: str
    scope: Scope
    question: Question
    frequencies: Frequencies
    ranked: tuple[Scored, ...]
    signals: Signals
    triggers: tuple[Trigger, ...] = ()
    cosines: dict[int, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    truncated: bool = False
    fault: str = ""


class Search:
    """The attempts of one recall; what one of them read is there for the next.

    Args:
        key: the namespace's number.
        head: nothing behind this position is looked at.
        near: finds rows by meaning; None for words alone.
        strengths: how far each factor may lower a score.
        around: what stands around a row counts so many times as much as usual; 0 leaves it out.
        without: positions that are taken as not there by every attempt.
        replaced: positions of events that no longer hold, with the pointer of what took the place of each.
    """

    def __init__(
        self, reader: Reader, namespace: str, key: int, head: int, query: Query, *,
        postings_max: int = POSTINGS_INTERACTIVE, accelerator: Ranker | None = None, near: Near | None = None,
        strengths: Strengths = STRENGTHS, around: float = 1.0, without: Collection[int] = (),
        replaced: Mapping[int, str] = MappingProxyType({}),
    ) -> None:  # fmt: skip
        self.reader, self.namespace, self.key, self.head, self.query = reader, namespace, key, head, query
        self.postings_max, self.accelerator, self.near = postings_max, accelerator, near
        self.strengths, self.around, self.without = strengths, around, frozenset(without)
        self.replaced = replaced
        self.db = reader.indexed(key)
        self.deadline = Deadline(query.deadline_ms)
        self.tokenize: Tokenize = tokenizer(self.db)
        self.evidence = Evidence(reader, namespace, stems(self.db))
        self.rows: dict[int, Row] = {}
        self.holding: dict[str, str] = {}  # of the text index, for the next attempt
        self._notes: Triggers | None = None

    def attempt(self, text: str, scope: Scope, how: str, *, without: Collection[int] = frozenset()) -> Attempt:
        """Search once.

        Args:
            without: positions that are taken as not there.
        """
        with self.reader.at_one_moment(self.key):
            return _Attempting(self, text, scope, how, self.without.union(without)).run()

    def notes(self, through: int) -> Triggers:
        """Give the notes that have situations, looked for once.

        Args:
            through: the position that the text index reaches.
        """
        if self._notes is None or self._notes.through != through:
            self._notes = Triggers(self.db, self.key, self.evidence, through, self.head)
        return self._notes

    def event(self, position: int) -> Event | None:
        """Give an event; None when it cannot be read."""
        return self.evidence.event(position)

    def row(self, number: int) -> Row | None:
        """Give a row; None when it cannot be read."""
        if number not in self.rows:
            found = self.evidence.row(number)
            if found is None:
                return None
            self.rows[number] = found
        return self.rows[number]

    def text(self, one: Scored) -> str:
        """Give the words of a ranked row."""
        row = self.row(one.row)
        return self.evidence.text(row) if row is not None else ""

    def index(self, scope: Scope) -> Lexical:
        """Give the text index within a scope."""
        return Lexical(self.db, self.key, scope, self.deadline, self.holding)

    def weigh(self, text: str) -> Weighed:
        """Cut a text into terms, and say in how many rows each stands; in none where the index cannot be asked."""
        question = ask(text, self.tokenize)
        with self.reader.at_one_moment(self.key):
            through = reach(self.reader, self.key, self.head).through
            try:
                return Weighed(question, self.index(Scope()).frequencies(question) if through else {})
            except (apsw.SQLError, apsw.CorruptError):  # every attempt tells of it
                return Weighed(question, {})

    def judged(self, attempt: Attempt, question: Question, frequencies: Frequencies) -> Signals:
        """Take the signals of an attempt's rows against another question than it asked."""
        matcher = Matcher(self.evidence, question, self.tokenize)
        seen: list[Seen] = []
        best = sorted(attempt.ranked[:BLOCK_ROWS], key=lambda one: -one.base)
        for one in best[:SEEN_MAX]:
            row = self.row(one.row)
            if row is not None:
                found = matcher.match(row) or no_match(self.evidence.tokens(row))
                seen.append(Seen(one.position, one.base, found, row.event.agent, row.event.session))
        return self.signals(seen, best[0].row if best else None, question, frequencies, attempt.cosines)

    def signals(
        self, seen: Sequence[Seen], best: int | None, question: Question, frequencies: Frequencies,
        cosines: dict[int, float],
    ) -> Signals:  # fmt: skip
        """Take the signals of ranked rows, the best of which is named."""
        row = self.row(best) if best is not None else None
        close = close_in(self.evidence.tokens(row), question, frequencies) if row is not None else 0.0
        return signals(question, frequencies, seen, close=close, cosines=cosines or None)


class _Attempting:
    """One attempt, under way."""

    def __init__(self, search: Search, text: str, scope: Scope, how: str, without: frozenset[int]) -> None:
        self._search, self._text, self._scope, self._how, self._without = search, text, scope, how, without
        self._question = ask(text, search.tokenize)
        self._matcher = Matcher(search.evidence, self._question, search.tokenize)
        self._notes: list[str] = []
        self._fault = ""
        self._truncated = False
        self._cosines: dict[int, float] = {}  # of rows that may be candidates
        self._nearest: dict[int, float] = {}  # of all that the vectors gave: the last tells of those not in it
        self._about: About | None = None

    def run(self) -> Attempt:
        search = self._search
        try:
            return self._run(reach(search.reader, search.key, search.head))
        except (apsw.SQLError, apsw.CorruptError) as error:
            # Without the index the log is searched; if it is the log that cannot be read, that raises again.
            self._notes.clear()
            return self._run(Reach(0, f"the text index cannot be read ({error})"))

    def _run(self, reached: Reach) -> Attempt:
        search, question = self._search, self._question
        # 1) what the index can say, and what it cannot: that is searched in the log
        index, planned, frequencies = self._plan(reached)
        tail = self._scan(reached)
        self._frequencies = frequencies = frequencies if tail is None else _with_tail(frequencies, tail)
        self._weight = whole(self._matcher.leading, frequencies)
        self._neighbours = Neighbours(
            search.db, search.key, index, search.evidence, self._matcher, frequencies,
            planned.ranked if planned else (),
            through=reached.through, head=search.head, without=self._without, times=search.around,
        )  # fmt: skip
        # 2) read and ranked in blocks, each event once
        candidates = None
        if index is not None and planned is not None:
            whole_store = search.accelerator if self._scope.everything else None
            candidates = Candidates(index, planned, self._matcher.wanted, search.tokenize, whole_store, frequencies.idf)
        blocks, triggers = self._with_notes(self._rank(candidates, tail), reached.through)
        ranked = [one for block in blocks for one in block]
        # 3) what that shows of its own worth, and what the task makes of it
        seen = [
            Seen(one.position, one.base, one.match, event.agent, event.session)
            for one in ranked[:SEEN_MAX]
            if (event := search.event(one.position)) is not None
        ]
        cosines: dict[int, float] = {}
        for row, cosine in self._cosines.items():
            cosines.setdefault(position_of(row), cosine)
        shown = search.signals(seen, ranked[0].row if ranked else None, question, frequencies, cosines)
        return Attempt(
            self._how, self._text, self._scope, question, frequencies, tuple(self._conditioned(blocks)), shown,
            triggers, cosines, tuple(dict.fromkeys(self._notes)), self._truncated or search.deadline.passed,
            self._fault,
        )  # fmt: skip

    # candidates ------------------------------------------------------------------------------------

    def _plan(self, reached: Reach) -> tuple[Lexical | None, Plan | None, Frequencies]:
        search = self._search
        if not reached.through:
            return None, None, Frequencies(0, 1.0, {})
        index = search.index(self._scope)
        df = index.frequencies(self._question)
        planned = plan(self._question, df, budget(index.size.rows, search.postings_max))
        self._notes += planned.notes
        self._truncated = self._truncated or bool(planned.common)
        return index, planned, Frequencies(index.size.rows, index.size.tokens_mean, df)

    def _scan(self, reached: Reach) -> Scanned | None:
        """Search what the index does not reach, and everything for what is no word."""
        search, question = self._search, self._question
        wordless = not question.words and not question.stop_words and not question.strings
        if not reached.fault and not wordless and reached.through >= search.head:
            return None
        after = 0 if wordless else reached.through
        seen = scan(
            search.reader, search.evidence, self._matcher, search.key, self._scope, search.deadline, after, search.head
        )
        if reached.fault:
            self._fault = (
                f"the text index reaches position {reached.through:,} of {search.head:,}: {reached.fault}. "
                f"{seen.events:,} events were searched in the log itself; run 'firsthand store rebuild'"
            )
            self._notes.append(self._fault)
        elif wordless:
            self._notes.append(f"the query holds no word; {seen.events:,} events were searched sign by sign")
        if not seen.whole:
            self._truncated = True
            self._notes.append(f"positions {after + 1:,} to {seen.down_to:,} were not searched")
        return seen

    def _near(self) -> dict[int, float]:
        """Ask the vectors."""
        search = self._search
        if search.near is None or search.deadline():
            return {}
        limits = where(search.db, search.key, self._scope)
        nearest = search.near.near(self._text, LIMIT_ROWS, low=limits.low, high=min(limits.high, search.head + 1))
        fault = nearest.fault
        if not fault and search.head - nearest.through > BEHIND_EVENTS_MAX:
            fault = (
                f"they reach position {nearest.through:,} of {search.head:,}; what is behind it was found by its words "
                "alone; run 'firsthand store follow'"
            )
        if fault:
            self._notes.append(f"vectors: {fault}")
            self._fault = self._fault or self._notes[-1]
        found = self._nearest = dict(nearest.rows)
        if not self._scope.everything:
            search.evidence.load([position_of(row) for row in found])
            found = {row: cosine for row, cosine in found.items() if self._in_scope(position_of(row))}
        return {row: cosine for row, cosine in found.items() if position_of(row) not in self._without}

    def _is_near(self, row: int) -> bool:
        return self._cosines.get(row, 0.0) > 0.0

    def _in_scope(self, position: int) -> bool:
        event = self._search.event(position)
        return event is not None and within(event, self._scope)

    # ranking ---------------------------------------------------------------------------------------

    def _rank(self, candidates: Candidates | None, tail: Scanned | None) -> list[list[Scored]]:
        """Score candidates block by block until enough are ranked.

        Always whole blocks, and never fewer rows than are joined with other attempts or compared with each
        other afterwards: so a page is the same however many are asked for.
        """
        needed = max(BLOCK_ROWS, self._search.query.skip + self._search.query.hits_max + 1)
        late = self._late(tail)
        pools = candidates.pools() if candidates is not None else iter(())
        special = candidates.special() if candidates is not None else []
        together = candidates.together if candidates is not None else []
        self._cosines = self._near()
        blocks: list[list[Scored]] = []
        seen: set[int] = set()
        first = True
        while len(seen) < needed and not self._search.deadline():
            pool = next(pools, None)
            found, late = late[:LATE_ROWS], late[LATE_ROWS:]
            if pool is None and not found and not (first and (special or together or self._cosines)):
                break
            rows = [*special, *together, *(pool or ()), *self._cosines] if first else pool or []
            wanted = [row for row in dict.fromkeys(rows) if self._is_new(row, seen)]
            for block in self._blocks(wanted, special if first else (), found):
                matched = [*found, *self._read(block)]
                found = []
                blocks.append(self._scored(matched, seen))
                if len(seen) >= needed or self._search.deadline():
                    break
            first = False
        return blocks

    def _is_new(self, row: int, seen: Collection[int]) -> bool:
        position = position_of(row)
        return position not in seen and position <= self._search.head and position not in self._without

    def _late(self, tail: Scanned | None) -> list[tuple[int, Match]]:
        """Give what was found in the log itself, the best by their words first."""
        found = [
            (row_of(*place), one) for place, one in (tail.matches if tail is not None else {}).items()
            if place[0] not in self._without
        ]  # fmt: skip
        for row, one in found:
            self._neighbours.told(row, one)
        parts = {row: sum(score(one, self._frequencies, self._matcher.light).values()) for row, one in found}
        return sorted(found, key=lambda one: (-parts[one[0]], -position_of(one[0])))

    def _blocks(
        self, rows: Sequence[int], special: Sequence[int], late: Sequence[tuple[int, Match]]
    ) -> Iterator[list[int]]:
        """Put rows in the order in which they are worth reading, by what the index knows of them."""
        self._neighbours.look([*rows, *(row for row, _ in late)])
        bases, lengths = self._estimated(rows, special)
        if self._cosines:
            self._about = self._about or about(bases, lengths, self._frequencies.tokens_mean)
            bases = self._fused(bases)
        ahead = dict.fromkeys(row for row in special if row in bases)
        order = sorted((row for row in rows if row not in ahead), key=lambda row: (-bases[row], -position_of(row)))
        yield [*ahead, *order[:BLOCK_ROWS]]
        for at in range(BLOCK_ROWS, len(order), BLOCK_ROWS):
            yield order[at : at + BLOCK_ROWS]

    def _estimated(self, rows: Sequence[int], special: Collection[int]) -> tuple[dict[int, float], dict[int, int]]:
        """Give the base of rows by what the index knows of them, and their lengths.

        Whether a row is a reply is only looked at where it decides which rows are read first.
        """
        names, neighbours = self._matcher.names, self._neighbours
        agents = agents_of(self._search.db, self._search.key, {position_of(row) for row in rows})
        scores: dict[int, float] = {}
        replies: dict[int, float] = {}
        lengths: dict[int, int] = {}
        for row in rows:
            own = neighbours.own(row)
            raised = self._search.around > 0.0 and (own.score > 0.0 or self._is_near(row))
            support = neighbours.support(row, own.tokens) if raised else NO_SUPPORT
            speaker = 1 + SPEAKER_SHARE if names(agents.get(position_of(row), "")) else 1.0
            scores[row], replies[row] = (own.score + support.total) * speaker, support.reply * speaker
            lengths[row] = own.tokens
        least = sorted((scores[row] for row in rows if row not in special), reverse=True)[:BLOCK_ROWS]
        least_read = least[-1] if len(least) == BLOCK_ROWS else 0.0
        unsure = [row for row in rows if replies[row] and scores[row] < least_read <= scores[row] + replies[row]]
        neighbours.ask(unsure)
        for row in unsure:
            if neighbours.asked(row):
                scores[row] += replies[row]
        return {row: base(score, self._weight) for row, score in scores.items()}, lengths

    def _read(self, rows: Sequence[int]) -> Iterator[tuple[int, Match]]:
        search = self._search
        wanted: list[int] = []
        passages: dict[int, int] = {}
        for number in rows:
            position = position_of(number)
            passages[position] = passages.get(position, 0) + 1
            if passages[position] <= PASSAGES_MAX:
                wanted.append(number)
        search.evidence.load([position_of(number) for number in wanted])
        for number in wanted:
            if search.deadline():
                return
            row = search.row(number)
            if row is None:
                continue
            found = self._matcher.match(row)
            if found is None and number in self._cosines:
                found = no_match(search.evidence.tokens(row))
            if found is not None:
                yield number, found

    def _scored(self, matched: Sequence[tuple[int, Match]], seen: set[int]) -> list[Scored]:
        """Score the rows of a block, the best passage of each event."""
        supports = dict.fromkeys((row for row, _ in matched), NO_SUPPORT)
        if self._search.around > 0.0:
            supports = {row: self._neighbours.support(row, found.tokens) for row, found in matched}
            self._neighbours.ask(row for row, support in supports.items() if support.reply)
        said = {row: self._found_by(row, found, supports[row]) for row, found in matched}
        bases = {row: base(sum(found.values()), self._weight) for row, found in said.items()}
        if self._cosines:
            bases = self._fused(bases)
        best: dict[int, Scored] = {}
        for row, found in matched:
            one = self._neutral(row, bases[row], said[row], found)
            known = best.get(one.position)
            if one.position not in seen and one.base > 0.0 and (known is None or one.base > known.base):
                best[one.position] = one
        seen.update(best)
        return sorted(best.values(), key=lambda one: (-one.base, -one.position))

    def _fused(self, bases: dict[int, float]) -> dict[int, float]:
        """Join what words and vectors say of rows."""
        fused = fuse(bases, self._nearest, self._about or About(0.0, self._frequencies.tokens_mean))
        return {row: fused[row] for row in bases}

    def _neutral(self, row: int, base: float, said: dict[str, float], found: Match) -> Scored:
        found_by = {name: each for name, each in said.items() if each}
        if self._is_near(row):
            found_by["vector"] = self._cosines[row]
        return Scored(row, base, NEUTRAL.parts(base), found_by, base, found)

    def _found_by(self, row: int, found: Match, support: Support) -> dict[str, float]:
        """Say what a row's score by words is made of."""
        parts = score(found, self._frequencies, self._matcher.light)
        if not sum(parts.values()) and not self._is_near(row):
            return {}
        parts["neighbours"] = support.total
        if support.reply and self._neighbours.asked(row):
            parts["neighbours"] += support.reply
        event = self._search.event(position_of(row))
        if event is not None and self._matcher.names(event.agent):
            parts["speaker"] = SPEAKER_SHARE * sum(parts.values())
        return parts

    # notes -----------------------------------------------------------------------------------------

    def _with_notes(self, blocks: list[list[Scored]], through: int) -> tuple[list[list[Scored]], tuple[Trigger, ...]]:
        """Add the notes that were learned in situations like the one asked of, by how much of it they tell.

        They join the first block, which is the same for every page.
        """
        search, notes_alone = self._search, self._scope.kinds == (Kind.NOTE,)
        if self._how != AS_ASKED and not notes_alone:  # in fewer words or others, a case is no longer the one it was
            return blocks, ()
        notes = search.notes(through)
        if not notes.any:
            return blocks, ()
        first = blocks[0] if blocks else []
        best = [search.text(one) for one in first[:FEEDBACK_ROWS]]
        found = notes.find(
            self._question, self._frequencies, self._scope, search.deadline, best=best, without=self._without
        )
        kept = good(found)
        chosen = found if notes_alone else kept
        known = {one.position: one for block in blocks for one in block}
        told = [self._told(each, known.get(each.position)) for each in chosen]
        added = {one.position: one for one in told if one is not None}
        rest = [[one for one in block if one.position not in added] for block in blocks]
        joined = sorted([*(rest[0] if rest else ()), *added.values()], key=lambda one: (-one.base, -one.position))
        return [joined, *rest[1:]], tuple(each for each in kept if each.position in added)

    def _told(self, trigger: Trigger, known: Scored | None) -> Scored | None:
        """Give a note the base that its trigger is worth, where its words alone are worth less."""
        row = self._search.row(row_of(trigger.position, 0))
        if row is None:
            return None
        one = known or self._neutral(row_of(trigger.position, 0), 0.0, {}, no_match(self._search.evidence.tokens(row)))
        found_by = {**one.found_by, "trigger": trigger.strength}
        base = max(one.base, trigger.strength)
        return replace(one, base=base, parts=one.parts | {"base": base}, found_by=found_by, total=base)

    # the task --------------------------------------------------------------------------------------

    def _conditioned(self, blocks: Sequence[Sequence[Scored]]) -> Iterator[Scored]:
        """Weigh the bases by what the task and the others make of them, within blocks, so that pages join."""
        search = self._search
        task = task_of(search.query.conditions, search.evidence.stems, [term.key for term in self._question.words])
        asked = [term.word for term in self._question.words]
        for number, block in enumerate(blocks):
            gone = {one.position for one in block if one.position in search.replaced}
            # Without a task only the best are compared with each other.
            whole = search.query.conditions is not None or gone
            count = len(block) if whole else CANDIDATES_MAX if number == 0 else 0
            judging = factors([self._candidate(one) for one in block[:count]], task, asked, search.strengths, gone)
            judged = [
                replace(one, parts=each.parts(one.base), total=each.total(one.base))
                for one, each in zip(block, judging, strict=False)
            ]
            yield from sorted([*judged, *block[count:]], key=lambda one: (-one.total, -one.position))

    def _candidate(self, one: Scored) -> Candidate:
        row = self._search.row(one.row)
        assert row is not None, "what was matched was read"
        event = row.event
        terms = tuple(dict.fromkeys(self._search.evidence.tokens(row)[:TERMS_MAX]))
        text = to_text(row.data[: 4 * TEXT_CHARACTERS])[:TEXT_CHARACTERS]
        return Candidate(
            event.position, event.kind, event.session, event.agent, f"fh:{event.id}", terms, text, event.meta
        )


def no_match(tokens: Sequence[str]) -> Match:
    """Make the match of a row that holds nothing of a question."""
    return Match({}, len(tokens), (), ())


def _with_tail(frequencies: Frequencies, tail: Scanned) -> Frequencies:
    """Count what the scan saw to what the index knows."""
    df = dict(frequencies.df)
    tokens = 0
    for found in tail.matches.values():
        tokens += found.tokens
        for key in found.times:
            df[key] = df.get(key, 0) + 1
    rows = frequencies.rows + tail.events
    known = frequencies.tokens_mean * frequencies.rows + tokens
    return replace(
        frequencies, rows=rows, tokens_mean=max(1.0, known / max(1, frequencies.rows + len(tail.matches))), df=df
    )
