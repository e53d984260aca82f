"""The weights of the gate that a store begins with.

Written by ``bench/gate_fit.py`` of commit d36c38b; not edited by hand.
"""

from __future__ import annotations

BIAS = -3.978
WEIGHTS = {
    "known": -0.701,
    "rarity": 0.067,
    "held": -0.599,
    "complete": 0.747,
    "held_around": 1.114,
    "held_mean": -0.232,
    "said": 0.624,
    "unsaid": -2.441,
    "others": -0.461,
    "weight": 3.671,
    "rarest": -0.467,
    "rare_two": -0.443,
    "base": 3.540,
    "lead": -0.033,
    "lead_tenth": -0.176,
    "lead_last": 0.464,
    "close": 2.021,
    "long": -0.343,
    "same_session": 0.132,
    "whole": 2.054,
    "strings": -0.264,
    "strings_missing": -0.632,
    "numbers_missing": -0.243,
    "names_missing": -0.547,
}
QUESTIONS = 6182
ERROR = 0.057
