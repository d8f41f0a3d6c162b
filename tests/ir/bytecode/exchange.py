"""Programs as bytecode between jaxlib and the compiler's library, in memory: exchange.py, with PYTHONPATH set.

What jaxlib writes as portable artifacts of every StableHLO version since 1.0 says here what the text says, and what is
written here in every version of the format says to jaxlib what the text says.
"""

import sys

import jaxlib.mlir.ir as ir
from iree.compiler import api
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir.dialects import stablehlo

import write

# Of these the compiler drops the shardings, and names of resources are told apart by numbers where they are read again.
CHANGED = {"resources", "sharded"}


class Compiler:
    def __init__(self):
        self.session = api.Session()

    def _output(self, data, emit):
        inv = self.session.invocation()
        if not inv.parse_source(api.Source.wrap_buffer(self.session, data)):
            raise ValueError(inv.diagnostics())
        with api.Output.open_membuffer() as output:
            emit(inv, output)
            return bytes(output.map_memory())

    def text(self, data):
        return self._output(data, lambda inv, output: inv.output_ir(output))

    def bytecode(self, text, version):
        return self._output(text, lambda inv, output: inv.output_ir_bytecode(output, version))


def versions():
    major, minor, _ = map(int, stablehlo.get_current_version().split("."))
    assert major == 1
    return [f"1.{i}.0" for i in range(minor + 1)]


def check_reading(compiler, text, counts):
    wanted = compiler.text(text.encode())
    for version in versions():
        try:
            artifact = stablehlo.serialize_portable_artifact(ir.Module.parse(text), version)
        except ValueError:  # what the version does not have yet
            continue
        counts[version] = counts.get(version, 0) + 1
        assert compiler.text(artifact) == wanted, f"reads version {version} as something else"


def check_writing(compiler, text):
    for version in write.FORMATS:
        module = ir.Module.parse(compiler.bytecode(text.encode(), version))
        assert module.operation.get_asm(enable_debug_info=False) == text, f"writes another program in version {version}"


def main():
    compiler, context, counts, passed, failed = Compiler(), jax_mlir.make_ir_context(), {}, 0, 0
    context.attach_diagnostic_handler(lambda diagnostic: True)  # what a version does not have
    with context, ir.Location.unknown():
        # Reading an artifact loads the dialects that StableHLO depends on, among them quant.
        empty = stablehlo.serialize_portable_artifact(ir.Module.parse("module {}"), versions()[0])
        stablehlo.deserialize_portable_artifact(context, empty)
        for name, source in write.programs().items():
            text = ir.Module.parse(source).operation.get_asm(enable_debug_info=False)
            try:
                if "// plain" not in source:
                    check_reading(compiler, text, counts)
                if name not in CHANGED:
                    check_writing(compiler, text)
                passed += 1
            except (AssertionError, ValueError, ir.MLIRError) as error:
                failed += 1
                print(f"FAILED {name}: {error}")
    for version in versions():
        if counts.get(version, 0) < 20:
            failed += 1
            print(f"FAILED version {version}: {counts.get(version, 0)} programs")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
