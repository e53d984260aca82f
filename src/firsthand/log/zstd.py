"""Zstandard: of the standard library from Python 3.14 on, before that its backport, which has the same names."""

import sys

if sys.version_info >= (3, 14):  # nobody has run it there yet
    from compression import zstd
else:
    from backports import zstd

CompressionParameter = zstd.CompressionParameter
ZstdCompressor = zstd.ZstdCompressor
ZstdDecompressor = zstd.ZstdDecompressor
ZstdDict = zstd.ZstdDict
ZstdError = zstd.ZstdError
get_frame_info = zstd.get_frame_info
