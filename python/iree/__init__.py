"""IREE: `iree.load` compiles and loads a program in one call; `iree.compiler` and `iree.runtime` are its parts.

    import iree
    model = iree.load("model.onnx")
    print(model(x))
"""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)  # other packages have parts of `iree`, too


def __getattr__(name):
    if name not in ("load", "Model"):
        raise AttributeError(f"module 'iree' has no attribute '{name}'")
    from .runtime import loading
    return getattr(loading, name)
