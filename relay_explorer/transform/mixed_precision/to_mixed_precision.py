"""ToMixedPrecision: compute in a narrower element type where accuracy allows it."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, TypeVar

from ...ir.adt import Clause, Match
from ...ir.annotate import set_checked_type, set_origin
from ...ir.attrs import Attrs
from ...ir.errors import RelayError
from ...ir.expr import (
    Call,
    Constant,
    Expr,
    Function,
    GlobalVar,
    If,
    Let,
    RefCreate,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
)
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.rewrites import emit_rewrite
from ...ir.types import FuncType, TensorType, TupleType, Type
from ...ir.walk import children, post_order, rebuild
from ...typing import infer_types
from ..infrastructure import Contract, Converted, PassContext
from ..infrastructure.function_passes import TypedPass, rewritten
from ..infrastructure.options import refusal
from ..tools.operator_type import operator_type
from ..tools.typed_rewrite import call
from .categories import MIXED_PRECISION_ALWAYS, MIXED_PRECISION_FOLLOW, MIXED_PRECISION_NEVER, PROPERTY
from .element_types import FLOAT, LARGEST, accumulating_attrs, is_float, tensors_in, with_floats


@dataclass(frozen=True)
class ToMixedPrecision(TypedPass):
    """Compute in `mixed_precision_type`, "float16" or another floating-point type, where accuracy allows it.

    Every operator has a category (see `mixed_precision.categories`). One that benefits (a convolution, a
    matrix product) gets its arguments cast; one that loses too much accuracy (`exp`, a large sum) gets them
    in float32; the others follow: they are narrow if all their floating-point arguments are, where variables
    and constants count as narrow because they can be cast. A cast and its inverse cancel.

    Parameters keep their types; the result of `@main` is narrow if it is computed so, unless the option
    `relay.ToMixedPrecision.keep_orig_output_dtype` is set. Values that cross a boundary (arguments of
    functions and constructors, references, branches of an `if`, function values) keep their types, so that
    every program stays well typed. An operator that does not accept narrow arguments keeps its own types.

    `missing_op_mode` decides about an operator without a category: 0 raises an error; with 1, which logs it,
    and 2, which does not, the operator follows its arguments.
    """

    name = "ToMixedPrecision"
    opt_level = 0
    # For values of moderate size; a comparison of nearly equal numbers may have another result.
    contract = Contract(types=False, error=2e-2)

    mixed_precision_type: Annotated[str, Converted(str)] = "float16"
    missing_op_mode: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not FLOAT.fullmatch(self.mixed_precision_type):
            allowed = 'a floating-point type: "float16", "bfloat16", "float32" or "float64"'
            raise refusal("ToMixedPrecision", "mixed_precision_type", self.mixed_precision_type, allowed)
        if self.missing_op_mode not in (0, 1, 2):
            allowed = "0 (an operator without a category is an error), 1 (it is logged) or 2 (it is not)"
            raise refusal("ToMixedPrecision", "missing_op_mode", self.missing_op_mode, allowed)

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return infer_types(super().transform_module(mod, ctx))

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        keeps = bool(ctx.config.get("relay.ToMixedPrecision.keep_orig_output_dtype", False))
        converter = _Converter(function, self.mixed_precision_type, keeps or _is_called(function, mod))
        result = rewritten(function, converter.run())
        self._report(converter.missing)
        return result

    def _report(self, missing: Counter[str]) -> None:
        if not missing or self.missing_op_mode == 2:
            return
        if self.missing_op_mode == 0:
            raise RelayError(
                f"ToMixedPrecision has no category for {', '.join(f'`{name}`' for name in sorted(missing))}",
                help=[
                    "register one with relay.op.register_mixed_precision_conversion(…), or set "
                    "missing_op_mode=1: the operators then follow their arguments"
                ],
            )
        for name, count in sorted(missing.items()):
            times = "once" if count == 1 else f"{count} times"
            import logging

            logging.getLogger(__name__).warning(
                "`%s`, which occurs %s, has no category of mixed precision, so it follows its arguments",
                name, times,
            )  # fmt: skip


def _is_called(function: Function, mod: IRModule) -> bool:
    """Whether another function of the module, or the function itself, relies on its type."""
    names = {var.name_hint for var, other in mod.functions.items() if other is function}
    return any(
        isinstance(node, GlobalVar) and node.name_hint in names
        for other in mod.functions.values()
        for node in post_order(other)
    )


class _Converter:
    """Converts one function from the leaves up, and sets the type of every new expression."""

    def __init__(self, root: Function, target: str, keeps: bool) -> None:
        self.root = root
        self.target = target
        self.keeps = keeps  # whether the result keeps its type
        self.missing: Counter[str] = Counter()
        self.order = post_order(root)
        self.memo: dict[Expr, Expr] = {}
        self.values = {node.var: node.value for node in self.order if isinstance(node, Let)}
        self.pinned: set[Var] = set()  # recursive variables, which keep their type
        self.escaping = _escaping(self.order)
        self.casts: dict[tuple[Expr, str], Expr] = {}

    def run(self) -> Expr:
        for node in self.order:
            if not isinstance(node, Var):
                result = self._convert(node)
                if result is not node and not result.origin:
                    set_origin(result, (node,))
                self.memo[node] = result
        return self.memo[self.root]

    def form(self, part: Expr) -> Expr:
        """Return the converted form of a part."""
        if part.__class__ is not Var:
            return self.memo[part]
        chain: list[Var] = []  # of aliases, variables bound to variables
        at: Expr = part
        while isinstance(at, Var) and at in self.values and at not in self.memo and at not in self.pinned:
            chain.append(at)
            at = self.values[at]
        for var in reversed(chain):
            value = self.values[var]
            if not isinstance(value, Var) and value not in self.memo:
                self.pinned.add(var)  # a function that calls itself
                continue
            new = self.memo.get(value, value)
            type_ = _type(new, var.checked_type)
            self.memo[var] = var
            if type_ != var.checked_type:
                self.memo[var] = _typed(Var(var.name_hint, type_, var.span), type_, var)
        return self.memo.get(part, part)

    def _convert(self, node: Expr) -> Expr:
        match node:
            case Call(op=Op() as op):
                return self._operator(node, op)
            case Call():
                return self._called(node)
            case Function():
                return self._function(node)
            case Let():
                new = Let(
                    self._bound(node), self._value_of(node.var, node.value), self.form(node.body), node.span
                )
                return _typed(new, _type(new.body, node.checked_type), node)
            case If():
                branches = self._alike([node.true_branch, node.false_branch])
                new_if = rebuild(node, [self.form(node.cond), *branches])
                return _typed(new_if, _type(branches[0], node.checked_type), node)
            case Match():
                results = self._alike([clause.rhs for clause in node.clauses])
                pairs = zip(node.clauses, results, strict=True)
                clauses = [Clause(clause.lhs, result, clause.span) for clause, result in pairs]
                replacement = Match(self._as_before(node.data), clauses, node.complete, node.span)
                return _typed(replacement, _type((results or [node])[0], node.checked_type), node)
            case Tuple():
                fields = [self.form(field) for field in node.fields]
                old = node.checked_type
                assert isinstance(old, TupleType)
                types = [_type(new, was) for new, was in zip(fields, old.fields, strict=True)]
                return _typed(rebuild(node, fields), TupleType(types), node)
            case TupleGetItem():
                whole = self.form(node.tuple_value)
                assert isinstance(whole.checked_type, TupleType)
                return _typed(rebuild(node, [whole]), whole.checked_type.fields[node.index], node)
            case RefCreate() | RefWrite():
                parts = [self._as_before(part) for part in children(node)]
                return _typed(rebuild(node, parts), node.checked_type, node)
        parts = [self.form(part) for part in children(node)]
        return _typed(rebuild(node, parts), node.checked_type, node) if parts else node

    # -- types that must stay

    def _as_before(self, part: Expr) -> Expr:
        """Return the converted form of a part, cast back to its original type."""
        return (
            self.form(part) if part._checked_type is None else self.cast(self.form(part), part.checked_type)
        )

    def _bound(self, node: Let) -> Var:
        var = self.form(node.var)
        assert isinstance(var, Var)
        return var

    def _value_of(self, var: Var, value: Expr) -> Expr:
        return self._as_before(value) if var in self.pinned else self.form(value)

    def _alike(self, parts: list[Expr]) -> list[Expr]:
        """Return the converted forms of parts that must agree in type: as they are if they agree, else cast
        back.
        """
        new = [self.form(part) for part in parts]
        if all(part._checked_type == new[0]._checked_type for part in new):
            return new
        return [self._as_before(part) for part in parts]

    def _called(self, node: Call) -> Expr:
        """Convert a call of a function or constructor, whose arguments must have the declared types."""
        callee = self.form(node.op)
        result = rebuild(node, [callee, *[self._as_before(arg) for arg in node.args]])
        type_ = callee._checked_type
        is_known = isinstance(type_, FuncType) and not type_.type_params and not isinstance(callee, GlobalVar)
        return _typed(result, type_.ret_type if is_known else node.checked_type, node)  # type: ignore[union-attr]  # a function's

    def _function(self, node: Function) -> Expr:
        old = node.checked_type
        assert isinstance(old, FuncType)
        body = self.form(node.body)
        if self.keeps if node is self.root else self._escapes(node):
            body = self._result(body, old.ret_type)
        args, result = old.arg_types, _type(body, old.ret_type)
        type_ = FuncType(args, result, old.type_params, old.type_constraints)
        new = Function(node.params, body, type_.ret_type, node.type_params, node.attrs, node.span)
        return _typed(new, type_, node)

    def _escapes(self, function: Function) -> bool:
        """Whether a function is used other than by calls, directly or through a variable."""
        return bool(
            function in self.escaping
            or function.type_params
            or any(var in self.escaping or var in self.pinned for var in self._names(function))
        )

    def _names(self, function: Function) -> list[Var]:
        if not hasattr(self, "_bound_to"):
            self._bound_to: dict[Expr, list[Var]] = {}
            for var, value in self.values.items():
                self._bound_to.setdefault(value, []).append(var)
        return self._bound_to.get(function, [])

    def _result(self, body: Expr, expected: Type) -> Expr:
        """Cast the result of a function's body, inside its `let`s and not around them."""
        if body._checked_type in (None, expected):
            return body
        lets: list[Let] = []
        while isinstance(body, Let):
            lets.append(body)
            body = body.body
        result = self.cast(body, expected)
        for let in reversed(lets):
            result = _typed(Let(let.var, let.value, result, let.span), expected, let)
        return result

    # -- operators

    def _operator(self, node: Call, op: Op) -> Expr:
        category, accumulated, result_dtype = self._category(node, op)
        args = [self.form(arg) for arg in node.args]
        if category == MIXED_PRECISION_FOLLOW:
            narrow = all(map(self._can_be_narrow, args))
            category = MIXED_PRECISION_ALWAYS if narrow else MIXED_PRECISION_NEVER
        if category == MIXED_PRECISION_ALWAYS and self._fits(node.attrs):
            attrs = accumulating_attrs(node, accumulated)
            result = self._typed_call(node, op, [self.cast_all(arg, self.target) for arg in args], attrs)
            if result is not None:
                emit_rewrite(
                    self._operator,
                    node,
                    result,
                    sentence="An operator that gains from the narrow type is computed in it.",
                )
                return result if accumulated == result_dtype else self.cast_all(result, result_dtype)
        wide = [self._widened(new, old) for new, old in zip(args, node.args, strict=True)]
        result = self._typed_call(node, op, wide, node.attrs)
        if result is not None:
            return result
        before = [self._as_before(arg) for arg in node.args]
        return _typed(rebuild(node, [op, *before]), node.checked_type, node)

    def _category(self, node: Call, op: Op) -> tuple[int, str, str]:
        conversion = op.get_attr(PROPERTY)
        if conversion is None:
            self.missing[op.name] += 1
            return MIXED_PRECISION_FOLLOW, self.target, self.target
        answer = conversion(node, self.target)
        if len(answer) != 3 or int(answer[0]) not in (0, 1, 2):
            raise RelayError(
                f"the category of `{op.name}` is {answer!r:.80}",
                help=["it must be [0, 1 or 2, the type accumulated in, the type of the result]"],
            )
        return int(answer[0]), str(answer[1]), str(answer[2])

    def _can_be_narrow(self, arg: Expr) -> bool:
        if isinstance(arg, (Var, Constant)):
            return True
        return all(t.dtype == self.target or not is_float(t) for t in tensors_in(arg.checked_type))

    def _fits(self, attrs: Attrs | None) -> bool:
        """Whether the bounds among the attributes are representable in the narrow type."""
        largest = LARGEST.get(self.target)
        if attrs is None or largest is None or "a_min" not in attrs or "a_max" not in attrs:
            return True
        return bool(attrs["a_min"] >= -largest and attrs["a_max"] <= largest)

    def _widened(self, new: Expr, old: Expr) -> Expr:
        """Cast an argument of an operator that needs full precision: to float32, or to float64 if it was
        float64.
        """
        was_double = any(t.dtype == "float64" for t in tensors_in(old.checked_type))
        return self.cast_all(new, "float64" if was_double else "float32")

    def _typed_call(self, node: Call, op: Op, args: list[Expr], attrs: Attrs | None) -> Expr | None:
        """Build the typed call on new arguments; None where the operator does not accept them."""
        types = [arg.checked_type for arg in args]
        if attrs is node.attrs and all(a is b for a, b in zip(args, node.args)):
            return node
        type_ = operator_type(op, attrs, types)
        return None if type_ is None else _typed(Call(op, args, attrs, types, node.span), type_, node)

    # -- casts

    def cast_all(self, expr: Expr, dtype: str) -> Expr:
        """Cast the floating-point elements of a tensor, or tuple of tensors."""
        return self.cast(expr, with_floats(expr.checked_type, dtype))

    def cast(self, expr: Expr, target_type: Type) -> Expr:
        """Cast an expression to a type that differs from its own in element types only."""
        type_ = _type(expr, target_type)
        if type_ == target_type:
            return expr
        if isinstance(type_, TensorType) and isinstance(target_type, TensorType):
            return self._cast_tensor(expr, type_, target_type.dtype)
        assert isinstance(type_, TupleType), f"{expr} of type {type_} cannot become {target_type}"
        assert isinstance(target_type, TupleType), f"{expr} of type {type_} cannot become {target_type}"
        fields = []
        for index, (field, target) in enumerate(zip(type_.fields, target_type.fields, strict=True)):
            part = (
                expr.fields[index]
                if isinstance(expr, Tuple)
                else _typed(TupleGetItem(expr, index), field, expr)
            )
            fields.append(self.cast(part, target))
        return _typed(Tuple(fields), target_type, expr)

    def _cast_tensor(self, expr: Expr, type_: TensorType, dtype: str) -> Expr:
        """Cast a tensor, once for each type; casting back returns the original expression."""
        result = self.casts.get((expr, dtype))
        if result is None:
            result = _typed(call("cast", expr, dtype=dtype), TensorType.of(type_.shape, dtype), expr)
            self.casts[expr, dtype] = result
            emit_rewrite(
                self._cast_tensor,
                expr,
                result,
                sentence="Where two element types meet, the value is cast, once.",
            )
            self.casts[result, type_.dtype] = expr
        return result


E = TypeVar("E", bound=Expr)


def _type(new: Expr, old: Type) -> Type:
    """Return the type of a new expression. A global variable has none of its own and keeps the `old` one."""
    return old if new._checked_type is None else new._checked_type


def _typed(result: E, type_: Type, source: Expr) -> E:
    """Set the type and the origin of a new expression."""
    if result is not source:
        set_checked_type(result, type_)
        set_origin(result, result.origin or (source,))
    return result


def _escaping(order: list[Expr]) -> set[Expr]:
    """Return the functions and variables that escape: those used for more than being called."""
    escaping: set[Expr] = set()
    for node in order:
        match node:
            case Call():
                escaping.update(node.args)
            case Function():
                escaping.add(node.body)
            case Let():
                escaping.add(node.body)
                if not isinstance(node.value, Function):
                    escaping.add(node.value)
            case _:
                escaping.update(children(node))
    return {expr for expr in escaping if isinstance(expr, (Function, Var))}
