#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Our program beside llama.cpp on the same model, prompt and threads. Standard library only.

    bench/peers/compare_llama_cpp.py --program build/luminal --model F.gguf \\
        --peer-python VENV/bin/python

Each round runs both, one after the other, the order turned every round, each run a process of its
own; a first round of ours that fills its cache of compiled kernels is not counted. Prints the
medians, and the median of the rounds' ratios: above 1 is better for us in every row.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# (key, unit, more is better)
ROWS = [
    ("prefill_tok_s", "tok/s", True),
    ("decode_tok_s", "tok/s", True),
    ("first_token_s", "s", False),
    ("load_s", "s", False),
    ("compile_s", "s", False),
    ("start_s", "s", False),
    ("peak_rss_mib", "MiB", False),
]


def prompt_text(words):
    """Plain words, one token each for the usual vocabularies."""
    common = (
        "the river was wide and the people of the town lived near it in small houses with gardens "
        "where they worked every day while their children played under the trees until the evening "
        "came"
    ).split()
    return " ".join(common[i % len(common)] for i in range(words))


def run(command, text=None):
    """(parsed JSON, peak resident MiB as the system counts it)."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
        )
        process.stdin.write((text or "").encode())
        process.stdin.close()
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            errors.seek(0)
            sys.exit(
                f"exit code {process.returncode}: {' '.join(command)}\n"
                + errors.read().decode("utf-8", "replace")[-2000:]
            )
    return json.loads(output), usage.ru_maxrss / 1024


def run_ours(arguments, prompt_file, threads, tokens):
    value, peak = run(
        [
            arguments.program,
            "generate",
            "--model",
            arguments.model,
            "--prompt-file",
            prompt_file,
            "--json",
            "--temperature",
            "0",
            "--ignore-eos",
            "--max-tokens",
            str(tokens),
            "--context",
            str(arguments.prefill + arguments.decode),
            "--threads",
            str(threads),
        ]
    )
    return value, dict(value["timings"], peak_rss_mib=peak)


def run_peer(arguments, ids, threads):
    value, peak = run(
        [
            arguments.peer_python,
            os.path.join(HERE, "llama_cpp_run.py"),
            "--model",
            arguments.model,
            "--threads",
            str(threads),
            "--decode",
            str(arguments.decode),
        ],
        json.dumps(ids),
    )
    return value, dict(value, peak_rss_mib=peak, compile_s=0.0)


def fitted_prompt(arguments, folder):
    """(file, ids): as many words as give `prefill` tokens by our tokenizer; both read these ids."""
    path = os.path.join(folder, "prompt.txt")
    words = arguments.prefill
    for _ in range(8):
        with open(path, "w") as file:
            file.write(prompt_text(words))
        ids = run_ours(arguments, path, max(arguments.threads), 1)[0]["prompt_tokens"]
        if len(ids) == arguments.prefill:
            return path, ids
        words += arguments.prefill - len(ids)
    sys.exit(f"no prompt of {arguments.prefill} tokens found; the last had {len(ids)}")


def report(threads, ours, theirs):
    print(f"\n{threads} thread{'s' if threads > 1 else ''}, {len(ours)} rounds")
    print(f"{'':14} {'luminal':>10} {'llama.cpp':>10} {'ratio':>7}  {'lowest':>7} {'highest':>7}")
    result = {}
    for key, unit, more in ROWS:
        pairs = [(a[key], b[key]) for a, b in zip(ours, theirs) if key in a and key in b]
        if not pairs:
            continue
        ratios = sorted((a / b if more else b / a) if a and b else 0.0 for a, b in pairs)
        middle = statistics.median(ratios)
        a, b = (statistics.median(column) for column in zip(*pairs))
        tail = f"{middle:7.2f}  {ratios[0]:7.2f} {ratios[-1]:7.2f}" if middle else f"{'-':>7}"
        print(f"{key:14} {a:10.3f} {b:10.3f} {tail}  {unit}")
        result[key] = {"luminal": a, "llama_cpp": b, "ratio": middle}
    return result


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--program", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument(
        "--peer-python", default=sys.executable, help="a Python that has llama-cpp-python"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--prefill", type=int, default=512, help="prompt tokens")
    parser.add_argument("--decode", type=int, default=128, help="new tokens")
    parser.add_argument(
        "--threads", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2]
    )
    parser.add_argument("--json", help="also write the medians to this file")
    return parser.parse_args()


def main():
    arguments = parse()
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        path, ids = fitted_prompt(arguments, folder)
        print(
            f"{os.path.basename(arguments.model)}: {len(ids)} prompt tokens, "
            f"{arguments.decode} new ones"
        )
        for threads in arguments.threads:
            run_ours(
                arguments, path, threads, arguments.decode
            )  # compiles what is not compiled yet
            ours, theirs = [], []
            for number in range(arguments.rounds):
                for who in ("ours", "theirs") if number % 2 == 0 else ("theirs", "ours"):
                    if who == "ours":
                        ours.append(run_ours(arguments, path, threads, arguments.decode)[1])
                    else:
                        theirs.append(run_peer(arguments, ids, threads)[1])
            for row in ours + theirs:
                row["start_s"] = row["load_s"] + row.get("compile_s", 0.0) + row["first_token_s"]
            results[str(threads)] = report(threads, ours, theirs)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(results, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
