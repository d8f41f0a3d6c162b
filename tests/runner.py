"""What runners that compile programs and call them share: their options, their commands and what they report."""

import argparse
import os
import pathlib
import subprocess


def options_of(about):
    """A parser of the options that these runners have in common; `about` is the runner's own text."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--tools", required=True, help="folder of iree-compile and iree-run-module")
    parser.add_argument("--only", action="append", default=[], help="only programs whose name has this text")
    parser.add_argument("--flag", action="append", help="iree-compile's target, instead of the CPU; repeatable")
    parser.add_argument("--device", default="local-sync")
    parser.add_argument("--launcher", default="", help="command to put before iree-run-module")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    return parser


def is_wanted(name, options):
    return not options.only or any(text in name for text in options.only)


def call(command, seconds=120):
    """What went wrong, or None."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return f"no end after {seconds} s"
    lines = done.stderr.decode(errors="replace").strip().splitlines() or ["nothing on stderr"]
    errors = [line for line in lines if "error:" in line] or lines[-1:]
    return f"exit {done.returncode}: {errors[0][-400:]}" if done.returncode else None


def compile_program(options, target, source, module, seconds=120):
    problem = call([f"{options.tools}/iree-compile", *target, source, "-o", module], seconds)
    return problem and f"iree-compile: {problem}"


def run_module(options, module, function, arguments, seconds=120):
    problem = call([*options.launcher.split(), f"{options.tools}/iree-run-module", f"--device={options.device}",
                    f"--module={module}", f"--function={function}", *arguments], seconds)
    return problem and f"iree-run-module: {problem}"


def report(results):
    """Prints what failed of (name, problem) pairs, and how many; whether any did, as an exit status."""
    count = failed = 0
    for name, problem in results:
        count, failed = count + 1, failed + (problem is not None)
        if problem:
            print(f"FAILED {name}: {problem}", flush=True)
    print(f"{count - failed} passed, {failed} failed")
    return failed != 0
