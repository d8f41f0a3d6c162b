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
  cat "$folder/CMakeCache.txt" "$folder/include/amdgpu_device_library.def" >>"$folder.log" 2>/dev/null
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
refuses "'gfx600' is no GPU that the amdgpu driver can run on" -DIREE_HAL_AMDGPU_DEVICE_LIBRARY_TARGETS=gfx1100,gfx600
refuses 'IREE_HAL_DRIVER_VULKAN=ON: this project has no such option. It has: IREE_BUILD_COMPILER' \
  -DIREE_HAL_DRIVER_VULKAN:BOOL=ON
refuses 'IREE_ENABLE_THREADING=OFF: this is part of every build' -DIREE_ENABLE_THREADING=OFF
rm -rf "$folder"
echo "$good passed, $bad failed"
[ $bad = 0 ]
