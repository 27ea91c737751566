# SPDX-License-Identifier: MIT OR Apache-2.0
"""Prints the coefficients in polynomials.cpp: minimax fits whose coefficients are rounded to f32 one by one, the
others refitted each time. Needs: pip install mpmath numpy.

Each fit is w(x) * (f(x) - sum c_k * x^k) as small as possible over [a, b]: w makes the error relative to the result.
"""

import mpmath as mp
import numpy as np

mp.mp.dps = 40


def lawson(columns, target):
    """Coefficients with the least greatest |columns @ c - target|: least squares, reweighted by the errors."""
    weights = np.full(len(target), 1 / len(target))
    best = None
    for _ in range(300):
        root = np.sqrt(weights)
        scale = np.abs(columns).max(axis=0)
        c = np.linalg.lstsq(columns / scale * root[:, None], target * root, rcond=None)[0] / scale
        errors = np.abs(columns @ c - target)
        if best is None or errors.max() < best[0]:
            best = (errors.max(), c)
        weights *= errors
        weights /= weights.sum()
    return best[1]


def to_f32(value):
    """Nearest f32 through the nearest double: double rounding does not matter here."""
    return np.float32(float(value))


def rounded_fit(name, f, w, a, b, degree):
    """Fits all, rounds c_0, fits the others with c_0 fixed, rounds c_1, and so on."""
    points = [(a + b) / 2 - (b - a) / 2 * mp.cos(mp.pi * (2 * k + 1) / 800) for k in range(400)]
    fixed = []
    for k in range(degree + 1):
        rest = [w(x) * (f(x) - sum(mp.mpf(float(c)) * x**j for j, c in enumerate(fixed)))
                for x in points]
        columns = [[float(w(x) * x**j) for j in range(k, degree + 1)] for x in points]
        c = lawson(np.array(columns), np.array([float(value) for value in rest]))
        fixed.append(to_f32(c[0]))
    worst = max(abs(w(x) * (f(x) - mp.polyval([mp.mpf(float(c)) for c in fixed[::-1]], x)))
                for x in points)
    print(f"{name}: weighted error 2^{float(mp.log(worst, 2)):.2f}")
    for c in fixed:
        print(f"  {float(c).hex()}")


def main():
    # 2^r = 1 + r * P(r)
    rounded_fit("exp2", lambda x: (mp.mpf(2) ** x - 1) / x, lambda x: x / mp.mpf(2) ** x,
                -mp.mpf(1) / 2, mp.mpf(1) / 2, 5)
    # log2(1 + f) = f * log2(e) + f^2 * P(f), error relative to f
    high = mp.mpf(float(to_f32(1 / mp.log(2))))
    print("log2 high", float(high).hex(), "low", float(to_f32(1 / mp.log(2) - high)).hex())
    rounded_fit("log2", lambda x: (mp.log(1 + x) - x) / (x * x * mp.log(2)), lambda x: x,
                mp.sqrt(mp.mpf(1) / 2) - 1, mp.sqrt(2) - 1, 8)
    # sin r = r + r^3 * P(r^2), cos r = 1 - r^2/2 + r^4 * P(r^2), |r| a little above pi/4
    reach = mp.mpf("0.84") ** 2
    rounded_fit("sin", lambda s: (mp.sin(mp.sqrt(s)) / mp.sqrt(s) - 1) / s, lambda s: s,
                mp.mpf("1e-9"), reach, 3)
    rounded_fit("cos", lambda s: (mp.cos(mp.sqrt(s)) - 1 + s / 2) / (s * s), lambda s: s * s,
                mp.mpf("1e-9"), reach, 3)
    rest = mp.pi / 2
    for part in "abc":
        print(f"pi/2 {part}: {float(to_f32(rest)).hex()}")
        rest -= mp.mpf(float(to_f32(rest)))
    print("2/pi:", float(to_f32(2 / mp.pi)).hex())


main()
