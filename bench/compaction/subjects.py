"""What the generated traces talk about: things with a name and a description that shares no word with it."""

from __future__ import annotations

SUBJECTS: dict[str, str] = {
    "invoice-exporter": "the part that writes out bills",
    "session-broker": "the thing that hands logins around",
    "thumbnailer": "the component shrinking pictures",
    "geo-resolver": "the lookup from addresses to coordinates",
    "ledger-sync": "the job copying bookings between the two banks",
    "mail-relay": "the box that sends our letters on",
    "quota-keeper": "the counter of how much each customer may use",
    "search-indexer": "the crawler filling the catalogue lookup",
    "backup-runner": "the nightly copier of disks",
    "feature-flags": "the switchboard for half-finished work",
    "payment-gateway": "the door to the card companies",
    "audit-trail": "the record of who touched what",
    "image-proxy": "the cache in front of photos",
    "rate-limiter": "the brake on noisy clients",
    "webhook-fanout": "the spreader of callbacks to partners",
    "schema-registry": "the shelf of record layouts",
    "token-minter": "the maker of short-lived credentials",
    "report-builder": "the thing drawing monthly charts",
    "stream-joiner": "the merger of click and order feeds",
    "config-loader": "the reader of settings at boot",
    "job-scheduler": "the clock that starts batch work",
    "pdf-renderer": "the typesetter of printable pages",
    "chat-gateway": "the bridge to the support talk window",
    "metrics-agent": "the collector of gauges on each host",
    "dns-updater": "the writer of host names",
    "inventory-cache": "the fast copy of stock levels",
    "tax-engine": "the calculator of duties",
    "upload-scanner": "the virus check for incoming files",
}

OTHERS: tuple[str, ...] = (
    "fraud-scorer", "label-printer", "map-tiler", "order-router", "password-vault", "price-feed", "queue-drainer",
    "refund-worker", "shard-balancer", "sms-sender", "theme-compiler", "video-encoder", "voucher-desk", "wiki-mirror",
)  # fmt: skip
"""Distractors: the same things are said of these, all through the flood, with other strings."""

CAUSES = ("lease of", "clock of", "spare disk in", "licence for", "old kernel on", "second replica of")
OUTCOMES = ("had run out", "was set back", "had filled up", "was counted twice", "was never renewed", "went unread")
REGIONS = ("north", "west", "delta", "harbor", "lake", "summit")
FOLDERS = ("srv", "opt", "var", "mnt", "run")
SETTINGS = ("pool_size", "batch_rows", "retry_ms", "max_lag", "fan_out", "ttl_s", "page_kb")
FLAGS = ("eager-flush", "lazy-open", "skip-fsync", "wide-rows", "pin-cores", "no-readahead")

# kind, statement, question in its own words, question in other words: {s} the subject, {d} its description,
# {v} the needle. "ticket" and "patch" make the pairs of the two-step questions, where {t} is the ticket.
TEMPLATES: tuple[tuple[str, str, str, str], ...] = (
    ("hash", "The build of {s} that passed the load test is {v}.",
     "Which build of {s} passed the load test?", "Under stress, what revision of {d} held up?"),
    ("hash", "Roll {s} back to {v} if the canary turns red.",
     "To what do we roll {s} back if the canary turns red?",
     "Where does {d} return to when the first machines look bad?"),
    ("path", "The secrets of {s} are mounted at {v}.",
     "Where are the secrets of {s} mounted?", "In what folder does {d} find its credentials?"),
    ("path", "{s} writes its crash dumps to {v}.",
     "Where does {s} write its crash dumps?", "When {d} dies, which directory gets the core image?"),
    ("parameter", "For {s} we settled on {v} after the third try.",
     "What did we settle on for {s} after the third try?", "Which setting was finally chosen for {d}?"),
    ("parameter", "Only with {v} does {s} start in under a second.",
     "With what does {s} start in under a second?", "What makes {d} boot fast?"),
    ("cause", "{s} failed because the {v}.", "Because of what did {s} fail?", "What brought down {d}?"),
    ("cause", "The retry storm in {s} began because the {v}.",
     "Why did the retry storm in {s} begin?", "What was behind the flood of repeated calls at {d}?"),
    ("negative", "Turning on {v} did not help {s} at all.",
     "Turning on what did not help {s} at all?", "Which switch turned out useless for {d}?"),
    ("negative", "There is no mirror of {s} in {v}.",
     "Where is there no mirror of {s}?", "In which region would one look in vain for a copy of {d}?"),
    ("time", "{s} went down at {v}.", "When did {s} go down?", "At what moment was {d} lost?"),
    ("time", "The certificate of {s} runs out at {v}.",
     "When does the certificate of {s} run out?", "Until when may {d} still show its TLS papers?"),
)  # fmt: skip
TICKET = (
    "ticket",
    "The incident on {s} was filed as {v}.",
    "As what was the incident on {s} filed?",
    "Under which number did the trouble with {d} go into the tracker?",
)
PATCH = (
    "path",
    "For {t}, apply {v} and restart.",
    "What do we apply and then restart for {t}?",
    "What holds the repair of {t}?",
)
TWO_STEP = "Which file repairs the incident on {s}?"
"""Shares no word but the subject's with the second statement: only the ticket leads from one to the other."""
