"""Past one machine: the same models, fitted where a partitioned table is and asked on a Dask cluster.

Needs ``pip install 'recuse[dask]'``. Public names are loaded on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = [
    "ClusterError",
    "DaskAbstentionBoostingClassifier",
    "DaskExactBoostClassifier",
    "PartitionError",
    "decisions_meta",
    "fit_boosting_chow",
]

# Public name -> module that defines it.
_HOMES = {
    "ClusterError": "faults",
    "DaskAbstentionBoostingClassifier": "abstention",
    "DaskExactBoostClassifier": "exactboost",
    "PartitionError": "faults",
    "decisions_meta": "answering",
    "fit_boosting_chow": "boosting_chow",
}

if TYPE_CHECKING:
    from .abstention import DaskAbstentionBoostingClassifier
    from .answering import decisions_meta
    from .boosting_chow import fit_boosting_chow
    from .exactboost import DaskExactBoostClassifier
    from .faults import ClusterError, PartitionError


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
