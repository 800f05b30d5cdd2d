"""One table, written in every format, encoding and dialect."""

import gzip
import sqlite3

import numpy as np
import pandas as pd

FORMATS = ("csv", "tsv", "parquet", "feather", "xlsx", "jsonl", "sqlite", "duckdb")


def loans(n=40, seed=0):
    """Numbers, a percentage, text with accents and quotes, dates, yes/no and an outcome."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "income": rng.gamma(2, 9_000, n).round(2),
            "age": rng.integers(18, 80, n),
            "rate": (rng.random(n) * 30).round(1) / 100,
            "town": rng.choice(["Köln", "Ulm", 'St. "Gallen"', "Bad Ems; Lahn", "Bonn, Süd"], n),
            "since": pd.date_range("2019-03-01", periods=n, freq="37D"),
            "member": rng.random(n) < 0.5,
            "y": rng.choice(["no", "yes"], n),
        }
    )


def write(frame, path):
    """Write a frame in the format that the name tells, gzipped or not."""
    name = path.name.removesuffix(".gz")
    kind, plain = name.rpartition(".")[2], path.with_name(name)
    if kind in ("csv", "tsv"):
        frame.to_csv(plain, index=False, sep="\t" if kind == "tsv" else ",")
    elif kind == "parquet":
        frame.to_parquet(plain)
    elif kind == "feather":
        frame.to_feather(plain)
    elif kind == "xlsx":
        frame.to_excel(plain, index=False)
    elif kind == "jsonl":
        frame.to_json(plain, orient="records", lines=True, date_format="iso")
    elif kind == "sqlite":
        with sqlite3.connect(plain) as database:
            frame.to_sql("loans", database, index=False)
        database.close()
    else:
        import duckdb

        with duckdb.connect(str(plain)) as database:
            database.register("given", frame)
            database.execute("CREATE TABLE loans AS SELECT * FROM given")
    if path.name.endswith(".gz"):
        path.write_bytes(gzip.compress(plain.read_bytes()))
        plain.unlink()
    return path


def german(value, digits=2):
    return f"{value:,.{digits}f}".replace(",", "_").replace(".", ",").replace("_", ".")


def swiss(value):
    return f"{value:,.2f}".replace(",", "\u2019")


def french(value):
    return f"{value:,.2f}".replace(",", "\u202f").replace(".", ",")


def as_text(frame, *, number=str, percent="{:.1f}%", date="%Y-%m-%d"):
    """The frame with numbers, percentages and dates written in some way."""
    return frame.assign(
        income=[number(value) for value in frame["income"]],
        rate=[
            percent.format(100 * value).replace(".", "," if number in (german, french) else ".")
            for value in frame["rate"]
        ],
        since=frame["since"].dt.strftime(date),
    )
