#!/bin/bash
# Installs into a prefix and builds programs against it, by CMake and by pkg-config: tests/install/run.sh BUILD
set -u
cd "$(dirname "$0")/../.."
build=$1 folder=$1/install-test
prefix=$PWD/$folder/usr
case $folder in /*) prefix=$folder/usr ;; esac
good=0 bad=0

# check NAME WANTED COMMAND...: whether the command ends well and prints WANTED
check() {
  local name=$1 wanted=$2 printed
  shift 2
  if printed=$("$@" 2>&1) && [[ $printed == *"$wanted"* ]]; then
    good=$((good + 1))
  else
    bad=$((bad + 1))
    echo "FAILED $name: looked for '$wanted'"
    tail -n 20 <<<"$printed"
  fi
}

rm -rf "$folder"
mkdir -p "$folder"
check install "" cmake --install "$build" --prefix "$prefix"
check configure "" cmake -S tests/install/project -B "$folder/project" -G Ninja -DCMAKE_BUILD_TYPE=Debug \
  -DCMAKE_PREFIX_PATH="$prefix"
check build "" ninja -C "$folder/project"
for program in static_c shared_c; do
  check $program "4xf32=10 200 3000 40000" "$folder/project/$program"
done
check plus_plus "multiply of multiply.vmfb" "$folder/project/plus_plus"
for tool in "$prefix/bin/iree-run-module" "$folder/project/tool"; do
  check "${tool##*/}" "4xf32=10 200 3000 40000" "$tool" --device=local-sync \
    --module="$folder/project/multiply.vmfb" --input=4xf32=1,2,3,4 --input=4xf32=10,100,1000,10000
done
library=$(find "$prefix" -name libIREECompiler.so)
check compiler_shared "API 1" "$folder/project/compiler_shared"
check compiler_loaded "API 1" "$folder/project/compiler_loaded" "$library"
for page in bash-completion/completions/iree-compile zsh/site-functions/_iree-opt man/man1/iree-run-module.1; do
  check "${page##*/}" "iree-" grep iree- "$prefix/share/$page"
done
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name iree_runtime.pc)")
flags=$(pkg-config --cflags --libs iree_runtime)
check pkg-config "" cc -DNO_MODULE tests/install/project/main.c -o "$folder/by_pkg_config" $flags \
  "-Wl,-rpath,$(pkg-config --variable=libdir iree_runtime)"
check by_pkg_config "4xf32=10 200 3000 40000" "$folder/by_pkg_config" "$folder/project/multiply.vmfb"
# Another place than that which was configured.
check destdir "" env DESTDIR="$PWD/$folder/stage" cmake --install "$build" --prefix /usr
check staged "iree-run-module" ls "$folder/stage/usr/bin"
# A package, not compressed; `make package` also makes a tarball.
if command -v dpkg-deb >/dev/null; then
  check deb "" cpack --config "$build/CPackConfig.cmake" -G DEB -D CPACK_DEBIAN_COMPRESSION_TYPE=none \
    -D CPACK_DEBIAN_PACKAGE_SHLIBDEPS=OFF -D CPACK_PACKAGE_DIRECTORY="$PWD/$folder/packages"
  check unpack "" dpkg-deb -x "$(ls "$folder"/packages/*.deb)" "$folder/unpacked"
  check unpacked "4xf32=10 200 3000 40000" "$folder/unpacked/usr/bin/iree-run-module" --device=local-sync \
    --module="$folder/project/multiply.vmfb" --input=4xf32=1,2,3,4 --input=4xf32=10,100,1000,10000
fi
echo "$good passed, $bad failed"
[ $bad = 0 ]
