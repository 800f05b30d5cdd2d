"""Questions and answers between client and workers, for the `dask` benchmark, and what follows for many workers.

A question without work is asked of 2 and of 8 worker processes on one machine, with answers of 8 bytes and with
histograms of 20 features. Of the clock the median counts; of the processor seconds those of the process of the client,
which is that of the scheduler as well.
"""

import time

import numpy as np

from .runner import Row

FEW, MANY, ASKED = 2, 8, 200
CELLS, BYTES = 20 * 256, 20 * 256 * 32
LATENCY, BANDWIDTH = 0.5e-3, 1e9  # assumed: seconds for a message between machines, bytes per second
KINDS = {"small": "an answer of 8 bytes", "histogram": f"an answer of {BYTES:,} bytes"}


class Held:
    """What a worker holds."""

    def __init__(self, piece, number):
        self.small_answer, self.histogram_answer = 1.0, np.zeros((2, CELLS, 2))

    def small(self):
        """A number."""
        return self.small_answer

    def histogram(self):
        """Weights by cell."""
        return self.histogram_answer


def message_rows():
    """Seconds of a question."""
    few, many = asked_of(FEW), asked_of(MANY)
    for kind, what in KINDS.items():
        for i, clock in enumerate(("clock", "the client's CPU")):
            row = f"a question with {what}, {clock}", f"{MANY} workers", f"{FEW} workers"
            yield Row(*row, many[kind][i], few[kind][i])


def asked_of(n_workers):
    """Median clock and mean processor seconds of the client for a question of each kind."""
    import dask
    from distributed import Client, LocalCluster

    from recuse.dask.partitions import Partitions

    settings = {"n_workers": n_workers, "threads_per_worker": 1, "memory_limit": "1GiB", "dashboard_address": ":0"}
    with (
        LocalCluster(**settings) as cluster,
        Client(cluster) as client,
        Partitions([(dask.delayed(0),)] * n_workers, client) as partitions,
    ):
        partitions.hold(Held, each=[(k,) for k in range(n_workers)], sizes=[1] * n_workers)
        return {kind: seconds_of(partitions, getattr(Held, kind)) for kind in KINDS}


def seconds_of(partitions, question):
    partitions.ask(question)
    clock, cpu = [], time.process_time()
    for _ in range(ASKED):
        start = time.perf_counter()
        partitions.ask(question)
        clock.append(time.perf_counter() - start)
    return np.median(clock), (time.process_time() - cpu) / ASKED


def on_paper(rows, questions):
    """What the measured rows say of many workers, as text; `questions` were asked in a round."""
    found = {row.what: row for row in rows}
    growth = found["a round of 4 times the rows, CPU"]
    n = int(growth.peer.split()[0].replace(",", ""))
    work = (growth.ours - growth.theirs) / (3 * n) * 1e6  # of a million rows
    question = found[f"a question with {KINDS['histogram']}, clock"].theirs
    per_answer = {
        kind: (row.ours - row.theirs) / (MANY - FEW)
        for kind, row in ((kind, found[f"a question with {what}, the client's CPU"]) for kind, what in KINDS.items())
    }
    received = max(per_answer["histogram"], BYTES / BANDWIDTH) + (questions - 1) * per_answer["small"]
    fixed = questions * (question + 2 * LATENCY)
    lines = [
        "**On paper, for more workers.** Measured above: a million rows take a worker "
        f"{1e3 * work:.1f} ms of CPU per round (the growth from {n:,} to {4 * n:,} rows); {questions:.1f} questions "
        "are asked per round, those for the intercepts included (counted in a fit of 20 rounds), of which one is "
        f"answered by histograms; a question of two workers takes {1e3 * question:.1f} ms of clock; each further "
        f"worker costs the process of client and scheduler {1e3 * per_answer['histogram']:.2f} ms of CPU for "
        f"histograms and {1e3 * per_answer['small']:.2f} ms for a small answer. Assumed: a million rows per worker, "
        f"{1e3 * LATENCY:g} ms for a message between machines, {BANDWIDTH / 1e9:g} GB/s into the client. A round of n "
        f"workers then takes {1e3 * work:.1f} + {1e3 * fixed:.1f} + {1e3 * received:.2f} n ms:",
        "",
        "| workers | ms per round | rounds per second | of it the client's share |",
        "| ---: | ---: | ---: | ---: |",
    ]
    for workers in (10, 100, 1000):
        total = work + fixed + received * workers
        share = received * workers / total
        lines.append(f"| {workers:,} | {1e3 * total:.0f} | {1 / total:.1f} | {share:.0%} |")
    lines += ["", f"From {work / received:.0f} workers on the client and the scheduler take longer than a worker does."]
    return "\n".join(lines)
