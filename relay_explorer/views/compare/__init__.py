"""Two programs side by side: what corresponds, and what differs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...ir.errors import RelayError
from ...ir.module import IRModule
from ..registry import ViewError, declare
from ..source import Source
from .format import CompareView

if TYPE_CHECKING:
    from ...transform.infrastructure import Pass


@declare("compare", "two programs side by side, with their differences", accepts=("Inference", "Evaluation"))
def build(
    source: Source, *, against: object = None, passes: Sequence[Pass] | str | None = None
) -> CompareView:
    """Build the view of a program, after `passes` if there are any, beside another one: `against`, or what
    the passes of `against` make of the program. Without `against`, it is the program before and after the
    passes.
    """
    from .view import compare_view

    module, name = source.module, source.title
    if against is None and passes is None:
        raise ViewError(
            "the view 'compare' needs another program",
            help=[
                "in Python: explore(a, against=b), where b is a program, a file, or passes to run on a",
                "on the command line: relay-explorer explore a.relay b.onnx",
            ],
        )
    first, first_name = (module, name) if passes is None else _after(module, passes)
    if against is None:
        return compare_view(module, first, (name, first_name), source.asked_title, _text(passes))
    second, second_name = _after(module, against) if is_pipeline(against) else _other(against)
    text = _text(against) if passes is None and is_pipeline(against) else None
    return compare_view(first, second, (first_name, second_name), source.asked_title, text)


def is_pipeline(x: object) -> bool:
    """Whether `x` is a pass or a list of passes, also as text, rather than a program."""
    from ...transform import list_passes
    from ...transform.infrastructure import Pass

    if isinstance(x, str):
        names = {entry.usage.partition("(")[0] for entry in list_passes()}
        return x.replace("(", ",").split(",")[0].strip() in names
    if isinstance(x, (list, tuple)):
        return bool(x) and all(isinstance(step, Pass) for step in x)
    return isinstance(x, Pass) or (callable(x) and not hasattr(x, "astext"))


def _after(module: IRModule, passes: object) -> tuple[IRModule, str]:
    """Return what a pipeline makes of a module, and the pipeline's name."""
    from ...transform import Sequential
    from ...transform.infrastructure import Pass

    run: Callable[[IRModule], object]
    if isinstance(passes, (str, list, tuple)):
        steps = Sequential(passes)
        run, names = steps, [step.info.name for step in steps.passes]
    elif isinstance(passes, Pass):
        run, names = passes, [passes.info.name]
    else:
        run, names = passes, [getattr(passes, "__name__", "the pass")]  # type: ignore[assignment]
    result = run(module)
    if not isinstance(result, IRModule):
        raise RelayError(
            f"{names[0]} returned {type(result).__name__}, not a module",
            help=["a pass takes a module and returns one"],
        )
    more = f" … {names[-1]}" if len(names) > 3 else "".join(f", {name}" for name in names[1:])
    return result, f"after {names[0]}{more}" if names else "as given"


def _text(passes: Any) -> str | None:
    """Return a pipeline as text; a function has none."""
    from ...transform import Sequential
    from ...transform.infrastructure import Pass

    if isinstance(passes, Pass):
        return str(passes)
    return str(Sequential(passes)) if isinstance(passes, (str, list, tuple)) else None


def _other(against: object) -> tuple[IRModule, str]:
    other = Source(against)
    return other.module, other.title
