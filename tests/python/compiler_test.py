"""iree.compiler: programs in and out, errors with the compiler's text, threads. compiler_test.py, with PYTHONPATH set."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock

import iree.compiler
from iree.compiler import api, tools

PROGRAM = """
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
BROKEN = "func.func @f() -> i32 {\n  return %x : i32\n}\n"
# Read and verified, and refused by a pass.
FAILING = """func.func @f(%x: tensor<?xf32>, %flag: tensor<i1>) -> tensor<?xf32> {
  %r = "graph.while"(%x) <{sizes = array<i64: 7>}> ({
  ^bb0(%v: tensor<?xf32>):
    "graph.yield"(%flag) : (tensor<i1>) -> ()
  }, {
  ^bb0(%v: tensor<?xf32>):
    "graph.yield"(%v) : (tensor<?xf32>) -> ()
  }) : (tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
"""
BACKENDS = {"target_backends": ["vmvx"]}
ARTIFACT = pathlib.Path(__file__).parents[1] / "ir/bytecode/files/mlp.1.17.0.mlirbc"


class ToolsTest(unittest.TestCase):
    def test_text_bytes_and_bytecode(self):
        for program in (PROGRAM, PROGRAM.encode(), ARTIFACT.read_bytes()):
            self.assertEqual(tools.compile_str(program, **BACKENDS)[:2], b"PK")

    def test_files(self):
        self.assertEqual(iree.compiler.compile_file(ARTIFACT, input_type="stablehlo", **BACKENDS)[:2], b"PK")
        with tempfile.TemporaryDirectory() as folder:
            module = pathlib.Path(folder, "f.vmfb")
            self.assertIsNone(tools.compile_str(PROGRAM, output_file=str(module), **BACKENDS))
            self.assertEqual(module.read_bytes()[:2], b"PK")
            with self.assertRaises(tools.CompilerToolError):
                tools.compile_str(BROKEN, output_file=str(module.with_name("none")), **BACKENDS)
            self.assertEqual([file.name for file in pathlib.Path(folder).iterdir()], ["f.vmfb"])

    def test_errors_carry_the_text(self):
        with self.assertRaises(iree.compiler.CompilerToolError) as caught:
            tools.compile_str(BROKEN, **BACKENDS)
        self.assertIn("<input>:2:10: error:", str(caught.exception))
        self.assertEqual(caught.exception.diagnostics[0][0], "error")
        with self.assertRaisesRegex(tools.CompilerToolError, "--no-such-flag"):
            tools.compile_str(PROGRAM, extra_args=["--no-such-flag"], **BACKENDS)
        with self.assertRaisesRegex(ValueError, "no-such-file"):
            tools.compile_file("no-such-file.mlir", **BACKENDS)

    def test_reproducer(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "found.mlir")
            with self.assertRaises(tools.CompilerToolError):
                tools.compile_str(FAILING, crash_reproducer_path=str(path), **BACKENDS)
            self.assertIn("mlir_reproducer", path.read_text())

    def test_what_is_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            with tools.TempFileSaver(f"{folder}/{{id}}", invocation_id="x"):
                modules = [tools.compile_str(PROGRAM, **BACKENDS)]
                tools.compile_str(ARTIFACT.read_bytes(), output_file=f"{folder}/m.vmfb", **BACKENDS)
                with self.assertRaises(tools.CompilerToolError):
                    tools.compile_str(BROKEN, **BACKENDS)
            modules.append(pathlib.Path(folder, "m.vmfb").read_bytes())
            kept = {file.name: file.read_bytes() for file in pathlib.Path(folder, "x").iterdir()}
            self.assertEqual([kept["core-output.bin"], kept["core-output_1.bin"]], modules)
            self.assertEqual([kept["core-input.mlir"], kept["core-input_2.mlir"]], [PROGRAM.encode(), BROKEN.encode()])
            self.assertIn(b"iree-compile --iree-input-type=auto", kept["core-command-line.txt"])
            with unittest.mock.patch.dict("os.environ", IREE_SAVE_TEMPS=f"{folder}/all"):
                tools.compile_str(PROGRAM, **BACKENDS)
            self.assertTrue(pathlib.Path(folder, "all/core-output.bin").exists())
            tools.compile_str(PROGRAM, **BACKENDS)
            self.assertEqual(len(list(pathlib.Path(folder, "all").iterdir())), 3)

    def test_options(self):
        self.assertEqual(tools.InputType.parse("StableHLO-XLA"), tools.InputType.STABLEHLO_XLA)
        with self.assertRaisesRegex(ValueError, "NONE, AUTO"):
            tools.CompilerOptions(input_type="fortran")
        with self.assertRaises(ValueError):
            tools.CompilerOptions(enable_tflite_bindings=True)
        self.assertIn("vmvx", tools.query_available_targets())


class ApiTest(unittest.TestCase):
    def setUp(self):
        self.session = api.Session()
        self.session.set_flags("--iree-hal-target-backends=vmvx")

    def text(self, inv):
        with api.Output.open_membuffer() as output:
            inv.output_ir(output)
            view = output.map_memory()
        return bytes(view).decode()  # the view outlives the output

    def test_flags_belong_to_their_session(self):
        self.assertEqual(self.session.get_flags(non_default_only=True), ["--iree-hal-target-backends=vmvx"])
        self.assertEqual(api.Session().get_flags(non_default_only=True), [])
        with self.assertRaisesRegex(ValueError, "--does-not-exist"):
            self.session.set_flags("--does-not-exist=1")
        with self.assertRaises(TypeError):
            self.session.set_flags(1)

    def test_phases_and_bytecode(self):
        inv = self.session.invocation()
        self.assertTrue(inv.parse_source(api.Source.wrap_buffer(self.session, PROGRAM.encode())))
        self.assertIn("stablehlo.add", self.text(inv))
        output = api.Output.open_membuffer()
        inv.output_ir_bytecode(output)
        data = bytes(output.map_memory())
        self.assertEqual(data[:4], b"ML\xefR")
        inv.set_compile_to_phase("input")
        self.assertTrue(inv.execute(api.PipelineType.IREE_COMPILER_PIPELINE_STD))
        self.assertIn("graph.add", self.text(inv))
        with self.assertRaisesRegex(ValueError, "the pipeline has to run"):
            inv.output_vm_bytecode(output)
        again = self.session.invocation()
        self.assertTrue(again.parse_source(api.Source.wrap_buffer(self.session, data, buffer_name="f.mlirbc")))

    def test_failures_are_told(self):
        inv = self.session.invocation()
        self.assertFalse(inv.execute())
        self.assertIn("parse a source first", inv.diagnostics()[0][1])
        self.assertFalse(inv.parse_source(api.Source.wrap_buffer(self.session, BROKEN.encode())))
        self.assertIn("source.mlir:2:10", inv.diagnostics()[1][1])
        inv.close()
        inv.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            inv.execute()
        with self.assertRaises(TypeError):
            api.Invocation()

    def test_outputs(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "x")
            for keep in (False, True):
                with api.Output.open_file(str(path)) as output:
                    output.write(b"hello")
                    with self.assertRaisesRegex(ValueError, "in memory"):
                        output.map_memory()
                    if keep:
                        output.keep()
                self.assertEqual(path.exists(), keep)

    def test_threads(self):
        outcomes = []

        def work(number):
            for i in range(10):
                program = BROKEN if (i + number) % 5 == 0 else PROGRAM
                try:
                    good = tools.compile_str(program, **BACKENDS)[:2] == b"PK"
                except tools.CompilerToolError:
                    good = program is BROKEN
                outcomes.append(good)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(outcomes, [True] * 40)

    @unittest.skipUnless(shutil.which("cc"), "needs a C compiler")
    def test_beside_another_llvm(self):
        """A library that shows the process a function of LLVM's, as TensorFlow's does."""
        with tempfile.TemporaryDirectory() as folder:
            source, library = pathlib.Path(folder, "other.c"), pathlib.Path(folder, "other.so")
            source.write_text("#include <stdlib.h>\n"
                              "void LLVMAddFunction(void) { exit(42); }\n")
            subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library], check=True)
            program = ("import ctypes, sys; ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL); import iree.compiler; "
                       "iree.compiler.compile_str(sys.argv[2], target_backends=['llvm-cpu'])")
            done = subprocess.run([sys.executable, "-c", program, library, PROGRAM], check=False)
            self.assertEqual(done.returncode, 0)


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(failed != 0)
