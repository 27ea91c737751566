# SPDX-License-Identifier: MIT OR Apache-2.0
"""One measured run of llama.cpp (by llama-cpp-python) in a process of its own; prints JSON.

    python llama_cpp_run.py --model F --threads N --decode 128 < ids.json

Reads the prompt's ids as a JSON list; prefills them in one batch, then decodes greedily, ends
ignored. Only what the program beside it times as well is timed: load (model and context), prefill,
decode with the choice of the token.
"""

import argparse
import ctypes
import json
import resource
import sys
import time

import llama_cpp
import numpy as np


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--decode", type=int, required=True)
    arguments = parser.parse_args()
    ids = json.load(sys.stdin)

    start = time.perf_counter()
    model = llama_cpp.Llama(
        arguments.model,
        n_ctx=len(ids) + arguments.decode,
        n_batch=len(ids),
        n_ubatch=len(ids),
        n_threads=arguments.threads,
        n_threads_batch=arguments.threads,
        verbose=False,
    )
    load_s = time.perf_counter() - start
    count = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(model.model))

    def feed(tokens):
        """Greedy choice after `tokens`, by the plain C functions: no copies in Python."""
        array = (llama_cpp.llama_token * len(tokens))(*tokens)  # the batch points into it
        if (
            llama_cpp.llama_decode(model.ctx, llama_cpp.llama_batch_get_one(array, len(tokens)))
            != 0
        ):
            sys.exit("llama_decode failed")
        logits = ctypes.cast(llama_cpp.llama_get_logits(model.ctx), ctypes.POINTER(ctypes.c_float))
        return int(np.ctypeslib.as_array(logits, (count,)).argmax())

    start = time.perf_counter()
    token = feed(ids)
    first_token_s = time.perf_counter() - start
    out = [token]
    start = time.perf_counter()
    while len(out) < arguments.decode:
        token = feed([token])
        out.append(token)
    decode_s = time.perf_counter() - start
    print(
        json.dumps(
            {
                "load_s": load_s,
                "first_token_s": first_token_s,
                "prefill_tok_s": len(ids) / first_token_s,
                "decode_tok_s": (len(out) - 1) / decode_s,
                "peak_rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                "output_tokens": out,
            }
        )
    )


if __name__ == "__main__":
    main()
