"""IREE's compiler: compile_str and compile_file give modules; `api` has the compiler's own objects."""

from .tools import *
