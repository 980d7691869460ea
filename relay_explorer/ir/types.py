"""Relay's types (section 3.2 of the paper): tensors with shapes, functions, tuples, references, algebraic
data types, and relations between them.

Types are immutable. `==` is structural: bound type variables may differ in name, free ones may not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any as Anything
from typing import Final, cast

from .node import Node, unlock
from .size import Any as Any
from .size import Size as Size
from .size import SizeVar as SizeVar
from .size import is_whole, whole
from .span import Span

Dim = int | Any | Size
Shape = tuple[Dim, ...]


class TypeKind:
    """The kinds of types, numbered as `tvm.ir.TypeKind` was."""

    Type: Final = 0
    ShapeVar: Final = 1
    BaseType: Final = 2
    Constraint: Final = 4
    AdtHandle: Final = 5
    TypeData: Final = 6


KIND_NAMES: Final = {0: "Type", 1: "ShapeVar", 2: "BaseType", 4: "Constraint", 5: "AdtHandle", 6: "TypeData"}


class Type(Node):
    """Base of all types."""

    __slots__ = ("span",)
    span: Span | None

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Type):
            return NotImplemented
        from .equal import types_equal

        return types_equal(self, other)

    def __ne__(self, other: object) -> bool:
        result = self.__eq__(other)
        return result if result is NotImplemented else not result

    def __hash__(self) -> int:
        from .equal import type_hash

        return type_hash(self)

    def __str__(self) -> str:
        from .show import show_type

        return show_type(self)

    def __repr__(self) -> str:
        return str(self)


def _dim(value: object) -> Dim:
    if type(value) is int:
        if value < 0:
            raise ValueError(f"a dimension cannot be negative: {value}")
        return value
    if isinstance(value, (Any, SizeVar)):
        return value
    if isinstance(value, Size) and is_whole(value):
        return cast("Dim", whole("trunc", value))
    try:
        return _dim(int(value))  # type: ignore[call-overload]  # NumPy integers and TVM code's IntImm convert
    except TypeError:
        raise TypeError(f"a dimension is an integer, Any() or a size with a name, not {value!r}") from None


STATIC_DIMENSIONS: Final[set[type]] = {int}  # classes of static dimensions; the compat layer adds IntImm
_known_dims = STATIC_DIMENSIONS.issuperset
_plain_dims = frozenset({int}).issuperset


# The meaning of these names in TVM; an unsigned integer of one bit is its boolean.
DEFAULT_WIDTHS = {"int": "int32", "uint": "uint32", "float": "float32", "uint1": "bool"}


class TensorType(Type):
    """A tensor of `shape` (integers, `Any` or size variables; `()` is a scalar) and element type `dtype`
    ("float32", "int64", "bool" …).
    """

    __slots__ = ("dtype", "shape")

    def __init__(
        self, shape: Sequence[object] = (), dtype: str = "float32", span: Span | None = None
    ) -> None:
        unlock(self, self._unlocked)
        dims = tuple(shape)
        usual = _plain_dims(map(type, dims)) and min(dims, default=0) >= 0  # type: ignore[type-var, operator]  # integers
        self.shape: Shape = cast("Shape", dims) if usual else tuple([_dim(d) for d in dims])
        name = str(dtype)
        self.dtype = DEFAULT_WIDTHS.get(name, name)
        self._lock(span)

    @staticmethod
    def of(shape: Shape, dtype: str, span: Span | None = None) -> TensorType:
        """Build a type from a `shape` that is already a tuple of dimensions: unchecked, for inner loops."""
        self = _new_tensor_type(_UNLOCKED_TENSOR_TYPE)
        self.shape = shape
        self.dtype = dtype
        self.span = span
        self.__class__ = TensorType
        return self

    @property
    def concrete_shape(self) -> tuple[int, ...]:
        """The shape as integers; raises a ValueError where a dimension is unknown."""
        if not _known_dims(map(type, self.shape)):
            raise ValueError(f"{self} has a dynamic dimension, known only when the program runs")
        return cast("tuple[int, ...]", self.shape)

    @property
    def is_static(self) -> bool:
        """Whether every dimension is an integer."""
        return _known_dims(map(type, self.shape))

    def __eq__(self, other: object) -> bool:
        if self.__class__ is other.__class__:
            return self.shape == other.shape and self.dtype == other.dtype
        return False if isinstance(other, Type) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))


_new_tensor_type: Callable[[Anything], TensorType] = object.__new__  # skips the metaclass's call
_UNLOCKED_TENSOR_TYPE: Final = TensorType._unlocked


def scalar_type(dtype: str) -> TensorType:
    """Return the type of a scalar."""
    return TensorType.of((), dtype)


def is_dynamic(type_: Type) -> bool:
    """Whether some dimension in a type is `Any`, including the parts of tuples, functions, references and
    type calls.
    """
    from .walk import type_children

    pending = [type_]
    while pending:
        current = pending.pop()
        if isinstance(current, TensorType):
            if any(isinstance(dim, Any) for dim in current.shape):
                return True
        else:
            pending.extend(type_children(current))
    return False


class TupleType(Type):
    """The type of a tuple: one type per field."""

    __slots__ = ("fields",)

    def __init__(self, fields: Sequence[Type], span: Span | None = None) -> None:
        unlock(self, self._unlocked)
        self.fields = tuple(fields)
        self._lock(span)


class TypeVar(Type):
    """A type parameter of a function or of a type declaration. Identity is the object, not the name."""

    __slots__ = ("kind", "name_hint")

    def __init__(self, name_hint: str, kind: int = TypeKind.Type, span: Span | None = None) -> None:
        unlock(self, self._unlocked)
        self.name_hint = name_hint
        self.kind = kind
        self._lock(span)

    @property
    def name(self) -> str:
        return self.name_hint

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


class GlobalTypeVar(Type):
    """The name of an algebraic data type."""

    __slots__ = ("kind", "name_hint")

    def __init__(self, name_hint: str, kind: int = TypeKind.AdtHandle, span: Span | None = None) -> None:
        unlock(self, self._unlocked)
        self.name_hint = name_hint
        self.kind = kind
        self._lock(span)

    @property
    def name(self) -> str:
        return self.name_hint

    def __call__(self, *args: Type) -> TypeCall:
        return TypeCall(self, args)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, GlobalTypeVar) and self.name_hint == other.name_hint)

    def __hash__(self) -> int:
        return hash(("GlobalTypeVar", self.name_hint))


class IncompleteType(Type):
    """A type yet to be inferred: a unification variable of inference, or a hole in an annotation."""

    __slots__ = ("kind",)

    def __init__(self, kind: int = TypeKind.Type, span: Span | None = None) -> None:
        unlock(self, self._unlocked)
        self.kind = kind
        self._lock(span)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


class FuncType(Type):
    """A function's type: `fn [type_params] (arg_types) -> ret_type where type_constraints`."""

    __slots__ = ("arg_types", "ret_type", "type_constraints", "type_params")

    def __init__(
        self,
        arg_types: Sequence[Type],
        ret_type: Type,
        type_params: Sequence[TypeVar] | None = None,
        type_constraints: Sequence[TypeConstraint] | None = None,
        span: Span | None = None,
    ) -> None:
        unlock(self, self._unlocked)
        self.arg_types = tuple(arg_types)
        self.ret_type = ret_type
        self.type_params = tuple(type_params or ())
        self.type_constraints = tuple(type_constraints or ())
        self._lock(span)


class TypeCall(Type):
    """The application of a type function: `List[Tensor[(3), float32]]`."""

    __slots__ = ("args", "func")

    def __init__(self, func: Type, args: Sequence[Type], span: Span | None = None) -> None:
        unlock(self, self._unlocked)
        self.func = func
        self.args = tuple(args)
        self._lock(span)


class RefType(Type):
    """The type of a mutable cell that holds a `value`."""

    __slots__ = ("value",)

    def __init__(self, value: Type, span: Span | None = None) -> None:
        unlock(self, self._unlocked)
        self.value = value
        self._lock(span)


class TypeConstraint(Type):
    """Base of the constraints that a function type may impose on its arguments' types."""

    __slots__ = ()


class TypeRelation(TypeConstraint):
    """`func` must hold between `args`, of which the first `num_inputs` are inputs; `attrs` are the call's
    attributes.
    """

    __slots__ = ("args", "attrs", "func", "num_inputs")

    def __init__(
        self,
        func: Callable[..., bool],
        args: Sequence[Type],
        num_inputs: int,
        attrs: object = None,
        span: Span | None = None,
    ) -> None:
        unlock(self, self._unlocked)
        self.func = func
        self.args = tuple(args)
        self.num_inputs = num_inputs
        self.attrs = attrs
        self._lock(span)


def is_complete(type_: Type | None) -> bool:
    """Whether `type_` is not None and has no holes."""
    if type_.__class__ is TensorType:
        return True
    if type_ is None or isinstance(type_, IncompleteType):
        return False
    pending: list[Type] = [type_]
    while pending:
        current = pending.pop()
        if isinstance(current, TensorType | TypeVar | GlobalTypeVar):
            continue
        if isinstance(current, IncompleteType):
            return False
        if isinstance(current, TupleType):
            pending.extend(current.fields)
        elif isinstance(current, FuncType):
            pending.extend(current.arg_types)
            pending.append(current.ret_type)
        elif isinstance(current, TypeCall):
            pending.append(current.func)
            pending.extend(current.args)
        elif hasattr(current, "value"):
            pending.append(current.value)
    return True
