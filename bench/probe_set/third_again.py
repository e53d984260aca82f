"""What was judged of the third set's notes by hand a second time, from the texts alone.

The notes were shuffled, and neither the first verdict nor its argument was shown; but it was the same person on the
same day. 196 of 199 were the same. The three others were found ambiguous, not judged otherwise: two of *cakes*, where
the dish that fits had nothing in it and so fitted everybody, and one of *backup*, where "no, 45" was cited and no note
said of what. Both sessions were written anew, before anything was measured; the letters of these
three are the set's own verdicts.
Of 144 generated notes, four of each kind, 143 were judged as computed; in the other a slip was overlooked. What then
looked doubtful was changed (a part of clues that concludes nothing, a topic that says how many things there are), and
of 72 notes after that, two of each kind, all were judged as computed.

Who works on the probe does not read this file.
"""

from __future__ import annotations

AGAIN = {
    "bundle": "CCSSSRL", "release": "CSLSSRS", "loglevel": "CSSLRRS", "backup": "CCSSSRL",
    "matrix": "CCSSLRS", "digest": "CSCSLRS", "routes": "CCSSLR", "pages": "CSCSSLR",
    "outage": "CSSLRSR", "latency": "CCSSSLR", "merge": "CCSSSLR", "targets": "CCSSSLR",
    "cancel": "CSRRLL", "coach": "CCSRRLS", "suitcase": "CCSSRLL", "plan-year": "CCSSRL",
    "workshop": "CCSSRSLL", "drops": "CCSSRL", "drapes": "CSSRSL", "chainsaw": "CCSSRL",
    "payroll": "CSSSRRSL", "cakes": "CSRLR", "factura": "CCSSLRS", "ekzamen": "CCSSRLL",
    "kaigi": "CCSSSRL", "spoor": "CSSRLL", "tablet": "CCSSRLS", "senha": "CSSLRR",
    "hyra": "CSSRLL", "vlak": "CSRSL",
}  # fmt: skip
"""By session, a letter for each of its notes in their order."""
