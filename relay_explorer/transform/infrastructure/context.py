"""PassContext: the settings that passes run under, and the instruments that watch them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING
from typing import Any as Anything

if TYPE_CHECKING:
    from .passes import PassInfo

# What `config` may hold, and the type of each. A switch was an integer in TVM.
CONFIGS = {
    "relay.FuseOps.link_params": "IntImm",
    "relay.FuseOps.max_depth": "IntImm",
    "relay.max_function_args": "IntImm",
    "relay.PartialEvaluate.max_bindings": "IntImm",
    "relay.ToMixedPrecision.keep_orig_output_dtype": "IntImm",
    "relay.backend.use_auto_scheduler": "IntImm",  # accepted from old code; there is no auto-scheduler
}
# What options are where a context does not set them: of each function here, which others may add.
DEFAULTS: list[Callable[[], Mapping[str, Anything]]] = []


class PassContext:
    """What passes run under: the optimization level, passes that must or must not run, options, and
    instruments.

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
        """Tells the instruments that the context begins. Where one raises, those before it are told that it
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
        """Tells the instruments that the context ends. One that raises is the last: all are dropped."""
        try:
            for instrument in self.instruments:
                getattr(instrument, "exit_pass_ctx", _nothing)()
        except BaseException:
            self.instruments = ()
            raise

    def override_instruments(self, instruments: Sequence[Anything] | None = None) -> None:
        """Other instruments from here on: those before are told that their context ends, these that it
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
        """Return the option `name`: from `config`, from the first of DEFAULTS that has it, or `default`."""
        for source in (self.config, *(defaults() for defaults in DEFAULTS)):
            if name in source:
                return source[name]
        return default

    @staticmethod
    def list_configs() -> dict[str, dict[str, str]]:
        """List the options that `config` may hold, each with the type that TVM gave it."""
        return {name: {"type": kind} for name, kind in CONFIGS.items()}

    def pass_enabled(self, info: PassInfo) -> bool:
        """Whether a pipeline runs the pass here."""
        if info.name in self.disabled_pass:
            return False
        return info.name in self.required_pass or self.opt_level >= info.opt_level


@contextmanager
def context_within(
    opt_level: int, disabled: Sequence[str] = (), config: dict[str, Anything] | None = None
) -> Iterator[None]:
    """Open a context nested in the current one, with another level, additional disabled passes and its own
    options. Instruments see its passes, but are not told that it is entered and left.
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
