"""What finds secrets, what it costs and what it masks by mistake: our shapes, kingfisher, betterleaks, detect-secrets.

    python bench/secrets_bench.py --data ../shared/data            the table
    python bench/secrets_bench.py --data ../shared/data --half 0   the half that shapes were tuned on
    python bench/secrets_bench.py --data ../shared/data --samples  what was masked in real text, to be judged by eye

Planted: keys of 46 families drawn by lot, each in 12 surroundings; six surroundings and the
draws in them are half 0, on which the shapes were tuned, the six others half 1, which is
reported. A secret counts as masked when none of its signs but the first and last three are left
(a quotation mark more or less is not the question), and as half masked when some are.

Real text: messages, tool results and mails of the data folder. It holds next to no secrets, so
what is masked there is mostly a mistake; ``--samples`` shows each.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import string
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from firsthand.unasked import secrets

SPANS = Callable[[str], list[tuple[int, int, str]]]
ROUNDS = 2
LOWER, UPPER, DIGIT = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALNUM, HEX, WIDE = string.ascii_letters + DIGIT, "0123456789abcdef", string.ascii_letters + DIGIT + "-_"
B64 = string.ascii_letters + DIGIT + "+/"


def families(lot: random.Random) -> dict[str, str]:
    """Draw a secret of each family."""

    def of(signs: str, number: int) -> str:
        return "".join(lot.choices(signs, k=number))

    pem = "\n".join(of(B64, 64) for _ in range(24))
    return {
        "age": f"AGE-SECRET-KEY-1{of('QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L', 58)}",
        "airtable": f"pat{of(ALNUM, 14)}.{of(HEX, 64)}",
        "anthropic": f"sk-ant-api03-{of(WIDE, 93)}AA",
        "aws-id": f"AKIA{of('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16)}",
        "aws-secret": of(B64, 40),
        "azure-storage": f"{of(B64, 86)}==",
        "basic-auth": f"{of(ALNUM, 30)}==",
        "bearer": of(WIDE, 40),
        "databricks": f"dapi{of(HEX, 32)}",
        "digitalocean": f"dop_v1_{of(HEX, 64)}",
        "discord-bot": f"M{of(ALNUM, 23)}.{of(WIDE, 6)}.{of(WIDE, 38)}",
        "discord-hook": f"https://discord.com/api/webhooks/{of(DIGIT, 18)}/{of(WIDE, 68)}",
        "docker": f"dckr_pat_{of(WIDE, 27)}",
        "doppler": f"dp.pt.{of(ALNUM, 43)}",
        "figma": f"figd_{of(WIDE, 40)}",
        "github-fine": f"github_pat_{of(ALNUM, 22)}_{of(ALNUM, 59)}",
        "github": f"gh{lot.choice('pousr')}_{of(ALNUM, 36)}",
        "gitlab": f"glpat-{of(WIDE, 20)}",
        "google-api": f"AIza{of(WIDE, 35)}",
        "google-oauth": f"GOCSPX-{of(WIDE, 28)}",
        "grafana": f"glsa_{of(ALNUM, 32)}_{of(HEX, 8)}",
        "groq": f"gsk_{of(ALNUM, 52)}",
        "huggingface": f"hf_{of(string.ascii_letters, 34)}",
        "jwt": f"eyJhbGciOiJIUzI1NiJ9.eyJ{of(WIDE, 60)}.{of(WIDE, 43)}",
        "linear": f"lin_api_{of(ALNUM, 40)}",
        "mailgun": f"key-{of(HEX, 32)}",
        "newrelic": f"NRAK-{of(UPPER + DIGIT, 27)}",
        "notion": f"ntn_{of(DIGIT, 11)}{of(ALNUM, 35)}",
        "npm": f"npm_{of(ALNUM, 36)}",
        "openai": f"sk-proj-{of(WIDE, 74)}T3BlbkFJ{of(WIDE, 74)}",
        "openai-old": f"sk-{of(ALNUM, 20)}T3BlbkFJ{of(ALNUM, 20)}",
        "password": f"{of(LOWER, 5)}{of(DIGIT, 2)}{of(UPPER, 2)}{lot.choice('!%+')}{of(ALNUM, 2)}",
        "pem": f"-----BEGIN RSA PRIVATE KEY-----\n{pem}\n-----END RSA PRIVATE KEY-----",
        "postman": f"PMAK-{of(HEX, 24)}-{of(HEX, 34)}",
        "pypi": f"pypi-AgEIcHlwaS5vcmc{of(WIDE, 150)}",
        "sendgrid": f"SG.{of(WIDE, 22)}.{of(WIDE, 43)}",
        "sentry": f"sntryu_{of(HEX, 64)}",
        "shopify": f"shpat_{of(HEX, 32)}",
        "slack-bot": f"xoxb-{of(DIGIT, 12)}-{of(DIGIT, 12)}-{of(ALNUM, 24)}",
        "slack-hook": f"https://hooks.slack.com/services/T{of(DIGIT, 8)}/B{of(UPPER + DIGIT, 8)}/{of(ALNUM, 24)}",
        "stripe": f"sk_live_{of(ALNUM, 24)}",
        "tailscale": f"tskey-auth-{of(ALNUM, 12)}CNTRL-{of(ALNUM, 32)}",
        "telegram": f"{of('123456789', 10)}:AA{of(WIDE, 33)}",
        "twilio": f"SK{of(HEX, 32)}",
        "url-password": f"{of(ALNUM, 6)}{of(DIGIT, 3)}{of(ALNUM, 7)}",
        "vault": f"hvs.{of(WIDE, 24)}{of(ALNUM, 70)}",
    }  # fmt: skip


_NAMES = {
    "aws-secret": "AWS_SECRET_ACCESS_KEY", "azure-storage": "AZURE_STORAGE_ACCOUNT_KEY", "password": "DB_PASSWORD",
    "bearer": "SERVICE_TOKEN", "basic-auth": "BASIC_AUTH_SECRET", "url-password": "PGPASSWORD",
}  # fmt: skip
_ALONE = {  # families whose secret nothing but its surroundings tells
    "bearer": "curl -H 'Authorization: Bearer {0}' https://api.example/v1",
    "basic-auth": "Authorization: Basic {0}",
    "url-password": "postgres://app:{0}@db.internal:5432/main",
}
SURROUNDINGS: tuple[tuple[str, ...], tuple[str, ...]] = (
    (
        "export {name}={0}",
        '{{"{name}": "{0}", "region": "eu-west-1"}}',
        "Please use this for the deploy: {name}={0} and tell me when it is done.",
        '{name} = "{0}"  # remove before commit',
        "2026-03-01T10:00:00Z INFO starting with {name}={0} on host web-3",
        "```\n{name}: {0}\n```",
    ),
    (
        "{name}: '{0}'",
        '{{\\"{name}\\": \\"{0}\\"}}',
        "I put it into .env:\n\n    {name}={0}\n\nis that right?",
        "os.environ['{name}'] = '{0}'",
        "docker run -e {name}={0} -p 80:80 app",
        "| setting | value |\n|---|---|\n| {name} | `{0}` |",
    ),
)


def planted(half: int) -> Iterator[tuple[str, str, int, int]]:
    """Yield family, text, start and end of each planted secret of a half."""
    lot = random.Random(71 + half)
    for _ in range(ROUNDS):
        for place, surrounding in enumerate(SURROUNDINGS[half]):
            for family, secret in families(lot).items():
                name = _NAMES.get(family, f"{family.upper().replace('-', '_')}_KEY")
                form = _ALONE.get(family) if place < 3 else None
                escaped = secret.replace("\n", "\\n") if '"' in surrounding else secret
                text = form.format(escaped) if form else surrounding.format(escaped, name=name)
                start = text.index(escaped)
                yield family, f"Some words before it.\n{text}\nAnd some behind.", start + 22, start + 22 + len(escaped)


def real(data: Path) -> Iterator[tuple[str, str]]:
    """Yield the texts of the data folder with the name of their set, at most 6 MB a set."""
    for folder, pattern in (
        ("pi-sessions", "*.jsonl"), ("swe-agent", "**/*.traj"), ("tau-airline", "*.json"), ("intercode", "**/*.json"),
        ("who-and-when", "**/*.json"), ("locomo", "*.json"), ("beam-100k", "**/*.json"), ("enron1-ham", "*"),
        ("ubuntu-irc", "*.txt"), ("multiwoz21", "*.json"),
    ):  # fmt: skip
        left = 6_000_000
        for path in sorted((data / folder).glob(pattern)):
            if not path.is_file() or left <= 0:
                continue
            raw = path.read_text(encoding="utf-8", errors="replace")[:left]
            left -= len(raw)
            for text in texts(raw) if path.suffix in {".json", ".jsonl", ".traj"} else [raw]:
                yield folder, text


def texts(raw: str) -> Iterator[str]:
    """Yield the strings of a JSON document, or of each of its lines."""
    pieces = [raw]
    try:
        json.loads(raw)
    except ValueError:
        pieces = raw.splitlines()
    for piece in pieces:
        try:
            waiting = [json.loads(piece)]
        except ValueError:
            continue
        while waiting:
            thing = waiting.pop()
            if isinstance(thing, str) and len(thing) > 20:
                yield thing
            waiting += thing.values() if isinstance(thing, dict) else thing if isinstance(thing, list) else []


def finders() -> Iterator[tuple[str, SPANS]]:
    """Yield what is compared: as far as it is installed."""
    yield "shapes (firsthand.unasked.secrets)", lambda text: [(s.start, s.end, s.sort) for s in secrets.find(text)]
    from firsthand.unasked import secret_library

    library = secret_library.alone(Path.home() / ".cache" / "firsthand-bench")
    if library is not None:
        yield "kingfisher alone", lambda text: [(s.start, s.end, s.sort) for s in library(text)]
        both = secret_library.joined(library)
        yield "shapes and kingfisher", lambda text: [(s.start, s.end, s.sort) for s in both(text)]
    try:
        import betterleaks
    except ImportError:
        pass
    else:

        def of_betterleaks(text: str) -> list[tuple[int, int, str]]:
            spans = []
            for finding in betterleaks.scan_string(text.encode("utf-8", "replace").decode()):
                secret = finding.match.secret if hasattr(finding.match, "secret") else finding.secret
                at = text.find(secret) if secret else -1
                while at >= 0:
                    spans.append((at, at + len(secret), finding.rule_id))
                    at = text.find(secret, at + len(secret))
            return spans

        yield "betterleaks", of_betterleaks
    try:
        from detect_secrets.core.scan import scan_line
        from detect_secrets.settings import default_settings
    except ImportError:
        return

    def of_detect_secrets(text: str) -> list[tuple[int, int, str]]:
        spans = []
        with default_settings():
            at = 0
            for line in text.splitlines(keepends=True):
                for finding in scan_line(line):
                    secret = finding.secret_value or ""
                    place = line.find(secret)
                    if secret and place >= 0:
                        spans.append((at + place, at + place + len(secret), finding.type))
                at += len(line)
        return spans

    yield "detect-secrets", of_detect_secrets


def measured(find: SPANS, half: int) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """Count planted, wholly masked and half masked secrets by family."""
    there: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    part: Counter[str] = Counter()
    for family, text, start, end in planted(half):
        there[family] += 1
        covered = {at for a, b, _ in find(text) for at in range(max(a, start), min(b, end))}
        inner = set(range(start + 3, end - 3))
        whole[family] += inner <= covered
        part[family] += bool(covered) and not inner <= covered
    return there, whole, part


def main() -> None:
    reading = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    reading.add_argument("--data", type=Path, required=True)
    reading.add_argument("--half", type=int, choices=(0, 1), default=1)
    reading.add_argument("--samples", action="store_true")
    reading.add_argument("--only", default="")
    chosen = reading.parse_args()
    documents = list(real(chosen.data))
    size = sum(len(text.encode("utf-8", "replace")) for _, text in documents) / 1e6
    print(f"real text: {size:.1f} MB, {len(documents):,} texts; planted: half {chosen.half}\n")
    print("| what | planted, masked whole | in part | missed | masks in real text | a MB | processor s a MB | memory |")
    print("|---|---|---|---|---|---|---|---|")
    missed: dict[str, list[str]] = {}
    for name, find in finders():
        if chosen.only and chosen.only not in name:
            continue
        there, whole, part = measured(find, chosen.half)
        missed[name] = [f"{f} {there[f] - whole[f]}/{there[f]}" for f in there if whole[f] < there[f]]
        begun, masks = time.process_time(), Counter[str]()
        within = documents if name != "detect-secrets" else documents[:: max(1, len(documents) // 400)]
        read = sum(len(text) for _, text in within) / 1e6
        for folder, text in within:
            for start, end, sort in find(text):
                masks[folder] += 1
                if chosen.samples:
                    print(folder, sort, repr(text[max(0, start - 40) : start]), "->", repr(text[start:end])[:80])
        spent = time.process_time() - begun
        total, planted_whole, planted_part = sum(there.values()), sum(whole.values()), sum(part.values())
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(
            f"| {name} | {planted_whole}/{total} ({planted_whole / total:.3f}) | {planted_part} "
            f"| {total - planted_whole - planted_part} | {masks.total()} {dict(masks) or ''} "
            f"| {masks.total() / read:.2f} | {spent / read:.3f} | {memory} MB at most so far |"
        )
    for name, families_missed in missed.items():
        print(f"\n{name}, not masked whole: {', '.join(families_missed) or 'none'}")


if __name__ == "__main__":
    main()
