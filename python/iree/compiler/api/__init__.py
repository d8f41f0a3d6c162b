"""The compiler in the process: sessions with flags, invocations, sources, outputs.

    session = Session()
    session.set_flags("--iree-hal-target-backends=llvm-cpu")
    inv = session.invocation()
    output = Output.open_membuffer()
    if inv.parse_source(Source.open_file(session, "model.mlir")) and inv.execute():
        inv.output_vm_bytecode(output)
    else:
        print(inv.diagnostics())
"""

import enum

from .._api import Invocation, Output, Session, Source


class PipelineType(enum.IntEnum):
    """What Invocation.execute runs."""

    IREE_COMPILER_PIPELINE_STD = 0
    IREE_COMPILER_PIPELINE_HAL_EXECUTABLE = 1
    IREE_COMPILER_PIPELINE_PRECOMPILE = 2


__all__ = ["Invocation", "Output", "PipelineType", "Session", "Source"]
