"""Writes bundles as clang's offload bundler makes them, for the fuzzer of their reader: offload_bundles.py FOLDER"""

import pathlib
import struct
import sys

HOST, AMD = b"host-x86_64-unknown-linux-gnu-", b"hipv4-amdgcn-amd-amdhsa--"
BUNDLES = {
    "one": [(HOST, b""), (AMD + b"gfx1100", b"first")],
    "two": [(HOST, b"host"), (AMD + b"gfx90a:xnack-", b"first"), (AMD + b"gfx1100", b"second")],
    "generic": [(AMD + b"gfx9-4-generic:sramecc+", b"code")],
}


def bundle(entries):
    """The magic, how many there are, then of each where its code is, how long that and its name are, and its name."""
    header, codes = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(entries)), b""
    start = len(header) + sum(24 + len(name) for name, _ in entries)
    for name, code in entries:
        header += struct.pack("<QQQ", start + len(codes), len(code), len(name)) + name
        codes += code
    return header + codes


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, entries in BUNDLES.items():
        (folder / name).write_bytes(bundle(entries))


if __name__ == "__main__":
    main()
