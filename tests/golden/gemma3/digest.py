# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the goldens keep of a row of 262,144 logits, in 30 kB. Standard library only.

- the best 64, exactly;
- every 256th id, exactly;
- the sum of each block of 64 ids with fixed random-looking signs: every id takes part, so a single
  wrong logit moves its block's sum by its whole error, while the rounding of 64 right ones mostly
  cancels;
- the final norm's output (640 numbers): with NumPy and the model file the whole row can be computed
  from it.
"""

import array
import base64
import sys

SAMPLE_STEP = 256
BLOCK = 64


def signs(count):
    """+1 or -1 for each id: a bit of a multiplicative hash."""
    return [1.0 if (i * 2654435761) >> 16 & 1 else -1.0 for i in range(count)]


def block_sums(logits, sign):
    products = [value * s for value, s in zip(logits, sign)]
    return [sum(products[i : i + BLOCK]) for i in range(0, len(products), BLOCK)]


def pack(values):
    """float32, little end first, base64."""
    data = array.array("f", values)
    if sys.byteorder == "big":
        data.byteswap()
    return base64.b64encode(data.tobytes()).decode()


def unpack(text):
    data = array.array("f", base64.b64decode(text))
    if sys.byteorder == "big":
        data.byteswap()
    return data.tolist()
