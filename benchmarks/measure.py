"""Runs a command and prints its wall seconds, CPU seconds and peak resident bytes: measure.py COMMAND...

A process of its own, because Linux counts a parent's memory at the moment of exec as the child's: this one is small.
"""

import resource
import subprocess
import sys
import time


def main():
    start = time.monotonic()
    try:
        result = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)
    except OSError as error:
        sys.exit(f"{sys.argv[1]}: {error.strerror}")
    wall = time.monotonic() - start
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(wall, spent.ru_utime + spent.ru_stime, spent.ru_maxrss * 1024)
    sys.exit(0 if result.returncode == 0 else 1)


if __name__ == "__main__":
    main()
