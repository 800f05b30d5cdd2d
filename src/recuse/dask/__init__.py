"""Tables past one machine: training where the partitions of a Dask collection are."""
