"""LazyGradientInit: create tensors of zeros and ones only where their elements are needed.

A gradient starts as zeros, and most of the first operations on it add zeros or multiply by ones. The pass
represents such tensors symbolically, in the type `GradCell` of the library `gradient.rly`.
"""

from __future__ import annotations

from ...ir.annotate import set_origin
from ...ir.declaration import Trait
from ...ir.expr import Call, Constant, Expr, Function, Tuple, TupleGetItem, Var
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.trampoline import run
from ...ir.types import FuncType, GlobalTypeVar, TensorType, TupleType, Type, TypeCall
from ...ops.create import ones, zeros
from ...ops.gradient_tools import is_static
from ...typing import infer_types
from ..infrastructure import Contract, Pass, PassContext
from .lifting import Block, Lifting, normal_module

LIBRARY = "gradient.rly"


@dataclass(frozen=True)
class LazyGradientInit(Pass):
    """Replace every tensor of a function by a cell that holds a tensor, zeros or ones.

    Adding zeros, and multiplying by zeros or ones, then costs nothing at run time. A function of tensors
    keeps its type: its parameters are wrapped in cells, and its result is unwrapped. Each function of the
    module also exists in a version on cells (`f_lazy`), which the other functions call.
    """

    name = "LazyGradientInit"
    opt_level = 2
    required = ()
    contract = Contract(gives="A-normal")

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        new = mod.copy()
        new.import_from_std(LIBRARY)
        library = {v.name_hint for v in new.functions if v not in mod.functions}
        lifting = _WithGradCells(normal_module(mod), new)
        for var, function in mod.functions.items():
            if not isinstance(function, Function) or "Compiler" in function.attrs:
                continue
            typed = lifting.mod[var]
            type_ = typed.checked_type
            if var.name_hint in library or not isinstance(type_, FuncType) or not _of_tensors(type_):
                continue
            new[var] = lifting.outer(typed)
            set_origin(new[var], (function,))
        lifting.finish()
        return infer_types(new)


def _of_tensors(type_: FuncType) -> bool:
    """Whether a function takes and returns only tensors and tuples of tensors, and is not generic."""
    pending = [*type_.arg_types, type_.ret_type]
    while pending:
        part = pending.pop()
        if isinstance(part, TupleType):
            pending.extend(part.fields)
        elif not isinstance(part, TensorType):
            return False
    return not type_.type_params


class _WithGradCells(Lifting):
    """The translation that represents tensors by cells of type `GradCell`."""

    suffix = "_lazy"

    def __init__(self, mod: IRModule, target: IRModule) -> None:
        super().__init__(mod, target)
        self.cell = GlobalTypeVar("GradCell")
        data = target.type_definitions[self.cell]
        self.cell = data.header
        # The library's functions by name: `AddGradCell` computes an `add` of cells.
        self.library = {var.name_hint: var for var in target.functions}
        self.make = {constructor.name_hint: constructor for constructor in data.constructors}

    def tensor(self, type_: TensorType) -> Type:
        return TypeCall(self.cell, [type_])

    def constant(self, value: Constant, var: Var, block: Block) -> None:
        block.bind(var, self._raw(value))

    def condition(self, cond: Expr) -> Expr:
        return self._unwrapped(cond)

    # -- cells

    def _raw(self, value: Expr) -> Expr:
        return Call(self.make["Raw"], [value])

    def _unwrapped(self, cell: Expr) -> Expr:
        return Call(self.library["FromGradCell"], [cell])

    def put_in(self, value: Expr, type_: Type) -> Expr:
        """Wrap a tensor in a cell; for a tuple, wrap each of its tensors."""
        if isinstance(type_, TupleType):
            return Tuple([self.put_in(TupleGetItem(value, k), t) for k, t in enumerate(type_.fields)])
        return self._raw(value)

    def take_out(self, value: Expr, type_: Type) -> Expr:
        """Unwrap the tensor in a cell; for a tuple, unwrap each of its tensors."""
        if isinstance(type_, TupleType):
            return Tuple([self.take_out(TupleGetItem(value, k), t) for k, t in enumerate(type_.fields)])
        return self._unwrapped(value)

    # -- programs

    def operator(self, call: Call, var: Var, block: Block) -> None:
        assert isinstance(call.op, Op)
        type_ = call.checked_type
        result: Expr | None = None
        combine = self.library.get(f"{call.op.name.capitalize()}GradCell")
        if isinstance(type_, TensorType) and (call.op.has(Trait.ZEROS) or call.op.has(Trait.ONES)):
            result = self._filled(call, type_)
        elif combine is not None and all(arg.checked_type == type_ for arg in call.args):
            a, b = Var("a", type_), Var("b", type_)
            body = Function([a, b], Call(call.op, [a, b]), type_)
            cells = [self.atom(arg) for arg in call.args]
            result = Call(combine, [body, *cells])
        if result is None:
            args = [self.take_out(self.atom(arg), arg.checked_type) for arg in call.args]
            value = block.atom(Call(call.op, args, call.attrs, (), call.span), var.name_hint)
            result = self.put_in(value, type_)
        set_origin(result, (call,))
        block.bind(var, result)

    def _filled(self, call: Call, type_: TensorType) -> Expr:
        """Build a cell of zeros or ones, which are created on demand. If the shape is static, this does not
        need the tensor whose shape they have.
        """
        assert isinstance(call.op, Op)
        kind = "Zero" if call.op.has(Trait.ZEROS) else "One"
        if is_static(type_):
            value = (zeros if kind == "Zero" else ones)(type_.concrete_shape, type_.dtype)
        else:
            args = [self.take_out(self.atom(arg), arg.checked_type) for arg in call.args]
            value = Call(call.op, args, call.attrs)
        return Call(self.make[kind], [Function([], value, type_)])

    def outer(self, function: Function) -> Function:
        """Wrap the translated function in one that takes and returns tensors."""
        block = Block([])
        params = []
        for param in function.params:
            plain = Var(param.name_hint, param.checked_type, param.span)
            set_origin(plain, (param,))
            params.append(plain)
            block.bind(self.variable(param), self.put_in(plain, param.checked_type))
        result = run(self.statements(function.body, block))
        type_ = function.checked_type
        assert isinstance(type_, FuncType)
        body = block.around(block.atom(self.take_out(result, type_.ret_type)))
        return Function(params, body, type_.ret_type, (), function.attrs, function.span)
