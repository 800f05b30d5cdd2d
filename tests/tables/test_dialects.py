"""Encodings and dialects: each of more than thirty ways to write a table is read to the same frame."""

import gzip

import numpy as np
import pandas as pd
import pytest

from recuse.tables import TableFile, detected_decimal, read_chunks, read_table, read_with_writings
from recuse.tables.encodings import detect_encoding
from recuse.tables.writings import COMMA, POINT, detect_writings
from tests.tables.files import as_text, french, german, loans, swiss

ENCODINGS = (
    "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", "cp1252", "latin-1",
    "iso8859-15",
)  # fmt: skip
PLAIN, GERMAN = {}, {"number": german, "date": "%d.%m.%Y"}
# How the cells are written, and how the file is.
DIALECTS = {
    **{f"{encoding}, commas": (PLAIN, {"encoding": encoding}) for encoding in ENCODINGS},
    **{f"{encoding}, German": (GERMAN, {"encoding": encoding, "sep": ";"}) for encoding in ENCODINGS},
    "tabs": (PLAIN, {"sep": "\t"}),
    "bars": (PLAIN, {"sep": "|"}),
    "quotes everywhere": (PLAIN, {"quoting": 1}),
    "Windows line ends": (PLAIN, {"lineterminator": "\r\n"}),
    "decimal commas, in quotes": (GERMAN, {}),
    "decimal commas and tabs": (GERMAN, {"sep": "\t"}),
    "thousands with commas": ({"number": lambda value: f"{value:,.2f}"}, {}),
    "Swiss": ({"number": swiss, "date": "%d.%m.%Y"}, {"sep": ";"}),
    "French": ({"number": french, "date": "%d/%m/%Y", "percent": "{:.1f} %"}, {"sep": ";"}),
    "British": ({"number": lambda value: f"{value:,.2f}", "date": "%d/%m/%Y"}, {}),
    "American": ({"number": lambda value: f"{value:,.2f}", "date": "%m/%d/%Y"}, {}),
    "short years": ({"date": "%d.%m.%y"}, {}),
    "named months": ({"date": "%d-%b-%Y"}, {}),
    "slashes, year first": ({"date": "%Y/%m/%d"}, {}),
    "hyphens, day first": ({"date": "%d-%m-%Y"}, {}),
    "unusual minus": ({"number": lambda value: f"{value:.2f}"}, {"sep": ";"}),
}


@pytest.mark.parametrize("name", DIALECTS)
def test_every_dialect_is_read_to_the_same_frame(tmp_path, name):
    frame, (cells, file) = loans(), DIALECTS[name]
    as_text(frame, **cells).to_csv(tmp_path / "t.csv", index=False, **file)
    read = read_table(tmp_path / "t.csv")
    # ISO dates are told apart from text later, with the other columns that are dates throughout.
    read["since"] = pd.to_datetime(read["since"])
    pd.testing.assert_frame_equal(read, frame, check_dtype=False, rtol=1e-12)
    assert read["age"].dtype.kind == "i"
    assert read["member"].dtype.kind == "b"


def test_there_are_thirty():
    assert len(DIALECTS) >= 30


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252", "utf-8-sig"])
def test_gzipped_text_in_any_encoding(tmp_path, encoding):
    frame = loans()
    frame.to_csv(tmp_path / "t.csv", index=False, encoding=encoding)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress((tmp_path / "t.csv").read_bytes()))
    assert read_table(tmp_path / "t.csv.gz")["town"].tolist() == frame["town"].tolist()


def test_chunks_are_decoded_too(tmp_path):
    frame = loans()
    frame.to_csv(tmp_path / "t.csv", index=False, encoding="utf-16", sep=";")
    chunks = list(read_chunks(tmp_path / "t.csv", size=7))
    assert pd.concat(chunks)["town"].tolist() == frame["town"].tolist()


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("cp1251", "Москва Россия Санкт-Петербург Новгород заявка отказ"),
        ("shift_jis", "東京 大阪 名古屋 申請 承認 拒否 横浜 京都 神戸"),
        ("gb18030", "北京 上海 申请 批准 拒绝 广州 深圳 天津 重庆"),
        ("euc_kr", "서울 부산 신청 승인 거절 대구 인천 광주"),
    ],
)
def test_other_scripts(tmp_path, encoding, words):
    words = words.split()
    frame = pd.DataFrame({"town": np.resize(words, 200), "age": range(200)})
    frame.to_csv(tmp_path / "t.csv", index=False, encoding=encoding)
    assert read_table(TableFile(tmp_path / "t.csv", encoding=encoding))["town"].tolist() == frame["town"].tolist()
    assert not detect_encoding(tmp_path / "t.csv").surely


def test_what_is_no_text_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    for content, message in {
        b"a,b\n\xff\xfe\x00,1\n": "neither UTF-8 nor text in another encoding",
        ("a,b\n" + "Köln,süß\n" * 30).encode() + b"\xff,1\n": "it is written in UTF-8 but damaged",
    }.items():
        path.write_bytes(content)
        with pytest.raises(ValueError, match=message):
            read_table(path)
    with pytest.raises(ValueError, match=r"it is not written in ascii; name its encoding with --encoding"):
        read_table(TableFile(path, encoding="ascii"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"encoding": "utf-9"}, "encoding='utf-9' is not known"),
        ({"encoding": "zlib"}, "encoding='zlib' is not known"),
        ({"decimal": ";"}, "decimal=';' is no decimal sign"),
        ({"dates": "dmy"}, "dates='dmy' must be 'day-first' or 'month-first'"),
        ({"separator": ";;"}, "separator=';;' must be one character"),
    ],
)
def test_options_that_cannot_be(options, message):
    with pytest.raises(ValueError, match=message):
        TableFile("t.csv", **options)


def test_the_line_that_names_the_separator_is_no_header(tmp_path):
    (tmp_path / "t.csv").write_text("sep=;\na;b\n1,5;x\n2,5;y\n")
    assert read_table(tmp_path / "t.csv").to_dict("list") == {"a": [1.5, 2.5], "b": ["x", "y"]}


def test_blank_lines_are_passed_over(tmp_path):
    (tmp_path / "t.csv").write_text("\n\na;b\n\n1;x\n\n2;y\n\n\n")
    assert read_table(tmp_path / "t.csv").to_dict("list") == {"a": [1, 2], "b": ["x", "y"]}


# Cells that could be read in two ways


def column(*cells, name="a", **others):
    return pd.DataFrame({name: cells, **others})


@pytest.mark.parametrize(
    ("frame", "separator", "writing", "doubtful"),
    [
        (column("1,234", "2,500"), ",", POINT, True),
        (column("1,234", "2,500"), ";", COMMA, True),
        (column("1,234", "2,5"), ",", COMMA, False),
        (column("1,234", "0,250"), ",", COMMA, False),
        (column("1,234", "1,234,567"), ";", POINT, False),
        (column("1,234", "2,500", b=["0,5", "7,25"]), ",", COMMA, False),
        (column("1,234", "2,500", b=[0.5, 7.25]), ";", POINT, False),
        (column("1.234,5", "2"), ",", COMMA, False),
        (column("12 345", "1 000"), ",", POINT, False),
        (column("\u22121", "2"), ",", POINT, False),
        (column("5%", "12.5 %", "0"), ",", POINT + "%", False),
        (column("5%", "12.5"), ",", None, False),
        (column("1.2.3", "2.0.1"), ",", None, False),
        (column("030 123 456", "040 555 111"), ",", None, False),
        (column("1,23,456", "2"), ",", None, False),
        (column("007", "12"), ",", None, False),
        (column("1,5", "n.a. today"), ";", None, False),
    ],
)
def test_numbers_in_columns(frame, separator, writing, doubtful):
    found = detect_writings(frame, separator=separator)
    assert found.columns.get("a") == writing
    assert ("a" in found.ambiguous) == doubtful


@pytest.mark.parametrize(
    ("cells", "writing", "doubtful"),
    [
        (("03/02/2024", "13/02/2024"), "%d/%m/%Y", False),
        (("03/02/2024", "02/13/2024"), "%m/%d/%Y", False),
        (("03/02/2024", "04/05/2024"), "%d/%m/%Y", True),
        (("03.02.2024", "04.05.2024"), "%d.%m.%Y", False),
        (("03.02.2024 10:30", "04.05.2024 00:00"), "%d.%m.%Y %H:%M", False),
        (("31/02/2024", "04/05/2024"), None, False),
        (("03/02/2024", "soon"), None, False),
        (("2024-02-03", "2024-02-04"), None, False),
    ],
)
def test_dates_in_columns(cells, writing, doubtful):
    found = detect_writings(column(*cells))
    assert found.columns.get("a") == writing
    assert ("a" in found.ambiguous) == doubtful


def test_another_column_tells_how_dates_are_meant():
    found = detect_writings(column("03/02/2024", "04/05/2024", b=["02/13/2024", "01/01/2024"]))
    assert found.columns == {"a": "%m/%d/%Y", "b": "%m/%d/%Y"}
    assert found.ambiguous == {}


def test_what_is_given_overrides_what_is_found(tmp_path):
    (tmp_path / "t.csv").write_text("a;d\n1,234;03/02/2024\n2,500;04/05/2024\n")
    for options, value, day in [
        ({}, 1.234, "2024-02-03"),
        ({"decimal": "."}, 1234, "2024-02-03"),
        ({"decimal": ",", "dates": "month-first"}, 1.234, "2024-03-02"),
    ]:
        read = read_table(TableFile(tmp_path / "t.csv", **options))
        assert (read["a"][0], read["d"][0]) == (value, pd.Timestamp(day))


def test_it_is_said_how_columns_are_read(tmp_path, caplog):
    (tmp_path / "t.csv").write_text("a;r;d;n\n1.234,5;13,1%;31.12.2024;7\n2;5%;01.02.2024;8\n", encoding="cp1252")
    with caplog.at_level("INFO", "recuse.tables"):
        _, writings = read_with_writings(tmp_path / "t.csv")
    assert [record.getMessage() for record in caplog.records] == [
        "t.csv: its columns are separated by semicolons.",
        "t.csv: decimal commas in column 'a': '1.234,5' is read as 1234.5.",
        "t.csv: percentages with decimal commas in column 'r': '13,1%' is read as 0.131.",
        "t.csv: day-first dates in column 'd': '31.12.2024' is read as 2024-12-31.",
    ]
    assert writings == {"a": COMMA, "r": COMMA + "%", "n": COMMA, "d": "%d.%m.%Y"}
    assert detected_decimal(tmp_path / "t.csv") == COMMA
