"""Reverse-mode differentiation of whole programs: closures, recursion, branches, references and data types.

Every tensor becomes a pair of its value and a cell that accumulates its gradient. One more cell, the
backpropagator, holds a function that runs the backward pass of everything computed so far. After computing
its value, an operator stores a new function there, which adds to the gradients of its arguments and then
calls the previous function. Functions receive that cell as an argument, so the backward pass retraces exactly
the path that the forward pass took, through all branches and recursive calls.
"""

from __future__ import annotations

from ...ir.annotate import set_checked_type, set_origin
from ...ir.errors import RelayError
from ...ir.expr import Call, Constant, Expr, Function, RefCreate, RefRead, RefWrite, Tuple, TupleGetItem, Var
from ...ir.module import IRModule
from ...ir.trampoline import run
from ...ir.types import FuncType, RefType, TensorType, TupleType, Type
from ...ops.binary.arithmetic import add
from ...ops.gradient_tools import ones_of
from .data_with_cells import DataWithCells
from .lifting import Block, Lifting, normal_module
from .reverse_mode import by_arguments, moves

UNIT = TupleType([])
BACK = RefType(FuncType([], UNIT))  # the type of the cell that holds the backpropagator


def higher_order(function: Function, mod: IRModule | None) -> Function:
    """Return the function with its derivatives; translated copies of the functions that it calls are added to
    `mod`.
    """
    whole = mod.copy() if mod is not None else IRModule()
    name = "differentiated"
    while name in whole:
        name += "_"
    whole[name] = function
    typed = normal_module(whole)
    target = mod if mod is not None else IRModule()
    lifting = _WithCells(typed, target)
    result = lifting.whole(typed[name])
    lifting.finish()
    set_origin(result, (function,))
    return result


class _WithCells(Lifting):
    """The translation that pairs tensors with cells."""

    suffix = "_grad"

    def __init__(self, mod: IRModule, target: IRModule) -> None:
        super().__init__(mod, target)
        self.plain: dict[Var, Var] = {}  # by the variable of a pair: that of its value, if there is one
        self.constants: set[Var] = set()  # pairs whose cells never receive a gradient
        self.data = DataWithCells(self)

    def tensor(self, type_: TensorType) -> Type:
        return TupleType([type_, RefType(type_)])

    def more(self) -> list[Var]:
        return [Var("back", BACK)]

    def condition(self, cond: Expr) -> Expr:
        return TupleGetItem(cond, 0)

    def constant(self, value: Constant, var: Var, block: Block) -> None:
        self._pair(value, value.checked_type, var, block)
        self.constants.add(var)

    # -- pairs of a value and its cell

    def _pair(self, value: Expr, type_: Type, var: Var, block: Block) -> Var:
        """Bind `var` to a value with a new cell for each of its tensors."""
        plain = Var(var.name_hint, type_)
        set_origin(plain, value.origin or (value,))
        block.bind(plain, value)
        self.plain[var] = plain
        block.bind(var, self.data.with_cells(plain, type_))
        return var

    def primal(self, lifted: Expr, type_: Type) -> Expr:
        """Return the value without cells, typed."""
        if isinstance(lifted, Var) and lifted in self.plain:
            return self.plain[lifted]
        result: Expr
        if isinstance(type_, TupleType):
            result = Tuple([self.primal(TupleGetItem(lifted, k), t) for k, t in enumerate(type_.fields)])
        elif isinstance(type_, TensorType):
            result = TupleGetItem(lifted, 0)
        else:
            result = self.data.values(lifted, type_)
        set_checked_type(result, type_)
        return result

    # -- operators

    def operator(self, call: Call, var: Var, block: Block) -> None:
        pairs = [self.atom(arg) for arg in call.args]
        values = [self.primal(pair, arg.checked_type) for pair, arg in zip(pairs, call.args, strict=True)]
        forward = Call(call.op, values, call.attrs, (), call.span)
        set_origin(forward, (call,))
        set_checked_type(forward, call.checked_type)
        self._pair(forward, call.checked_type, var, block)
        if all(isinstance(pair, Var) and pair in self.constants for pair in pairs) or not _is_smooth(call):
            self.constants.add(var)
            return
        inner = Block(block.more)
        derivative = inner.atom(self.data.derivatives(var, call.checked_type), f"d_{var.name_hint}")
        if isinstance(call.checked_type, TupleType):
            derivative = self.data.derivatives(var, call.checked_type)
        derivatives = by_arguments(forward, derivative, self.plain[var])
        if all(by is None for by in derivatives):
            self.constants.add(var)
            return
        for pair, arg, by in zip(pairs, call.args, derivatives, strict=True):
            if by is not None and not (isinstance(pair, Var) and pair in self.constants):
                _gather(pair, arg.checked_type, by, inner)
        before = block.atom(RefRead(block.more[0]), "before")
        back = Function([], inner.around(inner.atom(Call(before, []))), UNIT)
        set_origin(back, (call,))
        block.bind(Var("u", UNIT), RefWrite(block.more[0], back))

    # -- the whole function

    def whole(self, function: Function) -> Function:
        """Translate a function of tensors: create the cells, run the forward pass, then the backward pass,
        and read the cells.
        """
        type_ = function.checked_type
        assert isinstance(type_, FuncType)
        if function.type_params:
            raise RelayError(
                "a polymorphic function has no derivative, because the tensors in its values are unknown",
                function.span,
                help=["call it with tensors from another function, and differentiate that one"],
            )
        params = []
        back = Var("back", BACK)
        block = Block([back])
        for param in function.params:
            self.data.check(param.checked_type, param, f"the parameter `%{param.name_hint}`")
            plain = Var(param.name_hint, param.checked_type, param.span)
            set_origin(plain, (param,))
            params.append(plain)
            self.plain[self.variable(param)] = plain
            block.bind(self.variable(param), self.data.with_cells(plain, param.checked_type))
        self.data.check(type_.ret_type, function, "the result")
        block.bind(back, RefCreate(Function([], Tuple([]), UNIT)))
        result = run(self.statements(function.body, block))
        place, first = result, type_.ret_type
        while isinstance(first, TupleType):
            if not first.fields:
                raise RelayError(
                    "the result begins with an empty tuple, which has no derivative", function.span
                )
            place, first = TupleGetItem(place, 0), first.fields[0]
        if not isinstance(first, TensorType):
            raise RelayError(
                f"the result must be a tensor, or a tuple that begins with one, not {type_.ret_type}",
                function.span,
                help=["return the loss first, because the first result is differentiated"],
            )
        seed = ones_of(self.primal(place, first), first)
        block.bind(Var("u", UNIT), RefWrite(TupleGetItem(place, 1), seed))
        block.bind(Var("u", UNIT), Call(RefRead(back), []))
        cells = [self.data.derivatives(self.variable(p), p.checked_type) for p in function.params]
        whole = Tuple([self.primal(result, type_.ret_type), Tuple(cells)])
        return Function(params, block.around(block.atom(whole)), None, (), None, function.span)


def _is_smooth(call: Call) -> bool:
    """Whether a call has floating-point arguments and results; otherwise it has no derivative."""
    return moves(call.checked_type) and any(moves(arg.checked_type) for arg in call.args)


def _gather(pair: Expr, type_: Type, derivative: Expr, block: Block) -> None:
    """Accumulate a derivative into the cells of a value."""
    if isinstance(type_, TupleType):
        for index, part in enumerate(type_.fields):
            field = (
                derivative.fields[index]
                if isinstance(derivative, Tuple)
                else TupleGetItem(block.atom(derivative), index)
            )
            _gather(TupleGetItem(pair, index), part, field, block)
        return
    cell = block.atom(TupleGetItem(pair, 1), "cell")
    block.bind(Var("u", UNIT), RefWrite(cell, block.atom(add(RefRead(cell), derivative))))
