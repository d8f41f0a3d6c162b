"""Timelines of devices in asyncio's loops."""

import itertools
import threading

__all__ = ["HalDeviceLoopBridge"]


class HalDeviceLoopBridge:
    """Futures of a loop that are done when a semaphore reaches a value. A thread of its own waits, until stop()."""

    def __init__(self, device, loop):
        self._device, self._loop = device, loop
        self._lock = threading.Lock()
        self._added, self._turns = [], itertools.count(1)
        self._wake = device.create_semaphore(0)
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="iree-loop-bridge", daemon=True)
        self._thread.start()

    def on_semaphore(self, semaphore, payload, value):
        """A future whose result is `value` when the semaphore has reached the payload; its failure otherwise."""
        future = self._loop.create_future()
        with self._lock:
            if self._stopped:
                raise RuntimeError("the bridge was stopped")
            self._added.append((semaphore, payload, value, future))
            self._wake.signal(next(self._turns))
        return future

    def stop(self):
        """Ends the thread. Futures that are left over stay as they are."""
        with self._lock:
            if not self._stopped:
                self._stopped = True
                self._wake.signal(next(self._turns))
        self._thread.join()

    def _run(self):
        pending = []
        while True:
            with self._lock:
                if self._stopped:
                    return
                pending += self._added
                self._added.clear()
                turn = self._wake.query() + 1
            try:
                self._device.wait_any([(self._wake, turn), *((each[0], each[1]) for each in pending)])
            except RuntimeError:
                pass  # one of them failed; which one is asked below
            pending = [each for each in pending if not self._finish(*each)]

    def _finish(self, semaphore, payload, value, future):
        """Whether nothing is left to wait for."""
        try:
            if semaphore.query() < payload:
                return False
            done = future.set_result, value
        except RuntimeError as error:
            done = future.set_exception, error
        try:
            self._loop.call_soon_threadsafe(_settle, future, *done)
        except RuntimeError:
            pass  # the loop is closed
        return True


def _settle(future, settle, value):
    if not future.done():  # somebody may have cancelled it
        settle(value)
