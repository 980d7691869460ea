"""Relay's expressions (figure 1 of the paper).

Expressions are immutable: assigning a field raises an AttributeError. Besides its operands an expression has
three annotations: `span`, its source location; `origin`, the expressions from which it was derived, so that
any value can be traced back through a pipeline; and `checked_type`, after type inference. Only the functions
of `annotate` set them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any as Anything
from typing import Final

from .annotate import set_checked_type
from .attrs import KINDS, Attrs, DictAttrs
from .hooks import hook
from .identity import Id
from .ndarray import NDArray
from .node import Node, unlock, with_fields
from .span import Span
from .types import TensorType, Type, TypeVar, is_complete


class Expr(Node):
    """Base of all expressions."""

    __slots__ = ("__weakref__", "_checked_type", "origin", "span")
    span: Span | None
    origin: tuple[Expr, ...]
    _checked_type: Type | None

    def _lock(self, span: Span | None, checked_type: Type | None = None) -> None:
        """Set the annotations of a new expression, and reject assignments from then on."""
        self.span = span
        self.origin = ()
        self._checked_type = checked_type
        self.__class__ = self._locked

    @property
    def checked_type(self) -> Type:
        """The inferred type; raises a ValueError before inference."""
        type_ = self._checked_type
        if type_ is None:
            raise ValueError(
                f"the type of this {type(self).__name__} is not known yet: "
                "run relay.transform.InferType()(mod) first"
            )
        return type_

    def astext(self, show_meta_data: bool = True, annotate: Callable[[Expr], str] | None = None) -> str:
        """Print this expression as a program in the text format, including the version line."""
        text: str = hook("astext")(self, show_meta_data, annotate)
        return text

    def __str__(self) -> str:
        text: str = hook("show")(self)
        return text

    def __repr__(self) -> str:
        return str(self)

    def __call__(self, *args: object) -> Call:
        return Call(self, [as_expr(a) for a in args])

    def astype(self, dtype: object) -> Expr:
        """Convert the elements of this tensor to `dtype`."""
        from .op import Op

        cast = Op.get("cast")
        assert cast.attrs_class is not None
        return Call(cast, [self], cast.attrs_class(dtype=dtype))

    def __neg__(self) -> Expr:
        from .op import Op

        return Call(Op.get("negative"), [self])

    def __add__(self, other: object) -> Expr:
        return _operator("add", self, other)

    def __radd__(self, other: object) -> Expr:
        return _operator("add", other, self)

    def __sub__(self, other: object) -> Expr:
        return _operator("subtract", self, other)

    def __rsub__(self, other: object) -> Expr:
        return _operator("subtract", other, self)

    def __mul__(self, other: object) -> Expr:
        return _operator("multiply", self, other)

    def __rmul__(self, other: object) -> Expr:
        return _operator("multiply", other, self)

    def __truediv__(self, other: object) -> Expr:
        return _operator("divide", self, other)

    def __rtruediv__(self, other: object) -> Expr:
        return _operator("divide", other, self)

    def __lt__(self, other: object) -> Expr:
        return _operator("less", self, other)

    def __gt__(self, other: object) -> Expr:
        return _operator("greater", self, other)

    def __le__(self, other: object) -> Expr:
        return _operator("less_equal", self, other)

    def __ge__(self, other: object) -> Expr:
        return _operator("greater_equal", self, other)


def _operator(name: str, lhs: object, rhs: object) -> Expr:
    """Build an arithmetic call; a Python number takes the element type of the other operand, if that is
    known.
    """
    from .op import Op

    left = _beside(lhs, rhs)
    right = _beside(rhs, lhs)
    return Call.of(Op.get(name), (left, right))


def _beside(value: object, other: object) -> Expr:
    if isinstance(value, Expr):
        return value
    annotation = getattr(other, "type_annotation", None) or getattr(other, "_checked_type", None)
    dtype = annotation.dtype if isinstance(annotation, TensorType) else None
    return const(value, dtype if isinstance(value, (int, float)) else None)


def unwrapped(value: Anything) -> Anything:
    """Return `value`, or the call that it wraps if it is a TupleWrapper."""
    return value if isinstance(value, Expr) else getattr(value, "tuple_value", value)


def as_expr(value: object) -> Expr:
    """Convert `value` to an expression: an expression stays itself, a tuple or list that contains expressions
    becomes a Tuple, and anything else a constant.
    """
    value = unwrapped(value)
    if isinstance(value, Expr):
        return value
    if isinstance(value, (tuple, list)) and any(isinstance(v, Expr) for v in value):
        return Tuple([as_expr(v) for v in value])
    return Constant(to_ndarray(value))


class Constant(Expr):
    """A tensor whose value is part of the program."""

    __slots__ = ("data",)

    def __init__(self, data: object, span: Span | None = None) -> None:
        unlock(self, self._unlocked)
        self.data = to_ndarray(data)
        self._lock(span, TensorType.of(self.data.shape, self.data.dtype))


class Tuple(Expr):
    """A tuple of expressions."""

    __slots__ = ("fields",)

    def __init__(self, fields: Sequence[Expr], span: Span | None = None) -> None:
        unlock(self, self._unlocked)
        self.fields: tuple[Expr, ...] = tuple([unwrapped(field) for field in fields])
        self._lock(span)

    def __getitem__(self, index: int) -> Expr:
        return self.fields[index]

    def __len__(self) -> int:
        return len(self.fields)


class TupleGetItem(Expr):
    """Field number `index`, from 0, of a tuple."""

    __slots__ = ("index", "tuple_value")

    def __init__(self, tuple_value: Expr, index: int, span: Span | None = None) -> None:
        unlock(self, self._unlocked)
        self.tuple_value: Expr = unwrapped(tuple_value)
        self.index = index
        self._lock(span)


class Var(Expr):
    """A local variable. Identity is the object: two variables of the same name are different.

    A fully annotated variable has its annotation as `checked_type`.
    """

    __slots__ = ("name_hint", "type_annotation")

    def __init__(self, name_hint: str, type_annotation: Type | None = None, span: Span | None = None) -> None:
        unlock(self, self._unlocked)
        self.name_hint = str(name_hint)
        self.type_annotation = type_annotation
        self._lock(span, type_annotation if is_complete(type_annotation) else None)

    @property
    def name(self) -> str:
        return self.name_hint

    @property
    def vid(self) -> Id:
        """The identity of the variable, by which `tvm.relay` distinguished variables; here, that of the
        object itself.
        """
        return Id(self)


class GlobalVar(Expr):
    """The name of a function in a module."""

    __slots__ = ("name_hint",)

    def __init__(self, name_hint: str, type_annot: Type | None = None, span: Span | None = None) -> None:
        unlock(self, self._unlocked)
        self.name_hint = str(name_hint)
        self._lock(span, type_annot)

    @property
    def name(self) -> str:
        return self.name_hint


class Call(Expr):
    """A function, operator or constructor applied to arguments."""

    __slots__ = ("args", "attrs", "op", "type_args")

    def __init__(
        self,
        op: Expr,
        args: Sequence[Expr],
        attrs: Attrs | None = None,
        type_args: Sequence[Type] | None = None,
        span: Span | None = None,
    ) -> None:
        unlock(self, self._unlocked)
        self.op = op
        self.args = tuple(args)
        self.attrs = attrs
        self.type_args = tuple(type_args) if type_args else ()
        self.span = span  # `_lock`, inlined: most expressions are calls
        self.origin = ()
        self._checked_type = None
        self.__class__ = self._locked

    @staticmethod
    def of(
        op: Expr,
        args: tuple[Expr, ...],
        attrs: Attrs | None = None,
        type_args: tuple[Type, ...] = (),
        span: Span | None = None,
        origin: tuple[Expr, ...] = (),
        checked_type: Type | None = None,
    ) -> Call:
        """Build a call from tuples, with its annotations, in less time than the constructor needs: for inner
        loops.
        """
        self = _new_call(_UNLOCKED_CALL)
        self.op = op
        self.args = args
        self.attrs = attrs
        self.type_args = type_args
        self.span = span
        self.origin = origin
        self._checked_type = checked_type
        self.__class__ = Call
        return self


_new_call: Callable[[Anything], Call] = object.__new__  # skips the metaclass's call
_UNLOCKED_CALL: Final = Call._unlocked


class Let(Expr):
    """`let variable = value; body`: evaluates the value once, before the body."""

    __slots__ = ("body", "value", "var")

    def __init__(self, variable: Var, value: Expr, body: Expr, span: Span | None = None) -> None:
        unlock(self, self._unlocked)
        self.var = variable
        self.value: Expr = unwrapped(value)
        self.body: Expr = unwrapped(body)
        self._lock(span)

    @staticmethod
    def of(var: Var, value: Expr, body: Expr, span: Span | None = None, origin: tuple[Expr, ...] = ()) -> Let:
        """Build a `let` from expressions, with its origin, in less time than the constructor needs."""
        self = _new_let(_UNLOCKED_LET)
        self.var = var
        self.value = value
        self.body = body
        self.span = span
        self.origin = origin
        self._checked_type = None
        self.__class__ = Let
        return self

    @property
    def variable(self) -> Var:
        return self.var


_new_let: Callable[[Anything], Let] = object.__new__
_UNLOCKED_LET: Final = Let._unlocked


class If(Expr):
    """A conditional: only the branch taken is evaluated. `cond` is a scalar bool."""

    __slots__ = ("cond", "false_branch", "true_branch")

    def __init__(self, cond: Expr, true_branch: Expr, false_branch: Expr, span: Span | None = None) -> None:
        unlock(self, self._unlocked)
        self.cond = cond
        self.true_branch = true_branch
        self.false_branch = false_branch
        self._lock(span)


class Function(Expr):
    """A function: a closure when inside an expression, a definition when in a module."""

    __slots__ = ("attrs", "body", "params", "ret_type", "type_params")

    def __init__(
        self,
        params: Sequence[Var],
        body: Expr,
        ret_type: Type | None = None,
        type_params: Sequence[TypeVar] | None = None,
        attrs: Attrs | dict[str, Anything] | None = None,
        span: Span | None = None,
    ) -> None:
        unlock(self, self._unlocked)
        self.params = tuple(params)
        self.body: Expr = unwrapped(body)
        self.ret_type = ret_type
        self.type_params = tuple(type_params or ())
        self.attrs: Attrs = DictAttrs(attrs) if attrs is None or isinstance(attrs, dict) else attrs
        self._lock(span)

    def with_attr(self, name: str | dict[str, Anything], value: Anything = None) -> Function:
        """Return this function with one more attribute, or several from a dict."""
        more = name if isinstance(name, dict) else {name: value}
        return self._with_attrs(DictAttrs({**dict(self.attrs.items()), **more}))

    def without_attr(self, name: str) -> Function:
        """Return this function without the attribute `name`."""
        return self._with_attrs(DictAttrs({k: v for k, v in self.attrs.items() if k != name}))

    def _with_attrs(self, attrs: Attrs) -> Function:
        return set_checked_type(with_fields(self, attrs=attrs), self._checked_type)


class RefCreate(Expr):
    """A new mutable cell that holds `value`."""

    __slots__ = ("value",)

    def __init__(self, value: Expr, span: Span | None = None) -> None:
        unlock(self, self._unlocked)
        self.value = value
        self._lock(span)


class RefRead(Expr):
    """The current contents of the cell `ref`."""

    __slots__ = ("ref",)

    def __init__(self, ref: Expr, span: Span | None = None) -> None:
        unlock(self, self._unlocked)
        self.ref = ref
        self._lock(span)


class RefWrite(Expr):
    """Stores `value` in the cell `ref`; its own value is the empty tuple."""

    __slots__ = ("ref", "value")

    def __init__(self, ref: Expr, value: Expr, span: Span | None = None) -> None:
        unlock(self, self._unlocked)
        self.ref = ref
        self.value = value
        self._lock(span)


def var(
    name_hint: str,
    type_annotation: Type | str | None = None,
    shape: Sequence[object] | None = None,
    dtype: object = "float32",
    span: Span | None = None,
) -> Var:
    """Create a variable: `var("x", shape=(3, 4))`, `var("x", TensorType(...))`, `var("s", "int32")` for a
    scalar, or `var("x")` without a type.
    """
    if type_annotation is not None and shape is not None:
        raise ValueError("give either type_annotation or shape, not both")
    annotation = type_annotation
    if shape is not None:
        annotation = TensorType(shape, KINDS["DType"](dtype))
    elif isinstance(annotation, str):
        annotation = TensorType((), annotation)
    return Var(name_hint, annotation, span)


def const(value: object, dtype: object = None, span: Span | None = None) -> Constant:
    """Create a constant from a Python number, nested lists or a NumPy array (unless `dtype` says otherwise,
    int64 becomes int32 and float64 becomes float32, as in TVM), or from an NDArray, which is used unchanged.
    """
    if dtype is None and not isinstance(value, NDArray) and not hasattr(value, "numpy"):
        dtype = {"float64": "float32", "int64": "int32"}.get(str(getattr(value, "dtype", "")))
    return Constant(to_ndarray(value, dtype), span)


def to_ndarray(value: object, dtype: object = None) -> NDArray:
    """Convert a value to an NDArray, the data of a constant. Lists and arrays need NumPy; numbers do not."""
    if isinstance(value, NDArray) and dtype is None:
        return value
    name: str | None = None if dtype is None else KINDS["DType"](dtype)
    if type(value) in (bool, int, float):
        plain = {bool: "bool", int: "int32", float: "float32"}[type(value)]
        return NDArray.scalar(value, name or plain)  # type: ignore[arg-type]  # one of the three
    try:
        import numpy
    except ImportError:
        raise ImportError("constants other than single numbers need NumPy: pip install numpy") from None
    array = numpy.asarray(value.numpy() if hasattr(value, "numpy") else value)
    if name is not None:
        array = array.astype(name)
    elif not hasattr(value, "dtype"):  # lists: Relay's defaults rather than NumPy's
        array = array.astype({"float64": "float32", "int64": "int32"}.get(array.dtype.name, array.dtype.name))
    if array.dtype.kind not in "biuf":
        raise ValueError(f"a constant is a tensor of numbers, not {value!r:.60}")
    return NDArray.from_numpy(array)
