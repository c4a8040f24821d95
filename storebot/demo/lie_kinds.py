"""What a kind of lie is: a way to change how a page is shown, or the answer itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from storebot.demo.answers import Answer, Asked
from storebot.demo.pages import View
from storebot.demo.site import Site
from storebot.demo.visitors import Visitors
from storebot.exceptions import ConfigurationError

Options = dict[str, Any]


class Told(NamedTuple):
    """What a lie may look at when it changes an answer."""

    asked: Asked
    site: Site
    options: Options
    visitors: Visitors  # those that this lie has met since it was switched on


@dataclass(frozen=True, slots=True)
class LieKind:
    """One kind of lie: it shows the page in another view, or gives another answer."""

    about: str
    defaults: Options = field(default_factory=dict)  # an option's type is that of its default
    view: Callable[[View, Options], View] | None = None
    answer: Callable[[Answer, Told], Answer] | None = None
    choices: dict[str, tuple[str, ...]] = field(default_factory=dict)  # options that take one of a few words

    def checked(self, name: str, options: Options) -> Options:
        """Return the options with their defaults; raise ConfigurationError, in the name of the lie, for a wrong one."""
        for option, value in options.items():
            if option not in self.defaults:
                known = ", ".join(self.defaults) or "no options"
                raise ConfigurationError(f"the lie {name!r} has no option {option!r}: it takes {known}")
            default, wrong = self.defaults[option], f"{option} of the lie {name!r} is {value!r}"
            wanted = (float, int) if isinstance(default, float) else (type(default),)
            if not isinstance(value, wanted) or isinstance(value, bool) != isinstance(default, bool):
                raise ConfigurationError(f"{wrong}: give a value like {default!r}")
            if option in self.choices and value not in self.choices[option]:
                raise ConfigurationError(f"{wrong}: choose one of {', '.join(self.choices[option])}")
        return self.defaults | options
