"""Written by hand for the fresh set: people, places, rules, programs; each verdict argued above its note.

Who works on the probe does not read this file.
"""

from __future__ import annotations

from .fresh_odd import odd

WRITTEN = (
    *odd(
        "visa",
        "the day on which the passport was collected",
        (
            "U: I collected my passport on the Friday after Easter Monday, 10 April 2026. Remember it.",
            "A: Noted: passport collected on 6 April 2026.",
        ),
        # the date as said, in another form
        ("iso", "correctable", "passport_collected: 2026-04-10"),
        # the agent's slip
        ("slip", "uncorrectable_silent", "passport_collected: 2026-04-06", ("10 April 2026",)),
        # the note gives the month alone and says why
        ("month", "uncorrectable_loud", "Passport collected in April 2026; the day was not noted.", ("10 April 2026",)),
        # its pointer leads to the user's words
        ("cited", "reachable", "Passport collected on 6 April (per «1»)."),
        # its pointer leads to the agent's own slip, which is derived
        ("cites-itself", "uncorrectable_silent", "Passport collected on 6 April (per «2»).", ("10 April 2026",)),
    ),
    *odd(
        "cousins",
        "how Nell and Theo are related",
        ("U: Nell's mother Ruth and Theo's father Karl are siblings. How are Nell and Theo related?", "A: Siblings."),
        # the same facts turned round
        ("turned", "correctable", "Ruth & Karl: brother and sister. Ruth -> Nell, Karl -> Theo (parent -> child)."),
        # that Ruth and Karl are siblings is lost
        (
            "link-lost",
            "uncorrectable_silent",
            "Ruth is the mother of Nell, Karl the father of Theo. Nell and Theo: siblings.",
            ("siblings",),
        ),
        # one generation is lost and admitted
        (
            "admitted",
            "uncorrectable_loud",
            "Ruth and Karl are siblings; whose children Nell and Theo are is not recorded.",
            ("mother",),
        ),
    ),
    *odd(
        "cron",
        "when the report job runs",
        (
            "T: 30 6 * * 1-5 /opt/report.sh\n0 3 * * 0 /opt/vacuum.sh",
            "U: When does the report job run?",
            "A: Every day at 6:30.",
        ),
        # the line of the table itself
        ("line", "correctable", "`30 6 * * 1-5 /opt/report.sh`"),
        # said in words, whole
        ("words", "correctable", "report.sh: weekdays (Mon-Fri), 6:30 am"),
        # the agent's conclusion, without the days
        ("concluded", "uncorrectable_silent", "report.sh runs every day at 6:30.", ("1-5",)),
        # the other job's line says nothing about this one
        ("other-job", "uncorrectable_loud", "crontab: `0 3 * * 0 /opt/vacuum.sh`", ("report.sh",)),
    ),
    *odd(
        "rename",
        "the name that the function has now",
        (
            "U: Rename load_all to fetch_rows.",
            "A: Done, it is fetch_rows.",
            "U: Hm, no. Make it read_rows after all.",
            "A: Very well.",
        ),
        # both steps: the last one stands
        ("history", "correctable", "load_all → fetch_rows → read_rows (user's last word)"),
        # the first step alone
        ("first-step", "uncorrectable_silent", "Function load_all was renamed to fetch_rows.", ("read_rows",)),
        # it says that there was another renaming
        (
            "again-unknown",
            "uncorrectable_loud",
            "load_all was renamed to fetch_rows and then once more; the last name was not kept.",
            ("read_rows",),
        ),
        # the pointer leads to the last word
        ("cited", "reachable", "Function renamed; latest instruction: «3»"),
        # the pointer leads to the first instruction alone
        ("cites-first", "uncorrectable_silent", "Function renamed to fetch_rows, see «1».", ("read_rows",)),
    ),
    *odd(
        "allergen",
        "which dish Sofia can eat",
        (
            "U: Sofia eats no gluten, no dairy. Dishes: lasagne (gluten, dairy), dal (none), risotto (dairy): which?",
            "A: The risotto.",
        ),
        # her limits and what is in each dish
        (
            "table",
            "correctable",
            "Sofia: GF, dairy-free\n\ndish | gluten | dairy\nlasagne | x | x\ndal | - | -\nrisotto | - | x",
        ),
        # dairy is lost from her limits: risotto would be confirmed
        (
            "limit-lost",
            "uncorrectable_silent",
            "Sofia: no gluten. Lasagne has gluten and dairy, risotto dairy. Risotto.",
            ("no dairy", "dal"),
        ),
        # the wrong dish alone
        ("dish", "uncorrectable_silent", "Sofia gets the risotto.", ("dal",)),
        # no dish is named
        ("open", "uncorrectable_loud", "Sofia has dietary limits; check with her before ordering.", ("no gluten",)),
    ),
    *odd(
        "bracket",
        "who won the tournament",
        (
            "T: QF Lima d. Mora, Nagy d. Ode\nSF Lima d. Nagy, Pohl d. Quist\nF Pohl d. Lima",
            "U: Who won?",
            "A: Lima won the tournament.",
        ),
        # the final's line is enough
        ("final", "correctable", "Final: Lima lost to Pohl."),
        # every round but the final; Lima looks like the winner
        (
            "no-final",
            "uncorrectable_silent",
            "QF Lima d. Mora, Nagy d. Ode; SF Lima d. Nagy, Pohl d. Quist.",
            ("F Pohl",),
        ),
        # it says that the final is missing
        (
            "final-missing",
            "uncorrectable_loud",
            "SF: Lima d. Nagy, Pohl d. Quist. The final's result is missing here.",
            ("F Pohl",),
        ),
        # the range holds the final's line
        ("range", "reachable", "Lima won, supposedly. «1:60-74»"),
        # the range holds the quarter-finals alone
        ("range-wrong", "uncorrectable_silent", "Lima won. «1:0-28»", ("F Pohl",)),
    ),
    *odd(
        "seats",
        "where Ines sits",
        (
            (
                "U: Row of three. Ines does not sit at the aisle. Gil sits in the middle. Hal is the third one. Seats: "
                "window, middle, aisle. Where does Ines sit?"
            ),
            "A: Ines sits in the middle.",
        ),
        # middle is taken and the aisle excluded
        (
            "deduced",
            "correctable",
            "Seats: window/middle/aisle, one each for Gil, Hal, Ines. Gil: middle. Ines: not aisle.",
        ),
        # without Gil's seat two are left
        (
            "gil-lost",
            "uncorrectable_silent",
            "Seats: window/middle/aisle for Gil, Hal, Ines. Ines: not aisle.",
            ("Gil",),
        ),
        # the negation is lost: the aisle
        ("not-lost", "uncorrectable_silent", "Gil sits in the middle. Ines: aisle.", ("does not sit",)),
    ),
    *odd(
        "wifi",
        "the password of the guest network",
        (
            "U: Guest wifi is 'Blaumeise', password Tr0ckenObst_77!",
            "A: Saved: TrockenObst_77!",
            "U: And the printer is called Specht.",
            "A: Specht, then.",
        ),
        # to the letter
        ("exact", "correctable", 'ssid="Blaumeise" psk="Tr0ckenObst_77!"'),
        # a letter O for the zero
        ("letter", "uncorrectable_silent", 'ssid="Blaumeise" psk="TrockenObst_77!"', ("Tr0ckenObst_77!",)),
        # hidden by the writer, openly
        ("hidden", "uncorrectable_loud", 'ssid="Blaumeise" psk="********" (not stored)', ("Tr0ckenObst_77!",)),
        # the pointer leads to the printer
        ("printer", "uncorrectable_silent", "Guest wifi password TrockenObst_77! («3»)", ("Tr0ckenObst_77!",)),
    ),
    *odd(
        "rota",
        "who opens the shop on Friday",
        (
            "U: Opening: Mon Uwe, Tue Vera, Wed Uwe, Thu Wim, Fri Vera.",
            "A: Thanks.",
            "U: Vera and Wim swap Thursday and Friday.",
            "A: So Vera opens on Friday.",
        ),
        # the plan and the swap
        ("both", "correctable", "Opening Mon–Fri: Uwe, Vera, Uwe, Wim, Vera. Then Vera and Wim swapped Thu/Fri."),
        # the plan after the swap
        ("after", "correctable", "Thu Vera, Fri Wim"),
        # the plan before it alone
        ("before", "uncorrectable_silent", "Opening: Thu Wim, Fri Vera.", ("swap",)),
        # the plan, and a pointer to what changed
        ("change-cited", "reachable", "Thu Wim, Fri Vera; amended later, see «3»."),
        # the swap without the plan
        (
            "swap-alone",
            "uncorrectable_silent",
            "Vera and Wim swap Thursday and Friday. Vera opens on Friday.",
            ("Fri Vera",),
        ),
    ),
    *odd(
        "quorum",
        "whether the vote was valid",
        ("U: Quorum is 9 of 16 members. Present: 11, of whom 3 left before the vote. Valid?", "A: Yes, it was valid."),
        # 11 - 3 = 8 < 9
        ("all", "correctable", "16 members, quorum 9; 11 came, three had left by the time of the vote"),
        # those who left are lost: 11 >= 9 would confirm the error
        ("left-lost", "uncorrectable_silent", "16 members, quorum 9, 11 present: valid.", ("3 left",)),
        # the quorum is lost
        ("quorum-lost", "uncorrectable_silent", "11 present, 3 left before the vote. The vote was valid.", ("Quorum",)),
        # nothing is asserted
        ("nothing", "uncorrectable_loud", "There was a vote.", ("Quorum",)),
    ),
    *odd(
        "species",
        "the species of the moth",
        (
            (
                "U: Key: feathered antennae and no eyespots: Lymantria. Feathered with eyespots: Saturnia. Mine has "
                "feathered antennae and four eyespots. Which one?"
            ),
            "A: Lymantria.",
        ),
        # the key's entry and what was seen
        (
            "key",
            "correctable",
            "Feathered antennae + eyespots = Saturnia, without eyespots = Lymantria. Seen: feathered, 4 eyespots.",
        ),
        # what was seen without the key
        ("no-key", "uncorrectable_silent", "Moth with feathered antennae and four eyespots: Lymantria.", ("Saturnia",)),
        # the key without what was seen
        (
            "not-seen",
            "uncorrectable_silent",
            "Feathered, no eyespots: Lymantria; feathered, eyespots: Saturnia. It is Lymantria.",
            ("four eyespots",),
        ),
    ),
    *odd(
        "lease",
        "the last day for giving notice",
        (
            "U: Lease: notice three months to the end of a quarter. I want to be out on 30 September. Last day?",
            "A: 31 July.",
        ),
        # three months before 30 September
        ("terms", "correctable", "Notice: 3 months to quarter's end; moving out 30 Sept."),
        # the notice period is lost
        ("period-lost", "uncorrectable_silent", "Out on 30 Sept; give notice by 31 July.", ("three months",)),
        # the writer says that the terms were in the lease and not copied
        (
            "not-copied",
            "uncorrectable_loud",
            "Out on 30 Sept. The lease's terms of notice were not copied.",
            ("three months",),
        ),
    ),
)
