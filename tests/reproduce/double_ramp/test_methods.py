import numpy as np
import pytest

from recuse.reproduce.double_ramp import methods


def test_the_judge_counts_as_the_paper_does():
    answers, y = np.array([1, 1, 0, -1, -1.0]), np.array([1, -1, 1, -1, 1.0])
    assert methods.judge(answers, y, 0.3) == pytest.approx(((0.3 + 2) / 5, 0.5, 0.2))
    assert methods.judge(np.zeros(5), y, 0.3) == (pytest.approx(0.3), None, 1.0)
