"""Kinds about what a memory does to a note: conclusions, hedges, padding, tags, pointers, cuts; and tool results."""

from __future__ import annotations

import json
from fractions import Fraction
from random import Random

from .case import Case, Drawn, Session, case, dice, new_id
from .gold import Line, Lookup, Slot, Sum
from .shopping import CLAIM, ENDINGS, TAGS, Shop, ended, shop, small_talk, without
from .writing import WRITERS, bullets, item, lines_of, listed, money, plain, prose, words

NEUTRAL = (
    "The conversation was friendly and to the point.", "The user prefers short answers.",
    "Nothing else was decided in this session.", "The topic may come up again at some later time.",
    "All of this took place in one sitting.", "The user thanked the assistant at the end.",
    "No files were changed.", "There were no complaints.",
)  # fmt: skip
NOT_KEPT = (
    "The items were not kept.", "What this was computed from is not in this note.",
    "(The line items did not fit and are gone.)", "Basis not kept.",
)  # fmt: skip


def drawn_shop(kind: str, number: int, *, n: int = 0) -> tuple[Random, Shop]:
    """Hold a session of a few lines."""
    rng = dice(kind, number)
    return rng, shop(rng, lines_of(rng, n or rng.randint(3, 5)))


def concluded(rng: Random, held: Shop) -> str:
    """Write the conclusion in one of many ways; sometimes it is the right one."""
    amount = held.concluded if rng.random() < 0.8 else sum((a.amount for a in held.lines), Fraction(0))
    return rng.choice((
        f"(Memory of an earlier session.) You concluded that the total before tax was {money(amount)}.",
        f"Total before tax: {money(amount)}",
        f"total={plain(amount)}",
        json.dumps({"topic": "office order", "total_before_tax": int(amount)}),
        f"The total came to {words(int(amount))} dollars.",
        f"| what | value |\n| --- | --- |\n| total before tax | {money(amount)} |",
        f"- We worked out {money(amount)} together, before tax.",
        f"The user ordered {listed([a.name for a in held.lines])}; the total was {money(amount)}.",
    ))  # fmt: skip


def conclusion(number: int) -> Case:
    """Keep the conclusion alone."""
    rng, held = drawn_shop("conclusion", number)
    text = concluded(rng, held)
    drawn = [
        Drawn(text, [], concludes=True),
        Drawn(text + f" A note says that the {held.locus.name} come to {money(held.wrong)}.", [], concludes=True),
        Drawn(f"{text}\n{rng.choice(NOT_KEPT)}", [], admits=True, concludes=True),
        Drawn(f"{text}\n({held.source})", [], held.lines, concludes=True),
    ][number % 4]
    return case("conclusion", number, held.session, CLAIM, Sum(held.lines), drawn)


def padded(number: int) -> Case:
    """Make the note longer by sentences that say nothing."""
    rng, held = drawn_shop("padded", number)
    filling = rng.sample(NEUTRAL, 6)
    core, drawn = [
        (concluded(rng, held), Drawn("", [], concludes=True)),
        (prose(held.lines, rng), Drawn("", held.lines)),
        (concluded(rng, held) + f" Source: {held.source}.", Drawn("", [], held.lines, concludes=True)),
        (concluded(rng, held) + " " + rng.choice(NOT_KEPT), Drawn("", [], admits=True, concludes=True)),
        ("", Drawn("", [])),
    ][number % 5]
    at = rng.randrange(7)
    text = "\n".join([*filling[:at], *([core] if core else []), *filling[at:]])
    drawn = Drawn(text, drawn.stated, drawn.behind, drawn.admits, drawn.concludes)
    return case("padded", number, held.session, CLAIM, Sum(held.lines), drawn)


def with_source(number: int) -> Case:
    """Keep the conclusion beside the source, whole or in part; a wrong subtotal may stand there too."""
    rng, held = drawn_shop("with_source", number)
    writer = rng.choice(list(WRITERS.values()))
    drawn = ended(rng, held, ENDINGS[number % 4], lambda kept: writer(kept, rng), conclude=True)
    if number % 8 < 4:
        premise = f"A note says that the {held.locus.name} come to {money(held.wrong)}."
        drawn = Drawn(f"{drawn.text}\n{premise}", drawn.stated, drawn.behind, drawn.admits, drawn.concludes)
    return case("with_source", number, held.session, CLAIM, Sum(held.lines), drawn)


def hedged(number: int) -> Case:
    """Hedge the conclusion."""
    rng, held = drawn_shop("hedged", number)
    text = rng.choice((
        "The total before tax was maybe {}.", "I believe it came to about {} before tax.", "Total: {} (unverified)",
        "Total before tax probably {}, if I remember well.", "It may have been {}; better check it.", "Total ~{}?",
    )).format(money(held.concluded))  # fmt: skip
    drawn = [
        Drawn(text, [], concludes=True),
        Drawn(f"{text} {rng.choice(NOT_KEPT)}", [], admits=True, concludes=True),
        Drawn(f"{text}\n{bullets(held.lines, rng)}", held.lines, concludes=True),
        Drawn(f"{text} It was said in {held.source}.", [], held.lines, concludes=True),
        Drawn(f"{text} {item(held.lines[0]).capitalize()}.", [held.lines[0]], concludes=True),
    ][number % 5]
    return case("hedged", number, held.session, CLAIM, Sum(held.lines), drawn)


def blank(number: int) -> Case:
    """Keep nothing of what is asked for."""
    _, held = drawn_shop("blank", number)
    text = (
        "", " ", "(empty)", "n/a", "There was an earlier session. No details were kept.", "{}", "- ", "No notes.",
        "The user did some shopping for the office.", "Topics: office order, accounts.", "# Memory\n",
        "The user has an office and asked for a total.", "The user likes short answers.", "null", "[]",
    )[number % 15]  # fmt: skip
    drawn = Drawn(text, [])
    if number % 5 == 4:
        drawn = Drawn(f"{text}\nSee {held.source}".strip(), [], held.lines)
    return case("blank", number, held.session, CLAIM, Sum(held.lines), drawn)


def tags(number: int) -> Case:
    """Say how much was kept, truly or not."""
    rng, held = drawn_shop("tags", number, n=4)
    writer = rng.choice((bullets, prose, WRITERS["inline"], WRITERS["markdown"]))
    some = without(rng, held.lines, 1)
    full, part = writer(held.lines, rng), writer(some, rng)
    wrong = f"The total was {money(held.concluded)}."
    true, whole = rng.choice(TAGS).format(k=3, n=4), rng.choice(("Kept 4 of 4 items.", "[4/4 kept]", "(4 of 4 lines)"))
    drawn = [
        Drawn(f"{part}\n{true}", some, admits=True),
        Drawn(f"{full}\n{whole}", held.lines),
        Drawn(f"{part}\n{whole}", some),
        Drawn(f"{part}\nThese are all the items.", some),
        Drawn(f"{wrong}\n{rng.choice(('[0 of 4 items kept]', 'Kept 0 of 4 items.'))}", [], admits=True, concludes=True),
        Drawn(f"{whole}\n{full}\n{wrong}", held.lines, concludes=True),
        Drawn(f"{part}\n{whole} Source: {held.source}", some, held.lines),
    ][number % 7]
    return case("tags", number, held.session, CLAIM, Sum(held.lines), drawn)


def pointers(number: int) -> Case:
    """Point to the source, to a part of it, to something else, or nowhere."""
    rng = dice("pointers", number)
    lines = lines_of(rng, 4)
    rows = [f"- {item(a)}" for a in lines]
    held = shop(rng, lines, source="\n".join(rows))
    session, source = held.session, held.source
    small_talk(session, rng, 1)
    other, nowhere = session.messages[-1]["pointer"], "fh:" + new_id(rng)
    said = next(message["content"] for message in session.messages if message["pointer"] == source)
    expand = session.expands()
    start = said.index(rows[0])  # goods, signs and digits here are all of one byte each
    two, four = "\n".join(rows[:2]), "\n".join(rows)
    some, all_rows = f"{source}@{start}-{start + len(two)}", f"{source}@{start}-{start + len(four)}"
    contents = [message["content"] for message in session.messages]
    here = next(at for at, message in enumerate(session.messages) if message["pointer"] == source)
    through = f"{source}..{session.messages[here + 1]['pointer'][3:]}"
    after = f"{session.messages[here + 2]['pointer']}..{session.messages[-1]['pointer'][3:]}"
    expand |= {
        some: two,
        all_rows: four,
        through: "\n".join(contents[here : here + 2]),
        after: "\n".join(contents[here + 2 :]),
    }
    wrong = f"The total before tax was {money(held.concluded)}."
    drawn = [
        Drawn(f"{wrong} Source: {source}", [], lines, concludes=True),
        Drawn(f"{wrong} Source: {nowhere}", [], concludes=True),
        Drawn(f"{wrong} Source: {other}", [], concludes=True),
        Drawn(f"{wrong} Source: {some}", [], lines[:2], concludes=True),
        Drawn(f"{wrong} Source: {all_rows}", [], lines, concludes=True),
        Drawn(f"{rows[0]}\n{rows[1]}\n[kept 2 of 4; the rest: {nowhere}]", lines[:2], admits=True),
        Drawn(f"{wrong} ({through})", [], lines, concludes=True),
        Drawn(f"{wrong} ({after})", [], concludes=True),
        Drawn(f"The order is in {nowhere}.", []),
        Drawn(f"{rows[2]}\n{rows[3]}\nFrom {source}", lines[2:], lines),
        Drawn(f"{rows[2]}\n{rows[3]}\nThe other two: {some}", lines[2:], lines[:2], admits=True),
        Drawn(f"{rows[0]}\n{rows[1]}\nThe other two: {some}", lines[:2], lines[:2], admits=True),
    ][number % 12]
    return case("pointers", number, session, CLAIM, Sum(lines), drawn, expand)


def verbatim(number: int) -> Case:
    """Keep a turn word for word."""
    rng = dice("verbatim", number)
    lines = lines_of(rng, 4)
    held = shop(rng, lines, source="; ".join(item(a) for a in lines) + ".")
    said = {message["pointer"]: message["content"] for message in held.session.messages}
    turns = list(said)
    here = turns.index(held.source)
    cut = said[held.source][: said[held.source].index(item(lines[2]))].rstrip("; ")
    drawn = [
        Drawn(f"User: {said[held.source]}", lines),
        Drawn(f"User: {said[turns[here + 2]]}", []),
        Drawn(f"Assistant: {said[turns[here + 1]]}", [], concludes=True),
        Drawn(f"User: {cut}", lines[:2]),
        Drawn(f"User: {said[held.source]}\nAssistant: {said[turns[here + 1]]}", lines, concludes=True),
        Drawn(f"User: {cut} [...]\n(the message was longer; the rest is not kept)", lines[:2], admits=True),
    ][number % 6]
    return case("verbatim", number, held.session, CLAIM, Sum(lines), drawn)


def transcripts(number: int) -> Case:
    """Keep the beginning, the end or the middle of the transcript."""
    rng, held = drawn_shop("transcripts", number)
    small_talk(held.session, rng, 2)
    names = {"user": "User", "assistant": "Assistant"}
    rows = [f"{names[message['role']]}: {message['content']}" for message in held.session.messages]
    here = [message["pointer"] for message in held.session.messages].index(held.source)
    begin, end, mark, pointed = [
        (0, here + 1, "", False),
        (here + 1, len(rows), "", False),
        (here, here + 4, "", False),
        (here + 1, here + 4, "[earlier messages were dropped]\n", False),
        (len(rows) - 2, len(rows), "", False),
        (here + 1, len(rows), f"[earlier messages: {held.source}]\n", True),
    ][number % 6]
    whole = begin <= here < end
    drawn = Drawn(
        mark + "\n".join(rows[begin:end]),
        held.lines if whole else [],
        held.lines if pointed else (),
        admits=bool(mark),
        concludes=number % 6 != 4 and end > here + 1,
    )
    return case("transcripts", number, held.session, CLAIM, Sum(held.lines), drawn)


# what tools gave ----------------------------------------------------------------------------------------

FOLDERS = ("cache", "logs", "photos", "models", "backups", "mail", "music", "videos", "builds", "docs")


def tool_table(number: int) -> Case:
    """Add up the rows of a table that a tool gave."""
    rng = dice("tool_table", number)
    lines = [Line(name, Fraction(1), Fraction(rng.randint(12, 940))) for name in rng.sample(FOLDERS, rng.randint(4, 7))]
    session = Session(rng)
    small_talk(session, rng, rng.randrange(2))
    session.user("How much space do these folders take together?")
    width = rng.choice((10, 14))
    rows = [f"{a.name:<{width}}{plain(a.amount):>8} MB" for a in lines]
    source = session.tool("folder".ljust(width) + "    size\n" + "\n".join(rows))
    right = sum((a.amount for a in lines), Fraction(0))
    wrong = right - rng.choice(lines).amount
    session.agent(f"Together they take {plain(wrong)} MB.")
    small_talk(session, rng, rng.randrange(3))
    way = number % 5
    kept = lines if way < 2 else without(rng, lines, 1)
    text = [
        "\n".join(f"| {a.name} | {plain(a.amount)} |" for a in kept) + "\n(sizes in MB)",
        "Folder sizes: " + ", ".join(f"{a.name} {plain(a.amount)} MB" for a in kept),
        "\n".join(f"{a.name}: {plain(a.amount)} MB" for a in kept),
        "\n".join(rows[lines.index(a)] for a in kept) + f"\n({len(kept)} of {len(lines)} rows)",
        f"{plain(wrong)} MB in all, {len(kept)} of {len(lines)} rows below, the others in {source}\n"
        + json.dumps({a.name: int(a.amount) for a in kept}),
    ][way]
    drawn = Drawn(text, kept, lines if way == 4 else (), admits=way >= 3, concludes=way == 4)
    return case("tool_table", number, session, "the size of all the folders together", Sum(lines), drawn)


SERVICES = ("search", "billing", "mail", "export", "login", "images")


def tool_json(number: int) -> Case:
    """Look up one value in what a tool gave as JSON."""
    rng = dice("tool_json", number)
    names = rng.sample(SERVICES, 3)
    settings = {
        name: {"host": f"{name}.internal", "port": rng.randint(3000, 9800), "replicas": rng.randint(2, 9)}
        for name in names
    }
    asked, key = names[0], rng.choice(("port", "replicas"))
    right = settings[asked][key]
    wrong = int(str(right)) + rng.choice((1, 10, 100)) * (1 if key == "replicas" else 7)
    session = Session(rng)
    small_talk(session, rng, rng.randrange(2))
    session.user(f"Look at the settings of production: what is the {key} of {asked}?")
    source = session.tool(json.dumps({"environment": "production", "services": settings}, indent=rng.choice((None, 2))))
    asking = {"port": "It listens on port {}.", "replicas": "It has {} replicas."}[key]
    session.agent(f"{asked.capitalize()}: {asking.format(wrong)}")
    small_talk(session, rng, rng.randrange(3))
    name = f"{asked}.{key}"
    true, false = [Slot(name, right)], [Slot(name, wrong)]
    other = names[1]
    drawn = [
        Drawn(f"{asked} ({key}): {right}", true),
        Drawn(json.dumps({"services": {asked: settings[asked]}}), true),
        Drawn(f"{asked}: {key} {wrong}", false, concludes=True),
        Drawn(f"{other}: {key} {settings[other][key]}", []),
        Drawn(f"{asked}: {key} {wrong}, according to {source}", false, true, concludes=True),
        Drawn(f"services:\n  {asked}:\n    {key}: {right}\n  {other}:\n    {key}: {settings[other][key]}", true),
        Drawn(f"The settings of production were read; the {key} of {asked} was not kept.", [], admits=True),
        Drawn(f"The settings of production: {source}", [], true),
    ][number % 8]
    claim = f"the {key} of {asked}" if key == "port" else f"how many replicas {asked} has"
    return case("tool_json", number, session, claim, Lookup(true, name), drawn)


KINDS = {
    "conclusion": conclusion,
    "padded": padded,
    "with_source": with_source,
    "hedged": hedged,
    "blank": blank,
    "tags": tags,
    "pointers": pointers,
    "verbatim": verbatim,
    "transcripts": transcripts,
    "tool_table": tool_table,
    "tool_json": tool_json,
}
