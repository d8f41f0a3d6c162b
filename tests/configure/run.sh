#!/bin/bash
# Options of the build: what they choose, and what stops the configuration: tests/configure/run.sh BUILD
set -u
cd "$(dirname "$0")/../.."
folder=$1/configure-test
good=0 bad=0

# accepts|refuses PATTERN OPTION...: whether configuring with the options ends well, and PATTERN is in what it prints or
# in its cache and tables.
check() {
  local wanted=$1 pattern=$2 code
  shift 2
  rm -rf "$folder"
  cmake -S . -B "$folder" -G Ninja "$@" >"$folder.log" 2>&1
  code=$?
  cat "$folder/CMakeCache.txt" "$folder/include/amdgpu_device_library.def" "$folder/amdgpu_device/library.S" \
    >>"$folder.log" 2>/dev/null
  if [ $((code == 0)) = "$wanted" ] && tr -s '\n ' ' ' <"$folder.log" | grep -qE -- "$pattern"; then
    good=$((good + 1))
  else
    bad=$((bad + 1))
    echo "FAILED cmake $* ended with $code; looked for $pattern"
    grep -A 8 'CMake Error' "$folder.log"
  fi
}
accepts() { check 1 "$@"; }
refuses() { check 0 "$@"; }

accepts 'BACKEND_CUDA:BOOL=OFF .*BACKEND_ROCM:BOOL=ON .*BACKEND_VMVX:BOOL=OFF' \
  -DIREE_TARGET_BACKEND_DEFAULTS=OFF -DIREE_TARGET_BACKEND_ROCM=ON -DIREE_BUILD_PYTHON_BINDINGS=OFF
accepts 'DEVICE_LIBRARY\("gfx9-4-generic", [a-z0-9_]*\) DEVICE_LIBRARY\("gfx11-generic", [a-z0-9_]*\) #undef' \
  -DIREE_HAL_AMDGPU_DEVICE_LIBRARY_TARGETS='gfx94X-dcgpu;gfx1100' -DIREE_ROCM_TEST_TARGET_CHIP=gfx1030
accepts 'DEVICE_LIBRARY\("gfx11-generic", [a-z0-9_]*\) #undef' \
  -DIREE_HAL_AMDGPU_DEVICE_LIBRARY_TARGETS='gfx110X-all,gfx11-generic'
rows=
for target in gfx9-4-generic gfx9-generic gfx10-1-generic gfx10-3-generic gfx11-generic; do
  rows+="DEVICE_LIBRARY\\(\"$target\", [a-z0-9_]*\\) "
done
accepts "$rows#undef" \
  -DIREE_HAL_AMDGPU_DEVICE_LIBRARY_TARGETS='gfx950-dcgpu;igpu-all'
families='gfx90X-all gfx94X-all gfx95X-all gfx101X-all gfx103X-all gfx110X-all gfx115X-all gfx120X-all'
refuses "'gfx600' is no GPU .* Families: $families. Instruction sets: gfx9-generic .* Processors: gfx90a .*gfx1201" \
  -DIREE_HAL_AMDGPU_DEVICE_LIBRARY_TARGETS=gfx1100,gfx600
refuses "'gfx11.*' is no GPU" -DIREE_HAL_AMDGPU_DEVICE_LIBRARY_TARGETS='gfx11.*'
refuses "'' is no GPU" -DIREE_HAL_AMDGPU_DEVICE_LIBRARY_TARGETS=
# A library that was built before: this build's own.
if [ -f "$1/amdgpu_device/gfx11-generic.so" ]; then
  prebuilt=$(realpath "$1")/configure-prebuilt
  rm -rf "$prebuilt"
  mkdir "$prebuilt"
  cp "$1/amdgpu_device/gfx11-generic.so" "$prebuilt"
  accepts "DEVICE_LIBRARY\\(\"gfx11-generic\", [a-z0-9_]*\\) #undef.*incbin \"$prebuilt/gfx11-generic.so" \
    -DIREE_HAL_AMDGPU_DEVICE_LIBRARY_PATH="$prebuilt" -DIREE_HAL_AMDGPU_DEVICE_LIBRARY_TARGETS=gfx1100
  refuses "there is no $prebuilt/gfx12-generic.so; wanted are gfx11-generic.so gfx12-generic.so" \
    -DIREE_HAL_AMDGPU_DEVICE_LIBRARY_PATH="$prebuilt" -DIREE_HAL_AMDGPU_DEVICE_LIBRARY_TARGETS='gfx1100;gfx1200'
  mv "$prebuilt/gfx11-generic.so" "$prebuilt/gfx12-generic.so"
  for size in 6000 10; do
    truncate -s $size "$prebuilt/gfx12-generic.so"
    refuses 'gfx12-generic.so is no code object for gfx12-generic' \
      -DIREE_HAL_AMDGPU_DEVICE_LIBRARY_PATH="$prebuilt" -DIREE_HAL_AMDGPU_DEVICE_LIBRARY_TARGETS=gfx1200
  done
  rm -rf "$prebuilt"
fi
refuses 'IREE_HAL_DRIVER_VULKAN=ON: this project has no such option. It has: IREE_BUILD_COMPILER' \
  -DIREE_HAL_DRIVER_VULKAN:BOOL=ON
refuses 'IREE_ENABLE_THREADING=OFF: this is part of every build' -DIREE_ENABLE_THREADING=OFF
refuses 'IREE_HAL_EXECUTABLE_LOADER_VMVX_MODULE=OFF: this is part of every build' \
  -DIREE_HAL_EXECUTABLE_LOADER_VMVX_MODULE=OFF
accepts 'IREE_HAL_DRIVER_VULKAN=OFF: nothing of this name is built here' -DIREE_HAL_DRIVER_VULKAN:BOOL=OFF
rm -rf "$folder"
echo "$good passed, $bad failed"
[ $bad = 0 ]
