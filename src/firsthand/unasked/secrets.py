"""Secrets in a text, by their shape: what a vendor's key, a private key's block or a set password looks like.

The invariant: a secret's whole span is given, never a part of it; time is linear in the
text; a mark that stands for a secret (`mark_of`) is never seen as one. A shape is a guess:
a password in a sentence, and a key of a vendor that has no sign of its own, are not seen.
What is seen and what is missed: bench/SECRETS.md.

Pure. The library behind the extra ``secrets`` is asked in `secret_library`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from hashlib import blake2s

from firsthand.value import value

MARK_HASH_BYTES = 6
KEY_BYTES = 32
BLOCK_CHARACTERS_MAX = 20_000
"""Of a private key's block; the largest RSA keys have 13,000."""
VALUE_CHARACTERS_MIN = 6
JUDGED_CHARACTERS_MAX = 64
"""Of a value or a key that say whether it looks drawn by lot; a name within a long value has a value of its own."""
ODD_BITS_MIN = 2.2
"""Of entropy a sign, that an assigned value has at least; "aaaaaaa1" has less."""


@value
class Secret:
    """Where a secret stands in a text, and of what sort it is.

    Attributes:
        start, end: its first sign, and the one behind its last.
        sort: such as ``github-token``; lower-case letters, digits and hyphens.
    """

    start: int
    end: int
    sort: str


Finder = Callable[[str], tuple[Secret, ...]]
Marker = Callable[[str, str], str]
"""Makes of a sort and a secret what stands in the secret's place."""


def find(text: str) -> tuple[Secret, ...]:
    """Find the secrets of a text by the shapes that are known here, in order, none within another."""
    return outside_marks(text, merged([*_prefixed(text), *_blocks(text), *_headers(text), *_assigned(text)]))


def outside_marks(text: str, secrets: tuple[Secret, ...]) -> tuple[Secret, ...]:
    """Leave out what stands in a mark."""
    if "[secret:" not in text:
        return secrets
    outside: list[Secret] = []
    marks = _compiled(_MARK).finditer(text)
    mark = next(marks, None)
    for secret in secrets:
        while mark is not None and mark.end() <= secret.start:
            mark = next(marks, None)
        if mark is None or secret.end <= mark.start():
            outside.append(secret)
    return tuple(outside)


def merged(secrets: Iterable[Secret]) -> tuple[Secret, ...]:
    """Join spans that overlap into one, of the sort of the first."""
    joined: list[Secret] = []
    for secret in sorted(secrets, key=lambda secret: (secret.start, -secret.end)):
        if joined and secret.start < joined[-1].end:
            last = joined[-1]
            joined[-1] = Secret(last.start, max(last.end, secret.end), last.sort)
        else:
            joined.append(secret)
    return tuple(joined)


def mark_of(sort: str, _secret: str) -> str:
    """Write what stands in a secret's place where nothing of it may be told but its sort."""
    return f"[secret:{sort}]"


def keyed_mark(key: bytes) -> Marker:
    """Make a marker whose marks are the same for the same secret, and tell nothing of it to who has no key."""
    assert len(key) == KEY_BYTES, f"expected a key of {KEY_BYTES} bytes; got {len(key)}"

    def mark(sort: str, secret: str) -> str:
        digest = blake2s(
            secret.encode("utf-8", "surrogatepass"), digest_size=MARK_HASH_BYTES, key=key, person=b"secret 1"
        ).digest()
        return f"[secret:{sort}:{digest.hex()}]"

    return mark


def marks_in(text: str) -> dict[str, int]:
    """Count the keyed marks in a text, by sort."""
    if "[secret:" not in text:
        return {}
    return dict(Counter(match["sort"] for match in _compiled(_MARK).finditer(text) if match["hash"]))


def mask(text: str, finder: Finder = find, mark: Marker = mark_of) -> str:
    """Put a mark in the place of each secret of a text."""
    return masked(text, finder(text), mark)


def masked(text: str, secrets: Iterable[Secret], mark: Marker = mark_of) -> str:
    """Put marks in the places of secrets that were found in a text."""
    parts, at = [], 0
    for secret in secrets:
        parts += [text[at : secret.start], mark(secret.sort, text[secret.start : secret.end])]
        at = secret.end
    return "".join([*parts, text[at:]])


# keys with a sign of their own ---------------------------------------------------------------------------

_WORD = r"[A-Za-z0-9]"
_WIDE = r"[A-Za-z0-9_-]"
_PREFIXES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("age-key", ("AGE-SECRET-KEY-1",), r"[A-Z0-9]{40,70}"),
    ("airtable-token", ("pat",), r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("anthropic-key", ("sk-ant-",), _WIDE + "{20,200}"),
    ("atlassian-token", ("ATATT3", "ATCTT3"), r"[A-Za-z0-9_=-]{40,300}"),
    ("aws-access-key", ("AKIA", "ASIA", "ABIA", "ACCA"), r"[0-9A-Z]{16}(?![0-9A-Za-z])"),
    ("databricks-token", ("dapi",), r"[0-9a-f]{32}(?:-\d)?"),
    ("digitalocean-token", ("dop_v1_", "doo_v1_", "dor_v1_"), r"[0-9a-f]{64}"),
    ("discord-webhook", ("https://discord.com/api/webhooks/", "https://discordapp.com/api/webhooks/"),
     r"\d{15,22}/[\w-]{40,100}"),
    ("docker-token", ("dckr_pat_", "dckr_oat_"), _WIDE + "{20,60}"),
    ("doppler-token", ("dp.pt.", "dp.st.", "dp.ct.", "dp.sa."), r"[A-Za-z0-9._-]{30,80}"),
    ("dropbox-token", ("sl.",), _WIDE + "{60,300}"),
    ("figma-token", ("figd_",), _WIDE + "{30,80}"),
    ("fly-token", ("FlyV1 ", "fo1_"), r"[A-Za-z0-9_=,/+-]{30,1000}"),
    ("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), _WORD + "{20,255}"),
    ("github-token", ("github_pat_",), r"\w{20,255}"),
    ("gitlab-token", ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-",
                      "glsoat-", "glffct-"), r"[A-Za-z0-9_.-]{16,255}"),
    ("google-key", ("AIza",), _WIDE + "{30,100}"),
    ("google-token", ("ya29.",), _WIDE + "{20,400}"),
    ("google-oauth-secret", ("GOCSPX-",), _WIDE + "{20,60}"),
    ("grafana-token", ("glsa_", "glc_"), r"[A-Za-z0-9_+/=-]{32,400}"),
    ("groq-key", ("gsk_",), _WORD + "{40,80}"),
    ("heroku-key", ("HRKU-",), _WIDE + "{36,80}"),
    ("huggingface-token", ("hf_", "api_org_"), _WORD + "{20,255}"),
    ("jwt", ("eyJ",), r"[\w-]{8,4000}\.eyJ[\w-]{8,8000}(?:\.[\w-]{0,2000})?"),
    ("linear-key", ("lin_api_", "lin_oauth_"), _WORD + "{32,80}"),
    ("mailchimp-key", ("mc-",), r"[0-9a-f]{32}-us\d{1,2}"),
    ("mailgun-key", ("key-",), r"[0-9a-f]{32}(?![0-9A-Za-z])"),
    ("netlify-token", ("nfp_", "nfc_", "nfo_"), _WORD + "{30,80}"),
    ("newrelic-key", ("NRAK-", "NRII-", "NRJS-"), _WIDE + "{19,60}"),
    ("notion-token", ("ntn_", "secret_"), _WORD + "{40,60}"),
    ("npm-token", ("npm_",), _WORD + "{20,255}"),
    ("openai-key", ("sk-proj-", "sk-svcacct-", "sk-admin-"), _WIDE + "{16,300}"),
    ("secret-key", ("sk-", "rk-", "pk-"), _WIDE + "{20,300}"),
    ("perplexity-key", ("pplx-",), _WORD + "{40,80}"),
    ("planetscale-token", ("pscale_tkn_", "pscale_pw_", "pscale_oauth_"), r"[\w=.-]{32,80}"),
    ("postman-key", ("PMAK-",), r"[0-9a-f]{24}-[0-9a-f]{34}"),
    ("pypi-token", ("pypi-",), _WIDE + "{20,400}"),
    ("replicate-token", ("r8_",), _WORD + "{30,60}"),
    ("rubygems-key", ("rubygems_",), r"[0-9a-f]{48}"),
    ("sendgrid-key", ("SG.",), r"[\w-]{16,32}\.[\w-]{32,64}"),
    ("sentry-token", ("sntrys_", "sntryu_"), r"[A-Za-z0-9_=+/]{40,400}"),
    ("shopify-token", ("shpat_", "shpss_", "shpca_", "shppa_"), r"[0-9a-fA-F]{32}"),
    ("slack-token", ("xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-",
                     "xapp-", "xwfp-"), r"[A-Za-z0-9%./=+-]{10,400}"),
    ("slack-webhook", ("https://hooks.slack.com/",), r"(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,120}"),
    ("square-token", ("sq0atp-", "sq0csp-", "sq0idp-", "EAAAE"), _WIDE + "{22,100}"),
    ("stripe-key", ("sk_live_", "sk_test_", "rk_live_", "rk_test_"), _WORD + "{10,255}"),
    ("stripe-webhook-secret", ("whsec_",), r"[A-Za-z0-9+/=]{24,100}"),
    ("supabase-token", ("sbp_", "sb_secret_"), r"[A-Za-z0-9_-]{20,80}"),
    ("tailscale-key", ("tskey-",), r"[A-Za-z0-9-]{16,120}"),
    ("twilio-key", ("SK",), r"[0-9a-f]{32}(?![0-9A-Za-z])"),
    ("vault-token", ("hvs.", "hvb.", "hvr."), r"[\w-]{24,300}"),
    ("xai-key", ("xai-",), _WORD + "{40,120}"),
)  # fmt: skip
"""Sorts, what their keys begin with, and how they go on."""
_AFTER_ESCAPE = r"(?<=\\[nrt])"
_ENDS_BEFORE = (
    r"(?:\\[abefnrtv0]|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|%[0-9a-fA-F]{2}|\[[0-9;]{0,11}m|(?<![A-Za-z0-9_])_{1,3}"
    r"|(?<=[A-Za-z0-9])__)\Z"
)
"""What ends in a letter, a digit or a ``_`` and is no part of the word behind it: ``\\n`` as JSON writes it, and the
``__`` in a tool's name (``mcp__server__tool``)."""
_NUMBERED = (
    ("telegram-token", ":AA", r"(?<![0-9])[0-9]{8,10}:AA[\w-]{32,35}(?![\w-])"),
    ("terraform-token", ".atlasv1.", rf"(?:\b|{_AFTER_ESCAPE})[A-Za-z0-9]{{14}}\.atlasv1\.[A-Za-z0-9_=-]{{60,70}}"),
    (
        "discord-token",
        ".",
        rf"(?:(?<![\w.-])|{_AFTER_ESCAPE})[MNO][A-Za-z0-9_-]{{23,27}}\.[A-Za-z0-9_-]{{6}}\.[A-Za-z0-9_-]{{27,40}}(?![\w-])",
    ),
)
"""Keys whose sign stands within them."""
_MARK = r"\[secret:(?P<sort>[a-z0-9-]{1,60})(?::(?P<hash>[0-9a-f]{12}))?(?:, fh:[0-9A-Z@.-]{26,60})?\]"
_compiled = cache(re.compile)


def _prefixed(text: str) -> Iterator[Secret]:
    for sort, prefixes, rest in _PREFIXES:
        for prefix in prefixes:
            at = text.find(prefix)
            end_of = _ends(text, rest) if at >= 0 else None
            while end_of is not None and at >= 0:
                after = at + len(prefix)
                end = end_of(after) if _begins_word(text, at) else 0
                if end and (
                    sort == "aws-access-key" or _is_mixed(text[after : min(end, after + JUDGED_CHARACTERS_MAX)])
                ):
                    yield Secret(at, end, sort)
                    after = end
                at = text.find(prefix, after)
    for sort, sign, shape in _NUMBERED:
        if sign in text:
            for match in _compiled(shape).finditer(text):
                if _is_mixed(match[0][:JUDGED_CHARACTERS_MAX]):
                    yield Secret(match.start(), match.end(), sort)


def _ends(text: str, shape: str) -> Callable[[int], int]:
    """Give what says where a shape that begins at a place ends, 0 for nowhere; of places that rise.

    Signs of one class, and what stands behind the last of them, are looked at once for all places among them.
    """
    run = _compiled(_RUN).fullmatch(shape)
    if run is None:
        return lambda at: match.end() if (match := _compiled(shape).match(text, at)) is not None else 0
    least, most, behind = int(run["least"]), int(run["most"] or len(text)), run["behind"]
    of_class, last, end_behind = _compiled(f"{run['sign']}*"), 0, 0

    def end_of(at: int) -> int:
        nonlocal last, end_behind
        if at > last or not last:
            match = of_class.match(text, at)
            last = match.end() if match is not None else at
            rest = _compiled(behind).match(text, last)
            end_behind = rest.end() if rest is not None else 0
        size = last - at
        if behind:
            return end_behind if least <= size <= most else 0
        return min(last, at + most) if size >= least else 0

    return end_of


_RUN = r"(?P<sign>\[(?:\\.|[^\]\\])+\]|\\[wd])\{(?P<least>\d+),(?P<most>\d*)\}(?P<behind>.*)"


def _begins_word(text: str, at: int) -> bool:
    """Say whether a word begins at a place; an escape, a colour of a terminal or a sign of emphasis ends before it."""
    last = text[at - 1 : at]
    if not last.isascii() or not (last.isalnum() or last == "_"):
        return True
    return _compiled(_ENDS_BEFORE).search(text[max(0, at - 16) : at]) is not None


@lru_cache(4_096)
def _is_mixed(rest: str) -> bool:
    """Say whether signs look drawn by lot: a placeholder repeats itself, a name of words and hyphens has no digit."""
    return (_DIGIT.search(rest) is not None or not _is_words(rest)) and _bits(rest) >= 1.5


# blocks, headers, addresses ------------------------------------------------------------------------------

_BEGIN = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_BODY = r"(?:[A-Za-z0-9+/=:,.\s-]|\\[nrt\\])*"
"""What a block without an end goes on with: base64 and its headers, line ends written out or not."""
_PUTTY = r"Private-Lines: \d{1,3}\s+(?:[A-Za-z0-9+/=]{20,70}\s*){1,99}"
_SCHEMES = r"(?:[Bb]earer|BEARER|[Bb]asic|BASIC|[Tt]oken|[Aa]pi[Kk]ey|[Dd]igest|SSWS|GenieKey|[Bb]ot)"
_HEADERS = (
    ("bearer-token", rf"(?:\b|{_AFTER_ESCAPE})(?:[Bb]earer|BEARER)\s+(?P<it>[\w.~+/=-]{{16,4096}})"),
    ("authorization",
     r"(?:[Aa]uthorization|AUTHORIZATION)\\?[\"']?\s{0,3}[:=]\s{0,3}\\?[\"']?" + _SCHEMES
     + r"\s+(?P<it>[\w.~+/=:-]{8,4096})"),
    ("cookie", rf"(?:\b|{_AFTER_ESCAPE})(?:[Ss]et-)?[Cc]ookie:\s*(?P<it>[^\s=;]{{1,60}}=[^\r\n\"']{{16,4096}})"),
    ("url-password", r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@\"'<>]{0,128}:(?P<it>[^\s/@\"'<>]{2,256})@"),
)  # fmt: skip
_NAME = re.compile(r"[a-z]+(?:[._-][a-z]+)*")
_HEADER_SIGNS = ("earer", "EARER", "uthorization", "AUTHORIZATION", "ookie:", "://")


def _blocks(text: str) -> Iterator[Secret]:
    if "PRIVATE KEY" in text:
        at = 0
        ends = _compiled(_END).finditer(text)
        end = next(ends, None)
        while (begin := _compiled(_BEGIN).search(text, at)) is not None:
            while end is not None and end.start() < begin.end():
                end = next(ends, None)
            most = begin.end() + BLOCK_CHARACTERS_MAX
            is_whole = end is not None and end.end() <= most
            match = end if is_whole else _compiled(_BODY).match(text, begin.end(), most)
            at = match.end() if match is not None else begin.end()
            yield Secret(begin.start(), at, "private-key")
    if "Private-Lines: " in text:
        for match in _compiled(_PUTTY).finditer(text):
            yield Secret(match.start(), match.end(), "private-key")


def _headers(text: str) -> Iterator[Secret]:
    if not any(sign in text for sign in _HEADER_SIGNS):
        return
    for sort, shape in _HEADERS:
        for match in _compiled(shape).finditer(text):
            if not _is_placeholder(match["it"]) and not _NAME.fullmatch(match["it"]):
                yield Secret(match.start("it"), match.end("it"), sort)


# what is set under a name for a secret -------------------------------------------------------------------

_NAMES = (
    r"(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|api[_-]?key|access[_-]?key|account[_-]?key|private[_-]?key"
    r"|secret[_-]?key|auth[_-]?key|encryption[_-]?key|signing[_-]?key|shared[_-]?key|credentials?|client[_-]?secret"
    r"|connection[_-]?string|sas|sig)"
)
_SET = (
    rf"{_NAMES}(?:[_-]?(?:id|b64|base64|value|v\d))?(?![a-z0-9])"
    r"\\?[\"'`]?\]?\s{0,4}(?P<set>:=|=>|==|=|:|\s(?=\S))\s{0,4}"
)
_OPEN, _BEHIND = r"\\?[\"'`]?", r"\\?[\"'`]?.?"
_VALUE = r"[^\s\"'`\\,;(){}\[\]<>]" + f"{{{VALUE_CHARACTERS_MIN},}}"
_NAME_SIGNS = ("pass", "pwd", "secret", "token", "key", "credential", "connection", "sas", "sig")
_WORDS = re.compile(r"[A-Za-z]+(?:[._/:@-]+[A-Za-z]+)*[._/:-]*")
_CHANGE, _DIGIT = re.compile(r"[a-z](?=[A-Z])"), re.compile(r"\d")
_NUMBERS = re.compile(r"[0-9.,:+%/_-]*")
_PATH = re.compile(r"(?:~|\.{0,2})/[\w./~-]*|[A-Za-z]:[\\/].*|https?://.*")
_PLACEHOLDER = re.compile(
    r"(?i)^[$%]|\*{3}|x{6}|\.{3}|\u2026|^(?:your|my|example|changeme|redacted|placeholder|insert)"
)
_ASCII_SMALL = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][A-Za-z0-9_$]*)+")


def _assigned(text: str) -> Iterator[Secret]:
    small = text.lower() if text.isascii() else text.translate(_ASCII_SMALL)  # as long as the text
    if not any(sign in small for sign in _NAME_SIGNS):
        return
    end_of, covered = _ends(text, _VALUE), 0
    for setting in _compiled(_SET).finditer(small):
        if not setting["set"].strip() and not _is_flag(text, setting.start()):
            continue
        opened = _compiled(_OPEN).match(text, setting.end())
        start = opened.end() if opened is not None else setting.end()
        end = end_of(start)
        if end <= covered:  # there is none, or it is the end of one that was found
            continue
        behind = _compiled(_BEHIND).match(text, end)
        word = text[start : min(end, start + JUDGED_CHARACTERS_MAX)]
        is_call = start == setting.end() and behind is not None and behind[0][:1] in ("(", "[", "{")
        if not is_call and _is_secret_value(word, setting[0], quoted=start > setting.end()):
            covered = end
            yield Secret(start, end, _sort_of(setting[0]))


def _is_flag(text: str, at: int) -> bool:
    """Say whether the name of an option of a command stands at a place, or ends there."""
    start = at
    while start > max(0, at - 60) and (text[start - 1].isalnum() or text[start - 1] in "_-"):
        start -= 1
    return text.startswith("--", start)


def _sort_of(name: str) -> str:
    return "password" if "pass" in name or "pwd" in name else "token" if "token" in name else "secret"


@lru_cache(4_096)
def _is_secret_value(word: str, name: str, *, quoted: bool) -> bool:
    """Say whether what is set looks drawn by lot, and is no word, number, path or name of a program."""
    is_password = "pass" in name or "pwd" in name
    has_digit, has_letter = any(map(str.isdigit, word)), any(map(str.isalpha, word))
    if has_digit and has_letter:
        is_odd = is_password or len(word) >= 12 or (quoted and len(word) >= 8)
    else:
        is_odd = quoted and is_password and has_letter and not _is_words(word)
    if not is_odd or _NUMBERS.fullmatch(word) or _PATH.fullmatch(word) or _IDENTIFIER.fullmatch(word):
        return False
    return not _is_placeholder(word) and _bits(word) >= ODD_BITS_MIN


def _is_words(word: str) -> bool:
    """Say whether a string is letters and what joins names, with no more changes of case than names have."""
    return _WORDS.fullmatch(word) is not None and len(_CHANGE.findall(word)) <= 2 + len(word) // 8


def _is_placeholder(word: str) -> bool:
    return _PLACEHOLDER.search(word) is not None or len(set(word)) <= 3


def _bits(word: str) -> float:
    """Give the entropy of a word's signs, in bits a sign."""
    size = len(word)
    return -sum(number / size * math.log2(number / size) for number in Counter(word).values()) if size else 0.0
