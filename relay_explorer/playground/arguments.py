"""The arguments of `@main`: what the reader wrote, or values that are filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from types import MappingProxyType

from ..ir.errors import RelayError
from ..ir.expr import Function, Var
from ..ir.module import IRModule
from ..ir.ndarray import NDArray
from ..ir.types import TensorType
from ..views.arguments import argument

MAX_ELEMENTS = 20_000  # of a tensor that is filled in
_NONE: Mapping[str, NDArray] = MappingProxyType({})
_PATTERN = (1.0, -0.5, 2.0, 0.25, -1.0, 0.5, 0.0, -2.0)


def arguments_of(module: IRModule, texts: object, weights: Mapping[str, NDArray] = _NONE) -> list[object]:
    """Return the arguments: `texts`, one for each parameter, are Relay literals or nested lists of numbers;
    an empty text stands for a default. That is one of the `weights`, which are known by name, or filled in.
    """
    main = next((f for v, f in module.functions.items() if v.name_hint == "main"), None)
    if not isinstance(main, Function):
        return []
    written: Sequence[object] = texts if isinstance(texts, (list, tuple)) else ()
    return [
        argument(param, text, module)
        if isinstance(text, str) and text.strip()
        else _weight(param, weights) or _default(param, number)
        for number, (param, text) in enumerate(
            zip(main.params, [*written, *[""] * max(0, len(main.params) - len(written))])
        )
    ]


def _weight(param: Var, weights: Mapping[str, NDArray]) -> NDArray | None:
    """Return the model's value of a parameter that still has the name and type of a weight."""
    value, type_ = weights.get(param.name_hint), param.type_annotation
    if value is None or not isinstance(type_, TensorType) or not type_.is_static:
        return None
    return value if (type_.concrete_shape, type_.dtype) == (value.shape, value.dtype) else None


def _default(param: Var, number: int) -> object:
    """Return a value for a tensor: small numbers of both signs; for integers 0, 1 and 2; for booleans
    both.
    """
    type_ = param.type_annotation
    if not isinstance(type_, TensorType) or not type_.is_static:
        raise RelayError(
            f"`%{param.name_hint}` needs an argument"
            + (f" of the type `{type_}`" if type_ is not None else ""),
            param.span,
            help=["write it as a number, as nested lists [[1, 2], [3, 4]], or as a Relay expression"],
        )
    count = prod(type_.concrete_shape)
    if count > MAX_ELEMENTS:
        raise RelayError(
            f"`%{param.name_hint}` has {count:,} elements; the playground fills in at most {MAX_ELEMENTS:,}",
            param.span,
            help=["make the shapes smaller: the steps are the same"],
        )
    import numpy

    if type_.dtype == "bool":
        values: list[float] = [(i + number) % 2 for i in range(count)]
    elif type_.dtype.startswith(("int", "uint")):
        values = [(i + 2) % 3 for i in range(count)]
    else:
        values = [_PATTERN[(i + 3 * number) % len(_PATTERN)] for i in range(count)]
    dtype = "float32" if type_.dtype == "bfloat16" else type_.dtype
    return numpy.array(values, dtype).reshape(type_.concrete_shape)
