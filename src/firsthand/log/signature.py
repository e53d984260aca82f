"""Heads that leave the machine: one line of text, signed with an Ed25519 key if there is one (extra ``sign``).

    {"firsthand_head":1,"store":UUID,"namespace":NAME,"head":"POSITION:HASH","key":BASE64,"signature":BASE64}

The signature covers the line without it, as compact JSON with sorted keys. It proves who
kept the head, not when; a head that was kept elsewhere convicts any later change of what
came before it.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firsthand.environment import extra_command
from firsthand.errors import InvalidArgument, QueryError
from firsthand.value import value

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

VERSION = 1
_FIELDS = ("store", "namespace", "head")
_MAKE_KEY = "make one with: openssl genpkey -algorithm ed25519 -out KEY"


@value
class KeptHead:
    """A head as somebody kept it.

    Attributes:
        head: ``position:hash``.
        namespace, store: where it was taken; empty when it was kept as a bare text.
        key: the public key that signed it, in base64; empty when nobody did.
    """

    head: str
    namespace: str = ""
    store: str = ""
    key: str = ""


def kept_head(kept: KeptHead, key_file: Path | None = None) -> str:
    """Write a head as a line to keep elsewhere, signed with the private key in a file.

    Raises:
        InvalidArgument: the file holds no Ed25519 key, or the extra is not installed.
    """
    fields: dict[str, Any] = {"firsthand_head": VERSION} | {name: getattr(kept, name) for name in _FIELDS}
    if key_file is not None:
        key = _private_key(key_file)
        fields["key"] = base64.b64encode(key.public_key().public_bytes_raw()).decode()
        fields["signature"] = base64.b64encode(key.sign(_covered(fields))).decode()
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def read_head(text: str) -> KeptHead:
    """Read a kept head, a bare ``position:hash`` or a line of `kept_head`, and check its signature.

    Raises:
        QueryError: it is neither, or its signature is not of what it says.
        InvalidArgument: it is signed, and the extra is not installed.
    """
    if not text.lstrip().startswith("{"):
        return KeptHead(text.strip())
    try:
        fields = json.loads(text)
        kept = KeptHead(fields["head"], fields["namespace"], fields["store"], fields.get("key", ""))
        signature = base64.b64decode(fields.get("signature", ""), validate=True)
        public = base64.b64decode(kept.key, validate=True)
        known = fields["firsthand_head"] == VERSION and all(isinstance(fields[name], str) for name in _FIELDS)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise _no_head(text) from error
    if not known:
        raise _no_head(text)
    if public or signature:
        _check_signature(fields, public, signature)
    return kept


def _no_head(text: str) -> QueryError:
    return QueryError(f"expected position:hash, or a line that 'firsthand store head' wrote; got {text[:80]!r}")


def _check_signature(fields: dict[str, Any], public: bytes, signature: bytes) -> None:
    _need_extra()
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - an extra is imported when it is used
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415 - the same

    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, _covered(fields))
    except (InvalidSignature, ValueError) as error:
        raise QueryError(
            f"the signature of the head {fields['head'][:80]!r} does not fit to it: the line was changed after it was "
            "signed, or not signed with the key that it names. Take another copy of it."
        ) from error


def _covered(fields: dict[str, Any]) -> bytes:
    """Give the bytes that a signature covers."""
    covered = {name: field for name, field in fields.items() if name != "signature"}
    return json.dumps(covered, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()


def _private_key(file: Path) -> Ed25519PrivateKey:
    _need_extra()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # noqa: PLC0415 - an extra
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415 - the same

    try:
        key = load_pem_private_key(file.read_bytes(), password=None)
    except FileNotFoundError as error:
        raise InvalidArgument(f"there is no key in {file}; {_MAKE_KEY}") from error
    except (OSError, ValueError, TypeError) as error:
        raise InvalidArgument(f"expected an Ed25519 private key without a password in {file} ({error})") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise InvalidArgument(f"expected an Ed25519 private key in {file}, it holds another sort of key; {_MAKE_KEY}")
    return key


def _need_extra() -> None:
    try:
        import cryptography  # noqa: F401, PLC0415 - an extra
    except ImportError as error:
        raise InvalidArgument(f"signed heads need an extra: {extra_command('sign')}") from error
