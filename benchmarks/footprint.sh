#!/bin/bash
# How long a build takes and how large what comes of it is: benchmarks/footprint.sh
#
# Builds the last commit in a clone of its own, without ccache: everything, then the runtime alone (preset `runtime`).
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone -q . "$work/source"
cd "$work/source"

# build NAME OPTION...: prints the time, and leaves the folder as $work/NAME.
build() {
  local name=$1 start=$SECONDS
  shift
  cmake -S . -B "$work/$name" -G Ninja -DIREE_ENABLE_CCACHE=OFF "$@" >/dev/null
  ninja -C "$work/$name" --quiet
  printf '%-38s %6d s of %d cores, %s on disk\n' "building $name" $((SECONDS - start)) "$(nproc)" \
    "$(du -sh "$work/$name" | cut -f 1)"
}

size() { printf '%-38s %6d kB\n' "$1" $(($(stat -Lc %s "$2") / 1000)); }

build everything
build runtime -DIREE_BUILD_TESTS=OFF -DIREE_BUILD_COMPILER=OFF -DIREE_BUILD_SOFTGPU=OFF -DCMAKE_BUILD_TYPE=MinSizeRel
for tool in iree-compile iree-import-onnx iree-run-module iree-softgpu; do
  size $tool "$work/everything/tools/$tool"
done
for name in everything runtime; do
  strip -o "$work/$name/stripped" "$work/$name/tools/iree-run-module"
  size "iree-run-module, stripped ($name)" "$work/$name/stripped"
done
size 'libLLVM, which compiling needs' "$(llvm-config-22 --libdir)/libLLVM-22.so"
