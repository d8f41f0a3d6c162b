#!/bin/bash
# Installs what building and testing need: Debian packages, and Python packages into .venv. Once it has succeeded it
# does nothing until this file or the list of Python packages changes.
#
#   build_tools/setup.sh           everything
#   build_tools/setup.sh build     only what building the tools needs (no .venv)
set -euo pipefail
cd "$(dirname "$0")/.."

what=${1:-all}
requirements=build_tools/requirements-test.txt
mark=.venv/setup-$(cat build_tools/setup.sh $requirements | sha256sum | cut -c1-16)
log=build/setup.log

build_packages=(
  build-essential ccache cmake git ninja-build
  libcjson-dev libhsa-runtime-dev libprotobuf-c-dev protobuf-c-compiler
  liblld-22-dev llvm-22-dev
)
test_packages=(
  clang-22 clang-format-22 libclang-rt-22-dev libcmocka-dev lld-22 llvm-22
  ca-certificates libamdhip64-5 pkg-config python3-venv qemu-user rocminfo unzip valgrind
)

fail() {
  echo "setup: $*" >&2
  exit 1
}

run() {
  build_tools/progress.sh setup $log "$@"
}

missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' || echo "$package"
  done
}

install_packages() {
  local missing
  command -v dpkg-query >/dev/null || fail "this is not Debian; install the equivalents of: $*"
  missing=$(missing_packages "$@" | tr '\n' ' ')
  if [ -z "$missing" ]; then
    return
  fi
  [ "$(id -u)" = 0 ] || fail "packages are missing; as root: apt-get install $missing"
  echo "setup: installing Debian packages: $missing"
  export DEBIAN_FRONTEND=noninteractive
  run apt-get -q update || fail "apt-get update failed"
  # shellcheck disable=SC2086  # one word per package
  run apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends $missing ||
    fail "apt-get could not install: $missing"
}

# The mark may have come here with the folder, from a machine that has the packages to one that has not.
have_tools() {
  local tool
  for tool in cmake ninja clang-22 llvm-config-22 protoc-c qemu-aarch64 valgrind .venv/bin/python; do
    command -v $tool >/dev/null || return 1
  done
}

install_python() {
  echo "setup: installing Python packages into .venv"
  [ -x .venv/bin/pip ] || run python3 -m venv .venv || fail "python3 -m venv failed"
  run .venv/bin/pip install --progress-bar off -r $requirements || fail "pip could not install $requirements"
}

case $what in
  all) if [ -e "$mark" ] && have_tools; then exit 0; fi ;;
  build) ;;
  *) fail "unknown argument '$what'; none or 'build' is accepted" ;;
esac
mkdir -p build
: >$log
if [ "$what" = build ]; then
  install_packages "${build_packages[@]}"
  exit 0
fi
install_packages "${build_packages[@]}" "${test_packages[@]}"
install_python
touch "$mark"
