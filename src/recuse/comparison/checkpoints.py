"""Finished folds are kept: one small file per method and fold, named by a digest of everything it depends on."""

from __future__ import annotations

import hashlib
import io
import json
import re
import sys
import uuid
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from ..persistence import remove_stale, write_whole
from ..tables import Cases
from .class_answers import Rivals
from .folds import FoldResult
from .methods import Method
from .plans import INNER_FOLDS, Task

CACHE = ".cache"
_ARRAYS = ("test", "forced", "kind", "h", "r", "score")
_FACTS = ("fit_seconds", "predict_seconds", "params", "fitted_on", "trained_on", "warnings")
_PACKAGES = ("recuse", "scikit-learn", "numpy", "scipy", "pandas", "skrub")


def versions() -> dict[str, str]:
    """Versions of the packages that results depend on."""
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "absent"
    return found


def table_fingerprint(frame: Any) -> str:
    """Digest of a whole table, whichever of its columns are used and for what."""
    import pandas as pd

    digest = hashlib.sha256(json.dumps(list(frame.columns)).encode())
    digest.update(pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes())
    return digest.hexdigest()


def data_fingerprint(cases: Cases) -> str:
    """Digest of the features, outcomes, groups and times: names, types and every value."""
    import pandas as pd

    digest = hashlib.sha256()
    types = {name: str(dtype) for name, dtype in cases.features.dtypes.items()}
    digest.update(json.dumps([types, cases.target, str(cases.positive)]).encode())
    digest.update(pd.util.hash_pandas_object(cases.features, index=False).to_numpy().tobytes())
    digest.update("\0".join(map(str, cases.outcomes.tolist())).encode())
    for codes in (cases.groups, cases.times):
        if codes is not None:
            digest.update(codes.astype(np.int64).tobytes())
    return digest.hexdigest()


def run_fingerprint(data: str, arguments: dict[str, Any]) -> str:
    """Digest of everything a fold's answers depend on, besides its method and number."""
    text = json.dumps([data, arguments, versions()], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def method_key(method: Method, task: Task) -> str:
    """Name of a method with a digest of its definition: estimator, grid, and how it chooses and samples."""
    name = re.sub(r"[^\w.-]", "_", method.name)  # it becomes part of a file name
    try:
        plan = method.build(task)
    except Exception:  # its folds will fail in the same way and say why, and a failure is not kept
        return name
    try:
        described = [joblib.hash(plan.estimator), _own_code(plan.estimator), plan.grid, plan.inner, plan.scoring]
    except Exception:  # it holds a lambda or something else without a name: what it does cannot be recognised later
        return f"{name}-{uuid.uuid4().hex[:12]}"
    digest = hashlib.sha256(repr([*described, method.fit_rows, INNER_FOLDS]).encode()).hexdigest()
    return f"{name}-{digest[:12]}"


def _own_code(estimator: Any) -> list[str]:
    """Digests of the files that define the classes of an estimator, as far as no version number tells of them."""
    members = [estimator, *estimator.get_params(deep=True).values()]
    homes = {cls.__module__ for member in members for cls in type(member).__mro__}
    files = {getattr(sys.modules.get(home), "__file__", None) for home in homes if _is_own(home)}
    return [hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in sorted(filter(None, files))]


def _is_own(module: str) -> bool:
    """Whether a module belongs neither to Python nor to a package whose version is known to the run."""
    root = module.partition(".")[0].replace("sklearn", "scikit-learn")
    return root not in _PACKAGES and root not in sys.stdlib_module_names


class Checkpoints:
    """Results of finished folds on disk.

    Parameters
    ----------
    out : path or None
        Folder of the run; None keeps nothing.
    fingerprint : str
        Digest of the run.
    """

    def __init__(self, out: Path | None, fingerprint: str) -> None:
        self.folder = None if out is None else out / CACHE / fingerprint[:16]
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)

    def _path(self, method: str, fold: int) -> Path | None:
        return None if self.folder is None else self.folder / f"{method}.{fold}.npz"

    def load(self, method: str, fold: int) -> FoldResult | None:
        """Return what was stored; None if there is nothing, or it cannot be read."""
        path = self._path(method, fold)
        if path is None or not path.is_file():
            return None
        try:
            with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in _ARRAYS}
                stored_facts = json.loads(stored["facts"].tobytes())
                facts = {
                    name: stored_facts[name] for name in _FACTS
                }  # a file written before a fact was recorded is useless
                reason = json.loads(stored["reason"].tobytes())
                rivals = Rivals.read(stored)
        except Exception:  # whatever is wrong with the file, the fold can be computed again
            return None
        return FoldResult(**arrays, reason=reason, rivals=rivals, **facts)

    def store(self, method: str, fold: int, result: FoldResult) -> None:
        """Keep a result; a failure is not kept, so that a later run tries again."""
        path = self._path(method, fold)
        if path is None or result.error is not None:
            return
        facts = {name: getattr(result, name) for name in _FACTS}
        buffer = io.BytesIO()
        np.savez_compressed(
            buffer,
            facts=_as_bytes(facts),
            reason=_as_bytes(result.reason),
            **{name: getattr(result, name) for name in _ARRAYS},
            **({} if result.rivals is None else result.rivals._asdict()),
        )
        write_whole(path, buffer.getvalue())


def _as_bytes(data: Any) -> Any:
    return np.frombuffer(json.dumps(data, default=str).encode(), dtype=np.uint8)


def remove_leftovers(out: Path) -> None:
    """Delete the unfinished files that a killed run may have left behind."""
    remove_stale([*out.glob(".*.tmp"), *(out / CACHE).glob("*/.*.tmp")])
