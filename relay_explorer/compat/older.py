"""Names that came with TVM's versions and with its C++ objects, and that old code still uses."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Any

from ..ir.adt import Clause, Pattern
from ..ir.annotate import set_origin
from ..ir.attrs import Attrs
from ..ir.expr import Call, Constant, Expr, Function, Var
from ..ir.lazy_dataclass import dataclass
from ..ir.module import IRModule
from ..ir.ndarray import NDArray
from ..ir.op import Op
from ..ir.span import Span
from ..ir.types import Type, TypeKind, TypeVar
from ..ir.walk import rewrite
from ..transform import Contract, FunctionPass, Pass, PassContext
from ..transform.infrastructure.function_passes import rewritten

_FIELDS = ("params", "body", "ret_type", "type_params", "attrs", "span")  # of a function
_OBJECTS = (Expr, Type, Pattern, Clause, Attrs, IRModule, NDArray, Span)


class _ObjectKind(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _OBJECTS)


class Object(metaclass=_ObjectKind):
    """The base class of everything in a program, in TVM's C++; used in `isinstance`."""


Node = Object


class DataType(str):
    """An element type: `DataType("float32").bits` is 32."""

    __slots__ = ()

    def _parts(self) -> tuple[str, int, int]:
        match = re.fullmatch(r"([a-z]+)(\d*)(?:x(\d+))?", self)
        if match is None:
            raise ValueError(f"there is no element type called {str(self)!r}")
        kind, bits, lanes = match.groups()
        return kind, int(bits or (1 if kind == "bool" else 32)), int(lanes or 1)

    @property
    def type_code(self) -> int:
        """0 for signed integers, 1 for unsigned ones and truth values, 2 for floats, 4 for bfloat."""
        return {"int": 0, "uint": 1, "bool": 1, "float": 2, "handle": 3, "bfloat": 4}[self._parts()[0]]

    @property
    def bits(self) -> int:
        return self._parts()[1]

    @property
    def lanes(self) -> int:
        return self._parts()[2]


def enabled(target: str) -> bool:
    """Whether programs for a target can run here."""
    return target.split()[:1] in (["llvm"], ["cpu"])


def shape_var(name: str) -> TypeVar:
    """Create a type parameter that stands for a shape."""
    return TypeVar(name, TypeKind.ShapeVar)


def function_with_fields(
    function: Function,
    params: Sequence[Var] | None = None,
    body: Expr | None = None,
    ret_type: Type | None = None,
    ty_params: Sequence[TypeVar] | None = None,
    attrs: Attrs | None = None,
    virtual_device: Any = None,
    span: Span | None = None,
) -> Function:
    """Return `function` with some parts replaced; `function` itself where no part changes."""
    new_fields: tuple[Any, ...] = (params, body, ret_type, ty_params, attrs, span)
    own = tuple([getattr(function, name) for name in _FIELDS])
    if all(new is None or new is old for new, old in zip(new_fields, own)):
        return function
    result = Function(*(old if new is None else new for new, old in zip(new_fields, own)))
    set_origin(result, (function,))
    return result


def build_config(
    opt_level: int = 2,
    required_pass: Sequence[str] | None = None,
    disabled_pass: Sequence[str] | None = None,
    trace: Any = None,
) -> PassContext:
    """Create a PassContext, under the name that it had before 0.7."""
    return PassContext(opt_level, required_pass, disabled_pass)


@dataclass(frozen=True)
class PrintIR(Pass):
    """Prints the module, below a header, to the standard error, as TVM's log did."""

    name = "PrintIR"
    opt_level = 0

    header: str = ""
    show_meta_data: bool = False

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        print(f"PrintIR({self.header}):", file=sys.stderr)
        print(mod.astext() if self.show_meta_data else mod, file=sys.stderr)
        return mod


@dataclass(frozen=True)
class DivToMul(FunctionPass):
    """Replace each division by a floating-point constant by a multiplication with its reciprocal."""

    name = "DivToMul"
    opt_level = 0
    contract = Contract(error=1e-6)

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        import numpy

        from ..ops import namespaces as relay

        def multiply(node: Expr) -> Expr | None:
            """Replace a division by a constant by a multiplication."""
            if not (isinstance(node, Call) and node.op is Op.get("divide")):
                return None
            divisor = node.args[1]
            if not (
                isinstance(divisor, Constant) and divisor.data.dtype in ("float16", "float32", "float64")
            ):
                return None
            with numpy.errstate(divide="ignore"):
                reciprocal = numpy.reciprocal(divisor.data.numpy())
            return relay.multiply(node.args[0], Constant(NDArray.from_numpy(reciprocal)))

        return rewritten(function, rewrite(function, multiply))


__all__ = [
    "DataType", "DivToMul", "Node", "Object", "PrintIR", "build_config", "enabled",
    "function_with_fields", "shape_var",
]  # fmt: skip
