"""Passes and pipelines: what every pass is, and the context it runs in.

A pass is a small class with a name and a docstring, options as fields, and a pure `transform_module`: it
never changes its input.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any as Anything
from typing import NamedTuple, TypeVar, overload

from ...ir.errors import RelayError
from ...ir.expr import Function
from ...ir.garbage import collected_rarely
from ...ir.module import IRModule

_PACKAGE = __name__.partition(".")[0]


class PassInfo(NamedTuple):
    """A pass's name, the optimization level from which it runs, and the names of passes that it requires."""

    opt_level: int
    name: str
    required: tuple[str, ...] = ()
    traceable: bool = False


class Contract(NamedTuple):
    """What a pass promises of every program; the tests hold it to this.

    `types`: the types of all functions stay. `error`: how far values may be off, relative to the largest (0:
    they are the same). `needs` and `gives` name the normal form that it expects and makes ("A-normal",
    "graph").
    """

    types: bool = True
    error: float = 0.0
    needs: str = ""
    gives: str = ""


# What `config` may hold, and the type of each. A switch was an integer in TVM.
CONFIGS = {
    "relay.FuseOps.link_params": "IntImm",
    "relay.FuseOps.max_depth": "IntImm",
    "relay.max_function_args": "IntImm",
    "relay.PartialEvaluate.max_bindings": "IntImm",
    "relay.ToMixedPrecision.keep_orig_output_dtype": "IntImm",
    "relay.backend.use_auto_scheduler": "IntImm",  # accepted from old code; there is no auto-scheduler
}


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
        """The innermost context; where there is none the thread's default one, of level 2."""
        local = PassContext._stack.__dict__
        contexts = local.get("contexts")
        if contexts:
            innermost: PassContext = contexts[-1]
            return innermost
        default: PassContext = local.setdefault("default", PassContext())
        return default

    @staticmethod
    def list_configs() -> dict[str, dict[str, str]]:
        """The options that `config` may hold, each with the type that TVM gave it."""
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
    """A context that is a part of the current one, with another level, passes that must not run besides, and
    options in place of its own. Instruments see its passes; that it begins and ends is not told them.
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


class Pass:
    """Base of all passes. Subclasses set `name` and `opt_level`, and define `transform_module`."""

    name: str = ""
    opt_level: int = 0
    required: tuple[str, ...] = ()
    contract: Contract = Contract()

    @property
    def info(self) -> PassInfo:
        return PassInfo(self.opt_level, self.name or type(self).__name__, self.required)

    @property
    def pass_info(self) -> PassInfo:
        return self.info

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        """The pass itself: a new module, or `mod` where there is nothing to do."""
        raise NotImplementedError(f"the pass {self.info.name} has no transform_module")

    def __call__(self, mod: IRModule) -> IRModule:
        """Runs the pass under the current context. An instrument whose `should_run` says no skips it."""
        if not isinstance(mod, IRModule):
            raise TypeError(
                f"a pass takes a module, not a {type(mod).__name__}: make one with tvm.IRModule.from_expr(…)"
            )
        ctx = PassContext.current()
        if not all(getattr(i, "should_run", _always)(mod, self.info) for i in ctx.instruments):
            return mod
        for instrument in ctx.instruments:
            getattr(instrument, "run_before_pass", _ignore)(mod, self.info)
        result = self._run(mod, ctx)
        for instrument in ctx.instruments:
            getattr(instrument, "run_after_pass", _ignore)(result, self.info)
        return result

    def _run(self, mod: IRModule, ctx: PassContext) -> IRModule:
        """The pass; an error in one of the package's own is told as such. What a reader's code raises (a
        pass, a relation, a function that was registered) is the reader's.
        """
        try:
            with collected_rarely():
                return self.transform_module(mod, ctx)
        except (RelayError, NotImplementedError):
            raise
        except Exception as error:
            from .failure import failed, is_ours

            if isinstance(self, (Sequential, _FromFunction)) or not is_ours(error):
                raise
            raise failed(self.info.name, mod, error) from error

    def __repr__(self) -> str:
        return f"<{self.info.name}, from level {self.info.opt_level}>"


def _always(mod: IRModule, info: PassInfo) -> bool:
    return True


def _ignore(mod: IRModule, info: PassInfo) -> None:
    pass


class Sequential(Pass):
    """A pipeline: its passes in order, each only where the context enables it."""

    def __init__(
        self,
        passes: Sequence[Pass] | None = None,
        opt_level: int = 0,
        name: str = "sequential",
        required: Sequence[str] | None = None,
    ) -> None:
        self.passes = tuple(passes or ())
        self.opt_level = opt_level
        self.name = name
        self.required = tuple(required or ())

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        for step in self.passes:
            if ctx.pass_enabled(step.info):
                for name in step.info.required:
                    mod = _required(name, step)(mod)
                mod = step(mod)
        return mod


def _required(name: str, step: Pass) -> Callable[[IRModule], IRModule]:
    """What runs before a pass that requires the pass called `name`. The package's own passes infer types by
    themselves where they need them.
    """
    from ... import transform

    if (
        name == "InferType"
        and type(step).__module__.partition(".")[0] == _PACKAGE
        and not isinstance(step, _FromFunction)
    ):
        return lambda mod: mod
    if name not in transform.__all__:
        raise RelayError(
            f"the pass {step.info.name} requires `{name}`, which is no pass",
            help=["`required` names passes of relay.transform, such as InferType"],
        )
    found: Pass = getattr(transform, name)()
    return found


class _FromFunction(Pass):
    """A pass made of a plain function by `module_pass` or `function_pass`."""

    def __init__(self, body: Callable[[IRModule, PassContext], IRModule], info: PassInfo) -> None:
        self._body = body
        self.name, self.opt_level, self.required = info.name, info.opt_level, info.required

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return self._body(mod, ctx)


T = TypeVar("T")
Body = Callable[..., Anything]


@overload
def module_pass(
    pass_func: Body | type, opt_level: int = 0, name: str | None = None, required: Sequence[str] | None = None
) -> Anything: ...
@overload
def module_pass(
    pass_func: None = None, opt_level: int = 0, name: str | None = None, required: Sequence[str] | None = None
) -> Callable[[Body | type], Anything]: ...
def module_pass(
    pass_func: Body | type | None = None,
    opt_level: int = 0,
    name: str | None = None,
    required: Sequence[str] | None = None,
) -> Anything:
    """Makes a pass of `f(mod, ctx) -> mod`, or of a class with such a `transform_module`; usable as a
    decorator.
    """

    def make(body: Body | type) -> Anything:
        info = PassInfo(opt_level, name or body.__name__, tuple(required or ()))
        if isinstance(body, type):
            return _class_of(body, info, lambda inner: inner.transform_module)
        return _FromFunction(body, info)

    return make if pass_func is None else make(pass_func)


def function_pass(
    pass_func: Body | type | None = None,
    opt_level: int = 0,
    name: str | None = None,
    required: Sequence[str] | None = None,
) -> Anything:
    """Makes a pass of `f(function, mod, ctx) -> function`, or of a class with such a `transform_function`:
    it is run on every global function, and the types are inferred again. A module that has none is given
    back as it was made: whoever needs its types says what is wrong.
    """
    from ...ir.errors import TypeInferenceError
    from ...typing import infer_types

    def each(transform: Body) -> Callable[[IRModule, PassContext], IRModule]:
        def run(mod: IRModule, ctx: PassContext) -> IRModule:
            new = mod.copy()
            for var, function in mod.functions.items():
                if isinstance(function, Function):
                    new[var] = transform(function, mod, ctx)
            try:
                return infer_types(new)
            except TypeInferenceError:
                return new

        return run

    def make(body: Body | type) -> Anything:
        info = PassInfo(opt_level, name or body.__name__, tuple(required or ()))
        if isinstance(body, type):
            return _class_of(body, info, lambda inner: each(inner.transform_function))
        return _FromFunction(each(body), info)

    return make if pass_func is None else make(pass_func)


def _class_of(
    body: type, info: PassInfo, method: Callable[[Anything], Callable[[IRModule, PassContext], IRModule]]
) -> type:
    """A pass class around a class that a user wrote: its instances are made with the user's own arguments."""

    class UserPass(_FromFunction):
        def __init__(self, *args: object, **kwargs: object) -> None:
            self.inner = body(*args, **kwargs)
            super().__init__(method(self.inner), info)

        def __getattr__(self, attribute: str) -> Anything:
            return getattr(self.inner, attribute)

    UserPass.__name__, UserPass.__qualname__, UserPass.__doc__ = (
        body.__name__,
        body.__qualname__,
        body.__doc__,
    )
    return UserPass
