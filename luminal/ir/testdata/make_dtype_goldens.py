# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes dtype_goldens.txt: what ml-dtypes and NumPy do with every code of each narrow float type.

Needs: pip install numpy ml-dtypes. Run in this folder: python make_dtype_goldens.py > dtype_goldens.txt

  decode TYPE CODE VALUE              value of a code without sign, as the bits of a float in hex
  encode TYPE VALUE CODE              code of a number from 0: every value, halfway point and neighbours
  hash_decode TYPE HASH               FNV-1a over the doubles of all 65536 codes, NaN as 0x7ff8000000000000
  hash_encode TYPE HASH               FNV-1a over the codes of the same kinds of numbers, in ascending order
Negative codes and numbers mirror these, which this script asserts. The sign of a NaN is left out.
"""

import ml_dtypes
import numpy as np

SMALL = {
    "f8e4m3fn": (ml_dtypes.float8_e4m3fn, 8),
    "f8e5m2": (ml_dtypes.float8_e5m2, 8),
    "f8e8m0": (ml_dtypes.float8_e8m0fnu, 8),
    "f6e2m3": (ml_dtypes.float6_e2m3fn, 6),
    "f6e3m2": (ml_dtypes.float6_e3m2fn, 6),
    "f4e2m1": (ml_dtypes.float4_e2m1fn, 4),
}
# ml-dtypes converts doubles to bfloat16 through f32, so its neighbours are taken in f32.
LARGE = {"f16": (np.float16, np.float64), "bf16": (ml_dtypes.bfloat16, np.float32)}


def numbers_to_encode(values, neighbour_type):
    """Every finite value, the points halfway between two of them and past the last, and neighbours."""
    values = np.unique(np.abs(values[np.isfinite(values)]))
    past = values[-1] + (values[-1] - values[-2]) * np.array([0.5, 1.0, 1.5, 4.0])
    halfway = (values[:-1] + values[1:]) / 2
    points = np.concatenate([[0.0], values, halfway, past, values[:1] / 2]).astype(neighbour_type)
    points = np.concatenate([points, np.nextafter(points, neighbour_type(np.inf)),
                             np.nextafter(points, neighbour_type(0))])
    points = np.concatenate([np.unique(points), [np.inf]]).astype(np.float64)
    return np.concatenate([points, -points])  # -0.0 and -inf too


def fnv(words, size):
    state = 0xCBF29CE484222325
    for byte in np.asarray(words, dtype=f"<u{size}").tobytes():
        state = ((state ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return state


def float_bits(values):
    bits = np.asarray(values, dtype=np.float32).view(np.uint32).copy()
    bits[np.isnan(values)] = 0x7FC00000
    return bits


def double_bits(values):
    values = np.asarray(values, dtype=np.float64).copy()
    values[np.isnan(values)] = np.nan
    bits = values.view(np.uint64)
    bits[np.isnan(values)] = 0x7FF8000000000000
    return bits


def main():
    print("# SPDX-License-Identifier: MIT OR Apache-2.0")
    print(f"# made by make_dtype_goldens.py: ml-dtypes {ml_dtypes.__version__}, "
          f"NumPy {np.__version__}")
    for name, (dtype, bits) in SMALL.items():
        signed = name != "f8e8m0"
        sign = 1 << (bits - 1) if signed else 0
        codes = np.arange(sign or 1 << bits, dtype=np.uint8)
        values = codes.view(dtype).astype(np.float32)
        assert not signed or np.array_equal(
            (codes | np.uint8(sign)).view(dtype).astype(np.float32), -values, equal_nan=True)
        for code, value in zip(codes, float_bits(values)):
            print(f"decode {name} {code:x} {value:x}")
        numbers = numbers_to_encode(values, np.float32)
        numbers = numbers[: len(numbers) // 2]
        with np.errstate(all="ignore"):
            encoded = numbers.astype(dtype).view(np.uint8)
            mirrored = (-numbers).astype(dtype).view(np.uint8)
        assert np.array_equal(mirrored, encoded | sign if signed else np.full_like(encoded, 0xFF))
        for number, code in zip(float_bits(numbers), encoded):
            print(f"encode {name} {number:x} {code:x}")
    for name, (dtype, neighbour_type) in LARGE.items():
        values = np.arange(1 << 16, dtype=np.uint16).view(dtype).astype(np.float64)
        print(f"hash_decode {name} {fnv(double_bits(values), 8):x}")
        numbers = numbers_to_encode(values, neighbour_type)
        with np.errstate(all="ignore"):
            encoded = numbers.astype(dtype).view(np.uint16)
        print(f"hash_encode {name} {fnv(encoded, 2):x}")


main()
