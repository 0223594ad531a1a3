"""A call of every primitive that has rules, with small arguments of the kind users give; see ``primitives``.

A case is named by its path below ``fastgrad``, which is also the path of NumPy's or SciPy's own function. One variable
is differentiated; it stands wherever `Traced` stands among the arguments, at any depth of lists and tuples.
"""

import importlib
from functools import partial

import numpy

import fastgrad.numpy  # noqa: F401  Paths are looked up from here.
import fastgrad.scipy  # noqa: F401
from fastgrad import builtins
from fastgrad.core import SparseObject, VJPNode, make_vjp, vspace
from fastgrad.tracer import new_box


class Traced:
    """Stands for the variable of a case among its arguments."""

    def __init__(self, value):
        self.value = value


def look_up(path):
    """Return the object at a dotted path that begins with a module; None if there is none."""
    module, *names = path.split(".")
    found = importlib.import_module(module)
    for name in names:
        # fastgrad.numpy also gives the names that NumPy dropped, but does not list them.
        found = getattr(found, name) if name in dir(found) else None
    return found


def _leaves(tree):
    if isinstance(tree, (list, tuple)):
        return [leaf for item in tree for leaf in _leaves(item)]
    return [tree]


def _fill(tree, value):
    if isinstance(tree, Traced):
        return value
    if isinstance(tree, (list, tuple)) and any(isinstance(leaf, Traced) for leaf in _leaves(tree)):
        return type(tree)([_fill(item, value) for item in tree])
    return tree


class Case:
    """One call.

    Parameters
    ----------
    path : str
        Where the function is in ``fastgrad``, and in the package of that name itself.
    args : tuple
        Its arguments, `Traced` among them.
    kwargs : dict
        Constant keywords.
    label : str
        Tells apart cases of one function.
    fun : callable, optional
        What to call instead of what is found at `path`, which then only names the case; NumPy has no counterpart.
    part : int, optional
        Which item of the answer to differentiate, where not all have derivatives.
    order : {1, 2}
        1 if a second derivative is no function of the variable, or the answer no vector.
    """

    def __init__(self, path, args, kwargs, label="", fun=None, part=None, order=2):
        self.path, self.args, self.kwargs = path, args, kwargs
        self.fun, self.part, self.order = fun, part, order
        self.name = f"{path} {label}".rstrip()
        self.value = next(leaf.value for leaf in _leaves(args) if isinstance(leaf, Traced))

    @property
    def function(self):
        """callable : fastgrad's function, None if there is none."""
        return self.fun or look_up(f"fastgrad.{self.path}")

    @property
    def original(self):
        """callable : NumPy's or SciPy's own function, None if they have none."""
        return look_up(self.path) if self.fun is None and self.path.startswith(("numpy.", "scipy.")) else None

    @property
    def modes(self):
        """list of str : the methods that give what can be timed of this call."""
        raw = ["raw"] if self.original is not None else []
        return [*raw, "unboxed", "boxed", "backward", *(["second_order"] if self.order == 2 else [])]

    def bind(self, function, value):
        """Return the call of a function with the variable at a value, to be called without arguments."""
        return partial(function, *_fill(self.args, value), **self.kwargs)

    def raw(self):
        """Return the call of the original function."""
        return self.bind(self.original, self.value)

    def unboxed(self):
        """Return the call of fastgrad's function on plain values."""
        return self.bind(self.function, self.value)

    def boxed(self):
        """Return the call that records a node in reverse mode, outside any trace."""
        return self.bind(self.function, new_box(self.value, 0, VJPNode.new_root()))

    def backward(self):
        """Return a call that pulls a cotangent back through the recorded graph, most often one node."""
        pull, answer = make_vjp(self, self.value)
        return partial(pull, vspace(answer).ones())

    def second_order(self):
        """Return the product of a vector and the Hessian of half the square of the answer, all from the start.

        So the cotangent is the answer itself, and a linear function has derivatives of second order too.
        """
        direction = vspace(self.value).ones()

        def pulled(x):
            pull, answer = make_vjp(self, x)
            return pull(answer)

        def call():
            pull, _ = make_vjp(pulled, self.value)
            return pull(direction)

        return call

    def __call__(self, x):
        answer = self.bind(self.function, x)()
        return answer if self.part is None else answer[self.part]


def case(path, *args, label="", fun=None, part=None, order=2, **kwargs):
    """Return a `Case`; further keywords are those of its function."""
    return Case(path, args, kwargs, label, fun, part, order)


def each(prefix, names, *args, **kwargs):
    """Return a case of each of several functions with the same arguments."""
    return [case(prefix + name, *args, **kwargs) for name in names.split()]


np_, linalg, fft, special, slinalg = "numpy.", "numpy.linalg.", "numpy.fft.", "scipy.special.", "scipy.linalg."

VECTOR = numpy.linspace(0.1, 0.9, 10)
MATRIX = numpy.array([[4.0, 1.0, 0.5, 0.2], [1.0, 3.0, 0.4, 0.1], [0.5, 0.4, 2.0, 0.3], [0.2, 0.1, 0.3, 1.0]])
COLUMN = numpy.linspace(-1.0, 1.0, 4)
ORDER = numpy.array([3, 1, 4, 0, 9, 2, 6, 5, 8, 7])
MASK = ORDER > 4

x, scalar = Traced(VECTOR), Traced(0.5)
above_1 = Traced(VECTOR + 1.0)
shuffled = Traced(VECTOR[ORDER])
triple = Traced(VECTOR[:3])
z = Traced(VECTOR + 0.5j)
a, stack = Traced(MATRIX), Traced(numpy.linspace(0.1, 0.9, 16).reshape(2, 2, 4))

ELEMENTWISE = [
    *each(np_, "absolute angle arcsin arcsinh arctan arctanh cbrt cos cosh deg2rad degrees exp exp2 expm1 fabs", x),
    *each(np_, "log log10 log1p log2 nan_to_num negative positive rad2deg radians reciprocal sin sinc sinh", x),
    *each(np_, "sqrt square tan tanh", x),
    case("numpy.arccos", x),
    case("numpy.arccosh", above_1),
    *each(np_, "conjugate imag real real_if_close", z),
    *each(np_, "add subtract multiply divide power float_power arctan2 hypot logaddexp logaddexp2", x, x),
    *each(np_, "maximum minimum fmax fmin copysign fmod remainder", x, VECTOR[::-1].copy()),
    case("numpy.heaviside", x, 0.5, order=1),
    case("numpy.ldexp", x, 2),
    case("numpy.clip", x, 0.3, 0.7),
    case("numpy.where", MASK, x, 0.0),
]

REDUCTIONS = [
    *each(np_, "sum prod mean var std cumsum cumprod cumulative_sum cumulative_prod max min amax amin ptp", x),
    *each(np_, "nansum nanprod nanmean nanvar nanstd nanmax nanmin nancumsum nancumprod median average", x),
    case("numpy.sum", a, label="by rows", axis=1),
    case("numpy.quantile", x, 0.3),
    case("numpy.percentile", x, 30),
    *each(np_, "trapezoid trapz", x),
    case("numpy.bincount", ORDER % 4, x),
    *each(np_, "cov corrcoef", a),
]

SHAPES = [
    *each(np_, "array asarray asanyarray ascontiguousarray asfortranarray copy ravel squeeze", x),
    *each(np_, "atleast_1d atleast_2d atleast_3d flip flipud diag diagflat make_diagonal broadcast_arrays", x),
    *each(np_, "diagonal fliplr matrix_transpose rot90 trace transpose tril triu", a),
    case("numpy.array", [[scalar, 1.0], [scalar, 2.0]], label="of scalars"),
    case("numpy.array", [x, VECTOR], label="of vectors"),
    case("numpy.full", 10, scalar),
    case("numpy.full_like", VECTOR, scalar),
    case("numpy.reshape", x, (2, 5)),
    case("numpy.resize", x, (4, 5)),
    case("numpy.expand_dims", x, 0),
    case("numpy.broadcast_to", x, (4, 10)),
    *each(np_, "swapaxes moveaxis", a, 0, 1),
    case("numpy.rollaxis", a, 1),
    case("numpy.roll", x, 1),
    *each(np_, "repeat tile", x, 2),
    case("numpy.pad", x, 2),
    *each(np_, "array_split split hsplit", x, 2),
    case("numpy.vsplit", a, 2),
    case("numpy.dsplit", stack, 2),
    case("numpy.unstack", a),
    case("numpy.meshgrid", x, x),
    case("numpy.linspace", scalar, 1.0, 10),
    case("numpy.logspace", scalar, 1.0, 10),
    case("numpy.geomspace", scalar, 1.0, 10),
]

JOINING_AND_TAKING = [
    *each(np_, "concatenate stack vstack hstack", [x, VECTOR]),
    case("numpy.append", x, VECTOR),
    case("numpy.insert", x, 1, 0.5),
    case("numpy.delete", x, 1),
    *each(np_, "compress extract", MASK, x),
    case("numpy.take", x, ORDER),
    case("numpy.take_along_axis", x, ORDER, 0),
    case("numpy.choose", numpy.arange(10) % 2, [x, x]),
    *each(np_, "sort msort", shuffled),
    case("numpy.partition", shuffled, 4),
    case("numpy.getitem", x, 3, label="at an integer"),
    case("numpy.getitem", x, slice(2, 5), label="at a slice"),
    case("numpy.getitem", x, ORDER, label="at integers"),
    case("numpy.ndarray.astype", x, fun=lambda array: array.astype("float32")),
]

COMPOSED = [
    *each(np_, "diff ediff1d gradient unwrap polyder polyint vander", x),
    *each(np_, "polyadd polysub convolve correlate", x, x),
    case("numpy.polyval", x, 0.5),
    case("numpy.interp", x, VECTOR, x),
    case("numpy.cross", triple, triple),
]

CONTRACTIONS = [
    *each(np_, "dot inner outer vdot kron vecdot", x, x),
    *each(np_, "dot matmul inner", a, a, label="of matrices"),
    case("numpy.dot", a, COLUMN, label="of a matrix and a constant vector"),
    case("numpy.tensordot", a, a, 1),
    case("numpy.einsum", "ij,jk->ik", a, a),
    case("numpy.matvec", a, COLUMN),
    case("numpy.vecmat", COLUMN, a),
]

LINALG = [
    *each(linalg, "cholesky det eig eigh eigvals eigvalsh inv matrix_norm norm pinv qr slogdet svd svdvals", a),
    case("numpy.linalg.solve", a, a),
    case("numpy.linalg.solve", a, COLUMN, label="of a constant vector"),
    case("numpy.linalg.lstsq", a, COLUMN, rcond=None, part=0),
    case("numpy.linalg.matrix_power", a, 3),
    case("numpy.linalg.multi_dot", [a, a, a]),
    case("numpy.linalg.vecdot", x, x),
    case("numpy.linalg.vector_norm", x),
]

FFT = [
    *each(fft, "fft ifft fftn ifftn rfft rfftn ihfft fftshift ifftshift", x),
    *each(fft, "irfft irfftn hfft", z),
    *each(fft, "fft2 ifft2 rfft2 irfft2", a),
]

SPECIAL = [
    *each(special, "gamma gammaln loggamma rgamma psi", x),
    case("scipy.special.gammasgn", x, order=1),
    *each(special, "j0 j1 y0 y1 i0 i1 i0e i1e k0 k1 k0e k1e", x),
    *each(special, "erf erfc erfcx erfi erfinv erfcinv dawsn ndtr ndtri log_ndtr", x),
    *each(special, "cbrt cosm1 exp2 exp10 expm1 log1p entr exp1 expi", x),
    *each(special, "expit logit log_expit logsumexp softmax log_softmax", x),
    *each(special, "beta betaln xlogy xlog1py rel_entr kl_div owens_t", x, x),
    case("scipy.special.wofz", z),
    *each(special, "jv yv iv ive kv kve", 1.5, x),
    *each(special, "hankel1 hankel2", 1.5, z),
    *each(special, "yn kn polygamma", 1, x),
    case("scipy.special.expn", 2, x),
    case("scipy.special.multigammaln", above_1, 2),
    *each(special, "gammainc gammaincc gammaincinv gammainccinv", 1.5, x),
    *each(special, "betainc betaincc betaincinv", 1.5, 2.5, x),
    case("scipy.special.gammainc", x, VECTOR, label="in the parameter"),
    case("scipy.special.betainc", x, 2.5, VECTOR, label="in a parameter"),
]

DENSITIES, CUMULATIVE = "pdf logpdf", "cdf sf logcdf logsf"
SHAPE_PARAMETERS = {"norm": (), "t": (3.0,), "gamma": (1.7,), "chi2": (3.0,), "beta": (1.7, 2.5)}
COUNTS, SHARES = numpy.arange(10), numpy.array([0.2, 0.5, 0.3])
POINTS = numpy.linspace(-1.0, 1.0, 20).reshape(5, 4)
STATS = [
    *[
        row
        for law, parameters in SHAPE_PARAMETERS.items()
        for row in each(f"scipy.stats.{law}.", f"{DENSITIES} {CUMULATIVE}", x, *parameters)
    ],
    case("scipy.stats.norm.logpdf", VECTOR, x, x, label="in location and scale"),
    case("scipy.stats.gamma.logpdf", VECTOR, x, label="in the parameter"),
    case("scipy.stats.gamma.cdf", VECTOR, x, label="in the parameter"),
    *each("scipy.stats.poisson.", "pmf logpmf cdf sf", COUNTS, x),
    *each("scipy.stats.dirichlet.", DENSITIES, SHARES, triple),
    *each("scipy.stats.multivariate_normal.", DENSITIES, POINTS, COLUMN, a),
    case("scipy.stats.multivariate_normal.entropy", COLUMN, a),
]

BANDS = numpy.vstack([numpy.full(10, 0.3), numpy.full(10, 2.0), numpy.full(10, 0.4)])
SCIPY_LINALG = [
    *each(slinalg, "cholesky coshm cosm det expm inv logm norm sinhm sinm sqrtm tanhm tanm", a),
    *each(slinalg, "block_diag solve solve_triangular solve_continuous_lyapunov", a, a),
    case("scipy.linalg.solve_sylvester", a, a, a),
    case("scipy.linalg.solve_banded", (1, 1), Traced(BANDS), VECTOR),
    case("scipy.signal.convolve", x, x),
    case("scipy.integrate.odeint", lambda y, t: -y, triple, numpy.linspace(0.0, 1.0, 5)),
]

parameters = Traced({"weights": VECTOR, "bias": 0.5})
pair = Traced((VECTOR, 0.5))
CONTAINERS = [
    case("builtins.container_take", parameters, "weights"),
    case("builtins.tuple", (x, x)),
    case("builtins.list", [x, x]),
    case("builtins.dict", x, fun=lambda x: builtins.dict(weights=x, bias=x)),
    case("builtins.sequence_extend_right", pair, x.value),
    case("builtins.sequence_extend_left", pair, x.value),
]

SPACE = vspace(VECTOR)
# What rules are made of: users call none of these, a derivative of second order may call any.
PARTS_OF_RULES = [
    *each("core.VSpace.", "add inner_prod", SPACE, x, x),
    case("core.VSpace.mut_add", SPACE, None, x),
    case("core.VSpace.scalar_mul", SPACE, x, 0.5),
    case("core.VSpace.covector", SPACE, x),
    case("core.sparse_add", SPACE, x, SparseObject(SPACE, lambda array: array)),
    case("builtins.container_untake", x, 0, vspace(pair.value), order=1),
    case("builtins._assemble", vspace(pair.value), x, scalar),
    case("numpy.rules.indexing.untake", x, slice(0, 10), SPACE, order=1),
    case("numpy.rules.reductions.repeat_reduced", scalar, SPACE),
    case("numpy.rules.shapes.undiagonal", x, (10, 10)),
    case("numpy.rules.sorting.permute", x, ORDER, 0),
]

#: Primitives with rules and without a case of their own, by name, with the reason.
EXEMPT = {"partial_mean": "the pullback of scipy.special.gammainc in the parameter, measured there"}

CASES = {
    row.name: row
    for row in [
        *ELEMENTWISE,
        *REDUCTIONS,
        *SHAPES,
        *JOINING_AND_TAKING,
        *COMPOSED,
        *CONTRACTIONS,
        *LINALG,
        *FFT,
        *SPECIAL,
        *STATS,
        *SCIPY_LINALG,
        *CONTAINERS,
        *PARTS_OF_RULES,
    ]
    if row.function is not None  # not every NumPy and SciPy has all of these
}
