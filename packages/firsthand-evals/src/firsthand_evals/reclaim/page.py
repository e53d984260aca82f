"""A run as one page of HTML: the paper's tables and figures for one's own memory, and the items that failed.

The invariants: every figure stands with its interval and its n; a memory is judged only when
the run's own checks hold and its reader answers what it is shown whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from junitparser import Failure, JUnitXml, TestCase, TestSuite

from firsthand.printable import shown
from firsthand.value import value
from firsthand_evals import pages
from firsthand_evals.pages import Fold, Judged, Page, Section
from firsthand_evals.reclaim import figures, scoring
from firsthand_evals.reclaim.acceptance import Acceptance
from firsthand_evals.reclaim.corrections import HANDED
from firsthand_evals.reclaim.figures import ABOUT, HEADS, figure, pair_line, scores
from firsthand_evals.reclaim.items import Case, Item, sha256
from firsthand_evals.reclaim.policies import BLANK, LOSSY, PADDED, SOURCE_FIRST
from firsthand_evals.reclaim.requirements import LEAST, Requirement, chance
from firsthand_evals.reclaim.tables import Cell, Table
from firsthand_evals.reclaim.tasks import NUMBER
from firsthand_evals.reclaim.validators import Check
from firsthand_evals.stats import LEVEL, rate

JUDGED = ("memory", "judged before use by", "let through", "wrong of these", "wrong of all")
ITEMS_MAX, ITEMS_OF_A_CELL_MAX = 60, 3
TEXT_CHARACTERS_MAX = 6_000
ANSWERED_MIN = 0.5
"""Of notes with the whole source, and of replies that can be read: who answers less tells nothing of a memory."""
EMPTY, KNOWN_MAX = (LOSSY, PADDED, BLANK), 0.1
"""Notes without a source, and what of them at the lower bound is answered right by luck."""
UNTESTED_MIN = 0.5
"""Of its items, above which a memory that failed in them was not tested."""
PROBLEMS_MIN = 2
"""Under so many nothing is said of a memory but that they are too few."""


@value
class Report:
    """All that the page shows.

    Attributes:
        names: the memories under test; other memories of the items are there to be compared with.
        cases: by the key of their items; of the failing ones the session is shown.
        about: parameters of the run, as pairs of words.
        acceptances: what a check before use lets through of each memory, and how much of that is wrong.
    """

    items: tuple[Item, ...]
    tables: tuple[Table, ...]
    requirements: tuple[Requirement, ...]
    checks: tuple[Check, ...]
    names: tuple[str, ...]
    cases: Mapping[str, Case]
    about: tuple[tuple[str, str], ...]
    acceptances: tuple[Acceptance, ...] = ()


def page(report: Report) -> Page:
    """Make the page."""
    whose = ", ".join(report.names)
    sections = [_scores(report), *(section_of(table, report.names) for table in report.tables)]
    sections += [section for section in (_unmet(report), _failing(report)) if section is not None]
    return Page(
        f"Reclaim evaluation of {whose}" if whose else "Reclaim evaluation", verdict(report),
        figures.lead(report.tables, report.names), sections,
        [Judged(str(check), check.held) for check in report.checks], ABOUT, report.about,
    )  # fmt: skip


def verdict(report: Report) -> str:
    """Answer in a sentence whether each memory under test can be corrected."""
    untold = nothing_told(report)
    if untold:
        return f"Nothing can be said of {', '.join(report.names) or 'any memory'}: {untold}."
    cells = scores(report.items, report.names)
    if not cells:
        return f"No memory of yours was asked; of the paper's notes: {_of_notes(report)}."
    return " ".join(_verdict_on(name, cell, report) for name, cell in cells.items())


def nothing_told(report: Report) -> str:
    """Say why a run tells nothing of any memory, its own checks or who answered; empty when it does tell."""
    broken = [check.name for check in report.checks if not check.held]
    if broken:
        return f"{len(broken)} of {len(report.checks)} checks of the evaluation itself do not hold ({broken[0]})"
    beside = [item for item in report.items if item.parameters["memory"] not in report.names]
    whole = [item for item in beside if item.parameters["memory"] == SOURCE_FIRST and _is_whole(item, report.cases)]
    answered = sum(item.outcome == scoring.RECOVERED for item in whole)
    if answered < ANSWERED_MIN * len(whole):
        return f"with the whole source before it the reader answered {answered:,} of {len(whole):,} items right"
    empty = [item for item in beside if _is_empty(item, report.cases)]
    known = sum(item.outcome == scoring.RECOVERED for item in empty)
    if rate(known, len(empty)).low > KNOWN_MAX:
        return f"with no source before it the reader answered {known:,} of {len(empty):,} items right"
    asked = [item for item in report.items if item.outcome != scoring.FAILED]
    read = sum(item.outcome != scoring.MALFORMED for item in asked)
    return f"only {read:,} of {len(asked):,} replies can be read" if read < ANSWERED_MIN * len(asked) else ""


def _is_whole(item: Item, cases: Mapping[str, Case]) -> bool:
    case = cases.get(item.key)
    return case is not None and not case.hops and all(line in item.carried for line in case.problem.source)


def _is_empty(item: Item, cases: Mapping[str, Case]) -> bool:
    """Say whether a note of the paper has nothing of a number that is asked for, which nobody can guess then."""
    case = cases.get(item.key)
    if case is None or item.parameters["memory"] not in EMPTY or case.problem.kind != NUMBER or case.budget is None:
        return False
    told = case.correction == HANDED or (case.hops and not case.premise)  # the value itself is said, or carried
    return not told and not any(line in item.carried for line in case.problem.listed)


def _of_notes(report: Report) -> str:
    names = list(dict.fromkeys(str(item.parameters["memory"]) for item in report.items))
    cells = scores(report.items, names)
    return ", ".join(f"{name} brings {figure(cell, 'reclaim')} back" for name, cell in cells.items()) or "no item"


def untested(cell: Cell) -> str:
    """Say that a memory failed in most of its items, which then tell nothing of it; empty when it did not."""
    if cell.failed.hits == cell.n:
        return "was not tested: it failed in every item"
    most = cell.failed.hits > UNTESTED_MIN * cell.n
    return f"was not tested: it failed in {cell.failed.hits:,} of {cell.n:,} items" if most else ""


def _verdict_on(name: str, cell: Cell, report: Report) -> str:
    """Claim what the bounds bear out: the lower one that it can be corrected, the upper one that it cannot."""
    if untold := untested(cell):
        return f"{name} {untold}."
    if cell.problems < PROBLEMS_MIN:
        return f"Too few to tell whether {name} can be corrected: {cell.problems} problem."
    own = [requirement for requirement in report.requirements if requirement.memory == name]
    unmet = [requirement for requirement in own if not requirement.held]
    back = figure(cell, "reclaim")
    counted = f"brought back {back} of {cell.n:,} items"
    if not unmet:
        if (back.low or 0.0) >= LEAST:
            return f"{name} can be corrected: {counted}, all {len(own)} requirements met."
        return (f"{name} met all {len(own)} requirements, on too few problems to say that it can be corrected: "
                f"{counted}.")  # fmt: skip
    shares = (share or 0.0 for share in (cell.wrong.share, cell.attractor.share, cell.silent.share))
    wrong = "a wrong value in {:.2f} ({:.2f} stale, {:.2f} new)".format(*shares)
    found = f"{counted}, {wrong}, {len(unmet)} of {len(own)} requirements not met"
    least = min(requirement.chance for requirement in unmet) * len(own)
    least = min(least, chance(1 - (cell.wrong.share or 0.0), cell, LEAST))
    if least <= 1 - LEVEL or (1.0 if back.high is None else back.high) < LEAST:
        return f"{name} cannot be relied on to be corrected: {found}."
    return f"Too few problems to tell whether {name} can be corrected: {found}."


def _scores(report: Report) -> Section:
    """Count all items of each memory under test together."""
    heads = ("memory", "n", "problems", "brought back", "stale value", "new wrong value", "abstained", "memory failed",
             "cut to the budget", "requirements not met")  # fmt: skip
    rows, remarks = [], []
    for name, cell in scores(report.items, report.names).items():
        own = [requirement for requirement in report.requirements if requirement.memory == name]
        shares = [str(figure(cell, column)) for column in ("reclaim", "attractor", "silent", "abstained", "failed")]
        regimes = ", ".join(f"{regime.replace('_', ' ')} {count:,}" for regime, count in cell.regimes)
        remarks += [f"{name}: the probe says {regimes}"] if regimes else []
        rows.append((name, f"{cell.n:,}", f"{cell.problems:,}", *shares, f"{cell.over:,}",
                     f"{sum(not requirement.held for requirement in own)} of {len(own)}"))  # fmt: skip
    judged = [
        (it.memory, it.judge, str(it.coverage), str(it.risk), str(it.taken)) for it in report.acceptances
    ]  # fmt: skip
    found = [pages.Table(heads, rows), pages.Table(JUDGED, judged)]
    return Section("All items", tables=[table for table in found if table.rows], remarks=remarks)


def section_of(table: Table, names: Sequence[str]) -> Section:
    """Give the part of a page that shows a table."""
    ordered = sorted(table.cells, key=lambda cell: cell.label("memory") not in names)  # one's own first
    mine = [pair for pair in table.pairs if any(f": {name} minus" in pair.about for name in names)]
    rows = [
        (*("" if it is None else str(it) for _, it in cell.labels), f"{cell.n:,}",
         *(str(figure(cell, column)) for column in table.columns))
        for cell in ordered
    ]  # fmt: skip
    heads = (*(name.replace("_", " ") for name in table.by), "n", *(HEADS[column] for column in table.columns))
    own = frozenset(at for at, cell in enumerate(ordered) if cell.label("memory") in names)
    pairs = [(pair_line(pair),) for pair in (*mine, *(pair for pair in table.pairs if pair not in mine))]
    return Section(
        table.name.replace("_", " "), f"reclaim-evaluation {table.where}", "" if rows else "No item counts here.",
        figures.pictures(table, names),
        [*([pages.Table(heads, rows, own=own)] if rows else ()),
         *([pages.Table(("differences, paired by problem",), pairs)] if pairs else ())], table.remarks,
    )  # fmt: skip


def _unmet(report: Report) -> Section | None:
    unmet = [requirement for requirement in report.requirements if not requirement.held]
    rows = [(it.memory, it.experiment, it.name, it.found, f"{it.n:,}") for it in unmet]
    about = f"{len(report.requirements) - len(unmet)} of {len(report.requirements)} are met."
    tables = [pages.Table(("memory", "experiment", "not met", "found", "n"), rows)] if rows else ()
    return Section("Requirements", about=about, tables=tables) if report.requirements else None


def _failing(report: Report) -> Section | None:
    failing = [item for item in report.items if item.parameters["memory"] in report.names and _fails(item)]
    if not report.names:
        return None
    chosen = _chosen(failing)
    about = f"{len(failing):,} of the items of {', '.join(report.names)}."
    if chosen:
        about += (f" {len(chosen)} are shown, at most {ITEMS_OF_A_CELL_MAX} of each experiment and outcome; "
                  "all are in items.jsonl.")  # fmt: skip
    return Section("Items that failed", about=about, folds=[_fold(item, report.cases.get(item.key)) for item in chosen])


def _fails(item: Item) -> bool:
    return item.outcome != scoring.RECOVERED or (item.parameters.get("premise") is False and item.blast > 0)


def _chosen(failing: Sequence[Item]) -> list[Item]:
    """Choose items to show: the first ones of each memory, experiment and outcome."""
    seen: Counter[tuple[str, str, str]] = Counter()
    chosen: list[Item] = []
    for item in failing:
        place = item.parameters["memory"], item.parameters["experiment"], item.outcome
        seen[place] += 1
        if seen[place] <= ITEMS_OF_A_CELL_MAX and len(chosen) < ITEMS_MAX:
            chosen.append(item)
    return chosen


def _fold(item: Item, case: Case | None) -> Fold:
    """Give an item as it is read: where it is of, its source, the session, and what came of it."""
    parameters = item.parameters
    where = ", ".join(
        f"{name.replace('_', ' ')} {it}" for name, it in parameters.items()
        if name not in {"version", "experiment", "memory", "reader", "temperature"}
        and (it is False or it not in ("", None, 0))
    )  # fmt: skip
    session = () if case is None or case.hops else case.session()
    changed = bool(session) and item.session_sha256 not in ("", sha256(session))  # empty where the memory failed
    texts = [("item", where)]
    if item.fault:
        texts.append(("fault", item.fault))
    if case is not None and case.problem.source:
        texts.append((f"what determines {case.problem.ask}", "\n".join(case.problem.source)))
    if changed:
        texts.append(("session", "The session was said in other words then; it is not shown."))
    elif session:
        said = "\n\n".join(f"{message['role']}: {cut(message['content'])}" for message in session)
        texts.append((f"the session, {len(session)} messages", said))
    came = f"{figures.SAID[item.outcome]}, gave {item.given or 'nothing'}; right is {item.answer}"
    return Fold(
        f"{parameters['experiment']}, {parameters['memory']}: {came}",
        (*texts, *((role, cut(text)) for role, text in _parts(item))),
    )


def _parts(item: Item) -> Iterator[tuple[str, str]]:
    """Give what was carried, lived, asked and answered, each with what it is."""
    if item.outcome == scoring.FAILED:
        return
    over = f", of {item.written:,} that it wrote: cut" if item.over else ""
    regime = f"; the probe says {item.regime.replace('_', ', ')}" if item.regime else ""
    yield f"carried: {item.used:,} characters{over}{regime}", item.carried
    for hop in item.hops:
        yield f"a session: truth {hop['truth']}, given {hop['given']} ({hop['outcome']}); carried", str(hop["carried"])
    for pull in item.pulls:
        yield f"asked the memory: {pull['query']}", str(pull["text"])
    for turn, reply in zip(item.turns, item.replies, strict=False):
        yield "correction", turn
        yield "reply", reply


FAILURE_CHARACTERS_MAX = 2_000
"""Of what was carried and replied, in a failure."""


def junit(requirements: Sequence[Requirement], checks: Sequence[Check], unfinished: str = "") -> str:
    """Write the file: a suite for each memory, and one for the checks of the evaluation itself.

    Args:
        unfinished: why the run did not come to its end; that is a failure too, or a run that asked nothing would pass.
    """
    suites = {
        f"reclaim {memory}": [_case(requirement) for requirement in requirements if requirement.memory == memory]
        for memory in dict.fromkeys(requirement.memory for requirement in requirements)
    }
    if checks:
        suites["reclaim, the evaluation itself"] = [_check(check) for check in checks]
    if unfinished:
        suites["reclaim, the run"] = [_made("reclaim.run", "the run came to its end", False, unfinished, unfinished)]
    report = JUnitXml("reclaim")
    for name, cases in suites.items():
        suite = TestSuite(shown(name))
        for case in cases:
            suite.add_testcase(case)
        report.add_testsuite(suite)
    report.update_statistics()
    return str(report.tostring(), "utf-8")


def _case(requirement: Requirement) -> TestCase:
    where = f"reclaim.{requirement.experiment}" if requirement.experiment else "reclaim"
    text = "\n\n".join((requirement.found, *(failure(item) for item in requirement.broken[:1])))
    return _made(where, requirement.name, requirement.held, f"{requirement.found} (n = {requirement.n})", text)


def _check(check: Check) -> TestCase:
    return _made("reclaim.evaluation", check.name, check.held, str(check), "\n".join(check.broken))


def _made(where: str, name: str, held: bool, message: str, text: str) -> TestCase:
    case = TestCase(shown(name), shown(where))
    if not held:
        failed = Failure(shown(message))
        failed.text = shown(text, lines=True)
        case.result = [failed]
    return case


def failure(item: Item) -> str:
    """Tell one item for a person, as the page does: what was asked, carried, looked up and answered."""
    fold = _fold(item, None)
    texts = (f"{name}: {cut(text, FAILURE_CHARACTERS_MAX)}" for name, text in fold.texts)
    return "\n".join((f"for example, item {item.key}: {fold.summary}", *texts))


def cut(text: str, characters_max: int = TEXT_CHARACTERS_MAX) -> str:
    """Shorten a text, and say by how much."""
    if len(text) <= characters_max:
        return text
    return f"{text[:characters_max]} … {len(text) - characters_max:,} more characters"
