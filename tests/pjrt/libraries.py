"""Programs of libraries that stand on JAX, here and on JAX's own CPU: the results must be the same.

    pip install -r build_tools/requirements-jax-libraries.txt
    JAX_PLATFORMS=iree,cpu PYTHONPATH=build/jax python tests/pjrt/libraries.py [NAME...]

Networks and their training (flax, haiku, equinox, optax), differential equations (diffrax), linear systems (lineax), fits
(optimistix, jaxopt), sampling and distributions (numpyro), sparse and signal functions of JAX. A program whose library is
not installed is left out, by name.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np

PROGRAMS = {}


def program(tolerance=1e-4):
    """Registers a function without arguments whose results are arrays, equal up to that share of the largest."""
    def register(function):
        PROGRAMS[function.__name__] = function, tolerance
        return function
    return register


def normal(seed, *shape):
    return jax.random.normal(jax.random.key(seed), shape)


@program()
def oscillator():
    import diffrax
    slope = lambda t, y, a: jnp.stack([a * y[1], -a * y[0] + 0.1 * (1 - y[0] ** 2) * y[1]])
    return diffrax.diffeqsolve(diffrax.ODETerm(slope), diffrax.Tsit5(), 0.0, 3.0, 0.05, jnp.array([1.0, 0.0]), args=1.3,
                               stepsize_controller=diffrax.PIDController(1e-5, 1e-6),
                               saveat=diffrax.SaveAt(ts=jnp.linspace(0, 3, 7))).ys


@program()
def stiff_reactions():
    import diffrax

    def slope(t, y, args):
        a, b, c = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
        return jnp.stack([b - a, a - b - c, c])
    return diffrax.diffeqsolve(diffrax.ODETerm(slope), diffrax.Kvaerno5(), 0.0, 10.0, 1e-4, jnp.array([1.0, 0.0, 0.0]),
                               stepsize_controller=diffrax.PIDController(1e-4, 1e-5), max_steps=4096).ys


@program()
def gradient_of_a_solution():
    import diffrax

    def loss(rate):
        solution = diffrax.diffeqsolve(diffrax.ODETerm(lambda t, y, a: -a * y), diffrax.Dopri5(), 0.0, 1.0, 0.1,
                                       jnp.ones(3), args=rate)
        return (solution.ys ** 2).sum()
    return jax.grad(loss)(0.7)


@program()
def equinox_training():
    import equinox
    import optax
    model = equinox.nn.MLP(4, 2, 16, 3, key=jax.random.key(0))
    optimizer = optax.adamw(1e-2)
    state = optimizer.init(equinox.filter(model, equinox.is_array))
    x = normal(1, 32, 4)
    wanted = jnp.stack([x.sum(1), x.prod(1)], 1)

    @equinox.filter_jit
    def step(model, state):
        loss, slope = equinox.filter_value_and_grad(lambda m: ((jax.vmap(m)(x) - wanted) ** 2).mean())(model)
        update, state = optimizer.update(slope, state, equinox.filter(model, equinox.is_array))
        return equinox.apply_updates(model, update), state, loss
    for _ in range(20):
        model, state, loss = step(model, state)
    return loss


@program()
def flax_image_training():
    import optax
    from flax import nnx

    class Net(nnx.Module):
        def __init__(self, rngs):
            self.first = nnx.Conv(1, 8, (3, 3), rngs=rngs)
            self.norm = nnx.BatchNorm(8, rngs=rngs)
            self.second = nnx.Conv(8, 16, (3, 3), strides=2, rngs=rngs)
            self.drop = nnx.Dropout(0.25, rngs=rngs)
            self.last = nnx.Linear(16 * 7 * 7, 10, rngs=rngs)

        def __call__(self, x):
            x = nnx.avg_pool(nnx.relu(self.norm(self.first(x))), (2, 2), (2, 2))
            x = nnx.gelu(self.second(x))
            return self.last(self.drop(x.reshape(x.shape[0], -1)))
    model = Net(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
    x, labels = normal(2, 8, 28, 28, 1), jnp.arange(8)

    @nnx.jit
    def step(model, optimizer):
        mean = lambda m: optax.softmax_cross_entropy_with_integer_labels(m(x), labels).mean()
        loss, slope = nnx.value_and_grad(mean)(model)
        optimizer.update(model, slope)
        return loss
    return jnp.stack([step(model, optimizer) for _ in range(5)])


@program()
def flax_recurrent_attention():
    from flax import linen

    class Net(linen.Module):
        @linen.compact
        def __call__(self, x):
            x = linen.RNN(linen.LSTMCell(12))(x)
            x = linen.LayerNorm()(linen.MultiHeadDotProductAttention(num_heads=3)(x, x))
            return linen.Dense(3)(linen.RNN(linen.GRUCell(5), reverse=True)(x))
    x, net = normal(0, 2, 9, 7), Net()
    weights = net.init(jax.random.key(1), x)
    slope = jax.jit(jax.grad(lambda w: net.apply(w, x).sum()))(weights)
    return slope["params"]["Dense_0"]["kernel"], net.apply(weights, x)


@program(tolerance=1e-3)
def haiku_resnet():
    import haiku
    net = haiku.transform_with_state(lambda x: haiku.nets.ResNet18(10)(x, True))
    x = normal(0, 2, 32, 32, 3)
    weights, state = net.init(jax.random.key(1), x)
    return jax.jit(net.apply)(weights, state, None, x)[0]


# Chains part after many steps, by the last bit of a result: means of samples are near each other.
@program(tolerance=0.02)
def posterior():
    import numpyro
    from numpyro import distributions
    numbers = np.random.default_rng(0)
    x = numbers.normal(size=(50, 3)).astype(np.float32)
    seen = (x @ np.float32([1, -2, 0.5]) + 0.1 * numbers.normal(size=50)).astype(np.float32)

    def model():
        slope = numpyro.sample("slope", distributions.Normal(0, 2).expand([3]))
        spread = numpyro.sample("spread", distributions.HalfNormal(1.0))
        numpyro.sample("seen", distributions.Normal(x @ slope, spread), obs=seen)
    chain = numpyro.infer.MCMC(numpyro.infer.NUTS(model), num_warmup=60, num_samples=60, progress_bar=False)
    chain.run(jax.random.key(0))
    return chain.get_samples()["slope"].mean(0)


@program()
def samples_of_distributions():
    from numpyro import distributions as d
    rows = [d.Gamma(2.0, 3.0), d.Beta(2.0, 5.0), d.StudentT(4.0), d.Dirichlet(jnp.array([1.0, 2, 3])), d.Poisson(4.0),
            d.Binomial(10, probs=0.3), d.VonMises(0.0, 2.0), d.LKJCholesky(3), d.Weibull(1.0, 2.0),
            d.Multinomial(10, jnp.array([0.2, 0.3, 0.5])), d.NegativeBinomial2(3.0, 2.0),
            d.MultivariateNormal(jnp.zeros(2), jnp.array([[1.0, 0.3], [0.3, 2.0]]))]
    drawn = [row.sample(jax.random.key(3), (5,)) for row in rows]
    return drawn, [row.log_prob(x) for row, x in zip(rows, drawn)]


@program(tolerance=1e-3)
def linear_solvers():
    import lineax
    a = normal(0, 6, 6)
    system = lineax.MatrixLinearOperator(a @ a.T + jnp.eye(6), lineax.positive_semidefinite_tag)
    solvers = (lineax.CG(1e-5, 1e-5), lineax.Cholesky(), lineax.LU(), lineax.QR(), lineax.SVD(),
               lineax.GMRES(1e-5, 1e-5))
    return [lineax.linear_solve(system, jnp.arange(6.0), solver).value for solver in solvers]


@program(tolerance=1e-3)
def fits():
    import optimistix
    t = jnp.linspace(0, 1, 20)
    error = lambda p, args: p[0] * jnp.exp(-p[1] * t) - 3 * jnp.exp(-2 * t)
    return (optimistix.least_squares(error, optimistix.LevenbergMarquardt(1e-5, 1e-5), jnp.ones(2)).value,
            optimistix.minimise(lambda p, args: ((p - 2) ** 2).sum(), optimistix.BFGS(1e-5, 1e-5), jnp.zeros(3)).value)


@program(tolerance=1e-2)
def valley():
    import jaxopt
    return jaxopt.LBFGS(lambda x: (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2, maxiter=60).run(
        jnp.array([-1.0, 1.0])).params


@program()
def transport():
    cost = jax.random.uniform(jax.random.key(0), (7, 9))

    def round(i, potentials):
        rows = -0.1 * jax.nn.logsumexp((potentials[1] - cost) / 0.1, axis=1)
        return rows, -0.1 * jax.nn.logsumexp((rows[:, None] - cost) / 0.1, axis=0)
    return jax.lax.fori_loop(0, 50, round, (jnp.zeros(7), jnp.zeros(9)))


@program(tolerance=1e-3)
def matrices():
    a = normal(5, 3, 5, 5)
    return (jnp.linalg.eigvalsh(a @ a.mT), jnp.linalg.det(a), jnp.linalg.inv(a), jnp.linalg.slogdet(a)[1],
            jax.scipy.linalg.expm(a[0] * 0.3), jnp.linalg.pinv(a[:, :3]), jnp.linalg.matrix_rank(a),
            jax.scipy.linalg.solve_triangular(a[0], jnp.ones(5)), jnp.linalg.lstsq(a[0, :, :3], jnp.ones(5))[0])


@program()
def signals():
    x = normal(7, 2, 64)
    return (jax.scipy.signal.convolve(x[0], x[1]), jax.scipy.signal.stft(x, nperseg=16)[2], jnp.fft.rfft2(x),
            jax.scipy.signal.welch(x, nperseg=32)[1], jnp.histogram(x[0], 8)[0], jnp.median(x, 1),
            jnp.interp(jnp.linspace(0, 1, 5), jnp.linspace(0, 1, 64), x[0]), jnp.percentile(x, jnp.array([10.0, 90.0])))


@program()
def sparse_products():
    from jax.experimental import sparse
    dense = jnp.where(jax.random.uniform(jax.random.key(0), (8, 8)) > 0.6, 1.5, 0.0)
    product = sparse.bcoo_dot_general(sparse.BCOO.fromdense(dense, nse=40), jnp.eye(8),
                                      dimension_numbers=(([1], [0]), ([], [])))
    return product, sparse.CSR.fromdense(dense) @ jnp.ones(8)


def run(function, platform):
    with jax.default_device(jax.devices(platform)[0]):
        return [np.asarray(leaf) for leaf in jax.tree.leaves(function())]


def complaint(have, want, tolerance):
    if len(have) != len(want):
        return f"{len(have)} results, {len(want)} on JAX's CPU"
    for i, (x, y) in enumerate(zip(have, want)):
        if (x.shape, x.dtype) != (y.shape, y.dtype):
            return f"result {i} is {x.dtype}{x.shape}, on JAX's CPU {y.dtype}{y.shape}"
        if not np.array_equal(np.isnan(x), np.isnan(y)):
            return f"result {i} has NaN elsewhere than JAX's CPU"
        if x.size:
            error = np.nanmax(np.abs(x - y)) / max(float(np.nanmax(np.abs(y))), 1e-9)
            if error > tolerance:
                return f"result {i} differs by {error:.1e} of the largest"
    return None


def attempt(name):
    """None when it passed; else what is wrong, and whether only a library is missing."""
    function, tolerance = PROGRAMS[name]
    try:
        wrong = complaint(run(function, "iree"), run(function, "cpu"), tolerance)
    except ModuleNotFoundError as error:
        return f"left out: {error.name} is not installed", True
    except Exception as error:  # whatever a library raises is this program's failure, not the end of the others
        wrong = f"{type(error).__name__}: {str(error)[:300]}"
    return wrong and (wrong, False)


def main():
    passed = failed = 0
    for name in sys.argv[1:] or PROGRAMS:
        problem = attempt(name)
        passed += problem is None
        failed += problem is not None and not problem[1]
        if problem:
            print(f"{'' if problem[1] else 'FAILED '}{name}: {problem[0]}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
