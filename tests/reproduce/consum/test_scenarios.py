import numpy as np

from recuse.reproduce.consum.scenarios import cost_of


def test_prices_are_those_of_table_1():
    answers = np.array([0, 1, 2, 3, 1, 2, 3, 0])
    truth = np.array([0, 0, 0, 1, 2, 2, 2, 2])
    assert cost_of(answers, truth) == (0 + 4 + 1 + 1 + 4 + 0 + 0 + 4) / 8
