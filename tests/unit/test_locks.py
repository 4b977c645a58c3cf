from __future__ import annotations

import os
import threading
import warnings

from driftguard_langgraph._locks import ForkSafeLock


def test_a_child_can_take_a_lock_that_a_thread_of_the_parent_holds() -> None:
    lock = ForkSafeLock()
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            held.set()
            done.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(30)
    with warnings.catch_warnings():
        # What it warns of from Python 3.12 on is what is tested.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        free = lock._lock.acquire(timeout=5)
        os._exit(0 if free else 1)
    _, status = os.waitpid(child, 0)
    done.set()
    holder.join()

    assert os.waitstatus_to_exitcode(status) == 0


def test_it_excludes_other_threads() -> None:
    lock, counted = ForkSafeLock(), [0]

    def count() -> None:
        for _ in range(2000):
            with lock:
                counted[0] = counted[0] + 1

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert counted == [8000]
