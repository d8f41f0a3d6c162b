#!/usr/bin/env python3
"""Takes waits, barriers and idle instructions out of right kernels, one at a time: what do the checks say?

    tests/softgpu/run_removals.py --build build [--target gfx1100] [--level 3] [--only NAME] [--sample 50] [--show]

The kernels are those of opencl/*.cl, compiled by clang for each target and level. An instruction is left out by the software
GPU itself (IREE_SOFTGPU_LEAVE_OUT). A removal is either reported, or never reached, or harmless for a reason that
removals.py finds in the disassembly; anything else fails, and so does a check that accuses the kernel as it is.
"""

import collections
import concurrent.futures
import os
import pathlib
import random
import subprocess
import tempfile

import removals
import run_opencl
import suite


def jobs_of(options, target, level, file, cases, folder):
    """(object, code, case, site): every removal of a file, with the cases that may reach it."""
    built = run_opencl.compile_gpu(file, target, level, folder, options.flag)
    code = removals.disassemble(built, target)
    kernels, called = {case.kernel for case in cases}, collections.defaultdict(list)
    for case in cases:
        case.kernels = kernels
    for site in code.sites():
        if site.function in kernels:
            yield from ((built, code, case, site) for case in cases if case.kernel == site.function)
        elif not options.only:
            called[site.function].append(site)
    # Which kernels come to a function is found by leaving its first wait out.
    probes = [(built, code, case, sites[0]) for sites in called.values() for case in cases]
    place = pathlib.Path(tempfile.mkdtemp(dir=folder))
    reached = {(job[2], job[3].function) for job, said, *_ in run_jobs(options, target, probes, place)
               if job and any("left out" in line for line in said)}
    for case in cases:
        yield from ((built, code, case, site) for name, sites in called.items() if (case, name) in reached for site in sites)


def run_jobs(options, target, jobs, folder):
    """Runs removals in one process: (job, what it said, 'ok' or 'failed', whether the results are those of the kernel)."""
    lines, places, bases = [], [], {}
    for number, (built, _, case, site) in enumerate(jobs):
        if (built, case.kernel) not in bases:
            bases[built, case.kernel] = place = folder / f"{target}-base-{number}"
            place.mkdir()
            lines += ["without -", f"load {built}", *run_opencl.script_of(case, place)]
            places.append((None, place, bases[built, case.kernel]))
        place = folder / f"{target}-{number}"
        place.mkdir()
        lines += [f"without {site.function}+{site.offset:#x}", f"load {built}", *run_opencl.script_of(case, place)]
        places.append((jobs[number], place, bases[built, case.kernel]))
    command = [options.build / "tools" / "iree-softgpu", f"--target={target}", "--check=all", "--limit=50000000", "--",
               options.build / "tests" / "softgpu_launch"]
    result = subprocess.run(list(map(str, command)), input="\n".join(lines) + "\n", stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, check=False,
                            env={**os.environ, "IREE_SOFTGPU_THREADS": "1"})
    said, results = [], []
    for line in result.stdout.splitlines():
        said.append(line)
        if line.startswith(("ok ", "failed ")):
            job, place, base = places[len(results)]
            same = all(file.read_bytes() == (base / file.name).read_bytes() for file in place.glob("*.out"))
            results.append((job, said, line.split()[0], same))
            said = []
    if len(results) != len(places):
        results.append((None, [*said, f"ended early, exit {result.returncode}"], "failed", False))
    return results


def judge(job, said, state, same):
    """What became of a removal: one word, and a sentence for the word 'missed'."""
    reached = any("left out" in line for line in said)
    message = next((line.split("GPU 0: ")[1] for line in said if "GPU 0: " in line), "")
    if job is None:
        return ("right" if state == "ok" else "accused"), message or " ".join(said)
    if state != "ok":
        return "reported " + message.split(":")[0], message
    if not reached:
        return "not reached", ""
    if not same:
        return "missed", "results differ"
    _, code, case, site = job
    reason = code.harmless(site, case.kernels, case.group <= (64 if code.target.startswith("gfx9") else 32))
    return (f"harmless: {reason}", "") if reason else ("missed", "")


def run_target(options, target, cases, folder):
    jobs = []
    for level in options.level:
        for file in sorted({case.file for case in cases}):
            jobs += jobs_of(options, target, level, file, [case for case in cases if case.file == file], folder)
    if options.sample and len(jobs) > options.sample:
        jobs = random.Random(options.seed).sample(jobs, options.sample)
        jobs.sort(key=lambda job: (str(job[0]), job[2].kernel))
    counts, failures = collections.Counter(), []
    for start in range(0, len(jobs), 400):
        for job, said, state, same in run_jobs(options, target, jobs[start:start + 400],
                                               pathlib.Path(tempfile.mkdtemp(dir=folder))):
            word, sentence = judge(job, said, state, same)
            counts[word] += 1
            if word in ("missed", "accused"):
                where = f"{job[0].name}: {job[2].kernel}: {job[3]}" if job else ""
                failures.append(f"{target} {where}: {word} {sentence}")
            elif options.show and job:
                print(f"{target} {job[0].name}: {job[2].kernel}: {job[3]}: {word} {sentence}")
    return target, counts, failures


def main():
    parser = suite.arguments(__doc__)
    parser.add_argument("--folder", type=pathlib.Path, default=run_opencl.HERE / "opencl", help="where the .cl files are")
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--level", action="append", type=int, default=[])
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--sample", type=int, default=0, help="removals of a target that are tried; 0: all")
    parser.add_argument("--flag", action="append", default=[], help="of clang, such as -mwavefrontsize64")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="says what became of each removal")
    options = parser.parse_args()
    options.target, options.level = options.target or suite.TARGETS, options.level or [0, 3]
    cases = run_opencl.cases_of(options.folder, options.only)
    with tempfile.TemporaryDirectory(prefix="iree-removals-") as name:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(lambda target: run_target(options, target, cases, pathlib.Path(name)), options.target))
    total, failures = 0, []
    for target, counts, wrong in results:
        for word, count in sorted(counts.items()):
            print(f"{target}: {count:5} {word}")
        total += sum(counts.values())
        failures += wrong
    suite.finish(total, failures)


if __name__ == "__main__":
    main()
