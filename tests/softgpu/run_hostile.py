"""Hostile code objects on the software GPU: each ends in one clear error, and no process dies of it.

    tests/softgpu/run_hostile.py --build build [--target gfx1100]

A right code object is damaged in one place at a time: cut off anywhere, for another GPU, with notes, relocations, tables,
sizes and kernel descriptors that cannot be. Kernels that never end, jump astray or wait for ever run under a limit. Each
goes through launch.c, and those that a module can hold through the amdgpu driver too: exit 1, one line that says why.
"""

import concurrent.futures
import os
import pathlib
import re
import struct
import subprocess
import tempfile
import zipfile

import suite

KERNEL = r"""
__attribute__((visibility("default"))) global int counter = 41;
__attribute__((visibility("default"))) global int* pointer = &counter;
kernel void add(global const int* in, global int* out) {
  int i = __builtin_amdgcn_workitem_id_x();
  out[i] = in[i] + *pointer;
}
kernel void endless(global const int* in, global int* out) {
  while (1) __builtin_amdgcn_s_sleep(1);
}
kernel void astray(global const int* in, global int* out) {
  __asm volatile("s_mov_b32 s4, 0x123450\n s_mov_b32 s5, 0\n s_setpc_b64 s[4:5]" ::: "s4", "s5");
}
kernel void nowhere(global const int* in, global int* out) { *(global int*)0x1230 = 1; }
kernel void aborts(global const int* in, global int* out) { __builtin_trap(); }
"""
MODULE = """
func.func @main(%a: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<64xf32> {
  %0 = stablehlo.add %a, %b : tensor<64xf32>
  return %0 : tensor<64xf32>
}
"""
PT_LOAD, PT_NOTE, SHT_RELA, SHT_DYNSYM = 1, 4, 4, 11
R_ABS64 = 3


class Elf:
    """A code object's tables, to damage: fields are written into a copy of the file."""

    def __init__(self, data):
        self.data = bytearray(data)
        self.phoff, self.shoff = struct.unpack_from("<QQ", data, 32)
        self.phnum, _, self.shnum = struct.unpack_from("<HHH", data, 56)

    def put(self, form, offset, *values):
        copy = bytearray(self.data)
        struct.pack_into("<" + form, copy, offset, *values)
        return bytes(copy)

    def segment(self, kind, nth=0):
        """Offset of the nth program header of a type."""
        places = [self.phoff + 56 * i for i in range(self.phnum)]
        return [at for at in places if struct.unpack_from("<I", self.data, at)[0] == kind][nth]

    def section(self, kind):
        places = [self.shoff + 64 * i for i in range(self.shnum)]
        return next((at for at in places if struct.unpack_from("<I", self.data, at + 4)[0] == kind), None)

    def table(self, kind):
        """Offset in the file and size of a section's contents."""
        return struct.unpack_from("<QQ", self.data, self.section(kind) + 24)

    def descriptor(self):
        """Offset in the file of the descriptor of the kernel `add`, or of the only one."""
        at, size = self.table(SHT_DYNSYM)
        link, = struct.unpack_from("<I", self.data, self.section(SHT_DYNSYM) + 40)
        strings, = struct.unpack_from("<Q", self.data, self.shoff + 64 * link + 24)
        found = {}
        for symbol in range(at, at + size, 24):
            name, info, _, _, value, length = struct.unpack_from("<IBBHQQ", self.data, symbol)
            if info & 15 == 1 and length == 64:
                found[bytes(self.data[strings + name:]).split(b"\0")[0]] = self.place(value)
        return found.get(b"add.kd", min(found.values()))

    def place(self, address):
        """Offset in the file of an address."""
        for i in range(self.phnum):
            kind, _, offset, start, _, size, _, _ = struct.unpack_from("<IIQQQQQQ", self.data, self.phoff + 56 * i)
            if kind == PT_LOAD and start <= address < start + size:
                return offset + address - start
        raise ValueError("not in the file")


def damaged(data, target):
    """(name, code object, what the message must match): what a loader must refuse, or a launch."""
    elf = Elf(data)
    for size in range(0, len(data), 64):
        yield f"cut off after {size}", data[:size], "code object|no module|0x1001|cannot"
    other = 0x4C if target.startswith("gfx1") else 0x41
    yield "another GPU", elf.put("I", 48, other), "for gfx\\w+, and the GPU is|for \\[gfx\\w+\\], the device needs"
    yield "unknown GPU", elf.put("I", 48, 0xEE), "unknown processor"
    yield "32 bits", elf.put("B", 4, 1), "AMD GPUs"
    yield "another machine", elf.put("H", 18, 62), "AMD GPUs"
    yield "another system", elf.put("B", 7, 0), "AMD GPUs"
    load, note = elf.segment(PT_LOAD), elf.segment(PT_NOTE)
    yield "program headers outside", elf.put("Q", 32, 1 << 40), "program headers"
    yield "many program headers", elf.put("H", 56, 65535), "program headers"
    yield "section headers outside", elf.put("Q", 40, len(data) - 64), "section headers"
    yield "no section headers", elf.put("H", 60, 0), "symbols"
    yield "segment outside", elf.put("Q", load + 8, 1 << 62), "segment"
    yield "segment of 2^63 bytes", elf.put("Q", load + 40, 1 << 63), "segment|size"
    yield "segment of 2^31 bytes", elf.put("Q", elf.segment(PT_LOAD, 1) + 40, 1 << 31), "memory|segment|^$"
    yield "segment at 2^63", elf.put("Q", load + 16, 1 << 63), "segment"
    yield "more file than memory", elf.put("Q", load + 40, 1), "segment"
    yield "note outside", elf.put("I", struct.unpack_from("<Q", data, note + 8)[0] + 4, 0xFFFFFFF0), "note"
    body = struct.unpack_from("<Q", data, note + 8)[0] + 20
    yield "metadata of nothing", elf.put("40s", body, b"\xc1" * 40), "metadata"
    yield "metadata of 2^32 kernels", elf.put("5s", body, b"\xdf\xff\xff\xff\xff"), "metadata"
    yield "metadata nested", elf.put("200s", body, b"\x91" * 200), "metadata"
    yield "symbols outside", elf.put("Q", elf.section(SHT_DYNSYM) + 24, 1 << 40), "symbols"
    yield "names outside", elf.put("I", elf.section(SHT_DYNSYM) + 40, 60000), "symbols"
    if elf.section(SHT_RELA):
        at, _ = elf.table(SHT_RELA)
        yield "relocations outside", elf.put("Q", elf.section(SHT_RELA) + 32, 1 << 50), "relocations"
        yield "relocation of type 200", elf.put("Q", at + 8, 200), "relocation"
        yield "relocation outside the image", elf.put("Q", at, 1 << 33), "relocation"
        yield "relocation by no symbol", elf.put("Q", at + 8, 999999 << 32 | R_ABS64), "relocation"
    descriptor = elf.descriptor()
    yield "4 GiB of workgroup memory", elf.put("I", descriptor, 0xFFFFFFFF), "workgroup memory|group"
    yield "4 GiB of scratch", elf.put("I", descriptor + 4, 0xFFFFFFFF), "scratch|private"
    yield "entry outside", elf.put("q", descriptor + 16, 1 << 40), "no code"
    yield "entry at an odd place", elf.put("q", descriptor + 16, 1), "no code"
    rsrc1, = struct.unpack_from("<I", data, descriptor + 48)
    properties, preload = struct.unpack_from("<HH", data, descriptor + 56)
    if target.startswith("gfx9"):
        yield "waves of 32 lanes", elf.put("H", descriptor + 56, properties | 1 << 10), "32 lanes"
    else:
        yield "512 vector registers", elf.put("I", descriptor + 48, rsrc1 | 63), "vector registers"
    yield "127 preloaded registers", elf.put("H", descriptor + 58, preload | 127), "preload|no code|code"
    entry = elf.place(struct.unpack_from("<q", data, descriptor + 16)[0] + address_of(elf, descriptor))
    yield "no instructions", elf.put("16s", entry, b"\xff" * 16), "no instruction|unknown|cannot"


def address_of(elf, offset):
    for i in range(elf.phnum):
        kind, _, place, start, _, size, _, _ = struct.unpack_from("<IIQQQQQQ", elf.data, elf.phoff + 56 * i)
        if kind == PT_LOAD and place <= offset < place + size:
            return start + offset - place
    raise ValueError("not loaded")


def run(command, text=""):
    result = subprocess.run(list(map(str, command)), input=text, capture_output=True, text=True, check=False, timeout=120)
    return result.returncode, result.stdout, result.stderr


def judge(name, code, error, wanted, codes):
    """What is wrong with how a program ended: which exit, how many errors, what they say."""
    said = [line for line in error.splitlines() if line.startswith("softgpu:")]
    if code not in codes:
        return f"{name}: exit {code}: {error[-300:]}"
    if len(said) > 1 or not re.search(wanted, said[0] if said else error):
        return f"{name}: said {said or error[-300:]!r}, not '{wanted}'"
    return None


class Launcher:
    """Runs kernels of damaged code objects through HSA."""

    def __init__(self, options, folder):
        self.folder = folder
        self.tool = [options.build / "tools" / "iree-softgpu", f"--target={options.target}", "--limit=100000", "--"]
        self.program = options.build / "tests" / "softgpu_launch"
        source, self.right = folder / "kernel.cl", folder / "right.hsaco"
        source.write_text(KERNEL)
        suite.call(["clang-22", "-x", "cl", "-cl-std=CL2.0", "-w", "-target", "amdgcn-amd-amdhsa",
                    f"-mcpu={options.target}", "-nogpulib", "-O1", source, "-o", self.right])
        (folder / "in").write_bytes(bytes(256))

    def run(self, number, name, data, wanted, kernel="add"):
        path = self.folder / f"{number}.hsaco"
        path.write_bytes(data)
        # A queue that died is replaced, and the right code object runs on the new one: the process is well.
        again = [f"load {self.right}", "run add 64 64 0 0", f"in {self.folder / 'in'}", f"out 256 {path}.out", "go"]
        script = [f"load {path}", f"run {kernel} 64 64 0 0", f"in {self.folder / 'in'}", f"out 256 {path}.out", "go", *again]
        code, out, error = run([*self.tool, self.program], "\n".join(script) + "\n")
        path.unlink()
        if wrong := judge(name, code, error, wanted, (0, 1)):
            return wrong
        if code == 0 and out.splitlines() not in (["failed" + out.splitlines()[0][6:], "ok add"], ["ok add", "ok add"]):
            return f"{name}: {out}"
        return None

    def cases(self, target):
        data = self.right.read_bytes()
        # Of damage that does no harm to `add`, a launch may come out right.
        found = [(*case, "add") for case in damaged(data, target)]
        found += [("endless loop", data, "the limit", "endless"), ("jump astray", data, "no code is", "astray"),
                  ("address astray", data, "memory access fault", "nowhere"), ("abort", data, "aborted|trap", "aborts")]
        return found


class Driver:
    """Runs a module with a damaged code object through the amdgpu driver."""

    def __init__(self, options, folder):
        self.folder = folder
        tools = options.build / "tools"
        self.command = [tools / "iree-softgpu", f"--target={options.target}", "--limit=100000", "--",
                        tools / "iree-run-module", "--device=amdgpu", "--function=main", "--input=64xf32=1",
                        "--input=64xf32=2"]
        source, self.right = folder / "module.mlir", folder / "right.vmfb"
        source.write_text(MODULE)
        suite.call([tools / "iree-compile", "--iree-input-type=stablehlo", "--iree-hal-target-device=amdgpu",
                    f"--iree-rocm-target={options.target}", source, "-o", self.right])
        with zipfile.ZipFile(self.right) as archive:
            self.entries = [(entry, archive.read(entry)) for entry in archive.infolist()]
        self.code = next(data for entry, data in self.entries if entry.filename.endswith(".hsaco"))

    def module(self, code):
        """The module with another code object: entries stored, their contents aligned."""
        path = self.folder / f"{id(code)}.vmfb"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
            for entry, data in self.entries:
                info = zipfile.ZipInfo(entry.filename, entry.date_time)
                filled = archive.fp.tell() + 30 + len(entry.filename)
                room = -filled % 64
                room += 64 if 0 < room < 4 else 0
                info.extra = struct.pack("<HH", 0xD935, room - 4) + bytes(room - 4) if room else b""
                archive.writestr(info, code if entry.filename.endswith(".hsaco") else data)
        return path

    def run(self, _, name, data, wanted):
        path = self.module(data)
        code, _, error = run([*self.command, f"--module={path}"])
        path.unlink()
        errors = [line for line in error.splitlines() if "error:" in line]
        if len(errors) > 1:
            return f"amdgpu, {name}: {len(errors)} errors: {error[-600:]}"
        return judge(f"amdgpu, {name}", code, error, wanted + "|metadata|code object|INVALID", (0, 1) if "^$" in wanted else (1,))


def main():
    parser = suite.arguments(__doc__)
    parser.add_argument("--target", default="gfx1100")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="iree-hostile-") as name:
        launcher, driver = Launcher(options, pathlib.Path(name)), Driver(options, pathlib.Path(name))
        jobs = [(launcher, case) for case in launcher.cases(options.target)]
        jobs += [(driver, case) for case in damaged(driver.code, options.target)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(lambda job: job[1][0].run(job[0], *job[1][1]), enumerate(jobs)))
    suite.finish(len(results), [failure for failure in results if failure])


if __name__ == "__main__":
    main()
