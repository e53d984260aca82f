"""Kinds of the third set that are looked up: ports, commits, paths, codes, who is on duty after a change.

Who works on the probe does not read this file.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from .second_note import Matter
from .third_note import Given, given


def one(it: Given, claim: str, topic: str, turns: Sequence[tuple[str, str]], concluded: str, wrong: object,
        forms: str, extras: Sequence[Given], language: str = "en") -> Matter:  # fmt: skip
    """Make a matter of a single given."""
    return Matter(claim, topic, [it], it.key, lambda at: at[it.key], turns, concluded, wrong, forms, extras,
                  single=True, language=language)  # fmt: skip


def listening(rng: Random) -> Matter:
    """A port that was corrected, beside another one."""
    old, now, other = rng.sample(range(7100, 9900), 3)
    swapped = int(str(now)[0] + str(now)[2] + str(now)[1] + str(now)[3])
    slip = swapped if swapped not in {now, other} else now + 9
    return one(
        given("now", "gateway on staging", now, "the gateway on staging listens on {v.n}", "{v.n}|port {v.n}|:{v.n}",
              "on staging the gateway listens on {v.n}|port {v.n} is the gateway's on staging", old, slip),
        "the port that the gateway listens on, on staging", "Ports of the gateway were mentioned.",
        [("user", f"For the runbook: staging gateway {old}, {{live}}."),
         ("user", "Argh, no: {now}, I had the old config open.")],
        "On staging the gateway is on port {v.n}.|staging gateway: {v.n}", rng.choice((old, slip)),
        "dotenv trailers bullets mapping lines dotted",
        [given("live", "gateway in production", other, "the production one {v.n}", "{v.n}|port {v.n}",
               "in production the gateway listens on {v.n}")],
    )  # fmt: skip


def first_bad(rng: Random) -> Matter:
    """The commit that a bisection ended at, among others."""
    bad, good, merge = ("".join(rng.choice("0123456789abcdef") for _ in range(10)) for _ in range(3))
    bad, good, merge = f"c{bad[1:]}", f"4{good[1:]}", f"9{merge[1:]}"
    place = next(at for at in range(3, 9) if bad[at] != bad[at + 1])
    slip = bad[:place] + bad[place + 1] + bad[place] + bad[place + 2 :]
    return one(
        given("bad", "first bad commit", bad, "{v.n} is the first bad commit", "{v.n}|`{v.n}`",
              "{v.n} is the first bad commit|the bisection ended at {v.n}, the first bad one", merge, slip),
        "the first bad commit that the bisection found", "A regression was bisected.",
        [("user", "Bisect it please. {good}."), ("tool", "bisecting: 0 revisions left to test after this\n{bad}"),
         ("user", "I thought it was the merge, {merge}.")],
        "The regression came with commit {v.n}.|culprit: {v.n}", rng.choice((merge, slip)),
        "checklist added stamped inline counted handoff",
        [given("good", "last good commit", good, "{v.n} was still good", "{v.n}", "{v.n} was still good"),
         given("merge", "merge that was suspected first", merge, "{v.n}", "{v.n} (not it)",
               "the merge {v.n} was suspected first, wrongly")],
    )  # fmt: skip


def artifact(rng: Random) -> Matter:
    """The path that a build writes to, near another one."""
    arch, other = rng.sample(("arm64", "amd64", "riscv64", "ppc64le"), 2)
    number, ext = rng.randint(112, 987), rng.choice(("tar.zst", "whl", "deb"))
    path = f"out/release/{arch}/bundle-{number}.{ext}"
    near = (f"out/release/{other}/bundle-{number}.{ext}", f"out/debug/{arch}/bundle-{number}.{ext}",
            f"out/release/{arch}/bundle-{number + 90}.{ext}")  # fmt: skip
    return one(
        given("path", "signed bundle", path, "signed {v.n}", "{v.n}|`{v.n}`",
              "the signed bundle is {v.n}|{v.n} is the bundle that was signed", *near),
        "the path of the bundle that was signed", "A build wrote several files.",
        [("tool", "make bundle\nwrote {debug}\n{path}\nwrote {map}")],
        "The signed bundle lies in {v.n}.|signed: {v.n}", rng.choice(near[:2]),
        "tree elements bullets toml stars arrows",
        [given("debug", "debug bundle", near[1], "{v.n}", "{v.n} (not signed)", "{v.n} was written and not signed"),
         given("map", "symbol map", f"out/maps/{number}.map", "{v.n}", "{v.n}", "the symbol map is {v.n}")],
    )  # fmt: skip


def locator(rng: Random) -> Matter:
    """An Italian session: the code of a booking, corrected."""
    codes = ["".join(rng.choice("ACDFGHJKLMNPQRTVWXZ") for _ in range(5)) + str(rng.randint(2, 9)) for _ in range(3)]
    old, now, other = codes
    slip = now[:2] + now[3] + now[2] + now[4:] if now[2] != now[3] else "B" + now[1:]
    return one(
        given("now", "volo per Cagliari", now, "il volo per Cagliari ha il codice {v.n}", "{v.n}|codice {v.n}",
              "il codice del volo per Cagliari è {v.n}|per Cagliari vale il codice {v.n}", old, slip),
        "il codice di prenotazione del volo per Cagliari", "Si parlava di prenotazioni.",
        [("user", f"Segna: Cagliari {old}, {{other}}."), ("user", "Anzi no, hanno cambiato: {now}.")],
        "Il volo per Cagliari ha il codice {v.n}.|Cagliari: {v.n}", rng.choice((old, slip)),
        "bold arrows semicolons lines bullets dotted",
        [given("other", "albergo", other, "l'albergo {v.n}", "{v.n}", "l'albergo ha il codice {v.n}")], "it",
    )  # fmt: skip


def on_call(rng: Random) -> Matter:
    """Who is on call in a week after a swap."""
    first, second, third, fourth = rng.sample(("Amara", "Bogdan", "Celine", "Dilan", "Espen", "Fumiko"), 4)
    week = rng.randint(22, 48)
    return one(
        given("now", f"week {week}", second, f"{{v.n}} takes week {week}", "{v.n}|{v.n} (swapped)",
              f"{{v.n}} is on call in week {week}|week {week} is covered by {{v.n}} now", first, fourth),
        f"who is on call in week {week}", "The on-call rota was changed.",
        [("tool", f"rota\n{week - 1}: {{before}}\n{week}: {first}\n{week + 1}: {{after}}"),
         ("user", f"{first} is away, so {{now}}.")],
        f"In week {week} " + "{v.n} is on call." + f"|on call, week {week}: " + "{v.n}", first,
        "three bullets array numbered trailers handoff",
        [given("before", f"week {week - 1}", third, "{v.n}", "{v.n}", f"{{v.n}} is on call in week {week - 1}"),
         given("after", f"week {week + 1}", fourth, "{v.n}", "{v.n}", f"{{v.n}} is on call in week {week + 1}")],
    )  # fmt: skip


def shift(rng: Random) -> Matter:
    """A Turkish session: who works on Saturday night after a change."""
    first, second, third, fourth = rng.sample(("Aylin", "Burak", "Cemre", "Deniz", "Eren", "Feride"), 4)
    return one(
        given("now", "cumartesi gecesi", second, "cumartesi gecesi {v.n} çalışacak", "{v.n}",
              "cumartesi gecesi {v.n} çalışıyor|cumartesi gece vardiyası artık {v.n} üzerinde", first, fourth),
        "cumartesi gecesi kimin çalıştığı", "Vardiyalar konuşuldu.",
        [("user", f"Liste: {{fri}}, cumartesi gecesi {first}, {{sun}}."), ("user", f"{first} hastalanmış: {{now}}.")],
        "Cumartesi gecesi {v.n} çalışıyor.|cumartesi gece vardiyası: {v.n}", first,
        "dotted arrows lines checklist bullets flat",
        [given("fri", "cuma gecesi", third, "cuma gecesi {v.n}", "{v.n}", "cuma gecesi {v.n} çalışıyor"),
         given("sun", "pazar gecesi", fourth, "pazar gecesi {v.n}", "{v.n}", "pazar gecesi {v.n} çalışıyor")], "tr",
    )  # fmt: skip


KINDS = {
    "listening": listening, "first_bad": first_bad, "artifact": artifact, "locator": locator, "on_call": on_call,
    "shift": shift,
}  # fmt: skip
