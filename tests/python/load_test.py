"""iree.load: sources, the cache, errors. load_test.py, with PYTHONPATH set."""

import os
import pathlib
import shutil
import sys
import tempfile
import unittest
import unittest.mock

import numpy as np
import onnx
from onnx import TensorProto, external_data_helper, helper, numpy_helper

import iree
import iree.compiler
import iree.onnx
from iree.runtime import loading

TEXT = """
func.func @twice(%a: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.add %a, %a : tensor<3xf32>
  return %0 : tensor<3xf32>
}
"""
X = np.array([1, 2, 3], np.float32)


def onnx_model(weights):
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "adds",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])],
                              [numpy_helper.from_array(np.asarray(weights, np.float32), "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])


class LoadTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.cache = self.folder / "cache"
        patch = unittest.mock.patch.dict(os.environ, IREE_CACHE_DIR=str(self.cache))
        patch.start()
        self.addCleanup(patch.stop)
        self.compiled = 0
        compile_ = loading._compile

        def count(*args, **kwargs):
            self.compiled += 1
            return compile_(*args, **kwargs)

        patch = unittest.mock.patch.object(loading, "_compile", count)
        patch.start()
        self.addCleanup(patch.stop)

    def test_sources(self):
        model = onnx_model(X)
        path = self.folder / "m.onnx"
        onnx.save(model, path)
        mlir = self.folder / "m.mlir"
        mlir.write_text(TEXT)
        vmfb = self.folder / "m.vmfb"
        vmfb.write_bytes(iree.compiler.compile_str(TEXT, target_backends=["vmvx"]))
        for source in (TEXT, TEXT.encode(), mlir, str(mlir), path, path.read_bytes(), model, vmfb, vmfb.read_bytes()):
            np.testing.assert_array_equal(iree.load(source, cache=False)(X), X + X)
        self.assertFalse(self.cache.exists())

    def test_functions(self):
        two = TEXT + TEXT.replace("twice", "main").replace("add", "multiply")
        model = iree.load(two)
        np.testing.assert_array_equal(model(X), X * X)
        np.testing.assert_array_equal(model.twice(X), X + X)
        np.testing.assert_array_equal(model["twice"](X), X + X)
        np.testing.assert_array_equal(iree.load(two, function="twice")(X), X + X)
        with self.assertRaisesRegex(TypeError, "function=NAME"):
            iree.load(two.replace("main", "other"))(X)

    def test_cache(self):
        for _ in range(2):
            iree.load(TEXT)
        self.assertEqual(self.compiled, 1)
        iree.load(TEXT, flags=["--iree-llvmcpu-target-cpu=generic"])
        iree.load(TEXT.replace("add", "multiply"))
        self.assertEqual(self.compiled, 3)
        self.assertEqual(self.cache.stat().st_mode & 0o777, 0o700)
        files = sorted(self.cache.iterdir())
        self.assertEqual(len(files), 3)
        for file in files:
            file.write_bytes(file.read_bytes()[:100])
        np.testing.assert_array_equal(iree.load(TEXT)(X), X + X)
        self.assertEqual(self.compiled, 4)
        with unittest.mock.patch.dict(os.environ, IREE_CACHE_SIZE="1"):
            iree.load(TEXT.replace("add", "subtract"))
        self.assertEqual(len(list(self.cache.iterdir())), 1)

    def test_folder_of_others_is_not_used(self):
        self.cache.mkdir(mode=0o777)
        self.cache.chmod(0o777)
        np.testing.assert_array_equal(iree.load(TEXT)(X), X + X)
        self.assertEqual(list(self.cache.iterdir()), [])

    def test_external_weights_count(self):
        path = self.folder / "m.onnx"
        for weights in (X, 2 * X):
            model = onnx_model(weights)
            external_data_helper.convert_model_to_external_data(model, location="w.bin", size_threshold=0)
            onnx.save(model, path)
            os.utime(self.folder / "w.bin", ns=(0, self.compiled))
            np.testing.assert_array_equal(iree.load(path)(X), X + weights)
        self.assertEqual(self.compiled, 2)

    def test_errors(self):
        with self.assertRaisesRegex(iree.compiler.CompilerToolError, "error:"):
            iree.load("func.func @f( {\n")
        with self.assertRaises(FileNotFoundError):
            iree.load(self.folder / "none.onnx")
        with self.assertRaisesRegex(RuntimeError, "no driver 'none'"):
            iree.load(TEXT, device="none")
        with self.assertRaises(KeyError):
            iree.load(TEXT, function="none")
        self.assertEqual([path for path in self.cache.iterdir() if path.name.startswith(".")], [])
        with self.assertRaises(AttributeError):
            iree.no_such_thing


class BackendTest(unittest.TestCase):
    def test_calls(self):
        session = iree.onnx.prepare(onnx_model(X), "CPU", cache=False)
        for inputs in ([X], {"x": X}, X):
            np.testing.assert_array_equal(session.run(inputs)[0], X + X)
        for wrong in ([], [X, X], {"y": X}):
            with self.assertRaises(ValueError):
                session.run(wrong)
        node = helper.make_node("Mul", ["a", "b"], ["c"])
        np.testing.assert_array_equal(iree.onnx.run_node(node, [X, X], cache=False)[0], X * X)
        self.assertTrue(iree.onnx.supports_device("CPU"))
        self.assertFalse(iree.onnx.supports_device("none"))


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(failed != 0)
