"""iree.runtime: modules, calls, arrays, errors, threads and memory. runtime_test.py, with PYTHONPATH set."""

import ctypes
import gc
import pathlib
import sys
import tempfile
import threading
import unittest

import numpy as np

import iree.compiler
import iree.runtime as rt

PROGRAM = """
module @calls {
  func.func @mul(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.multiply %a, %b : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @rows(%a: tensor<?x2xi32>) -> (tensor<?x2xi32>, tensor<?x2xi32>) {
    %0 = stablehlo.add %a, %a : tensor<?x2xi32>
    return %a, %0 : tensor<?x2xi32>, tensor<?x2xi32>
  }
  func.func @scalars(%a: i32, %b: i64, %c: f32, %d: f64) -> (f64, f32, i64, i32) {
    return %d, %c, %b, %a : f64, f32, i64, i32
  }
  func.func @point(%a: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.negate %a : tensor<f32>
    return %0 : tensor<f32>
  }
  func.func @nothing() { return }
}
"""
MODULE = iree.compiler.compile_str(PROGRAM, target_backends=["vmvx"])
X = np.array([1, 2, 3, 4], np.float32)


class LoadTest(unittest.TestCase):
    def test_every_way(self):
        config = rt.Config("local-sync")
        instance = config.vm_instance
        closed = []
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "m.vmfb")
            path.write_bytes(MODULE)
            modules = [rt.VmModule.copy_buffer(instance, MODULE), rt.VmModule.from_flatbuffer(instance, MODULE),
                       rt.VmModule.from_buffer(instance, memoryview(MODULE)),
                       rt.VmModule.wrap_buffer(instance, bytearray(MODULE), lambda: closed.append(1)),
                       rt.VmModule.mmap(instance, path, lambda: closed.append(2))]
            bound = [rt.load_vm_module(module, config) for module in modules]
            bound.append(rt.load_vm_flatbuffer_file(path, driver="local-sync"))
            bound.append(rt.load_vm_flatbuffer(MODULE, backend="vmvx"))
        for module in bound:
            np.testing.assert_array_equal(module.mul(X, X), X * X)
        self.assertEqual(closed, [])
        del modules, bound, module
        gc.collect()
        self.assertEqual(sorted(closed), [1, 2])

    def test_modules(self):
        config = rt.Config("local-sync")
        module = rt.VmModule.copy_buffer(config.vm_instance, MODULE)
        self.assertEqual((module.name, module.dependencies), ("calls", ["hal"]))
        self.assertEqual(sorted(module.function_names), ["mul", "nothing", "point", "rows", "scalars"])
        self.assertIsNone(module.lookup_function("none"))
        function = module.lookup_function("mul")
        self.assertEqual((function.name, function.module_name), ("mul", "calls"))
        self.assertIn("tensor<4xf32>", function.reflection["iree.abi.declaration"])
        context = rt.SystemContext(config=config)
        context.add_vm_module(module)
        self.assertEqual(list(context.modules), ["hal", "calls"])
        np.testing.assert_array_equal(context.modules.calls["mul"](X, X), X * X)
        with self.assertRaisesRegex(ValueError, "calls"):
            context.add_vm_module(module)
        with self.assertRaises(AttributeError):
            context.modules.calls.other
        with self.assertRaises(KeyError):
            context.modules.calls["other"]

    def test_damaged(self):
        instance = rt.VmInstance()
        for data in (b"", b"no module", MODULE[:-100], bytes(len(MODULE))):
            with self.assertRaises((ValueError, RuntimeError)):
                rt.VmModule.copy_buffer(instance, data)
        with self.assertRaises(RuntimeError):
            rt.VmModule.mmap(instance, "no-such-file.vmfb")
        with self.assertRaises(TypeError):
            rt.VmModule.copy_buffer(instance, 5)
        with self.assertRaisesRegex(ValueError, "one of"):
            rt.load_vm_flatbuffer(MODULE)


class CallTest(unittest.TestCase):
    def setUp(self):
        self.module = rt.load_vm_flatbuffer(MODULE, driver="local-task")

    def test_values(self):
        first, second = self.module.rows(np.arange(6, dtype=np.int32).reshape(3, 2))
        self.assertEqual(second.shape, (3, 2))
        np.testing.assert_array_equal(second, 2 * np.asarray(first))
        self.assertEqual(self.module.rows(np.empty((0, 2), np.int32))[1].shape, (0, 2))
        self.assertEqual(self.module.scalars(-1, 1 << 40, 0.5, 0.1), (0.1, 0.5, 1 << 40, -1))
        self.assertEqual(self.module.scalars(np.int8(3), True, np.float32(2), 1)[2:], (1, 3))
        self.assertIsNone(self.module.nothing())
        self.assertEqual(float(self.module.point(2.0)), -2)
        self.assertEqual(self.module.mul([1, 2, 3, 4], range(4)).tolist(), [0, 2, 6, 12])
        strided = np.arange(12, dtype=np.float32).reshape(4, 3)[:, 1]
        np.testing.assert_array_equal(self.module.mul(strided, X.astype(">f4")), strided * X)

    def test_results_are_arguments(self):
        result = self.module.mul(X, X)
        np.testing.assert_array_equal(self.module.mul(result, result._buffer_view), X**4)

    def test_errors(self):
        for args, error, text in (((X, X[:3]), ValueError, "input1 shape dimension 0 mismatch"),
                                  ((X, X.astype(np.float64)), ValueError, "input1 element type"),
                                  ((X,), ValueError, "mul takes 2 arguments, not 1"),
                                  ((X, None), ValueError, "null"), ((X, "text"), ValueError, "text")):
            with self.assertRaisesRegex(error, text):
                self.module.mul(*args)
        with self.assertRaises(OverflowError):
            self.module.scalars(1 << 32, 1, 1, 1)
        with self.assertRaises(TypeError):
            self.module.scalars(1.5, 1, 1, 1)
        with self.assertRaisesRegex(TypeError, "names"):
            self.module.mul(X, b=X)
        np.testing.assert_array_equal(self.module.mul(X, X), X * X)

    def test_threads(self):
        wrong = []

        def work(number):
            x = np.full(4, number, np.float32)
            for _ in range(50):
                if not np.array_equal(self.module.mul(x, x), x * x):
                    wrong.append(number)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class ArrayTest(unittest.TestCase):
    def setUp(self):
        self.device = rt.get_device("local-sync")

    def test_like_numpy(self):
        host = np.arange(6, dtype=np.int32).reshape(2, 3)
        a = rt.asdevicearray(self.device, host, implicit_host_transfer=True)
        self.assertEqual((a.shape, a.dtype, a.ndim, a.size, len(a)), ((2, 3), np.int32, 2, 6, 2))
        for ours, numpys in ((a + 1, host + 1), (1 - a, 1 - host), (a @ host.T, host @ host.T), (np.exp(a), np.exp(host)),
                             (np.concatenate([a, a]), np.concatenate([host, host])), (a[1, 1:], host[1, 1:]),
                             (a.astype(np.float64), host.astype(np.float64)), (a.reshape(3, -1), host.reshape(3, 2)),
                             (np.array(list(a)), host)):
            np.testing.assert_array_equal(ours, numpys)
            self.assertEqual(ours.dtype, numpys.dtype)
        self.assertIn("shape=[2, 3], dtype=int32", repr(a))
        with self.assertRaises(ValueError):
            a.reshape(4, 2)

    def test_types(self):
        for name in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
                     "float32", "float64", "complex64", "complex128"):
            host = np.array([[0, 1], [1, 0]]).astype(name)
            a = rt.asdevicearray(self.device, host)
            self.assertEqual(a.dtype, host.dtype)
            np.testing.assert_array_equal(a.to_host(), host)
        self.assertEqual(rt.HalElementType.map_to_dtype(rt.HalElementType.INT_32), np.int32)
        for wrong in (np.array(["x"]), np.array([object()])):
            with self.assertRaises(TypeError):
                rt.asdevicearray(self.device, wrong)

    def test_small_floats(self):
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("no ml_dtypes")
        for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn", "int4", "uint4"):
            host = np.array([[0, 1, 2], [3, 1, 1]]).astype(getattr(ml_dtypes, name))
            a = rt.asdevicearray(self.device, host)
            self.assertEqual(a.dtype, host.dtype)
            np.testing.assert_array_equal(a.to_host(), host)

    def test_dlpack_shares_memory(self):
        a = rt.asdevicearray(self.device, X)
        shared = np.from_dlpack(a)
        a.to_host()[0] = 9
        self.assertEqual(shared[0], 9)
        line = np.zeros(80, np.float32)
        aligned = line[-(line.ctypes.data // 4) % 16:][:64].reshape(8, 8)

        class Other:  # a tensor that is no NumPy array
            def __dlpack__(self, **kwargs):
                return aligned.__dlpack__()

        b = rt.asdevicearray(self.device, Other())
        before = sys.getrefcount(aligned)
        aligned[3, 4] = 5
        self.assertEqual(b.to_host()[3, 4], 5)
        with self.assertRaises(ValueError):
            capsule = a.__dlpack__()
            for _ in range(2):
                self.device.from_dlpack_capsule(capsule)
        del b, Other
        gc.collect()
        self.assertLess(sys.getrefcount(aligned), before + 1)

    def test_arrays_outlive_all_else(self):
        host = rt.load_vm_flatbuffer(MODULE, driver="local-task").mul(X, X).to_host()
        gc.collect()
        np.testing.assert_array_equal(host, X * X)


class MallInfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks",
                                                     "uordblks", "fordblks", "keepcost")]


class MemoryTest(unittest.TestCase):
    """Nothing grows: blocks of Python's, and bytes of the C heap."""

    def used(self):
        gc.collect()
        info = self.mallinfo()
        return sys.getallocatedblocks(), info.uordblks + info.hblkhd

    def check(self, work, slack):
        for _ in range(20):
            work()
        blocks, size = self.used()
        for _ in range(500):
            work()
        more_blocks, more_size = self.used()
        self.assertLess(more_blocks - blocks, 100)
        self.assertLess(more_size - size, slack)

    def setUp(self):
        self.mallinfo = ctypes.CDLL(None).mallinfo2
        self.mallinfo.restype = MallInfo

    def test_calls(self):
        module = rt.load_vm_flatbuffer(MODULE, driver="local-sync")
        big = np.zeros(4096, np.float32)

        def work():
            module.mul(X, X).to_host()
            module.scalars(1, 2, 3, 4)
            for wrong in ((X, big), (X, X, X), (X, "text")):
                try:
                    module.mul(*wrong)
                except ValueError:
                    pass
            np.from_dlpack(module.mul(module.mul(X, X), X[::-1]))

        self.check(work, 16384)  # less than one of `big` in twenty calls

    def test_modules(self):
        config = rt.Config("local-sync")

        def work():
            rt.load_vm_module(rt.VmModule.copy_buffer(config.vm_instance, MODULE), config).mul(X, X)
            try:
                rt.VmModule.copy_buffer(config.vm_instance, MODULE[:100])
            except (ValueError, RuntimeError):
                pass

        self.check(work, 65536)


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(failed != 0)
