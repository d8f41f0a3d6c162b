"""Every architecture's PTX of test models in NVIDIA's own assembler.

    tests/target/run_ptxas.py --build build [--all] [--only sm_90a]

Models are compiled for each architecture of base/processors/nvidia.def; one passes when the newest ptxas that knows the
architecture takes the PTX of its module. The ptxas are those of build_tools/requirements-ptxas.txt, which come from
PyPI when they are first needed. Without --all, small models for all architectures and MobileNetV2 for three. Some
architectures are also compiled with --iree-cuda-use-ptxas.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "benchmarks" / "models")]
import make  # noqa: E402

TABLE = ROOT / "src" / "base" / "processors" / "nvidia.def"
PINS = ROOT / "build_tools" / "requirements-ptxas.txt"
SMALL = {"simple_abs": ROOT / "samples/models/simple_abs.mlir",
         "fullyconnected": ROOT / "tests/e2e/stablehlo_models/fullyconnected.mlir",
         "mnist": ROOT / "tests/e2e/stablehlo_models/mnist_fake_weights.mlir",
         "digits": ROOT / "examples/digits/digits.onnx"}
LARGE = "mobilenetv2"
LARGE_FOR = ["sm_35", "sm_90a", "sm_120"]
CUBIN_FOR = ["sm_37", "sm_60", "sm_80", "sm_90a", "sm_101f", "sm_120"]  # of each version of the assembler


class Assembler:
    """One ptxas and the architectures that it knows."""

    def __init__(self, pin):
        self.path = pathlib.Path(sys.prefix) / "ptxas" / pin / "ptxas"
        if not self.path.exists():
            self.install(pin)
        text = subprocess.run([self.path, "--help"], capture_output=True, text=True, check=True).stdout
        self.known = set(re.findall(r"'(sm_\d+[af]?)'", text))

    def install(self, pin):
        """The wheels of several versions have the same paths inside, so that pip cannot install them together."""
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps",
                            "--only-binary=:all:", "-d", folder, pin], check=True)
            wheel = zipfile.ZipFile(next(pathlib.Path(folder).glob("*.whl")))
            name = next(name for name in wheel.namelist() if name.endswith("/bin/ptxas"))
            self.path.parent.mkdir(parents=True, exist_ok=True)
            partial = self.path.with_suffix(".partial")
            with wheel.open(name) as source, partial.open("wb") as target:
                shutil.copyfileobj(source, target)
        partial.chmod(0o755)
        partial.rename(self.path)

    def complaint(self, arch, ptx):
        """What it says against the text, or None."""
        with tempfile.NamedTemporaryFile(suffix=".ptx") as file:
            file.write(ptx)
            file.flush()
            result = subprocess.run([self.path, f"-arch={arch}", "-o", "/dev/null", file.name], capture_output=True,
                                    text=True, check=False)
        return None if result.returncode == 0 else result.stderr + result.stdout


def compile_for(build, source, arch, *flags):
    """The executables of its module by their extension; RuntimeError when it cannot be compiled."""
    with tempfile.NamedTemporaryFile(suffix=".vmfb") as module:
        command = [build / "tools" / "iree-compile", "--iree-hal-target-device=cuda", f"--iree-cuda-target={arch}",
                   *flags, source, "-o", module.name]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise RuntimeError(result.stderr)
        archive = zipfile.ZipFile(module.name)
        names = [name for name in archive.namelist() if name.startswith("executables/")]
        return {name.rpartition(".")[2]: archive.read(name) for name in names}


def attempt(build, source, arch, assembler):
    """What is wrong with a model's code for an architecture, or None."""
    try:
        return assembler.complaint(arch, compile_for(build, source, arch)["ptx"])
    except RuntimeError as failure:
        return str(failure)


def attempt_cubin(build, source, arch, assembler):
    """The same for machine code that the compiler has made beside it: the runtime reads of both the same."""
    try:
        parts = compile_for(build, source, arch, "--iree-cuda-use-ptxas",
                            f"--iree-cuda-use-ptxas-from={assembler.path}")
    except RuntimeError as failure:
        return str(failure)
    if set(parts) != {"cubin", "ptx"}:
        return f"the module has {', '.join(parts)}"
    with tempfile.TemporaryDirectory() as folder:
        files = [pathlib.Path(folder) / f"code.{kind}" for kind in ("cubin", "ptx")]
        for file in files:
            file.write_bytes(parts[file.suffix[1:]])
        result = subprocess.run([build / "tests" / "hal_stream_cubin_test", *files], capture_output=True, text=True,
                                check=False)
    return None if result.returncode == 0 else result.stderr + result.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--all", action="store_true", help="all models for all architectures")
    parser.add_argument("--only", action="append", default=[], help="architecture; repeatable")
    options = parser.parse_args()
    pins = [line for line in PINS.read_text().split() if "==" in line]
    assemblers = [Assembler(pin) for pin in pins]
    models = dict(SMALL)
    for name in [*make.NAMES, *make.FAMILIES, *make.NETWORKS] if options.all else [LARGE]:
        models[name] = make.write(name, options.build / "models")
    passed, failures = 0, []

    def note(name, arch, wrong):
        nonlocal passed
        passed += wrong is None
        if wrong is not None:
            failures.append(name)
            print(f"FAILED {name} for {arch}: {wrong.strip()}", flush=True)

    for arch in options.only or re.findall(r"^ARCH\((\w+),", TABLE.read_text(), re.MULTILINE):
        # Newer ones are named later.
        assembler = next((a for a in reversed(assemblers) if arch in a.known), None)
        for name, source in models.items():
            if name == LARGE and not options.all and arch not in LARGE_FOR:
                continue
            note(name, arch, attempt(options.build, source, arch, assembler) if assembler else "no ptxas knows it")
        if assembler and arch in CUBIN_FOR:
            note("mnist's cubin", arch, attempt_cubin(options.build, SMALL["mnist"], arch, assembler))
    print(f"{passed} passed, {len(failures)} failed")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
