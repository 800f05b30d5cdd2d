"""What the tests of persistence share."""

import pytest


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.skops"
