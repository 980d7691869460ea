"""Propagate layouts through a program: each operator is converted, or adopts the layout of its arguments, or
receives them in their original layout.

From the leaves up, every value becomes an expression or a `Laid`: an expression in a new layout, together
with its original one. An operator whose rule accepts the new layout adopts it; for any other operator, the
tensor is transformed back. Every change is checked: the new call must have the type of the old one in the new
layout; otherwise the operator stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...ir.annotate import set_checked_type, set_origin
from ...ir.errors import RelayError
from ...ir.expr import Call, Expr, Function, Tuple, TupleGetItem
from ...ir.op import Op, RelationError
from ...ir.rewrites import emit_rewrite
from ...ir.types import TensorType, TupleType, Type
from ...ir.walk import children, post_order, rebuild
from ...ops.layouts.layout import Layout, Question
from ..tools.operator_type import operator_type
from ..tools.typed_rewrite import call
from .infer import has_rule, infer


class Laid(NamedTuple):
    """A tensor in the layout `new` that was originally in the layout `old`."""

    value: Expr
    old: Layout
    new: Layout


class Several(NamedTuple):
    """The fields of a tuple, and the expression that is the tuple if none of them gets a new layout."""

    fields: Sequence[Expr | Laid]
    whole: Expr


Made = Expr | Laid | Several
# Maps the original call, and the same call on its new arguments, to the converted call; None keeps the call.
Change = Callable[[Call, Call], Call | None]


class LayoutRewriter:
    """Rewrites one typed function; `change` converts a call, and `may_change` says whether it handles an
    operator.
    """

    def __init__(self, change: Change, may_change: Callable[[Op], bool]) -> None:
        self.change = change
        self.may_change = may_change
        self.memo: dict[Expr, Made] = {}
        self.transforms: dict[tuple[Expr, str, str], Expr | None] = {}

    def run(self, function: Function) -> Expr:
        for node in post_order(function):
            self.memo[node] = self._rewritten(node)
        return self.realized(self.memo[function])

    def _rewritten(self, node: Expr) -> Made:
        match node:
            case Call(op=Op() as op):
                result = self._call(node, op)
                if result is not None:
                    return result
            case Tuple():
                parts = [self.memo[field] for field in node.fields]
                if any(isinstance(part, Laid) for part in parts):
                    fields = [part if isinstance(part, Laid) else self.realized(part) for part in parts]
                    return Several(fields, node)
            case TupleGetItem():
                whole = self.memo[node.tuple_value]
                if isinstance(whole, Several):
                    return whole.fields[node.index]
        return _typed(rebuild(node, [self.realized(self.memo[part]) for part in children(node)]), node)

    def realized(self, value: Made) -> Expr:
        """Return a value in its original layout."""
        if isinstance(value, Laid):
            back = self.transform(value.value, value.new, value.old)
            assert back is not None, f"{value.new} cannot become {value.old} again"
            return back
        if isinstance(value, Several):
            if all(isinstance(f, Laid) and f.old == f.new for f in value.fields) and isinstance(
                value.whole, Call
            ):
                return value.whole
            fields = [self.realized(field) for field in value.fields]
            new = Tuple(fields)
            set_origin(new, (value.whole,))
            set_checked_type(new, TupleType([field.checked_type for field in fields]))
            return new
        return value

    def transform(self, expr: Expr, source: Layout, target: Layout) -> Expr | None:
        """Insert a layout transform, which may add axes; None where there is none between the two layouts."""
        key = (expr, source.name, target.name)
        if source == target:
            return expr
        if key not in self.transforms:
            self.transforms[key] = result = self._transform(expr, source, target)
            if result is not None and result is not expr:
                emit_rewrite(
                    self.transform, expr, result, sentence="Insert a layout transform where two layouts meet."
                )
        return self.transforms[key]

    def _transform(self, expr: Expr, source: Layout, target: Layout) -> Expr | None:
        missing = [letter for letter in target.primal if letter not in source]
        value = expr
        if missing:
            _set_missing_types(expr)
            type_ = expr.checked_type
            if isinstance(type_, TensorType) and all(isinstance(d, int) and d == 1 for d in type_.shape):
                return expr  # a single element broadcasts in any layout
            wider = _typed_call(call("expand_dims", expr, axis=0, num_newaxis=len(missing)), expr)
            if wider is None:
                return None
            value = wider
            source = Layout.of([*((letter, 1) for letter in missing), *source.axes])
            if source == target:
                return value
        result = call("layout_transform", value, src_layout=source.name, dst_layout=target.name)
        return _typed_call(result, expr)

    # -- one operator

    def _call(self, node: Call, op: Op) -> Made | None:
        """Convert a call to new layouts; None where it stays as it was."""
        parts = [part for arg in node.args for part in self._flat(arg)]
        if not has_rule(op):
            return self._replaced(node) if self.may_change(op) else None
        if not self.may_change(op) and not any(isinstance(part, Laid) for part in parts):
            return None
        try:
            return self._in_new_layouts(node, op, parts)
        except RelationError:  # an attribute that is not a layout
            return None

    def _flat(self, arg: Expr) -> Sequence[Expr | Laid]:
        """Return an argument, or its fields if it is a tuple."""
        result = self.memo[arg]
        if isinstance(result, Several):
            return result.fields
        if isinstance(arg, Tuple):
            assert isinstance(result, Tuple)
            return result.fields
        return [result]

    def _replaced(self, node: Call) -> Expr | None:
        """Change a call whose operator has no layout rule."""
        args = [self.realized(self.memo[arg]) for arg in node.args]
        result = self.change(node, Call(node.op, args, node.attrs, node.type_args, node.span))
        return None if result is None else _typed_like(result, node)

    def _in_new_layouts(self, node: Call, op: Op, parts: Sequence[Expr | Laid]) -> Made | None:
        types = [_flat_type(arg.checked_type) for arg in node.args]
        flat = [type_ for several in types for type_ in several]
        if len(parts) != len(flat):  # a tuple whose fields are not known
            return None
        old_layouts = [part.old if isinstance(part, Laid) else None for part in parts]
        answer = infer(op, Question(node.attrs, None, old_layouts, flat))
        if answer is None or len(answer.input_layouts) != len(parts):
            return None
        old_in, old_out = _whole(answer.input_layouts), _whole(answer.output_layouts)
        values: list[Expr] = []
        now: list[Layout] = []
        for part, old in zip(parts, old_in, strict=True):
            if isinstance(part, Laid) and part.old == old:
                values.append(part.value)
                now.append(part.new)
            else:  # its layout is unchanged, or the operator interprets its axes otherwise
                values.append(self.realized(part))
                now.append(old)
        args = _nested(node.args, values, [len(several) for several in types])
        new = Call(op, args, answer.new_attrs, None, node.span)
        changed = self.change(node, new) if self.may_change(op) else None
        new = new if changed is None else changed
        if not isinstance(new.op, Op):
            return None
        answer = infer(new.op, Question(new.attrs, now, old_in, flat))
        if answer is None or len(answer.output_layouts) != len(old_out):
            return None
        preferred, new_out = _whole(answer.input_layouts), _whole(answer.output_layouts)
        laid = self._laid_arguments(new.args, now, preferred)
        if laid is None:
            return None
        result = Call(new.op, laid, answer.new_attrs, None, node.span)
        set_origin(result, (node,))
        return self._results(node, result, old_out, new_out, changed is not None)

    def _laid_arguments(
        self, args: Sequence[Expr], now: Sequence[Layout], preferred: Sequence[Layout]
    ) -> list[Expr] | None:
        """Bring the arguments to the required layouts."""
        arguments: list[Expr] = []
        place = 0
        for arg in args:
            fields = arg.fields if isinstance(arg, Tuple) else (arg,)
            laid = []
            for field in fields:
                if place >= len(now) or place >= len(preferred):
                    return None
                _set_missing_types(field)
                transformed = self.transform(field, now[place], preferred[place])
                if transformed is None:
                    return None
                laid.append(transformed)
                place += 1
            arguments.append(laid[0] if not isinstance(arg, Tuple) else _typed_tuple(laid))
        return arguments if place == len(now) else None

    def _results(
        self, node: Call, new_call: Call, old: Sequence[Layout], new: Sequence[Layout], changed: bool
    ) -> Made | None:
        """Return the results of a new call, if their types are those of the old one after the layout
        transform.
        """
        assert isinstance(new_call.op, Op)
        types = [arg._checked_type for arg in new_call.args]
        if any(type_ is None for type_ in types):
            return None
        type_ = operator_type(new_call.op, new_call.attrs, [t for t in types if t is not None])
        if type_ is None:
            return None
        before, after = _flat_type(node.checked_type), _flat_type(type_)
        if len(before) != len(after) or len(after) != len(old):
            return None
        for was, actual, source, target in zip(before, after, old, new, strict=True):
            if not _agree(_laid_type(was, source, target), actual):
                return None
        set_checked_type(new_call, type_)
        if changed:
            emit_rewrite(
                self._results, node, new_call, sentence="The operator is converted to its preferred layout."
            )
        else:
            emit_rewrite(
                self._results,
                node,
                new_call,
                sentence="The operator follows its arguments into their layout.",
            )
        if not isinstance(type_, TupleType):
            return Laid(new_call, old[0], new[0])
        fields = []
        for number, field in enumerate(type_.fields):
            part = TupleGetItem(new_call, number)
            set_checked_type(part, field)
            set_origin(part, (node,))
            fields.append(Laid(part, old[number], new[number]))
        return Several(fields, new_call)


def _whole(layouts: Sequence[Layout | None]) -> list[Layout]:
    return [layout for layout in layouts if layout is not None]


def _flat_type(type_: Type) -> Sequence[Type]:
    """Return the types of a tuple's fields, or the one type."""
    return type_.fields if isinstance(type_, TupleType) else [type_]


def _nested(args: Sequence[Expr], values: Sequence[Expr], counts: Sequence[int]) -> list[Expr]:
    """Group `values` into arguments of the same structure as `args`, with tuples where `args` has them."""
    nested: list[Expr] = []
    place = 0
    for arg, count in zip(args, counts, strict=True):
        tensors = values[place : place + count]
        place += count
        nested.append(_typed_tuple(tensors) if isinstance(arg.checked_type, TupleType) else tensors[0])
    return nested


def _typed_tuple(fields: Sequence[Expr]) -> Tuple:
    result = Tuple(fields)
    types = [field._checked_type for field in fields]
    if all(type_ is not None for type_ in types):
        set_checked_type(result, TupleType([type_ for type_ in types if type_ is not None]))
    return result


def _typed(result: Expr, source: Expr) -> Expr:
    if result is not source and result._checked_type is None:
        set_checked_type(result, source._checked_type)
    return result


def _typed_like(result: Call, node: Call) -> Call:
    set_origin(result, result.origin or (node,))
    set_checked_type(result, node.checked_type)
    return result


def _typed_call(result: Call, source: Expr) -> Call | None:
    """Set the type of a call; None where its operator refuses the arguments."""
    _set_missing_types(result.args[0])
    assert isinstance(result.op, Op)
    type_ = operator_type(result.op, result.attrs, [result.args[0].checked_type])
    if type_ is None:
        return None
    set_checked_type(result, type_)
    set_origin(result, (source,))
    return result


def _set_missing_types(expr: Expr) -> None:
    """Infer the types of expressions that a user built around typed ones."""
    stack = [expr]
    while stack:
        node = stack[-1]
        open_parts = [
            part for part in children(node) if part._checked_type is None and not isinstance(part, Op)
        ]
        if node._checked_type is None and open_parts:
            stack.extend(open_parts)
            continue
        stack.pop()
        if node._checked_type is not None:
            continue
        match node:
            case Call(op=Op() as op):
                set_checked_type(node, operator_type(op, node.attrs, [arg.checked_type for arg in node.args]))
            case Tuple():
                set_checked_type(node, TupleType([field.checked_type for field in node.fields]))
            case TupleGetItem():
                whole = node.tuple_value.checked_type
                set_checked_type(node, whole.fields[node.index] if isinstance(whole, TupleType) else None)
        if node._checked_type is None:
            raise RelayError(
                f"the type of `{str(node)[:200]}`, which a change of layout brought in, cannot be found"
            )


def _laid_type(type_: Type, source: Layout, target: Layout) -> Type | None:
    """Return the type of a tensor after a layout transform."""
    if source == target:
        return type_
    attrs = call("layout_transform", Tuple([]), src_layout=source.name, dst_layout=target.name).attrs
    return operator_type(Op.get("layout_transform"), attrs, [type_])


def _agree(expected: Type | None, actual: Type) -> bool:
    """Whether two types are equal, as far as their dimensions are static."""
    if not isinstance(expected, TensorType) or not isinstance(actual, TensorType):
        return expected is not None and expected == actual
    if expected.dtype != actual.dtype or len(expected.shape) != len(actual.shape):
        return False
    pairs = zip(expected.shape, actual.shape, strict=True)
    return all(a == b or not (isinstance(a, int) and isinstance(b, int)) for a, b in pairs)
