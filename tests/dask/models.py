"""Tables for fits on a cluster, in partitions of any kind, and what two models must have in common."""

import dask.array as da
import numpy as np
from dask import delayed

N, P = 1500, 5


def table(seed=0, n=N):
    """Cases with missing values, in classes 0 and 1, and weights of some size."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, P))
    score = X[:, 0] + 0.4 * X[:, 1] + 0.5 * np.sin(2.0 * X[:, 2]) + random.logistic(scale=0.5, size=n)
    X[random.random((n, P)) < 0.05] = np.nan
    return X, (score > 0).astype(int), random.uniform(0.5, 2.0, n)


def in_chunks(ends, *columns):
    """Dask arrays whose partitions end at given rows; some may be empty."""
    return [in_blocks([da_block(part) for part in np.split(column, ends)]) for column in columns]


def da_block(part):
    """A block that may have no rows: Dask knows nothing of its size, as after a filter."""
    return delayed(part), part


def in_blocks(blocks):
    """A dask array of delayed blocks."""
    arrays = [da.from_delayed(b, shape=(np.nan, *part.shape[1:]), dtype=part.dtype) for b, part in blocks]
    return da.concatenate(arrays, allow_unknown_chunksizes=True)


PARTITIONS = {
    "one": [],
    "two": [700],
    "seven": [200, 400, 600, 800, 1000, 1200],
    "uneven and empty": [0, 10, 10, 900, 1490],
}


def assert_same_model(local, distributed, X):
    assert distributed.family_ == local.family_
    assert distributed.stumps_ == local.stumps_
    np.testing.assert_allclose(distributed.weights_, local.weights_, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(distributed.decision_function(X), local.decision_function(X), atol=1e-5)
    assert len(distributed.shape_functions_) == len(local.shape_functions_)
    for shape, other in zip(distributed.shape_functions_, local.shape_functions_, strict=True):
        np.testing.assert_allclose(shape.share, other.share, atol=1e-9)
    np.testing.assert_allclose(distributed.objective_, local.objective_, rtol=1e-8)
    np.testing.assert_allclose(distributed.dual_gap_, local.dual_gap_, rtol=1e-4, atol=1e-8)
    assert (distributed.predict(X) == local.predict(X)).mean() > 0.999  # the last digits of a score near 0 are free


SETTINGS = {"costs": 0.15, "max_bins": 64, "n_rounds": 30}
GIVEN = {"beta": 0.004, "threshold": "calibrated"}
