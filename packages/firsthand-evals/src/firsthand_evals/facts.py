"""What the cases of `firsthand_evals.cases` are about: templates of facts, of rules, and of common knowledge.

In a template ``{c}`` stands for a made-up component and ``{v}`` for a made-up value, so
that no reader can know them. A topic is a set of words that a reader of English ties
to each other ("dumps" and "backup"): a search by words cannot, and the scripted reader
can. The invariant, which a test checks: a question that is told in other words shares
no word with what it asks for.

It knows no store and no case; it is data.
"""

from __future__ import annotations

from firsthand.value import value

NUMBER, PATH, HASH, NAME = "number", "path", "hash", "name"
"""Sorts of value that a case asks for."""

COMPONENTS = (
    "borealis", "quillon", "tamarack", "zephyrine", "ostrava", "marlowe", "kestrel", "vantor", "ilmarin", "pellucid",
    "drumlin", "saffron", "halcyon", "obsidian", "larkspur", "juniper", "corvid", "nimbus", "palisade", "thistle",
)  # fmt: skip


@value
class Fact:
    """One thing of a system that only its own people know.

    Attributes:
        wanted: which sort of value it has.
        told: what somebody says; ``printed``: what a command prints instead.
        moved: what is said when the value has changed.
        asked: a question in three phrasings; ``other``: in other words, without the component.
        topic: words that tie the other words to what was told.
        belief: what a reader who was told nothing takes for true; empty for no idea.
    """

    wanted: str
    told: str
    printed: str
    moved: str
    asked: tuple[str, ...]
    other: tuple[str, ...]
    topic: str
    belief: str = ""


@value
class Rule:
    """A procedure that was learned from a failure.

    Attributes:
        text: speaks of none of the situations.
        learned: the request it was learned in.
        again: a like request, told by another person in partly the same words; ``other``: in none of them.
        topic: words that tie a request to the text.
        belief: the step that a reader takes who was told no rule.
    """

    text: str
    learned: str
    again: tuple[str, ...]
    other: tuple[str, ...]
    topic: str
    belief: str


@value
class Common:
    """What every reader knows, and what a memory may hold that looks like it.

    Attributes:
        asked: a question in three phrasings.
        right: its answer.
        said: the same, as somebody says it.
        tempting: something of the user's own system that shares its words and has another value.
    """

    asked: tuple[str, ...]
    right: str
    said: str
    tempting: str


FACTS = (
    Fact(
        NUMBER,
        "The staging database of {c} listens on port {v}, since the usual one was taken.",
        "{c} staging database: listening on port {v}",
        "From now on the staging database of {c} listens on port {v}.",
        (
            "Which port does the staging database of {c} listen on?",
            "I want to connect to the staging database of {c}. Which port is it?",
            "Tell me the port of the staging database of {c}.",
        ),
        ("Through which socket number do I reach preproduction Postgres?", "Preproduction Postgres: which socket?",
         "I have to open preproduction Postgres. Which socket?"),
        "staging preproduction database postgres port socket", "5432",
    ),
    Fact(
        PATH,
        "The nightly backup of {c} is written to {v} on the spare machine.",
        "nightly backup of {c} written to {v}",
        "The nightly backup of {c} is now written to {v} instead.",
        (
            "Where is the nightly backup of {c} written to?",
            "I need the nightly backup of {c}. Where is it?",
            "To which file does the nightly backup of {c} go?",
        ),
        ("Where do dumps end up while we sleep?", "I want to see yesterday's dumps. Where are they?",
         "Yesterday's dumps: in which place?"),
        "nightly backup written dumps yesterday sleep", "/var/backups/latest.tar.gz",
    ),
    Fact(
        HASH,
        "Commit {v} broke the upload of {c}: it took the retry out.",
        "bisect: {v} is the first bad commit (upload of {c})",
        "We looked again: commit {v} broke the upload of {c}, the other one was innocent.",
        (
            "Which commit broke the upload of {c}?",
            "The upload of {c} was broken by a commit. By which one?",
            "Name the commit that broke the upload of {c}.",
        ),
        ("Which change made sending files fail?", "Sending files fails since which change?",
         "Name the change after which sending files fails."),
        "commit change broke fail fails upload sending files",
    ),
    Fact(
        PATH,
        "After a reboot {c} comes back through {v}; the launch agent runs it.",
        "launch agent of {c} after reboot: {v}",
        "After a reboot {c} comes back through {v} now; the old script is gone.",
        (
            "How does {c} come back after a reboot? Name the script.",
            "Which script brings {c} back after a reboot?",
            "We had a reboot. Through which script does {c} come back?",
        ),
        ("There was a power cut. What brings everything up?", "What starts everything when power returns?",
         "Power is on again. What starts everything?"),
        "reboot power cut comes back starts brings launch script returns", "/etc/init.d/start.sh",
    ),
    Fact(
        NAME,
        "The new checkout of {c} hides behind the flag `{v}`.",
        "flag {v}: new checkout of {c} (off)",
        "The flag of the new checkout of {c} is called `{v}` now.",
        (
            "Behind which flag does the new checkout of {c} hide?",
            "Which flag turns on the new checkout of {c}?",
            "What is the flag of the new checkout of {c} called?",
        ),
        ("What must be toggled to see redesigned payment?", "Redesigned payment: which toggle?",
         "What do you toggle for redesigned payment?"),
        "flag toggle toggled checkout payment new redesigned", "new-checkout-1",
    ),
    Fact(
        NAME,
        "Failed invoices of {c} land in the queue `{v}`.",
        "queue {v}: failed invoices of {c}",
        "Failed invoices of {c} land in the queue `{v}` from today on.",
        (
            "In which queue do failed invoices of {c} land?",
            "Where do failed invoices of {c} land?",
            "Name the queue for failed invoices of {c}.",
        ),
        ("Where are bills put that could not be handled?", "Bills that could not be handled: where are those?",
         "Show me where unhandled bills are."),
        "queue land put failed handled unhandled invoices bills", "dead-letter-1",
    ),
    Fact(
        NUMBER,
        "We decided that the importer of {c} gives up after {v} seconds.",
        "importer of {c}: gives up after {v} seconds",
        "We decided anew: the importer of {c} gives up after {v} seconds.",
        (
            "After how many seconds does the importer of {c} give up?",
            "When does the importer of {c} give up, in seconds?",
            "How many seconds has the importer of {c} before it gives up?",
        ),
        ("How long until loading is abandoned?", "Loading is abandoned at what time limit?",
         "What time limit has loading?"),
        "importer loading gives give up abandoned seconds long time limit", "30",
    ),
    Fact(
        PATH,
        "The certificate of {c} lies in {v}.",
        "certificate of {c}: {v}",
        "The certificate of {c} moved, it lies in {v}.",
        (
            "Where does the certificate of {c} lie?",
            "In which file is the certificate of {c}?",
            "I have to renew the certificate of {c}. Where is it?",
        ),
        ("Where is TLS material kept?", "TLS material: where do we have it?", "Show me where TLS material is."),
        "certificate tls material lies kept", "/etc/ssl/cert.pem",
    ),
    Fact(
        HASH,
        "Migration {v} gave {c} its tenant column.",
        "applied migration {v}: tenant column, {c}",
        "The tenant column of {c} was redone: it is migration {v}.",
        (
            "Which migration gave {c} its tenant column?",
            "The tenant column of {c}: by which migration?",
            "Name the migration with the tenant column of {c}.",
        ),
        ("Which schema change introduced a customer field?", "A customer field was introduced: by which schema change?",
         "What schema change has a customer field?"),
        "migration schema change tenant customer column field",
    ),
    Fact(
        NAME,
        "The latency of {c} is on the dashboard `{v}`.",
        "dashboard {v}: latency of {c}",
        "The latency of {c} is on the dashboard `{v}` since the redesign.",
        (
            "On which dashboard is the latency of {c}?",
            "Which dashboard shows the latency of {c}?",
            "I want to see the latency of {c}. Which dashboard is it?",
        ),
        ("Where can I see how slow it answers?", "How slow does it answer? Where can I look?",
         "I want to look how slow it answers."),
        "latency slow answers answer dashboard see look",
    ),
    Fact(
        NUMBER,
        "The API of {c} takes at most {v} requests a minute from one client.",
        "API limit of {c}: {v} requests a minute",
        "The API of {c} takes at most {v} requests a minute from one client after the change.",
        (
            "How many requests a minute does the API of {c} take from one client?",
            "What is the limit of requests a minute for the API of {c}?",
            "How many requests a minute are allowed by the API of {c}?",
        ),
        ("How often may somebody call us before being throttled?", "Throttled callers: from which rate?",
         "At which rate is somebody throttled?"),
        "requests minute limit often call callers throttled rate", "60",
    ),
    Fact(
        PATH,
        "The worker of {c} logs to {v}.",
        "worker of {c} logs to {v}",
        "The worker of {c} logs to {v} since we split it.",
        (
            "Where does the worker of {c} log to?",
            "To which file does the worker of {c} log?",
            "I look for the file that the worker of {c} logs to.",
        ),
        ("In what place does a background process report?", "Background process: where does it report?",
         "I have to read what a background process reports."),
        "worker background process logs log report reports", "/var/log/syslog",
    ),
)  # fmt: skip

RULES = (
    Rule(
        "Rows that are rewritten in bulk: execute `{v}` ahead of everything else and wait for its report.",
        "Please backfill the birthdays of all customers in the live table.",
        ("Can you backfill missing phone numbers of our customers in the live table? What is your opening step?",
         "Somebody has to backfill titles of customers, live. Which step opens?",
         "Backfill the salutations of live customers. How do you begin?"),
        ("I want country codes filled in for each supplier tonight. How do you begin?",
         "Fill in VAT ids of our suppliers. Which step opens?",
         "Suppliers lack a region; fill it in. What is your opening step?"),
        "rows rewritten bulk backfill fill filled customers suppliers supplier", "dump-all-1",
    ),
    Rule(
        "Deleting for good: `{v}` must have passed ahead of it.",
        "The disk of the archive host is full, free some space there.",
        ("The archive host has a full disk again, free something. How do you begin?",
         "Free space on the archive host, its disk is full. Which step opens?",
         "Archive host: disk full. What is your opening step?"),
        ("df shows 100 percent on our old machine; make room. How do you begin?",
         "Our old machine has no room left. Which step opens?",
         "Make room on our old machine. What is your opening step?"),
        "deleting disk full free space room df", "rm-tmp-1",
    ),
    Rule(
        "A leaked credential: call `{v}` ahead of any replacement.",
        "I pasted the API token into the public channel by mistake.",
        ("Somebody pasted a token into the public channel. How do you begin?",
         "The token was pasted in a channel where all can read. Which step opens?",
         "By mistake a token stands in the public channel. What is your opening step?"),
        ("My key is visible on a screenshot that went to our client. How do you begin?",
         "Our password stands in a video on the web. Which step opens?",
         "My key was printed on a poster. What is your opening step?"),
        "leaked credential token pasted public key password visible screenshot video poster printed", "rotate-key-1",
    ),
    Rule(
        "Deployments near a holiday: get `{v}` signed ahead of them.",
        "Ship the new pricing page on Friday evening before the long weekend.",
        ("Ship the pricing table on Friday, a long weekend follows. How do you begin?",
         "Friday evening, ship the page with new prices. Which step opens?",
         "The long weekend comes; ship pricing. What is your opening step?"),
        ("It is 23 December; put vouchers online. How do you begin?",
         "Tomorrow is Christmas, publish our banner. Which step opens?",
         "Put the voucher code online on Christmas Eve. What is your opening step?"),
        "deployments holiday ship friday weekend december christmas eve online publish", "run-tests-1",
    ),
    Rule(
        "Nondeterministic checks: reproduce with `{v}` ahead of any edit.",
        "test_sync fails about every tenth time on the runner.",
        ("test_login fails about every tenth time. How do you begin?",
         "On the runner test_mail fails every tenth time. Which step opens?",
         "Every tenth time test_cart fails. What is your opening step?"),
        ("CI is red, then green when I press retry. How do you begin?",
         "The pipeline is red at night and green by day. Which step opens?",
         "Sometimes CI is red for no reason. What is your opening step?"),
        "nondeterministic checks reproduce fails tenth ci red green sometimes pipeline", "rerun-tests-1",
    ),
    Rule(
        "Regressions of speed: collect `{v}` ahead of any optimising.",
        "The search page takes nine seconds since Monday.",
        ("The search page takes ten seconds, since Monday. How do you begin?",
         "Since Monday search takes nine seconds. Which step opens?",
         "Nine seconds for the search page. What is your opening step?"),
        ("Clients complain that our overview hardly loads. How do you begin?",
         "Our overview crawls. Which step opens?",
         "It hangs when clients open our overview. What is your opening step?"),
        "regressions speed optimising seconds search overview loads crawls hangs takes", "add-index-1",
    ),
    Rule(
        "A major version of a dependency: put it through `{v}` ahead of the lockfile.",
        "Move us from Django 4 to Django 5.",
        ("Move us from Django 5 to Django 6. How do you begin?",
         "Django 6 is out, move us there. Which step opens?",
         "We move to Django 6. What is your opening step?"),
        ("React 20 was announced, we want it. How do you begin?",
         "Let us have React 20. Which step opens?",
         "We want React 20 this week. What is your opening step?"),
        "major version dependency django react move", "pip-upgrade-1",
    ),
    Rule(
        "Disclosure of personal data: `{v}` comes ahead of any file.",
        "A customer wants everything that we know about her.",
        ("A customer wants to see everything that we know about him. How do you begin?",
         "What do we know about her? The customer wants everything. Which step opens?",
         "One customer wants everything we know. What is your opening step?"),
        ("Mr Weber demands his records under GDPR. How do you begin?",
         "A GDPR letter: Mrs Weber demands her records. Which step opens?",
         "GDPR: somebody demands his records. What is your opening step?"),
        "disclosure personal data customer know everything gdpr records demands", "export-user-1",
    ),
    Rule(
        "Calendar arithmetic: validate against `{v}` ahead of writing code.",
        "The reminders went out an hour late after the clocks changed.",
        ("After the clocks changed reminders go out an hour early. How do you begin?",
         "Reminders are an hour late. The clocks changed. Which step opens?",
         "The clocks changed, and an hour is lost in reminders. What is your opening step?"),
        ("Users in Lisbon get invitations for midnight. How do you begin?",
         "Invitations in Lisbon are for yesterday. Which step opens?",
         "Lisbon gets wrong invitations, at midnight. What is your opening step?"),
        "calendar arithmetic hour late clocks lisbon midnight invitations yesterday", "set-utc-1",
    ),
    Rule(
        "Incidents: open `{v}` ahead of any diagnosis.",
        "The shop answers 502 for everybody.",
        ("The shop answers 502 again. How do you begin?",
         "Everybody gets a 502 from the shop. Which step is next?",
         "The shop answers everybody with 502. What is your opening step?"),
        ("Nobody can check out right now. How do you begin?",
         "Payment is dead for all visitors. Which step is next?",
         "No visitor can pay. What do you begin with?"),
        "incidents diagnosis 502 answers everybody nobody dead check pay payment visitor visitors", "restart-web-1",
    ),
)  # fmt: skip


def _how_many(what: str, whole: str, number: str, tempting: str, *, of: str = "in") -> Common:
    """Ask how many of something a whole has."""
    begun = whole[0].upper() + whole[1:]
    asked = (
        f"How many {what} does {whole} have?", f"{begun} has how many {what}?", f"Number of {what} {of} {whole}?",
    )  # fmt: skip
    return Common(asked, number, f"{begun} has {number} {what}.", tempting)


COMMON = (
    Common(("Which port does HTTPS use by default?", "What is the default port of HTTPS?",
            "HTTPS: which default port?"),
           "443", "HTTPS uses port 443 by default.", "HTTPS of {c} does not use the default: its port is {v}."),
    Common(("Which port does SSH use by default?", "What is the default port of SSH?", "SSH: which default port?"),
           "22", "SSH uses port 22 by default.", "SSH on {c} does not use the default: its port is {v}."),
    Common(("Which port does PostgreSQL use by default?", "What is the default port of PostgreSQL?",
            "PostgreSQL: which default port?"),
           "5432", "PostgreSQL uses port 5432 by default.", "PostgreSQL on {c} has no default: port {v} it is."),
    Common(("Which HTTP status code says that a page was not found?",
            "What is the HTTP status code for a page not found?",
            "A page was not found: which HTTP status code is that?"),
           "404", "The HTTP status code for a page not found is 404.",
           "For a page that was not found {c} gives the HTTP status code {v}."),
    Common(("Which HTTP status code says that all went well?", "What is the usual HTTP status code of success?",
            "Success: which HTTP status code is that?"),
           "200", "The usual HTTP status code of success is 200.",
           "The gateway {c} gives the HTTP status code {v} on success."),
    Common(("Which HTTP status code is an internal server error?", "An internal server error: which HTTP status code?",
            "What HTTP status code has an internal server error?"),
           "500", "An internal server error has the HTTP status code 500.",
           "An internal server error of {c} has the HTTP status code {v}."),
    _how_many("bits", "a byte", "8", "A byte on the wire of {c} has {v} bits."),
    _how_many("seconds", "a minute", "60", "A minute of the simulator {c} has {v} seconds."),
    _how_many("hours", "a day", "24", "A day of the scheduler {c} has {v} hours."),
    _how_many("days", "a week", "7", "A week in the plans of {c} has {v} days."),
    _how_many("months", "a year", "12", "A year in the books of {c} has {v} months."),
    _how_many("letters", "the English alphabet", "26", "The alphabet for ids of {c} has {v} letters, English ones."),
    _how_many("legs", "a spider", "8", "The logo of {c} is a spider and has {v} legs.", of="of"),
    _how_many("sides", "a hexagon", "6", "The hexagon widget of {c} is drawn with {v} sides.", of="of"),
    _how_many("degrees", "a right angle", "90", "A right angle is drawn by {c} with {v} degrees."),
    _how_many("years", "a century", "100", "A century in the archive {c} has {v} years."),
    Common(("At how many degrees Celsius does water boil?", "Water boils at how many degrees Celsius?",
            "Boiling point of water in degrees Celsius?"),
           "100", "Water boils at 100 degrees Celsius.", "Water in the cooler {c} boils at {v} degrees Celsius."),
    _how_many("minutes", "an hour", "60", "An hour in the billing of {c} has {v} minutes."),
)  # fmt: skip


def topics() -> tuple[frozenset[str], ...]:
    """Give the sets of words that a reader of English ties to each other."""
    return tuple(frozenset(one.topic.split()) for one in (*FACTS, *RULES))
