# SPDX-License-Identifier: Apache-2.0
"""What runs tasks: local processes, Ray or Dask, behind one small interface.

An engine takes a function and tasks, keeps a few of them under way, and gives each back with its result or
its exception. A worker that dies is replaced, and its tasks begin anew.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")
Outcome = tuple[Task, "Result | Exception"]

# A task whose worker dies so often is to blame itself.
_DEATHS = 10
# So many tasks for each worker are under way.
_AHEAD = 2


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0))


def _single_threaded() -> None:
    """Leaves one core to each worker, whatever the numeric libraries would take."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"


def local(
    function: Callable[[Task], Result], tasks: Iterable[Task], workers: int | None
) -> Iterator[Outcome[Task, Result]]:
    """Runs tasks in processes of this machine."""
    count = workers or cores()
    rest = iter(tasks)
    again: list[tuple[Task, int]] = []
    pending: dict[Future[Result], tuple[Task, int]] = {}
    pool: ProcessPoolExecutor | None = None
    try:
        while True:
            pool = pool or ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), _single_threaded)
            while len(pending) < _AHEAD * count:
                entry = again.pop() if again else next(((task, 0) for task in rest), None)
                if entry is None:
                    break
                try:
                    pending[pool.submit(function, entry[0])] = entry
                except BrokenProcessPool:
                    again.append(entry)
                    break
            if not pending and not again:
                return
            is_broken = not pending
            for future in wait(pending, return_when=FIRST_COMPLETED).done if pending else ():
                task, deaths = pending.pop(future)
                error = future.exception()
                if isinstance(error, BrokenProcessPool):
                    is_broken = True
                    if deaths + 1 >= _DEATHS:
                        yield task, error
                    else:
                        again.append((task, deaths + 1))
                elif error is None:
                    yield task, future.result()
                else:
                    yield task, error if isinstance(error, Exception) else RuntimeError(str(error))
            if is_broken:
                again += pending.values()
                pending.clear()
                pool.shutdown(wait=False, cancel_futures=True)
                pool = None
    finally:
        if pool:
            pool.shutdown(cancel_futures=True)


def on_ray(
    function: Callable[[Task], Result], tasks: Iterable[Task], workers: int | None
) -> Iterator[Outcome[Task, Result]]:
    """Runs tasks on the Ray cluster at hand (`RAY_ADDRESS`), or on one of this machine."""
    import ray

    if not ray.is_initialized():
        address = os.environ.get("RAY_ADDRESS")
        size: dict[str, Any] = {} if address else {"num_cpus": workers or cores()}
        ray.init(
            address=address, log_to_driver=False, configure_logging=False, include_dashboard=False, **size
        )
    remote = ray.remote(num_cpus=1, max_retries=_DEATHS)(function)
    count = workers or int(ray.cluster_resources().get("CPU", 1))
    rest = iter(tasks)
    pending: dict[Any, Task] = {}
    while True:
        while len(pending) < _AHEAD * count:
            task = next(((task,) for task in rest), None)
            if task is None:
                break
            pending[remote.remote(task[0])] = task[0]
        if not pending:
            return
        for reference in ray.wait(list(pending))[0]:
            try:
                result: Any = ray.get(reference)
            except Exception as error:  # noqa: BLE001  whatever the task raised goes to the caller
                result = error
            yield pending.pop(reference), result


def on_dask(
    function: Callable[[Task], Result], tasks: Iterable[Task], workers: int | None
) -> Iterator[Outcome[Task, Result]]:
    """Runs tasks on the Dask cluster at hand (`DASK_SCHEDULER_ADDRESS`), or on one of this machine."""
    import dask
    from distributed import Client, as_completed

    dask.config.set({"distributed.scheduler.allowed-failures": _DEATHS})
    address = os.environ.get("DASK_SCHEDULER_ADDRESS")
    cluster = None if address else _local_cluster(workers or cores())
    with Client(address or cluster) as client:
        count = workers or max(1, sum(client.nthreads().values()))
        rest = iter(tasks)
        pending: dict[str, Task] = {}
        completed = as_completed()

        def add() -> None:
            for task in rest:
                future = client.submit(function, task, pure=False)
                pending[future.key] = task
                completed.add(future)
                return

        for _ in range(_AHEAD * count):
            add()
        for future in completed:
            try:
                result: Any = future.result()
            except Exception as error:  # noqa: BLE001  whatever the task raised goes to the caller
                result = error
            yield pending.pop(future.key), result
            add()
    if cluster:
        cluster.close()


def _local_cluster(count: int) -> Any:
    """A Dask cluster of this machine. It does not start when a worker dies meanwhile, so it is tried again."""
    from distributed import LocalCluster

    arguments = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    for tried in range(3):
        try:
            return LocalCluster(n_workers=count, **arguments)
        except RuntimeError:
            if tried == 2:
                raise
    raise AssertionError("the loop returns or raises")


ENGINES: dict[str, Callable[..., Iterator[Any]]] = {
    "local": local,
    "ray": on_ray,
    "dask": on_dask,
}
