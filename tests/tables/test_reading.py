"""Tables from files: every format, and a clear message where one cannot be read."""

import gzip

import numpy as np
import pandas as pd
import pytest

from recuse.tables import read_chunks, read_table


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.tsv.gz", "t.parquet", "t.parquet.gz"])
def test_every_format_is_read_alike(tmp_path, frame, name):
    path = tmp_path / name
    if ".parquet" in name:
        frame.to_parquet(tmp_path / "t.parquet")
        if name.endswith(".gz"):
            path.write_bytes(gzip.compress((tmp_path / "t.parquet").read_bytes()))
    else:
        frame.to_csv(path, index=False, sep="\t" if "tsv" in name else ",")
    read = read_table(path, text_columns=("code",))
    assert list(read.columns) == list(frame.columns)
    assert read["code"].tolist() == frame["code"].tolist()
    np.testing.assert_array_equal(read["age"], frame["age"])


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_chunks_number_the_rows_through(tmp_path, frame, name):
    path = tmp_path / name
    frame.to_csv(path, index=False) if name.endswith("csv") else frame.to_parquet(path)
    chunks = list(read_chunks(path, size=3))
    assert [len(chunk) for chunk in chunks] == [3, 1]
    assert pd.concat(chunks).index.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.csv", None, "none.csv does not exist"),
        ("t.pdf", b"x", r"t.pdf: not a table format; give a .csv, .tsv, .parquet, .feather, .xlsx, .jsonl, .sqlite or"),
        ("t.xls", b"x", r"t.xls: not a table format; .* Save the workbook as .xlsx"),
        ("t.csv", b"", "t.csv cannot be read as csv: it is empty: a table has a row with"),
        ("t.csv", b"a,b\n", "t.csv holds no rows"),
        ("t.csv", b"a,b\n1,2,3\n1,2\n1,2,3,4,5\n", "t.csv cannot be read as csv: Error tokenizing data"),
        ("t.csv", b"a,b\n\xff\xfe\x00,1\n", "t.csv cannot be read as csv: it is neither UTF-8 nor text in another"),
        ("t.csv.gz", b"not gzip", "t.csv.gz cannot be read as csv: Not a gzipped file"),
        ("t.csv", b"a,b,a\n1,2,3\n", "two columns have the name 'a'"),
        ("t.csv", b"a,b\n1,2,3\n4,5,6\n", "its rows have more cells than its header has names"),
        ("t.parquet", b"not parquet", "t.parquet cannot be read as parquet"),
    ],
)
def test_files_that_are_no_tables(tmp_path, name, content, message):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        read_table(path)


def test_a_separator_at_the_end_of_every_row_is_no_column(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,b\n1,2,\n3,4,\n")
    for frame in (read_table(tmp_path / "t.csv"), *read_chunks(tmp_path / "t.csv")):
        assert frame.to_dict("list") == {"a": [1, 3], "b": [2, 4]}


def test_a_folder_that_does_not_exist_is_called_that(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"visits does not exist: give a .*, or a folder of \.parquet"):
        read_table(tmp_path / "visits")
