"""What is kept of each compilation: `with TempFileSaver(folder):`, or the variable IREE_SAVE_TEMPS.

A folder's name may have {id} (a number for each compilation), {pid} and {main} (the name of the program).
"""

import itertools
import os
import pathlib
import sys
import threading

__all__ = ["TempFileSaver"]

_local = threading.local()
_numbers = itertools.count()


def _entered():
    if not hasattr(_local, "savers"):
        _local.savers = []
    return _local.savers


class TempFileSaver:
    """Keeps programs, flags and modules (core-input.mlir, core-command-line.txt, core-output.bin) in a folder."""

    TEMP_PATH_ENV_KEY = "IREE_SAVE_TEMPS"

    def __init__(self, temp_path_pattern=None, *, invocation_id=None):
        pattern = temp_path_pattern if temp_path_pattern is not None else os.environ.get(self.TEMP_PATH_ENV_KEY)
        self.retained = pattern is not None
        self.retained_path = None
        self._names = set()
        if self.retained:
            self.invocation_id = next(_numbers) if invocation_id is None else invocation_id
            places = {"{id}": self.invocation_id, "{pid}": os.getpid(), "{main}": os.path.basename(sys.argv[0])}
            for name, value in places.items():
                pattern = pattern.replace(name, str(value))
            self.retained_path = pattern

    @staticmethod
    def implicit():
        """The innermost one of this thread's, or one of the variable's."""
        return _entered()[-1] if _entered() else TempFileSaver()

    @staticmethod
    def current():
        """The innermost one of this thread's."""
        if not _entered():
            raise RuntimeError("no TempFileSaver is entered")
        return _entered()[-1]

    def __enter__(self):
        _entered().append(self)
        return self

    def __exit__(self, kind, error, trace):
        _entered().pop()

    def save(self, name, data):
        """Writes a file, whose name gets a number where there is one already. Nothing where nothing is kept."""
        if not self.retained:
            return
        stem, suffix = os.path.splitext(name)
        names = itertools.chain([name], (f"{stem}_{i}{suffix}" for i in itertools.count(1)))
        name = next(each for each in names if each not in self._names)
        self._names.add(name)
        folder = pathlib.Path(self.retained_path)
        folder.mkdir(parents=True, exist_ok=True)
        folder.joinpath(name).write_bytes(data)
