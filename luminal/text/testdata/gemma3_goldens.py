# SPDX-License-Identifier: MIT OR Apache-2.0
"""Makes gemma3_cases.tsv: the ids that llama.cpp gives for the vocabulary of Gemma 3 270M.

    pip install llama-cpp-python gguf
    python luminal/text/testdata/gemma3_goldens.py gemma-3-270m-q4_k_m.gguf [count [output]]

A line: add_special and parse_special as two digits, ids, text. `count` random texts (default 150);
with an output path, for a larger run outside the tree.
"""

import os
import random
import sys

import gguf
import llama_cpp

import golden_file

HERE = os.path.dirname(os.path.abspath(__file__))

TEXTS = [
    "", " ", "a", "  ", "\n", "The capital of France is", "Once upon a time",
    "Hello, world! It's 12345 o'clock.", "  leading   spaces\n\n\ttabs \r\n end  ",
    "naïve café 日本語テスト 😀👍🏽", "def f(x):\n    return x**2  # squared\n",
    "DON'T don't I'LL HelloWORLDfooBar", "٣٤٥ ½ x² e\u0301 Ünïcode", "<0x41>", "\u2581 x",
    "\n" * 35, " " * 70, "\t" * 33, "x" * 300, "<h1>Title</h1>\n<p>text</p><table><tr>",
    "<start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n", "<bos>", "a<eos>b<pad><unk>",
    "<unused0><unused98><mask>[multimodal]<start_of_image>", "\u0378\U000e0001\u200d\ufffd\u0000",
    "안녕하세요 세계", "Привет, мир! Это проверка.", "مرحبا بالعالم", "नमस्ते दुनिया", "สวัสดีชาวโลก",
    "https://example.org/a?b=c&d=%20#e", "{\"key\": [1, 2.5e-3, null, true]}",
    "👩‍👩‍👧‍👦🏳️‍🌈", "∀x∈ℝ: ⌈x⌉ = −⌊−x⌋", "\r\n\r\n", "a\u00a0b\u3000c",
]


def random_text(rng, tokens):
    parts = []
    for _ in range(rng.randint(1, 8)):
        kind = rng.randrange(8)
        if kind <= 3:
            parts.append(rng.choice(tokens).replace("\u2581", " "))
        elif kind == 4:
            parts.append(rng.choice(" \n\tabc=-.") * rng.randint(1, 40))
        elif kind == 5:
            parts.append("".join(chr(rng.choice([rng.randrange(32, 127), rng.randrange(0xA0, 0x600),
                                                 rng.randrange(0x3000, 0xA000),
                                                 rng.randrange(0x1F300, 0x1FB00)]))
                                 for _ in range(rng.randint(1, 6))))
        elif kind == 6:
            parts.append(" " + rng.choice(TEXTS) + " ")
        else:
            parts.append(rng.choice(tokens).replace("\u2581", " ")[::-1])
    return "".join(parts)


def main():
    path = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 150
    output = sys.argv[3] if len(sys.argv) > 3 else os.path.join(HERE, "gemma3_cases.tsv")
    field = gguf.GGUFReader(path).fields["tokenizer.ggml.tokens"]
    tokens = [bytes(field.parts[i]).decode("utf-8", "replace") for i in field.data]
    model = llama_cpp.Llama(path, vocab_only=True, verbose=False)
    rng = random.Random(20250301)
    lines = []
    for text in TEXTS + [random_text(rng, tokens) for _ in range(count)]:
        for add_special, parse_special in [(False, False), (True, True)]:
            # Known differences, on purpose (tokenizer.h): a second bos, and the HTML tag </s>, which
            # llama.cpp takes for an end of text in every vocabulary.
            if add_special and text.startswith("<bos>") or not parse_special and "</s>" in text:
                continue
            ids = model.tokenize(text.encode("utf-8"), add_bos=add_special, special=parse_special)
            lines.append([f"{int(add_special)}{int(parse_special)}", ids, text])
    golden_file.write(output, ["made by gemma3_goldens.py, llama.cpp by llama-cpp-python " +
                               llama_cpp.__version__], lines)


if __name__ == "__main__":
    main()
