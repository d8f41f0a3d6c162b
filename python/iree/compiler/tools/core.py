"""Compiling in one call, in this process."""

import dataclasses
import enum
import os
import pathlib
from typing import Optional, Sequence, Union

from .._api import Output, Session, Source, query_available_targets
from .debugging import TempFileSaver

__all__ = ["DEFAULT_TESTING_BACKENDS", "CompilerOptions", "CompilerToolError", "InputType", "OutputFormat",
           "compile_file", "compile_str", "query_available_targets"]


DEFAULT_TESTING_BACKENDS = ["llvm-cpu"]
DEFAULT_TESTING_DRIVER = "local-task"


class _Named(enum.Enum):
    @classmethod
    def parse(cls, spec):
        """A member, by itself or by its name in any case."""
        if isinstance(spec, cls):
            return spec
        name = spec.upper().replace("-", "_")
        if name not in cls.__members__:
            raise ValueError(f"'{spec}' is not known; one of {', '.join(cls.__members__)} is needed")
        return cls[name]

    def __str__(self):
        return self.value


class InputType(_Named):
    """Dialects of the program."""

    NONE = "none"
    AUTO = "auto"
    STABLEHLO = "stablehlo"
    STABLEHLO_XLA = "stablehlo_xla"
    TOSA = "tosa"
    TM_TENSOR = "tm_tensor"
    TORCH = "torch"
    ONNX = "onnx"


class OutputFormat(_Named):
    """Form of the result: a module, or (refused here) text."""

    FLATBUFFER_BINARY = "flatbuffer-binary"
    FLATBUFFER_TEXT = "flatbuffer-text"
    MLIR_TEXT = "mlir-text"


class CompilerToolError(Exception):
    """What could not be compiled. The text has the compiler's messages; `diagnostics` lists them."""

    def __init__(self, diagnostics, flags):
        self.diagnostics = diagnostics
        text = "\n".join(text for _, text in diagnostics)
        super().__init__(f"Error invoking IREE compiler tool iree-compile\nError code: 1\nDiagnostics:\n{text}\n\n"
                         f"Invoked with:\n iree-compile {' '.join(flags)}\n")


@dataclasses.dataclass
class CompilerOptions:
    """Keyword arguments of compile_str and compile_file."""

    output_file: Optional[str] = None
    target_backends: Sequence[str] = ()
    input_type: Union[InputType, str] = InputType.AUTO
    output_format: Union[OutputFormat, str] = OutputFormat.FLATBUFFER_BINARY
    extra_args: Sequence[str] = ()
    optimize: bool = True  # code is the same either way
    output_mlir_debuginfo: bool = True  # of text
    output_generic_mlir: bool = False  # of text
    extended_diagnostics: bool = False  # ops are named anyway
    strip_debug_ops: bool = False  # modules have none
    strip_source_map: bool = False
    crash_reproducer_path: Optional[str] = None  # for iree-opt --run-reproducer
    enable_tflite_bindings: bool = False
    enable_benchmark: bool = False

    def __post_init__(self):
        self.input_type = InputType.parse(self.input_type)
        self.output_format = OutputFormat.parse(self.output_format)
        if self.enable_tflite_bindings:
            raise ValueError("enable_tflite_bindings is not supported; call the module's functions by name")

    def flags(self):
        """The same as flags of iree-compile."""
        flags = [f"--iree-input-type={self.input_type}",
                 f"--iree-vm-bytecode-module-output-format={self.output_format}"]
        flags += [f"--iree-hal-target-backends={backend}" for backend in self.target_backends]
        if self.output_mlir_debuginfo:
            flags.append("--mlir-print-debuginfo")
        if self.output_generic_mlir:
            flags.append("--mlir-print-op-generic")
        if self.strip_source_map:
            flags.append("--iree-vm-bytecode-module-strip-source-map")
        if self.crash_reproducer_path:
            flags.append(f"--mlir-pass-pipeline-crash-reproducer={self.crash_reproducer_path}")
        if self.enable_benchmark:
            flags.append("--iree-flow-export-benchmark-funcs")
        return [*flags, *self.extra_args]


def _compile(open_source, options):
    """Compiles, and keeps what a TempFileSaver asks for."""
    saver = TempFileSaver.implicit()
    saver.save("core-command-line.txt", " ".join(["iree-compile", *options.flags()]).encode())
    module = _invoke(open_source, options)
    if saver.retained:
        saver.save("core-output.bin", module if module is not None else pathlib.Path(options.output_file).read_bytes())
    return module


def _invoke(open_source, options):
    session = Session()
    flags = options.flags()
    try:
        session.set_flags(*flags)
    except ValueError as error:
        raise CompilerToolError([("error", str(error))], flags) from None
    with session.invocation() as inv:
        if not inv.parse_source(open_source(session)) or not inv.execute():
            raise CompilerToolError(inv.diagnostics(), flags)
        to_file = options.output_file is not None
        with Output.open_file(options.output_file) if to_file else Output.open_membuffer() as output:
            inv.output_vm_bytecode(output)
            if not to_file:
                return bytes(output.map_memory())
            output.keep()
    return None


def compile_file(input_file: Union[str, os.PathLike], **kwargs) -> Optional[bytes]:
    """The module of a .mlir, .mlirbc or .onnx file; None when `output_file` gets it."""
    return _compile(lambda session: Source.open_file(session, input_file), CompilerOptions(**kwargs))


def compile_str(input_str: Union[str, bytes], **kwargs) -> Optional[bytes]:
    """The module of a program: MLIR as text or bytecode, or an ONNX model's bytes."""
    data = input_str.encode() if isinstance(input_str, str) else input_str
    TempFileSaver.implicit().save("core-input.mlir", bytes(data))
    return _compile(lambda session: Source.wrap_buffer(session, data, buffer_name="<input>"),
                    CompilerOptions(**kwargs))
