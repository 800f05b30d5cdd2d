"""The registry: facts that are possible, and enough to tell the classes apart."""

from recuse.datasets import DATASETS, names


def test_names_are_sorted_and_hold_the_papers_sets():
    assert names() == sorted(names())
    assert len(names()) == 36
    assert {"breast_cancer", "pima", "skin", "gmsc", "madelon", "heart_cleveland"} <= set(names())


def test_positive_counts_are_possible_and_openml_numbers_distinct():
    for name, facts in DATASETS.items():
        assert 0 < facts.positives < facts.rows, name
    numbers = [facts.openml for facts in DATASETS.values() if facts.openml is not None]
    assert len(set(numbers)) == len(numbers)
    # On OpenML the positive class is told by its count, which must not be the count of the other class.
    assert all(2 * facts.positives != facts.rows for facts in DATASETS.values() if facts.openml is not None)
