"""DynamicToStatic: replace operators that compute shapes at run time by static ones."""

from __future__ import annotations

from typing import Any as Anything

from ..ir.annotate import set_origin
from ..ir.declaration import Trait
from ..ir.errors import RelayError, TypeInferenceError
from ..ir.expr import Call, Constant, Expr, Function, If, Let, Tuple, TupleGetItem, Var
from ..ir.lazy_dataclass import dataclass
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.rewrites import emit_rewrite
from ..ir.types import TensorType, TupleType, Type
from ..ir.walk import children, post_order, rebuild
from ..typing import infer_types
from .fold_constant import evaluate, fold, is_pure, of_the_shape
from .infrastructure import Contract, PassContext
from .infrastructure.function_passes import FunctionPass, rewritten


@dataclass(frozen=True)
class DynamicToStatic(FunctionPass):
    """Replace operators such as `dyn.reshape(x, shape)` by static ones where the shape is known at compile
    time.

    `dyn.reshape(x, shape)` becomes `reshape(x, newshape=[…])`. Constants are folded along the way, because
    each shape that becomes static turns `shape_of` its tensor into a constant. Types become more precise,
    with numbers in place of `?`.
    """

    name = "DynamicToStatic"
    opt_level = 2
    contract = Contract(types=False)

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        try:
            return super().transform_module(infer_types(mod), ctx)
        except TypeInferenceError:
            # Some ranks are known only once shapes are, so compute first what needs no types.
            result = mod.copy()
            for var, function in mod.functions.items():
                if isinstance(function, Function):
                    result[var] = rewritten(function, _Static().run(function))
            return infer_types(result)

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        folded = fold(function, mod)
        assert isinstance(folded, Function)
        alone = mod.copy()
        name = next(var for var, candidate in mod.functions.items() if candidate is function)
        alone[name] = folded
        typed = infer_types(alone)[name.name_hint]
        assert isinstance(typed, Function)
        return rewritten(typed, _Static().run(typed))


class _Static:
    """Rewrites a function, operands first: constant shapes are computed, and each new call is typed at once,
    so that an operator that queries its shape can be folded, too.
    """

    def __init__(self) -> None:
        self.types: dict[Expr, Type] = {}
        self.memo: dict[Expr, Expr] = {}
        self.vars: dict[Var, Var] = {}  # replacements of `let` variables whose type is dynamic

    def run(self, root: Function) -> Expr:
        order = post_order(root)
        bound: dict[Expr, list[Var]] = {}  # the variables that a `let` binds to a value
        for node in order:
            if isinstance(node, Let):
                bound.setdefault(node.value, []).append(node.var)
                if _is_open(node.var.type_annotation):
                    # Type inference annotated it; without the annotation, it can infer a more precise type.
                    self.vars[node.var] = Var(node.var.name_hint, None, node.var.span)
                    set_origin(self.vars[node.var], (node.var,))
        for node in order:
            if isinstance(node, Var):
                self.memo.setdefault(node, self.vars.get(node, node))
                continue
            parts = [self.memo[part] for part in children(node)]
            if isinstance(node, Let):
                parts[0] = self.vars.get(node.var, node.var)
            new = rebuild(node, parts)
            if isinstance(new, Function) and _is_open(new.ret_type) and (new.params or node is root):
                # Its result may have a more precise type. (A function without parameters may be there to
                # declare a type: a branch of an `if` whose other branch has more elements.)
                new = Function(new.params, new.body, None, new.type_params, new.attrs, new.span)
                set_origin(new, (node,))
            result = self._known(node, new)
            if result is not new:
                emit_rewrite(self._known, new, result, node)
            if result is not new and not result.origin and result not in self.memo:
                set_origin(result, (node,))
            self.memo[node] = result
            for var in bound.get(node, ()):
                self._bind(var, result)
        return self.memo[root]

    def _bind(self, var: Var, value: Expr) -> None:
        """Record the constant or the type that a `let` binds, for its body, which comes later in the
        order.
        """
        if isinstance(value, Constant):
            self.memo[var] = value
        elif var in self.vars and (type_ := self._type(value)) is not None:
            self.types[self.vars[var]] = type_

    def _known(self, old: Expr, new: Expr) -> Expr:
        """Simplify an expression whose parts have been rewritten, and record its type."""
        match new:
            case Call(op=Op() as op):
                return self._call(old, new, op)
            case Let(value=Constant()):
                return new.body
            case TupleGetItem(tuple_value=Tuple(fields=fields)) if isinstance(fields[new.index], Constant):
                return fields[new.index]
            case TupleGetItem():
                outer = self._type(new.tuple_value)
                self._note(old, new, outer.fields[new.index] if isinstance(outer, TupleType) else None)
            case Tuple():
                types = [t for t in map(self._type, new.fields) if t is not None]
                self._note(old, new, TupleType(types) if len(types) == len(new.fields) else None)
            case If(cond=Constant() as condition):
                return new.true_branch if condition.data.item() else new.false_branch
            case If():
                one, other = self._type(new.true_branch), self._type(new.false_branch)
                self._note(old, new, one if one == other else None)
            case _:
                self._note(old, new, None)
        return new

    def _note(self, old: Expr, new: Expr, type_: Type | None) -> None:
        """Record the type of a new expression; if it could not be inferred, that of the old one."""
        noted = type_ if type_ is not None else old._checked_type
        if new is not old and noted is not None:
            self.types[new] = noted

    def _type(self, expr: Expr) -> Type | None:
        return self.types.get(expr, expr._checked_type)

    def _call(self, old: Expr, new: Call, op: Op) -> Expr:
        argument = self._type(new.args[0]) if new.args else None
        if op.has(Trait.SHAPE_QUERY) and isinstance(argument, TensorType) and argument.is_static:
            result = self._type(old) or self._inferred(new)
            assert isinstance(result, TensorType)
            return of_the_shape(op.name, argument.concrete_shape, result.dtype)
        if _attributes(op):
            static = _static(new, op)
            if static is None:
                self._note(old, new, None)
                return new
            new, op = static, static.op  # type: ignore[assignment]  # an operator
        if new is not old or old._checked_type is None:
            inferred = self._inferred(new)
            if new is old and inferred is not None:
                self.types[new] = inferred
            self._note(old, new, inferred)
        if new.args and all(map(_is_constant, new.args)) and is_pure(op) and _is_static(self._type(new)):
            return evaluate(new, op) or new
        return new

    def _inferred(self, new: Call) -> Type | None:
        """Infer the type of a call from the types of its arguments."""
        types = [self._type(arg) for arg in new.args]
        if any(type_ is None for type_ in types):
            return None
        params = [Var(f"x{number}", type_) for number, type_ in enumerate(types)]
        try:
            typed = infer_types(IRModule.from_expr(Function(params, Call(new.op, params, new.attrs))))["main"]
        except RelayError:
            return None  # for example, because a rank is not known yet
        assert isinstance(typed, Function)
        return typed.body.checked_type


def _attributes(op: Op) -> dict[int, str]:
    """Map the positions of a `dyn.` operator's operands to the attributes of its static form that they
    become.
    """
    static = Op.find(op.name.removeprefix("dyn.")) if op.name.startswith("dyn.") else None
    if static is None or static.attrs_class is None:
        return {}
    fields, operands = static.attrs_class._fields, static.inputs or ()
    return {
        place: name for place, name in enumerate(op.inputs or ()) if name in fields and name not in operands
    }


def _static(call: Call, op: Op) -> Call | None:
    """Turn constant arguments into attributes; None where an argument is not constant."""
    places = _attributes(op)
    values = {}
    for place, attribute in places.items():
        arg = call.args[place]
        if not isinstance(arg, Constant):
            return None
        values[attribute] = arg.data.numpy().tolist()
    static = Op.get(op.name.removeprefix("dyn."))
    assert static.attrs_class is not None
    assert call.attrs is not None
    fields = static.attrs_class._fields
    attributes = {field: value for field, value in call.attrs.items() if field in fields}
    attributes |= {name: _converted(value, fields[name].kind) for name, value in values.items()}
    args = [arg for place, arg in enumerate(call.args) if place not in places]
    new = Call(static, args, static.attrs_class(**attributes), None, call.span)
    set_origin(new, call.origin)
    return new


def _converted(value: Anything, kind: str) -> Anything:
    """Convert a number, or nested lists of them, to the attribute's kind: sizes may be computed as
    floating-point numbers.
    """
    if isinstance(value, list):
        return [_converted(part, kind) for part in value]
    return value if "loat" in kind or "Number" in kind else int(value)


def _is_constant(expr: Expr) -> bool:
    if isinstance(expr, Tuple):
        return all(isinstance(field, Constant) for field in expr.fields)
    return isinstance(expr, Constant)


def _tensors(type_: Type | None) -> list[TensorType] | None:
    """Return the tensors that a type consists of; None where it contains anything else."""
    tensors: list[TensorType] = []
    pending = [type_]
    while pending:
        part = pending.pop()
        if isinstance(part, TupleType):
            pending += part.fields
        elif isinstance(part, TensorType):
            tensors.append(part)
        else:
            return None
    return tensors


def _is_static(type_: Type | None) -> bool:
    tensors = _tensors(type_)
    return tensors is not None and all(tensor.is_static for tensor in tensors)


def _is_open(type_: Type | None) -> bool:
    """Whether a type of tensors has a dimension that is not static."""
    tensors = _tensors(type_)
    return tensors is not None and not all(tensor.is_static for tensor in tensors)
