"""Written by hand for the fresh set: sums, times and measures in odd words; each verdict argued above its note.

Who works on the probe does not read this file.
"""

from __future__ import annotations

from .fresh_odd import odd

WRITTEN = (
    *odd(
        "ferry",
        "the fare for the ferry",
        (
            (
                "U: Ferry to Hven: adults 84 kr, children half of that, the car 210 kr. We are two adults and "
                "three children with a car. What is the fare?"
            ),
            "A: The fare is 478 kr.",
        ),
        # every price and who goes is there, half price said in other words
        ("all", "correctable", "Hven ferry: 2 adults (84 kr), 3 kids at 50 %, 1 car 210 kr"),
        # the number of children is lost and nothing says so
        (
            "children-lost",
            "uncorrectable_silent",
            "Ferry: 2 adults à 84 kr, children half price, car 210 kr.",
            ("three children",),
        ),
        # half price for children is lost: they would be counted as adults or free
        (
            "half-lost",
            "uncorrectable_silent",
            "Ferry to Hven for 2 adults (84 kr each) and 3 children, car 210 kr. 478 kr.",
            ("half",),
        ),
        # the fare is promised to be asked again, no value is given
        (
            "ask-again",
            "uncorrectable_loud",
            "Ferry to Hven with a car; ask the user for the fares again, they were not kept.",
            ("84 kr",),
        ),
        # nothing but the pointer, which leads to the prices
        ("pointed", "reachable", "Ferry fares and party: «1»"),
    ),
    *odd(
        "bread",
        "how much water the dough takes",
        ("U: The loaf has 65% hydration on 800 g flour. How much water is that?", "A: 560 g of water."),
        # hydration is water over flour; 65 % and 800 g are there
        ("baker", "correctable", "800 g flour @ 65 % hydration (agent said 560 g water)"),
        # without the percentage only the wrong water is left
        ("percent-lost", "uncorrectable_silent", "Loaf: 800 g flour, 560 g water.", ("65%",)),
        # 0.8 kg and 0.65 are the same in other units
        ("units", "correctable", "flour .8 kg, water/flour ratio 0.65"),
        # it says that the ratio is not known any more
        (
            "says-so",
            "uncorrectable_loud",
            "Loaf with 800 g flour. The hydration he gave is no longer known to me.",
            ("65%",),
        ),
    ),
    *odd(
        "relay",
        "the relay team's time",
        ("U: Relay splits: Asa 1:02.4, Bo 58.9, Cy 1:00.1, Di 59.6. Team time?", "A: 4:02.0."),
        # all four splits, in seconds
        ("seconds", "correctable", "splits (s): Asa 62.4 / Bo 58.9 / Cy 60.1 / Di 59.6"),
        # three of four, as if it were the team
        ("three", "uncorrectable_silent", "Relay: Asa 1:02.4, Bo 58.9, Di 59.6", ("Cy",)),
        # a question mark stands openly in Cy's place
        ("gap-shown", "uncorrectable_loud", "Relay: Asa 1:02.4, Bo 58.9, Cy ? (not kept), Di 59.6", ("Cy",)),
        # Bo's split has two digits swapped
        ("swapped", "uncorrectable_silent", "Relay: Asa 1:02.4, Bo 59.8, Cy 1:00.1, Di 59.6", ("Bo",)),
    ),
    *odd(
        "parking",
        "what the garage charges",
        (
            "T: GARAGE P3\nfirst hour 2.50\neach further hour 1.80\nday maximum 14.00",
            "U: I parked from 09:10 to 15:10. What does the garage charge?",
            "A: 15.00 euros.",
        ),
        # 2.50 + 5 * 1.80 = 11.50, below the maximum; all is there
        ("tariff", "correctable", "P3: 1st h 2,50 €, then 1,80 €/h, max 14 €/day. Parked 9:10–15:10."),
        # the maximum is not reached, so it does not matter that it is missing
        ("no-maximum", "correctable", "P3: first hour 2.50, further hours 1.80 each; six hours, 09:10 to 15:10."),
        # the tariff without the times: a reader takes 15.00 for it
        (
            "times-lost",
            "uncorrectable_silent",
            "P3: first hour 2.50, further hours 1.80, max 14.00. It came to 15.00.",
            ("09:10",),
        ),
        # the tariff is behind the first pointer, the times behind the second
        ("two-pointers", "reachable", "Tariff «1», times «2». 15.00 euros, I said."),
        # the tariff alone is behind the pointer, the times are nowhere
        ("one-pointer", "uncorrectable_silent", "15.00 euros for the garage («1»).", ("09:10",)),
    ),
    *odd(
        "choir",
        "how many singers there are",
        (
            "U: In the choir there are a dozen sopranos, altos one fewer, seven tenors and a quartet of basses. Sum?",
            "A: 35 singers.",
        ),
        # one fewer than twelve is eleven, a quartet is four
        ("numbers", "correctable", "S 12, A 11, T 7, B 4"),
        # as it was said
        ("words", "correctable", "a dozen sopranos; one alto fewer than that; tenors seven; four basses"),
        # the altos hang on the number of sopranos, which is lost
        (
            "anchor-lost",
            "uncorrectable_silent",
            "Choir: altos one fewer than sopranos, 7 tenors, 4 basses. 35 singers.",
            ("sopranos",),
        ),
        # "several" is no number
        (
            "several",
            "uncorrectable_silent",
            "Choir: 12 sopranos, 11 altos, several tenors, 4 basses.",
            ("seven tenors",),
        ),
    ),
    *odd(
        "infusion",
        "the drops per minute",
        ("U: 500 ml over four hours, 20 drops per ml. How many drops a minute?", "A: 48 drops a minute."),
        # 500 * 20 / 240
        ("all", "correctable", "0.5 L in 240 min; drip set 20 gtt/mL"),
        # the drop factor is missing: the dangerous rate stays
        ("factor-lost", "uncorrectable_silent", "Infusion 500 mL / 4 h -> 48 gtt/min", ("20 drops",)),
        # "over forty hours": a slip in the source
        ("slip", "uncorrectable_silent", "500 ml over 40 hours, 20 drops per ml", ("four hours",)),
        # a nurse is told to look it up
        (
            "look-up",
            "uncorrectable_loud",
            "Infusion rate: order not copied into this note, look it up in the chart.",
            ("500 ml",),
        ),
    ),
    *odd(
        "stamps",
        "what the stamps are worth",
        ("U: Album: 14 stamps of 80 cents, 6 of 1.10 and one of 5 euros. Face value?", "A: 24.80 euros."),
        # 14*.80 + 6*1.10 + 5, with cents for euros
        ("cents", "correctable", "14 × 80 ct, 6 × 110 ct, 1 × 500 ct"),
        # fourteen became forty
        ("forty", "uncorrectable_silent", "forty stamps of 80 cents, six of €1.10, one of €5", ("14 stamps",)),
        # the last one is not there; "etc." says that there was more
        (
            "et-cetera",
            "uncorrectable_loud",
            "Album: 14 at 0.80, 6 at 1.10, etc. (list not continued here)",
            ("one of 5",),
        ),
        # the one of 5 euros is silently gone
        ("last-gone", "uncorrectable_silent", "Album: 14 at 0.80; 6 at 1.10.", ("one of 5",)),
    ),
    *odd(
        "tip",
        "what each of us pays",
        ("U: The bill is 96 euros, we add ten per cent and split it among four. What does each pay?", "A: 24 euros."),
        # 96 * 1.1 / 4
        ("all", "correctable", "96 € + 10 % tip ÷ 4 people"),
        # the tip is lost: 24 would be confirmed
        ("tip-lost", "uncorrectable_silent", "Bill of 96 €, split four ways. Each pays 24 €.", ("ten per cent",)),
        # names of four people stand for the number
        (
            "names",
            "correctable",
            "Bill 96 €, tip 10 %, shared equally by Ann, Bob, Cem and Dee (everybody who was there).",
        ),
        # the bill is hidden behind a range that holds the first words only
        ("range", "uncorrectable_silent", "Each pays 24 €. «1:0-11»", ("96 euros",)),
    ),
    *odd(
        "knitting",
        "how many rows until the heel",
        ("U: The sock's leg is 18 cm and I knit 32 rows per 10 cm. How many rows?", "A: About 54 rows."),
        # 18 * 3.2 = 57.6
        ("gauge", "correctable", "leg 18cm, gauge 32 R / 10 cm"),
        # millimetres
        ("millimetres", "correctable", "Leg: 180 mm; gauge: 3.2 rows per cm."),
        # no gauge
        ("no-gauge", "uncorrectable_silent", "Sock leg of 18 cm, about 54 rows.", ("32 rows",)),
    ),
    *odd(
        "auction",
        "what the buyer pays in the end",
        ("U: Hammer price 1,200, buyer's premium 25 %, and VAT of 20 % on the premium alone. Total?", "A: 1,800."),
        # 1200 + 300 + 60
        ("all", "correctable", "Hammer 1200; premium 25 % of it; VAT 20 % only on the premium."),
        # "on the premium alone" is lost: 1,800 would follow
        (
            "base-lost",
            "uncorrectable_silent",
            "Hammer 1,200 + 25 % premium + 20 % VAT on everything.",
            ("on the premium alone",),
        ),
        # a hedge does not say what is missing
        ("hedge", "uncorrectable_silent", "The buyer pays roughly 1,800, I believe.", ("25 %",)),
        # no figure and nothing claimed
        ("no-figure", "uncorrectable_loud", "They discussed an auction and its fees.", ("1,200",)),
    ),
    *odd(
        "train",
        "how long the ride takes",
        ("U: The night train leaves at 22:47 and gets in at 06:12 the next day. How long is the ride?", "A: 16 h 35."),
        # across midnight; the next day is said
        ("midnight", "correctable", "NJ 40: dep 22:47, arr 06:12 (+1)"),
        # in words
        ("words", "correctable", "Leaves at thirteen minutes to eleven in the evening, arrives at 6:12 next morning."),
        # the arrival is another one
        ("slip", "uncorrectable_silent", "dep 22:47, arr 06:21 (+1)", ("06:12",)),
        # only the departure, and the wrong ride
        ("departure", "uncorrectable_silent", "Night train at 22:47; 16 h 35 on board.", ("06:12",)),
    ),
    *odd(
        "tiles",
        "how many tiles cover the floor",
        ("U: The floor is 3 m by 2.4 m, tiles are 30 x 30 cm. How many?", "A: 90 tiles."),
        # ten by eight
        ("centimetres", "correctable", "floor 300×240 cm; tile 30 cm square"),
        # one side is lost
        ("side-lost", "uncorrectable_silent", "Floor 3 m wide, tiles 30 by 30 cm, 90 of them.", ("2.4 m",)),
        # the area replaces the sides; 7.2 m² over .09 m² gives the same 80
        ("area", "correctable", "7.2 m² of floor, each tile 0.09 m²"),
    ),
)
