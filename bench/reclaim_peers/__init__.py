"""The systems that bench/reclaim_bench.py compares: each in a process and an interpreter of its own."""
