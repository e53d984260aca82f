r"""One spelling for texts that look alike, so that what is said again in disguise counts as said once.

    "The staging port is 8443."   "THE  STAGING PORT is \uff18443"   "The stag\u0456ng p\u200bort is 8443"

The invariant: letters that look like Latin ones (full width, Cyrillic, Greek), signs that
are not seen, marks above and below, case and digits of other scripts make no difference;
folding twice is folding once. It is for counting, never for showing: words of other
scripts may fold together, which counts two as one and never one as two.

It does not know what a text means.
"""

from __future__ import annotations

import unicodedata

_LOOKS_LIKE = {
    "a": "\u0251\u0391\u03b1\u0410\u0430", "b": "\u0392\u03b2\u0412\u0432", "c": "\u0421\u0441",
    "d": "\u0500\u0501", "e": "\u0395\u03b5\u0415\u0435", "g": "\u0261",
    "h": "\u0397\u041d\u043d\u04ba\u04bb\u0570", "i": "\u0131\u0399\u03b9\u0406\u0456\ua7ae", "j": "\u0408\u0458",
    "k": "\u039a\u03ba\u041a\u043a", "l": "\u2113", "m": "\u039c\u041c\u043c", "n": "\u039d\u0578",
    "o": "\u039f\u03bf\u041e\u043e\u0585", "p": "\u03a1\u03c1\u0420\u0440", "q": "\u051a\u051b", "r": "\u0491",
    "s": "\u0405\u0455", "t": "\u03a4\u03c4\u0422\u0442", "u": "\u03c5\u057d", "v": "\u03bd", "w": "\u051c\u051d",
    "x": "\u03a7\u03c7\u0425\u0445", "y": "\u03a5\u03b3\u0423\u0443", "z": "\u0396",
}  # fmt: skip
"""By Latin letter, the Cyrillic, Greek and Armenian ones that look like it to the eye, small and capital."""
_LOOKS = str.maketrans({sign: letter for letter, signs in _LOOKS_LIKE.items() for sign in signs})
_UNSEEN = frozenset({"Cf", "Mn", "Me", "Cc"})


def folded(text: str) -> str:
    """Give a text in the one spelling of all that look like it."""
    if text.isascii():
        return text.casefold()
    plain = unicodedata.normalize("NFKD", text.translate(_LOOKS)).translate(_LOOKS).casefold()
    return unicodedata.normalize("NFKD", "".join(map(_sign, plain)))


def _sign(sign: str) -> str:
    """Give a sign as it counts: nothing for what is not seen, its digit for a digit."""
    if sign.isascii():
        return sign
    category = unicodedata.category(sign)
    if category in _UNSEEN:
        return ""
    return str(unicodedata.digit(sign)) if category == "Nd" else sign
