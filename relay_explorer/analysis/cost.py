"""The cost of a program: floating-point operations, bytes moved, parameters.

The conventions:

* A multiplication and an addition are two operations; each operator declares its own count (`Op.flops`).
* An operator call reads each of its arguments once and writes its result once, as if nothing were fused or
  cached. Tuples, projections, `let` and calls of functions and constructors move no data themselves.
* An expression counts once, however often it is used, and both branches of an `if` and all clauses of a
  `match` count: this is the cost of the program as written, not of a run.
* A dynamic dimension counts as 1; `Cost.exact` is then False, and the counts are lower bounds.
* Relay does not distinguish learned parameters of a function from its inputs. Constants of more than one
  element count as learned, and so do variables that some operator call takes as its weight, bias, scale or
  statistics, as the table of an embedding (`take`), or as the operand of an arithmetic operator that is
  broadcast to the shape of the other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from ..ir.expr import Call, Constant, Expr, Function, Var
from ..ir.module import IRModule
from ..ir.ndarray import itemsize
from ..ir.op import Op, size_of
from ..ir.types import FuncType, TensorType, TupleType, Type
from ..ir.walk import post_order

LEARNT = frozenset(
    {"weight", "bias", "gamma", "beta", "alpha", "moving_mean", "moving_var"}
)  # names of operands that are learned


class Cost(NamedTuple):
    """FLOPs, bytes read, bytes written, and elements of parameters read; `exact` is False where a dimension
    is dynamic, and the counts are lower bounds.
    """

    flops: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    parameters: int = 0
    exact: bool = True

    @property
    def bytes(self) -> int:
        """The number of bytes read and written."""
        return self.bytes_read + self.bytes_written


NOTHING = Cost()


def elements(type_: Type | None) -> int:
    """Return the number of elements of a value of `type_`, including those of all fields of a tuple; a
    dynamic dimension counts as 1; functions, references and ADTs have none.
    """
    if isinstance(type_, TensorType):
        return size_of(type_)
    return sum(map(elements, type_.fields)) if isinstance(type_, TupleType) else 0


def nbytes(type_: Type | None) -> int:
    """Return the number of bytes of a value of `type_`, with the conventions of `elements`."""
    if isinstance(type_, TensorType):
        return size_of(type_) * itemsize(type_.dtype)
    return sum(map(nbytes, type_.fields)) if isinstance(type_, TupleType) else 0


def _exact(type_: Type | None) -> bool:
    if isinstance(type_, TensorType):
        return type_.is_static
    return all(map(_exact, type_.fields)) if isinstance(type_, TupleType) else True


def weights(roots: Iterable[Expr]) -> dict[Expr, int]:
    """Return the learned parameters below `roots`, with their numbers of elements; the expressions must be
    typed.
    """
    sizes: dict[Expr, int] = {}
    for root in roots:
        for node in post_order(root):
            if isinstance(node, Constant):
                if node.data.shape:
                    sizes[node] = elements(node._checked_type)
            elif isinstance(node, Call) and isinstance(node.op, Op):
                for var in _learnt(node, node.op):
                    sizes[var] = elements(var._checked_type)
    return sizes


def _learnt(call: Call, op: Op) -> list[Var]:
    """Return the variables that `call` takes as learned parameters."""
    names = op.inputs or ()
    variables = [
        a for name, a in zip(names, call.args, strict=False) if name in LEARNT and isinstance(a, Var)
    ]
    if (
        op.name == "take"
        and isinstance(call.args[0], Var)
        and size_of(_type(call.args[0])) > size_of(_type(call))
    ):
        variables.append(call.args[0])
    if op.family == "arithmetic" and len(call.args) == 2:
        out = _type(call)
        variables += [a for a in call.args if isinstance(a, Var) and _stretched(_type(a), out)]
    return variables


def _type(expr: Expr) -> Type:
    type_ = expr._checked_type
    return TensorType.of((), "float32") if type_ is None else type_


def _stretched(operand: Type, out: Type) -> bool:
    """Whether `operand`, a tensor of more than one element, is broadcast."""
    if not isinstance(operand, TensorType) or not isinstance(out, TensorType):
        return False
    return size_of(operand) > 1 and (len(operand.shape) < len(out.shape) or size_of(operand) < size_of(out))


def call_cost(call: Call, learnt: Collection[Expr] = ()) -> Cost:
    """Return the cost of one operator call; NOTHING for other calls, and where types are unknown. `learnt`
    are the parameters, as returned by `weights`.
    """
    op = call.op
    out = call._checked_type
    types = [a._checked_type for a in call.args]
    if not isinstance(op, Op) or out is None or None in types or any(isinstance(t, FuncType) for t in types):
        return NOTHING
    arg_types = [t for t in types if t is not None]
    attrs = call.attrs if call.attrs is not None or op.attrs_class is None else op.attrs_class()
    return Cost(
        op.flops(attrs, arg_types, out),
        sum(map(nbytes, arg_types)),
        nbytes(out),
        sum(elements(a._checked_type) for a in dict.fromkeys(call.args) if a in learnt),
        all(map(_exact, arg_types)) and _exact(out),
    )


def costs(program: IRModule | Function) -> dict[Expr, Cost]:
    """Return the cost of every operator call in a typed program."""
    roots = list(program.functions.values()) if isinstance(program, IRModule) else [program]
    learnt = weights(roots)
    result: dict[Expr, Cost] = {}
    for root in roots:
        for node in post_order(root):
            if isinstance(node, Call) and node not in result and isinstance(node.op, Op):
                result[node] = call_cost(node, learnt)
    return result


def total_cost(program: IRModule | Function) -> Cost:
    """Return the total cost of a typed program; a shared parameter counts once."""
    roots = list(program.functions.values()) if isinstance(program, IRModule) else [program]
    each = costs(program).values()
    return Cost(
        sum(c.flops for c in each), sum(c.bytes_read for c in each), sum(c.bytes_written for c in each),
        sum(weights(roots).values()), all(c.exact for c in each),
    )  # fmt: skip
