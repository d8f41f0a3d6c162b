"""Runs a shell command on a terminal of its own, without input: terminal.py COMMAND. Prints what the terminal gets."""

import pty
import sys

sys.exit(pty.spawn(["/bin/sh", "-c", sys.argv[1]]) >> 8)
