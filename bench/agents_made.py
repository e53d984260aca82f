"""Twelve agents with 290 episodes in the shape of recall-problem 8.3 to 8.5, made from a seed.

Totals are the paper's. Two agents name their episodes as numbered series (``lectio-0032``,
``proving-medqa-032``), the others by what was done. Each episode has a session that tells
of it, and a message of somebody who comes back to it later: some of its words, inflected
otherwise, in no order, without its date, and never its name.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

AGENTS = {
    "noument": 72, "grazient": 22, "solarient": 22, "ntent": 14, "dokter": 46, "clawent": 26,
    "channent": 26, "dalent": 19, "sysent": 23, "reschent": 7, "animent": 7, "doment": 6,
}  # fmt: skip
"""Episodes of each, as table 8.5 counts them."""
NUMBERED = {"dokter": "proving-medqa-{:03}", "clawent": "lectio-{:04}"}
"""Those whose names are a series."""
WINDOW = 10
"""Names in the paper's ambient context."""
_FIRST_DAY = date(2026, 1, 5)
# A thing, and how somebody says it later.
_THINGS = (  # noqa: SIM905 - a hundred quoted words are harder to read
    "scheduler:scheduling invoice:invoices ledger:ledgers tokenizer:tokenizing crawler:crawling dashboard:dashboards "
    "exporter:exporting parser:parsing gateway:gateways importer:importing renderer:rendering compiler:compiling "
    "planner:planning mailer:mailing indexer:indexing sampler:sampling encoder:encoding balancer:balancing "
    "validator:validating monitor:monitoring archive:archives bootstrap:bootstrapping calendar:calendars "
    "catalogue:catalogues checkout:checkouts cluster:clusters contract:contracts corpus:corpora diagram:diagrams "
    "firmware:firmware formulary:formularies glossary:glossaries harvest:harvesting inventory:inventories "
    "journal:journals keyring:keyrings lattice:lattices manifest:manifests notebook:notebooks orchard:orchards "
    "payroll:payrolls questionnaire:questionnaires registry:registries simulator:simulating telemetry:telemetry "
    "umbrella:umbrellas vineyard:vineyards warehouse:warehouses xray:xrays yearbook:yearbooks"
).split()
_MATTERS = (  # noqa: SIM905 - a hundred quoted words are harder to read
    "timeout:timeouts rounding:rounded deadlock:deadlocks leak:leaking migration:migrating rollback:rollbacks "
    "throttling:throttled pagination:paginated encryption:encrypted translation:translating retry:retries "
    "duplication:duplicates ordering:ordered calibration:calibrated compression:compressed licensing:licensed "
    "onboarding:onboarded quota:quotas regression:regressions sampling:sampled segmentation:segments "
    "signature:signatures timezone:timezones upgrade:upgrading warmup:warmups webhook:webhooks"
).split()
_DETAILS = (  # noqa: SIM905 - a hundred quoted words are harder to read
    "hungarian postgres bluetooth certificate october spreadsheet accordion nginx parquet sensor turbine lithium "
    "braille cardinality checksum dropdown ethernet favicon geofence haskell isotope jwt kerberos lambda mutex "
    "nightly oauth podman quaternion raspberry sqlite thermostat unicode vulkan websocket xml yaml zigbee "
    "amsterdam boston cairo dublin edinburgh florence geneva hamburg"
).split()
_ASKS = (
    "remind me how we handled the {0} when {1} and {2} came up",
    "it is about {2} again: the {0} part with {1} does not look right to me",
    "can you look at {1}? I think the {0} has the same trouble with {2} as before",
    "a customer asks about {0} and {2}, which has to do with {1}",
)


@dataclass(frozen=True, slots=True)
class MadeEpisode:
    """One episode.

    Attributes:
        name: with its date in front.
        topic: words of what it is about, those of its name among them.
        said: user and agent messages of its session, in turn.
        message: of somebody who comes back to it.
    """

    agent: str
    name: str
    session: str
    day: str
    topic: str
    said: tuple[str, ...]
    message: str


def made(agent: str, *, seed: int = 7, total: int | None = None) -> tuple[MadeEpisode, ...]:
    """Make the episodes of an agent of `AGENTS`, the oldest first."""
    chance = random.Random(f"{agent} {seed}")
    number = AGENTS[agent] if total is None else total
    pairs = [(thing, matter) for thing in _THINGS for matter in _MATTERS]
    # Half of the episodes share their thing with others: words that come back must not be told apart by themselves.
    things = chance.sample(_THINGS, max(3, min(len(_THINGS), number * 2 // 3)))
    chosen = chance.sample([pair for pair in pairs if pair[0] in things], number)
    return tuple(
        _episode(agent, at, thing, matter, chance.sample(_DETAILS, 3), chance)
        for at, (thing, matter) in enumerate(chosen)
    )


def all_made(seed: int = 7) -> dict[str, tuple[MadeEpisode, ...]]:
    """Make the episodes of all agents."""
    return {agent: made(agent, seed=seed) for agent in AGENTS}


def _episode(
    agent: str, at: int, thing: str, matter: str, details: Sequence[str], chance: random.Random
) -> MadeEpisode:
    day = (_FIRST_DAY + timedelta(days=at)).isoformat()
    (one, one_later), (two, two_later) = thing.split(":"), matter.split(":")
    series = NUMBERED.get(agent)
    slug = series.format(at + 1) if series is not None else f"{one}-{two}-{details[0]}"
    topic = f"{slug.replace('-', ' ')} {one} {two} {' '.join(details)}"
    words = [one_later, two_later, chance.choice(details)]
    ask = chance.choice(_ASKS).format(*words)
    if series is not None and chance.random() < 0.5:  # half of them come back to the number
        ask = f"{slug.rpartition('-')[0].replace('-', ' ')} {at + 1}: what came out of it in the end?"
    said = (
        f"{slug}: please look at the {one}, it has trouble with {two} since {details[0]}.",
        f"The {one} fails in {two}; I looked at {details[1]} and {details[2]}.",
        f"Then let's use {details[1]} for the {one}.",
        f"Decision: the {two} of the {one} goes through {details[1]}. Pending: check {details[2]}.",
    )
    return MadeEpisode(agent, f"{day}-{slug}", f"made:{agent}-{at}", day, topic, said, ask)
