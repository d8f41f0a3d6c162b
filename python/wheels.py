"""Makes the wheels of a build: wheels.py BUILD [--output FOLDER] [--level 0..9]

    iree_base_compiler  iree.compiler, iree-compile and the other compiler's tools, the software GPUs, LLVM's library
    iree_base_runtime   iree.runtime, iree.load, iree.onnx, iree-run-module and the other runtime's tools
    iree_c_jax          JAX's plugin, which finds LLVM's library in the compiler's wheel

Nothing is compiled. Libraries that manylinux does not promise are put in beside the project's own with their licences,
and looked for there first. The platform's tag is the glibc of the newest symbol that any file needs.
"""

import argparse
import base64
import hashlib
import pathlib
import re
import struct
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
RUNTIME_TOOLS = ("iree-run-module", "iree-benchmark-module", "iree-check-module", "iree-dump-module", "iree-cpuinfo",
                 "iree-c-embed-data", "iree-create-parameters", "iree-convert-parameters", "iree-dump-parameters",
                 "iree-encode-parameters", "iree-benchmark-executable", "iree-run-replay", "iree-benchmark-replay",
                 "iree-dump-replay", "iree-profile", "iree-profile-render", "iree-tokenize",
                 "iree-bisect")
COMPILER_TOOLS = ("iree-compile", "iree-opt", "iree-import-onnx", "iree-run-mlir", "iree-link", "iree-softgpu")
# What every system of a manylinux tag has (PEP 600 and the lists of auditwheel).
PROMISED = re.compile(r"lib(c|m|dl|rt|pthread|util|nsl|resolv|gcc_s|stdc\+\+|z)\.so\.\d+|ld-linux-x86-64\.so\.2")
EPOCH = (2020, 1, 1, 0, 0, 0)  # of all files, so that the same build gives the same wheel

#
# ELF files
#

PT_LOAD, PT_DYNAMIC = 1, 2
DT_NEEDED, DT_STRTAB, DT_RPATH, DT_RUNPATH = 1, 5, 15, 29
DT_VERNEED, DT_VERNEEDNUM = 0x6ffffffe, 0x6fffffff


class Elf:
    """A 64-bit little-endian ELF file in memory, as far as its dynamic section goes."""

    def __init__(self, data):
        self.data = bytearray(data)
        offset, = struct.unpack_from("<Q", data, 32)
        size, count = struct.unpack_from("<HH", data, 54)
        headers = [struct.unpack_from("<IIQQQQ", data, offset + size * i) for i in range(count)]
        self._loads = [(address, at, length) for kind, _, at, address, _, length in headers if kind == PT_LOAD]
        self._entries = []  # (where, tag, value)
        for kind, _, at, _, _, length in headers:
            for where in range(at, at + length if kind == PT_DYNAMIC else at, 16):
                self._entries.append((where, *struct.unpack_from("<QQ", data, where)))
        strings = self._all(DT_STRTAB)
        self._strings = self._offset(strings[0]) if strings else None

    @staticmethod
    def is_elf(data):
        return data[:6] == b"\x7fELF\x02\x01"

    def _all(self, tag):
        return [value for _, found, value in self._entries if found == tag]

    def _offset(self, address):
        return next(at + address - start for start, at, length in self._loads if start <= address < start + length)

    def _string(self, offset):
        start = self._strings + offset
        return self.data[start:self.data.index(0, start)].decode()

    def needed(self):
        return [self._string(offset) for offset in self._all(DT_NEEDED)]

    def versions(self):
        """Names of the versions of symbols that it needs: GLIBC_2.34, GLIBCXX_3.4.30, …"""
        names, tables = [], self._all(DT_VERNEED)
        at = self._offset(tables[0]) if tables else 0
        for _ in range(self._all(DT_VERNEEDNUM)[0] if tables else 0):
            count, _, first, following = struct.unpack_from("<HIII", self.data, at + 2)
            entry = at + first
            for _ in range(count):
                name, step = struct.unpack_from("<II", self.data, entry + 8)
                names.append(self._string(name))
                entry += step
            at += following
        return names

    def has_search_path(self):
        return bool(self._all(DT_RPATH) or self._all(DT_RUNPATH))

    def set_search_path(self, path):
        """Where its libraries, and theirs, are looked for: DT_RPATH, in the place of the path that it has."""
        for where, tag, value in self._entries:
            if tag not in (DT_RPATH, DT_RUNPATH):
                continue
            old = self._string(value).encode()
            if len(path) > len(old):
                raise SystemExit(f"wheels: '{path}' is longer than the search path that it replaces, '{old.decode()}'")
            start = self._strings + value
            self.data[start:start + len(old)] = path.encode().ljust(len(old), b"\0")
            struct.pack_into("<Q", self.data, where, DT_RPATH)
            return
        raise SystemExit("wheels: a file needs libraries of the wheel and has no search path to replace")


def resolve(file):
    """Path of each library that a file needs, directly or not."""
    text = subprocess.run(["ldd", str(file)], capture_output=True, text=True, check=True).stdout
    return {name: pathlib.Path(path) for name, path in re.findall(r"(\S+) => (/\S+)", text)}


def licence_of(path):
    """The package that has a library of the system's, and its licence."""
    real = path.resolve()
    for place in (real, pathlib.Path("/", *real.parts[2:])):  # /lib may be a link to /usr/lib
        try:
            found = subprocess.run(["dpkg", "-S", str(place)], capture_output=True, text=True, check=False).stdout
        except FileNotFoundError:
            break
        text = pathlib.Path("/usr/share/doc", found.partition(":")[0], "copyright")
        if found and text.exists():
            return found.partition(":")[0], text.read_bytes()
    raise SystemExit(f"wheels: {path} goes into a wheel, and no package of the system (dpkg) has its licence")


#
# Wheels
#


class Wheel:
    def __init__(self, name, python, version):
        self.name, self.python, self.version = name, python, version
        self.files = {}  # path in the wheel: (bytes, executable)
        self._licences = {"LICENSE": (ROOT / "LICENSE").read_bytes()}
        self._glibc = (2, 17)

    def add(self, target, source, libraries="", executable=False, own=True):
        """A file; `libraries` is where those are that it needs of the wheel, from its own place.

        Libraries that are not our own and have no search path find theirs by that of those that need them.
        """
        data = pathlib.Path(source).read_bytes()
        if Elf.is_elf(data):
            elf = Elf(data)
            alone = all(PROMISED.fullmatch(name) for name in elf.needed())
            if not alone and (own or elf.has_search_path()):
                elf.set_search_path(f"$ORIGIN/{libraries}".rstrip("/"))
            for version in elf.versions():
                found = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(\.\d+)?", version)
                self._glibc = max(self._glibc, (int(found[1]), int(found[2]))) if found else self._glibc
            data = bytes(elf.data)
        self.files[target] = data, executable

    def add_needed(self, folder, *sources):
        """The libraries that files need and manylinux does not promise, but those that are in the folder already."""
        for source in sources:
            for name, path in resolve(source).items():
                if not PROMISED.fullmatch(name) and f"{folder}/{name}" not in self.files:
                    self.add(f"{folder}/{name}", path, own=False)
                    package, text = licence_of(path)
                    self._licences[f"{package}.txt"] = text

    def tag(self):
        return f"{self.python}-abi3-manylinux_{self._glibc[0]}_{self._glibc[1]}_x86_64"

    def write(self, folder, metadata, group, entries, level):
        """Writes the wheel; `entries` of an entry point's group are pairs of a name and what it stands for."""
        info = f"{self.name}-{self.version}.dist-info"
        lines = "".join(f"{name} = {target}\n" for name, target in entries)
        texts = {"METADATA": metadata, "entry_points.txt": f"[{group}]\n{lines}",
                 "WHEEL": "Wheel-Version: 1.0\nGenerator: iree-c\nRoot-Is-Purelib: false\n"
                          f"Tag: {self.tag()}\n"}
        for name, text in texts.items():
            self.files[f"{info}/{name}"] = text.encode(), False
        for name, text in self._licences.items():
            self.files[f"{info}/licenses/{name}"] = text, False
        path = folder / f"{self.name}-{self.version}-{self.tag()}.whl"
        record = []
        method = zipfile.ZIP_DEFLATED if level else zipfile.ZIP_STORED
        with zipfile.ZipFile(path, "w", method, compresslevel=level or None) as archive:
            for name, (data, executable) in sorted(self.files.items()):
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                record.append(f"{name},sha256={digest},{len(data)}\n")
                _add(archive, name, data, executable)
            record.append(f"{info}/RECORD,,\n")
            _add(archive, f"{info}/RECORD", "".join(record).encode(), False)
        return path


def _add(archive, name, data, executable):
    entry = zipfile.ZipInfo(name, EPOCH)
    entry.external_attr = (0o100755 if executable else 0o100644) << 16
    entry.compress_type = archive.compression
    archive.writestr(entry, data, compresslevel=archive.compresslevel)


#
# What is in them
#


def add_package(wheel, python, folder):
    """The Python files of a folder of build/python/iree."""
    for path in sorted((python / "iree" / folder).rglob("*")):
        if path.suffix in (".py", ".pyi") or path.name == "py.typed":
            wheel.add(str(path.relative_to(python)), path)


def metadata(name, version, summary, needs, extras=("onnx",), document="docs/python.md"):
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", f"Summary: {summary}",
             "License: Apache-2.0 WITH LLVM-exception", "Requires-Python: >=3.11",
             *(f"Requires-Dist: {need}" for need in needs),
             *(line for extra in extras for line in (f"Provides-Extra: {extra}",
                                                     f'Requires-Dist: {extra}; extra == "{extra}"')),
             "Description-Content-Type: text/markdown", "", (ROOT / document).read_text(encoding="utf-8")]
    return "\n".join(lines)


def make_runtime(build, version):
    wheel = Wheel("iree_base_runtime", "cp311", version)
    python = build / "python"
    for name in ("__init__.py", "onnx.py"):
        wheel.add(f"iree/{name}", python / "iree" / name)
    add_package(wheel, python, "runtime")
    wheel.add("iree/runtime/_binding.abi3.so", python / "iree/runtime/_binding.abi3.so", executable=True)
    for tool in RUNTIME_TOOLS:
        wheel.add(f"iree/runtime/bin/{tool}", build / "tools" / tool, executable=True)
    scripts = [(tool, "iree.runtime.scripts:main") for tool in RUNTIME_TOOLS]
    text = metadata("iree-base-runtime", version, "IREE's runtime, from C", ["numpy"])
    return wheel, "console_scripts", scripts, text


def make_compiler(build, version):
    wheel = Wheel("iree_base_compiler", "cp311", version)
    python, tools, lib = build / "python", build / "tools", build / "lib"
    add_package(wheel, python, "compiler")
    wheel.add("iree/compiler/_api.abi3.so", python / "iree/compiler/_api.abi3.so", "lib", executable=True)
    wheel.add("iree/compiler/lib/libIREECompiler.so", lib / "libIREECompiler.so", executable=True)
    for tool in COMPILER_TOOLS:
        if (tools / tool).exists():  # without the software GPUs there is no iree-softgpu
            wheel.add(f"iree/compiler/bin/{tool}", tools / tool, "../lib", executable=True)
    for path in sorted([*lib.glob("softgpu/*"), *lib.glob("softgpu-cuda/*")]):
        if path.name in ("libhsa-runtime64.so.1", "libiree-softgpu-kfd.so", "libcuda.so.1"):
            wheel.add(f"iree/compiler/lib/{path.relative_to(lib)}", path, "..", executable=True)
    wheel.add_needed("iree/compiler/lib", lib / "libIREECompiler.so", tools / "iree-compile")
    scripts = [(tool, "iree.compiler.scripts:main") for tool in COMPILER_TOOLS
               if f"iree/compiler/bin/{tool}" in wheel.files]
    text = metadata("iree-base-compiler", version, "IREE's compiler, from C", [])
    return wheel, "console_scripts", scripts, text


def make_jax(build, version):
    wheel = Wheel("iree_c_jax", "cp311", version)
    package = build / "jax/jax_plugins/iree"
    for path in sorted(package.glob("*.py")):
        wheel.add(f"jax_plugins/iree/{path.name}", path)
    wheel.add("jax_plugins/iree/_capsule.abi3.so", package / "_capsule.abi3.so", executable=True)
    wheel.add("jax_plugins/iree/libiree_pjrt.so", package / "libiree_pjrt.so", "../../iree/compiler/lib",
              executable=True)
    needs = [f"iree-base-compiler=={version}", "jax"]
    text = metadata("iree-c-jax", version, "JAX on IREE's devices, from C", needs, (), "docs/jax.md")
    return wheel, "jax_plugins", [("iree", "jax_plugins.iree")], text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path, help="folder of the wheels (BUILD/wheels)")
    parser.add_argument("--level", type=int, default=6, help="of compression; 0: none")
    options = parser.parse_args()
    build = options.build.resolve()
    if not (build / "python/iree/runtime/_binding.abi3.so").exists():
        raise SystemExit(f"wheels: {build} has no Python packages; they are built where headers of Python 3.11 are")
    version = re.search(r'"(.*)"', (ROOT / "src/base/version.h").read_text(encoding="utf-8"))[1]
    folder = options.output or build / "wheels"
    folder.mkdir(parents=True, exist_ok=True)
    for old in [*folder.glob("iree_base_*.whl"), *folder.glob("iree_c_jax-*.whl")]:
        old.unlink()
    for make in (make_compiler, make_runtime, make_jax):
        wheel, group, entries, text = make(build, version)
        path = wheel.write(folder, text, group, entries, options.level)
        print(f"{path} ({path.stat().st_size >> 20} MiB)")


if __name__ == "__main__":
    sys.exit(main())
