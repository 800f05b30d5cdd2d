"""The list of methods that imports nothing is that of the methods themselves."""

from recuse.comparison import METHODS
from recuse.comparison.listed import LISTED


def test_the_list_says_what_the_methods_are():
    assert [(method.name, method.title, method.max_rows) for method in METHODS] == [tuple(listed) for listed in LISTED]
