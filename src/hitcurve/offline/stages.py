"""A stream of items through steps, one after another or each step on a thread of its own: with the same effect.

    items        1   2   3   4   5          on the caller's thread, which alone may have to wait for input
    first step       1   2   3   4
    second step          1   2   3

Every step sees all items in their order.  What fails is what would fail with no threads: of all items that do, the
first; those before it have been through all steps.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

Step = Callable[[Any], Any]

END = object()
WAITING = 2  # items between two steps, at most


def run_through(items: Iterable[Any], steps: Sequence[Step], threads: bool) -> None:
    """Each item through all ``steps``: what a step returns is what the next one gets."""
    if threads:
        _Stages(steps).take(items)
        return
    for item in items:
        for step in steps:
            item = step(item)


class _Stages:
    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        self._queues: list[queue.Queue[Any]] = [queue.Queue(WAITING) for _ in steps]
        self._failed: list[tuple[int, BaseException]] = []  # number of the item, what happened
        self._unwanted = False  # nobody wants any result: whatever still waits is thrown away

    def take(self, items: Iterable[Any]) -> None:
        threads = [threading.Thread(target=self._work, args=(k,), daemon=True) for k in range(len(self._steps))]
        for thread in threads:
            thread.start()
        try:
            for item in items:
                self._queues[0].put(item)
                if self._failed:
                    break
        except Exception as error:  # bad input: those before it come first
            self._failed.append((2**63, error))
        except BaseException:  # Ctrl-C
            self._unwanted = True
            raise
        finally:
            self._queues[0].put(END)
            for thread in threads:
                thread.join()
        if self._failed:
            raise min(self._failed, key=lambda failure: failure[0])[1]

    def _work(self, k: int) -> None:
        number, failed, last = 0, False, k + 1 == len(self._steps)
        while (item := self._queues[k].get()) is not END:
            if failed or self._unwanted:
                continue
            try:
                item = self._steps[k](item)
            except BaseException as error:
                self._failed.append((number, error))
                failed = True
            else:
                if not last:
                    self._queues[k + 1].put(item)
            number += 1
        if not last:
            self._queues[k + 1].put(END)
