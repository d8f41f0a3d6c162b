#!/bin/bash
# Edits a kernel's machine code, puts it back into its module and runs it on a software GPU, without a card: once as it
# was, once without the wait for its load, which hardware would forgive most of the time: demo.sh BUILD
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tools=$(cd "$1" && pwd)/tools
rm -rf "$1/edit_assembly"
mkdir -p "$1/edit_assembly"
cd "$1/edit_assembly"
PATH=$tools:$PATH

# Prints a line of shell, and runs it.
show() {
  printf '\n$ %s\n' "$1"
  eval "$1"
}

cp "$here/row_sums.mlir" .
flags="--iree-hal-target-device=amdgpu --iree-rocm-target=gfx1100"
show "iree-compile $flags --iree-hal-dump-executable-files-to=dump row_sums.mlir -o row_sums.vmfb"
show "grep -A 8 global_load dump/*.rocmasm"
show "sed 's/s_waitcnt vmcnt(0)/; no wait/' dump/*.rocmasm >edited.rocmasm"
show "clang-22 -target amdgcn-amd-amdhsa -mcpu=gfx1100 -x assembler -c edited.rocmasm -o edited.o"
show "ld.lld-22 -shared edited.o -o edited.hsaco"
flags="$flags --iree-hal-substitute-executable-object=row_sums_dispatch_0=edited.hsaco"
show "iree-compile $flags row_sums.mlir -o edited.vmfb" 2>/dev/null
run="iree-softgpu --target=gfx1100 --check=all -- iree-run-module --device=amdgpu --input=64x256xf32=1"
show "$run --module=row_sums.vmfb | cut -c 1-80"
if show "$run --module=edited.vmfb" 2>report; then
  echo "the missing wait was not found" >&2
  exit 1
fi
grep '^softgpu' report | fold -s -w 110
grep -q 'register v[0-9]* is read before a wait for the instruction that loads it' report
