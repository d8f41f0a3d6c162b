"""IREE's compiler: compile_str and compile_file give modules; `api` has the compiler's own objects."""

import os
import sys

_flags = sys.getdlopenflags()
# Other packages show the whole process an LLVM of their own (TensorFlow): this one's names are looked up in its own.
sys.setdlopenflags(os.RTLD_NOW | os.RTLD_DEEPBIND)
try:
    from . import _api
finally:
    sys.setdlopenflags(_flags)

from .tools import *
from .tools import core
