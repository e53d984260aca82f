"""Kinds of the third set from coding sessions that are worked out: settings, counts, prices, logs, versions.

Who works on the probe does not read this file.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random

from .second_note import Matter
from .third_note import Given, given


def retry(rng: Random) -> Matter:
    """The longest that a client waits, with a pause that was corrected in the middle."""
    timeout, attempts, pause = rng.randint(11, 45), rng.randint(3, 7), rng.choice((6, 8, 14, 22))
    old = pause + rng.choice((3, 12))
    return Matter(
        "how many seconds the client waits at most before it gives up", "The retry settings of the client came up.",
        [given("timeout", "timeout of one attempt", timeout, "each attempt times out after {v.n} s", "{v.n} s|{v.n}s",
               "one attempt times out after {v.n} seconds|an attempt is given {v.n} s", timeout - 7, timeout + 15),
         given("attempts", "attempts", attempts, "it makes {v.n} attempts", "{v.n}|{v.w}",
               "the client makes {v.w} attempts|there are {v.n} attempts in all", attempts - 1, attempts + 2),
         given("pause", "pause between attempts", pause, "{v.n} s between attempts", "{v.n} s|{v.n} seconds",
               "between two attempts it pauses for {v.n} s|the pause between attempts is {v.n} seconds", old, old + 4)],
        "attempts * timeout + (attempts - 1) * pause",
        lambda at: at["attempts"] * (at["timeout"] + at["pause"]) - at["pause"],
        [("user", f"Our client hangs. {{timeout}}, {{attempts}} and pauses {old} s in between."),
         ("user", "no, wait, the pause is wrong. {pause}. How long can it take in the worst case?")],
        "The client waits {v.n} s at most.|worst case: {v.n} seconds|It gives up after {v.n} s at the latest.",
        attempts * timeout + (attempts - 1) * old, "toml dotted bullets trailers logfmt handoff checklist",
    )  # fmt: skip


def pinned(rng: Random) -> Matter:
    """The newest release that a plugin and a bug leave."""
    name, major = rng.choice(("polyglot", "treeline", "hexpress", "quarto-lint")), rng.randint(2, 6)
    a, b, c, d = sorted(rng.sample(range(3, 29), 4))
    every = tuple((major, minor) for minor in (a, b, c, d))
    return Matter(
        f"the newest release of {name} that we can pin", f"A version of {name} had to be pinned.",
        [given("released", "released", every, "released: {v.vers}", "{v.vers}",
               "the registry has the releases {v.vers}|these were released: {v.vers}",
               (every[0], *every[2:]), (every[0], every[2], (major, d + 1))),
         given("cap", "cap of the plugin", (major, d), "our plugin needs " + name + " < {v.ver}",
         "<{v.ver}|below {v.ver}",
               "the plugin only works below {v.ver}|because of the plugin it must be < {v.ver}", (major, d + 4),
               (major, b)),
         given("broken", "yanked", (major, c), "{v.ver} was yanked, it corrupts caches", "{v.ver}|=={v.ver}",
               "{v.ver} was yanked and is out|release {v.ver} corrupts caches, so it is no option", (major, b),
               (major, d))],
        "max([one for one in released if one < cap and one != broken])",
        lambda at: max({*at["released"]} - {at["broken"]} - {one for one in at["released"] if one >= at["cap"]}),
        [("user", f"Which {name} should I pin? {{cap}}."), ("tool", "$ index versions\n{released}"),
         ("user", "And mind that {broken}.")],
        name + " {v.ver} it is.|pin " + name + "=={v.ver}|We settled on version {v.ver}.", (major, c),
        "three added bullets mapping counted flat lines",
    )  # fmt: skip


def passed(rng: Random) -> Matter:
    """Tests that passed, from what a runner says."""
    collected, failed, skipped, xfailed = rng.randint(310, 980), *rng.sample(range(11, 60), 3)
    return Matter(
        "how many tests passed in the nightly run", "The nightly test run was looked at.",
        [given("collected", "collected", collected, "collected {v.n} items", "{v.n}|{v.n} tests",
               "the run collected {v.n} tests|{v.n} tests were collected", collected - 90, collected + 30),
         given("failed", "failed", failed, "{v.n} failed", "{v.n}|{v.w}",
         "{v.n} tests failed|there were {v.n} failures",
               failed + 3, failed - 6),
         given("skipped", "skipped", skipped, "{v.n} skipped", "{v.n}", "{v.n} were skipped|it skipped {v.n} tests",
               skipped + 8, skipped - 2),
         given("xfailed", "xfailed", xfailed, "{v.n} xfailed", "{v.n}",
               "{v.n} failed as expected|{v.n} tests are marked xfail and did fail", xfailed - 4, xfailed + 9)],
        "collected - failed - skipped - xfailed",
        lambda at: at["collected"] - sum(at[key] for key in ("failed", "skipped", "xfailed")),
        [("tool", "=== test session starts ===\n{collected}\n...\n{failed}\n{skipped}\n{xfailed}\n=== in 412.6s ==="),
         ("user", "So how many passed?")],
        "{v.n} tests passed.|passed: {v.n}|{v.n} of them were green.", collected - failed - skipped,
        "dotted inline trailers semicolons bullets stars",
    )  # fmt: skip


def fastest(rng: Random) -> Matter:
    """The variant with the lowest time, in mixed units."""
    names = rng.sample(("bitset", "trie", "bloom", "roaring", "sorted-vec"), 4)
    micros = sorted(rng.sample(range(310, 2600, 10), 4))
    rows = []
    for at, (name, us) in enumerate(zip(rng.sample(names, 4), rng.sample(micros, 4), strict=True)):
        low = min(micros)
        other = low - 120 - 10 * at if us != low else max(micros) + 400
        rows.append(_timed(at, name, us, other, rng.random() < 0.5))
    best, slowest = min(row.value for row in rows), max(row.value for row in rows)
    return Matter(
        "which variant is the fastest at p50", "Variants of an index were benchmarked.", rows, "min(rows)[1]",
        lambda at: min(at.values(), key=lambda row: row[0])[1],
        [("tool", "bench p50, 5000 rounds\n{row0}\n{row1}\n{row2}\n{row3}"), ("user", "Which one wins?")],
        "{v.n} is the fastest.|winner: {v.n}|Nothing beats {v.n} at p50.",
        next(row.value[1] for row in rows if row.value not in {best, slowest}),
        "arrows array checklist handoff added turned", alike=True,
    )  # fmt: skip


def _timed(at: int, name: str, us: int, other: int, in_ms: bool) -> Given:
    """Make a row of a benchmark; `other` is what a careless writer has, 0 in what he has."""
    ms = f"{us / 1000:.2f} ms"
    return Given(f"row{at}", name, (us, name), f"{name}: {ms if in_ms else f'{us} µs'}", f"{us} µs|{ms}",
                 f"{name} takes {us} µs|{name} needed {ms}", ((other, name),) if other else (),
                 _timed(at, name, other, 0, in_ms) if other else None)  # fmt: skip


def rollout(rng: Random) -> Matter:
    """Whether a flag is on for an account, by the share of its cohort."""
    base, share, name = rng.choice((10, 15)), rng.choice((55, 60, 70)), rng.choice(("inline_diff", "fast_checkout"))
    bucket = rng.randint(base + 4, share - 3)
    return Matter(
        f"whether {name} is on or off for account 7731", f"The rollout of {name} was discussed for account 7731.",
        [given("share", "pilot buckets", share, "pilots get it in buckets below {v.n}",
        "buckets < {v.n}|below bucket {v.n}",
               "pilot accounts have it in the buckets below {v.n}|for pilots it is on under bucket {v.n}", bucket - 1,
               base),
         given("bucket", "bucket of 7731", bucket, "account 7731 is in bucket {v.n}", "{v.n}",
               "account 7731 falls into bucket {v.n}|its bucket is {v.n} (account 7731)", share + 4, share),
         given("cohort", "cohort of 7731", "pilot", "it is a {v.n} account", "{v.n}",
               "account 7731 is a {v.n} account|7731 belongs to the {v.n} accounts", "regular", "closed")],
        f"'on' if bucket < (share if cohort == 'pilot' else {base}) else 'off'",
        lambda at: "off" if at["cohort"] != "pilot" or at["bucket"] >= at["share"] else "on",
        [("user", f"About the flag {name}: {{regular}}, but {{share}}."), ("tool", "lookup: {bucket}, {cohort}"),
         ("user", f"Is {name} on for 7731?")],
        name + " is {v.n} for account 7731.|account 7731: {v.n}|For 7731 the answer is {v.n}.", "off",
        "mapping bullets stamped lines assigned dotted",
        [given("regular", "regular buckets", base, "it is on for regular accounts in buckets below {v.n}",
        "buckets < {v.n}",
               "regular accounts have it in the buckets below {v.n}")],
    )  # fmt: skip


def deploy_log(rng: Random) -> Matter:
    """Seconds between two lines of a log, less a hold."""
    start = rng.randint(8, 20) * 3600 + rng.randint(0, 40) * 60 + rng.randint(11, 59)
    took, hold = rng.randint(190, 760), rng.choice((35, 45, 75, 110))
    return Matter(
        "how many seconds the deployment took without the hold", "A deployment was timed from its log.",
        [given("start", "rollout started", start, "{v.stamp} rollout started", "{v.stamp}",
               "the rollout started at {v.stamp}|at {v.stamp} the rollout began", start - 60, start + 31),
         given("end", "all pods ready", start + took, "{v.stamp} all pods ready", "{v.stamp}",
               "all pods were ready at {v.stamp}|by {v.stamp} every pod was ready", start + took + 60,
               start + took - 9),
         given("hold", "manual hold", hold, "manual hold of {v.n}s", "{v.n}s|{v.n} seconds",
               "somebody held it for {v.n} s|the manual hold lasted {v.n} seconds", hold + 20, hold - 15)],
        "end - start - hold", lambda at: -at["hold"] - at["start"] + at["end"],
        [("user", "How long did the deploy take, not counting the hold?"),
         ("tool", "{start}\n" + _stamp(start + 20) + " pulled image\n" + _stamp(start + 41)
          + " {hold}\n{end}\n" + _stamp(start + took + 300) + " metrics flushed")],
        "It took {v.n} seconds.|net deployment time: {v.n} s|{v.n} s without the hold", took,
        "stamped logfmt three bullets chained arrows",
    )  # fmt: skip


def _stamp(seconds: int) -> str:
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def token_bill(rng: Random) -> Matter:
    """What a run of a model costs, by two prices."""
    read, wrote = rng.randint(210, 940) * 10, rng.randint(31, 180) * 10
    low, high = rng.choice((2, 3, 4)), rng.choice((9, 12, 15))
    return Matter(
        "what the batch run over the archive costs in dollars", "The cost of a batch run was estimated.",
        [given("read", "input tokens", read, "{v.n}k tokens in", "{v.n}k|{v.n} thousand",
               "{v.n} thousand tokens go in|the input has {v.n}k tokens", read + 400, read - 700),
         given("wrote", "output tokens", wrote, "{v.n}k tokens out", "{v.n}k|{v.n},000",
               "{v.n} thousand tokens come out|the output has {v.n}k tokens", wrote + 90, wrote + 150),
         given("low", "price of input", low, "input is ${v.n} per million", "${v.n}/M|{v.n} dollars per million tokens",
               "a million input tokens cost ${v.n}|input is billed at {v.n} dollars per million", low + 1, low + 3),
         given("high", "price of output", high, "output ${v.n} per million",
         "${v.n}/M|{v.n} dollars per million tokens",
               "a million output tokens cost ${v.n}|output is billed at {v.n} dollars per million", high - 2,
               high + 6)],
        "(read * low + wrote * high) / 1000",
        lambda at: Fraction(at["read"] * at["low"], 1000) + Fraction(at["wrote"] * at["high"], 1000),
        [("tool", "dry run: {read}, {wrote}"), ("user", "{low}, {high}. What will it cost?")],
        "The run costs ${v.two}.|estimated cost: {v.two} USD|We are at {v.two} dollars.",
        Fraction(read * high + wrote * low, 1000), "turned dotenv lines tree semicolons counted",
    )  # fmt: skip


def server_errors(rng: Random) -> Matter:
    """Errors of four services; one of staging is not counted."""
    names, numbers = rng.sample(("ledger", "mailer", "search", "avatar", "exports"), 4), rng.sample(range(13, 420), 5)
    rows = [given(f"row{at}", name, number, f"{name} " + "{v.n}", "{v.n}|{v.n} errors",
                  f"{name} returned " + "{v.n} server errors|{v.n} " + f"of the 5xx came from {name}", number + 21,
                  number + 6) for at, (name, number) in enumerate(zip(names, numbers, strict=False))]  # fmt: skip
    return Matter(
        "how many 5xx responses production had on Tuesday", "Tuesday's 5xx responses were counted by service.", rows,
        "sum(rows)", lambda at: sum(number for key, number in at.items() if key[:3] == "row"),
        [("tool", "5xx by service, prod, Tuesday\n{row0}\n{row1}\n{row2}\n{row3}\ncanary " + str(numbers[4])),
         ("user", "The canary is not production, leave it out. How many do we have?")],
        "Production had {v.n} of them.|5xx total: {v.n}|All in all {v.n} responses were 5xx.", sum(numbers),
        "dotted flat three bullets inline semicolons listed", alike=True,
        unmarked=given("row9", "canary", numbers[4], "canary {v.n}", "{v.n}|{v.n} errors",
                       "canary returned {v.n} server errors"),
    )  # fmt: skip


def connections(rng: Random) -> Matter:
    """Connections that a database has left, with a count of pods that was corrected."""
    most, pods, pool, kept = (
        rng.choice((400, 500, 650)),
        rng.randint(7, 12),
        rng.choice((15, 18, 24)),
        rng.randint(12, 35),
    )
    return Matter(
        "how many connections the database has left", "The connection limits of the database were discussed.",
        [given("most", "max_connections", most, "max_connections is {v.n}", "{v.n}",
               "the database allows {v.n} connections|at most {v.n} connections are allowed", most + 150, most - 50),
         given("pods", "pods", pods, "we run {v.n} pods", "{v.n}|{v.w}", "{v.w} pods are running|there are {v.n} pods",
               pods - 2, pods + 1),
         given("pool", "pool size", pool, "each pod has a pool of {v.n}", "{v.n}|{v.n} per pod",
               "every pod opens {v.n} connections|a pod's pool has {v.n} connections", pool - 5, pool + 5),
         given("kept", "reserved for admins", kept, "{v.n} are reserved for admins", "{v.n}",
               "{v.n} connections are reserved for admins|admins keep {v.n} to themselves", kept + 10, kept - 4)],
        "most - pods * pool - kept", lambda at: at["most"] - (at["kept"] + at["pool"] * at["pods"]),
        [("tool", "{most}; {kept}"), ("user", f"We run {pods - 2} pods and {{pool}}."),
         ("user", "Nope, I miscounted: {pods}. How many connections are left?")],
        "{v.n} connections are left.|free connections: {v.n}|That leaves {v.n}.", most - (pods - 2) * pool - kept,
        "assigned toml numbered handoff headings checklist",
    )  # fmt: skip


KINDS = {
    "retry": retry, "pinned": pinned, "passed": passed, "fastest": fastest, "rollout": rollout,
    "deploy_log": deploy_log, "token_bill": token_bill, "server_errors": server_errors, "connections": connections,
}  # fmt: skip
