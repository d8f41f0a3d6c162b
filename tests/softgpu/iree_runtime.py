"""Runs functions of a module with IREE's runtime on its HIP driver; run_iree.py starts it through iree-softgpu.

    iree_runtime.py LIBAMDHIP64 MODULE FUNCTION:FOLDER...

A function's inputs are FOLDER/input0.npy and so on, its results FOLDER/result0.npy and so on.
"""

import pathlib
import sys

import iree.runtime
import ml_dtypes  # so that numpy knows bfloat16
import numpy as np


def main():
    library, module, *functions = sys.argv[1:]
    iree.runtime.flags.parse_flags(f"--hip_dylib_path=file:{library}")
    config = iree.runtime.Config("hip")
    context = iree.runtime.SystemContext(config=config)
    vm_module = iree.runtime.VmModule.mmap(context.instance, module)
    context.add_vm_module(vm_module)
    for argument in functions:
        name, folder = argument.split(":", 1)
        inputs = [np.load(file) for file in sorted(pathlib.Path(folder).glob("input*.npy"))]
        results = getattr(context.modules[vm_module.name], name)(*inputs)
        for number, result in enumerate(results if isinstance(results, tuple) else [results]):
            np.save(f"{folder}/result{number}.npy", result.to_host())
        print(f"ok {name}", flush=True)


if __name__ == "__main__":
    main()
