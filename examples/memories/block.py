"""A block of text that a model edits, under the stream: after each update it is written anew, within a size.

    pip install 'firsthand-evals[models]'
    MODEL=http://localhost:8080/v1#name firsthand eval stream --memory ./block.py:Block

The size is in characters.
"""

import os

from firsthand_evals.endpoint import Server

CHARACTERS_MAX = 4_000
ASKED = (
    "You keep a block of notes of at most {most} characters from which questions like these are answered later. "
    'A case is written "question => answer", a rule with N for its number "question => 3 * N + 2". A later answer to '
    "a question takes the place of an earlier one. Reply with the whole block as it is to be from now on, and nothing "
    "else.\n\nThe block:\n{block}\n\nWhat is new:\n{new}"
)


class Block:
    def __init__(self):
        url, _, name = os.environ.get("MODEL", "").rpartition("#")
        if not url:
            raise ValueError("a model edits this block; set MODEL=URL#NAME, such as http://localhost:8080/v1#name")
        self.model, self.text = Server(url, name, os.environ.get("OPENAI_API_KEY")), ""

    def update(self, episodes):
        prompt = ASKED.format(most=CHARACTERS_MAX, block=self.text or "(empty)", new="\n".join(episodes))
        self.text = self.model.complete([{"role": "user", "content": prompt}], max_tokens=2_000).text[:CHARACTERS_MAX]

    def view(self):
        return self.text

    def close(self):
        self.model.close()
