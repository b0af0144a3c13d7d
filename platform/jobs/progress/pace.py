"""The recent rate of steps."""

import time
from collections import deque
from collections.abc import Callable

_SECONDS_OF_LATE = 60.0
_FEWEST_SAMPLES = 10  # for slow steps, look back further than a minute


class Pace:
    """Steps per second, measured from the completion of the first step.

    Earlier time, such as loading a model or steps of an earlier attempt, does not predict the remaining steps.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._samples: deque[tuple[float, int]] = deque()

    def restart(self) -> None:
        """Discard all samples before other steps begin."""
        self._samples.clear()

    def note(self, steps: int) -> None:
        """Record that `steps` steps are done now."""
        now = self._clock()
        if self._samples and now - self._samples[-1][0] < _SECONDS_OF_LATE / 120:
            return
        self._samples.append((now, steps))
        while len(self._samples) > _FEWEST_SAMPLES and self._samples[1][0] < now - _SECONDS_OF_LATE:
            self._samples.popleft()

    def rate(self, steps: int) -> float | None:
        """Return steps per second, or None while unknown."""
        if not self._samples:
            return None
        at, then = self._samples[0]
        seconds = self._clock() - at
        return (steps - then) / seconds if steps > then and seconds > 0 else None
