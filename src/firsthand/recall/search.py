"""Recall by words: from a query to an answer that says how sure it is.

Candidates come from the index (rows with the query's rare terms, ranked; rows
with all its terms; rows with its exact strings and phrases), are read from the
log in blocks, and are scored there on their bytes. What the index does not reach
is searched in the log itself. Nothing found says why.

The invariant: an answer depends on the log, the query and the frequencies; an
accelerator, its absence or its lag never change it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Protocol

import apsw

from firsthand.answer import Answer, Hit, Outcome, Query, Scope
from firsthand.index import words
from firsthand.index.passages import position_of, row_of
from firsthand.log.read import Reader
from firsthand.tokens import estimate
from firsthand.value import field, replace, value

from . import preview
from .evidence import Evidence, Row
from .lexical import Deadline, Lexical, Reach, reach, stems, tokenizer
from .plan import POSTINGS_INTERACTIVE, Plan, Question, Term, Tokenize, abbreviates, ask, budget, plan
from .rank import Frequencies, Match, Wanted, score
from .scan import Scanned, scan

BLOCK_ROWS = 32
"""Candidates are read and ranked this many at a time; a page never changes those before it."""
FIRST_ROWS = 16
"""Most rows taken of each other kind of candidate into the first block."""
PASSAGES_MAX = 8
"""Most passages of one event that are read in a block: the best come first."""
ACCELERATED_POSTINGS_MIN = 3_000
"""Fewer are ranked by FTS5 in two milliseconds, a tenth of what a fresh process pays to load the accelerator."""
PREVIEW_TOKENS_MIN = 24
NEEDED_BYTES = 2
"""Of a passage for each token that it is thought to need, at the most."""
EXACT_WEIGHT = 100.0
"""Of an exact string among the matches that a preview is to show: more than any words together."""
SHOWN_CHARACTERS_MIN = 3
"""A shorter word or number stands somewhere in every longer text: it shows nothing."""


class Ranker(Protocol):
    """Something that ranks rows by the same terms as FTS5 does, only faster."""

    def ranked(self, terms: Sequence[Term], limit: int) -> list[int] | None:
        """Give the best rows for any of the terms; None where it cannot answer exactly as FTS5 would."""
        ...


@value
class _Scored:
    row: int
    total: float
    parts: dict[str, float]
    match: Match

    @property
    def position(self) -> int:
        return position_of(self.row)


@value(frozen=False)
class _Findings:
    """What a search has to say beside its hits."""

    notes: list[str] = field(default_factory=list)
    truncated: bool = False


def search(
    reader: Reader,
    namespace: str,
    query: Query,
    *,
    postings_max: int = POSTINGS_INTERACTIVE,
    accelerator: Ranker | None = None,
) -> Answer:
    """Answer a query from one namespace.

    Raises:
        StoreError: the log itself cannot be read.
    """
    head, _ = reader.head()
    key = reader.namespace_key(namespace)
    if key == 0:
        note = f"nothing was ever written to namespace {namespace!r}"
        return Answer(query, Outcome.ABSENT, (), notes=(note,), through=head)
    if not query.text.strip():
        return Answer(query, Outcome.ABSENT, (), notes=("the query is empty",), through=head)
    one = _Search(reader, namespace, key, head, query, postings_max, accelerator)
    return one.answer()


class _Search:
    """One search, from query to answer."""

    def __init__(
        self,
        reader: Reader,
        namespace: str,
        key: int,
        head: int,
        query: Query,
        postings_max: int,
        accelerator: Ranker | None,
    ) -> None:
        self._reader, self._namespace, self._key, self._head = reader, namespace, key, head
        self._query, self._postings_max, self._accelerator = query, postings_max, accelerator
        self._db = reader.db
        self._deadline = Deadline(query.deadline_ms)
        self._tokenize: Tokenize = tokenizer(self._db)
        self._question = ask(query.text, self._tokenize)
        self._wanted = _wanted(self._question, self._tokenize)
        self._evidence = Evidence(reader, namespace, self._question, self._wanted, stems(self._db))
        self._findings = _Findings()

    def answer(self) -> Answer:
        query, findings = self._query, self._findings
        reached, frequencies, candidates = self._ask_index(query.scope)
        tail = self._scan(query.scope, reached)
        if tail is not None:
            frequencies = _with_tail(frequencies, tail)
        needed = query.skip + query.hits_max + 1
        ranked = self._rank(candidates, frequencies, tail, needed)
        page = ranked[query.skip : query.skip + query.hits_max]
        hits = self._hits(page, frequencies)
        outcome = Outcome.FOUND if hits else Outcome.ABSENT
        if not ranked and not query.scope.everything and not reached.fault:
            outcome = self._outside() or outcome
        if reached.fault:
            outcome = Outcome.DEGRADED
        if not hits and ranked:
            findings.notes.append(f"there are {len(ranked):,} hits; none after the {query.skip:,} that were skipped")
        if self._deadline.passed:
            findings.truncated = True
            findings.notes.append(f"the search stopped at its deadline of {query.deadline_ms:,} ms")
        findings.notes += dict.fromkeys(self._evidence.damaged)
        return Answer(
            query, outcome, tuple(hits), more=len(ranked) > query.skip + len(hits), truncated=findings.truncated,
            notes=tuple(dict.fromkeys(findings.notes)), through=self._head,
        )  # fmt: skip

    # candidates ------------------------------------------------------------------------------------

    def _ask_index(self, scope: Scope) -> tuple[Reach, Frequencies, Iterator[list[int]]]:
        """Plan the query and begin to ask the index; without an index there are no candidates."""
        reached = reach(self._db, self._key, self._head)
        if reached.through:
            try:
                index = Lexical(self._db, self._key, scope, self._deadline)
                df = index.frequencies(self._question)
                planned = plan(self._question, df, budget(index.size.rows, self._postings_max))
                self._findings.notes += planned.notes
                self._findings.truncated = self._findings.truncated or bool(planned.common)
                first = self._first_block(index, planned)
                rest = self._further_blocks(index, planned)
                candidates = itertools.chain([first], rest)
                return reached, Frequencies(index.size.rows, index.size.tokens_mean, df), candidates
            except (apsw.SQLError, apsw.CorruptError) as error:
                reached = Reach(0, f"the text index cannot be read ({error})")
        return reached, Frequencies(0, 1.0, {}), iter(())

    def _first_block(self, index: Lexical, planned: Plan) -> list[int]:
        rows: list[int] = []
        for term in (*planned.strings, *planned.prefixes):
            rows += index.newest(term.match, FIRST_ROWS)
        for one in self._wanted:
            if one.keys and (one.part == "phrase" or one.string in {term.word for term in planned.absent_strings}):
                rows += index.newest(self._phrase(one.string), FIRST_ROWS)
        together = (*planned.ranked, *planned.common)
        if len(together) > 1:
            match = " AND ".join(term.match for term in together)
            # Ranking reads every posting of every term for its frequency alone: only a cheap lot is ranked.
            ask_index = index.newest if planned.common else index.ranked
            rows += ask_index(match, FIRST_ROWS if planned.ranked else BLOCK_ROWS)
        return list(dict.fromkeys([*rows, *self._best(index, planned, BLOCK_ROWS)[:BLOCK_ROWS]]))

    def _further_blocks(self, index: Lexical, planned: Plan) -> Iterator[list[int]]:
        """Go on where the first block ended: ranked rows, then rows with common terms only."""
        asked, taken = BLOCK_ROWS, BLOCK_ROWS
        while planned.ranked:
            asked *= 4
            rows = self._best(index, planned, asked)
            for at in range(taken, len(rows), BLOCK_ROWS):
                yield rows[at : at + BLOCK_ROWS]
            if len(rows) < asked:
                break
            taken = asked
        for term in planned.common:
            yield index.newest(term.match, BLOCK_ROWS)

    def _best(self, index: Lexical, planned: Plan, limit: int) -> list[int]:
        if not planned.ranked:
            return []
        postings = sum(planned.terms[term.key] for term in planned.ranked)
        if self._accelerator is not None and self._query.scope.everything and postings >= ACCELERATED_POSTINGS_MIN:
            rows = self._accelerator.ranked(planned.ranked, limit)
            if rows is not None:
                return rows
        return index.ranked(" OR ".join(term.match for term in planned.ranked), limit)

    def _phrase(self, string: str) -> str:
        data = words.without_spaceless(string).encode("utf-8", "replace")
        return '"' + " ".join(data[a:b].decode("utf-8", "replace") for a, b, _ in self._tokenize(data)) + '"'

    # the log ---------------------------------------------------------------------------------------

    def _scan(self, scope: Scope, reached: Reach) -> Scanned | None:
        """Search what the index does not reach, and everything for what is no word."""
        question = self._question
        wordless = not question.words and not question.stop_words and not question.strings
        if not reached.fault and not wordless and reached.through >= self._head:
            return None
        after = 0 if wordless else reached.through
        seen = scan(self._reader, self._evidence, self._key, scope, self._deadline, after, self._head)
        if reached.fault:
            self._findings.notes.append(
                f"the text index reaches position {reached.through:,} of {self._head:,}: {reached.fault}. "
                f"{seen.events:,} events were searched in the log itself; run 'firsthand rebuild'"
            )
        elif wordless:
            self._findings.notes.append(f"the query holds no word; {seen.events:,} events were searched sign by sign")
        if not seen.whole:
            self._findings.truncated = True
            self._findings.notes.append(f"positions {after + 1:,} to {seen.down_to:,} were not searched")
        return seen

    def _outside(self) -> Outcome | None:
        """Look outside the scope for what is not in it."""
        reached, frequencies, candidates = self._ask_index(Scope())
        found = self._rank(candidates, frequencies, self._scan(Scope(), reached), 1)
        event = self._evidence.event(found[0].position) if found else None
        if event is None:
            return None
        self._findings.notes.append(
            f"nothing in the scope asked for; outside it at least {len(found):,} events match, the best is "
            f"fh:{event.id} in session {event.session!r}" + (f" at {event.time}" if event.time else "")
        )
        return Outcome.FILTERED

    # ranking ---------------------------------------------------------------------------------------

    def _rank(
        self, candidates: Iterator[list[int]], frequencies: Frequencies, tail: Scanned | None, needed: int
    ) -> list[_Scored]:
        """Score candidates block by block, each event once, until enough are ranked."""
        ranked: list[_Scored] = []
        seen: set[int] = set()
        late = [(row_of(*place), found) for place, found in tail.matches.items()] if tail is not None else []
        while True:
            rows = next(candidates, None)
            if rows is None and not late:
                return ranked
            matched = [*late, *self._read(rows or (), seen)]
            late = []
            block: dict[int, _Scored] = {}
            for row, found in matched:
                parts = score(found, frequencies)
                one = _Scored(row, sum(parts.values()), parts, found)
                best = block.get(one.position)
                if best is None or one.total > best.total:
                    block[one.position] = one
            ranked += sorted(block.values(), key=lambda one: (-one.total, -one.position))
            seen |= block.keys()
            if len(ranked) >= needed or self._deadline():
                return ranked

    def _read(self, rows: Sequence[int], seen: set[int]) -> Iterator[tuple[int, Match]]:
        wanted = []
        passages: dict[int, int] = {}
        for row in rows:
            position = position_of(row)
            passages[position] = passages.get(position, 0) + 1
            if position not in seen and position <= self._head and passages[position] <= PASSAGES_MAX:
                wanted.append(row)
        self._evidence.load([position_of(row) for row in wanted])
        for row in wanted:
            if self._deadline():
                return
            read = self._evidence.row(row)
            found = self._evidence.match(read) if read is not None else None
            if found is not None:
                yield row, found

    # hits ------------------------------------------------------------------------------------------

    def _hits(self, page: Sequence[_Scored], frequencies: Frequencies) -> list[Hit]:
        """Make hits within the budget of tokens; those that do not fit are more to ask for."""
        most = max(1, self._query.budget_tokens_max // PREVIEW_TOKENS_MIN)
        page = page[:most]
        hits: list[Hit] = []
        rows = [(one, read) for one in page if (read := self._evidence.row(one.row)) is not None]
        granted = _shared([len(read.data) for _, read in rows], self._query.budget_tokens_max)
        left = self._query.budget_tokens_max
        for (one, read), tokens_max in zip(rows, granted, strict=True):
            cut = self._preview(read, one.match, frequencies, max(1, min(tokens_max, left)))
            left -= cut.tokens
            event = read.event
            hits.append(
                Hit(
                    f"fh:{event.id}", one.total, one.parts, cut.text, cut.start,
                    tuple(dict.fromkeys(wanted.string for wanted in one.match.exact)), event.position, event.kind,
                    event.session, event.turn, event.agent, event.origin, event.trust, event.time, event.size_bytes,
                )
            )  # fmt: skip
        return hits

    def _preview(self, row: Row, found: Match, frequencies: Frequencies, tokens_max: int) -> preview.Preview:
        if words.reading(row.data, row.event.media, row.event.kind)(row.data) == "" and row.data:
            label = f"[{row.event.media or 'binary'}, {row.event.size_bytes:,} bytes]"
            return preview.Preview(label, 0, estimate(label))
        marks: dict[int, preview.Mark] = {}
        if len(row.data) > tokens_max:
            for start, _, stem in self._tokenize(row.data):
                if stem in found.times:
                    marks[start] = preview.Mark(stem, frequencies.idf(frequencies.df.get(stem, 0)))
            for wanted in found.exact:
                at = row.data.find(wanted.string.encode("utf-8", "surrogatepass"))
                if at >= 0:
                    marks[at] = preview.Mark(wanted.string, EXACT_WEIGHT)
        return preview.cut(row.data, row.start, marks, max(1, tokens_max))


def _shared(sizes: Sequence[int], tokens: int) -> list[int]:
    """Share tokens out among passages of these sizes in bytes: what the short ones do not need, the long ones get."""
    granted = [0] * len(sizes)
    for done, at in enumerate(sorted(range(len(sizes)), key=lambda at: sizes[at])):
        share = max(0, tokens) // (len(sizes) - done)
        granted[at] = min(share, sizes[at] + 1)  # a token has at least a byte: so much is always enough
        tokens -= min(granted[at], sizes[at] // NEEDED_BYTES + 1)
    return granted


def _wanted(question: Question, tokenize: Tokenize) -> tuple[Wanted, ...]:
    """List what is looked for word for word, the longest first."""
    known = {term.key for term in (*question.words, *question.stop_words)}

    def keys(string: str) -> tuple[str, ...]:
        stemmed = dict.fromkeys(stem for _, _, stem in tokenize(string.encode("utf-8", "replace")))
        return tuple(stem for stem in stemmed if stem in known)

    wanted = [Wanted(phrase, keys(phrase), "phrase") for phrase in question.phrases]
    wanted += [Wanted(term.word, (term.key,), "exact") for term in question.strings]
    for term in question.words:
        telling = any(map(str.isdigit, term.word)) or term.word[1:] != term.word[1:].lower()
        if (
            telling
            and len(term.word) >= SHOWN_CHARACTERS_MIN
            and not any(term.word in s.word for s in question.strings)
        ):
            hashed = abbreviates(term.word)
            wanted.append(Wanted(term.word, (term.key,) if hashed else (), "exact" if hashed else "", opens=hashed))
    if not wanted:
        wanted.append(Wanted(question.text.strip(), (), ""))
    return tuple(dict.fromkeys(wanted))


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
