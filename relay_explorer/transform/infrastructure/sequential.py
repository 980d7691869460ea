"""Sequential: a pipeline of passes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.errors import PassOptionError, RelayError
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from . import registry
from .context import PassContext
from .passes import Pass, instance, shown_value
from .text import parse_passes


def _as_passes(passes: Sequence[Pass] | str | None) -> Sequence[Pass]:
    """Parse a pipeline that is given as text; reject a class in place of a pass."""
    if isinstance(passes, str):
        return parse_passes(passes)
    for step in passes if isinstance(passes, (list, tuple)) else ():
        if isinstance(step, type) and issubclass(step, Pass):
            name = step.__name__
            raise PassOptionError(f"{name} is a class of passes, not a pass", help=[f"write {name}()"])
    return passes or ()


@dataclass(frozen=True)
class Sequential(Pass):
    """Run passes in order, each only where the context enables it, after the passes that it requires.

    `passes` is a sequence of passes, or their text: `Sequential("SimplifyInference, FuseOps(max_depth=4)")`.
    `str` of a pipeline is such text.
    """

    passes: Sequence[Pass]
    opt_level: int
    name: str
    required: Sequence[str]

    def __init__(
        self,
        passes: Sequence[Pass] | str | None = None,
        opt_level: int = 0,
        name: str = "sequential",
        required: Sequence[str] | None = None,
    ) -> None:
        values = (_as_passes(passes), opt_level, name, required or ())
        for field, value in zip(("passes", "opt_level", "name", "required"), values):
            object.__setattr__(self, field, value)
        self.__post_init__()

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        for step in self.passes:
            if ctx.pass_enabled(step.info):
                for name in step.info.required:
                    mod = _required(name, step)(mod)
                mod = step(mod)
        return mod

    def _runs_other_code(self) -> bool:
        return True

    def _shown_options(self) -> list[str]:
        """Return the options other than the passes, where they differ from their defaults."""
        defaults = {"opt_level": 0, "name": "sequential", "required": ()}
        values = {name: getattr(self, name) for name in defaults}
        return [f"{n}={shown_value(v)}" for n, v in values.items() if v != defaults[n]]

    def __repr__(self) -> str:
        return f"Sequential({', '.join([shown_value(self.passes), *self._shown_options()])})"

    def __str__(self) -> str:
        """Return the pipeline as text: its passes, separated by commas. It is `Sequential([…], …)` if it has
        options, no passes, or nothing but another Sequential.
        """
        alone = len(self.passes) == 1 and type(self.passes[0]) is Sequential
        if self._shown_options() or alone or not self.passes:
            return self._text()
        return ", ".join(p._text() if type(p) is Sequential else str(p) for p in self.passes)

    def _text(self) -> str:
        """Return the pipeline as one item of a pipeline's text."""
        inner = ", ".join(p._text() if type(p) is Sequential else str(p) for p in self.passes)
        return f"Sequential({', '.join([f'[{inner}]', *self._shown_options()])})"


@dataclass(frozen=True, init=False)
class FixedSequential(Sequential, abstract=True):
    """A pipeline that is itself a pass, without options. Subclasses set `name` and define `steps`."""

    def __init__(self) -> None:
        super().__init__(self.steps(), name=type(self).__name__)

    def steps(self) -> Sequence[Pass]:
        """Return the passes, in order."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __str__(self) -> str:
        return type(self).__name__


def parse_pipeline(text: str) -> Sequential:
    """Parse a pipeline from text: names of passes, with options in parentheses, separated by commas.

        parse_pipeline("SimplifyInference, FuseOps(max_depth=4)")

    Options are literals (numbers, strings, True, False, None, lists, tuples, dictionaries); the text is
    parsed, never evaluated. `parse_pipeline(str(pipeline)) == pipeline` for every pipeline whose options are
    literals. An unknown pass or option raises an error that suggests the nearest one.
    """
    passes = parse_passes(text)
    first = passes[0]
    if len(passes) == 1 and isinstance(first, Sequential) and type(first) is Sequential:
        return first
    return Sequential(passes)


def _required(name: str, step: Pass) -> Callable[[IRModule], IRModule]:
    """Return the pass to run before one that requires `name`. The package's own passes infer types by
    themselves where they need them.
    """
    if name == "InferType" and registry.is_ours(type(step)) and not step._runs_other_code():
        return lambda mod: mod
    entry = registry.required(name)
    if entry is None:
        raise RelayError(
            f"the pass {step.info.name} requires `{name}`, which is not a pass",
            help=["`required` names passes of relay.transform, such as InferType"],
        )
    return instance(entry)
