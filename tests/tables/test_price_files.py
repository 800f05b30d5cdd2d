"""Prices of every answer to every outcome from a file."""

import numpy as np
import pandas as pd
import pytest

from recuse.tables import TableFile, read_costs

FINE = "truth,a,b,c,reject\na,,1,2,0.3\nb,3,0,4,0.4\nc,5,6,-,0.5\n"


def written(tmp_path, text, name="prices.csv", encoding="utf-8"):
    path = tmp_path / name
    path.write_text(text, encoding=encoding)
    return path


def test_rows_are_the_truth_and_columns_the_answers(tmp_path):
    costs = read_costs(written(tmp_path, FINE))
    assert costs.classes == ("a", "b", "c")
    assert costs.errors == ((0, 1, 2), (3, 0, 4), (5, 6, 0))
    assert costs.reject == (0.3, 0.4, 0.5)
    assert costs.matrix()[:-1, :4].tolist() == [[0, 1, 2, 0.3], [3, 0, 4, 0.4], [5, 6, 0, 0.5]]


def test_columns_in_any_order_and_other_writings(tmp_path):
    given = read_costs(written(tmp_path, FINE))
    turned = "wahr;review; c;b ;a\nc;0,5;;6;5,0\na;0,3;2;1;\nb;0,40;4;;3\n"
    costs = read_costs(written(tmp_path, turned, "preise.csv", "cp1252"))
    assert costs.for_classes(["a", "b", "c"]) == given.for_classes(["a", "b", "c"])
    frame = pd.DataFrame(
        {"truth": [1, 2, 3], "1": [0, 3, 5], "2": [1, 0, 6], "3": [2, 4, 0], "reject": [0.3, 0.4, 0.5]}
    )
    frame.to_parquet(tmp_path / "prices.parquet")
    numbered = read_costs(TableFile(tmp_path / "prices.parquet"))
    assert numbered.classes == ("1", "2", "3")
    np.testing.assert_array_equal(numbered.matrix(), given.matrix())


def test_the_price_of_a_review_may_be_given_apart(tmp_path):
    path = written(tmp_path, FINE.replace(",reject", "").replace(",0.3", "").replace(",0.4", "").replace(",0.5", ""))
    assert read_costs(path, 0.25).reject == (0.25, 0.25, 0.25)
    assert read_costs(path).reject == (0.2, 0.2, 0.2)  # a fifth of the cheapest error
    with pytest.raises(ValueError, match=r"reject=0\.2 is given, and prices\.csv has a column 'reject': leave out one"):
        read_costs(written(tmp_path, FINE), 0.2)


def test_an_outcome_may_be_called_review(tmp_path):
    path = written(tmp_path, "truth,review,other\nreview,,2\nother,3,\n")
    assert read_costs(path, 0.4).classes == ("review", "other")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("a,,1", "a,,", "row 'a', column 'b' is empty: give the price of answering 'b' to a case of 'a'."),
        ("a,,1", "a,,-1", "row 'a', column 'b' holds '-1': .* must be a number greater than 0"),
        ("a,,1", "a,,0", "row 'a', column 'b' holds '0': .* must be a number greater than 0"),
        ("a,,1", "a,,inf", "row 'a', column 'b' holds 'inf': .* must be a number greater than 0"),
        ("a,,1", "a,,10%", "holds '10%': a price is an amount, not a share; write a number such as 0.05"),
        ("a,,1", "a,,5 EUR", "holds '5 EUR': write the price as a number alone, such as 12.5"),
        ("a,,1", 'a,,"1,234"', "row 'a', column 'b': '1,234' may be 1234 or 1.234: write 1234, or 1.2340"),
        ("a,,1", "a,,1.500", "row 'a', column 'b': '1.500' may be 1500 or 1.5: write 1500, or 1.5"),
        ("a,,1", 'a,,"1,234,567"', "holds '1,234,567': write the price as a number alone, such as 1234567"),
        ("b,3,0", "b,3,7", "row 'b', column 'b' holds '7': the right answer is free, so leave the cell empty"),
        ("2,0.3", "2,", "row 'a', column 'reject' is empty: give the price of reviewing a case of 'a'"),
        ("truth,a,b,c", "truth,a,b,d", "column 'd' has no row of that name: give every outcome a row and a column"),
        ("truth,a,b,c", "truth,a,b,cc", "column 'cc' has no row of that name, and row 'c' no column"),
        ("c,5,6,-,0.5\n", "", "column 'c' has no row of that name"),
        ("c,5,6", "b,5,6", "two rows have the name 'b': keep one of them"),
        (
            ",reject\na,,1,2,0.3",
            ",reject,review\na,,1,2,0.3,1",
            "columns 'reject' and 'review' both price manual review",
        ),
        (
            "c,5,6",
            "Review,5,6",
            "row 'Review' prices manual review, which is a column: a row is what is true of a case",
        ),
        ("c,5,6", ",5,6", "row 3 has no name: write the outcome that it prices"),
    ],
)
def test_each_error_names_the_cell_and_the_remedy(tmp_path, old, new, message):
    assert old in FINE
    with pytest.raises(ValueError, match=message) as caught:
        read_costs(written(tmp_path, FINE.replace(old, new)))
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith("prices.csv")


def test_what_is_no_table_of_prices(tmp_path):
    with pytest.raises(ValueError, match="holds 1 rows and 2 columns: a table of prices"):
        read_costs(written(tmp_path, "truth,a\na,0\n"))
    with pytest.raises(FileNotFoundError):
        read_costs(tmp_path / "nowhere.csv")
