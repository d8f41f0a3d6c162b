"""Random programs of the graph level as text: Program(seed).text(), or generate.py --count N FOLDER."""

import argparse
import pathlib

from ops_combine import Combines
from ops_elements import Elements
from ops_move import Moves
from ops_regions import Regions
from program import ints

# How often each comes up.
WEIGHTS = {
    "unary": 5, "binary": 7, "negate_flags": 1, "multiply_add": 1, "byte_products": 0.5, "compare": 2, "classify": 1,
    "cast": 3, "bitcast": 1, "iota": 1, "numbers": 1, "run_time_number": 1, "many_operands": 0.4,
    "reshape": 2, "reshape_open": 1, "transpose": 2, "broadcast": 1, "reverse": 1, "slice": 2, "pad": 2, "concat": 2,
    "tiles": 0.7, "dynamic_slice": 1, "dynamic_update": 1, "gather": 2, "scatter": 2, "scatter_generic": 0.7,
    "reduce": 4, "arg_reduce": 2, "scan": 1.5, "sort": 1.5, "top_k": 1.5, "true_places": 0.7, "suppress": 0.7, "window": 2, "contract": 5, "conv": 4,
    "attention": 1, "fft": 1, "cholesky": 0.5, "triangular_solve": 0.7,
    "reduce_generic": 1, "window_generic": 0.7, "sort_generic": 1, "generic": 2,
    "branch": 1, "loop": 1, "call": 0.7, "stored": 0.5, "barrier": 0.5, "check": 0.5,
}
# Rows of graph.def that no program of one run has, and why.
LEFT_OUT = {
    "buffer": "bytes for another module, and no tensor",
    "call_import": "the evaluator has no other modules",
    "import_resolved": "the evaluator has no other modules",
    "dispatch": "formed by the compiler",
    "extern": "a kernel that a program brings, which the evaluator does not have",
    "global_store": "the evaluator has no state",
    "yield": "stands in regions only, where every program with a region has it",
}


class Program(Elements, Moves, Combines, Regions):
    def step(self):
        """One op, of those that fit."""
        names, weights = list(WEIGHTS), list(WEIGHTS.values())
        for _ in range(20):
            if getattr(self, self.random.choices(names, weights)[0])():
                return

    def text(self):
        self.several(self.random.randint(1, 9))
        good = [v for v in self.values if v not in self.arguments and not v.is_small() and (v.exact or v.bound <= 1e5)]
        results = good if self.chance(0.03) else good[-4:]
        results = results or [v for v in self.values if not v.is_small()][-1:]
        tolerance = [v.precision * max(v.bound, 1) for v in results]
        sizes = [size for v in self.arguments for size, free in zip(v.dims, v.free) if free]
        arguments = ", ".join(f"{v.name}: {v.type()}" for v in self.arguments)
        types = ", ".join(v.type() for v in results)
        lines = "\n  ".join(self.lines)
        return (f"func.func @main({arguments}) -> ({types}) attributes {{test.sizes = {ints(sizes)}, "
                f"test.tolerance = [{', '.join(f'{t:.6e} : f64' for t in tolerance)}]}} {{\n  {lines}\n"
                f"  return {', '.join(v.name for v in results)} : {types}\n}}\n") + "".join(self.others)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1, help="of the first program")
    parser.add_argument("--small", action="store_true", help="sizes up to 5, for what runs each many times")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for seed in range(options.seed, options.seed + options.count):
        program = Program(seed, (1, 2, 3, 4, 5)) if options.small else Program(seed)
        (options.folder / f"{seed}.mlir").write_text(program.text(), encoding="utf-8")


if __name__ == "__main__":
    main()
