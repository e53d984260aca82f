"""The task state: an index card of what the session is about, kept up from its events without a model.

Values and what callers set in `state`, the fold over events in `observe`, what a call
does and what became of it in `calls`, the block that the model reads in `show`. Pure:
none of them knows a store, a window, or when the state is written down.
"""
