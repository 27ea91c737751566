# SPDX-License-Identifier: MIT OR Apache-2.0
"""The prompts of the Gemma 3 goldens: PROMPTS, name to text. The same text on every run.

Special tokens are written in the text and read as such; the program adds the first token (bos) by
itself.
"""

_CODE = '''\
#include <vector>

// Sieve of Eratosthenes: all primes below `limit`.
std::vector<int> primes(int limit) {
\tstd::vector<bool> composite(limit, false);
\tstd::vector<int> found;
    for (int i = 2; i < limit; ++i) {
        if (composite[i]) continue;
        found.push_back(i);
        for (long j = 1L * i * i; j < limit; j += i) composite[j] = true;
    }
    return found;
}

def primes(limit):
    """The same in Python: all primes below `limit`."""
    composite = [False] * limit
'''

_CHAT = """\
<start_of_turn>user
Name three rivers of Europe.<end_of_turn>
<start_of_turn>model
The Danube, the Rhine and the Volga.<end_of_turn>
<start_of_turn>user
Which of them is the longest?<end_of_turn>
<start_of_turn>model
"""


def _long_text(rooms):
    """An inventory of `rooms` rooms, then a question about an early one: the answer is far behind
    the sliding window of the local layers, so it must come through the global ones."""
    owners = "baker sailor teacher doctor farmer painter singer lawyer miller hunter".split()
    colours = "red blue green white black yellow silver golden purple brown".split()
    things = "lamps chairs books bottles boxes carpets candles mirrors clocks baskets".split()
    numbers = "two three four five six seven eight nine ten twelve".split()
    state = 2024  # a linear congruential generator: random's choices differ between Python versions

    def pick(words):
        nonlocal state
        state = (state * 1103515245 + 12345) % 2**31
        return words[(state >> 16) % len(words)]

    lines = [
        f"In room {room} the {pick(owners)} keeps {pick(numbers)} {pick(colours)} {pick(things)}."
        for room in range(1, rooms + 1)
    ]
    return (
        "An inventory of the house.\n\n"
        + "\n".join(lines)
        + "\n\nAgain:\n"
        + "".join(line + "\n" for line in lines[:3])
        + lines[3][: lines[3].index("keeps")]
        + "keeps"
    )


PROMPTS = {
    "plain": "The capital of France is",
    "numbers": "Q: A train leaves at 09:45 and needs 2 hours and 30 minutes. When does it arrive?\n"
    "A: It arrives at",
    "chat": _CHAT,
    "latin": "Die Straße führt über den Fluss; l'été dernier, nous étions à Łódź, où "
    "señores y niños bebían té. İstanbul'da hava çok güzel, ve",
    "cyrillic": "Москва — столица России. Киев — столица Украины. Η Αθήνα είναι η πρωτεύουσα της",
    "cjk": "日本の首都は東京です。中国的首都是北京。대한민국의 수도는",
    "scripts": "القاهرة هي عاصمة مصر. नई दिल्ली भारत की राजधानी है। กรุงเทพมหานครเป็นเมืองหลวงของ ירושלים",
    "code": _CODE,
    "emoji": "Weather today: ☀️🌤️ tomorrow: 🌧️⛈️. Family: 👩‍👩‍👧‍👦 flags: 🇫🇷🇯🇵🏳️‍🌈 thumbs: 👍🏽👎🏿 mood:",
    # Runs of spaces, tabs and newlines, HTML tags, combining marks, characters read as bytes.
    "odd": "  two\t\ttabs\n\n\n<h1>Title</h1><td>x</td>   e\u0301 n\u0303 \u0378\U000e0001\u200d\ufffd "
    "<0x41> \u2581 ½ x² ∀x∈ℝ \U00012345 \r\n <unused7>",
    "empty": "",
    "long": _long_text(111),
}
