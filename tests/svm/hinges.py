"""Losses of other papers, as hinges, to compare the double hinge with."""

import numpy as np

from recuse.svm.losses import Hinges, reject_share


def bartlett_wegkamp(costs):
    """The generalised hinge of Bartlett and Wegkamp (2008), in their own units: d = reject / error price."""
    d = reject_share(costs)
    return Hinges(np.tile([1.0, (1 - d) / d - 1], (2, 1)), np.tile([1.0, 0.0], (2, 1)))


def hinge(costs):
    """The hinge of the ordinary SVM with error prices as weights; reject prices play no part."""
    return Hinges(np.array([[costs.fp, 0.0], [costs.fn, 0.0]]), np.tile([1.0, 0.0], (2, 1)))
