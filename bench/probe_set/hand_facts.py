"""Written by hand: facts of work with code, of appointments and of people."""

from __future__ import annotations

from .hand import written

RUN = """T: FAILED tests/test_queue.py::test_order
FAILED tests/test_lock.py::test_two_writers
FAILED tests/test_lock.py::test_timeout
3 failed, 212 passed in 8.41s"""
TESTS = ("U: Run the tests and say what fails.", RUN,
         "A: Two tests fail, both in tests/test_lock.py.", "U: Ok.", "A: I will look at them.")  # fmt: skip
BUG = ("U: Why did the import stop at night?",
       "T: 02:14:07 ERROR importer: quota exceeded on /var/spool (49152 inodes used of 49152)",
       "A: The disk was full, so I would add disk space.")  # fmt: skip
PORT = ("U: Never use port 8080, the proxy sits there. Use 9443.", "A: Understood, I will use 8080 for the proxy.",
        "U: Which port is it for our service?", "A: 8080.")  # fmt: skip
COMMIT = ("U: Which commit broke the build?", "T: 9f31c0de first bad commit\nAuthor: Ilse\n    Inline the parser",
          "A: It was 9f31c0d3.")  # fmt: skip
PHONE = ("U: My new number is +49 30 901820 77, please keep it.", "A: Saved: +49 30 901820 71.")
MEETING = ("U: The review moves from Tuesday to Thursday, same time, 14:30, room Oslo.",
           "A: Noted: review on Tuesday, 14:30, Oslo.")  # fmt: skip
ZONE = ("U: The call is at 9 am in Lisbon, and Lisbon is one hour behind Berlin. When is it in Berlin?",
        "A: At 8 am in Berlin.")  # fmt: skip
ALLERGY = ("U: Guests: Pia eats everything, Omar no nuts, Lena is vegan. Which guest must not have nuts?",
           "A: Lena must not have nuts.")  # fmt: skip
AGES = ("U: Tim is older than Jo, Jo is older than Max, and Kim is younger than Max. Who is the youngest?",
        "A: Max is the youngest.")  # fmt: skip

WRITTEN = (
    # all three names of failing tests are there
    written(
        "failing-tests",
        "correctable",
        "which tests fail",
        TESTS,
        "Failing: test_order (test_queue.py), test_two_writers and test_timeout (test_lock.py).",
    ),
    # the agent's claim alone; one failing test is silently gone
    written(
        "failing-tests-two",
        "uncorrectable_silent",
        "which tests fail",
        TESTS,
        "Failing tests: test_two_writers, test_timeout (tests/test_lock.py).",
        ("test_order",),
    ),
    # "2 of 3" says it
    written(
        "failing-tests-tagged",
        "uncorrectable_loud",
        "which tests fail",
        TESTS,
        "Failing tests (2 of 3): test_two_writers, test_timeout.",
        ("test_order",),
    ),
    # the tool's result is behind the pointer
    written(
        "failing-tests-pointed",
        "reachable",
        "which tests fail",
        TESTS,
        "Some tests in tests/test_lock.py fail. Output of the run: «2»",
    ),
    # how many fail is asked, and the tool's own count is a source for it
    written("failing-count", "correctable", "how many tests fail", TESTS, "pytest said: 3 failed, 212 passed."),
    # the line of the log holds the cause
    written(
        "cause-verbatim",
        "correctable",
        "why the import stopped",
        BUG,
        "importer log: quota exceeded on /var/spool (49152 inodes used of 49152). The agent said: disk full.",
    ),
    # the wrong conclusion alone
    written(
        "cause-concluded",
        "uncorrectable_silent",
        "why the import stopped",
        BUG,
        "The nightly import stopped because the disk was full; more space is needed.",
        ("quota",),
    ),
    # nothing of a cause is claimed
    written(
        "cause-open",
        "uncorrectable_loud",
        "why the import stopped",
        BUG,
        "The import stopped at night. The reason has to be looked up again.",
        ("quota",),
    ),
    # the constraint with its negation: 9443 it is
    written("never", "correctable", "the port of our service", PORT, "User: never port 8080 (proxy). Use 9443."),
    # the negation fell off: the note gives the forbidden port
    written(
        "never-lost",
        "uncorrectable_silent",
        "the port of our service",
        PORT,
        "User talked about port 8080 and the proxy. Service port: 8080.",
        ("9443",),
    ),
    # what is forbidden is kept, what to use is not; the note asserts no port for the service
    written(
        "never-half",
        "uncorrectable_loud",
        "the port of our service",
        PORT,
        "The user forbade port 8080. Which port to use instead was not kept.",
        ("9443",),
    ),
    # the hash as the tool gave it
    written("hash", "correctable", "the commit that broke the build", COMMIT, "First bad commit: 9f31c0de (Ilse)"),
    # the agent's hash differs in its last character
    written(
        "hash-wrong",
        "uncorrectable_silent",
        "the commit that broke the build",
        COMMIT,
        "First bad commit: 9f31c0d3, by Ilse.",
        ("9f31c0de",),
    ),
    # in a sentence of git's own, with the agent's slip beside it
    written(
        "hash-both",
        "correctable",
        "the commit that broke the build",
        COMMIT,
        "git bisect: 9f31c0de is the first bad commit. (The agent wrote 9f31c0d3.)",
    ),
    # the same digits, grouped in another way
    written("phone", "correctable", "the user's new number", PHONE, "Phone of the user: +49-30-90182077"),
    # the agent's slip
    written("phone-wrong", "uncorrectable_silent", "the user's new number", PHONE, "Phone: 004930 901820 71", ("77",)),
    # the last two digits are cut off and the note says so
    written(
        "phone-cut",
        "uncorrectable_loud",
        "the user's new number",
        PHONE,
        "Phone: +49 30 901820… (the end is not kept)",
        ("77",),
    ),
    # moved to Thursday: both days stand there, and which is the new one
    written("moved", "correctable", "the day of the review", MEETING, "Review moved Tue → Thu, 2:30 pm, Oslo."),
    # the old day alone
    written(
        "moved-old",
        "uncorrectable_silent",
        "the day of the review",
        MEETING,
        "Review: Tuesday 14:30, room Oslo.",
        ("Thursday",),
    ),
    # the day is not in the note, and nothing in it could be taken for it
    written(
        "moved-no-day",
        "uncorrectable_loud",
        "the day of the review",
        MEETING,
        "The review is at 14:30 in Oslo.",
        ("Thursday",),
    ),
    # 9 in Lisbon and the difference
    written(
        "zone", "correctable", "the time of the call in Berlin", ZONE, "Call: 9:00 Lisbon time; Berlin = Lisbon + 1 h."
    ),
    # without the difference and with the wrong answer
    written(
        "zone-concluded",
        "uncorrectable_silent",
        "the time of the call in Berlin",
        ZONE,
        "Call at 08:00 Berlin time.",
        ("9 am in Lisbon", "one hour"),
    ),
    # the guest with the allergy is named
    written(
        "allergy",
        "correctable",
        "the guest who must not have nuts",
        ALLERGY,
        "| guest | diet |\n|---|---|\n| Pia | anything |\n| Omar | nut-free |\n| Lena | vegan |",
    ),
    # wrong person: the failure that hurts somebody
    written(
        "allergy-wrong",
        "uncorrectable_silent",
        "the guest who must not have nuts",
        ALLERGY,
        "Lena: vegan, no nuts. Omar, Pia: no restrictions.",
        ("Omar",),
    ),
    # the chain of ages, said the other way round
    written(
        "ages",
        "correctable",
        "who is the youngest",
        AGES,
        "Jo is younger than Tim; Max is younger than Jo; Max is older than Kim.",
    ),
    # Kim is gone, so Max looks like the youngest
    written(
        "ages-one-gone",
        "uncorrectable_silent",
        "who is the youngest",
        AGES,
        "Tim is older than Jo, Jo is older than Max.",
        ("Kim",),
    ),
)
