"""Minimax polynomials for the mathematical functions that kernels inline (src/target/llvm/math*.c).

Writes src/target/llvm/math_coefficients.def. Needs mpmath. Each polynomial minimises the largest error of the whole
expression it is part of, relative to the function's value (Remez exchange in 60 digits); coefficients are then rounded
one by one from the lowest to the type, re-solving for the rest, so that the low ones, which matter most, are exact.
"""
import random
import struct
import sys

from mpmath import asin, atan, cos, erf, erfc, exp, expm1, log, lu_solve, matrix, mp, mpf, pi, sin, sqrt

mp.dps = 60


def to_type(value, bits):
    if bits == 64:
        return mpf(float(value))
    return mpf(struct.unpack("f", struct.pack("f", float(value)))[0])


def solve(points, goal, weight, powers, signs):
    """Coefficients of `powers` with equal, alternating weighted error at the points."""
    size = len(points)
    system, right = matrix(size, size), matrix(size, 1)
    for row, x in enumerate(points):
        for column, power in enumerate(powers):
            system[row, column] = x**power
        system[row, size - 1] = signs[row] / weight(x)
        right[row] = goal(x)
    solution = lu_solve(system, right)
    return [solution[i] for i in range(size - 1)]


def extrema(low, high, error, count):
    """Points of largest error, one in each run of equal sign."""
    steps = 40 * count
    xs = [low + (high - low) * (1 - cos(pi * i / steps)) / 2 for i in range(steps + 1)]
    values = [error(x) for x in xs]
    best = []
    for x, v in zip(xs, values):
        if best and (best[-1][1] > 0) == (v > 0):
            if abs(v) > abs(best[-1][1]):
                best[-1] = (x, v)
        else:
            best.append((x, v))
    while len(best) > count:
        best.pop(0 if abs(best[0][1]) < abs(best[-1][1]) else -1)
    return best


def remez(goal, weight, low, high, powers):
    """Minimises |weight * (poly - goal)| over [low, high]."""
    low, high, count = mpf(low), mpf(high), len(powers) + 1
    points = [low + (high - low) * (1 - cos(pi * (i + mpf(1) / 2) / count)) / 2 for i in range(count)]
    for _ in range(20):
        coefficients = solve(points, goal, weight, powers, [(-1)**i for i in range(count)])

        def error(x):
            return weight(x) * (sum(c * x**p for c, p in zip(coefficients, powers)) - goal(x))

        best = extrema(low, high, error, count)
        if len(best) < count:
            break
        points = [x for x, _ in best]
        sizes = [abs(v) for _, v in best]
        if max(sizes) < min(sizes) * mpf("1.01"):
            break
    return coefficients, max(abs(error(low + (high - low) * i / 500)) for i in range(501))


def neighbours(value, changes):
    bits = struct.unpack("i", struct.pack("f", value))[0]
    return [struct.unpack("f", struct.pack("i", bits + change))[0] for change in changes]


def descend(coefficients, left, powers, weights):
    """Moves single coefficients, and pairs of neighbours, by units as long as the largest error shrinks."""
    best, moved = max(abs(w * r) for w, r in zip(weights, left)), True
    while moved:
        moved = False
        for i in range(len(coefficients)):
            for value in neighbours(coefficients[i], (-3, -2, -1, 1, 2, 3)):
                step = value - coefficients[i]
                trial = [r + step * p for r, p in zip(left, powers[i])]
                size = max(abs(w * r) for w, r in zip(weights, trial))
                if size < best:
                    best, left, coefficients[i], moved = size, trial, value, True
    return best


def polish(coefficients, goal, weight, low, high):
    """Searches near the rounded f32 coefficients for better ones: descents from random starts, seeded."""
    xs = [low + (high - low) * (1 - cos(pi * i / 200)) / 2 for i in range(201)]
    weights, goals = [float(weight(x)) for x in xs], [float(goal(x)) for x in xs]
    powers = [[float(x)**i for x in xs] for i in range(len(coefficients))]
    generator, found = random.Random(1), None
    for start in range(12):
        trial = [float(c) for c in coefficients]
        if start:
            trial = [neighbours(c, (generator.randint(-2, 2),))[0] for c in trial]
        left = [sum(c * p[j] for c, p in zip(trial, powers)) - goals[j] for j in range(len(xs))]
        size = descend(trial, left, powers, weights)
        if found is None or size < found[0]:
            found = (size, trial)
    return [mpf(c) for c in found[1]]


def fit(goal, weight, low, high, degree, bits):
    """Rounds coefficient after coefficient, fitting the rest to what is left."""
    done = []
    for first in range(degree + 1):
        powers = list(range(first, degree + 1))

        def left(x):
            return goal(x) - sum(c * x**i for i, c in enumerate(done))

        if first <= (0 if low == -1 else 3):  # around an interior point the rest cannot make up for rounding
            rest, _ = remez(left, weight, low, high, powers)
        else:
            rest = rest[1:]
        done.append(to_type(rest[0], bits))
    if bits == 32:
        done = polish(done, goal, weight, low, high)
    worst = max(abs(weight(x) * (sum(c * x**i for i, c in enumerate(done)) - goal(x)))
                for x in [mpf(low) + (mpf(high) - mpf(low)) * i / 400 for i in range(401)])
    return done, worst


def away(closed, limit):
    """`closed`, evaluated a little off zero where it is 0/0."""
    return lambda x: closed(x if abs(x) > mpf(limit) else mpf(limit))


TINY = mpf(10)**-20
HALF_LN2 = log(2) / 2 * mpf("1.001")
SQRT_RANGE = (sqrt(mpf(1) / 2) - 1, sqrt(mpf(2)) - 1)
ATANH_RANGE = (3 - 2 * sqrt(mpf(2)))**2 * mpf("1.01")
ATAN_RANGE = (sqrt(mpf(2)) - 1)**2 * mpf("1.01")
TRIG_RANGE = (pi / 4)**2 * mpf("1.01")


def log_part(f):
    return (log(1 + f) - f + f * f / 2) / f**3


def atanh_part(z):
    s = sqrt(z)
    return ((log((1 + s) / (1 - s)) / s - 2) / z - mpf(2) / 3) / z


def erf_part(x):
    t = mpf("3.875") * sqrt(max(x + 1, TINY) / 2)
    return erf(t) / t


def erfcx_part(t):
    """exp(x^2) erfc(x) (1 + 2x) as a function of t = (x - k) / (x + k)."""
    x = ERFCX_K * (1 + t) / (1 - t)
    if x > 60:
        z = 1 / (2 * x * x)
        s, term = mpf(1), mpf(1)
        for n in range(1, 40):
            term *= -(2 * n - 1) * z
            s += term
        return s / (x * sqrt(pi)) * (1 + 2 * x)
    return exp(x * x) * erfc(x) * (1 + 2 * x)


ERFCX_K = mpf(2)
# name: goal, weight, low, high, degree for f32, degree for f64. The comment says what the polynomial is part of.
POLYNOMIALS = [
    ("EXP", "exp(x) = 1 + x + x^2 P(x)", away(lambda x: (exp(x) - 1 - x) / x**2, TINY),
     lambda x: x**2 / exp(x) + TINY, -HALF_LN2, HALF_LN2, 4, 10),
    ("EXP2", "exp2(x) = 1 + x P(x)", away(lambda x: expm1(x * log(2)) / x, TINY), lambda x: abs(x) + TINY,
     mpf("-0.501"), mpf("0.501"), 6, 12),
    ("LOG", "log(1 + x) = x - x^2 / 2 + x^3 P(x)", away(log_part, mpf(10)**-12),
     lambda x: abs(x**3 / log(1 + (x or TINY))) + TINY, *SQRT_RANGE, 7, 19),
    ("LOG2", "log2(1 + x) = x P(x)", away(lambda x: log(1 + x) / log(2) / x, TINY),
     lambda x: (x or TINY) * log(2) / log(1 + (x or TINY)), *SQRT_RANGE, 9, 22),
    ("ATANH", "log((1 + s) / (1 - s)) = 2 s + s x (2 / 3 + x P(x)), x = s^2", away(atanh_part, mpf(10)**-16),
     lambda x: x**2 / 2 + TINY, 0, ATANH_RANGE, 0, 6),
    ("ATAN", "atan(t) = t + t x P(x), x = t^2", away(lambda x: (atan(sqrt(x)) / sqrt(x) - 1) / x, mpf(10)**-24),
     lambda x: x + TINY, 0, ATAN_RANGE, 4, 11),
    ("ASIN", "asin(t) = t + t x P(x), x = t^2", away(lambda x: (asin(sqrt(x)) / sqrt(x) - 1) / x, mpf(10)**-24),
     lambda x: x + TINY, 0, mpf("0.2501"), 4, 12),
    ("SIN", "sin(t) = t + t x P(x), x = t^2", away(lambda x: (sin(sqrt(x)) / sqrt(x) - 1) / x, mpf(10)**-24),
     lambda x: x + TINY, 0, TRIG_RANGE, 3, 6),
    ("COS", "cos(t) = 1 - x / 2 + x^2 P(x), x = t^2",
     away(lambda x: (cos(sqrt(x)) - 1 + x / 2) / x**2, mpf(10)**-15), lambda x: x**2 + TINY, 0, TRIG_RANGE, 2, 5),
    ("ERF_SMALL", "erf(t) = t P(x), x = t^2", away(lambda x: erf(sqrt(x)) / sqrt(x), TINY), lambda x: mpf(1), 0, 1,
     0, 12),
    ("ERF", "erf(t) = t P(x), x = 2 (t / 3.875)^2 - 1", erf_part, lambda x: 1 / erf_part(x), -1, 1, 15, 0),
    ("ERFCX", "exp(t^2) erfc(t) (1 + 2 t) = P(x), x = (t - 2) / (t + 2)", erfcx_part, lambda x: 1 / erfcx_part(x), -1,
     mpf("0.87"), 13, 31),
]


def main(path):
    lines = ["// Polynomials of the inline mathematical functions: written by build_tools/math_coefficients.py.", "//",
             "//   POLY(name, bits, coefficients from the constant term up)", ""]
    for name, text, goal, weight, low, high, degree32, degree64 in POLYNOMIALS:
        lines.append(f"// {name}: {text}")
        for bits, degree in ((32, degree32), (64, degree64)):
            if not degree:
                continue
            coefficients, worst = fit(goal, weight, low, high, degree, bits)
            print(f"{name:10} f{bits} degree {degree:2}: error {float(worst):.3g} = "
                  f"{float(worst * 2**(24 if bits == 32 else 53)):.3f} ulp", flush=True)
            numbers = [float(c).hex() for c in coefficients]
            rows, line = [], f"POLY({name}, {bits}"
            for number in numbers:
                if len(line) + len(number) + 3 > 118:
                    rows.append(line + ",")
                    line = "     " + number
                else:
                    line += ", " + number
            rows.append(line + ")")
            lines += rows
    open(path, "w").write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "src/target/llvm/math_coefficients.def")
