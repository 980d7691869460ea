"""PassContext: the settings that passes run under, and the instruments that watch them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING
from typing import Any as Anything

if TYPE_CHECKING:
    from .passes import PassInfo

# The options that `config` may hold, each with its type in TVM, where a switch was an integer.
CONFIGS = {
    "relay.FuseOps.link_params": "IntImm",
    "relay.FuseOps.max_depth": "IntImm",
    "relay.max_function_args": "IntImm",
    "relay.PartialEvaluate.max_bindings": "IntImm",
    "relay.ToMixedPrecision.keep_orig_output_dtype": "IntImm",
    "relay.frontend.fill_span": "IntImm",  # whether imported expressions point to their nodes
    "relay.backend.use_auto_scheduler": "IntImm",  # accepted from old code; there is no auto-scheduler
}
# Functions that return the values of options that a context does not set; other modules may add some.
DEFAULTS: list[Callable[[], Mapping[str, Anything]]] = []


class PassContext:
    """The settings under which passes run: the optimization level, passes that must or must not run, options,
    and instruments.

    Use it in a `with` statement; `PassContext.current()` is the innermost one.
    """

    _stack = threading.local()

    def __init__(
        self,
        opt_level: int = 2,
        required_pass: Sequence[str] | None = None,
        disabled_pass: Sequence[str] | None = None,
        instruments: Sequence[Anything] | None = None,
        config: dict[str, Anything] | None = None,
    ) -> None:
        self.opt_level = opt_level
        self.required_pass = tuple(required_pass or ())
        self.disabled_pass = tuple(disabled_pass or ())
        self.instruments = tuple(instruments or ())
        self.config = dict(config or {})

    def __enter__(self) -> PassContext:
        self._enter_instruments()
        PassContext._stack.__dict__.setdefault("contexts", []).append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        PassContext._stack.contexts.pop()
        self._exit_instruments()

    def _enter_instruments(self) -> None:
        """Notify the instruments that the context begins. If one raises, those before it are notified that it
        ends, and the context is left without instruments.
        """
        for number, instrument in enumerate(self.instruments):
            try:
                getattr(instrument, "enter_pass_ctx", _nothing)()
            except BaseException:
                self.instruments = self.instruments[:number]
                self._exit_instruments()
                self.instruments = ()
                raise

    def _exit_instruments(self) -> None:
        """Notify the instruments that the context ends. If one raises, the others are not notified, and all
        are dropped.
        """
        try:
            for instrument in self.instruments:
                getattr(instrument, "exit_pass_ctx", _nothing)()
        except BaseException:
            self.instruments = ()
            raise

    def override_instruments(self, instruments: Sequence[Anything] | None = None) -> None:
        """Replace the instruments: notify the old ones that their context ends, and the new ones that it
        begins.
        """
        self._exit_instruments()
        self.instruments = tuple(instruments or ())
        self._enter_instruments()

    @staticmethod
    def current() -> PassContext:
        """Return the innermost context; outside any, the thread's default one, of level 2."""
        local = PassContext._stack.__dict__
        contexts = local.get("contexts")
        if contexts:
            innermost: PassContext = contexts[-1]
            return innermost
        default: PassContext = local.setdefault("default", PassContext())
        return default

    def option(self, name: str, default: Anything) -> Anything:
        """Return the option `name` from `config`, or from the first of DEFAULTS that has it; otherwise
        `default`.
        """
        for source in (self.config, *(defaults() for defaults in DEFAULTS)):
            if name in source:
                return source[name]
        return default

    @staticmethod
    def list_configs() -> dict[str, dict[str, str]]:
        """List the options that `config` may hold, each with the type that TVM gave it."""
        return {name: {"type": kind} for name, kind in CONFIGS.items()}

    def pass_enabled(self, info: PassInfo) -> bool:
        """Whether a pipeline runs the pass in this context."""
        if info.name in self.disabled_pass:
            return False
        return info.name in self.required_pass or self.opt_level >= info.opt_level


@contextmanager
def context_within(
    opt_level: int, disabled: Sequence[str] = (), config: dict[str, Anything] | None = None
) -> Iterator[None]:
    """Open a context nested in the current one, with another level, additional disabled passes and its own
    options. Instruments observe its passes, but are not notified when it is entered or left.
    """
    now = PassContext.current()
    inner = PassContext(
        opt_level, now.required_pass, (*now.disabled_pass, *disabled),
        config=now.config if config is None else config,
    )  # fmt: skip
    with inner:
        inner.instruments = now.instruments
        try:
            yield
        finally:
            inner.instruments = ()


def _nothing() -> None:
    pass
