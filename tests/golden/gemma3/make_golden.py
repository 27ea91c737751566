# SPDX-License-Identifier: MIT OR Apache-2.0
"""Makes values/*.json: what programs that others wrote say about prompts.py on Gemma 3 270M.

    python -m venv VENV
    VENV/bin/pip install torch transformers accelerate sentencepiece gguf llama-cpp-python
    VENV/bin/python tests/golden/gemma3/make_golden.py --model gemma-3-270m-q4_k_m.gguf
        [--only plain,chat]          these prompts
        [--transformers-tokenizer]   compares token ids with transformers' too (takes 90 s)
        [--no-write]                 compares only

Token ids: llama.cpp (transformers' are equal but for `odd`, where llama.cpp does not join a literal
U+2581 with the spaces beside it). Logits and greedy continuation: transformers, which loads the
same GGUF dequantised to float32, with its plain ("eager") attention; the continuation runs through
its KV cache. Second witness: numpy_gemma3.py in float64 without a cache, teacher-forced over the
continuation; the largest difference is printed and kept in the files.
"""

import argparse
import json
import os
import sys
import time

import llama_cpp
import numpy as np
import torch
import transformers

import digest
import numpy_gemma3
from prompts import PROMPTS

HERE = os.path.dirname(os.path.abspath(__file__))
NEW_TOKENS = 32
TOP = 64
ENDS = (1, 106)  # <eos>, <end_of_turn>: a greedy continuation ends there


def reference(model, ids):
    """(hidden [embedding], logits [steps, vocabulary], continuation): greedy, by transformers."""
    rows, out, cache, hidden = [], [], None, None
    step = torch.tensor([ids])
    with torch.no_grad():
        while len(out) < NEW_TOKENS:
            result = model(
                input_ids=step,
                past_key_values=cache,
                use_cache=True,
                logits_to_keep=1,
                output_hidden_states=not out,
            )
            cache = result.past_key_values
            if not out:
                hidden = result.hidden_states[-1][0, -1].numpy()
            rows.append(result.logits[0, -1].numpy())
            out.append(int(rows[-1].argmax()))
            if out[-1] in ENDS:
                break
            step = torch.tensor([[out[-1]]])
    return hidden, np.stack(rows), out


def margins(rows):
    best = -np.partition(-rows, 1, axis=-1)[:, :2]
    return best[:, 0] - best[:, 1]


def compare_witness(witness, name, ids, rows, out):
    """Largest differences of the witness from the reference. Exits where they choose differently
    though the margin is not small."""
    other = witness.logits(ids + out[:-1], last=len(out))
    gap = margins(rows)
    for step, token in enumerate(out):
        if other[step].argmax() != token and gap[step] > 1e-3:
            sys.exit(
                f"{name}: step {step}: transformers says {token}, NumPy {other[step].argmax()}"
            )
    first, rest = np.abs(other[0] - rows[0]).max(), np.abs(other - rows).max()
    print(
        f"{name}: NumPy float64 against transformers float32: prompt's end {first:.2e}, "
        f"{len(out)} steps {rest:.2e}",
        flush=True,
    )
    return float(first), float(rest)


def golden(name, ids, hidden, rows, out, difference):
    row = rows[0]
    top = np.argsort(-row, kind="stable")[:TOP]
    torch_version = torch.__version__.split("+")[0]
    sums = digest.block_sums(row.astype(np.float64).tolist(), digest.signs(len(row)))
    return {
        "prompt": name,
        "made_by": f"transformers {transformers.__version__}, torch {torch_version}; "
        f"ids: llama-cpp-python {llama_cpp.__version__}",
        "witness_difference": [round(d, 8) for d in difference],
        "vocabulary": len(row),
        "ids": ids,
        "top": [[int(i), round(float(row[i]), 6)] for i in top],
        "continuation": out,
        "margins": [round(float(m), 6) for m in margins(rows)],
        "hidden": digest.pack(hidden.tolist()),
        "sample": digest.pack(row[:: digest.SAMPLE_STEP].tolist()),
        "block_sums": digest.pack(sums),
    }


def write(value):
    os.makedirs(os.path.join(HERE, "values"), exist_ok=True)
    with open(os.path.join(HERE, "values", value["prompt"] + ".json"), "w") as file:
        file.write(
            "{\n"
            + ",\n".join(f" {json.dumps(k)}: {json.dumps(v)}" for k, v in value.items())
            + "\n}\n"
        )


def check_tokenizer(folder, file, ids_of):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, gguf_file=file)
    for name, ids in ids_of.items():
        theirs = tokenizer(PROMPTS[name]).input_ids
        print(
            f"{name}: transformers' ids {'equal' if theirs == ids else 'differ: ' + str(theirs)}",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--only", default=",".join(PROMPTS))
    parser.add_argument("--transformers-tokenizer", action="store_true")
    parser.add_argument("--no-write", action="store_true")
    arguments = parser.parse_args()
    folder, file = os.path.split(os.path.abspath(arguments.model))

    vocabulary = llama_cpp.Llama(arguments.model, vocab_only=True, verbose=False)
    ids_of = {
        name: vocabulary.tokenize(PROMPTS[name].encode(), add_bos=True, special=True)
        for name in arguments.only.split(",")
    }
    print("tokens:", {name: len(ids) for name, ids in ids_of.items()}, flush=True)
    if arguments.transformers_tokenizer:
        check_tokenizer(folder, file, ids_of)

    model = transformers.AutoModelForCausalLM.from_pretrained(
        folder, gguf_file=file, dtype=torch.float32, attn_implementation="eager"
    ).eval()
    witness = numpy_gemma3.Gemma3(arguments.model)
    for name, ids in ids_of.items():
        start = time.time()
        hidden, rows, out = reference(model, ids)
        from_hidden = np.abs(witness.embedding @ hidden - rows[0]).max()
        if from_hidden > 1e-3:
            sys.exit(f"{name}: the kept hidden row does not give the logits: {from_hidden}")
        print(
            f"{name}: {time.time() - start:.1f} s, smallest margin {margins(rows).min():.4f}, "
            f"{vocabulary.detokenize(out).decode('utf-8', 'replace')!r}",
            flush=True,
        )
        difference = compare_witness(witness, name, ids, rows, out)
        if not arguments.no_write:
            write(golden(name, ids, hidden, rows, out, difference))


if __name__ == "__main__":
    main()
