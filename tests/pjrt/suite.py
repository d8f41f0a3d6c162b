"""JAX's own tests through the plugin, one in so many: suite.py CHECKOUT [--every N] [--seed S] [--only FILE]

CHECKOUT is JAX's repository at the version that is installed (github.com/jax-ml/jax, tag jax-v0.10.2). Its tests need
absl-py, and some of them hypothesis. Each file runs in a process of its own. Tests that ask for the platform's name are
told `cpu`, so that those run which JAX has for CPUs alone; --named tells them iree.
"""

import argparse
import importlib.util
import os
import pathlib
import subprocess
import sys
import unittest
import zlib

# What is asked of a platform whose programs are on one device.
FILES = """lax_test lax_numpy_test lax_numpy_operators_test lax_numpy_reducers_test lax_numpy_indexing_test
    lax_numpy_setops_test lax_numpy_ufuncs_test lax_numpy_vectorize_test lax_numpy_einsum_test lax_control_flow_test
    lax_autodiff_test lax_vmap_test lax_vmap_op_test lax_scipy_test lax_scipy_special_functions_test linalg_test nn_test
    random_lax_test random_test random_impl_test fft_test debugging_primitives_test
    scipy_stats_test scipy_fft_test scipy_ndimage_test scipy_signal_test scipy_optimize_test scipy_interpolate_test
    lax_scipy_sparse_test lax_scipy_spectral_dac_test image_test sparse_test sparse_bcoo_bcsr_test sparsify_test svd_test
    eigh_test lobpcg_test jet_test custom_root_test custom_linear_solve_test dtypes_test x64_context_test key_reuse_test
    stateful_rng_test stax_test optimizers_test polynomial_test python_callback_test debug_nans_test checkify_test
    mutable_array_test batching_test array_test array_interoperability_test api_test pmap_test export_test ann_test
    scaled_dot_test pickle_test compilation_cache_test memories_test pjit_test shape_poly_test""".split()


def flatten(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from flatten(item)
        else:
            yield item


def is_chosen(name, every, seed):
    return zlib.crc32(f"{seed} {name}".encode()) % every == 0


def run_file(path, every, seed, named):
    """Counts of what passed, failed and was skipped."""
    from jax._src import test_util

    sys.argv[1:] = []  # JAX reads its own flags there
    if not named:
        test_util.device_under_test = lambda: "cpu"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    tests = [test for test in flatten(unittest.defaultTestLoader.loadTestsFromModule(module))
             if is_chosen(test.id(), every, seed)]
    result = unittest.TestResult()
    for test in tests:
        before = len(result.failures), len(result.errors)
        test.run(result)
        for _, trace in result.failures[before[0]:] + result.errors[before[1]:]:
            text = trace.strip().splitlines()[-1]
            print(f"FAILED {test.id()}: {text[:300]}", flush=True)
    failed, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    print(f"counts {result.testsRun - failed - skipped} {failed} {skipped}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--every", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="one file of the tests")
    parser.add_argument("--named", action="store_true", help="tests are told the platform's own name")
    parser.add_argument("--here", action="store_true", help="in this process")
    options = parser.parse_args()
    if options.here:
        run_file(options.checkout / f"tests/{options.only}.py", options.every, options.seed, options.named)
        return 0
    totals = [0, 0, 0]
    for name in [options.only] if options.only else FILES:
        command = [sys.executable, __file__, options.checkout.resolve(), "--every", str(options.every), "--seed",
                   str(options.seed), "--only", name, "--here", *["--named"] * options.named]
        done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              check=False, env={"JAX_PLATFORMS": "iree,cpu", **os.environ})
        *lines, last = done.stdout.splitlines() or [""]
        if done.returncode or not last.startswith("counts "):
            lines, last = [*lines, last, f"FAILED {name}: exit {done.returncode}"], "counts 0 1 0"
        counts = list(map(int, last.split()[1:]))
        print("\n".join([*lines, "{}: {} passed, {} failed, {} skipped".format(name, *counts)]), flush=True)
        totals = [total + count for total, count in zip(totals, counts)]
    print(f"{totals[2]} were skipped by themselves")
    print(f"{totals[0]} passed, {totals[1]} failed")
    return totals[1] != 0


if __name__ == "__main__":
    sys.exit(main())
