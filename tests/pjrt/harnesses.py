"""JAX's own harnesses of its primitives, which its package has: sample(count, seed) gives programs like PROGRAMS."""

import collections
import random

import numpy as np
from jax._src import test_util
from jax._src.internal_test_util import test_harnesses

# What is compared of results that are not defined altogether: factors up to signs and order, triangles, and which of
# equal values are the largest.
UNIQUE = {
    "approx_top_k": lambda out: out[0],
    "cholesky": lambda out: np.tril(out[0]),
    "eig": lambda out: np.sort(np.abs(out[0])),
    "eigh": lambda out: np.sort(out[-1]),
    "qr": lambda out: np.abs(out[1]),
    "svd": lambda out: out[0],
}


# Whose results have errors as large as their largest element makes them.
SCALED = {"cholesky", "eig", "eigh", "qr", "svd", "cumsum", "cumprod"}


def _defined(harness):
    """Its function; of a sort that may change the order of what is equal, the keys alone."""
    if harness.group_name != "sort" or harness.params.get("is_stable", True):
        return harness.dyn_fun
    return lambda *args: harness.dyn_fun(*args)[:harness.params["num_keys"]]


def _all():
    """The harnesses in an order in which each group comes in turn."""
    groups = collections.defaultdict(list)
    for harness in test_harnesses.all_harnesses:
        if harness.filter("cpu"):
            groups[harness.group_name].append(harness)
    return groups


def sample(count, seed):
    """`count` of them, as many of each primitive as there are; all for 0."""
    chooser = random.Random(seed)
    groups = _all()
    for group in groups.values():
        chooser.shuffle(group)
    order = []
    for i in range(max(map(len, groups.values()))):
        order += [group[i] for group in groups.values() if i < len(group)]
    for harness in order[:count or None]:
        arguments = harness.dyn_args_maker(np.random.RandomState(0))
        yield harness.group_name, harness.name, _defined(harness), tuple(arguments)
