"""The wheels of a build, installed into an empty environment: wheels_test.py --build FOLDER

What is installed there runs the other tests, the examples of docs/python.md in order, and the tools. NumPy and ONNX are
those of the Python that runs this.
"""

import argparse
import ast
import importlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests/python"
# Packages of examples that are not run where they are missing.
OPTIONAL = ("torch", "jax", "tensorflow")
STUBS = """
import ast, importlib, pathlib, sys
for name in ("iree.compiler._api", "iree.runtime._binding"):
    module = importlib.import_module(name)
    tree = ast.parse(pathlib.Path(module.__file__).with_name(name.rpartition(".")[2] + ".pyi").read_text())
    stubs = {"": set()}
    for node in tree.body:
        target = getattr(node, "target", None)
        stubs[""].add(getattr(node, "name", getattr(target, "id", None)))
        if isinstance(node, ast.ClassDef):
            stubs[node.name] = {getattr(item, "name", None) or item.target.id for item in node.body
                                if not isinstance(item, ast.Expr)}
    public = lambda names: {each for each in names if not each.startswith("_")}
    assert public(vars(module)) == public(stubs[""] - {None}), public(vars(module)) ^ public(stubs[""] - {None})
    for kind, names in stubs.items():
        if kind:
            found = public(vars(getattr(module, kind)))
            assert found == public(names), (kind, found ^ public(names))
"""

# Console scripts: one for each program of the project that is no script itself.
TOOLS = sorted(path.stem for path in (ROOT / "tools").glob("iree-*.c"))
EVERY_TOOL = """
import subprocess, sys
folder, *tools = sys.argv[1:]
for tool in tools:
    said = subprocess.run([f"{folder}/{tool}", "--version"], capture_output=True, text=True).stdout
    assert tool in said or "iree" in said, (tool, said)
"""
IMPORT_ONNX = """
import pathlib, subprocess, sys, onnx
from onnx import TensorProto, helper
info = helper.make_tensor_value_info("x", TensorProto.FLOAT, [3]), helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])
onnx.save(helper.make_model(helper.make_graph([helper.make_node("Abs", ["x"], ["y"])], "g", info[:1], info[1:])), "m.onnx")
subprocess.run([sys.executable, "-m", "iree.compiler.tools.import_onnx", "m.onnx", "-o", "m.mlir"], check=True)
assert "onnx.Abs" in pathlib.Path("m.mlir").read_text()
import iree.compiler.version as c, iree.runtime.version as r
assert c.REVISIONS["IREE"] == c.VERSION == r.VERSION, (c.VERSION, r.VERSION)
"""

JAX = """
import jax, jax.numpy as jnp, numpy as np
import jax_plugins.iree, sys
assert jax_plugins.iree.__file__.startswith(sys.prefix), jax_plugins.iree.__file__
assert jax.devices()[0].platform == "iree", jax.devices()
x = jnp.arange(6.0).reshape(2, 3)
assert np.from_dlpack(jax.jit(lambda x: jax.pure_callback(np.asarray, x, x) @ x.T)(x))[1, 1] == 50
"""


def make_environment(build, folder):
    """A virtual environment with the wheels of the build. Returns its folder of programs."""
    command = [sys.executable, ROOT / "python/wheels.py", build, "--output", folder / "wheels", "--level", "0"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    places = [str(pathlib.Path(importlib.import_module(name).__file__).parents[1]) for name in ("numpy", "onnx")]
    site = next((folder / "venv/lib").glob("python*/site-packages"))
    (site / "outside.pth").write_text("\n".join(dict.fromkeys(places)) + "\n")
    wheels = sorted((folder / "wheels").glob("*.whl"))
    for wheel in wheels:
        assert re.fullmatch(r"iree_(base_\w+|c_jax)-[\d.]+-cp311-abi3-manylinux_2_\d\d_x86_64\.whl", wheel.name), wheel
        assert zipfile.ZipFile(wheel).testzip() is None
    check_licences(wheels[0])
    if not has("jax"):
        wheels.pop().unlink()  # the plugin needs it
    subprocess.run([sys.executable, "-m", "pip", "--python", folder / "venv/bin/python", "install", "-q", "--no-index",
                    "--disable-pip-version-check", "--no-compile", *wheels], check=True)
    for wheel in wheels:
        wheel.unlink()
    return folder / "venv/bin"


def check_licences(wheel):
    """The compiler's wheel has LLVM's library, and the licence of each package whose libraries it has."""
    names = zipfile.ZipFile(wheel).namelist()
    licences = [name.rpartition("/")[2] for name in names if "/licenses/" in name]
    assert any("libLLVM" in name for name in names) and any("llvm" in name for name in licences), licences
    assert "LICENSE" in licences and len(licences) > 2, licences


def examples():
    """The Python examples of docs/python.md as one program: those with packages that are missing are left out."""
    text = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return "\n".join(block for block in blocks if not any(re.search(rf"^import {name}|^from {name}", block, re.MULTILINE)
                                                          and not has(name) for name in OPTIONAL))


def has(name):
    return importlib.util.find_spec(name) is not None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    build = parser.parse_args().build.resolve()
    for block in re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/python.md").read_text(), re.DOTALL | re.MULTILINE):
        ast.parse(block)
    with tempfile.TemporaryDirectory(prefix="iree-wheels-") as name:
        folder = pathlib.Path(name)
        programs = make_environment(build, folder)
        python = programs / "python"
        (folder / "examples.py").write_text(examples())
        (folder / "work").mkdir()
        (folder / "work/a.mlir").write_text("func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
                                            "  %0 = math.absf %a : tensor<2xf32>\n  return %0 : tensor<2xf32>\n}\n")
        cases = {
            "stubs": [python, "-c", STUBS],
            "compiler": [python, TESTS / "compiler_test.py"],
            "runtime": [python, TESTS / "runtime_test.py"],
            "load": [python, TESTS / "load_test.py"],
            "onnx": [python, TESTS / "onnx_backend_test.py", "--cache", build / "tests", "--count", "50"],
            "examples": [python, folder / "examples.py"],
            "iree-compile": [programs / "iree-compile", "--iree-hal-target-device=amdgpu", "--iree-rocm-target=gfx1100",
                             "a.mlir", "-o", "a.vmfb"],
            "iree-softgpu": [programs / "iree-softgpu", "--target=gfx1100", "--", programs / "iree-run-module",
                             "--device=amdgpu", "--module=a.vmfb", "--input=2xf32=-1,2", "--expected_output=2xf32=1,2"],
            "device": [python, TESTS / "device_test.py"],
            "jax": [python, "-c", JAX],
            "every tool": [python, "-c", EVERY_TOOL, programs, *TOOLS],
            "import_onnx": [python, "-c", IMPORT_ONNX],
            "iree-dump-module": [programs / "iree-dump-module", "a.vmfb"],
            "iree-opt": [programs / "iree-opt", "a.mlir"],
        }
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "LD_"))}
        environment["IREE_CACHE_DIR"] = str(folder / "cache")
        environment["JAX_PLATFORMS"] = "iree,cpu"
        if not has("jax"):
            del cases["jax"]
        failed = 0
        for case, command in cases.items():
            done = subprocess.run(command, cwd=folder / "work", env=environment, capture_output=True, text=True,
                                  check=False)
            failed += done.returncode != 0
            if done.returncode:
                print(f"FAILED {case}: exit {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}", flush=True)
    print(f"{len(cases) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
