"""What the ensemble costs on tables of more than 10,000 cases: `quality` once more, one split of each.

Training parts of at most 20,000 cases, tests of at most 5,000; the rest is as in `quality`. `quality_large_sets.md` has
every set.
"""

from recuse.datasets import DATASETS

from .contest import contest
from .quality import PARTIAL, judge_all, rows_of, write_sets

LARGE, TRAIN = 10_000, 20_000
SETS = tuple(name for name, facts in DATASETS.items() if facts.rows > LARGE)


def run(quick=False):
    names, most = (("mammography",), 500) if quick else (SETS, TRAIN)
    sets = judge_all(contest(names, 1, PARTIAL / ("quick" if quick else "large"), most))
    if not quick:
        write_sets("quality_large_sets", sets)
    yield from rows_of(sets)
