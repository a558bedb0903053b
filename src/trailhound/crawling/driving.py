"""From an asynchronous crawl to an ordinary loop over its events; and time that leaps."""

from __future__ import annotations

import asyncio
import selectors
import signal
import threading
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Iterator,
)
from contextlib import contextmanager
from typing import Any, Self, TypeVar

T = TypeVar("T")


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock stands still while there is work, and else leaps to the next timer.

    A crawl of a recorded web meets delays and time-outs in the order of the live web and waits for
    none of them. :meth:`held` is for work that takes real time, such as a request to a server.
    """

    def __init__(self) -> None:
        self._now = 0.0
        self._holds = 0
        super().__init__(_LeapingSelector(self))

    def time(self) -> float:
        """Seconds since the loop was made."""
        return self._now

    @contextmanager
    def held(self) -> Iterator[None]:
        """Within it the clock stands still."""
        self._holds += 1
        try:
            yield
        finally:
            self._holds -= 1

    @property
    def is_held(self) -> bool:
        """Whether something outside is waited for."""
        return self._holds > 0

    def leap(self, seconds: float) -> None:
        """Let time pass."""
        self._now += seconds


class _LeapingSelector(selectors.DefaultSelector):
    """Where a loop would sleep until its next timer, it leaps there."""

    def __init__(self, loop: VirtualTimeLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What is ready."""
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        if self._loop.is_held:
            return super().select(None)
        ready = super().select(0)
        if not ready:
            self._loop.leap(timeout)
        return ready


def loop_time() -> float:
    """The time of the running event loop: virtual where that is."""
    return asyncio.get_running_loop().time()


class _Interrupts:
    """While it is open, Ctrl-C cancels what the loop completes, and is raised at the end.

    Raised at once, between any two instructions, it would leave tasks half made. A second one is.
    Where somebody else handles the signal, or in another thread, nothing changes.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._task: asyncio.Future[Any] | None = None
        self._is_interrupted = False
        self._is_handling = False

    def __enter__(self) -> Self:
        if (
            threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        ):
            self._is_handling = True
            signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._is_handling:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if self._is_interrupted and kind in (None, asyncio.CancelledError):
            raise KeyboardInterrupt from None

    def complete(self, work: Awaitable[T]) -> T:
        # The work itself is the task: cancelled before its first step, nothing stays unawaited.
        self._task = task = asyncio.ensure_future(work, loop=self._loop)
        if self._is_interrupted:
            task.cancel()
        try:
            return self._loop.run_until_complete(task)
        except BaseException:
            if not task.done():
                task.cancel()
                self._loop.run_until_complete(asyncio.wait([task]))
            raise
        finally:  # it goes while this is open: an interrupt as it is taken apart would be lost
            self._task = None

    def _note(self, *_: object) -> None:
        if self._is_interrupted:
            raise KeyboardInterrupt
        self._is_interrupted = True
        if self._task is not None:
            self._loop.call_soon_threadsafe(self._task.cancel)


class Driver:
    """Runs coroutines to their end in an event loop of its own, one call at a time.

    Called where a loop is running already (a notebook), it moves its own into another thread, and
    leaves it there.
    """

    def __init__(
        self, make_loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop
    ) -> None:
        self.loop = make_loop()
        self._thread: threading.Thread | None = None

    def run(self, work: Awaitable[T]) -> T:
        """What comes of ``work``. An interrupt (Ctrl-C) reaches it as well."""
        if self._is_in_thread():
            return self._run_in_thread(work)
        with _Interrupts(self.loop) as interrupts:
            return interrupts.complete(work)

    def _is_in_thread(self) -> bool:
        """Asked at each call: what was begun in a script may go on in a coroutine."""
        if self._thread is None and _is_running() and not self.loop.is_running():
            self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
            self._thread.start()
        return self._thread is not None

    def _run_in_thread(self, work: Awaitable[T]) -> T:
        tasks: list[asyncio.Task[Any]] = []

        async def noted() -> T:
            tasks.extend(filter(None, [asyncio.current_task()]))
            return await work

        future = asyncio.run_coroutine_threadsafe(noted(), self.loop)
        try:
            return future.result()
        except BaseException:
            if not future.done():  # it was this thread that was interrupted
                future.cancel()
                asyncio.run_coroutine_threadsafe(_ended(tasks), self.loop).result()
            raise

    def iterate(self, events: AsyncGenerator[T]) -> Generator[T]:
        """All of ``events``; leaving the loop early ends them."""

        async def step() -> tuple[T] | None:
            async for event in events:
                return (event,)
            return None

        try:
            while (found := self._next(step)) is not None:
                yield found[0]
        finally:
            self.run(events.aclose())

    def _next(self, step: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if self._is_in_thread():
            return self._run_in_thread(step())
        with _Interrupts(self.loop) as interrupts:  # nothing is begun before it
            return interrupts.complete(step())

    def close(self) -> None:
        """Let the loop go."""
        if self.loop.is_closed():
            return
        if self._thread is not None:
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join()
        self.loop.close()


def run_alone(work: Awaitable[T]) -> T:
    """What comes of ``work``, in an event loop of its own."""
    driver = Driver()
    try:
        return driver.run(work)
    finally:
        driver.close()


async def _ended(tasks: list[asyncio.Task[Any]]) -> None:
    if tasks:
        await asyncio.wait(tasks)


def _is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def drive(
    events: AsyncGenerator[T], close: Callable[[], Awaitable[Any]] | None = None
) -> Generator[T]:
    """All of ``events`` in an event loop of their own, and ``close`` at the end of it."""
    driver = Driver()
    try:
        yield from driver.iterate(events)
    finally:
        if close is not None:
            driver.run(close())
        driver.close()
