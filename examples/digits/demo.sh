#!/bin/bash
# Compiles a trained digit classifier, classifies images that it has never seen, and says how to do the same with a
# model of your own: demo.sh BUILD
set -euo pipefail
cd "$(dirname "$0")/../.."
tools=$1/tools
here=examples/digits
work=$1/demo
mkdir -p "$work"

# Runs a command and leaves its wall time in $milliseconds.
timed() {
  local start=${EPOCHREALTIME/[.,]/}
  "$@"
  local microseconds=$((${EPOCHREALTIME/[.,]/} - start))
  milliseconds=$(printf '%d.%d' $((microseconds / 1000)) $((microseconds % 1000 / 100)))
}

for model in digits digits_batch; do
  timed "$tools/iree-compile" --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu \
    $here/$model.onnx -o "$work/$model.vmfb"
  [ $model = digits ] && compile=$milliseconds
done
timed "$tools/iree-run-module" --device=local-task --module="$work/digits_batch.vmfb" --function=classify \
  --input=@$here/images.npy --output=@"$work/probabilities.npy" >/dev/null
run=$milliseconds
image=$("$tools/iree-benchmark-module" --device=local-sync --module="$work/digits.vmfb" --function=classify \
  --input=1x1x8x8xf32=0.5 --time_unit=us --benchmark_min_time=0.2s 2>/dev/null | awk '/^BM_/ {print $2, $3}')

python3 $here/show.py $here/images.npy $here/labels.npy "$work/probabilities.npy"
cat <<END

Compiling digits.onnx took $compile ms; classifying one image takes $image;
a process that loads the compiled model and classifies all the images took $run ms.

The same with a model of your own:

  $tools/iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu \\
      model.onnx -o model.vmfb
  $tools/iree-run-module --device=local-task --module=model.vmfb --input=@input.npy --output=@output.npy
  $tools/iree-benchmark-module --device=local-task --module=model.vmfb --function=NAME --input=1x3x224x224xf32=0

--input takes a NumPy file (@input.npy) or a shape, a type and values (1x3x224x224xf32=0), once for each input.
END
