from tests.dask.clusters import client  # noqa: F401
