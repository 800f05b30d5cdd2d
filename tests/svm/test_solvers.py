"""Solvers against each other, with every part of the machinery for large problems forced into play."""

import numpy as np
import pytest
from scipy import sparse

from recuse import Costs
from recuse.svm import loops, losses
from recuse.svm.kernels import Kernel
from recuse.svm.qp import blocks
from recuse.svm.qp import problem as qp
from recuse.svm.qp.active_set import solve_active_set
from recuse.svm.qp.convergence import finish
from recuse.svm.qp.interior_point import solve_linear
from recuse.svm.qp.smo import solve_smo
from recuse.svm.qp.solvers import SOLVERS
from recuse.svm.qp.spaces import pivoted_factor
from recuse.svm.rows import MatrixRows, VectorRows, gaussian_scores, kernel_source

KERNELS = [
    Kernel("rbf", 0.3),
    Kernel("linear"),
    Kernel("poly", 0.2, 2, 1.0),
    Kernel("sigmoid", 0.01, 3, 0.0),
    Kernel(lambda X, Z: np.exp(-np.abs(np.asarray(X)[:, None] - np.asarray(Z)[None]).sum(axis=2))),
]
CACHE = 2**26


def problem_of(n=300, d=4, C=1.0, costs=None, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], n)
    X = rng.normal(size=(n, d)) + offset
    X[:, 0] += 0.8 * y
    hinges = losses.double_hinge(costs or Costs(fp=1, fn=3, reject=0.3))
    return X, qp.from_hinges(hinges, y, np.full(n, C))


def whole(X, kernel):
    return MatrixRows(np.ascontiguousarray(kernel(X, X)))


@pytest.fixture
def tiny_blocks(monkeypatch):
    """Blocks of a few variables and early shrinking, so that small problems take every branch."""
    monkeypatch.setattr(blocks, "_SMALLEST_BLOCK", 16)
    kept = []
    original = blocks._Run.restore

    def restore(self):
        kept.append(len(self._b))
        original(self)

    monkeypatch.setattr(blocks._Run, "restore", restore)
    return kept


@pytest.mark.parametrize(
    ("kernel", "form"),
    [(kernel, np.asarray) for kernel in KERNELS] + [(kernel, sparse.csr_matrix) for kernel in KERNELS[:4]],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_with_a_cache_of_a_few_rows_reach_the_optimum(tiny_blocks, kernel, dtype, form):
    X, problem = problem_of()
    best = solve_active_set(problem, whole(X, kernel), tol=1e-9, max_iter=-1)
    rows = VectorRows(form(X), kernel, budget=20 * len(X) * np.dtype(dtype).itemsize, dtype=dtype)
    done = blocks.solve_blocks(problem, rows, np.zeros(300), np.zeros(300), tol=1e-4, max_iter=10**7, largest_block=32)
    # Nothing the solver says is believed: scores and violation are recomputed in double precision.
    facts = qp.certify(problem, done.beta, kernel(X, X) @ done.beta)
    assert facts.violation <= 1.05e-4
    assert abs(done.beta.sum()) < 1e-9 * np.abs(done.beta).sum()
    assert facts.primal == pytest.approx(best.objective, rel=1e-5)


@pytest.mark.parametrize("source", ["matrix", "vectors"])
def test_shrinking_happens_and_does_no_harm(tiny_blocks, source):
    X, problem = problem_of(n=500, C=30.0)
    kernel = Kernel("rbf", 0.3)
    rows = whole(X, kernel) if source == "matrix" else VectorRows(X, kernel, budget=2**20, dtype=np.float64)
    done = blocks.solve_blocks(problem, rows, np.zeros(500), np.zeros(500), tol=1e-6, max_iter=10**8, largest_block=64)
    assert tiny_blocks
    assert min(tiny_blocks) < 500
    facts = qp.certify(problem, done.beta, kernel(X, X) @ done.beta)
    assert facts.violation <= 1.1e-6
    assert facts.gap <= 1e-5 * facts.primal


def test_drift_of_single_precision_is_found_and_corrected(tiny_blocks):
    """Far from the origin a linear kernel has six digits that do not matter and one that does."""
    X, problem = problem_of(offset=300.0, C=0.01)
    kernel = Kernel("linear")
    rows = VectorRows(X, kernel, budget=2**20, dtype=np.float32)
    done = blocks.solve_blocks(problem, rows, np.zeros(300), np.zeros(300), tol=1e-3, max_iter=10**6, largest_block=64)
    np.testing.assert_allclose(done.g, kernel(X, X) @ done.beta, atol=1e-8)
    assert done.violation <= 1e-3


@pytest.mark.parametrize("offset", [300.0, 1000.0, 3000.0])
def test_rows_too_coarse_for_the_task_become_double(tiny_blocks, offset):
    X, problem = problem_of(offset=offset, C=5.0)
    X[0] = 0.0  # columns with a zero are not centred
    kernel = Kernel("rbf", 0.5)
    rows = VectorRows(sparse.csr_matrix(X), kernel, budget=2**20, dtype=np.float32)
    assert rows.error() > 1e-5
    done = blocks.solve_blocks(problem, rows, np.zeros(300), np.zeros(300), tol=1e-3, max_iter=10**6, largest_block=64)
    facts = qp.certify(problem, done.beta, kernel(X - offset, X - offset) @ done.beta)
    assert done.violation <= 1e-3
    assert facts.violation == pytest.approx(done.violation, abs=1e-5)
    assert rows.dtype == np.float64


def test_the_limit_on_steps_leaves_exact_scores(tiny_blocks):
    X, problem = problem_of(C=100.0)
    kernel = Kernel("rbf", 0.5)
    X[0] = -1000.0  # columns with a zero are not centred
    rows = VectorRows(sparse.csr_matrix(X + 1000), kernel, budget=2**20, dtype=np.float32)
    done = blocks.solve_blocks(problem, rows, np.zeros(300), np.zeros(300), tol=1e-6, max_iter=500, largest_block=64)
    np.testing.assert_allclose(done.g, kernel(X, X) @ done.beta, atol=1e-5)
    assert done.violation == pytest.approx(qp.certify(problem, done.beta, done.g).violation)


def test_iteration_limit_is_a_fact_not_an_exception(tiny_blocks):
    X, problem = problem_of()
    for n_steps in (0, 5):
        for solver in SOLVERS.values():
            solution = solver(problem, whole(X, KERNELS[0]), tol=1e-6, max_iter=n_steps, cache_bytes=CACHE)
            assert not solution.converged
            assert solution.residual > 1e-6
            assert solution.n_iter <= n_steps
            assert solution.model.gap > 0


@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_every_solver_is_certified(solver):
    for seed, C in enumerate((1e-3, 1.0, 1e3)):
        X, problem = problem_of(n=120, C=C, seed=seed)
        solution = SOLVERS[solver](problem, whole(X, KERNELS[0]), tol=1e-6, max_iter=-1, cache_bytes=CACHE)
        facts = qp.certify(problem, solution.model.beta, KERNELS[0](X, X) @ solution.model.beta)
        assert solution.converged
        assert solution.residual <= 1e-6
        assert facts.violation == pytest.approx(solution.residual, abs=1e-10)
        assert facts.gap == pytest.approx(solution.model.gap, abs=1e-9 * facts.primal)


@pytest.mark.parametrize("solver", sorted(SOLVERS))
@pytest.mark.parametrize("factor", [0.2, 5.0])
def test_warm_starts_reach_the_same_point_sooner(solver, factor):
    X, problem = problem_of(n=400)
    rows = whole(X, KERNELS[0])
    settings = {"tol": 1e-6, "max_iter": -1, "cache_bytes": CACHE}
    first = SOLVERS[solver](problem, rows, **settings)
    other = problem.scaled(factor)
    cold = SOLVERS[solver](other, rows, **settings)
    warm = SOLVERS[solver](other, rows, start=factor * first.model.beta, **settings)
    assert warm.objective == pytest.approx(cold.objective, rel=1e-6)
    assert warm.n_iter < cold.n_iter


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
def test_linear_solver_in_the_features(form, C):
    for seed, costs in enumerate([Costs(reject=0.2), Costs(fp=1, fn=30, reject=0.5)]):
        X, problem = problem_of(n=800, d=6, C=C, costs=costs, seed=seed)
        best = solve_active_set(problem, whole(X, Kernel("linear")), tol=1e-8, max_iter=-1)
        solution = solve_linear(problem, form(X), tol=1e-3)
        beta = solution.model.beta
        facts = qp.certify(problem, beta, X @ (X.T @ beta))
        assert solution.converged
        assert facts.violation <= 1e-3
        assert facts.gap == pytest.approx(solution.model.gap, abs=1e-8 * facts.primal)
        assert ((beta >= problem.lower) & (beta <= problem.upper)).all()
        assert abs(beta.sum()) <= 1e-9 * np.abs(beta).sum()
        assert solution.objective == pytest.approx(best.objective, rel=1e-5)
        # A support vector expansion, not a cloud of tiny numbers: few cases are strictly inside a piece.
        free = (beta != problem.lower) & (beta != problem.kink) & (beta != problem.upper)
        assert free.sum() <= 40


def test_linear_solver_says_when_it_is_stopped():
    X, problem = problem_of(n=800)
    solution = solve_linear(problem, X, tol=1e-3, max_iter=2)
    assert not solution.converged
    assert solution.residual > 1e-3


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("kernel", KERNELS[:4], ids=lambda k: k.name)
def test_rows_from_the_cache_are_rows_of_the_kernel(form, kernel):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    K = kernel(X, X)
    rows = VectorRows(form(X), kernel, budget=7 * 50 * 8, dtype=np.float64)
    for _round in range(60):
        if _round % 20 == 10:
            rows.keep(np.sort(rng.choice(len(rows.active), len(rows.active) // 2, replace=False)))
        if _round % 20 == 0:
            rows.reset()
        m = len(rows.active)
        chosen, coef, g = rng.choice(m, 9, replace=False), rng.normal(size=9), np.zeros(m)
        rows.add(chosen, coef, g)
        np.testing.assert_allclose(g, K[np.ix_(rows.active, rows.active[chosen])] @ coef, atol=1e-12)
        block = rows.square(chosen)
        np.testing.assert_allclose(block, K[np.ix_(rows.active[chosen], rows.active[chosen])], atol=1e-12)
        assert rows._view.nbytes <= 7 * 50 * 8
    np.testing.assert_allclose(rows.row(3), K[3], atol=1e-12)
    np.testing.assert_allclose(rows.diagonal, K.diagonal(), atol=1e-12)


def test_large_problems_never_hold_the_whole_matrix():
    X = np.zeros((2100, 2))
    assert isinstance(kernel_source(X, Kernel("rbf", 1.0), cache_bytes=10**6, tol=1e-3), VectorRows)
    rows = kernel_source(X, Kernel("rbf", 1.0), cache_bytes=10**6, tol=1e-3)
    assert rows._buffer.nbytes <= 10**6
    assert rows.dtype == np.float32
    assert kernel_source(X, Kernel("rbf", 1.0), cache_bytes=10**6, tol=1e-8).dtype == np.float64


@pytest.mark.parametrize(("distance", "dtype"), [(1.0, np.float32), (3000.0, np.float64)])
def test_single_precision_is_taken_only_where_it_tells_cases_apart(distance, dtype):
    X = np.random.default_rng(0).normal(size=(2100, 2))
    X[:, 0] += distance * np.where(np.arange(2100) % 2, 1, -1)  # two clusters: nothing to centre
    assert kernel_source(X, Kernel("rbf", 0.5), cache_bytes=10**6, tol=1e-3).dtype == dtype


def test_compiled_loops_equal_the_same_in_python():
    X, problem = problem_of(n=25)
    K = KERNELS[0](X, X)
    results = []
    for smo in (loops.smo, loops.smo.py_func):
        beta, g = np.zeros(25), np.zeros(25)
        steps, violation = smo(K, loops.Pieces(*problem.arrays()), beta, g, 1e-6, 10**6)
        results.append((steps, violation, beta))
    assert results[0][0] == results[1][0]
    np.testing.assert_allclose(results[0][2], results[1][2], atol=1e-12)
    f = np.linspace(-4, 4, 25)
    for total in (loops.total_loss, loops.total_loss.py_func):
        assert total(loops.Pieces(*problem.arrays()), f) == pytest.approx(problem.loss(f).sum())


@pytest.mark.parametrize("compiled", [True, False])
def test_small_loops(compiled):
    def loop(name):
        function = getattr(loops, name)
        return function if compiled else function.py_func

    rng = np.random.default_rng(0)
    K, coef = rng.normal(size=(9, 5000)).astype(np.float32)[:, :40], rng.normal(size=6)
    rows, columns = np.array([1, 4, 8, 0, 3, 2]), np.array([5, 0, 39, 7])
    g = np.ones(40)
    loop("add_rows")(np.ascontiguousarray(K), rows, coef, g)
    np.testing.assert_allclose(g, 1 + coef @ K[rows], atol=1e-5)
    part = np.ones(4)
    loop("add_rows_at")(K, rows, columns, coef, part)
    np.testing.assert_allclose(part, 1 + coef @ K[np.ix_(rows, columns)], atol=1e-12)
    out = np.empty((6, 4), dtype=np.float32)
    loop("gather_block")(K, rows, columns, out)
    np.testing.assert_array_equal(out, K[np.ix_(rows, columns)])

    _, problem = problem_of(n=30)
    beta = qp.feasible(problem, rng.normal(size=30))
    scores, up, down = rng.normal(size=30), np.empty(30), np.empty(30)
    low, high = loop("fill_moves")(loops.Pieces(*problem.arrays()), beta, scores, up, down)
    assert (low, high) == problem.intercept_interval(beta, scores)
    expected = problem.moves(beta)
    np.testing.assert_array_equal(up, expected[0] - scores)
    np.testing.assert_array_equal(down, expected[1] - scores)


@pytest.mark.parametrize(
    ("dtype", "loop", "lowest", "ulps"), [(np.float64, "exp_double", -707.0, 2), (np.float32, "exp_single", -86.0, 2)]
)
def test_the_exponential_is_exact_to_two_units_in_the_last_place(dtype, loop, lowest, ulps):
    rng = np.random.default_rng(0)
    x = np.concatenate([-rng.uniform(0, reach, 50_000) for reach in (1e-7, 0.35, 1.0, 20.0, -lowest)]).astype(dtype)
    values = x[None].copy()
    getattr(loops, loop)(values)
    true = np.exp(x.astype(np.longdouble))
    assert float(np.abs(values[0] / true - 1).max()) <= ulps * np.finfo(dtype).eps
    ends = np.array([[0.0, -0.0, 1e-9, 3.0, 2 * lowest, -np.inf, np.nan]], dtype=dtype)
    getattr(loops, loop)(ends)
    np.testing.assert_array_equal(ends[0, :4], 1.0)
    assert ((ends[0, 4:6] >= 0) & (ends[0, 4:6] < 2 * np.finfo(dtype).tiny)).all()
    assert np.isnan(ends[0, 6])  # so that the solvers can refuse it


@pytest.mark.parametrize("columns", [(), (2,)])
@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.9, 1.0])
def test_scores_with_each_kernel_value_computed_once(share, columns):
    """Several tiles, the last ones incomplete, against the plain product."""
    rng = np.random.default_rng(0)
    X, shape = rng.normal(size=(1100, 3)), (1100, *columns)
    beta = np.where(rng.uniform(size=shape) < share, rng.normal(size=shape), 0.0)
    K = Kernel("rbf", 0.4)(X, X)
    np.testing.assert_allclose(gaussian_scores(X, 0.4, beta), K @ beta, atol=1e-11)
    np.testing.assert_allclose(MatrixRows(K).scores(beta), K @ beta, atol=1e-11)
    rows = VectorRows(sparse.csr_matrix(X), Kernel("rbf", 0.4), budget=10**6)
    np.testing.assert_allclose(rows.scores(beta), K @ beta, atol=1e-11)


def test_factor_follows_the_matrix():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(12, 12))
    K = A @ A.T + np.eye(12)
    L, order = np.zeros((12, 12)), []
    for i in [0, 5, 3, 7, "drop 1", 2, "drop 0", 9, 11, "drop 4", 1]:
        m = len(order)
        if isinstance(i, str):
            position = int(i.split()[1])
            loops.factor_delete(L, m, position)
            del order[position]
        else:
            loops.factor_append(L, m, K[i, [*order, i]])
            order.append(i)
        m = len(order)
        expected = K[np.ix_(order, order)]
        np.testing.assert_allclose(np.tril(L[:m, :m]) @ np.tril(L[:m, :m]).T, expected, atol=1e-10)
        rhs = rng.normal(size=m)
        np.testing.assert_allclose(loops.factor_solve(L, m, rhs), np.linalg.solve(expected, rhs), atol=1e-9)


def test_polish_leaves_only_rounding():
    X, problem = problem_of(n=200, C=100.0)
    rough = solve_smo(problem, whole(X, KERNELS[0]), tol=1e-3, max_iter=-1, cache_bytes=CACHE)
    fine = solve_smo(problem, whole(X, KERNELS[0]), tol=1e-3, max_iter=-1, cache_bytes=CACHE, polish=True)
    assert rough.residual > 1e-6
    assert fine.residual < 1e-10
    assert fine.model.gap < 1e-9 * fine.objective


@pytest.mark.parametrize("n_steps", [0, 1, 2])
def test_the_linear_solver_stopped_early_is_feasible_and_says_so(n_steps):
    X, problem = problem_of(n=400)
    solution = solve_linear(problem, X, tol=1e-3, max_iter=n_steps)
    beta = solution.model.beta
    assert abs(beta.sum()) <= 1e-12 * problem.upper.sum()
    assert (beta >= problem.lower).all()
    assert (beta <= problem.upper).all()
    assert not solution.converged
    assert solution.model.gap >= 0


def test_the_linear_solver_refuses_what_overflows():
    X, problem = problem_of(n=400)
    with pytest.raises(ValueError, match="overflows"), np.errstate(all="ignore"):
        solve_linear(problem, X * 1e200, tol=1e-3)


def test_rounds_are_limited_and_leave_exact_scores(tiny_blocks, monkeypatch):
    monkeypatch.setattr(blocks, "_MOST_ROUNDS", (2, 0.0))
    X, problem = problem_of(C=100.0)
    kernel = Kernel("rbf", 0.5)
    rows = VectorRows(X, kernel, budget=2**20, dtype=np.float32)
    done = blocks.solve_blocks(problem, rows, np.zeros(300), np.zeros(300), tol=1e-6, max_iter=10**9, largest_block=32)
    assert done.n_iter <= 2 * 100 * 32
    assert done.violation > 1e-6
    np.testing.assert_allclose(done.g, kernel(X, X) @ done.beta, atol=1e-8)


@pytest.mark.parametrize("kernel", [Kernel("rbf", 0.3), Kernel("poly", 0.2, 2, 1.0)], ids=lambda k: k.name)
def test_the_pivoted_factor_gives_the_kernel_matrix_from_a_matrix_or_from_rows(kernel):
    X, _ = problem_of(n=120)
    X[60:] = X[:60]  # half the rank
    K = kernel(X, X)
    for rows in (whole(X, kernel), VectorRows(X, kernel, budget=2**20)):
        F = pivoted_factor(rows, most=120)
        np.testing.assert_allclose(F @ F.T, K, atol=1e-10 * K.max())
        assert F.shape[1] <= (60 if kernel.name == "rbf" else 15)
        assert pivoted_factor(rows, most=F.shape[1]) is not None
        assert pivoted_factor(rows, most=8) is None


def test_a_gap_that_is_not_small_is_not_convergence():
    X, problem = problem_of(costs=Costs(reject=1e-6))
    K = KERNELS[0](X, X)
    beta, g = np.zeros(300), np.zeros(300)
    loops.smo(K, loops.Pieces(*problem.arrays()), beta, g, 1e-3, 10**6)
    done = finish(problem, beta, K @ beta, 1, 1e-3)
    assert done.residual <= 1e-3
    assert done.model.gap > 1e-3 * done.objective
    assert not done.converged
