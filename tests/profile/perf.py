"""Which of Linux's perf events this process may count (perf_event_open(2))."""

import ctypes
import errno
import os
import platform

HARDWARE, SOFTWARE = 0, 1
CPU_CYCLES, PAGE_FAULTS = 0, 2
CALLS = {"x86_64": 298, "aarch64": 241}
SIZE, EXCLUDE_KERNEL = 112, 1 << 5


def refusal(kind, number):
    """None when the event can be counted in user code, or the number of the error."""
    attributes = bytearray(SIZE)
    attributes[0:4], attributes[4:8] = kind.to_bytes(4, "little"), SIZE.to_bytes(4, "little")
    attributes[8:16], attributes[40:48] = number.to_bytes(8, "little"), EXCLUDE_KERNEL.to_bytes(8, "little")
    library = ctypes.CDLL(None, use_errno=True)
    file = library.syscall(CALLS[platform.machine()], ctypes.c_char_p(bytes(attributes)), 0, -1, -1, 0)
    if file < 0:
        return ctypes.get_errno()
    os.close(file)
    return None


def is_denied():
    return refusal(SOFTWARE, PAGE_FAULTS) in (errno.EACCES, errno.EPERM)
