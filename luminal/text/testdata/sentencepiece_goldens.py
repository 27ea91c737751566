# SPDX-License-Identifier: MIT OR Apache-2.0
"""Makes small_*_vocabulary.tsv and small_*_cases.tsv: trains small byte-pair vocabularies with the
sentencepiece package and records the ids it gives for random strings.

    pip install sentencepiece && python luminal/text/testdata/sentencepiece_goldens.py

Three vocabularies: `prefix` (a space is put before a text, byte fallback), `added` (user-defined
tokens, byte fallback, no prefix) and `unknown` (no byte fallback).
"""

import io
import os
import random

import sentencepiece

import golden_file

HERE = os.path.dirname(os.path.abspath(__file__))

SENTENCES = """the quick brown fox jumps over the lazy dog while the rain keeps falling on the plain
a compiler reads a program and writes another program that does the same thing faster
she said that the weather would be better in the north than in the south this weekend
das ist ein kurzer Satz über Bäume, Flüsse und schöne Gärten in der Nähe der Stadt
le café du coin reste ouvert jusqu'à minuit, même pendant l'été à la campagne
el niño pequeño comió una manzana y después salió a jugar con su perro
быстрая коричневая лиса прыгает через ленивую собаку и убегает в тёмный лес
今日は天気がいいので公園を散歩してから図書館で本を読みました
def total(items): return sum(item.price * item.count for item in items if item.count > 0)
for (int i = 0; i < n; ++i) { x[i] = y[i] + 2.5f * z[i]; } // 12345 67890""".split("\n")

ADDED = ["\n\n", "\n", "<h1>", "</h1>", "<div>", "fox", "\t\t", "2.5"]


def corpus(rng, count):
    words = [word for sentence in SENTENCES for word in sentence.split()]
    lines = list(SENTENCES)
    for _ in range(count):
        lines.append(" ".join(rng.choice(words) for _ in range(rng.randint(3, 12))))
    return lines


def train(lines, size, **options):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, model_type="bpe", vocab_size=size,
        character_coverage=1.0, normalization_rule_name="identity", remove_extra_whitespaces=False,
        split_by_whitespace=False, minloglevel=2, num_threads=1, **options)
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def random_text(rng, lines, added):
    parts = []
    for _ in range(rng.randint(1, 6)):
        kind = rng.randrange(7)
        line = rng.choice(lines)
        at = rng.randrange(len(line))
        if kind <= 2:
            parts.append(line[at:at + rng.randint(1, 25)])
        elif kind == 3:
            parts.append(rng.choice(line) * rng.randint(1, 9))
        elif kind == 4:
            parts.append(" " * rng.randint(1, 5))
        elif kind == 5:
            parts.append("".join(chr(rng.choice([rng.randrange(33, 127), rng.randrange(0xA1, 0x250),
                                                 rng.randrange(0x4E00, 0x4E40), 0x1F600]))
                                 for _ in range(rng.randint(1, 4))))
        elif added:
            parts.append(rng.choice(added))
        else:
            parts.append(rng.choice(["<s>", "<0x41>", "<unk>", "\u2581", "</s>"]))
    return "".join(parts)


def kind_of(processor, piece):
    if processor.is_unknown(piece):
        return 2
    if processor.is_control(piece):
        return 3
    if processor.is_byte(piece):
        return 6
    return 4 if processor.id_to_piece(piece) in ADDED and processor.get_score(piece) == 0 else 1


def main():
    rng = random.Random(20250301)
    lines = corpus(rng, 600)
    kinds = {
        "prefix": dict(size=700, byte_fallback=True, add_dummy_prefix=True),
        "added": dict(size=700, byte_fallback=True, add_dummy_prefix=False,
                      user_defined_symbols=ADDED),
        "unknown": dict(size=500, byte_fallback=False, add_dummy_prefix=False),
    }
    for name, options in kinds.items():
        processor = train(lines, options.pop("size"), **options)
        added = options.get("user_defined_symbols", [])
        golden_file.write(
            os.path.join(HERE, f"small_{name}_vocabulary.tsv"),
            ["score, token type, token; made by sentencepiece_goldens.py"],
            [(f"{processor.get_score(i):g}", kind_of(processor, i), processor.id_to_piece(i))
             for i in range(processor.get_piece_size())])
        texts = ["", " ", "a", "  ", "hello world", "x" * 200, " " * 33] + SENTENCES
        texts += [random_text(rng, lines, added) for _ in range(300)]
        golden_file.write(
            os.path.join(HERE, f"small_{name}_cases.tsv"),
            ["ids, text; made by sentencepiece_goldens.py, sentencepiece " +
             sentencepiece.__version__],
            [(processor.encode(text), text) for text in texts])


if __name__ == "__main__":
    main()
