"""Models that tests update; none changes them."""

import pytest

from .worlds import fitted


@pytest.fixture(scope="session")
def model():
    return fitted()
