"""Runs programs.py on iree and on JAX's own CPU, and compares.

    JAX_PLATFORMS=iree,cpu PYTHONPATH=build/jax:tests/pjrt python tests/pjrt/compare.py [--every N] [--only TEXT]

With --harnesses N it runs N of the cases that JAX tests its primitives with (jax._src.internal_test_util; 0: all),
chosen by --seed, instead.
"""

import argparse
import sys
import traceback

import jax
import numpy as np

import programs


def run(platform, function, args):
    with jax.default_device(jax.devices(platform)[0]):
        return jax.tree.map(np.asarray, jax.jit(function)(*args))


def difference(ours, theirs, is_scaled=False):
    """What is wrong with our results, or None. `is_scaled`: errors may be as large as the largest element makes them."""
    ours, theirs = jax.tree.leaves(ours), jax.tree.leaves(theirs)
    if len(ours) != len(theirs):
        return f"{len(ours)} results instead of {len(theirs)}"
    for got, wanted in zip(ours, theirs):
        if got.shape != wanted.shape or got.dtype != wanted.dtype:
            return f"{got.dtype}{got.shape} instead of {wanted.dtype}{wanted.shape}"
        if wanted.dtype.kind in "biu" or "int" in wanted.dtype.name:
            if not np.array_equal(got, wanted):
                return f"{got.reshape(-1)[:6]} instead of {wanted.reshape(-1)[:6]}"
            continue
        wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
        small = wanted.dtype.itemsize <= 2 and wanted.dtype.kind != "c"
        tolerance = 2e-2 if small else 3e-4
        got, wanted = got.astype(wide), wanted.astype(wide)
        largest = np.max(np.abs(wanted), initial=1, where=np.isfinite(wanted)) if is_scaled else 1
        if not np.allclose(got, wanted, rtol=tolerance, atol=tolerance / 10 * max(largest, 1), equal_nan=True):
            return f"{got.reshape(-1)[:6]} instead of {wanted.reshape(-1)[:6]}"
    return None


def check(function, args, unique=None, is_scaled=False):
    """What is wrong; `unique` is what of the results can be compared, `is_scaled` as of `difference`."""
    try:
        wanted = run("cpu", function, args)
    except Exception:  # noqa: BLE001  what JAX itself refuses is no case
        return None
    try:
        got = run("iree", function, args)
    except Exception as error:  # noqa: BLE001  every failure is a case's
        return "".join(traceback.format_exception_only(error)).strip()
    if unique:
        got, wanted = unique(jax.tree.leaves(got)), unique(jax.tree.leaves(wanted))
    return difference(got, wanted, is_scaled)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="only every n-th program")
    parser.add_argument("--only", default="", help="only programs whose area.name has this text")
    parser.add_argument("--harnesses", type=int, help="how many of JAX's own cases")
    parser.add_argument("--seed", type=int, default=0, help="that chooses them")
    arguments = parser.parse_args()
    passed = failed = 0
    cases, unique, scaled = programs.PROGRAMS[:: arguments.every], {}, set()
    if arguments.harnesses is not None:
        import harnesses  # needs what JAX's tests need

        cases, unique = harnesses.sample(arguments.harnesses, arguments.seed), harnesses.UNIQUE
        scaled = harnesses.SCALED
    for area, name, function, args in cases:
        if arguments.only not in f"{area}.{name}":
            continue
        problem = check(function, args, unique.get(area), area in scaled)
        passed, failed = passed + (problem is None), failed + (problem is not None)
        if problem:
            print(f"FAILED {area}.{name}: {problem}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
