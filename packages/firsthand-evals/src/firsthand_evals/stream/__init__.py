"""The stream evaluation: what consolidation does to a memory, measured after every update.

The evaluation of the paper faulty-memories, without a model. A made world comes to a memory
in batches; a consolidator rewrites the memory after each, with or without the gate; readers
answer from it, and every answer is compared with what the world says. The modules in
reading order: `world`, `schedules`, `arms` (the memories that are compared), `measure`,
`run`, `curves` (statistics over streams), `checks`, `report` and `page`.
"""
