#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Holds the built program against values/*.json (see make_golden.py). Standard library only.

    tests/golden/gemma3/check.py --program build/luminal --model gemma-3-270m-q4_k_m.gguf

For each prompt: token ids equal; logits of the last position within 2e-3 of the reference, the same
best token; greedy continuation equal wherever the reference's margin is above 1e-2 (after a
divergence at a smaller margin the rest is not compared); prefill in chunks of 1, 7, 64 and whole
within 1e-3 of each other on every id. Exit code 1 when one of these fails, 77 (skipped, for ctest)
when there is no model.

The logits column is over the ids that the golden file lists (digest.py); the blocks column is the
worst signed sum of 64 ids, which every id moves. --whole compares every id with NumPy's help (pip
install numpy gguf).
"""

import argparse
import glob
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

import digest
from prompts import PROMPTS

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", "..", ".."))
MODEL_NAME = "gemma-3-270m-q4_k_m.gguf"
SKIPPED = 77
TOLERANCE = 2e-3
CHUNK_TOLERANCE = 1e-3
MARGIN = 1e-2
ENDS = (1, 106)
CHUNKS = (1, 7, 64)


def find_model():
    """$LUMINAL_MODEL, or a copy that `./run generate` has fetched."""
    if os.environ.get("LUMINAL_MODEL"):
        return os.environ["LUMINAL_MODEL"]
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    for folder in (os.path.join(ROOT, ".cache"), os.path.join(cache, "luminal")):
        for depth in ("", "*", "*/*"):
            found = sorted(glob.glob(os.path.join(folder, depth, MODEL_NAME)))
            if found:
                return found[0]
    return None


class Failure(Exception):
    pass


def worst(values):
    """The largest, where not-a-number counts as infinite."""
    return max((v if v == v else math.inf for v in values), default=0.0)


class Program:
    def __init__(self, arguments, folder):
        self.arguments = arguments
        self.folder = folder

    def run(self, name, vocabulary, max_tokens, chunk=None):
        """(parsed object, logits of the last prompt position as a list)."""
        path = os.path.join(self.folder, name + ".txt")
        with open(path, "wb") as file:
            file.write(PROMPTS[name].encode())
        command = [
            self.arguments.program,
            "generate",
            "--model",
            self.arguments.model,
            "--prompt-file",
            path,
            "--json",
            "--temperature",
            "0",
            "--top-logits",
            str(vocabulary),
            "--max-tokens",
            str(max_tokens),
        ]
        command += ["--threads", str(self.arguments.threads)] if self.arguments.threads else []
        command += ["--chunk", str(chunk)] if chunk else []
        command += self.arguments.extra.split()
        try:
            done = subprocess.run(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                stdin=subprocess.DEVNULL,
                timeout=self.arguments.timeout,
            )
        except subprocess.TimeoutExpired:
            raise Failure(f"no answer after {self.arguments.timeout} s: {' '.join(command)}")
        if done.returncode != 0:
            raise Failure(
                f"exit code {done.returncode}: {' '.join(command)}\n"
                + done.stderr.decode("utf-8", "replace")[-2000:]
            )
        try:
            value = json.loads(done.stdout)
        except ValueError as error:
            raise Failure(f"not one JSON object: {error}: {done.stdout[:200]!r}")
        missing = [
            key for key in ("prompt_tokens", "output_tokens", "top_logits") if key not in value
        ]
        if missing:
            raise Failure(f"the JSON object lacks {', '.join(missing)}")
        return value, self.logits(value, vocabulary)

    @staticmethod
    def logits(value, vocabulary):
        row = [math.nan] * vocabulary
        for entry in value["top_logits"]:
            row[entry["id"]] = math.nan if entry["logit"] is None else entry["logit"]
        missing = sum(1 for v in row if v != v)
        if missing:
            raise Failure(f"top_logits: {missing} of {vocabulary} ids are missing or not numbers")
        return row


def logit_difference(golden, row):
    listed = [abs(row[i] - logit) for i, logit in golden["top"]]
    sampled = [
        abs(a - b) for a, b in zip(row[:: digest.SAMPLE_STEP], digest.unpack(golden["sample"]))
    ]
    return worst(listed + sampled)


def block_difference(golden, row, sign):
    """(the worst block, what is allowed). Rounding alone moves all blocks alike, so one wrong id
    stands out from the median block; and 64 errors within the tolerance add up like their root, to
    8 tolerances."""
    sums = digest.block_sums(row, sign)
    differences = [abs(a - b) for a, b in zip(sums, digest.unpack(golden["block_sums"]))]
    deviation = 1.4826 * statistics.median(differences)
    return worst(differences), min(TOLERANCE + 6 * deviation, 8 * TOLERANCE)


class Embedding:
    """The output matrix, for --whole."""

    def __init__(self, path):
        import gguf
        import numpy

        self.numpy = numpy
        tensor = next(t for t in gguf.GGUFReader(path).tensors if t.name == "token_embd.weight")
        self.matrix = gguf.quants.dequantize(tensor.data, tensor.tensor_type)

    def difference(self, golden, row):
        hidden = self.numpy.array(digest.unpack(golden["hidden"]), self.numpy.float32)
        return float(self.numpy.abs(self.matrix @ hidden - self.numpy.array(row)).max())


def compare_text(golden, out):
    """(ok, what to print): tokens compared."""
    steps = list(zip(golden["continuation"], golden["margins"]))
    for step, (token, margin) in enumerate(steps):
        if step < len(out) and out[step] == token:
            if token in ENDS:
                return True, f"{step + 1} to the end"
            continue
        if step == len(out) and token in ENDS:  # the program may leave the end token out
            return True, f"{step} to the end"
        got = out[step] if step < len(out) else "nothing"
        if margin > MARGIN:
            return False, f"step {step}: {got}, not {token}, margin {margin:.3f}"
        return True, f"{step}, then a tie"
    return True, str(len(steps))


def check_prompt(program, name, sign, embedding):
    """(failed parts, table fields)."""
    with open(os.path.join(HERE, "values", name + ".json")) as file:
        golden = json.load(file)
    start = time.time()
    failed = []
    value, row = program.run(name, golden["vocabulary"], len(golden["continuation"]))
    if value["prompt_tokens"] != golden["ids"]:
        failed.append(f"ids: {value['prompt_tokens'][:40]}\n  expected: {golden['ids'][:40]}")
    difference = logit_difference(golden, row)
    blocks, allowed = block_difference(golden, row, sign)
    whole = embedding.difference(golden, row) if embedding else None
    if not max(difference, whole or 0.0) < TOLERANCE:
        failed.append(f"logits: {max(difference, whole or 0.0):.2e} from the reference")
    if not blocks < allowed:
        failed.append(
            f"logits: a block of {digest.BLOCK} ids is {blocks:.2e} from the reference, "
            f"{allowed:.1e} allowed"
        )
    best = max(range(len(row)), key=row.__getitem__)
    if best != golden["top"][0][0]:
        failed.append(f"best token: {best}, not {golden['top'][0][0]}")
    text_ok, text = compare_text(golden, value["output_tokens"])
    if not text_ok:
        failed.append("continuation: " + text)
    spread = None
    if program.arguments.chunks:
        rows = [
            program.run(name, golden["vocabulary"], 1, chunk)[1]
            for chunk in (*CHUNKS, max(len(golden["ids"]), 1))
        ]
        spread = worst(max(values) - min(values) for values in zip(row, *rows))
        if not spread < CHUNK_TOLERANCE:
            failed.append(
                f"chunks: {spread:.2e} between prefills of {CHUNKS}, whole and the default"
            )
    figure = lambda v: "-" if v is None else f"{v:.1e}"
    return failed, [
        name,
        str(len(golden["ids"])),
        figure(difference),
        figure(blocks),
        figure(whole),
        str(best),
        text,
        figure(spread),
        f"{time.time() - start:.1f}",
        "FAILED" if failed else "ok",
    ]


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--program", required=True, help="the built luminal")
    parser.add_argument(
        "--model", help="default: $LUMINAL_MODEL, or the copy that ./run generate fetched"
    )
    parser.add_argument("--prompts", default=",".join(PROMPTS), help="names, comma-separated")
    parser.add_argument("--threads", type=int, help="default: the program's")
    parser.add_argument(
        "--no-chunks", dest="chunks", action="store_false", help="skip the chunked prefills"
    )
    parser.add_argument("--whole", action="store_true", help="compare all ids, with NumPy and gguf")
    parser.add_argument("--timeout", type=float, default=600, help="seconds a run may take")
    parser.add_argument("--extra", default="", help="more arguments for the program")
    return parser.parse_args()


def main():
    arguments = parse()
    arguments.model = arguments.model or find_model()
    if not arguments.model or not os.path.exists(arguments.model):
        missing = arguments.model or f"{MODEL_NAME} is in no cache, LUMINAL_MODEL is not set"
        print(f"skipped: no model: {missing}")
        return SKIPPED
    if arguments.program != os.path.basename(arguments.program):
        arguments.program = os.path.abspath(arguments.program)
    sign = digest.signs(262144)
    embedding = Embedding(arguments.model) if arguments.whole else None
    layout = "{:10} {:>6} {:>8} {:>8} {:>8} {:>7}  {:24} {:>8} {:>7}  {}".format
    print(
        layout(
            "prompt",
            "tokens",
            "logits",
            "blocks",
            "whole",
            "best",
            "continuation",
            "chunks",
            "s",
            "",
        )
    )
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        program = Program(arguments, folder)
        for name in arguments.prompts.split(","):
            try:
                failed, fields = check_prompt(program, name, sign, embedding)
                print(layout(*fields), flush=True)
            except Failure as error:
                failed = [str(error)]
            for line in failed:
                print(f"{name}: {line}", flush=True)
            failures += bool(failed)
    print(
        f"{failures} of {len(arguments.prompts.split(','))} prompts failed"
        if failures
        else "all agree"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
