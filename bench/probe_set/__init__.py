"""Notes with the session they were made of and a gold verdict: the set that the probe is measured on.

The set was written before the probe. `cases` puts it together; `gold` says what a
verdict is and computes it from structured facts, never from a text. Half of each kind
is held out: it is reported, and nobody who works on the probe looks at it.
"""
