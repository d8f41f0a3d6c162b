#!/usr/bin/env python3
"""Instructions of each family of GPUs: none of those of compute may be missing on the software GPU.

    tests/softgpu/run_fidelity.py --build build [--target gfx1100] [--table]

LLVM's disassembler says which there are (iree-softgpu --fidelity). --table prints the table of docs/softgpu.md. Targets
that are not executed must be refused with a reason.
"""

import re
import subprocess

import suite

TARGETS = ["gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1010", "gfx1011", "gfx1030", "gfx1100", "gfx1151",
           "gfx1201"]
REFUSED = {"gfx803": "older", "gfx9-generic": "no GPU", "gfx12-generic": "no GPU", "gfx1250": "not executed",
           "gfx1251": "not executed", "gfx77": "no target"}
TOTALS = re.compile(r"of (\d+) compute instructions (\d+) exact, (\d+) approximate, (\d+) without effect, (\d+) missing.* (\d+) of graphics")


def tool(options, *flags):
    command = [str(options.build / "tools" / "iree-softgpu"), *flags]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def main():
    parser = suite.arguments(__doc__)
    parser.add_argument("--target", action="append", default=[])
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    targets, failures, count = options.target or TARGETS, [], 0
    if options.table:
        print("| target | instructions of compute | exact | approximate | without effect |\n|---|--:|--:|--:|--:|")
    for target in targets:
        said = tool(options, "--fidelity", f"--target={target}").stdout.splitlines()
        totals = TOTALS.search(said[-1]) if said else None
        missing = [line.split()[0] for line in said if line.endswith(" missing")]
        count += 1
        if not totals or missing:
            failures.append(f"{target}: missing {' '.join(missing)}")
        elif options.table:
            print("| " + " | ".join([target, *totals.groups()[:4]]) + " |")
    for target, reason in ({} if options.target else REFUSED).items():
        count += 1
        result = tool(options, f"--target={target}", "--", "true")
        if result.returncode != 1 or reason not in result.stderr or target not in result.stderr:
            failures.append(f"{target}: {result.stderr.strip() or 'not refused'}")
    suite.finish(count, failures)


if __name__ == "__main__":
    main()
