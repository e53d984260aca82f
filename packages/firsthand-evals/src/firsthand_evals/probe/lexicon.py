"""The words that `values` knows: numbers, currencies, units, months, days and parts of a day.

The invariant: every key is in small letters and stands for one thing; a word that
is common with another meaning in the languages read here (German ``elf``, Spanish
``once``, French ``cent``) is left out, since a value that is not there is worse
than one that is missed.

It does not know where in a text a word stands.
"""

from __future__ import annotations

import re
from fractions import Fraction

ZEROS = (  # the digit zero of each script; nine more follow it
    0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6, 0x0D66, 0x0E50, 0x0ED0,
    0x0F20, 0x1040, 0x17E0, 0x1810, 0xFF10,
)  # fmt: skip
SIGNS_LIKE = {  # signs that stand for a sign of ASCII, one for one
    "\u066b": ".", "\u066c": ",", "\uff0c": ",", "\uff0e": ".", "\uff1a": ":", "\uff05": "%", "\u066a": "%",
    "\uff04": "$", "\uffe5": "\u00a5", "\uffe1": "\u00a3", "\uff08": "(", "\uff09": ")", "\u2212": "-", "\u2013": "-",
    "\u2014": "-", "\u2019": "'", "\u00d7": "x", "\uff0d": "-", "\uff1d": "=", "\uff0b": "+", "\uff0a": "*",
}  # fmt: skip

_ENGLISH = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_ENGLISH_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
GERMAN_UNITS = {
    "ein": 1, "eins": 1, "zwei": 2, "drei": 3, "vier": 4, "f\u00fcnf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9,
}  # fmt: skip
GERMAN_TENS = {
    "zwanzig": 20, "drei\u00dfig": 30, "dreissig": 30, "vierzig": 40, "f\u00fcnfzig": 50, "sechzig": 60,
    "siebzig": 70, "achtzig": 80, "neunzig": 90,
}  # fmt: skip
_ONES_OF = (  # of five further languages, from two on; a dash where a word is common with another meaning
    ("- tre quattro cinque - sette - nove dieci undici dodici tredici quattordici quindici sedici diciassette diciotto"
    " diciannove"),
    "dois três quatro - - - oito - - - - treze quatorze quinze dezesseis dezessete dezoito dezenove",
    ("twee drie vier vijf zes zeven - negen tien - twaalf dertien veertien vijftien zestien zeventien achttien"
     " negentien"),
    ("dwa trzy cztery pięć sześć siedem osiem dziewięć dziesięć jedenaście"
    " dwanaście trzynaście czternaście piętnaście szesnaście siedemnaście osiemnaście"
    " dziewiętnaście"),
    ("два три четыре пять шесть"
    " семь восемь девять"
    " десять одиннадцать"
    " двенадцать тринадцать"
    " четырнадцать пятнадцать"
    " шестнадцать семнадцать"
    " восемнадцать"
    " девятнадцать"),
    ("две трёх четырёх пяти"
    " шести семи восьми"
    " девяти десяти"),
)  # fmt: skip
_TENS_OF = (
    "venti trenta quaranta cinquanta sessanta settanta ottanta novanta",
    "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa",
    "twintig dertig veertig vijftig zestig zeventig tachtig negentig",
    ("dwadzieścia trzydzieści czterdzieści pięćdziesiąt sześćdziesiąt"
    " siedemdziesiąt osiemdziesiąt dziewięćdziesiąt"),
    ("двадцать тридцать сорок"
    " пятьдесят шестьдесят"
    " семьдесят восемьдесят"
    " девяносто"),
)  # fmt: skip
_JOINED_TENS = {  # tens that their ones are written together with: venticinque, vijfentwintig
    **{word[:-1]: number for number, word in enumerate(_TENS_OF[0].split(), 2)},
    **{word: number for number, word in enumerate(_TENS_OF[0].split(), 2)},
}  # fmt: skip
_ITALIAN_ONES = ("uno", "due", "tre", "quattro", "cinque", "sei", "sette", "otto", "nove")
_DUTCH_ONES = ("een", "twee", "drie", "vier", "vijf", "zes", "zeven", "acht", "negen")
JOINED_NUMBERS = {
    **{tens + ones: 10 * number + one for tens, number in _JOINED_TENS.items()
       for one, ones in enumerate(_ITALIAN_ONES, 1)},
    **{ones + ("ën" if ones.endswith("e") else "en") + tens: 10 * number + one
       for number, tens in enumerate(_TENS_OF[2].split(), 2) for one, ones in enumerate(_DUTCH_ONES, 1)},
}  # fmt: skip
UNITS_OF_NUMBERS: dict[str, int] = {  # up to nineteen, those of English first
    **{word: number for number, word in enumerate(_ENGLISH.split())},
    **{word: number for words in _ONES_OF for number, word in enumerate(words.split(), 2) if word != "-"},
    **{word: number for word, number in GERMAN_UNITS.items() if word != "ein"},
    "zehn": 10, "zw\u00f6lf": 12, "dreizehn": 13, "vierzehn": 14, "f\u00fcnfzehn": 15, "sechzehn": 16, "siebzehn": 17,
    "achtzehn": 18, "neunzehn": 19,
    "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "huit": 8, "neuf": 9, "dix": 10, "onze": 11, "douze": 12,
    "treize": 13, "quatorze": 14, "quinze": 15,
    "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6, "siete": 7, "ocho": 8, "nueve": 9, "diez": 10,
    "doce": 12, "trece": 13, "catorce": 14, "quince": 15, "diecis\u00e9is": 16, "diecisiete": 17, "dieciocho": 18,
    "diecinueve": 19,
}  # fmt: skip
ENGLISH_NUMBERS = frozenset(f"{_ENGLISH} {_ENGLISH_TENS}".split())
BESIDE_OTHERS = {  # words of one language that are others in English: numbers beside words of that language alone
    "elf": (11, r"\b(?:zw\u00f6lf|f\u00fcnf|sieben|acht|neun|zehn|vier|sechs|je|und|zu)\b"),
    "once": (11, r"\b(?:cinco|cuatro|tres|seis|siete|ocho|nueve|diez|doce|cada|euros)\b"),
    "sei": (6, r"\b(?:quattro|cinque|sette|dieci|euro|ciascun\w*|tre|nove)\b"),
    "due": (2, r"\b(?:quattro|cinque|sette|dieci|ciascun\w*|tre|nove|sei|sono|alle|gli|della|di)\b"),
    "otto": (8, r"\b(?:quattro|cinque|sette|dieci|ciascun\w*|tre|nove|sei|sono|alle|gli|della|di)\b"),
    "sete": (7, r"\b(?:quatro|cinco|seis|oito|nove|dez|três|dois|cada|euros|reais)\b"),
    "nove": (9, r"\b(?:quatro|cinco|seis|oito|sete|dez|três|dois|cada|euros|reais)\b"),
    "dez": (10, r"\b(?:quatro|cinco|seis|oito|nove|sete|três|dois|cada|euros|reais)\b"),
    "doze": (12, r"\b(?:quatro|cinco|seis|oito|nove|sete|três|dois|cada|euros|reais)\b"),
    "seize": (16, r"\b(?:cinq|quatre|trois|sept|huit|neuf|dix|douze|chacun\w*|et)\b"),
}  # fmt: skip
TENS: dict[str, int] = {
    **{word: 10 * number for words in _TENS_OF for number, word in enumerate(words.split(), 2)},
    **{word: 10 * number for number, word in enumerate(_ENGLISH_TENS.split(), 2)},
    **GERMAN_TENS,
    "fourty": 40, "vingt": 20, "vingts": 20, "trente": 30, "quarante": 40, "cinquante": 50, "soixante": 60,
    "veinte": 20, "veinticinco": 25, "treinta": 30, "cuarenta": 40, "cincuenta": 50, "sesenta": 60, "setenta": 70,
    "ochenta": 80, "noventa": 90,
}  # fmt: skip
SCALES: dict[str, int] = {
    "hundred": 100, "hundert": 100, "cien": 100, "ciento": 100, "thousand": 1000, "tausend": 1000, "mille": 1000,
    "mil": 1000, "million": 10**6, "millions": 10**6, "millionen": 10**6, "millones": 10**6, "mio": 10**6,
    "billion": 10**9, "bn": 10**9, "lakh": 10**5, "crore": 10**7, "dozen": 12, "dutzend": 12, "douzaine": 12,
    "docena": 12, "cento": 100, "duizend": 1000, "honderd": 100, "tysiąc": 1000, "tysiące": 1000,
    "tysięcy": 1000, "сто": 100, "тысяча": 1000,
    "тысячи": 1000, "тысяч": 1000, "dozzina": 12,
    "dúzia": 12, "dozijn": 12, "tuzin": 12, "дюжина": 12,
}  # fmt: skip
ATTACHED_SCALES = {"k": 10**3, "m": 10**6, "bn": 10**9, "mn": 10**6}  # "$4k"; "m" counts for money alone
CHINESE_DIGITS = {
    "\u96f6": 0, "\u3007": 0, "\u4e00": 1, "\u4e8c": 2, "\u4e24": 2, "\u5169": 2, "\u4e09": 3, "\u56db": 4,
    "\u4e94": 5, "\u516d": 6, "\u4e03": 7, "\u516b": 8, "\u4e5d": 9,
}  # fmt: skip
CHINESE_SCALES = {
    "\u5341": 10, "\u767e": 100, "\u5343": 1000, "\u4e07": 10**4, "\u842c": 10**4, "\u4ebf": 10**8, "\u5104": 10**8,
}  # fmt: skip
CHINESE_COUNTED = frozenset(  # what a single numeral must stand before to be a number
    "\u4e2a\u500b\u672c\u652f\u53f0\u5f35\u5f20\u4ef6\u676f\u74f6\u76d2\u7bb1\u888b\u53cc\u5957\u628a\u6761\u53ea"
    "\u4eba\u540d\u4f4d\u5143\u5757\u584a\u5186\u5706\u5713\u70b9\u9ede\u65f6\u6642\u6708\u65e5\u53f7\u865f\u5929"
    "\u5e74\u5468\u6b21\u500d\u76cf\u6735\u68f5\u65a4\u516c\u5c0f\u5206\u79d2\u518a\u679d\u9846\u9897\u7247\u5ea7\u8f86"
)
FRACTIONS = {
    "\u00bd": Fraction(1, 2), "\u00bc": Fraction(1, 4), "\u00be": Fraction(3, 4), "\u2153": Fraction(1, 3),
    "\u2154": Fraction(2, 3),
}  # fmt: skip

CURRENCY_SIGNS = {
    "$": "USD", "\u20ac": "EUR", "\u00a3": "GBP", "\u00a5": "JPY", "\u20b9": "INR", "\u20a9": "KRW", "\u20bd": "RUB",
    "\u20ba": "TRY", "\u20ab": "VND", "\u20aa": "ILS", "\u20b4": "UAH", "\u20a6": "NGN", "\u20b1": "PHP",
    "\u0e3f": "THB", "\u20bf": "BTC", "\u20a1": "CRC", "\u20b5": "GHS",
}  # fmt: skip
DOLLARS = {"us": "USD", "a": "AUD", "c": "CAD", "ca": "CAD", "hk": "HKD", "nz": "NZD", "s": "SGD", "r": "BRL"}
CURRENCY_CODES = frozenset(
    {
        "usd", "eur", "gbp", "jpy", "cny", "inr", "chf", "sek", "nok", "dkk", "aud", "cad", "nzd", "sgd", "hkd",
        "krw", "rub", "try", "brl", "mxn", "pln", "czk", "huf", "ron", "zar", "ils", "thb", "php",
        "vnd", "idr", "myr", "aed", "sar",
    }
)  # fmt: skip
CURRENCY_WORDS = {
    "dollar": "USD", "dollars": "USD", "buck": "USD", "bucks": "USD", "d\u00f3lares": "USD", "d\u00f3lar": "USD",
    "euro": "EUR", "euros": "EUR", "pound": "GBP", "pounds": "GBP", "quid": "GBP", "yen": "JPY", "yuan": "CNY",
    "rmb": "CNY", "rupee": "INR", "rupees": "INR", "rs": "INR", "franken": "CHF", "francs": "CHF", "kr": "SEK",
    "kronor": "SEK", "kroner": "NOK", "krona": "SEK", "krone": "NOK", "pesos": "MXN", "peso": "MXN",
    "reais": "BRL", "rubles": "RUB", "roubles": "RUB", "\u0440\u0443\u0431": "RUB",
    "\u0440\u0443\u0431\u043b\u0435\u0439": "RUB", "z\u0142": "PLN", "\u5143": "CNY", "\u5757": "CNY",
    "\u584a": "CNY", "\u5186": "JPY", "\u5713": "CNY", "\u5706": "CNY", "\uc6d0": "KRW",
    "\u0631\u064a\u0627\u0644": "SAR", "\u062f\u0631\u0647\u0645": "AED", "\u062f\u0648\u0644\u0627\u0631": "USD",
    "\u062f\u0648\u0644\u0627\u0631\u0627\u062a": "USD", "\u0930\u0941\u092a\u092f\u0947": "INR",
    "\u0930\u0941\u092a\u092f\u093e": "INR", "\u0930\u0941": "INR",
}  # fmt: skip
MINOR_WORDS = {  # hundredths; empty: of the currency that the text speaks of
    "cent": "", "cents": "", "\u00a2": "USD", "ct": "", "pence": "GBP", "p": "GBP", "centimes": "", "c\u00e9ntimos": "",
    "paise": "INR", "\u00f6re": "SEK", "c": "",
}  # fmt: skip
PERCENT_WORDS = frozenset(
    {"%", "percent", "pct", "prozent", "porciento", "procent", "процент", "процента", "процентов"}
)

UNITS = {  # as written: the unit's one spelling
    "t": "t", "т": "t", "кг": "kg", "\u0433": "g", "км": "km", "м": "m", "см": "cm",
    "мм": "mm", "л": "l", "мл": "ml", "kilogrammes": "kg", "kilogrammi": "kg", "chilo": "kg",
    "chili": "kg", "quilo": "kg", "quilos": "kg", "grammes": "g", "grammi": "g", "gramas": "g", "gramos": "g",
    "tonnen": "t", "tonnellate": "t", "toneladas": "t", "mtr": "m", "metri": "m", "metros": "m",
    "mètres": "m", "kilomètres": "km", "chilometri": "km", "kilómetros": "km", "quilômetros": "km",
    "zentimeter": "cm", "centimetri": "cm", "centímetros": "cm", "centimètres": "cm", "litri": "l", "litros": "l",
    "megabits": "Mbit", "megabit": "Mbit", "mbit": "Mbit", "mbps": "Mbit", "gbit": "Gbit", "gbps": "Gbit",
    "gigabits": "Gbit", "gigabit": "Gbit", "kbit": "kbit", "kbps": "kbit", "kilobits": "kbit",
    "kg": "kg", "kgs": "kg", "kilo": "kg", "kilos": "kg", "kilogram": "kg", "kilograms": "kg", "kilogramm": "kg",
    "g": "g", "gram": "g", "grams": "g", "gramm": "g", "mg": "mg", "lb": "lb", "lbs": "lb", "oz": "oz",
    "ounce": "oz", "ounces": "oz", "tonne": "t", "tonnes": "t", "ton": "t", "tons": "t",
    "km": "km", "kilometre": "km", "kilometres": "km", "kilometer": "km", "kilometers": "km", "cm": "cm", "mm": "mm",
    "m": "m", "metre": "m", "metres": "m", "meter": "m", "meters": "m", "mile": "mi", "miles": "mi", "ft": "ft",
    "feet": "ft", "foot": "ft", "inch": "in", "inches": "in",
    "l": "l", "litre": "l", "litres": "l", "liter": "l", "liters": "l", "ml": "ml", "cl": "cl",
    "b": "B", "kb": "KB", "mb": "MB", "gb": "GB", "tb": "TB", "kib": "KiB", "mib": "MiB", "gib": "GiB", "bytes": "B",
    "px": "px", "rpm": "rpm", "kw": "kW", "kwh": "kWh", "mah": "mAh", "v": "V", "w": "W",
    "\u516c\u65a4": "kg", "centimetre": "cm", "centimetres": "cm", "centimeter": "cm", "centimeters": "cm",
    "millimetre": "mm", "millimetres": "mm", "millimeter": "mm", "millimeters": "mm", "stone": "st",
    "millilitre": "ml", "millilitres": "ml", "milliliter": "ml", "milliliters": "ml", "dl": "dl", "deciliter": "dl",
    "hectare": "ha", "hectares": "ha", "ha": "ha", "kcal": "kcal", "kj": "kJ", "mw": "MW", "gw": "GW", "mwh": "MWh",
    "wh": "Wh", "watts": "W", "watt": "W", "kilowatts": "kW", "hz": "Hz", "khz": "kHz", "mhz": "MHz", "ghz": "GHz",
    "yd": "yd", "yard": "yd", "yards": "yd", "gallon": "gal", "gallons": "gal", "pint": "pt", "pints": "pt",
    "megabytes": "MB", "gigabytes": "GB", "kilobytes": "KB", "terabytes": "TB", "megabyte": "MB", "gigabyte": "GB",
}  # fmt: skip
ATTACHED_ONLY = frozenset({"b", "v", "w"})  # units of one sign are words when they stand apart
BASE: dict[str, tuple[str, Fraction]] = {  # a unit in terms of the unit of its family
    "kg": ("g", Fraction(1000)), "mg": ("g", Fraction(1, 1000)), "t": ("g", Fraction(10**6)),
    "lb": ("g", Fraction("453.59237")), "oz": ("g", Fraction("28.349523125")),
    "km": ("m", Fraction(1000)), "cm": ("m", Fraction(1, 100)), "mm": ("m", Fraction(1, 1000)),
    "mi": ("m", Fraction("1609.344")), "ft": ("m", Fraction("0.3048")), "in": ("m", Fraction("0.0254")),
    "ml": ("l", Fraction(1, 1000)), "cl": ("l", Fraction(1, 100)),
    "kbit": ("bit", Fraction(10**3)), "Mbit": ("bit", Fraction(10**6)), "Gbit": ("bit", Fraction(10**9)),
    "KB": ("B", Fraction(10**3)), "MB": ("B", Fraction(10**6)), "GB": ("B", Fraction(10**9)),
    "TB": ("B", Fraction(10**12)), "KiB": ("B", Fraction(2**10)), "MiB": ("B", Fraction(2**20)),
    "GiB": ("B", Fraction(2**30)), "dl": ("l", Fraction(1, 10)), "yd": ("m", Fraction("0.9144")),
    "cm2": ("m2", Fraction(1, 10**4)), "mm2": ("m2", Fraction(1, 10**6)), "km2": ("m2", Fraction(10**6)),
    "ha": ("m2", Fraction(10**4)), "ft2": ("m2", Fraction("0.09290304")), "cm3": ("l", Fraction(1, 1000)),
    "m3": ("l", Fraction(1000)), "mm3": ("l", Fraction(1, 10**6)),
    "kW": ("W", Fraction(1000)), "MW": ("W", Fraction(10**6)), "GW": ("W", Fraction(10**9)),
    "kWh": ("Wh", Fraction(1000)), "MWh": ("Wh", Fraction(10**6)),
    "kHz": ("Hz", Fraction(1000)), "MHz": ("Hz", Fraction(10**6)), "GHz": ("Hz", Fraction(10**9)),
}  # fmt: skip
_MINUTE, _HOUR, _DAY = Fraction(60), Fraction(3600), Fraction(86400)
_HOURS_OF = "ora ore hora horas uur uren godzina godziny godzin godz час часа часов ч"
_MINUTES_OF = "minuto minuti minuut minuta minuty minut minutter minuter минута минуты минут мин"
_SECONDS_OF = "secondi secondo segundos segundo seconden seconde sekund sekundy sekunda secondes секунд секунды сек"
_DAYS_OF = (
    "giorno giorni notte notti dia dias noite noites dag dagen nacht nachten nächte dzień dni noc noce nocy"
    " день дня дней ночь ночи"
    " ночей nuit nuits noche noches"
)
_WEEKS_OF = "settimana settimane semana weken tydzień tygodnie tygodni неделя недели недель semaine"
DURATIONS: dict[str, Fraction] = {  # in seconds
    **dict.fromkeys(_HOURS_OF.split(), _HOUR), **dict.fromkeys(_MINUTES_OF.split(), _MINUTE),
    **dict.fromkeys(_SECONDS_OF.split(), Fraction(1)), **dict.fromkeys(_DAYS_OF.split(), _DAY),
    **dict.fromkeys(_WEEKS_OF.split(), 7 * _DAY),
    "ms": Fraction(1, 1000), "milliseconds": Fraction(1, 1000), "s": Fraction(1), "sec": Fraction(1),
    "secs": Fraction(1), "second": Fraction(1), "seconds": Fraction(1), "sekunden": Fraction(1),
    "min": _MINUTE, "mins": _MINUTE, "minute": _MINUTE, "minutes": _MINUTE, "minuten": _MINUTE, "minutos": _MINUTE,
    "h": _HOUR, "hr": _HOUR, "hrs": _HOUR, "hour": _HOUR, "hours": _HOUR, "stunde": _HOUR, "stunden": _HOUR,
    "heure": _HOUR, "heures": _HOUR, "hora": _HOUR, "horas": _HOUR,
    "day": _DAY, "days": _DAY, "tag": _DAY, "tage": _DAY, "tagen": _DAY, "jours": _DAY, "jour": _DAY,
    "d\u00edas": _DAY, "d\u00eda": _DAY, "night": _DAY, "nights": _DAY, "\u5929": _DAY,
    "week": 7 * _DAY, "weeks": 7 * _DAY, "woche": 7 * _DAY, "wochen": 7 * _DAY, "semaines": 7 * _DAY,
    "semanas": 7 * _DAY, "fortnight": 14 * _DAY,
}  # fmt: skip
MONTHS_LONG = {  # durations whose seconds are not fixed, in months
    "mese": 1, "mesi": 1, "maand": 1, "maanden": 1, "miesiąc": 1, "miesiące": 1, "miesięcy": 1,
    "месяц": 1, "месяца": 1, "месяцев": 1,
    "anno": 12, "anni": 12, "jaar": 12, "jaren": 12, "lata": 12, "anos": 12,
    "год": 12, "года": 12, "лет": 12,
    "month": 1, "months": 1, "monat": 1, "monate": 1, "monaten": 1, "mois": 1, "meses": 1, "mes": 1,
    "year": 12, "years": 12, "jahr": 12, "jahre": 12, "jahren": 12, "ans": 12, "ann\u00e9es": 12, "a\u00f1os": 12,
}  # fmt: skip
_MONTHS_OF = (  # of five further languages, as they stand in a date
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "januari februari maart april mei juni juli augustus september oktober november december",
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
    ("января февраля марта"
    " апреля мая июня июля"
    " августа сентября"
    " октября ноября декабря"),
)  # fmt: skip
MONTHS = {
    **{word: number for words in _MONTHS_OF for number, word in enumerate(words.split(), 1)},
    "january": 1, "jan": 1, "januar": 1, "janvier": 1, "enero": 1,
    "february": 2, "feb": 2, "februar": 2, "f\u00e9vrier": 2, "febrero": 2,
    "march": 3, "mar": 3, "m\u00e4rz": 3, "mars": 3, "marzo": 3, "april": 4, "apr": 4, "avril": 4, "abril": 4,
    "may": 5, "mai": 5, "mayo": 5, "june": 6, "jun": 6, "juni": 6, "juin": 6, "junio": 6,
    "july": 7, "jul": 7, "juli": 7, "juillet": 7, "julio": 7, "august": 8, "aug": 8, "ao\u00fbt": 8, "agosto": 8,
    "september": 9, "sep": 9, "sept": 9, "septembre": 9, "septiembre": 9,
    "october": 10, "oct": 10, "oktober": 10, "octobre": 10, "octubre": 10, "okt": 10,
    "november": 11, "nov": 11, "novembre": 11, "noviembre": 11,
    "december": 12, "dec": 12, "dezember": 12, "dez": 12, "d\u00e9cembre": 12, "diciembre": 12,
}  # fmt: skip
_WEEKDAYS_OF = (
    "lunedì martedì mercoledì giovedì venerdì sabato domenica",
    "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo",
    "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
    "poniedziałek wtorek środa czwartek piątek sobota niedziela",
    "poniedziałku wtorku środę czwartku piątku sobotę niedzielę",
    ("понедельник вторник"
    " среда четверг пятница"
    " суббота воскресенье"),
    ("понедельника вторника"
    " среду четверга пятницу"
    " субботу воскресения"),
)  # fmt: skip
WEEKDAYS = {
    **{word: number for words in _WEEKDAYS_OF for number, word in enumerate(words.split(), 1)},
    "monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4, "friday": 5, "saturday": 6, "sunday": 7,
    "montag": 1, "dienstag": 2, "mittwoch": 3, "donnerstag": 4, "freitag": 5, "samstag": 6, "sonntag": 7,
    "lundi": 1, "mardi": 2, "mercredi": 3, "jeudi": 4, "vendredi": 5, "samedi": 6, "dimanche": 7,
    "lunes": 1, "martes": 2, "mi\u00e9rcoles": 3, "jueves": 4, "viernes": 5, "s\u00e1bado": 6, "domingo": 7,
}  # fmt: skip
FAR_WEEKDAYS = {
    **{f"{sign}曜": number for number, sign in enumerate("月火水木金土日", 1)},
    **{f"{week}{sign}": number for week in ("星期", "礼拜", "周")
       for number, sign in enumerate("一二三四五六日", 1)},
    "星期天": 7,
}  # fmt: skip
WEEKDAYS_SHORT = {
    "mon": 1,
    "tue": 2,
    "tues": 2,
    "wed": 3,
    "thu": 4,
    "thur": 4,
    "thurs": 4,
    "fri": 5,
    "sat": 6,
    "sun": 7,
}
DAYS_FROM_NOW = {
    "today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1, "heute": 0, "morgen": 1, "gestern": -1,
    "aujourd'hui": 0, "demain": 1, "hoy": 0, "ma\u00f1ana": 1,
}  # fmt: skip
TIMES_NAMED = {"noon": 720, "midday": 720, "midnight": 0, "mittag": 720, "mitternacht": 0, "midi": 720, "minuit": 0}
BEFORE_A_TIME = frozenset({"\u00e0", "at", "um", "vers", "pour", "by", "after", "before", "a", "gegen", "ab", "bis"})
TAXES = re.compile(r"\b(?:tax|vat|mwst|gst|net)\b")
"""The words for a tax in a claim: whether it is in it or not is said there."""
