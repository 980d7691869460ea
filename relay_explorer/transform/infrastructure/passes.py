"""Pass: the base of all passes.

A pass is a frozen dataclass. Its options are its fields, so passes with equal options are equal and can be
keys, `repr` shows the options that differ from their defaults, and a wrong option is rejected at
construction:

    @dataclass(frozen=True)
    class Unroll(Pass):
        '''Unroll loops.'''

        name = "Unroll"
        opt_level = 1
        factor: Annotated[int, AtLeast(1)] = 4

        def transform_module(self, mod, ctx): ...
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any as Anything
from typing import ClassVar, NamedTuple

from ...ir.errors import RelayError
from ...ir.garbage import collected_rarely
from ...ir.module import IRModule
from . import registry
from .context import PassContext
from .failure import failed, is_ours
from .options import checked, options, type_hints


class PassInfo(NamedTuple):
    """The name of a pass, the optimization level from which it runs, and the passes that run before it."""

    opt_level: int
    name: str
    required: tuple[str, ...] = ()


class Contract(NamedTuple):
    """The guarantees of a pass for every program, which the tests check.

    `types`: the types of all functions stay the same. `error`: the largest error of values, relative to the
    largest value (0: none). `needs` and `gives` name the normal form that it expects and produces:
    "A-normal", "basic-block", "graph", "CPS", "first-order".
    """

    types: bool = True
    error: float = 0.0
    needs: str = ""
    gives: str = ""


class Pass:
    """Base of all passes. Subclasses set `name` and `opt_level`, and define `transform_module`.

    Decorate a subclass with `@dataclass(frozen=True)` and declare its options as fields; a class with an
    `__init__` of its own works too, but is compared by identity. Defining a subclass registers it under its
    class name, for pipelines that are written as text; `abstract=True`, or a name that begins with an
    underscore, keeps it out.
    """

    name: str = ""
    opt_level: int = 0
    required: Sequence[str] = ()
    contract: ClassVar[Contract] = Contract()

    def __init_subclass__(cls, abstract: bool = False, **keywords: Anything) -> None:
        super().__init_subclass__(**keywords)
        # `@dataclass` generates the methods that the class itself does not define. These are better.
        for method in ("__repr__", "__str__"):
            setattr(cls, method, getattr(cls, method))
        if not abstract and not cls.__name__.startswith("_"):
            registry.register(cls.__name__, cls)

    def __post_init__(self) -> None:
        """Check the options; runs after the constructor that `@dataclass` writes."""
        for name, value in checked(self, type_hints(type(self))).items():
            object.__setattr__(self, name, value)

    @property
    def info(self) -> PassInfo:
        return PassInfo(self.opt_level, self.name or type(self).__name__, tuple(self.required))

    @property
    def pass_info(self) -> PassInfo:
        return self.info

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        """Return the transformed module, or `mod` itself where there is nothing to do; never change `mod`."""
        raise NotImplementedError(f"the pass {self.info.name} has no transform_module")

    def __call__(self, mod: IRModule) -> IRModule:
        """Run the pass under the current context. An instrument whose `should_run` returns false skips it."""
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
        """Run `transform_module`. An error in the package's own code is reported as a fault of the pass;
        errors from a reader's code (a pass, a relation, a registered function) pass through unchanged.
        """
        try:
            with collected_rarely():
                return self.transform_module(mod, ctx)
        except (RelayError, NotImplementedError):
            raise
        except Exception as error:
            if self._runs_other_code() or not is_ours(error):
                raise
            raise failed(self.info.name, mod, error) from error

    def _runs_other_code(self) -> bool:
        """Whether the pass only runs other code, such as other passes, which reports its own errors."""
        return False

    def _shown_options(self) -> list[str]:
        """Return the options that differ from their defaults, as keyword arguments."""
        shown = []
        for option in options(type(self)):
            value = getattr(self, option.name)
            if value != option.default or type(value) is not type(option.default):
                shown.append(f"{option.name}={shown_value(value)}")
        return shown

    def __repr__(self) -> str:
        """Return the Python expression that creates the pass: `FuseOps(fuse_opt_level=2)`."""
        return f"{type(self).__name__}({', '.join(self._shown_options())})"

    def __str__(self) -> str:
        """Return the pass as a pipeline's text writes it: `FuseOps(fuse_opt_level=2)`,
        `SimplifyInference`.
        """
        return repr(self).removesuffix("()")


def shown_value(value: object) -> str:
    """Return an option's value as text: literals as in Python, functions by their names."""
    if callable(value) and not isinstance(value, Pass):
        return str(getattr(value, "__name__", repr(value)))
    if isinstance(value, tuple):
        inner = ", ".join(map(shown_value, value))
        return f"[{inner}]"
    return repr(value)


def instance(entry: registry.Entry, *args: object, **keywords: object) -> Pass:
    """Create a pass from an entry of the registry."""
    return entry if isinstance(entry, Pass) else entry(*args, **keywords)


def signature(entry: registry.Entry) -> inspect.Signature:
    """Return the options that an entry of the registry takes. A pass made from a function takes none."""
    return inspect.Signature() if isinstance(entry, Pass) else inspect.signature(entry)


def _always(mod: IRModule, info: PassInfo) -> bool:
    return True


def _ignore(mod: IRModule, info: PassInfo) -> None:
    pass
