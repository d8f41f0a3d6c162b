"""iree.runtime below modules: queues, command buffers, loops, profiles, modules of Python's; tokenizers. device_test.py"""

import asyncio
import gc
import json
import os
import pathlib
import select
import subprocess
import sys
import tempfile
import threading
import unittest

import numpy as np

import iree.compiler
import iree.runtime as rt

X = np.array([1, 2, 3, 4], np.float32)
# Calls a module of Python's for each of its functions.
IMPORTS = """
module @caller {
  func.func private @python.twice(i32) -> i32
  func.func private @python.note(tensor<4xf32>)
  func.func @run(%a: tensor<4xf32>, %b: i32) -> i32 {
    call @python.note(%a) : (tensor<4xf32>) -> ()
    %0 = call @python.twice(%b) : (i32) -> i32
    return %0 : i32
  }
}
"""
TRACES = """
func.func @traces(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  flow.tensor.trace "sums" = [%0 : tensor<4xf32>]
  return %0 : tensor<4xf32>
}
"""


TOKENIZERS = pathlib.Path(__file__).resolve().parents[1] / "tokenizer" / "files"


class TokenizerTest(unittest.TestCase):
    def test_json(self):
        path = TOKENIZERS / "byte_level.json"
        tokenizer = rt.Tokenizer.from_file(path)
        self.assertEqual(tokenizer.model_type, "BPE")
        text = "he o e " * 40
        ids = tokenizer.encode(text)
        self.assertEqual(tokenizer.decode(ids), text)
        self.assertEqual(rt.Tokenizer.from_huggingface_json(path.read_text(encoding="utf-8")).encode(text), ids)
        self.assertEqual(tokenizer.encode(""), [])
        for number in {*ids}:
            self.assertEqual(tokenizer.token_to_id(tokenizer.id_to_token(number)), number)
        self.assertIsNone(tokenizer.id_to_token(tokenizer.vocab_size + 1000))
        self.assertIsNone(tokenizer.id_to_token(-1))
        self.assertIsNone(tokenizer.token_to_id("no token is called so"))

    def test_streams(self):
        tokenizer = rt.Tokenizer.from_file(TOKENIZERS / "byte_level.json")
        text = "he o e " * 200
        ids = tokenizer.encode(text)
        for size in (1, 7, len(ids)):
            stream = tokenizer.decode_stream()
            parts = [stream.feed(ids[i:i + size]) for i in range(0, len(ids), size)]
            self.assertEqual("".join(parts) + stream.finalize(), tokenizer.decode(ids))
        with tokenizer.decode_stream() as stream:
            self.assertEqual("".join(map(stream.feed_one, ids)) + stream.finalize(), tokenizer.decode(ids))
        with self.assertRaisesRegex(ValueError, "finalized"):
            stream.feed_one(ids[0])
        stream = tokenizer.encode_stream()
        parts = [stream.feed(text[i:i + 3]) for i in range(0, len(text), 3)]
        self.assertEqual(sum(parts, stream.finalize()), ids)
        with self.assertRaisesRegex(ValueError, "finalized"):
            stream.feed("he")

    def test_stream_of_bytes(self):
        """The parts of a character are no text."""
        tokenizer = rt.Tokenizer.from_huggingface_json(json.dumps({
            "model": {"type": "BPE", "vocab": {"<unk>": 0, "<0xE2>": 1, "<0x82>": 2, "<0xAC>": 3, "a": 4}, "merges": [],
                      "unk_token": "<unk>", "byte_fallback": True},
            "decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]}}))
        stream = tokenizer.decode_stream()
        self.assertEqual([stream.feed_one(i) for i in tokenizer.encode("a\N{EURO SIGN}a")],
                         ["a", "", "", "\N{EURO SIGN}", "a"])
        self.assertEqual(stream.feed([1, 2]), "")
        self.assertIn("\N{REPLACEMENT CHARACTER}", stream.finalize())

    def test_special_streams(self):
        tokenizer = rt.Tokenizer.from_file(str(TOKENIZERS / "wordpiece.json"))
        stream = tokenizer.encode_stream(add_special_tokens=True)
        stream.feed("th")
        stream.feed("e")
        whole = stream.finalize()
        self.assertEqual(whole, tokenizer.encode("the", add_special_tokens=True))
        decoder = tokenizer.decode_stream(skip_special_tokens=True)
        self.assertEqual(decoder.feed(whole) + decoder.finalize(), tokenizer.decode(whole, skip_special_tokens=True))
        with self.assertRaises(TypeError):
            tokenizer.encode_stream().feed(b"the")
        mask = tokenizer.encode_stream(no_special_token_matching=True)
        mask.feed("<mask>")
        self.assertNotIn(tokenizer.special_ids["mask"], mask.finalize())

    def test_special(self):
        tokenizer = rt.Tokenizer.from_file(str(TOKENIZERS / "wordpiece.json"))
        bare, whole = tokenizer.encode("the"), tokenizer.encode("the", add_special_tokens=True)
        self.assertGreater(len(whole), len(bare))
        self.assertNotEqual(tokenizer.decode(whole), tokenizer.decode(whole, skip_special_tokens=True))
        self.assertEqual(tokenizer.decode(whole, skip_special_tokens=True), tokenizer.decode(bare, True))
        mask = tokenizer.special_ids["mask"]
        self.assertEqual(tokenizer.id_to_token(mask), "<mask>")
        self.assertIn(mask, tokenizer.encode("<mask>"))
        self.assertNotIn(mask, tokenizer.encode("<mask>", no_special_token_matching=True))
        self.assertEqual(set(tokenizer.special_ids), {"bos", "eos", "unk", "pad", "sep", "cls", "mask"})

    def test_ranks(self):
        data = (TOKENIZERS / "ranks.tiktoken").read_bytes()
        tokenizer = rt.Tokenizer.from_tiktoken(data, "cl100k_base")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "cl100k_base.tiktoken")
            path.write_bytes(data)
            self.assertEqual(rt.Tokenizer.from_file(path).encode("the soba"), tokenizer.encode("the soba"))
        self.assertEqual(tokenizer.decode(tokenizer.encode("the soba")), "the soba")

    def test_refusals(self):
        for wrong in (lambda: rt.Tokenizer.from_huggingface_json("{"), lambda: rt.Tokenizer.from_tiktoken("", "other"),
                      lambda: rt.Tokenizer.from_file(TOKENIZERS / "ranks.tiktoken")):
            self.assertRaises(ValueError, wrong)
        with self.assertRaisesRegex(RuntimeError, "NOT_FOUND"):
            rt.Tokenizer.from_file(TOKENIZERS / "nothing.json")
        tokenizer = rt.Tokenizer.from_file(TOKENIZERS / "byte_level.json")
        self.assertRaises(OverflowError, tokenizer.decode, [2**40])
        self.assertRaises(TypeError, tokenizer.decode, ["a"])
        self.assertRaises(TypeError, rt.Tokenizer)


class QueueTest(unittest.TestCase):
    def setUp(self):
        self.device = rt.get_device("local-task")
        self.allocator = self.device.allocator
        self.timeline = self.device.create_semaphore(0)

    def buffer(self, contents):
        return self.allocator.allocate_buffer_copy(rt.MemoryType.DEVICE_LOCAL, rt.BufferUsage.DEFAULT
                                                   | rt.BufferUsage.MAPPING, self.device, contents)

    def test_memory_and_copies(self):
        """Points are fences or pairs; what was copied into memory of the queue is copied out again."""
        at = lambda value: rt.HalFence.create_at(self.timeline, value)
        between = self.device.queue_alloca(16, [(self.timeline, 0)], [(self.timeline, 1)])
        target = self.buffer(np.zeros(4, np.float32))
        self.device.queue_copy(self.buffer(X), between, wait_semaphores=at(1), signal_semaphores=at(2))
        self.device.queue_copy(between, target, [(self.timeline, 2)], at(3))
        self.device.queue_dealloca(between, at(3), at(4))
        self.assertTrue(at(4).wait())
        np.testing.assert_array_equal(target.map().asarray([2, 2], np.float32), X.reshape(2, 2))
        with self.assertRaisesRegex(ValueError, "8 bytes, not 16"):
            self.device.queue_copy(target, self.buffer(X[:2]), None, None)
        for wrong in (5, [5], [(self.timeline,)], [(self.device, 1)], [(self.timeline, -1)]):
            with self.assertRaises((TypeError, IndexError, OverflowError)):
                self.device.queue_alloca(16, wrong, [])

    def test_commands(self):
        """Each sees what those before it wrote."""
        first, second = self.buffer(np.zeros(4, np.int32)), self.buffer(np.zeros(4, np.int32))
        commands = rt.HalCommandBuffer(self.device)
        commands.fill(first, np.int32(7), 4, 8)
        commands.copy(first, second, source_offset=4, target_offset=8, length=8)
        commands.copy(first, second, length=8, end=True)
        self.device.queue_execute(commands, [], [(self.timeline, 1)])
        self.timeline.wait(1)
        self.assertEqual(np.asarray(second.map()).view(np.int32).tolist(), [0, 7, 7, 7])
        for call in (commands.end, commands.begin):
            with self.assertRaisesRegex(RuntimeError, "FAILED_PRECONDITION"):
                call()
        later = rt.HalCommandBuffer(self.device, begin=False)
        later.begin()
        for wrong in (lambda: later.copy(first, second, target_offset=8), lambda: later.fill(first, b"abc")):
            with self.assertRaises((ValueError, IndexError)):
                wrong()

    def test_host_memory(self):
        """Memory that is imported is written in place, and kept."""
        words = np.zeros(16, np.float32)
        usage = rt.BufferUsage.TRANSFER_TARGET | rt.BufferUsage.MAPPING_SCOPED
        place = rt.MemoryType.HOST_LOCAL | rt.MemoryType.DEVICE_VISIBLE
        target = self.allocator.import_host_allocation(words, place, usage)
        source = rt.asdevicearray(self.device, np.arange(16, dtype=np.float32))._buffer_view.get_buffer()
        before = sys.getrefcount(words)
        self.device.queue_copy(source, target, [], [(self.timeline, 1)])
        self.timeline.wait(1)
        self.assertEqual(words.tolist(), list(range(16)))
        del target
        gc.collect()
        self.assertEqual(sys.getrefcount(words), before - 1)
        with self.assertRaisesRegex(RuntimeError, "aligned to 64"):
            odd = np.zeros(1024, np.uint8)
            start = (16 - odd.ctypes.data) % 64
            self.allocator.import_host_allocation(odd[start:start + 512], place, rt.BufferUsage.DEFAULT)
        with self.assertRaises(BufferError):
            self.allocator.import_host_allocation(b"read only", place, usage)

    def test_wait_any(self):
        other = self.device.create_semaphore(0)
        self.assertFalse(self.device.wait_any([(self.timeline, 1), (other, 1)], timeout=0))
        other.signal(1)
        self.assertTrue(self.device.wait_any([(self.timeline, 1), (other, 1)]))

    def test_external_timepoints(self):
        """A pipe's end that turns readable raises a timeline; a timeline's value makes a descriptor readable."""
        read, write = os.pipe()
        point = rt.HalExternalTimepoint()
        point.compatibility, point.flags, point.fd = rt.SemaphoreCompatibility.HOST_WAIT, rt.ExternalTimepointFlags.NONE, read
        self.assertIsNone(point.hip_event)
        self.timeline.import_timepoint(1, point)
        self.assertEqual(self.timeline.query(), 0)
        os.write(write, b"x")
        self.assertTrue(self.timeline.wait(1))
        os.close(write)
        out = rt.HalExternalTimepoint()
        self.timeline.export_timepoint(2, rt.ExternalTimepointType.ASYNC_PRIMITIVE, 0, out)
        self.assertEqual(select.select([out.fd], [], [], 0)[0], [])
        self.timeline.signal(2)
        self.assertEqual(select.select([out.fd], [], [], 60)[0], [out.fd])
        os.close(out.fd)
        with self.assertRaisesRegex(RuntimeError, "Error exporting timepoint.*UNAVAILABLE"):
            self.timeline.export_timepoint(3, rt.ExternalTimepointType.HIP_EVENT, 0, out)
        point.hip_event = 64
        with self.assertRaisesRegex(RuntimeError, "Error importing timepoint.*UNAVAILABLE"):
            self.timeline.import_timepoint(3, point)

    def test_null_device(self):
        """It executes nothing, but only what is its own, and it has no events to share."""
        null = rt.get_driver("null").create_default_device()
        commands, timeline = rt.HalCommandBuffer(self.device, begin=True), null.create_semaphore(0)
        commands.end()
        with self.assertRaisesRegex(ValueError, "the command buffer was not made by a device of 'null'"):
            null.queue_execute(commands, [], [(timeline, 1)])
        own = rt.HalCommandBuffer(null, begin=True)
        own.end()
        null.queue_execute(own, [], [(timeline, 1)])
        self.assertTrue(timeline.wait(1))
        with self.assertRaisesRegex(RuntimeError, "UNAVAILABLE"):
            timeline.export_timepoint(2, rt.ExternalTimepointType.CUDA_EVENT, 0, rt.HalExternalTimepoint())

    def test_loop(self):
        """Futures end in their loop, with the value or the failure of their timeline."""
        loop = asyncio.new_event_loop()
        bridge = rt.HalDeviceLoopBridge(self.device, loop)
        other = self.device.create_semaphore(0)

        async def run():
            futures = [bridge.on_semaphore(self.timeline, i, i) for i in (1, 2)]
            broken, left = bridge.on_semaphore(other, 1, "other"), bridge.on_semaphore(self.timeline, 9, None)
            futures[0].add_done_callback(lambda _: self.timeline.signal(2))
            left.cancel()
            threading.Timer(0.01, lambda: self.timeline.signal(1)).start()
            self.assertEqual(await asyncio.wait_for(asyncio.gather(*futures), 60), [1, 2])
            other.fail("it is broken")
            with self.assertRaisesRegex(RuntimeError, "it is broken"):
                await asyncio.wait_for(broken, 60)

        try:
            loop.run_until_complete(run())
        finally:
            bridge.stop()
            bridge.stop()
            loop.close()
        with self.assertRaisesRegex(RuntimeError, "stopped"):
            bridge.on_semaphore(self.timeline, 1, 1)

    def test_profile(self):
        """By the flags: another process, since flags are for good."""
        self.device.begin_profiling()
        self.device.flush_profiling()
        self.device.end_profiling()
        with self.assertRaisesRegex(ValueError, "--device_profiling_mode=queue-events"):
            self.device.begin_profiling("queue-events")
        with self.assertRaisesRegex(NotImplementedError, "renderdoc"):
            self.device.begin_external_capture("renderdoc")
        program = ("import sys, numpy as np, iree.runtime as rt\n"
                   "rt.flags.parse_flags('--device_profiling_mode=queue-events', '--device_profiling_output=' + "
                   "sys.argv[1])\n"
                   "config = rt.Config('local-task')\n"
                   "config.device.begin_profiling()\n"
                   "try:\n  config.device.begin_profiling()\nexcept RuntimeError:\n  pass\n"
                   "rt.load_vm_module(rt.VmModule.mmap(config.vm_instance, sys.argv[2]), config).f(np.ones(4, 'f4'))\n"
                   "config.device.end_profiling()\n")
        with tempfile.TemporaryDirectory() as folder:
            module, profile = pathlib.Path(folder, "m.vmfb"), pathlib.Path(folder, "p.ireeprof")
            module.write_bytes(iree.compiler.compile_str(
                "func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = math.absf %a : tensor<4xf32>\n"
                "  return %0 : tensor<4xf32>\n}\n", target_backends=["vmvx"]))
            subprocess.run([sys.executable, "-c", program, profile, module], check=True)
            self.assertGreater(profile.stat().st_size, 64)


class PythonModuleTest(unittest.TestCase):
    def setUp(self):
        self.noted, self.contexts = [], []

        class State:
            def __init__(state, interface):
                self.contexts.append(interface.initialized)

            def twice(state, number):
                if number > 1000:
                    raise ValueError("that is too much")
                return "text" if number < 0 else 2 * number

            def note(state, ref):
                self.noted.append(np.asarray(ref.deref(rt.HalBufferView).map()).tolist())

        self.state = State

    def interface(self):
        interface = rt.PyModuleInterface("python", self.state)
        interface.export("twice", "0i_i", self.state.twice)
        interface.export("note", "0r_v", self.state.note)
        return interface

    def test_called_by_programs(self):
        interface = self.interface()
        self.assertEqual(interface.initialized, False)
        config = rt.Config("local-sync")
        compiled = iree.compiler.compile_str(IMPORTS, target_backends=["vmvx"])
        program = rt.VmModule.copy_buffer(config.vm_instance, compiled)
        run = rt.load_vm_modules(interface.create(), program, config=config)[-1].run
        self.assertEqual(run(X, 21), 42)
        self.assertEqual((self.noted, self.contexts), ([X.tolist()], [True]))
        with self.assertRaisesRegex(RuntimeError, "ValueError: that is too much"):
            run(X, 1001)
        with self.assertRaisesRegex(RuntimeError, "TypeError"):
            run(X, -1)
        self.assertEqual(run(X, 1), 2)
        del run, program
        gc.collect()
        self.assertTrue(interface.destroyed)

    def test_values(self):
        """Every kind of argument comes back as a result."""
        given = rt.VmVariantList(1)
        given.push_int(7)
        interface = rt.PyModuleInterface("python", lambda interface: None)
        interface.export("back", "0iIfFrr_rrFfIi", lambda state, *values: values[::-1])
        interface.export("few", "0v_ii", lambda state: (1,))
        module = interface.create()
        context = rt.VmContext(rt.VmInstance(), [module])
        inputs, outputs = rt.VmVariantList(6), rt.VmVariantList(6)
        for push, value in ((inputs.push_int, -5), (inputs.push_int, 1 << 40), (inputs.push_float, 0.5),
                            (inputs.push_float, 0.1), (inputs.push_list, given), (inputs.push_ref, None)):
            push(value)
        context.invoke(module.lookup_function("back"), inputs, outputs)
        self.assertEqual(repr(outputs), "<VmVariantList(6): [None, List[7], 0.1, 0.5, 1099511627776, -5]>")
        with self.assertRaisesRegex(RuntimeError, "2 results are needed, not 1"):
            context.invoke(module.lookup_function("few"), rt.VmVariantList(0), rt.VmVariantList(2))

    def test_errors(self):
        interface = self.interface()
        for wrong, error in ((("twice", "0v", print), ValueError), (("x", "0CiD_v", print), NotImplementedError),
                             (("x", "1v", print), (ValueError, NotImplementedError)), (("x", "0v", 5), TypeError),
                             (("x", "0?", print), (ValueError, NotImplementedError))):
            with self.assertRaises(error):
                interface.export(*wrong)
        interface.create()
        with self.assertRaises(RuntimeError):
            interface.create()
        with self.assertRaises(RuntimeError):
            interface.export("late", "0v", print)

        def broken(interface):
            raise KeyError("no state")

        with self.assertRaisesRegex(RuntimeError, "no state"):
            rt.VmContext(rt.VmInstance(), [rt.PyModuleInterface("x", broken).create()])


class ReferenceTest(unittest.TestCase):
    def test_protocol(self):
        """Objects of others' classes are passed as what they stand for, by a value or by a method."""
        view = rt.get_device("local-sync").upload(X)

        class ByValue:
            __iree_vm_ref__ = view

        class ByMethod:
            def __iree_vm_ref__(self):
                return ByValue()

        many = rt.VmVariantList(4)
        for value in (view, view.ref, ByValue(), ByMethod(), rt.DeviceArray(None, view)):
            many.push_ref(value)
        for i in range(len(many)):
            self.assertEqual(many.get_as_object(i, rt.HalBufferView).shape, (4,))
        with self.assertRaises(TypeError):
            many.push_ref(5)
        self.assertIn("shape", dir(view))
        self.assertIn("<HalBufferView (4), element_type=0x21000020, 16 bytes (at offset 0 into 16), memory_type=",
                      repr(view))

    def test_sink(self):
        """Gets what programs trace."""
        got = []
        config = rt.Config("local-sync")
        sink = rt.HalModuleDebugSink(lambda key, views: got.append((key, np.asarray(views[0].map()).tolist())))
        hal = rt.create_hal_module(config.vm_instance, config.device, debug_sink=sink)
        compiled = iree.compiler.compile_str(TRACES, target_backends=["vmvx"])
        module = rt.VmModule.copy_buffer(config.vm_instance, compiled)
        context = rt.VmContext(config.vm_instance, [hal, module])
        rt.FunctionInvoker(context, config.device, module.lookup_function("traces"))(X)
        self.assertEqual(got, [("sums", (X + X).tolist())])

    def test_files(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"contents")
            file.flush()
            handle = rt.FileHandle.wrap_fd(file.fileno())
        self.assertEqual(bytes(handle.map(3, 5)), b"tents")
        self.assertFalse(handle.is_host_allocation)
        memory = rt.FileHandle.wrap_memory(b"memory").host_allocation
        self.assertEqual(bytes(memory), b"memory")
        with self.assertRaises(ValueError):
            rt.FileHandle.wrap_memory(bytearray(4), True, True)

    def test_tensors_of_archives(self):
        """By IREE's metadata, and by that of its exporter for PyTorch."""
        index = rt.ParameterIndex()
        for prefix in ("TENSORv0:", "PYTORCH:", "OTHER:"):
            metadata = prefix + '{"type": "Tensor", "dtype": "float32", "shape": [2, 2]}'
            index.add_buffer(prefix, X.view(np.uint8), metadata)
        entries = dict(index.items())
        for prefix in ("TENSORv0:", "PYTORCH:"):
            np.testing.assert_array_equal(rt.parameter_index_entry_as_numpy_ndarray(entries[prefix]), X.reshape(2, 2))
        with self.assertRaisesRegex(ValueError, "OTHER:"):
            rt.parameter_index_entry_as_numpy_ndarray(entries["OTHER:"])
        rt.parameter_index_add_numpy_ndarray(index, "w", X)
        self.assertTrue(dict(index.items())["w"].metadata.startswith(b'TENSORv0:{"type": "Tensor", "dtype": "float32"'))

    def test_types(self):
        info = rt.dtypes.map_name_to_dtype_info("uint16")
        self.assertEqual((info.abi_type, info.hal_type, info.is_signed), ("i16", rt.HalElementType.UINT_16, False))
        self.assertEqual(rt.dtypes.map_abi_type_to_dtype_info("i16").name, "int16")
        self.assertIs(rt.HalElementType.COMPLEX_64, rt.HalElementType.COMPLEX_FLOAT_64)
        self.assertIsNone(rt.dtypes.map_dtype_to_hal_element_type("no such type"))


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(failed != 0)
