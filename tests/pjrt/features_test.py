"""What JAX asks of the plugin besides results: features_test.py [CASE...]

Callbacks, tokens, DLPack, compile options, serialized executables, costs, donation and memories, with
JAX_PLATFORMS=iree,cpu.
"""

import gc
import importlib.util
import pathlib
import sys
import tempfile
import traceback
import warnings

import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax
from jax.experimental import io_callback, serialize_executable
from jax_plugins.iree import callbacks, dlpack

HERE = jax.devices("iree")[0]


def raises(kind, text, function):
    try:
        jax.block_until_ready(function())
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"no {kind.__name__}")


def pure_callbacks():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    f = jax.jit(lambda x: jax.pure_callback(lambda v: np.sin(np.asarray(v)), x, x) + 1)
    np.testing.assert_allclose(f(x), np.sin(x) + 1, rtol=1e-6)
    for dtype in "bool int8 uint8 int32 uint32 bfloat16 float16 complex64 float8_e4m3fn int4 uint2".split():
        y = jnp.asarray(np.array([[0, 1], [1, 0]]), dtype)
        same = jax.jit(lambda y: jax.pure_callback(np.asarray, y, y))(y)
        assert same.dtype == y.dtype and np.array_equal(same, y), dtype
    empty = jnp.zeros((0, 3))
    assert jax.jit(lambda x: jax.pure_callback(np.asarray, x, x))(empty).shape == (0, 3)
    one = jax.jit(lambda: jax.pure_callback(lambda: np.float32(3), jax.ShapeDtypeStruct((), jnp.float32)))
    assert one() == 3
    two = jax.jit(lambda x: jax.pure_callback(lambda v: (np.asarray(v) * 2, np.int32(7)), (x, jnp.int32(0)), x))(x)
    assert np.array_equal(two[0], x * 2) and two[1] == 7
    mapped = jax.vmap(lambda x: jax.pure_callback(lambda v: np.asarray(v) + 1, x, x, vmap_method="sequential"))
    assert np.array_equal(mapped(x), x + 1)


def compilation_cache():
    """Programs are found in it, but those that call Python, which are left out without a warning."""
    from jax.experimental.compilation_cache import compilation_cache as cache

    def count(function):
        events.clear()
        jax.jit(function)(np.float32(1))
        return [events.count(f"/jax/compilation_cache/cache_{what}") for what in ("misses", "hits")]

    events = []
    jax.monitoring.register_event_listener(lambda event, **_: events.append(event))
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
        jax.config.update("jax_compilation_cache_dir", folder)
        cache.reset_cache()
        try:
            assert [count(lambda x: x * 3 + 1), count(lambda x: x * 3 + 1)] == [[1, 0], [0, 1]]
            for _ in range(2):
                assert count(lambda x: jax.pure_callback(lambda v: np.asarray(v) + 1, x, x))[1] == 0
        finally:
            jax.config.update("jax_compilation_cache_dir", None)
            cache.reset_cache()


def callbacks_use_the_device():
    def inner(v):
        return np.asarray(jnp.cos(jax.device_put(np.asarray(v), HERE)) + 1)

    x = jnp.ones(3)
    result = jax.jit(lambda x: jax.pure_callback(inner, x, x) * 2)(x)
    np.testing.assert_allclose(result, 2 * (np.cos(np.ones(3)) + 1), rtol=1e-6)


def sparse_solver():
    """JAX's is SciPy's, whose rule comes with its module."""
    if importlib.util.find_spec("scipy") is None:
        return
    from jax.experimental.sparse.linalg import spsolve

    data, columns, rows = jnp.array([2.0, 3.0, 4.0]), jnp.array([0, 1, 2]), jnp.array([0, 1, 2, 3])
    found = jax.jit(spsolve)(data, columns, rows, jnp.array([2.0, 6.0, 12.0]))
    np.testing.assert_allclose(found, [1, 2, 3], rtol=1e-6)


def callbacks_in_loops():
    seen, printed = [], []

    @jax.jit
    def loop(x):
        def body(i, c):
            io_callback(lambda i: seen.append(int(i)), None, i, ordered=True)
            return c + i
        return lax.fori_loop(0, 5, body, x)

    @jax.jit
    def scan(xs):
        def step(c, x):
            jax.debug.callback(lambda v: printed.append(float(v)), x, ordered=True)
            return c + x, lax.cond(x > 1, lambda: jax.pure_callback(lambda v: np.asarray(v) * 3, x, x), lambda: x)
        return lax.scan(step, 0.0, xs)

    @jax.jit
    def ordered(x, nothing):
        first = io_callback(lambda x, n: x + n.size + len(seen), x, x, nothing, ordered=True)
        return first, io_callback(lambda x: x * 2, x, first, ordered=True)

    assert [float(each) for each in ordered(jnp.float32(3), jnp.zeros((2, 0)))] == [3, 6]
    assert loop(1) == 11
    total, each = scan(jnp.arange(4.0))
    jax.effects_barrier()
    assert seen == [0, 1, 2, 3, 4] and printed == [0, 1, 2, 3]
    assert total == 6 and np.array_equal(each, [0, 1, 6, 9])


def callbacks_say_where():
    """The sharding of a callback is in the program, as other tools read it, and changes nothing on one device."""
    everywhere = jax.sharding.NamedSharding(jax.sharding.Mesh(np.array([HERE]), "x"), jax.sharding.PartitionSpec("x"))
    here = jax.sharding.SingleDeviceSharding(HERE)
    for ordered in (False, True):
        f = jax.jit(lambda x: io_callback(lambda v: v * 2, x, x, sharding=here, ordered=ordered), in_shardings=everywhere)
        assert "<@maximal_mesh_0, []>" in f.lower(jnp.ones(2)).as_text()
        assert np.array_equal(f(jnp.ones(2)), [2, 2])


def callbacks_fail():
    def fail(_):
        raise ValueError("no such luck")

    x = jnp.ones(3)
    raises(jax.errors.JaxRuntimeError, "no such luck", lambda: jax.jit(lambda x: jax.pure_callback(fail, x, x))(x))
    raises(jax.errors.JaxRuntimeError, "Incorrect output shape",
           lambda: jax.jit(lambda x: jax.pure_callback(lambda v: np.ones(2, np.float32), x, x))(x))
    assert jax.jit(lambda x: x + 1)(x)[0] == 2


def callbacks_end():
    before = len(callbacks._callbacks)
    f = jax.jit(lambda x: jax.pure_callback(np.asarray, x, x))
    f(jnp.ones(2))
    assert len(callbacks._callbacks) == before + 1
    raises(jax.errors.JaxRuntimeError, "cannot be serialized",
           lambda: serialize_executable.serialize(f.lower(jnp.ones(2)).compile()))
    del f
    jax.clear_caches()
    gc.collect()
    assert len(callbacks._callbacks) <= before


def foreign_functions():
    call = jax.ffi.ffi_call("no_such_target", jax.ShapeDtypeStruct((3,), jnp.float32))
    raises(jax.errors.JaxRuntimeError, "call target @no_such_target is unknown", lambda: call(jnp.ones(3)))


def tokens():
    token, y = jax.jit(lambda x: (lax.create_token(x), x + 1))(1.0)
    after, z = jax.jit(lambda t, x: (lax.after_all(t), x * 2))(token, y)
    assert z == 4
    jax.block_until_ready(after)


def capsules():
    x = jnp.arange(6.0).reshape(2, 3)
    kind, _ = x.__dlpack_device__()
    for version in (None, (1, 1)):
        capsule = x.__dlpack__(max_version=version)
        assert ("versioned" in repr(capsule)) == (version is not None)
        del capsule  # nobody took it
    if kind == dlpack.CPU:
        host_capsules(x)
    raises(BufferError, "not on", lambda: x.__dlpack__(dl_device=(99, 0)))
    raises(BufferError, "no elements", lambda: jnp.ones(3, jnp.int4).__dlpack__())
    back = jnp.from_dlpack(np.ones(4, np.float32), device=HERE)
    assert back.devices() == {HERE} and back.sum() == 4


def host_capsules(x):
    view = np.from_dlpack(x)
    assert view.ctypes.data == x.unsafe_buffer_pointer() and not view.flags.writeable
    jax.jit(lambda x: x + 1, donate_argnums=0)(x)
    assert x.is_deleted() and view.sum() == 15
    assert np.from_dlpack(jnp.float32(3)) == 3 and np.from_dlpack(jnp.ones(3, bool)).all()
    assert np.from_dlpack(jnp.zeros((0, 3))).shape == (0, 3)
    assert jnp.from_dlpack(jnp.ones(4, jnp.bfloat16)).dtype == jnp.bfloat16


def compile_options():
    options = {"xla_embed_ir_in_executable": True, "iree-opt-level": "O1"}
    assert jax.jit(lambda x: x + 1, compiler_options=options)(1.0) == 2
    raises(jax.errors.JaxRuntimeError, "No such compile option: 'invalid_key'",
           lambda: jax.jit(lambda x: x + 1, compiler_options={"invalid_key": "x"})(1.0))
    wrong = {"xla_of_no_version": (True, "No such compile option: 'xla_of_no_version'"),
             "xla_embed_ir_in_executable": ("yes", "'yes' is not a valid bool value."),
             "xla_backend_optimization_level": ("1.5", "'1.5' is not a valid integer value."),
             "xla_dump_to": (1, "'1' is not a valid string value.")}
    for name, (value, text) in wrong.items():
        raises(jax.errors.JaxRuntimeError, text, lambda: jax.jit(lambda x: x + 1, compiler_options={name: value})(1.0))
    good = {"xla_embed_ir_in_executable": "False", "xla_backend_optimization_level": "1"}
    assert jax.jit(lambda x: x + 3, compiler_options=good)(1.0) == 4


def dumps():
    """Each program's text after each phase, in files of its own."""
    with tempfile.TemporaryDirectory() as folder:
        for number in 5.0, 6.0:
            assert jax.jit(lambda x: x * number, compiler_options={"xla_dump_to": folder})(2.0) == 2 * number
        inputs = sorted(pathlib.Path(folder).glob("jit__lambda_*.1.input.mlir"))
        assert len(inputs) == 2 and all("graph.mul" in path.read_text() for path in inputs)
        assert len(list(pathlib.Path(folder).iterdir())) > 10
    wrong = jax.jit(lambda x: x * 7, compiler_options={"xla_dump_to": "/dev/null/dumps"})
    raises(jax.errors.JaxRuntimeError, "/dev/null/dumps", lambda: wrong(2.0))


def executables():
    compiled = jax.jit(lambda x, w: jnp.tanh(x @ w)).lower(jnp.ones((4, 8)), jnp.ones((8, 2))).compile()
    cost, memory = compiled.cost_analysis(), compiled.memory_analysis()
    assert cost["flops"] == 2 * 4 * 8 * 2 and cost["transcendentals"] == 8
    assert cost["bytes accessed"] == memory.argument_size_in_bytes + memory.output_size_in_bytes == 4 * (32 + 16 + 8)
    conv = jax.jit(lambda x, k: lax.conv(x, k, (1, 1), "VALID"))
    cost = conv.lower(jnp.ones((1, 3, 6, 6)), jnp.ones((5, 3, 3, 3))).compile().cost_analysis()
    assert cost["flops"] == 2 * 5 * 4 * 4 * 27
    assert "HloModule" in compiled.as_text()
    again = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled))
    np.testing.assert_allclose(again(jnp.ones((4, 8)), jnp.ones((8, 2))), np.tanh(8), rtol=1e-6)
    assert again.cost_analysis() == compiled.cost_analysis() and again.as_text() == compiled.as_text()


def made(*shape):
    """An array that a program made, in memory that nobody else knows."""
    return jnp.linspace(1.0, np.prod(shape, dtype=int), np.prod(shape, dtype=int)).round().reshape(shape)


def donation():
    x = jnp.arange(1000.0)
    y = jax.jit(lambda x: x.at[3].set(7), donate_argnums=0)(x)
    assert x.is_deleted() and y[3] == 7
    raises(RuntimeError, "deleted", lambda: x + 1)
    step, y = jax.jit(lambda x, y, z: x + y * z, donate_argnums=1), made(10)
    for arguments in ((y, y, 2.0), (made(10), y, y)):
        raises(RuntimeError, "one of them is donated", lambda: step(*arguments))
    assert np.array_equal(step(made(10), y, 2.0), 3 * np.arange(1.0, 11)) and y.is_deleted()
    y = made(10)
    assert np.array_equal(step(y, made(10), y), y + y * y)


def place(array):
    return array.unsafe_buffer_pointer()


def donation_in_place():
    """Results take no new memory where elements are read before they are written, of whatever length."""
    for shape in (7,), (1003,), (13, 37), (100000,):
        x, g = made(*shape), made(*shape)
        wanted, before = np.asarray(x) * 0.5 - np.asarray(g), place(x)
        y = jax.jit(lambda x, g: x * 0.5 - g, donate_argnums=0)(x, g)
        assert place(y) == before
        np.testing.assert_allclose(y, wanted, rtol=1e-6)
    w, x, d = made(17, 29), made(8, 17), made(8, 29)
    wanted, before = np.asarray(w) - np.asarray(x).T @ np.asarray(d), place(w)
    y = jax.jit(lambda w, x, d: w - x.T @ d, donate_argnums=0)(w, x, d)
    assert "local" not in HERE.client.platform_version or place(y) == before
    np.testing.assert_allclose(y, wanted, rtol=1e-6)
    state = [made(50, 33), made(50, 33) * 2, made(50, 33) * 3]
    adam = lambda p, m, v, g: (p - (m + g) / jnp.sqrt(v + g * g), m + g, v + g * g)
    wanted, before = [np.asarray(r) for r in jax.jit(adam)(*state, made(50, 33))], [place(s) for s in state]
    after = jax.jit(adam, donate_argnums=(0, 1, 2))(*state, made(50, 33))
    assert [place(r) for r in after] == before
    for result, value in zip(after, wanted):
        np.testing.assert_allclose(result, value, rtol=1e-6)


UPDATES = {
    "row": lambda x, i: lax.dynamic_update_slice(x, jnp.full((1, 8), 5.0), (i, 0)),
    "rows": lambda x, i: x.at[jnp.array([3, 1, 3]) + i].add(2.0),
    "both": lambda x, i: lax.dynamic_update_slice(x.at[i].set(7), jnp.full((2, 2), 5.0), (i + 1, i)),
}


def updates_in_place():
    """What an update leaves alone is neither copied nor read, unless somebody else has the array."""
    for name, update in UPDATES.items():
        x, i = made(64, 8), jnp.int32(2)
        wanted, before = np.asarray(jax.jit(update)(x, i)), place(x)
        step = jax.jit(update, donate_argnums=0)
        y = step(x, i)
        assert place(y) == before and np.array_equal(y, wanted), name
        z = jax.jit(lambda x: (x, x + 0.0))(made(64, 8))[1]
        shares = dlpack._capsule and z.__dlpack_device__()[0] == dlpack.CPU
        kept = np.from_dlpack(z) if shares else None
        assert np.array_equal(step(z, i), wanted) and (kept is None or np.array_equal(kept, made(64, 8))), name


def donation_elsewhere():
    """What is still read, or is somebody else's, stays as it is."""
    step = jax.jit(lambda x, y: x + 2 * y, donate_argnums=0)
    x = made(64)
    assert np.array_equal(step(x, x + 0.0), 3 * np.arange(1.0, 65)) and x.is_deleted()
    space = np.zeros(200, np.float32)
    own = space[-place_of_host(space) // 4 % 16:][:64]  # aligned, so that it is used where it is
    assert np.array_equal(step(jax.device_put(own, HERE), made(64)), 2 * np.arange(1.0, 65)) and not own.any()
    x = made(4, 4)
    both = jax.jit(lambda x: (x + x.T, x.sum()), donate_argnums=0)(x)
    assert both[1] == 136 and np.array_equal(both[0], both[0].T)
    x, y = made(9), made(9) * 2
    a, b = jax.jit(lambda x, y: (y + 0.0, x + 0.0), donate_argnums=(0, 1))(x, y)
    assert np.array_equal(a, 2 * np.asarray(b))
    x = made(100)
    for _ in range(100):  # each call while those before may still be at work
        x = step(x, x * 0 + 1)
    assert np.array_equal(x, np.arange(1.0, 101) + 200)


def memories():
    """Arrays in the host's memory that the device reads: as arguments, as results, and between."""
    here, host = (jax.sharding.SingleDeviceSharding(HERE, memory_kind=kind) for kind in ("device", "pinned_host"))
    kinds = [memory.kind for memory in HERE.addressable_memories()]
    assert kinds[:2] == ["device", "pinned_host"] and HERE.default_memory().kind == "device"
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    for value in x, x.astype(np.int8), x[:0], np.float32(3), jnp.asarray(x).astype(jnp.int4):
        away = jax.device_put(jax.device_put(value, HERE), host)
        back = jax.device_put(away, here)
        assert away.sharding == host and back.sharding == here and away.dtype == value.dtype
        assert np.array_equal(away, np.asarray(value)) and np.array_equal(back, np.asarray(value))
    both = jax.jit(lambda a, b: (jax.device_put(a, here) + b, a, jax.device_put(a, here)), out_shardings=(host, host, here))
    results = both(jax.device_put(x, host), jax.device_put(x, here))
    assert [r.sharding.memory_kind for r in results] == ["pinned_host", "pinned_host", "device"]
    for result, wanted in zip(results, (2 * x, x, x)):
        assert np.array_equal(result, wanted)
    compiled = both.lower(jax.device_put(x, host), x).compile()
    assert compiled.runtime_executable().get_output_memory_kinds() == [["pinned_host", "pinned_host", "device"]]
    again = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled))
    assert again(jax.device_put(x, host), x)[0].sharding.memory_kind == "pinned_host"
    step = jax.jit(lambda w, g: jax.device_put(w, here) - g, donate_argnums=0, out_shardings=here)
    given = jax.device_put(x, host)
    assert np.array_equal(step(given, 2 * x), -x) and given.is_deleted()
    raises(ValueError, "pinned_host", lambda: jax.sharding.SingleDeviceSharding(HERE, memory_kind="hbm"))


def place_of_host(array):
    return array.ctypes.data


def factorizations_of_any_size():
    """What JAX has for CPUs alone where sizes are symbolic."""
    specs = export.symbolic_args_specs((np.zeros((2, 3), np.float32),), "m, n")
    factor = export.export(jax.jit(lax.linalg.lu))(*specs)
    for shape in (5, 4), (3, 6), (1, 1):
        x = np.random.default_rng(7).normal(size=shape).astype(np.float32)
        lu, pivots, order = map(np.asarray, factor.call(x))
        few, whole = min(shape), np.tril(lu, -1) + np.eye(*shape, dtype=np.float32)
        np.testing.assert_allclose(whole[:, :few] @ np.triu(lu)[:few], x[order], rtol=1e-4, atol=1e-5)
        assert pivots.shape == (few,)


def factorizations_of_what_is_not_finite():
    x = np.stack([np.full((3, 3), np.inf), np.diag([1.0, 2, 3]), np.full((3, 3), np.nan)]).astype(np.float32)
    for kind in np.float32, np.complex64:
        values = np.asarray(jnp.linalg.eigvals(x.astype(kind)))
        assert np.isnan(values[[0, 2]]).all() and np.array_equal(np.sort(values[1]), [1, 2, 3])


def sinks():
    def f(x):
        lax.dce_sink(x + 1, prevent_mlir_dce=True)
        return x * 2

    compiled = jax.jit(f).lower(3.0).compile()
    assert "dce_sink" in compiled.as_text() and compiled(3.0) == 6


def approximate_largest():
    x = np.random.default_rng(3).permutation(4096).astype(np.float32)
    for k, to_k in (8, True), (8, False):
        values, places = jax.jit(lambda x: lax.approx_max_k(x, k, recall_target=0.5, aggregate_to_topk=to_k))(x)
        wanted = jax.eval_shape(lambda x: lax.approx_max_k(x, k, recall_target=0.5, aggregate_to_topk=to_k), x)[0]
        assert values.shape == wanted.shape and (to_k or values.size > k)
        assert np.array_equal(np.asarray(values), np.sort(x)[::-1][:values.size]) and np.array_equal(values, x[places])


def factorizations_stay_orthogonal():
    """Thousands of turns leave the vectors of f32 as near to orthogonal as LAPACK's, and the values as near."""
    x = np.random.default_rng(5).normal(size=(97, 97)).astype(np.float32) * 3
    hermitian, one = (x + x.T) / 2, np.eye(97)
    values, vectors = map(np.asarray, jax.jit(jnp.linalg.eigh)(hermitian))
    assert np.linalg.norm(vectors.T @ vectors - one) < 3e-5
    assert np.linalg.norm(hermitian @ vectors - vectors * values) < 1e-3
    np.testing.assert_allclose(values, np.linalg.eigvalsh(hermitian.astype(np.float64)), atol=1e-4)
    u, s, vt = map(np.asarray, jax.jit(jnp.linalg.svd)(x))
    assert np.linalg.norm(u.T @ u - one) < 3e-5 and np.linalg.norm(vt @ vt.T - one) < 3e-5
    assert np.linalg.norm((u * s) @ vt - x) < 1e-3


def main():
    cases = [pure_callbacks, callbacks_use_the_device, sparse_solver, compilation_cache, callbacks_in_loops, callbacks_say_where, callbacks_fail, callbacks_end,
             foreign_functions, tokens, compile_options, dumps, executables, donation, donation_in_place,
             updates_in_place, donation_elsewhere, memories, factorizations_stay_orthogonal, factorizations_of_any_size,
             factorizations_of_what_is_not_finite, sinks, approximate_largest]
    cases += [capsules] if dlpack._capsule else []
    wanted, failed = sys.argv[1:], 0
    assert set(wanted) <= {case.__name__ for case in cases}, wanted
    cases = [case for case in cases if not wanted or case.__name__ in wanted]
    for case in cases:
        try:
            case()
        except Exception:  # noqa: BLE001  every failure is a case's
            failed += 1
            print(f"FAILED {case.__name__}: {traceback.format_exc()}")
    print(f"{len(cases) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
