"""An object store behind the S3 protocol, by ``obstore`` (the extra ``s3``).

Credentials are the environment's own (``AWS_ACCESS_KEY_ID`` and the like), never part of the address.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import obstore
from obstore.exceptions import BaseError, NotFoundError, PermissionDeniedError, UnauthenticatedError
from obstore.store import S3Store

from firsthand.errors import InvalidArgument, StoreBusy, StoreFailed, StoreReadOnly

TRIES_MAX, TRIES_S = 4, timedelta(seconds=20)
PART_BYTES = 8 << 20


class Bucket:
    """A prefix of a bucket."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        options = {key: values[-1] for key, values in parse_qs(parts.query).items()}
        if not parts.netloc or "@" in parts.netloc or options.keys() - {"endpoint", "region"}:
            raise InvalidArgument(
                f"expected s3://BUCKET/PREFIX?endpoint=URL&region=NAME, without credentials; got {address[:200]!r}"
            )
        self.address = address
        plain = options.get("endpoint", "").startswith("http://")
        with _translating("open"):
            self._store: Any = S3Store(
                parts.netloc,
                prefix=parts.path.strip("/") or None,
                config=options,
                client_options={"allow_http": plain, "connect_timeout": "5s"},
                retry_config={"max_retries": TRIES_MAX, "retry_timeout": TRIES_S},
            )

    def put(self, name: str, pieces: Iterable[bytes]) -> None:
        """Keep an object; it is seen when all of it is there."""
        with _translating(f"write {name}"):
            obstore.put(self._store, name, pieces, chunk_size=PART_BYTES)

    def read(self, name: str, start: int, length: int) -> bytes | None:
        """Read a range of an object; None when there is no such object."""
        try:
            with _translating(f"read {name}"):
                return bytes(obstore.get_range(self._store, name, start=start, length=length))
        except FileNotFoundError:
            return None
        except StoreBusy as error:
            if "416 Range" in str(error):  # it ends before: cut off
                return b""
            raise

    def remove(self, name: str) -> bool:
        """Destroy an object; False if there was none."""
        try:
            with _translating(f"remove {name}"):
                obstore.head(self._store, name)
                obstore.delete(self._store, name)
        except FileNotFoundError:
            return False
        return True

    def listing(self, folder: str, older_than_s: float) -> Iterator[str]:
        """Yield the names of a folder's objects that were put at least so long ago."""
        until = datetime.now(UTC) - timedelta(seconds=older_than_s)
        with _translating(f"list {folder}"):
            for page in obstore.list(self._store, prefix=folder):
                yield from (each["path"] for each in page if each["last_modified"] <= until)


@contextmanager
def _translating(doing: str) -> Iterator[None]:
    """Turn obstore's errors into Firsthand's, but for an object that is not there."""
    try:
        yield
    except (NotFoundError, FileNotFoundError) as error:
        raise FileNotFoundError(str(error)) from error
    except (PermissionDeniedError, UnauthenticatedError) as error:
        raise StoreReadOnly(
            f"the object store refused to {doing} ({_first(error)}); check the credentials in AWS_ACCESS_KEY_ID and "
            "AWS_SECRET_ACCESS_KEY, and that they may read, write, list and delete in the bucket"
        ) from error
    except BaseError as error:
        raise StoreBusy(
            f"the object store did not {doing} ({_first(error)}). Check that its endpoint and bucket can be reached, "
            "and retry: with the same ids it is never a second append"
        ) from error
    except (OSError, ValueError) as error:
        raise StoreFailed(f"the object store failed to {doing} ({_first(error)}); check FIRSTHAND_OBJECTS") from error


def _first(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:300]
