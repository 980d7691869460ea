"""A function as straight-line code over tensors, the input of memory planning.

The code consists of operations, each of which reads tensors and computes new ones: calls of operators and of
kernels (functions marked `Primitive` or `Compiler`), and `if`, whose branches are separate blocks. Names,
tuples and projections only refer to tensors. A reshape is an operation that computes no tensor: its result is
its argument with another shape. A kernel that only takes a contiguous part of a computed tensor can be a view
as well: its result is a part of that tensor's memory.

Programs that build functions at run time, call other functions of the module, match on data types or use
references are rejected, because the liveness of their tensors is known only at run time.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from ..ir.declaration import Trait
from ..ir.errors import RelayError
from ..ir.expr import Call, Constant, Expr, Function, GlobalVar, If, Let, Tuple, TupleGetItem, Var
from ..ir.ndarray import itemsize
from ..ir.op import Op, size_of
from ..ir.scopes import Scope, common
from ..ir.types import TensorType, TupleType, Type
from ..ir.walk import children
from .pieces import slice_piece


class Origin(Enum):
    """The origin of a tensor."""

    PARAMETER = "parameter"
    CONSTANT = "constant"
    COMPUTED = "computed"


class Tensor(NamedTuple):
    """A tensor of the program: field `field` of the value of `expr`."""

    number: int
    expr: Expr
    field: int
    type: TensorType
    origin: Origin

    @property
    def bytes(self) -> int:
        return size_of(self.type) * itemsize(self.type.dtype)


class Operation:
    """An expression that is one step: it reads tensors and writes others, by number; a view writes none.

    An `if` has its branches as `blocks`, and as `results` the tensors of each branch's value. Its `reads` are
    the condition, then the tensors that its branches read from outside. The result of an operation with
    `is_part` is a part of the tensor that it reads.
    """

    __slots__ = ("blocks", "expr", "is_part", "reads", "results", "writes")

    def __init__(self, expr: Expr, reads: tuple[int, ...], writes: tuple[int, ...]) -> None:
        self.expr = expr
        self.reads = reads
        self.writes = writes
        self.is_part = False
        self.blocks: tuple[list[Operation], ...] = ()
        self.results: tuple[tuple[int, ...], ...] = ()

    @property
    def is_view(self) -> bool:
        """Whether the result is the argument with another shape."""
        return not self.writes and isinstance(self.expr, Call) and len(self.reads) == 1


class StraightLine:
    """The operations of a typed function, `block`, in the order of the program; `order` are its expressions
    except names, constants and functions, each after its operands.

    `tensors` are all tensors, by number; `of(expr)` are those that make up an expression's value;
    `result` those of the function's. `home` maps each expression to its scope, `scopes` maps a tensor to the
    scopes in which it has a name (where no `let` names it, the one in which it is computed). Without `views`
    a reshape writes a tensor too. With `parts`, kernels that take a contiguous part of a computed tensor,
    starting at a multiple of `parts` bytes, compute nothing: `within` maps the tensor that each writes to the
    tensor that contains it, and its first byte there.

    Raises a RelayError for a program that cannot be planned, and a ValueError where types are missing.
    """

    def __init__(self, function: Function, views: bool = True, parts: int = 0) -> None:
        self.function = function
        self.tensors: list[Tensor] = []
        self.scopes: dict[int, list[Scope]] = {}
        self.within: dict[int, tuple[int, int]] = {}
        self._views, self._parts = views, parts
        self.order = _order(function.body)
        self._values = {node.var: node.value for node in self.order if isinstance(node, Let)}
        self._of: dict[Expr, tuple[int, ...]] = {}
        self._operations: dict[Expr, Operation] = {}
        for param in function.params:
            self._of[param] = self._new(param, Origin.PARAMETER)
        for node in self.order:
            self._of[node] = self._tensors(node)
        self.result = self.of(function.body)
        self.block = self._blocks()

    def of(self, expr: Expr) -> tuple[int, ...]:
        """Return the tensors in the value of `expr`, those of a tuple's fields in order."""
        source = expr
        while isinstance(source, Var) and source not in self._of:
            if source not in self._values:
                raise RelayError(
                    f"`%{source.name_hint}` is not a parameter of the function whose memory is to be planned",
                    source.span,
                )
            source = self._values[source]
        tensors = self._of.get(source)
        if tensors is None:
            if not isinstance(source, Constant):
                raise _unplanned("a function that is a value", source)
            tensors = self._of[source] = self._new(source, Origin.CONSTANT)
        self._of[expr] = tensors
        return tensors

    # -- tensors

    def _new(self, expr: Expr, origin: Origin) -> tuple[int, ...]:
        first = len(self.tensors)
        for field, type_ in enumerate(_leaves(expr)):
            self.tensors.append(Tensor(first + field, expr, field, type_, origin))
        return tuple(range(first, len(self.tensors)))

    def _tensors(self, node: Expr) -> tuple[int, ...]:
        match node:
            case Call():
                return self._call(node)
            case Tuple():
                return tuple([n for part in node.fields for n in self.of(part)])
            case TupleGetItem():
                fields = node.tuple_value.checked_type
                assert isinstance(fields, TupleType)
                sizes = [sum(1 for _ in _flat(t, node)) for t in fields.fields]
                first = sum(sizes[: node.index])
                return self.of(node.tuple_value)[first : first + sizes[node.index]]
            case Let():
                # The tensors of an unused name are included too.
                if not isinstance(self.callee(node.value), Function):
                    self.of(node.value)
                return self.of(node.body)
            case If():
                writes = self._new(node, Origin.COMPUTED)
                self._operations[node] = Operation(node, self.of(node.cond), writes)
                return writes
        raise _unplanned(_WHAT.get(type(node).__name__, f"a {type(node).__name__}"), node)

    def _call(self, call: Call) -> tuple[int, ...]:
        callee = self.callee(call.op)
        if isinstance(callee, GlobalVar):
            raise _unplanned(
                f"a call of `@{callee.name_hint}`, another function of the module", call, _INLINE
            )
        if not isinstance(callee, Op) and not is_kernel(callee):
            raise _unplanned("a call of a function that is not a kernel", call, _INLINE)
        reads = tuple([n for arg in call.args for n in self.of(arg)])
        if self._views and is_reshape(callee) and len(reads) == 1:
            self._operations[call] = Operation(call, reads, ())
            return reads[:1]
        writes = self._new(call, Origin.COMPUTED)
        operation = self._operations[call] = Operation(call, reads, writes)
        if self._parts and (first := self._part(callee, reads)) is not None:
            operation.is_part = True
            self.within[writes[0]] = reads[0], first
        return writes

    def _part(self, callee: Expr, reads: tuple[int, ...]) -> int | None:
        """Return the first byte that a kernel takes of the tensor that it reads, if it only takes a
        contiguous part.
        """
        body = callee.body if isinstance(callee, Function) and "Primitive" in callee.attrs else None
        source = self.tensors[reads[0]] if len(reads) == 1 else None
        if source is None or source.origin is not Origin.COMPUTED or not isinstance(body, Call):
            return None
        first = slice_piece(body) if body.args and isinstance(body.args[0], Var) else None
        byte = None if first is None else first * itemsize(source.type.dtype)
        return byte if byte is not None and byte % self._parts == 0 else None

    def callee(self, expr: Expr) -> Expr:
        while isinstance(expr, Var) and expr in self._values:
            expr = self._values[expr]
        return expr

    # -- blocks

    def _blocks(self) -> list[Operation]:
        """Put each operation into the innermost block that contains all its uses."""
        root = Scope(None)
        self.home, opened = self._homes(root)
        home = self.home
        here: dict[Scope, list[Expr]] = {}
        for node in self.order:
            here.setdefault(home[node], []).append(node)
            if isinstance(node, Let) and not isinstance(self.callee(node.value), Function):
                for number in self.of(node.value):
                    self.scopes.setdefault(number, []).append(opened[node][0])
        block: list[Operation] = []
        pending = [(root, block)]
        for scope, into in pending:
            for node in _expanded(scope, here, opened):
                operation = self._operations.get(node)
                if operation is None:
                    continue
                for number in operation.writes:
                    self.scopes.setdefault(number, [home[node]])
                into.append(operation)
                if isinstance(node, If):
                    operation.blocks = ([], [])
                    operation.results = (self.of(node.true_branch), self.of(node.false_branch))
                    pending += zip(opened[node], operation.blocks)
        for operations in reversed([into for _, into in pending]):
            for operation in operations:
                if operation.blocks:
                    operation.reads = _read(operation)
        return block

    def _homes(self, root: Scope) -> tuple[dict[Expr, Scope], dict[Expr, tuple[Scope, ...]]]:
        """Return the innermost scope that contains all uses of each expression, and the scopes that each
        opens.
        """
        home: dict[Expr, Scope] = {self.function.body: root}
        opened: dict[Expr, tuple[Scope, ...]] = {}
        for node in reversed(self.order):  # the uses of an expression come after it
            scope = home[node]
            if isinstance(node, Let):
                opened[node] = (Scope(scope),)
                inside = [(node.value, scope), (node.body, opened[node][0])]
            elif isinstance(node, If):
                opened[node] = (Scope(scope), Scope(scope))
                branches = zip((node.true_branch, node.false_branch), opened[node])
                inside = [(node.cond, scope), *branches]
            else:
                inside = [(part, scope) for part in children(node)]
            for part, used in inside:
                before = home.get(part)
                home[part] = used if before is None else common(before, used)
        return home, opened


def _order(body: Expr) -> list[Expr]:
    """Return the expressions below `body` except names, constants and functions, each after its operands;
    functions are not entered.
    """
    done: list[Expr] = []
    visited: set[int] = set()
    stack: list[tuple[Expr, Iterator[Expr]]] = []

    def enter(node: Expr) -> None:
        if id(node) not in visited and not isinstance(node, _NOT_ENTERED):
            visited.add(id(node))
            stack.append((node, iter(children(node))))

    enter(body)
    while stack:
        node, parts = stack[-1]
        part = next(parts, None)
        if part is None:
            done.append(node)
            stack.pop()
        else:
            enter(part)
    return done


_NOT_ENTERED = (Var, Constant, GlobalVar, Op, Function)


def _expanded(
    scope: Scope, here: dict[Scope, list[Expr]], opened: dict[Expr, tuple[Scope, ...]]
) -> Iterator[Expr]:
    """Yield the expressions of a scope, those in the body of a `let` at the position of the `let`."""
    stack = [iter(here.get(scope, ()))]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
        elif isinstance(node, Let):
            stack.append(iter(here.get(opened[node][0], ())))
        else:
            yield node


def _read(operation: Operation) -> tuple[int, ...]:
    """Return the tensors that an `if` reads: the condition, and those that its branches read from outside."""
    written = {n for block in operation.blocks for inner in block for n in inner.writes}
    read = [n for block in operation.blocks for inner in block for n in inner.reads]
    read += [n for result in operation.results for n in result]
    return tuple(dict.fromkeys([*operation.reads, *(n for n in read if n not in written)]))


def is_kernel(expr: Expr) -> bool:
    """Whether `expr` is a function that is compiled to one kernel."""
    return isinstance(expr, Function) and ("Primitive" in expr.attrs or "Compiler" in expr.attrs)


def is_reshape(callee: Expr) -> bool:
    """Whether the result of a call has its first argument's elements, in their order, with another shape."""
    if isinstance(callee, Function):
        return "relay.reshape_only" in callee.attrs
    return isinstance(callee, Op) and callee.has(Trait.RESHAPE)


# -- types


def _leaves(expr: Expr) -> list[TensorType]:
    """Return the tensor types in the type of `expr`."""
    return list(_flat(expr.checked_type, expr))


def _flat(type_: Type, expr: Expr) -> Iterator[TensorType]:
    pending = [type_]
    while pending:
        current = pending.pop()
        if isinstance(current, TupleType):
            pending.extend(reversed(current.fields))
        elif isinstance(current, TensorType):
            if not current.is_static:
                raise RelayError(
                    f"the size of a value of type `{current}` is known only when the program runs",
                    expr.span,
                    help=["give the parameters shapes without `?`: memory is planned before the run"],
                )
            yield current
        else:
            raise _unplanned(f"a value of type `{current}`", expr)


_INLINE = "inline it first: relay_explorer.transform.Inline, PartialEvaluate"
_WHAT = {
    "Constructor": "a constructor of a data type",
    "Match": "a `match`",
    "RefCreate": "a reference",
    "RefRead": "a reference",
    "RefWrite": "a reference",
}


def _unplanned(what: str, expr: Expr, *help: str) -> RelayError:
    return RelayError(
        f"memory is planned for operators, kernels, tuples, `let` and `if`, but this is {what}",
        expr.span,
        help=[*help, "what lives in other programs is known only when they run: the interpreter runs them"],
    )
