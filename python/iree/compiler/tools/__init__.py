"""compile_str, compile_file and what they take."""

from .core import (
    CompilerOptions,
    CompilerToolError,
    InputType,
    OutputFormat,
    compile_file,
    compile_str,
    query_available_targets,
)

__all__ = [
    "CompilerOptions",
    "CompilerToolError",
    "InputType",
    "OutputFormat",
    "compile_file",
    "compile_str",
    "query_available_targets",
]
