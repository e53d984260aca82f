"""Which model is asked, by what is typed for it, and how.

    local  local:FILE.gguf  http://localhost:8080/v1#qwen  openai/gpt-5-mini  scripted:recomputing

The invariant: two models that may answer differently have different names in reports and
in the keys of items; what is not typed is not guessed. It opens nothing.
"""

from __future__ import annotations

import re

from firsthand import InvalidArgument
from firsthand.llm.asked import LOCAL, named
from firsthand.value import value
from firsthand_evals.reclaim import readers
from firsthand_evals.reclaim.readers import REPLY_TOKENS_MAX, Reader

SCRIPTED, INSPECT = "scripted", "inspect"


@value
class Chosen:
    """A model, and how it is asked.

    Attributes:
        name: in reports, and in the keys of items.
        served: ``local`` (a GGUF file in this process), ``url`` (any server of OpenAI chat completions), ``inspect`` (a
            provider of Inspect) or ``scripted`` (a deterministic reader, to try the machinery).
        address: the file, the URL, Inspect's name, or the reader's.
        temperature: 0 to 2; ``tokens_max`` of a reply.
        tools: True lets it ask a memory by calling a tool, False by a line of words.
    """

    name: str
    served: str
    address: str
    temperature: float = 0.0
    tokens_max: int = REPLY_TOKENS_MAX
    tools: bool = True

    @property
    def told(self) -> str:
        """Give the name with what differs from how a model is asked by default."""
        untaught = self.served in {LOCAL, SCRIPTED}
        parts = [] if self.tools != untaught else ["calling tools" if untaught else "asking in words"]
        parts += [f"{self.tokens_max} tokens"] if self.tokens_max != REPLY_TOKENS_MAX else []
        return f"{self.name} ({', '.join(parts)})" if parts else self.name


def chosen(
    model: str, *, temperature: float = 0.0, tokens_max: int = REPLY_TOKENS_MAX, tools: bool | None = None
) -> Chosen:
    """Choose a model by what is typed for it.

    Args:
        model: ``local`` (SmolLM2), ``local:FILE.gguf``, ``URL#NAME``, ``provider/name`` as Inspect names it, or
            ``scripted:recomputing`` and the like.
        tools: None lets those call tools that were taught to.

    Raises:
        InvalidArgument: it is none of these.
    """
    if model.startswith(f"{SCRIPTED}:"):
        name = model.removeprefix(f"{SCRIPTED}:")
        if name not in scripted():
            raise InvalidArgument(f"a scripted reader is one of {', '.join(scripted())}; got {name!r}")
        return Chosen(name, SCRIPTED, name, temperature, tokens_max, bool(tools))
    if model == LOCAL or model.startswith((f"{LOCAL}:", "http://", "https://")):
        one = named(model)
        calls = bool(tools) if one.served == LOCAL else tools is not False
        return Chosen(one.name, one.served, one.address, temperature, tokens_max, calls)
    if re.fullmatch(r"[\w.-]+(?:/[\w.:@-]+)+", model):
        return Chosen(model, INSPECT, model, temperature, tokens_max, tools is not False)
    raise InvalidArgument(
        f"a model is 'local', URL#NAME such as http://localhost:8080/v1#qwen, or provider/name as Inspect AI has it; "
        f"got {model!r}"
    )


def scripted() -> dict[str, Reader]:
    """Give the deterministic readers by name."""
    made: tuple[Reader, ...] = (
        readers.Recomputing(), readers.Recomputing(heeds_tag=False), readers.Cautious(), readers.Believing(),
        readers.Yielding(), readers.Guessing(), readers.Slipping(),
    )  # fmt: skip
    return {one.name: one for one in made}
