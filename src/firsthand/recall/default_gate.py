"""The weights of the gate that a store begins with.

Written by ``python bench/gate_fit.py --data DATA --write``; not edited by hand.
"""

from __future__ import annotations

BIAS = -2.518
WEIGHTS = {
    "known": -0.131,
    "rarity": -0.249,
    "held": 0.286,
    "held_around": 0.423,
    "held_mean": -1.003,
    "said": 1.843,
    "unsaid": -1.824,
    "others": -0.221,
    "weight": 3.125,
    "rarest": -0.576,
    "rare_two": -0.314,
    "base": 0.051,
    "lead": 0.139,
    "lead_tenth": 0.292,
    "lead_last": 0.665,
    "close": 1.723,
    "long": -1.124,
    "same_session": 0.459,
    "whole": 0.073,
    "strings": -0.192,
    "strings_missing": -0.030,
    "numbers_missing": -0.112,
    "names_missing": -0.540,
}
QUESTIONS = 6919
ERROR = 0.040
