"""How much a template may do.

Contract: one ``Budget`` is handed to one rendering and is used up by it. It counts

- *steps*: a loop round, a macro, method or filter call, or a thousand characters of work inside one of them;
- *characters*: what the template makes (text, and eight for each element of a list it builds);
- time: ``deadline`` is asked every few hundred steps and says True when time is up. No clock is read here.

Running out raises ``TemplateLimit``. Jinja swallows exceptions in a few places (``is sequence``): so every later charge
raises again, and ``check`` does at the end.
Charges come before the work wherever the result could be larger than what went in; where it can't be, they follow it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from typecase.api.errors import TemplateLimit

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

__all__ = ["Budget"]

_ENDLESS = 1 << 62
_STEPS_PER_CHECK = 256  # of the deadline; a step is about a microsecond
_LONGEST = 1 << 18  # steps of one operation: nothing can look at the clock while it runs
_WORK_SHIFT = 10  # 1024 characters of work make a step


class Budget:
    """Steps, characters and time left. Generated template code takes steps from ``fuel`` directly."""

    __slots__ = (
        "_characters",
        "_deadline",
        "_reserve",
        "_steps",
        "_stopped",
        "bounded",
        "ceiling",
        "characters",
        "fuel",
    )

    def __init__(self, steps: int, characters: int, deadline: Callable[[], bool] | None = None):
        self._steps = steps
        self._characters = characters
        self._deadline = deadline
        self._reserve = steps
        self._stopped: str | None = None
        #: steps handed out and not used yet; below zero: call `refuel`
        self.fuel = 0
        #: characters left
        self.characters = characters
        #: the largest value a template may build, however cheaply (lists of the same list of the same list ...)
        self.ceiling = characters
        #: False for a budget that never runs out: nothing needs to be weighed then
        self.bounded = characters < _ENDLESS

    @classmethod
    def unlimited(cls) -> Budget:
        """A budget that never runs out."""
        return cls(_ENDLESS, _ENDLESS)

    def refuel(self) -> None:
        """Hand out the next steps, if there are any left and there is time."""
        if self._deadline is None:
            wanted = self._reserve
        else:
            if self._deadline():
                self._stop("The chat template took longer than its time limit.")
            if self.fuel < -_LONGEST:
                self._stop("The chat template asks for an operation that takes too long.")
            wanted = min(_STEPS_PER_CHECK - self.fuel, self._reserve)
        if self.fuel + wanted < 0:
            self._stop(f"The chat template took more than its limit of {self._steps} steps.")
        self.fuel += wanted
        self._reserve -= wanted

    def step(self) -> None:
        self.fuel -= 1
        if self.fuel < 0:
            self.refuel()

    def work(self, characters: int) -> None:
        """Charge for going through this many characters (or doing as much otherwise)."""
        self.fuel -= 1 + (characters >> _WORK_SHIFT)
        if self.fuel < 0:
            self.refuel()

    def grow(self, characters: int) -> None:
        """Charge for making this many characters."""
        self.characters -= characters
        if self.characters < 0:
            self._out_of_characters()
        self.work(characters)

    def require(self, characters: int) -> None:
        """Raise unless this many characters could be made now. Charges nothing."""
        if characters > self.characters:
            self._out_of_characters()

    def check(self) -> None:
        """Raise if the budget ran out at any time."""
        if self._stopped is not None:
            raise TemplateLimit(self._stopped)

    def _out_of_characters(self) -> NoReturn:
        self.characters = -1
        self._stop(f"The chat template makes more than its limit of {self._characters} characters.")

    def _stop(self, message: str) -> NoReturn:
        self.fuel = -1
        self._reserve = 0
        self._stopped = self._stopped or message
        raise TemplateLimit(self._stopped)
