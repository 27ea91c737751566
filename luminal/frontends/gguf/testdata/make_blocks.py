#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Random blocks of every tensor type and what the gguf package dequantises them to.

Writes blocks.tsv beside this file: type, rows, columns, the tensor's bytes in hex, and the FNV-1a hash of the float32
values in row-major order as little-endian words. Needs: pip install gguf numpy. Deterministic.
"""
import pathlib

import gguf
import numpy as np

TYPES = """F32 F16 BF16 F64 I8 I16 I32 I64 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K IQ4_NL IQ4_XS TQ2_0
MXFP4 NVFP4""".split()
# Bytes of 16-bit floats in a block: random bits there could be infinities.
HALVES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108],
          "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "IQ4_XS": [0], "TQ2_0": [64]}
PLAIN = {"F32": np.float32, "F16": np.float16, "F64": np.float64, "I8": np.int8, "I16": np.int16, "I32": np.int32,
         "I64": np.int64}


def fnv(data):
    value = 0xCBF29CE484222325
    for word in np.frombuffer(data, dtype="<u4"):
        value = ((value ^ int(word)) * 0x100000001B3) % 2**64
    return value


def blocks(name, rows, columns, random):
    kind = getattr(gguf.GGMLQuantizationType, name)
    block, size = gguf.GGML_QUANT_SIZES[kind]
    if name in PLAIN:
        values = (random.standard_normal((rows, columns)) * 100).astype(PLAIN[name])
        return values.tobytes(), values.astype(np.float32)
    raw = random.integers(0, 256, (rows * columns // block, size), dtype=np.uint8)
    if name == "BF16":
        values = random.standard_normal((rows, columns)).astype(np.float32).view(np.uint32) >> 16
        raw = values.astype(np.uint16).view(np.uint8).reshape(-1, 2)
    for at in HALVES.get(name, []):
        scale = random.standard_normal(raw.shape[0]).astype(np.float16)
        raw[:, at:at + 2] = scale.view(np.uint8).reshape(-1, 2)
    if name == "MXFP4":
        raw[:, 0] = random.integers(2, 250, raw.shape[0])
    data = np.ascontiguousarray(raw).reshape(rows, -1)
    return data.tobytes(), gguf.quants.dequantize(data, kind).astype(np.float32)


def main():
    random = np.random.default_rng(2026)
    lines = []
    for name in TYPES:
        kind = getattr(gguf.GGMLQuantizationType, name, None)
        if kind is None:
            print("this gguf package does not know", name)
            continue
        block = gguf.GGML_QUANT_SIZES[kind][0]
        rows, columns = (3, 2 * block) if block > 1 else (3, 5)
        data, values = blocks(name, rows, columns, random)
        lines.append(f"{name}\t{rows}\t{columns}\t{data.hex()}\t{fnv(values.astype('<f4').tobytes()):016x}\n")
    pathlib.Path(__file__).with_name("blocks.tsv").write_text("".join(lines))


main()
