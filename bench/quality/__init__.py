"""Recall beside what people use: how much of the evidence comes back, and how often a claim to have found it is false.

Run with ``python bench/quality_bench.py``; see QUALITY.md beside it for what it measured.
"""
