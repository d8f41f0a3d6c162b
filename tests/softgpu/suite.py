"""What this folder's programs share: their arguments, the calls of clang and launch.c, the lines at the end."""

import argparse
import os
import pathlib
import subprocess
import sys

TARGETS = ["gfx1100", "gfx942", "gfx90a", "gfx1030", "gfx1201"]


def arguments(documentation):
    """A parser that knows --build, the folder of the build, and says the documentation's first line."""
    parser = argparse.ArgumentParser(description=documentation.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    return parser


def call(command):
    """Runs a command that must not fail."""
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stderr[:2000]}")


def softgpu(build, flags, program, **how):
    """Runs a program, a list, on the software GPU; flags are iree-softgpu's, `how` is subprocess.run's."""
    command = [build / "tools" / "iree-softgpu", *flags, "--", *program]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **how)


def launch(build, flags, script, environment=None, timeout=None):
    """Runs the lines of a script of launch.c on the software GPU."""
    return softgpu(build, flags, [build / "tests" / "softgpu_launch"], input="\n".join(script) + "\n", timeout=timeout,
                   env={**os.environ, **(environment or {})})


def is_nvidia(target):
    return target.startswith("sm_")


def launch_ptx(build, checks, script, environment=None):
    """Runs the lines of a script of nvidia/launch.c, whose lines are launch.c's."""
    lines = [*([f"check {checks}"] if checks else []), *script]
    return subprocess.run([str(build / "tests" / "softgpu_ptx_launch")], input="\n".join(lines) + "\n", text=True,
                          capture_output=True, check=False, env={**os.environ, **(environment or {})})


def finish(count, failures):
    """Prints what failed and the line that tests/run.sh adds up; ends the program."""
    for failure in failures:
        print(f"FAILED {failure}")
    print(f"{count - len(failures)} passed, {len(failures)} failed")
    sys.exit(1 if failures else 0)


def finish_targets(results):
    """The same of targets' results, each how many ran, what failed, and what was said meanwhile, which may explain it."""
    for _, failures, messages in results:
        for message in messages[:10] if failures else []:
            print(f"    {message}")
    finish(sum(count for count, _, _ in results), [failure for _, failures, _ in results for failure in failures])
