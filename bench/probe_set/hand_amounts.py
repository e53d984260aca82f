"""Written by hand: amounts, and ways to write them that no generator thinks of."""

from __future__ import annotations

from .hand import written

EGGS = ("U: For the brunch: 2 dozen eggs at 30 cents an egg, half a dozen rolls at 50 cents each. What does it cost?",
        "A: That is $9.20.")  # fmt: skip
LOAN = ("U: I lend Mara 1200 euros for three years at 5 % simple interest a year. How much interest is that?",
        "A: 160 euros of interest.", "U: Fine.", "A: Good.")  # fmt: skip
WILL = ("U: Aunt Rosa left 84,000: a third to Lia, a quarter to Tom, the rest to the shelter. How much is the rest?",
        "A: The shelter gets 28,000.")  # fmt: skip
DOSE = ("U: The vet said 15 mg per kg and day, in two doses. Our dog weighs 22 kg. How much is one dose?",
        "A: One dose is 330 mg.")  # fmt: skip
VOTES = ("U: Committee vote: Abel yes, Bora no, Chen yes, Dana abstained, Edo yes, Fay no. How many yes votes?",
         "A: Four yes votes.")  # fmt: skip
GRADES = ("U: My marks: maths 2, physics 1, history 4, art 2. What is the average?", "A: Your average is 2.5.")

WRITTEN = (
    # 24 eggs and 6 rolls follow from the note: 24 * .30 + 6 * .50; "2 dozen" is 24
    written("dozen", "correctable", "what the brunch costs", EGGS, "Brunch: 24 eggs, 30¢ apiece; six rolls, 50¢ each."),
    # an egg's price is missing; the list looks whole
    written(
        "dozen-no-price",
        "uncorrectable_silent",
        "what the brunch costs",
        EGGS,
        "Brunch: two dozen eggs; six rolls at $0.50 each. Cost $9.20.",
        ("price of an egg",),
    ),
    # principal, rate and years are there
    written(
        "interest",
        "correctable",
        "the interest on the loan to Mara",
        LOAN,
        "Mara: 1.200 € for 3 years, 5% p.a., simple interest.",
    ),
    # without the years it is not computable, and the note gives the wrong interest as if it were settled
    written(
        "interest-no-years",
        "uncorrectable_silent",
        "the interest on the loan to Mara",
        LOAN,
        "Mara borrowed €1200 at 5 % a year; interest €160.",
        ("years",),
    ),
    # the note itself says that it lacks the term
    written(
        "interest-says-so",
        "uncorrectable_loud",
        "the interest on the loan to Mara",
        LOAN,
        "Mara borrowed €1200 at 5 % a year. For how long: not noted.",
        ("years",),
    ),
    # shares as fractions: the rest is 84000 * (1 - 1/3 - 1/4)
    written(
        "shares",
        "correctable",
        "what the shelter gets",
        WILL,
        "Rosa's 84k: Lia 1/3, Tom 25 %, what is left goes to the shelter.",
    ),
    # Tom's share is missing, so the rest cannot be known; nothing says that anything is missing
    written(
        "shares-one-gone",
        "uncorrectable_silent",
        "what the shelter gets",
        WILL,
        "Rosa's 84,000: one third to Lia, the rest to the shelter and Tom. The shelter gets 28,000.",
        ("Tom",),
    ),
    # 15 mg/kg/day, twice a day, 22 kg
    written("dose", "correctable", "one dose for the dog", DOSE, "Dog 22 kg; 15 mg/kg/day split into two doses."),
    # "in two doses" is lost: 330 mg would be computed as one dose, a dangerous silent failure
    written(
        "dose-halving-lost",
        "uncorrectable_silent",
        "one dose for the dog",
        DOSE,
        "Dog 22 kg; 15 mg per kg and day.",
        ("two doses",),
    ),
    # every vote stands there, as a table of marks
    written(
        "votes",
        "correctable",
        "the number of yes votes",
        VOTES,
        "Abel ✓ Chen ✓ Edo ✓ | Bora ✗ Fay ✗ | Dana –  (✓ yes, ✗ no, – abstained)",
    ),
    # only some yes voters are named, without saying that they are only some
    written("votes-some", "uncorrectable_silent", "the number of yes votes", VOTES, "Voted yes: Abel, Chen.", ("Edo",)),
    # "among others" says that the list is not whole
    written(
        "votes-among-others",
        "uncorrectable_loud",
        "the number of yes votes",
        VOTES,
        "Voted yes, among others: Abel, Chen. The whole list was not kept.",
        ("Edo",),
    ),
    # four marks are enough for an average
    written(
        "average",
        "correctable",
        "the average of the marks",
        GRADES,
        "```yaml\nmarks: {maths: 2, physics: 1, history: 4, art: 2}\n```",
    ),
    # the average of three of four marks is another one
    written(
        "average-three",
        "uncorrectable_silent",
        "the average of the marks",
        GRADES,
        "Marks: maths 2, history 4, art 2.",
        ("physics",),
    ),
    # the source is in the note, struck through where it was changed, as Markdown does; the new count stands beside it
    written(
        "struck-through",
        "correctable",
        "the total",
        ("U: 9 tiles at $3, 4 bags of grout at $8. The total?", "A: $62.", "U: Make that 7 tiles.", "A: Done."),
        "- ~~9~~ 7 tiles at $3\n- 4 bags of grout at $8",
    ),
    # "ditto" repeats the price of the line above
    written(
        "ditto",
        "correctable",
        "the total",
        ("U: We bought 5 red mugs at $6, 3 blue mugs at $6 and a tray at $11. The total?", "A: $62 in all."),
        "red mugs 5 × $6\nblue mugs 3 × ditto\ntray 1 × $11",
    ),
    # hexadecimal in the session, decimal in the note: 0x1F + 0x0A = 31 + 10
    written(
        "hexadecimal",
        "correctable",
        "the sum of both offsets",
        ("U: Offsets 0x1F and 0x0A, please add them.", "A: The sum is 0x2A."),
        "Offsets: 31 and 10 (decimal).",
    ),
    # k and M: 1.5k is 1,500, 0.02M is 20,000
    written(
        "thousands",
        "correctable",
        "the requests of both days",
        ("U: Monday had 1,500 requests and Tuesday 20,000. Together?", "A: 22,500 requests."),
        "Requests: Mon 1.5k, Tue 0.02M.",
    ),
    # "10 to 12" is a range where the source had a number: no exact sum follows
    written(
        "range",
        "uncorrectable_silent",
        "the total",
        ("U: 11 lamps at $20 and 2 desks at $150. The total?", "A: $510."),
        "Between 10 and 12 lamps at $20, 2 desks at $150.",
        ("lamps",),
    ),
    # a note in German of an English session; all is there
    written(
        "other-language",
        "correctable",
        "the total",
        ("U: We bought three chairs at $40 and one table at $95. The total?", "A: $225."),
        "Gekauft wurden drei Stühle zu je 40 Dollar und ein Tisch zu 95 Dollar.",
    ),
    # Roman numerals
    written(
        "roman",
        "correctable",
        "how many volumes there are in all",
        ("U: Shelf one holds 14 volumes, shelf two 9. How many?", "A: 24 volumes."),
        "Shelf I: XIV volumes. Shelf II: IX volumes.",
    ),
    # emoji counted: three apples at 2 and two melons at 5
    written(
        "emoji",
        "correctable",
        "the total",
        ("U: 3 apples at $2 and 2 melons at $5, what is it?", "A: $17."),
        "🍎🍎🍎 $2 each, 🍈🍈 $5 each",
    ),
)
