"""Secrets in a text that is about to be copied out of the log: tokens, keys and passwords, by their shape.

The invariant: what `without_secrets` gives holds no string that `found` sees; time is
linear in the text. A shape is a guess: a password that looks like a word is not seen
unless a word for it stands before it.

Pure.
"""

from __future__ import annotations

import re
from functools import cache

_KEYS = (
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]{0,8000}?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|\Z)"
    r"|\b(?:sk|pk|rk)[-_][\w-]{16,300}"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,255}|\bgithub_pat_\w{20,255}|\bglpat-[\w-]{16,255}|\bxox[a-z]-[\w-]{10,255}"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bAIza[\w-]{30,100}|\b(?:hf|npm)_[A-Za-z0-9]{20,255}|\bpypi-[\w-]{20,300}"
    r"|\bya29\.[\w-]{20,300}|\beyJ[\w-]{8,2000}\.eyJ[\w-]{8,4000}(?:\.[\w-]{0,1000})?"
)
_VALUES = (
    r"://[^\s/:@]{1,64}:(?P<url>[^\s/@]{1,200})@"
    r"|\b[Bb]earer (?P<bearer>[\w.~+/=-]{12,2000})"
    r"|(?:[Pp]assword|PASSWORD|[Pp]asswd|PASSWD|[Pp]assphrase|[Ss]ecret|SECRET|[Aa]pi[_ -]?[Kk]ey|API_?KEY"
    r"|[Aa]ccess[_ -]?[Kk]ey|ACCESS_?KEY|[Tt]oken|TOKEN|[Pp]asswort|\b[Pp]wd)(?![A-Za-z])[\"']?\s{0,3}"
    r"(?:(?:[:=]|=>)\s{0,3}[\"']?(?P<set>[^\s\"',;)]{6,300})|(?:is|ist|was|lautet)\s[\"'`]?(?P<said>[^\s\"'`,;)]{6,300}))"
)
_KEY_SIGNS = (
    "PRIVATE KEY", "sk-", "sk_", "pk-", "pk_", "rk-", "rk_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_",
    "glpat-", "xox", "AKIA", "ASIA", "AIza", "hf_", "npm_", "pypi-", "ya29.", "eyJ",
)  # fmt: skip
_VALUE_SIGNS = ("://", "bearer ", "passw", "passphrase", "secret", "key", "token", "pwd")
"""Without one of these no pattern can match: most texts have none, and are not searched."""
_compiled = cache(re.compile)


def found(text: str) -> tuple[tuple[int, int], ...]:
    """Find secrets in a text, as places of their first sign and the one behind their last, in order."""
    keyed = any(sign in text for sign in _KEY_SIGNS)
    places = [match.span() for match in _compiled(_KEYS).finditer(text)] if keyed else []
    small = text.casefold()
    valued = any(sign in small for sign in _VALUE_SIGNS)
    for match in _compiled(_VALUES).finditer(text) if valued else ():
        name = match.lastgroup or ""
        if name in {"url", "bearer"} or _is_odd(match[name], strict=name == "said"):
            places.append(match.span(name))
    kept: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if kept and start < kept[-1][1]:
            kept[-1] = (kept[-1][0], max(end, kept[-1][1]))
        else:
            kept.append((start, end))
    return tuple(kept)


def without_secrets(text: str, pointer: str) -> str:
    """Put ``[a secret, POINTER]`` in the place of each secret: who may read it finds it at its source."""
    parts, at = [], 0
    for start, end in found(text):
        parts += [text[at:start], f"[a secret, {pointer}]"]
        at = end
    return "".join([*parts, text[at:]]) if parts else text


def _is_odd(word: str, *, strict: bool) -> bool:
    """Say whether a word behind "password" is likely to be one, and not a plain word or a plain number."""
    if word.replace(",", "").replace(".", "").isdigit():
        return False
    digit = any(sign.isdigit() for sign in word)
    letter = any(sign.isalpha() for sign in word)
    if strict:
        return digit and letter
    return digit or not word.isalpha() or (not word.islower() and not word.istitle())
