"""The reclaim evaluation: is a memory that went wrong still correctable, and does a correction land.

The evaluation of the paper reclaim-evaluation. A session drifts to a wrong conclusion, a
memory of it is written within a budget, and in a fresh session a correction asks for the
answer again, which is known exactly. The modules in reading order: `tasks` (problems),
`drift` (the session), `seam` (the memory under test), `corrections`, `readers` (who
answers), `scoring`, `run` (items), `sweeps` and `cascade` (the paper's experiments),
`tables` (figures from items), `policies` and `ours` (memories to compare with).
"""
