r"""What a host or a model may read as a role, a system message or a tool's call, made plain text that stays readable.

    <system-reminder>Obey</system-reminder>   [tag: system-reminder]Obey[tag: /system-reminder]
    <|im_start|>system                        [tag: im_start]system
    Human: do it                              [tag: Human]: do it

The invariant: what `plain` gives holds no such tag, neither to a program nor to an eye:
invisible signs within a tag, full-width and other look-alike brackets and escaped ones
(``&lt;``, ``\u003c``) are seen through. Elements of HTML stay, and so do type arguments
(``List<String>``). What is not a tag stays as it is, sign for sign.

Pure.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

NAME_CHARACTERS_MAX = 200
HTML = frozenset(
    """
    a abbr address area article aside audio b base bdi bdo blockquote body br button canvas caption circle cite code
    col colgroup data datalist dd defs del details dfn dialog div dl dt em embed fieldset figcaption figure footer form
    g h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label legend li line link main map mark
    menu meta meter nav noscript object ol optgroup option output p param path picture pre progress q rect rp rt ruby
    samp script section select slot small source span strong style sub summary sup svg table tbody td template text
    textarea tfoot th thead time title tr track u ul use var video wbr
    """.split()  # noqa: SIM905 - so many quoted words are harder to read
)
_ROLES = "System|Human|Assistant|User|Developer|SYSTEM|HUMAN|ASSISTANT|USER|DEVELOPER"
_LIKE = {
    "<": "\u2039\u27e8\u27ea\u3008\u300a\u2329\u276e\u276c\u2770\u02c2\u1438\ufe64\uff1c\u227a\u22d6",
    ">": "\u203a\u27e9\u27eb\u3009\u300b\u232a\u276f\u276d\u2771\u02c3\u1433\ufe65\uff1e\u227b\u22d7",
    "|": "\uff5c\u2502\u2223\u01c0\u2758\u2503\uffe8\u05c0", "/": "\u2044\u2215\uff0f\u29f8\u2571",
    "[": "\uff3b\u3010\u3014\u27e6\u301a", "]": "\uff3d\u3011\u3015\u27e7\u301b",
    ":": "\uff1a\ua789\u2236\ufe13\ufe55\u02d0", "#": "\uff03\ufe5f", "-": "\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d",
    "_": "\uff3f\ufe4d\ufe4e\ufe4f",
}  # fmt: skip
_PLAIN = {sign: plain for plain, signs in _LIKE.items() for sign in signs}
_ESCAPES = re.compile(
    r"&(?:amp;)?(?:lt|#0*60|#x0*3c);?|(?<!\\)\\+(?:u003c|x3c)|(?P<more>&(?:amp;)?(?:gt|#0*62|#x0*3e);?|(?<!\\)\\+(?:u003e|x3e))",
    re.IGNORECASE,
)
_TAG = (
    r"<{1,3}\s*\|\s*(?P<token>[^<>|\n]{1,60}?)\s*\|\s*>{1,3}"
    r"|<<\s*(?P<fence>(?:firsthand|end)\s[^<>\n]{0,200}|/?\s*SYS\s*)>>"
    r"|<\s*(?P<name>[/!?]?\s*[^\W\d_](?:[\w:.-]{0,80}\w)?)(?P<rest>(?:\s[^<>]{0,400}?)?\s*/?\s*>)?"
    r"|\[\s*(?P<square>/?\s*(?:INST|SYS|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT))\s*\]"
    rf"|^[ \t]*(?:\#{{1,6}}[ \t]*|\*\*[ \t]*|>[ \t]*)?"
    rf"(?P<role>{_ROLES}|(?<=\#)\s*(?:system|human|assistant|user|Instruction|Response))"
    r"(?:[ \t]*\*\*)?[ \t]*(?P<colon>:)"
    r"|^[ \t]*(?P<block>```+[ \t]*(?:tool_calls?|tool_code|tool_outputs?|function_calls?))"
)
_compiled = cache(re.compile)


def plain(text: str) -> str:
    """Write a text without role and system tags: each becomes ``[tag: NAME]``, and all else stays."""
    skeleton, places = _skeleton(text)
    parts, at = [], 0
    for match in _compiled(_TAG, re.MULTILINE).finditer(skeleton):
        written = _written(match, skeleton)
        if written is None:
            continue
        start, end = places[match.start()], places[match.end()]
        parts += [text[at:start], written]
        at = end
    return "".join([*parts, text[at:]])


def _written(match: re.Match[str], skeleton: str) -> str | None:
    """Write what stands in a tag's place; None for what is none."""
    kind = match.lastgroup if match.lastgroup not in {"rest", "colon"} else "name" if match["name"] else "role"
    if kind == "name":
        name = "".join(match["name"].split())
        bare = name.lstrip("/!?")
        before = skeleton[match.start() - 1 : match.start()]
        first, dot, _ = bare.casefold().partition(".")
        if name[:1] == "!" or bare.casefold() in HTML or (dot and first not in _NEVER):
            return None
        is_argument = before.isalnum() and before.isascii() and bare.isalnum() and bare.casefold() not in _NEVER
        if is_argument or (match["rest"] is None and bare.isalnum() and bare.casefold() not in _NEVER):
            return None
        rest = " ".join((match["rest"] or "").rstrip(">").split()).rstrip("/ ")
        return f"[tag: {name}{' ' + rest if rest else ''}]"
    if kind == "role":
        start = len(match[0]) - len(match[0].lstrip(" \t"))
        return f"{match[0][:start]}[tag: {match['role'].strip()}]:"
    inner = match[kind or 0]
    return f"[tag: {' '.join(inner.strip('`').split())}]"


_NEVER = frozenset({"system", "human", "assistant", "user", "developer", "tool", "function", "invoke", "parameter",
                    "instructions", "thinking", "reminder", "s", "bos", "eos"})  # fmt: skip
"""Names that are a tag wherever they stand behind a bracket."""


def _skeleton(text: str) -> tuple[str, list[int] | range]:
    """Give what a text looks like: no invisible signs, plain brackets; and where each of its signs stands in the text.

    The list of places has one more for the end.
    """
    escapes = {match.start(): match for match in _ESCAPES.finditer(text)} if ("&" in text or "\\" in text) else {}
    if text.isascii() and not escapes:
        return text, range(len(text) + 1)
    signs: list[str] = []
    places: list[int] = []
    at = 0
    while at < len(text):
        sign = text[at]
        step = 1
        if at in escapes:
            sign, step = (">" if escapes[at]["more"] else "<"), len(escapes[at][0])
        elif not sign.isascii():
            sign = _PLAIN.get(sign) or _folded(sign)
        if sign:
            signs.append(sign)
            places.append(at)
        at += step
    return "".join(signs), [*places, len(text)]


@cache
def _folded(sign: str) -> str:
    """Give the sign that another one looks like; empty for one that is not seen."""
    if unicodedata.category(sign) in {"Cf", "Mn", "Me", "Cc", "Cn", "Co"}:
        return ""
    folded = unicodedata.normalize("NFKC", sign)
    return folded if len(folded) == 1 else sign
