"""Runs the operator cases' kernels in the checking interpreter and compares them with ONNX Runtime: GPUs' kernels, and
those for instructions of CPUs (cascadelake: sums of products of bytes).

    tests/dispatch/run_gpu.py --runner build/tests/run_dispatches [--target gfx1100] [--execute] [--every 4] [--only NAME]

With --execute it is the machine code that runs, on the software AMD GPU with all checks.

Cases that the compiler refuses, or that need control flow on the host, are left out: tests/e2e/ops covers them.
"""

import argparse
import multiprocessing
import pathlib
import shutil
import sys
import tempfile

import numpy as np
import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e" / "ops"))
import case  # noqa: E402
import run  # noqa: E402

TARGETS = {"gfx": ["--iree-hal-target-device=hip", "--iree-hip-target="],
           "sm_": ["--iree-hal-target-device=cuda", "--iree-cuda-target="],
           "cas": ["--iree-hal-target-backends=llvm-cpu", "--iree-llvmcpu-target-cpu="]}
NEEDS_HOST = 3


class LeftOut(Exception):
    """A program with control flow."""


def run_case(subject, runner, target, execute, folder):
    arrays = case.arrays_of(subject)
    expected = run.expected_results(case.model_of(subject, arrays), arrays, subject.reference)
    model = case.model_of(subject, arrays, [np.asarray(result) for result in expected])
    onnx.save(model, folder / "model.onnx")
    paths = []
    arrays = {name: case.points_of(array) if array.dtype == object else array for name, array in arrays.items()}
    for name, array in arrays.items():
        np.ascontiguousarray(array).tofile(folder / f"{name}.bin")
        paths.append(str(folder / f"{name}.bin"))
    device, flag = TARGETS[target[:3]]
    result = run.call([runner, device, flag + target, str(folder / "model.onnx"), "--",
                       f"--execute={target}" if execute else "--interpret",
                       f"--inputs={','.join(paths)}", f"--outputs={folder / 'out'}",
                       f"--shapes={','.join('x'.join(map(str, array.shape)) for array in arrays.values())}"])
    if result.returncode == NEEDS_HOST:
        raise LeftOut
    if result.returncode != 0:
        raise run.Failure(run.message(result))
    for index, theirs in enumerate(expected):
        theirs = np.asarray(theirs)
        ours = np.fromfile(folder / f"out{index}.bin", dtype=np.uint8)
        if theirs.dtype.kind in "OU" and theirs.size:
            run.compare(index, ours.view(np.uint32).reshape(*theirs.shape, -1), theirs, None)
            continue
        if ours.size != theirs.nbytes:
            raise run.Failure(f"result {index} has {ours.size} bytes, not {theirs.nbytes}")
        run.compare(index, ours.view(theirs.dtype).reshape(theirs.shape), theirs, subject.tolerance)


def work(job):
    number, runner, target, execute = job
    subject = case.CASES[number]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="iree-gpu-"))
    try:
        run_case(subject, runner, target, execute, folder)
        return subject.name, None
    except LeftOut:
        return subject.name, LeftOut
    except run.Failure as failure:
        return subject.name, str(failure)
    finally:
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runner", required=True, help="the program run_dispatches")
    parser.add_argument("--target", default="gfx1100")
    parser.add_argument("--execute", action="store_true", help="machine code on the software GPU")
    parser.add_argument("--every", type=int, default=1, help="only every so many-th case")
    parser.add_argument("--only", action="append", default=[], help="only cases whose name begins so; repeatable")
    options = parser.parse_args()
    listed = run.expected_failures()
    numbers = [number for number, subject in enumerate(case.CASES)
               if subject.name not in listed
               and (not options.only or subject.name.startswith(tuple(options.only)))][::options.every]
    passed = failed = 0
    with multiprocessing.Pool(2) as pool:
        jobs = [(number, options.runner, options.target, options.execute) for number in numbers]
        for name, reason in pool.imap(work, jobs, chunksize=4):
            if reason is None:
                passed += 1
            elif reason is not LeftOut:
                failed += 1
                print(f"FAILED {name}: {reason}")
    print(f"left out, since the host decides what runs: {len(numbers) - passed - failed}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
