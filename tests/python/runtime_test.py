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


NESTED = """
func.func @f(%a: tensor<2xf32>, %b: tensor<i32>, %c: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<i32>)
    attributes {iree.reflection = {iree.abi = "{\\22a\\22: [[\\22sdict\\22, [\\22x\\22, [\\22ndarray\\22, \\22f32\\22, 1, 2]],
        [\\22y\\22, [\\22ndarray\\22, \\22i32\\22, 0]]], [\\22named\\22, \\22z\\22, [\\22ndarray\\22, \\22f32\\22, 1, 2]]],
        \\22r\\22: [[\\22stuple\\22, [\\22ndarray\\22, \\22f32\\22, 1, 2], [\\22slist\\22, [\\22ndarray\\22, \\22f32\\22, 1, 2],
        [\\22ndarray\\22, \\22i32\\22, 0]]]], \\22v\\22: 1}"}} {
  return %c, %a, %b : tensor<2xf32>, tensor<2xf32>, tensor<i32>
}
""".replace("\n        ", " ")
WEIGHTS = """
util.global private @w = #flow.parameter.named<"model"::"w"> : tensor<4xf32>
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %w = util.global.load @w : tensor<4xf32>
  %0 = stablehlo.add %a, %w : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""

def compile_and_load(program, *flags, before=(), config=None):
    config = config or rt.Config("local-task")
    data = iree.compiler.compile_str(program, target_backends=["vmvx"], extra_args=flags)
    return rt.load_vm_modules(*before, rt.VmModule.copy_buffer(config.vm_instance, data), config=config)[-1]


class ProgramTest(unittest.TestCase):
    def test_nested_values(self):
        f = compile_and_load(NESTED).f
        z, (x, y) = f({"x": [1, 2], "y": 3}, z=[5, 6])
        self.assertEqual((x.tolist(), y.item(), z.tolist()), ([1, 2], 3, [5, 6]))
        self.assertIsInstance(f({"y": 3, "x": X[:2]}, X[2:]), tuple)
        for wrong in (({"x": [1, 2]}, [1, 2]), ([[1, 2], 3], [1, 2]), ({"x": [1, 2], "y": 3},)):
            with self.assertRaises((ValueError, TypeError)):
                f(*wrong)

    def test_fences(self):
        module = compile_and_load(PROGRAM, "--iree-execution-model=async-external")
        self.assertEqual(module.mul.vm_function.reflection["iree.abi.model"], "coarse-fences")
        result = X
        for _ in range(3):
            result = module.mul(result, X)
        np.testing.assert_array_equal(result, X**4)

    def test_parameters(self):
        instance = rt.Config("local-task").vm_instance
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "w.irpa")
            saved = rt.save_archive_file({"w": X, "one": rt.SplatValue(np.float32(1), [4]), "none": X[:0]}, path)
            self.assertEqual([key for key, _ in saved.items()], ["w", "one", "none"])
            np.testing.assert_array_equal(rt.parameter_index_entry_as_numpy_ndarray(saved[0]), X)
            loaded = rt.ParameterIndex()
            loaded.load(path)
            entries = dict(loaded.items())
            self.assertEqual({key: entry.length for key, entry in entries.items()}, {"w": 16, "one": 16, "none": 0})
            self.assertTrue(entries["one"].is_splat)
            np.testing.assert_array_equal(rt.parameter_index_entry_as_numpy_flat_ndarray(entries["w"]), X.view(np.uint8))
            np.testing.assert_array_equal(rt.parameter_index_entry_as_numpy_ndarray(entries["w"]), X)
            np.testing.assert_array_equal(rt.parameter_index_entry_as_numpy_ndarray(entries["one"]), X * 0 + 1)
            again = rt.ParameterIndex()
            again.load_from_file_handle(rt.FileHandle.wrap_memory(path.read_bytes()))
            again.add_from_file_handle("head", path, 4)
            self.assertEqual((len(again), bytes(again[3].file_view)), (4, b"IRPA"))
            with self.assertRaises(ValueError):
                rt.parameter_index_entry_as_numpy_ndarray(again[3])
            memory = rt.ParameterIndex()
            rt.parameter_index_add_numpy_ndarray(memory, "w", 2 * X)
            splat = rt.ParameterIndex()
            splat.add_splat("w", np.float32(1).tobytes(), 16)
            for index, wanted in ((loaded, X), (memory, 2 * X), (splat, np.ones(4, np.float32))):
                parameters = rt.create_io_parameters_module(instance, index.create_provider(scope="model"))
                module = compile_and_load(WEIGHTS, before=[parameters])
                np.testing.assert_array_equal(module.f(X), X + wanted)
            pathlib.Path(folder, "bad.irpa").write_bytes(path.read_bytes()[:50])
            with self.assertRaises(ValueError):
                rt.ParameterIndex().load(pathlib.Path(folder, "bad.irpa"))
        with self.assertRaisesRegex(RuntimeError, "NOT_FOUND"):
            compile_and_load(WEIGHTS, before=[rt.create_io_parameters_module(instance)])

    def test_debug_sink(self):
        """It lives as long as the module."""
        config = rt.Config("local-sync")
        sink = rt.HalModuleDebugSink(lambda key, views: None)
        before = sys.getrefcount(sink)
        hal = rt.create_hal_module(config.vm_instance, devices=[config.device], debug_sink=sink)
        self.assertEqual(sys.getrefcount(sink), before + 1)
        data = iree.compiler.compile_str(PROGRAM, target_backends=["vmvx"])
        module = rt.VmModule.copy_buffer(config.vm_instance, data)
        context = rt.VmContext(config.vm_instance, [hal, module])
        function = rt.FunctionInvoker(context, config.device, module.lookup_function("mul"))
        np.testing.assert_array_equal(function(X, X), X * X)
        del hal, context, function
        self.assertEqual(sys.getrefcount(sink), before)
        with self.assertRaises(TypeError):
            rt.HalModuleDebugSink("text")

    def test_benchmark(self):
        for module in (MODULE, rt.VmModule.copy_buffer(rt.VmInstance(), MODULE)):
            found = rt.benchmark_module(module, "mul", [X, "4xf32=2"], benchmark_min_time="2x", device="local-sync")
            self.assertIn("mul", found[0].benchmark_name)
            self.assertEqual(found[0].iterations, "2")
        with self.assertRaisesRegex(rt.BenchmarkToolError, "none"):
            rt.benchmark_module(MODULE, "none")


class ObjectTest(unittest.TestCase):
    def setUp(self):
        self.device = rt.get_device("local-task")

    def test_devices(self):
        self.assertIn("local-task", rt.query_available_drivers())
        driver = rt.get_driver("local-task")
        self.assertIs(driver, rt.get_driver("local-task"))
        infos = driver.query_available_devices()
        self.assertEqual(set(infos[0]), {"device_id", "path", "name"})
        self.assertIn("architecture", driver.dump_device_info(infos[0]["device_id"]))
        for device in (driver.create_default_device(), driver.create_device(infos[0]),
                       driver.create_device(infos[0]["device_id"]), driver.create_device_by_uri("local-task://")):
            self.assertEqual(device.device_id, "local-task")
        self.assertIs(rt.get_device("local-task"), self.device)
        self.assertIsNot(rt.get_device("local-task", cache=False), self.device)
        with self.assertRaisesRegex(RuntimeError, "no driver 'no-such'"):
            rt.get_device("no-such://")
        with self.assertRaises(RuntimeError):
            rt.get_first_device(["no-such"])

    def test_buffers(self):
        allocator = self.device.allocator
        buffer = allocator.allocate_buffer(rt.MemoryType.HOST_LOCAL | rt.MemoryType.DEVICE_VISIBLE,
                                           rt.BufferUsage.DEFAULT | rt.BufferUsage.MAPPING, 64)
        buffer.fill_zero(0, buffer.byte_length())
        np.asarray(buffer.map())[:4] = 1, 2, 3, 4
        view = rt.HalBufferView(buffer, [2, 2], rt.HalElementType.UINT_8)
        self.assertEqual((view.shape, view.element_type), ((2, 2), rt.HalElementType.UINT_8))
        self.assertEqual(np.asarray(view.map()).tolist(), [[1, 2], [3, 4]])
        self.assertIn("<HalBufferView (2, 2), element_type=0x12000008, 64 bytes (at offset 0 into 64)", repr(view))
        copied = allocator.allocate_buffer_copy(rt.MemoryType.DEVICE_LOCAL, rt.BufferUsage.DEFAULT | rt.BufferUsage.MAPPING,
                                                self.device, X, rt.HalElementType.FLOAT_32)
        np.testing.assert_array_equal(np.asarray(copied.map()), X)
        self.assertGreater(allocator.statistics["host_bytes_allocated"] + allocator.statistics["device_bytes_allocated"], 0)
        allocator.trim()
        for shape in ([100], [-1], [1] * 65):
            with self.assertRaises(ValueError):
                rt.HalBufferView(buffer, shape, rt.HalElementType.UINT_8)
        with self.assertRaises(IndexError):
            buffer.fill_zero(60, 8)
        with self.assertRaises(TypeError):
            rt.HalBuffer()

    def test_fences(self):
        semaphore = self.device.create_semaphore(1)
        fence = rt.HalFence.create_at(semaphore, 2)
        joined = rt.HalFence.join([fence, rt.HalFence(3)])
        self.assertEqual((semaphore.query(), joined.timepoint_count), (1, 1))
        self.assertFalse(fence.wait(timeout=0))
        thread = threading.Thread(target=joined.wait)
        thread.start()
        semaphore.signal(2)
        thread.join()
        self.assertTrue(fence.wait(deadline=0))
        into = rt.HalFence(2)
        into.insert(semaphore, 3)
        into.extend(fence)
        into.signal()
        self.assertEqual(semaphore.query(), 3)
        rt.HalFence.create_at(semaphore, 9).fail("it is broken")
        with self.assertRaisesRegex(RuntimeError, "it is broken"):
            semaphore.wait(9)

    def test_lists(self):
        inner, outer = rt.VmVariantList(0), rt.VmVariantList(2)
        inner.push_int(7)
        view = self.device.upload(X)
        for push, value in ((outer.push_int, 1 << 40), (outer.push_float, 0.5), (outer.push_list, inner),
                            (outer.push_ref, view), (outer.push_ref, rt.VmRef(view)), (outer.push_ref, None)):
            push(value)
        self.assertEqual((len(outer), outer.size, outer.get_variant(0), outer.get_variant(1)), (6, 6, 1 << 40, 0.5))
        self.assertEqual(outer.get_as_list(2).get_variant(0), 7)
        self.assertEqual(outer.get_as_object(3, rt.HalBufferView).shape, (4,))
        self.assertEqual(outer.get_as_ref(4).deref(rt.HalBufferView).shape, (4,))
        self.assertIsNone(outer.get_variant(5))
        self.assertIn("HalBufferView", repr(outer))
        for wrong, error in ((lambda: outer.get_variant(6), IndexError), (lambda: outer.get_as_list(0), TypeError),
                             (lambda: outer.push_list(outer), ValueError), (lambda: outer.push_int("x"), TypeError),
                             (lambda: outer.get_as_ref(4).deref(rt.HalFence), TypeError)):
            with self.assertRaises(error):
                wrong()
        data = rt.VmBuffer(4)
        memoryview(data)[:] = b"abcd"
        self.assertEqual(bytes(data), b"abcd")
        with self.assertRaises(TypeError):
            memoryview(rt.VmBuffer(4, 0, False))[0] = 1

    def test_invoke_with_lists(self):
        config = rt.Config("local-task")
        module = rt.VmModule.copy_buffer(config.vm_instance, MODULE)
        context = rt.VmContext(config.vm_instance, [*config.default_vm_modules, module])
        inputs, outputs = rt.VmVariantList(2), rt.VmVariantList(1)
        for _ in range(2):
            inputs.push_ref(self.device.upload(X))
        context.invoke(module.lookup_function("mul"), inputs, outputs)
        np.testing.assert_array_equal(np.asarray(outputs.get_variant(0).map()), X * X)
        with self.assertRaises(ValueError):
            context.invoke(module.lookup_function("mul"), rt.VmVariantList(0), outputs)

    def test_flags(self):
        rt.flags.parse_flags("--task_topology_max_group_count=8")
        for wrong in ("--no_such_flag=1", "word", "--task_topology_max_group_count=x"):
            with self.assertRaises(ValueError):
                rt.flags.parse_flags(wrong)


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

    def test_parameters(self):
        instance = rt.VmInstance()

        def work():
            index = rt.ParameterIndex()
            rt.parameter_index_add_numpy_ndarray(index, "w", np.zeros(4096, np.float32))
            index[0].contents()
            rt.create_io_parameters_module(instance, index.create_provider())
            try:
                index.load_from_file_handle(rt.FileHandle.wrap_memory(bytes(4096)))
            except ValueError:
                pass

        self.check(work, 16384)

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
