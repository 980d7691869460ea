"""`tvm.relay.frontend.common`: helpers of importers that old code, and old converters, use."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..execute import Executor
from ..frontends.base.context import mark
from ..ir.annotate import set_span as _set_span
from ..ir.bind import bind_params_by_name
from ..ir.expr import Constant, Expr, Function, Var
from ..ir.module import IRModule
from ..ir.span import SourceName, Span
from ..ir.tuple_wrapper import TupleWrapper
from ..ir.types import TensorType
from ..ir.walk import free_vars
from ..ops import namespaces as relay
from ..transform import FoldConstant, PassContext
from ..typing.incremental import type_of
from .arrays import DeviceArray, array
from .relay_testing import run_infer_type, run_opt_pass
from .testing import FILL_SPAN


class StrAttrsDict:
    """The attributes of a node whose values are text, as in MXNet's files: `attrs.get_int("axis", -1)`."""

    def __init__(self, attrs: Mapping[str, Any]) -> None:
        self.attrs = attrs

    def has_attr(self, key: str) -> bool:
        return key in self.attrs

    def _text(self, key: str, default: tuple[Any, ...]) -> str | None:
        """Return the text of an attribute; None where it is missing and there is a default."""
        if key in self.attrs:
            return str(self.attrs[key])
        if default:
            return None
        raise AttributeError(f"the node has no attribute {key!r}; it has {', '.join(self.attrs) or 'none'}")

    def get_str(self, key: str, *default: Any) -> Any:
        text = self._text(key, default)
        return default[0] if text is None else text

    def get_int(self, key: str, *default: Any) -> Any:
        text = self._text(key, default)
        if text is None or text == "None":
            return default[0] if default else None
        return int(text)

    def get_float(self, key: str, *default: Any) -> Any:
        text = self._text(key, default)
        return default[0] if text is None else float(text)

    def get_bool(self, key: str, *default: Any) -> Any:
        text = self._text(key, default)
        return default[0] if text is None else text.strip().lower() in ("1", "true")

    def _numbers(self, key: str, default: tuple[Any, ...], number: type[Any]) -> Any:
        text = self._text(key, default)
        if text is None:
            return default[0]
        parts = [part.strip() for part in text.strip().strip("()[]").split(",")]
        return tuple([None if part == "None" else number(part) for part in parts if part])

    def get_int_tuple(self, key: str, *default: Any) -> Any:
        return self._numbers(key, default, int)

    def get_float_tuple(self, key: str, *default: Any) -> Any:
        return self._numbers(key, default, float)

    get_tuple_tuple_int = get_int_tuple

    def get_int_list(self, key: str, *default: Any) -> Any:
        text = self._text(key, default)
        return default[0] if text is None else tuple([int(number) for number in re.findall(r"-?\d+", text)])


class ExprTable:
    """The expressions of an import by name."""

    def __init__(self) -> None:
        self.exprs: dict[str, Expr] = {}
        self.params: dict[str, Any] = {}
        self.const_ctr = 1
        self.in_padding = False

    def new_const(self, value: Any, shape: Sequence[int] | None = None, dtype: str = "float32") -> Var:
        """Create a parameter with a value of its own; return it."""
        name = f"_param_{self.const_ctr}"
        self.const_ctr += 1
        values = value if hasattr(value, "shape") else array(value)
        self.params[name] = values
        self.exprs[name] = Var(name, TensorType(tuple(shape or values.shape), dtype))
        return self.exprs[name]  # type: ignore[return-value]  # the line before

    def get_expr(self, name: str) -> Expr:
        return self.exprs[name]

    def set_expr(self, name: str, expr: Expr, force_override: bool = False) -> None:
        """Enter an expression. An earlier one of the name remains, unless `force_override`."""
        if name not in self.exprs or force_override:
            self.exprs[name] = expr

    def has_expr(self, name: str) -> bool:
        return name in self.exprs

    def __iter__(self) -> Iterator[str]:
        return iter(self.exprs)


def new_var(
    name_hint: str, type_annotation: Any = None, shape: Any = None, dtype: str = "float32", span: Any = None
) -> Var:
    """Create a variable."""
    from ..ir.expr import var

    return var(name_hint, type_annotation, shape, dtype, span)


def infer_shape(inputs: Expr, mod: IRModule | None = None) -> Any:
    """Return the shape of an expression."""
    type_ = run_infer_type(inputs, mod).checked_type
    return tuple(type_.shape) if isinstance(type_, TensorType) else type_


def infer_channels(inputs: Expr, transpose: bool = False) -> int:
    """Return the number of output channels of a convolution with the weight `inputs`."""
    shape = infer_shape(inputs)
    return int(shape[1] if transpose else shape[0])


def infer_value(input_val: Expr, params: Mapping[str, Any], mod: IRModule | None = None) -> DeviceArray:
    """Return the value of an expression, whose variables all have values in `params`."""
    function = Function(list(free_vars(input_val)), input_val)
    absent = [var.name_hint for var in function.params if var.name_hint not in params]
    if absent:
        raise ValueError(f"the value is not known at compile time: it depends on {', '.join(absent)}")
    module = IRModule.from_expr(bind_params_by_name(function, params))
    if mod is not None:
        module.update({var: mod[var] for var in mod.get_global_vars() if var.name_hint != "main"})
    return array(Executor("debug", module).evaluate()())


def infer_value_simulated(input_val: Expr, params: Mapping[str, Any]) -> DeviceArray:
    """Return the value of an expression in which variables without a value in `params` are random."""
    from .check_grad import _np_randn_from_type

    values = dict(params)
    for var in free_vars(input_val):
        if var.name_hint not in values:
            type_ = type_of(var)
            assert isinstance(type_, TensorType)
            values[var.name_hint] = array(_np_randn_from_type(type_))
    return infer_value(input_val, values)


def try_infer_value(
    val: Any, on_success: Any = None, on_failure: Any = None, parameters: Mapping[str, Any] | None = None
) -> tuple[Any, bool]:
    """Return the value of an expression and True if it is known at compile time; otherwise `on_failure()`, or
    the expression, and False.
    """
    if not isinstance(val, Expr):
        return (on_success(val) if on_success else val), True
    known = {var.name_hint for var in free_vars(val)} <= set(parameters or {})
    if not known:
        return (on_failure() if on_failure else val), False
    value = infer_value(val, parameters or {}).numpy()
    return (on_success(value) if on_success else value), True


def fold_constant(node: Expr, mod: IRModule | None = None) -> Expr:
    """Return the expression with its constant parts evaluated."""
    return run_opt_pass(node, FoldConstant(), mod=mod)


def shape_of(x: Expr, dtype: str = "int64", start: int | None = None, end: int | None = None) -> Expr:
    """Return the shape of `x`: a constant where it is static, and otherwise an expression."""
    import numpy

    shape = infer_shape(x)[slice(start, end)]
    if all(isinstance(extent, int) for extent in shape):
        return Constant(array(numpy.asarray(shape, dtype)))
    whole = relay.shape_of(x, dtype)
    if start is None and end is None:
        return whole
    rank = len(infer_shape(x))
    begin, stop, _ = slice(start, end).indices(rank)
    return relay.strided_slice(whole, [begin], [stop])


def get_relay_op(op_name: str) -> Any:
    """Return the builder of an operator of `relay`, `relay.nn`, `relay.image` or `relay.vision`."""
    for place in (relay, relay.nn, relay.image, relay.vision):
        builder = getattr(place, op_name, None)
        if callable(builder):
            return builder
    raise ValueError(f"there is no operator {op_name!r} in relay")


def get_name(node: Any) -> str:
    """Return the name of a variable, or of anything else with a `name`."""
    name = getattr(node, "name_hint", None) or getattr(node, "name", "")
    return str(name)


def fills_spans() -> bool:
    """Whether importers give expressions their spans: they do, unless `disable_span_filling` is in force."""
    return bool(PassContext.current().option(FILL_SPAN, True))


def set_span(sym: Any, span: Any) -> Any:
    """Set the span of all parts of `sym`, an expression or a list or tuple of them, that have none; parts
    below one that has a span are left as they are. `span` is a Span or the name of a node.
    """
    if not fills_spans():
        return sym
    where = span if isinstance(span, Span) else Span(SourceName(str(span)), 0, 0, 0, 0)
    if isinstance(sym, TupleWrapper):
        mark(sym.tuple_value, where)
    elif isinstance(sym, (list, tuple)):
        for part in sym:
            set_span(part, where)
    elif isinstance(sym, Var):
        if sym.span is None:
            _set_span(sym, where)
    elif isinstance(sym, Expr):
        mark(sym, where)
    return sym


def is_version_greater_than(ver: str) -> bool:
    """Whether the installed PyTorch is newer than `ver`."""
    from importlib.metadata import version

    def numbers(text: str) -> list[int]:
        return [int(part) for part in re.findall(r"\d+", text.partition("+")[0])[:3]]

    return numbers(version("torch")) > numbers(ver)


__all__ = [
    "ExprTable", "StrAttrsDict", "fold_constant", "get_name", "get_relay_op", "infer_channels", "infer_shape",
    "infer_value", "infer_value_simulated", "new_var", "set_span", "shape_of", "try_infer_value",
]  # fmt: skip
