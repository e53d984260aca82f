"""Notes with the session they were made of and a gold verdict: the set that the probe is measured on.

`third` puts it together, of what modules named ``second`` of an older set (commit d36c38b) left
it: forms, words, rows, a solver. `gold` says what a verdict is and computes it from structured
facts, never from a text.
"""
