"""Needles over compactions: what is left of exact strings when a window has overflowed again and again.

Run with ``python bench/compaction_bench.py``; see COMPACTION.md beside it for what it measured.
"""
