"""Marks that tests of several files share."""

import pytest

# About an optimum, a label or a file of cases that nothing tells apart; test_common.py looks at the warning itself.
may_reject_all = pytest.mark.filterwarnings("ignore:.* rejects every training case")
