"""What reviewers' hours are worth, beside the verdict."""

import recuse
from recuse.report import Volume
from tests.comparison.conftest import mixed_table

METHODS = ["logistic-chow", "logistic-no-reject"]


def compared(volume, **options):
    return recuse.compare(
        mixed_table(),
        "default",
        costs=recuse.Costs(fp=1, fn=3, reject=0.3),
        positive="bad",
        methods=METHODS,
        cv=3,
        repeats=1,
        n_jobs=1,
        volume=volume,
        **options,
    )


def test_an_hour_is_priced_where_minutes_and_a_model_are_known():
    told = compared(Volume(3000, "month", "EUR", 6))
    assert told.verdict.model_chosen
    assert told.conclusions["hours"].startswith("All of these reviews take ")
    assert " EUR [" in told.conclusions["hours"]
    assert "hours" not in compared(Volume(3000, "month", "EUR")).conclusions
    assert "hours" not in compared(None).conclusions
