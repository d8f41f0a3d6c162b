"""A multilayer perceptron, 784-128-10: the smallest network with weights that matter."""

from graph import Graph


def build():
    g = Graph("main_graph", seed=1)
    x = g.input("input", [1, 784])
    x = g.node("Relu", g.gemm(x, 784, 128, "fc1"))
    g.output(g.gemm(x, 128, 10, "fc2"), "output", [1, 10])
    return g
