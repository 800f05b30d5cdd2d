"""Answers say which model file made them, and are given to reviewers as those of no other."""

import pandas as pd
import pytest

import recuse
from recuse.persistence import saved_digest
from recuse.persistence.models import digest_mark
from recuse.planning import plan_reviews
from recuse.predicting import predict_table
from recuse.report import Volume
from recuse.reviews import ReviewLog, write_packets

from .conftest import make_cases

COLUMNS = ["income", "debt"]


@pytest.fixture(scope="session")
def other_model(model_file):
    """A model that is the same in everything but two of its training cases."""
    cases, model = make_cases(400, 1)[2:], recuse.load(model_file)
    path = model_file.with_name("other.skops")
    recuse.save(model.fit(cases[COLUMNS], cases["outcome"]), path)
    return path


def read_answers(path):
    return pd.read_parquet(path) if path.suffix in (".parquet", "") else pd.read_csv(path)


@pytest.fixture
def answer(model_file, tmp_path):
    def answered(out, model=model_file, **options):
        table = tmp_path / "new"
        table.mkdir(exist_ok=True)
        cases = make_cases(300, 3)
        cases.to_parquet(table / "part.0.parquet")
        cases.to_csv(tmp_path / "new.csv", index=False)
        folder = "." not in out
        predict_table(
            model,
            table if folder else tmp_path / "new.csv",
            tmp_path / out,
            **({} if folder else {"keep": COLUMNS}),
            **options,
        )
        return tmp_path / out

    return answered


@pytest.mark.parametrize("capacity", [None, 10])
@pytest.mark.parametrize("out", ["answers.csv", "answers.parquet", "answers.jsonl", "answers"])
def test_answers_name_the_file_of_their_model(answer, model_file, out, capacity):
    path = answer(out, capacity=capacity)
    found = pd.read_json(path, lines=True) if out.endswith("jsonl") else read_answers(path)
    assert set(found["model_digest"]) == {digest_mark(saved_digest(model_file))}
    assert digest_mark(saved_digest(model_file)) == f"sha256:{saved_digest(model_file)[:16]}"


@pytest.mark.parametrize("out", ["answers.csv", "answers.parquet", "answers.jsonl"])
def test_answers_of_another_model_are_refused_and_nothing_is_written(answer, model_file, other_model, tmp_path, out):
    path = answer(out)
    log = tmp_path / "reviews.jsonl"
    with pytest.raises(ValueError, match=r"are those of another model: they name sha256:\w{16}, and .*other\.skops is"):
        write_packets(other_model, path, tmp_path / "out", log=log)
    assert not (tmp_path / "out").exists()
    assert not log.exists()
    write_packets(model_file, path, tmp_path / "out", log=log)
    [drawing] = ReviewLog(log).records("draw")
    assert drawing["answers"]["model"] == digest_mark(drawing["model"]["digest"])


def test_answers_that_name_no_model_are_taken_with_a_warning(answer, model_file, tmp_path):
    path = answer("answers.csv", model=recuse.load(model_file))
    assert "model_digest" not in read_answers(path)
    with pytest.warns(UserWarning, match="do not say which model made them"):
        write_packets(model_file, path, tmp_path / "out", log=tmp_path / "reviews.jsonl")
    [drawing] = ReviewLog(tmp_path / "reviews.jsonl").records("draw")
    assert drawing["answers"]["model"] is None


def test_answers_of_several_models_are_refused(answer, model_file, other_model, tmp_path):
    both = pd.concat([read_answers(answer("a.csv")), read_answers(answer("b.csv", model=other_model))])
    both.to_csv(tmp_path / "both.csv", index=False)
    with pytest.raises(ValueError, match="are of several models: give those of one"):
        write_packets(model_file, tmp_path / "both.csv", tmp_path / "out", log=tmp_path / "reviews.jsonl")


def test_hours_are_not_planned_from_answers_of_another_model(answer, model_file, other_model):
    volume, path = Volume.of("3000/month", minutes_per_case=10), answer("answers.csv")
    with pytest.raises(ValueError, match="are those of another model"):
        plan_reviews(other_model, path, volume=volume)
    assert plan_reviews(model_file, path, volume=volume).sample == 300


def test_a_model_file_with_another_digest_answers_nothing(answer, tmp_path):
    with pytest.raises(ValueError, match="has the digest"):
        answer("answers.csv", digest="0" * 64)
    assert not (tmp_path / "answers.csv").exists()


def test_a_digest_without_a_file_is_refused(answer, model_file):
    with pytest.raises(ValueError, match="is that of a file, and the model is none"):
        answer("answers.csv", model=recuse.load(model_file), digest="0" * 64)


def test_a_column_of_the_table_called_so_is_kept_beside_it(model_file, tmp_path):
    make_cases(50, 3).assign(model_digest="sha256:own").to_csv(tmp_path / "new.csv", index=False)
    predict_table(model_file, tmp_path / "new.csv", tmp_path / "answers.csv", keep="model_digest")
    assert set(read_answers(tmp_path / "answers.csv")["model_digest (table)"]) == {"sha256:own"}
    write_packets(model_file, tmp_path / "answers.csv", tmp_path / "out", log=tmp_path / "reviews.jsonl")
