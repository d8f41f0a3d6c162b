"""What tests of random dispatches share: targets, elements as bytes, running a program, counting."""

import argparse
import subprocess

import numpy as np

TARGETS = ["sm_80", "gfx942", "gfx1100", "gfx1201", "sm_75", "gfx90a", "gfx1030", "sm_90", "gfx950"]
FLAGS = {"gfx": ["--iree-hal-target-device=hip", "--iree-hip-target="],
         "sm_": ["--iree-hal-target-device=cuda", "--iree-cuda-target="]}


def stored(array, kind):
    """The bytes of an array as elements of a type, and the numbers they stand for."""
    if kind == "bf16":
        bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
        bits = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
        return bits.tobytes(), (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    array = array.astype(np.float16 if kind == "f16" else np.float32)
    return array.tobytes(), array.astype(np.float64)


def read(data, kind, shape):
    if kind == "bf16":
        return (np.frombuffer(data, np.uint16).astype(np.uint32) << 16).view(np.float32).reshape(shape)
    return np.frombuffer(data, np.float16 if kind == "f16" else np.float32).reshape(shape)


def argument_parser(text):
    parser = argparse.ArgumentParser(description=text.splitlines()[0])
    parser.add_argument("--runner", required=True, help="the program run_dispatches")
    parser.add_argument("--count", type=int, default=8, help="cases of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="one number of them")
    parser.add_argument("--target", help="one processor for all cases")
    parser.add_argument("--execute", action="store_true", help="machine code on the software GPU")
    return parser


def run_program(options, target, program, inputs, shapes, flags=()):
    """With files of those shapes and flags for the compiler; results go beside the program, to out0.bin and on."""
    device, flag = FLAGS[target[:3]]
    command = [options.runner, device, flag + target, *flags, str(program), "--",
               f"--execute={target}" if options.execute else "--interpret", "--repeat=1",
               f"--inputs={','.join(map(str, inputs))}", f"--outputs={program.parent / 'out'}",
               f"--shapes={','.join('x'.join(map(str, shape)) for shape in shapes)}"]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def run_cases(options, kinds, run_case):
    """How many cases are right and wrong; run_case says what is wrong, or None."""
    passed = failed = 0
    for number in range(options.count) if options.only is None else [options.only]:
        for kind in kinds:
            random = np.random.default_rng([options.seed, number])
            subject = kind(random)
            target = options.target or TARGETS[number % len(TARGETS)]
            reason = run_case(subject, options, target, random)
            passed += reason is None
            failed += reason is not None
            if reason is not None:
                print(f"FAILED case {number} for {target} ({subject}): {reason}")
    return passed, failed
