"""Seeded generators of the papers' synthetic problems, for which the best answers are known."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array, check_random_state

from ..arrays import Floats
from ..parameters import check_count, check_number, check_share


def make_gaussian_classes(
    n_samples: int, n_features: int, *, separation: float, positive_share: float = 0.5, random_state: Any = None
) -> tuple[Floats, NDArray[np.int64]]:
    """Two Gaussian classes with independent variables of variance 1, as in CONSUM's artificial data.

    The means lie at ``-separation / 2`` and ``separation / 2`` on the diagonal, so every variable carries
    the same little information. With equal shares the Bayes error is ``Phi(-separation / 2)``.

    Parameters
    ----------
    n_samples, n_features : int
        The paper has 2000 cases of 50 and of 100 variables.
    separation : float
        Distance between the two means, in standard deviations. The paper does not give its own: the errors in its
        Table 3 (0.30 and 0.23) would be the Bayes errors at 1.04 and 1.47, the same shift of 0.147 per variable.
    positive_share : float, default=0.5
        Share of class 1, exact up to rounding.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        0 and 1, in random order.

    References
    ----------
    Hanczar and Sebag (2014), Combination of One-Class Support Vector Machines for Classification with Reject
    Option, section 4.1.

    Examples
    --------
    >>> from recuse.datasets import make_gaussian_classes
    >>> X, y = make_gaussian_classes(2000, 50, separation=1.04, random_state=0)
    >>> X.shape, int(y.sum())
    ((2000, 50), 1000)
    """
    check_count("n_samples", n_samples, least=2)
    check_count("n_features", n_features)
    check_number("separation", separation)
    if separation < 0:
        raise ValueError(f"separation must be 0 or more, it is a distance; got {separation!r}.")
    check_share("positive_share", positive_share)
    n_positive = round(n_samples * positive_share)
    if n_positive in (0, n_samples):
        raise ValueError(
            f"positive_share={positive_share!r} of n_samples={n_samples} leaves a class empty: raise n_samples."
        )
    rng = check_random_state(random_state)
    y = rng.permutation(np.arange(n_samples) < n_positive).astype(np.int64)
    shift = separation / np.sqrt(n_features)
    return rng.standard_normal((n_samples, n_features)) + shift * (y[:, None] - 0.5), y


def add_novelties(
    X: Any, y: Any, *, n_novelties: int, novelty_label: Any = -1, margin: float = 0.1, random_state: Any = None
) -> tuple[Floats, NDArray[Any]]:
    """Append novelties to a test set: cases of a third class, uniform over the space the data occupy.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Cases of the known classes.
    y : array-like of shape (n_samples,)
        Their labels.
    n_novelties : int
        How many to add.
    novelty_label : object, default=-1
        Label of the added cases: a number if labels are numbers, a text if they are texts, and none of those in `y`.
    margin : float, default=0.1
        How far the box of the novelties reaches beyond the data on each side, as a share of each variable's range.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples + n_novelties, n_features)
        The cases given, in their order, then the novelties.
    y : ndarray of shape (n_samples + n_novelties,)

    References
    ----------
    Hanczar and Sebag (2014), section 4.1. The paper does not say how many it adds or how large the box is.

    Examples
    --------
    >>> from recuse.datasets import add_novelties
    >>> X, y = add_novelties([[0.0], [1.0]], [0, 1], n_novelties=3, random_state=0)
    >>> y
    array([ 0,  1, -1, -1, -1])
    """
    X = check_array(X, dtype=np.float64)
    y = np.asarray(y)
    if y.shape != (len(X),):
        raise ValueError(f"y must have one label per case: expected shape ({len(X)},), got {y.shape}.")
    check_count("n_novelties", n_novelties, least=0)
    check_number("margin", margin)
    if margin < 0:
        raise ValueError(f"margin must be 0 or more; got {margin!r}.")
    low, high = X.min(axis=0), X.max(axis=0)
    reach = margin * (high - low)
    rng = check_random_state(random_state)
    novelties = rng.uniform(low - reach, high + reach, size=(n_novelties, X.shape[1]))
    return np.vstack([X, novelties]), _append_label(y, novelty_label, n_novelties)


def _append_label(y: NDArray[Any], label: Any, times: int) -> NDArray[Any]:
    """The labels, followed by one label several times."""
    if isinstance(label, str) != (y.dtype.kind in "UO" and isinstance(y.flat[0], str)):
        raise ValueError(
            f"novelty_label={label!r} is not of the kind of the labels, such as {y.flat[0]!r}: use a text with texts "
            "and a number with numbers."
        )
    if label in y.tolist():
        raise ValueError(f"novelty_label={label!r} is one of the labels in y: choose another.")
    if y.dtype.kind in "bu":  # unsigned types have no -1
        y = y.astype(np.int64)
    return np.concatenate([y, np.full(times, label, dtype=object if y.dtype.kind == "O" else None)])


def make_noisy_region(
    n_samples: int, *, threshold: float, noisy_below: float, return_posterior: bool = False, random_state: Any = None
) -> tuple[NDArray[Any], ...]:
    """One variable, a perfect threshold, and a noisy region away from it: Figure 1 of the BA paper.

    ``x`` is uniform on [0, 1]. At ``x <= noisy_below`` (the paper's eta) the label is a coin toss; elsewhere it is 1
    below `threshold` (theta) and 0 above. The best classifier is ``h(x) = threshold - x``, and the cases to reject,
    ``x <= noisy_below``, are those where it is most confident: no rule on ``|h(x)|`` finds them.

    Parameters
    ----------
    n_samples : int
        Number of cases.
    threshold, noisy_below : float
        ``0 < noisy_below < threshold < 1``.
    return_posterior : bool, default=False
        Also return P(y = 1 | x) of every case.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 1)
    y : ndarray of shape (n_samples,)
        0 and 1.
    posterior : ndarray of shape (n_samples,)
        Only with ``return_posterior=True``.

    References
    ----------
    Cortes, DeSalvo and Mohri (2016), Boosting with Abstention, Figure 1.

    Examples
    --------
    >>> from recuse.datasets import make_noisy_region
    >>> X, y, p = make_noisy_region(4, threshold=0.7, noisy_below=0.5, return_posterior=True, random_state=0)
    >>> X.ravel().round(2), p
    (array([0.55, 0.72, 0.6 , 0.54]), array([1., 0., 1., 1.]))
    """
    check_count("n_samples", n_samples)
    check_share("threshold", threshold)
    check_number("noisy_below", noisy_below)
    if not 0 < noisy_below < threshold:
        raise ValueError(f"noisy_below must be between 0 and threshold={threshold!r}; got {noisy_below!r}.")
    rng = check_random_state(random_state)
    x = rng.uniform(size=n_samples)
    posterior = np.where(x <= noisy_below, 0.5, (x < threshold).astype(np.float64))
    return _with_labels(x[:, None], posterior, return_posterior, rng)


def make_noise_by_feature(
    n_samples: int,
    *,
    n_features: int = 2,
    noisy_share: float = 0.35,
    noisy_error: float = 0.5,
    clean_error: float = 0.05,
    return_posterior: bool = False,
    random_state: Any = None,
) -> tuple[NDArray[Any], ...]:
    """Label by the first variable, noise by the second.

    All variables are uniform on [0, 1]. The class is 1 where ``x1 > 1/2``, and is flipped with probability
    `noisy_error` where ``x2 <= noisy_share`` and `clean_error` elsewhere. A score that is a sum over the variables
    cannot express this: in the noisy part x1 must count for less than in the clean one. A pair (h, r) of such sums
    can. With the defaults, the lowest possible mean cost, averaged over the reject prices 0.1, 0.2, 0.3 and 0.4, is
    0.12: cases in the noisy part cost the reject price, the others 0.05.

    Parameters
    ----------
    n_samples : int
        Number of cases.
    n_features : int, default=2
        Two or more; those after the second carry no information.
    noisy_share : float, default=0.35
        Share of noisy cases, between 0 and 1.
    noisy_error, clean_error : float, default=0.5 and 0.05
        Probability of a flipped label in the noisy part and elsewhere, from 0 to 0.5.
    return_posterior : bool, default=False
        Also return P(y = 1 | x) of every case.
    random_state : int, RandomState instance or None, default=None
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        0 and 1.
    posterior : ndarray of shape (n_samples,)
        Only with ``return_posterior=True``.

    Examples
    --------
    >>> import numpy as np
    >>> from recuse.datasets import make_noise_by_feature
    >>> X, y, p = make_noise_by_feature(10000, return_posterior=True, random_state=0)
    >>> least = np.mean([np.minimum(np.minimum(p, 1 - p), c).mean() for c in (0.1, 0.2, 0.3, 0.4)])
    >>> round(float(least), 2)
    0.12
    """
    check_count("n_samples", n_samples)
    check_count("n_features", n_features, least=2)
    check_share("noisy_share", noisy_share)
    for name, error in {"noisy_error": noisy_error, "clean_error": clean_error}.items():
        check_number(name, error)
        if not 0 <= error <= 0.5:
            raise ValueError(f"{name} must be from 0 to 0.5, beyond which the classes change sides; got {error!r}.")
    rng = check_random_state(random_state)
    X = rng.uniform(size=(n_samples, n_features))
    flipped = np.where(X[:, 1] <= noisy_share, noisy_error, clean_error)
    posterior = np.where(X[:, 0] > 0.5, 1 - flipped, flipped)
    return _with_labels(X, posterior, return_posterior, rng)


def _with_labels(
    X: Floats, posterior: Floats, return_posterior: bool, rng: np.random.RandomState
) -> tuple[NDArray[Any], ...]:
    """Draw a label for each case from its posterior."""
    y = (rng.uniform(size=len(X)) < posterior).astype(np.int64)
    return (X, y, posterior) if return_posterior else (X, y)
