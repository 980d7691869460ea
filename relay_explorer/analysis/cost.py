"""What a program costs: floating-point operations, bytes moved, parameters.

The conventions:

* A multiplication and an addition are two operations; each operator declares its own count (`Op.flops`).
* An operator call reads each of its arguments once and writes its result once, as if nothing were fused or
  kept in a cache. Tuples, projections, `let` and calls of functions and
  constructors move nothing themselves.
* An expression counts once, however often it is used, and both branches of an `if` and all clauses of a
  `match` count: it is the cost of the program as written, not of a run.
* An unknown dimension counts as 1; `Cost.exact` is then False, and the numbers are lower bounds.
* Relay does not say which parameters of a function were learnt. Counted as such are constants of more than
  one element, and variables that some operator call takes as its weight, bias, scale or
  statistics, as the table of an embedding (`take`), or as the operand of an arithmetic operator that is
  stretched to the other one's shape.
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
)  # names of operators' arguments


class Cost(NamedTuple):
    """FLOPs, bytes read, bytes written, parameter scalars read; `exact` is False where a dimension is
    unknown, and the numbers are lower bounds.
    """

    flops: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    parameters: int = 0
    exact: bool = True

    @property
    def bytes(self) -> int:
        """Bytes read and written."""
        return self.bytes_read + self.bytes_written


NOTHING = Cost()


def elements(type_: Type | None) -> int:
    """How many numbers a value of `type_` holds: those of all fields of a tuple; an unknown dimension counts
    as 1; no numbers for functions, references and ADTs.
    """
    if isinstance(type_, TensorType):
        return size_of(type_)
    return sum(map(elements, type_.fields)) if isinstance(type_, TupleType) else 0


def nbytes(type_: Type | None) -> int:
    """Bytes of a value of `type_`, counted as `elements` counts."""
    if isinstance(type_, TensorType):
        return size_of(type_) * itemsize(type_.dtype)
    return sum(map(nbytes, type_.fields)) if isinstance(type_, TupleType) else 0


def _exact(type_: Type | None) -> bool:
    if isinstance(type_, TensorType):
        return type_.is_static
    return all(map(_exact, type_.fields)) if isinstance(type_, TupleType) else True


def weights(roots: Iterable[Expr]) -> dict[Expr, int]:
    """The learnt parameters below `roots`, with their sizes; the expressions must have types."""
    found: dict[Expr, int] = {}
    for root in roots:
        for node in post_order(root):
            if isinstance(node, Constant):
                if node.data.shape:
                    found[node] = elements(node._checked_type)
            elif isinstance(node, Call) and isinstance(node.op, Op):
                for var in _learnt(node, node.op):
                    found[var] = elements(var._checked_type)
    return found


def _learnt(call: Call, op: Op) -> list[Var]:
    """The variables that `call` takes as parameters."""
    names = op.inputs or ()
    found = [a for name, a in zip(names, call.args, strict=False) if name in LEARNT and isinstance(a, Var)]
    if (
        op.name == "take"
        and isinstance(call.args[0], Var)
        and size_of(_type(call.args[0])) > size_of(_type(call))
    ):
        found.append(call.args[0])
    if op.family == "arithmetic" and len(call.args) == 2:
        out = _type(call)
        found += [a for a in call.args if isinstance(a, Var) and _stretched(_type(a), out)]
    return found


def _type(expr: Expr) -> Type:
    found = expr._checked_type
    return TensorType.of((), "float32") if found is None else found


def _stretched(operand: Type, out: Type) -> bool:
    """Whether broadcasting repeats `operand`, a tensor of more than one element."""
    if not isinstance(operand, TensorType) or not isinstance(out, TensorType):
        return False
    return size_of(operand) > 1 and (len(operand.shape) < len(out.shape) or size_of(operand) < size_of(out))


def call_cost(call: Call, learnt: Collection[Expr] = ()) -> Cost:
    """The cost of one operator call; nothing for other calls, and where types are not known. `learnt` are the
    parameters, as `weights` gives them.
    """
    op = call.op
    out = call._checked_type
    types = [a._checked_type for a in call.args]
    if not isinstance(op, Op) or out is None or None in types or any(isinstance(t, FuncType) for t in types):
        return NOTHING
    known = [t for t in types if t is not None]
    attrs = call.attrs if call.attrs is not None or op.attrs_class is None else op.attrs_class()
    return Cost(
        op.flops(attrs, known, out),
        sum(map(nbytes, known)),
        nbytes(out),
        sum(elements(a._checked_type) for a in dict.fromkeys(call.args) if a in learnt),
        all(map(_exact, known)) and _exact(out),
    )


def costs(program: IRModule | Function) -> dict[Expr, Cost]:
    """The cost of every operator call in a typed program."""
    roots = list(program.functions.values()) if isinstance(program, IRModule) else [program]
    learnt = weights(roots)
    found: dict[Expr, Cost] = {}
    for root in roots:
        for node in post_order(root):
            if isinstance(node, Call) and node not in found and isinstance(node.op, Op):
                found[node] = call_cost(node, learnt)
    return found


def total_cost(program: IRModule | Function) -> Cost:
    """The sum over a typed program: a shared parameter counts once."""
    roots = list(program.functions.values()) if isinstance(program, IRModule) else [program]
    each = costs(program).values()
    return Cost(
        sum(c.flops for c in each), sum(c.bytes_read for c in each), sum(c.bytes_written for c in each),
        sum(weights(roots).values()), all(c.exact for c in each),
    )  # fmt: skip
