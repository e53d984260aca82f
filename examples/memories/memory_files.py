"""Files that a model keeps with Anthropic's memory tool, under the stream; a reader is shown all of them.

    pip install anthropic
    MODEL=name ANTHROPIC_API_KEY=... firsthand eval stream --memory ./memory_files.py:Files

The files are in a folder that goes at the end of the stream.
"""

import os
import tempfile
from pathlib import Path

try:
    from anthropic import Anthropic
    from anthropic.tools import BetaLocalFilesystemMemoryTool
except ImportError as error:
    raise ImportError("these files are kept by Anthropic's memory tool; run: pip install anthropic") from error

ASKED = (
    "Keep in your memory directory what is needed to answer questions like these later, old answers and new ones. "
    'Write a case as "question => answer", and a rule with N for its number as "question => 3 * N + 2". '
    "A later answer to a question takes the place of an earlier one. What is new:\n\n"
)


class Files:
    def __init__(self):
        if not os.environ.get("MODEL"):
            raise ValueError("a model keeps these files; set MODEL and ANTHROPIC_API_KEY")
        self.folder = tempfile.TemporaryDirectory()
        self.tool = BetaLocalFilesystemMemoryTool(self.folder.name)
        self.client = Anthropic()

    def update(self, episodes):
        asked = [{"role": "user", "content": ASKED + "\n".join(episodes)}]
        self.client.beta.messages.tool_runner(
            model=os.environ["MODEL"], max_tokens=4_000, tools=[self.tool], messages=asked,
            betas=["context-management-2025-06-27"],
        ).until_done()  # fmt: skip

    def view(self):
        files = sorted(path for path in Path(self.folder.name, "memories").rglob("*") if path.is_file())
        return "\n".join(path.read_text() for path in files)

    def close(self):
        self.folder.cleanup()
