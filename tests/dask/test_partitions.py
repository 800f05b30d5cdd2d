"""What the workers hold: asked, changed, lost and brought back."""

import os
import re
import signal
import threading
import time
from pathlib import Path

import dask
import numpy as np
import pytest

from recuse.dask import ClusterError, PartitionError
from recuse.dask.cluster import Cluster, find_client
from recuse.dask.partitions import Partitions, share_out, small_groups
from tests.dask.clusters import kill, nothing_is_left, process_of, wait_for_workers

N = 7


class Counts:
    """Held of a partition: a vector that changes."""

    def __init__(self, x, factor, number):
        self.x, self.number, self.heard = x * factor, number, []

    def add(self, amount):
        self.x = self.x + amount
        self.heard.append(amount)

    def total(self):
        return self.x.copy()

    def add_and_total(self, amount):
        self.add(amount)
        return self.x.copy()

    def list_heard(self):
        return [(self.number, tuple(self.heard))]

    def forget_all(self):
        self.heard.clear()

    def total_slowly(self, folder):
        """Say that work is under way, and go on when somebody was killed."""
        (Path(folder) / str(os.getpid())).touch()
        wait_for(Path(folder) / "killed")
        return self.x.copy()

    def die(self, number):
        """Take the worker down, as the system does when memory is short."""
        if self.number == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return 0

    def fail(self, number):
        if self.number == number:
            raise MemoryError
        return 0


def wait_for(path):
    while not path.exists():
        time.sleep(0.01)


def numbered(k):
    return np.array([float(k), 1.0])


def load_slowly(x, factor, number, folder):
    """Read a partition, saying who does; wait for the first of them to be killed."""
    (Path(folder) / str(os.getpid())).touch()
    wait_for(Path(folder) / "killed")
    return Counts(x, factor, number)


def sources():
    return [(dask.delayed(numbered)(k),) for k in range(N)]


def each(*more):
    return [(k, *more) for k in range(N)]


def hold(partitions, load=Counts, more=()):
    partitions.look(len)
    partitions.hold(load, 2.0, each=each(*more), sizes=[10] * N)


EXPECTED = np.array([2.0 * sum(range(N)), 2.0 * N])


def test_changes_travel_with_the_next_question_and_answers_add_up(client):
    with Partitions(sources(), client) as partitions:
        assert partitions.look(len) == [2] * N
        hold(partitions)
        partitions.tell(Counts.add, 1.0)
        partitions.tell(Counts.add, 0.5)
        np.testing.assert_allclose(partitions.ask(Counts.total), EXPECTED + 1.5 * N)
        assert partitions.n_messages == 2  # one to each worker
        heard = partitions.ask(Counts.list_heard)
        assert sorted(heard) == [(k, (1.0, 0.5)) for k in range(N)]
        assert [x[0] for x in partitions.ask_each(Counts.total)] == [2.0 * k + 1.5 for k in range(N)]
    assert nothing_is_left(client)


def test_two_at_once_do_not_see_each_other(client):
    with Partitions(sources(), client) as one, Partitions(sources(), client) as other:
        hold(one)
        hold(other)
        one.tell(Counts.add, 1.0)
        np.testing.assert_allclose(other.ask(Counts.total), EXPECTED)
        np.testing.assert_allclose(one.ask(Counts.total), EXPECTED + N)
    assert nothing_is_left(client)


def kill_first_arrival(client, folder):
    """Kill the first worker process that leaves its number in a folder."""

    def kill():
        while not (found := [path for path in Path(folder).iterdir() if path.name.isdigit()]):
            time.sleep(0.01)
        os.kill(int(found[0].name), signal.SIGKILL)
        (Path(folder) / "killed").touch()

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


def test_a_worker_killed_between_questions_costs_nothing_but_time(client):
    with Partitions(sources(), client) as partitions:
        hold(partitions)
        partitions.tell(Counts.add, 1.0)
        partitions.ask(Counts.total)
        partitions.tell(Counts.add, 2.0, about="forgotten")
        np.testing.assert_allclose(partitions.ask(Counts.add_and_total, 4.0, changes=True), EXPECTED + 7 * N)
        partitions.forget("forgotten", Counts.forget_all)
        partitions.ask(Counts.total)
        os.kill(process_of(client, next(iter(client.nthreads()))), signal.SIGKILL)
        heard = dict(partitions.ask(Counts.list_heard))
        # Those that were read again heard all but what was forgotten, the others nothing since.
        assert set(heard.values()) == {(), (1.0, 4.0)}
        partitions.tell(Counts.add, 8.0)
        heard = dict(partitions.ask(Counts.list_heard))
        assert set(heard.values()) == {(8.0,), (1.0, 4.0, 8.0)}
        assert len(heard) == N
    assert nothing_is_left(client)


def test_a_worker_killed_while_it_answers(client, tmp_path):
    wait_for_workers(client)
    with Partitions(sources(), client) as partitions:
        hold(partitions)
        partitions.tell(Counts.add, 1.0)
        killer = kill_first_arrival(client, tmp_path)
        np.testing.assert_allclose(partitions.ask(Counts.total_slowly, str(tmp_path)), EXPECTED + N)
        killer.join()
        assert sorted(partitions.ask(Counts.list_heard)) == [(k, (1.0,)) for k in range(N)]
    assert nothing_is_left(client)


def test_a_worker_killed_while_it_reads(client, tmp_path):
    wait_for_workers(client)
    with Partitions(sources(), client) as partitions:
        killer = kill_first_arrival(client, tmp_path)
        hold(partitions, load_slowly, (str(tmp_path),))
        killer.join()
        np.testing.assert_allclose(partitions.ask(Counts.total), EXPECTED)
    assert nothing_is_left(client)


def test_a_partition_that_takes_down_every_worker_is_named_with_the_memory_limit(client):
    wait_for_workers(client)
    with Partitions(sources(), client) as partitions:
        hold(partitions)
        partitions.ask(Counts.total)  # a worker that died in another test may still have been listed
        # The limit is told even where all workers have just been killed.
        named = r"(Partition 4|One of the partitions \[[\d, ]*\b4\b[\d, ]*\])"  # others may have been with it
        told = rf"^{named} was lost 3 times in a row .*, at last tcp://\S+ \(memory limit [\d.]+ GiB\): .* memory"
        with pytest.raises(ClusterError, match=told):
            partitions.ask(Counts.die, 4)
    assert nothing_is_left(client)


def test_losses_are_forgotten_once_a_partition_has_answered(client, monkeypatch):
    wait_for_workers(client)
    with Partitions(sources(), client) as partitions:
        hold(partitions)
        partitions.ask(Counts.total)
        monkeypatch.setattr("recuse.dask.partitions._LOSSES", 2)
        for _ in range(2):
            kill(client, next(a for a, place in partitions._places.items() if 4 in place.numbers))
            wait_for_workers(client)
            np.testing.assert_allclose(partitions.ask(Counts.total), EXPECTED)
    assert nothing_is_left(client)


def fail_at(x, number):
    if x[0] == number:
        raise PartitionError("it has no column 'age'")
    return 0


def read_badly(k):
    if k == 2:
        raise OSError("Parquet magic bytes not found")
    return numbered(k)


def test_errors_name_the_partition(client):
    with Partitions(sources(), client) as partitions:
        with pytest.raises(PartitionError, match=r"^Partition 3: it has no column 'age'$"):
            partitions.look(fail_at, 3)
        hold(partitions)
        with pytest.raises(ClusterError, match=r"Worker tcp://\S+ .* ran out of memory at partition 5\."):
            partitions.ask(Counts.fail, 5)
    unreadable = Partitions([(dask.delayed(read_badly)(k),) for k in range(N)], client)
    with pytest.raises(PartitionError, match=r"Partition 2 cannot be read: OSError: Parquet magic bytes"):
        unreadable.look(len)
    assert nothing_is_left(client)


def no_room(numbers, k, factor):
    raise MemoryError


def test_memory_that_runs_out_while_rows_are_held_names_the_worker(client, monkeypatch):
    """Also where the scheduler does not tell: the task was bound to it."""
    monkeypatch.setattr(Cluster, "_failed_on", lambda self, future: None)
    with (
        Partitions(sources(), client) as partitions,
        pytest.raises(ClusterError, match=r"^Worker (tcp://\S+) .*ran out of memory at partition \d") as told,
    ):
        hold(partitions, load=no_room)
    assert re.search(r"tcp://\S+", str(told.value)).group() in client.nthreads()
    assert nothing_is_left(client)


def test_shelves_speak_through_the_client_given(client):
    from distributed import Client

    with (
        Client(client.scheduler.address, set_as_default=False) as other,
        Client(processes=False, n_workers=1, dashboard_address=":0"),  # in use, and of another cluster
        Partitions(sources(), other) as partitions,
    ):
        hold(partitions)
        assert all(place.shelf._client is other for place in partitions._places.values())
        np.testing.assert_allclose(partitions.ask(Counts.total), EXPECTED)
    assert nothing_is_left(client)


def test_a_client_is_needed(client):
    assert find_client(client) is client
    assert find_client() is client


def test_partitions_stay_where_their_data_are_while_that_is_fair():
    assert share_out([5, 5, 5, 5], ["a", "b", "a", "b"], ["a", "b"]) == {"a": [0, 2], "b": [1, 3]}
    assert share_out([5, 5, 5, 5], ["a", "a", "a", "a"], ["a", "b"]) == {"a": [0, 1], "b": [2, 3]}
    assert share_out([1, 1, 8], [None, "gone", None], ["a", "b"]) == {"a": [2], "b": [0, 1]}


def test_small_partitions_are_grouped_and_large_ones_stay_alone():
    sizes = [40, 10, 200, 30, 0, 90]
    assert small_groups(range(6), sizes, 100) == [[4, 1, 3, 0]]
    assert small_groups(range(6), sizes, 20) == [[4, 1]]
    assert small_groups(range(6), sizes, 1000) == [[4, 1, 3, 0, 5, 2]]
    assert small_groups([2], sizes, 1000) == small_groups([], sizes, 10) == []


def add_up(parts):
    """One thing of several."""
    whole = Counts(sum(part.x for part in parts), 1.0, parts[0].number)
    whole.heard = [part.number for part in parts]
    return whole


def test_joined_partitions_answer_as_one_and_are_read_one_by_one_when_they_are_lost(client):
    wait_for_workers(client)
    with Partitions(sources(), client) as partitions:
        partitions.look(len)
        partitions.hold(Counts, 2.0, each=each(), sizes=[10] * N, join=add_up)
        np.testing.assert_allclose(partitions.ask(Counts.total), EXPECTED)
        joined = partitions.ask(Counts.list_heard)
        assert len(joined) == 2  # one answer of each worker
        assert sorted(number for _, numbers in joined for number in numbers) == list(range(N))
        kill(client, next(iter(partitions._places)))
        np.testing.assert_allclose(partitions.ask(Counts.total), EXPECTED)
        assert len(partitions.ask(Counts.list_heard)) > 2
    assert nothing_is_left(client)
