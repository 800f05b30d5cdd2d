"""The folder of a run belongs to the table whose results are in it."""

import pytest

from recuse.comparison.checkpoints import CACHE
from recuse.comparison.folder import RUN_FILE, claim_folder


@pytest.mark.parametrize("finished", [f"{CACHE}/digest/fold.npz", RUN_FILE])
def test_a_folder_without_results_is_free_for_another_table(tmp_path, finished):
    claim_folder(tmp_path / "run", "loans.csv", "1")
    claim_folder(tmp_path / "run", "mended.csv", "2")  # the first run was refused before it finished anything
    file = tmp_path / "run" / finished
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("{}")
    with pytest.raises(FileExistsError, match=r"another table, 'mended\.csv'"):
        claim_folder(tmp_path / "run", "loans.csv", "1")
    claim_folder(tmp_path / "run", "mended.csv", "2")  # its own results are kept
    assert file.is_file()
    claim_folder(tmp_path / "run", "loans.csv", "1", overwrite=True)
    assert not file.is_file()
