#!/bin/bash
# Makes, imports, compiles and runs every benchmark model and sample, and compares with ONNX Runtime: check.sh BUILD
set -euo pipefail
cd "$(dirname "$0")/../.."
exec .venv/bin/python benchmarks/models/check.py --tools "$1/tools" --work "$1/models" "${@:2}"
