"""compile_str, compile_file and what they take."""

from .core import (
    DEFAULT_TESTING_BACKENDS,
    CompilerOptions,
    CompilerToolError,
    InputType,
    OutputFormat,
    compile_file,
    compile_str,
    query_available_targets,
)
from .debugging import TempFileSaver

__all__ = [
    "DEFAULT_TESTING_BACKENDS",
    "CompilerOptions",
    "CompilerToolError",
    "InputType",
    "OutputFormat",
    "TempFileSaver",
    "compile_file",
    "compile_str",
    "query_available_targets",
]
