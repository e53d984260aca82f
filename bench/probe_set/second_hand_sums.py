"""Written by hand for the second set: sums, measures and dates in odd words.

Who works on the probe does not read this file.
"""

from __future__ import annotations

from fractions import Fraction

from .second_hand import subject

WRITTEN = (
    *subject(
        "eggs",
        "how many eggs are left",
        (
            (
                "U: We got two trays of thirty eggs and a dozen more. Seven were cracked and thrown out, nine "
                "went into "
                "the "
                "cake. What is left?"
            ),
            "A: 63 eggs are left.",
        ),
        "trays * 30 + dozen - cracked - cake",
        56,
        {
            "trays": (2, (3, 4), "two trays"),
            "dozen": (12, (10, 6), "a dozen"),
            "cracked": (7, (5, 9), "Seven"),
            "cake": (9, (4, 6), "nine"),
        },
        ("tray", "C", "trays dozen cracked cake", "", "60 eggs on trays, 12 loose; minus 7 broken, minus 9 for a cake"),
        (
            "careful",
            "C",
            "trays dozen cracked cake",
            "c",
            (
                "They started from two thirty-egg trays plus twelve. Out went the cracked ones (7) and what the cake "
                "took (9). "
                "The assistant had announced 63, which forgets the broken seven and something else."
            ),
        ),
        ("cake-lost", "S", "trays dozen cracked", "", "eggs: 2 trays (30 each) + 12, cracked 7"),
        (
            "split",
            "R",
            "trays dozen | cracked cake",
            "a",
            (
                "2x30 + 12 eggs came in; what went out again: «1~Seven were cracked and thrown out, nine went into the "
                "cake»"
            ),
        ),
        ("gone", "L", "trays", "a", "Eggs: two trays of 30. The other amounts slipped out of this memo."),
    ),
    *subject(
        "lakh",
        "the cost of the two machines in rupees",
        ("U: The lathe is 3.5 lakh rupees and the press 40,000. Together?", "A: Together 7,50,000 rupees."),
        "lathe + press",
        390_000,
        {"lathe": (350_000, (35_000, 530_000), "3.5 lakh"), "press": (40_000, (4_000, 400_000), "40,000")},
        ("indian", "C", "lathe press", "", "Lathe ₹3,50,000; press ₹40,000"),
        ("western", "C", "lathe press", "", "lathe: INR 350k / press: INR 40k"),
        ("digit", "S", "lathe=35_000 press", "", "Lathe ₹35,000 and press ₹40,000."),
        ("end", "R", "lathe | press", "a", "Lathe 3.5 lakh. The second price: «1~the press 40,000»"),
        ("price-missing", "L", "press", "a", "Press Rs 40,000. Lathe: price not noted."),
    ),
    *subject(
        "heights",
        "by how many inches Gus is taller than Moll",
        ("U: Gus is 6 ft 1 and Moll is 5 ft 4.", "A: So he is 7 inches taller."),
        "gus - moll",
        9,
        {"gus": (73, (72, 69), "6 ft 1"), "moll": (64, (66, 60), "5 ft 4")},
        ("marks", "C", "gus moll", "", "Gus 6'1\" / Moll 5'4\""),
        ("inches", "C", "gus moll", "c", "Gus: 73 in. Moll: 64 in. (I told them 7 inches.)"),
        ("one", "S", "gus", "c", "Gus (6 ft 1) is 7 inches taller than Moll."),
        ("other-foot", "S", "gus moll=76", "", "Gus is six foot one, Moll six foot four."),
        ("nothing", "L", "", "", "They compared heights, Gus's and Moll's."),
        ("line", "R", " | gus moll", "c", "7 inches, I said; heights as given in «1»"),
    ),
    *subject(
        "oven",
        "the oven temperature in degrees Celsius",
        (
            (
                "U: Gran's card says 350 Fahrenheit, and 20 degrees Celsius less for a fan oven, which mine is. "
                "What do "
                "I set, "
                "to the nearest degree?"
            ),
            "A: Set 177 degrees.",
        ),
        "(fahr - 32) * 5 / 9 - fan",
        Fraction(1590 - 180, 9),
        {"fahr": (350, (375, 325), "350 Fahrenheit"), "fan": (20, (15, 25), "20 degrees Celsius less")},
        ("card", "C", "fahr fan", "", "350 °F; fan oven: minus 20 °C"),
        ("fan-lost", "S", "fahr", "c", "Gran's card: 350 °F. 177 °C."),
        ("fan-open", "L", "fahr", "a", "350 °F on the card; there was an allowance for the fan, amount forgotten."),
        ("card-cited", "R", " | fahr fan", "c", "> oven 177 (her words «1»)"),
        ("swapped", "S", "fahr=305 fan", "", "card 305 °F, 20 °C less with fan"),
    ),
    *subject(
        "tide",
        "when the tide is high again",
        (
            "T: high water 05:52",
            "U: And it takes 12 hours 25 minutes until the next one, right? When is it?",
            "A: At 17:57.",
        ),
        "high + gap",
        18 * 60 + 17,
        {"high": (352, (372, 325), "05:52"), "gap": (745, (725, 370), "12 hours 25 minutes")},
        ("both", "C", "high gap", "", "HW 0552, interval 12h25m"),
        (
            "quarter",
            "C",
            "high gap",
            "",
            "High water at eight minutes to six in the morning; the next after 745 minutes.",
        ),
        ("interval-lost", "S", "high", "c", "high water 05:52 and 17:57"),
        ("two", "R", " | high gap", "", "Tide table «1», interval «2»."),
        ("first-alone", "S", " | high", "c", "Next high water 17:57 [«1»]"),
        ("honest", "L", "gap", "a", "12 h 25 min between high waters (the time of the first one fell off this memo)"),
    ),
    *subject(
        "map",
        "how many kilometres the walk is",
        ("U: On my 1:25,000 map the walk is 37 cm long. How far is that?", "A: 7.4 kilometres."),
        "cm * scale / 100000",
        Fraction(37, 4),
        {"cm": (37, (32, 73), "37 cm"), "scale": (25_000, (20_000, 50_000), "1:25,000")},
        ("mm", "C", "cm scale", "", "map 1 : 25 000, path 370 mm"),
        ("four", "C", "cm scale", "", "Four centimetres of the map are a kilometre; the walk measures 37 cm on it."),
        ("no-scale", "S", "cm", "c", "walk = 37cm on the map = 7.4km"),
        ("slip", "S", "cm scale=50_000", "", "37 cm at 1:50,000"),
        ("ask", "L", "", "a", "Distance of a walk from a map. Length and scale weren't kept; ask for both."),
        ("pointer", "R", "scale | cm", "a", "Scale 1:25,000. Length -> «1~the walk is 37 cm long»"),
    ),
    *subject(
        "legacy",
        "what the youngest gets",
        (
            "U: Of 84,000 the eldest gets half, the second a third, and the youngest the rest.",
            "A: The youngest gets 28,000.",
        ),
        "whole - whole * first - whole * second",
        14_000,
        {
            "whole": (84_000, (48_000, 90_000), "84,000"),
            "first": (Fraction(1, 2), (Fraction(2, 5),), "half"),
            "second": (Fraction(1, 3), (Fraction(1, 4),), "a third"),
        },
        ("shares", "C", "whole first second", "", "84k to share: eldest 1/2, second 1/3, youngest what remains"),
        (
            "amounts",
            "C",
            "whole first second",
            "c",
            "Estate 84,000. Eldest: one half. Second: one third. Youngest: remainder. (28,000 was my first answer.)",
        ),
        ("third-lost", "S", "whole first", "c", "84,000: half for the eldest, 28,000 for the youngest"),
        ("estate-lost", "L", "first second", "a", "Shares 1/2, 1/3 and the rest; of which sum was not written down"),
        ("will", "R", " | whole first second", "", "how it is shared: «1»"),
    ),
    *subject(
        "fine",
        "the library fine",
        ("U: Three books are 16 days late. The fine is 20 cents a book and day.", "A: That is 3.20 euros."),
        "books * days * cents",
        960,
        {"books": (3, (1, 2), "Three books"), "days": (16, (6, 14), "16 days"), "cents": (20, (25, 30), "20 cents")},
        ("ticket", "C", "books days cents", "", "LIB-7 | 3 vols overdue by 16 d | rate €0.20 per vol per d"),
        ("books-lost", "S", "days cents", "c", "16 days late at 20 ct a day: 3.20 euros"),
        (
            "rate-cited",
            "R",
            "books days | cents",
            "a",
            "3 books, 16 days overdue; rate at «1~The fine is 20 cents a book and day»",
        ),
        ("no-rate", "L", "books days", "a", "Three books, sixteen days late. What a day costs is not in here."),
    ),
    *subject(
        "phone",
        "the phone bill of May",
        (
            "T: plan S: 9 EUR a month, 120 minutes included, then 7 ct a minute",
            "U: I talked 310 minutes in May. The bill?",
            "A: 30.70 euros.",
        ),
        "fee + (talked - free) * cents / 100",
        Fraction(223, 10),
        {
            "fee": (9, (12, 5), "9 EUR"),
            "free": (120, (100, 60), "120 minutes"),
            "cents": (7, (9, 5), "7 ct"),
            "talked": (310, (301, 130), "310 minutes"),
        },
        ("whole", "C", "fee free cents talked", "", "S plan €9 incl. 120 min, €0.07/min beyond; May: 310 min"),
        (
            "hours",
            "C",
            "fee free cents talked",
            "",
            "nine euros, two hours free, seven cents each minute after that; talked five hours and ten minutes",
        ),
        ("free-lost", "S", "fee cents talked", "", "9 EUR + 7 ct a minute, 310 minutes in May"),
        ("plan-cited", "R", "talked | fee free cents", "", "May: 310 minutes on plan S («1»)"),
        ("plan-broken", "S", "talked", "c", "310 minutes on plan S («none»): 30.70 euros"),
        ("unsaved", "L", "talked", "a", "May: 310 minutes. Terms of the plan were not saved."),
    ),
    *subject(
        "carpet",
        "what the carpets cost",
        (
            (
                "U: Carpet for the hall, 14 m², and the study, 11 m². We thought about the attic (20 m²) and left it. "
                "It is 32 a "
                "square metre."
            ),
            "A: It costs 1,440.",
        ),
        "(hall + study) * rate",
        800,
        {
            "hall": (14, (41, 16), "14 m²"),
            "study": (11, (17, 12), "11 m²"),
            "rate": (32, (23, 35), "32 a square metre"),
        },
        ("two", "C", "hall study rate", "", "carpet @32/m²: hall 14, study 11 (attic 20 considered, NOT done)"),
        (
            "paraphrase",
            "C",
            "hall study rate",
            "",
            (
                "Eleven square metres in the study and fourteen in the hall get carpet for 32 each; the attic stays as "
                "it is."
            ),
        ),
        ("study-lost", "S", "hall rate", "", "* hall: 14 m²\n* price: 32 per m²"),
        ("partial", "L", "rate", "a", "32 per m²; (0 of 2 room sizes kept)"),
        ("sizes-cited", "R", "rate | hall study", "a", "32 per m²; sizes in «1»"),
    ),
    *subject(
        "song",
        "how many seconds the loop lasts",
        ("U: The loop has 24 bars of 4 beats at 120 bpm.", "A: 96 seconds."),
        "bars * beats * 60 / bpm",
        48,
        {"bars": (24, (42, 16), "24 bars"), "beats": (4, (3, 6), "4 beats"), "bpm": (120, (102, 90), "120 bpm")},
        ("score", "C", "bars beats bpm", "", "// loop: 24 x 4/4, tempo 120/min"),
        ("tempo-off", "S", "bars beats bpm=102", "", "// loop: 24 bars, 4/4, tempo 102"),
        ("no-tempo", "S", "bars beats", "c", "loop = 24 bars of 4 beats = 96 s"),
        ("title", "L", "", "", "// about a loop in some song"),
        ("cited", "R", "beats | bars bpm beats", "", "4/4 loop, numbers in «1»"),
    ),
    *subject(
        "pods",
        "how much memory the deployment asks for",
        (
            "T: web replicas=6 memory=512Mi\nworker replicas=3 memory=2Gi\ncron suspended",
            "U: How much memory is that in Mi?",
            "A: 5,120 Mi.",
        ),
        "wn * wm + kn * km",
        9216,
        {
            "wn": (6, (4, 8), "replicas=6"),
            "wm": (512, (256, 1024), "memory=512Mi"),
            "kn": (3, (1, 2), "replicas=3"),
            "km": (2048, (1024, 4096), "memory=2Gi"),
        },
        ("yaml", "C", "wn wm kn km", "", "web: {replicas: 6, memory: 0.5Gi}\nworker: {replicas: 3, memory: 2048Mi}"),
        ("worker-lost", "S", "wn wm", "", "deployments:\n  web: 6 x 512Mi"),
        ("one-worker", "S", "wn wm kn=1 km", "", "web 6 × 512 Mi, worker 1 × 2 Gi"),
        ("line", "R", "wn wm | kn km", "a", "web 6*512Mi, and «1~worker replicas=3 memory=2Gi»"),
        ("unsized", "L", "wn kn", "a", "6 web pods, 3 workers. Memory limits: [not captured]"),
    ),
)
