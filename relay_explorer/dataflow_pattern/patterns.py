"""Patterns: descriptions of expressions, to be matched against programs.

Patterns are compared by identity, not by structure: one `wildcard()` that occurs twice in a pattern must
match the same expression twice, whereas two wildcards need not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar
from typing import Any as Anything

from ..ir.attrs import Attrs, DictAttrs
from ..ir.expr import Expr
from ..ir.op import Op
from ..ir.types import Type

if TYPE_CHECKING:
    from .matching import NodeMap


class DFPattern:
    """Base of all patterns.

    `p + q`, `p - q`, `p * q` and `p / q` are calls of the operators; `p | q` matches either; `p(q, r)` is a
    call whose callee matches `p`, and `p(None)` one with any arguments.
    """

    __slots__ = ("__weakref__",)
    FIELDS: ClassVar[tuple[str, ...]] = ()

    def parts(self) -> tuple[DFPattern, ...]:
        """Return the patterns that this one consists of, in the order in which they are matched."""
        parts: list[DFPattern] = []
        for name in self.FIELDS:
            value = getattr(self, name)
            if isinstance(value, DFPattern):
                parts.append(value)
            elif isinstance(value, tuple):
                parts += value
        return tuple(parts)

    def __call__(self, *args: DFPattern | None) -> CallPattern:
        return CallPattern(self, None if args == (None,) else args)  # type: ignore[arg-type]  # CallPattern checks

    def __or__(self, other: DFPattern) -> AltPattern:
        return AltPattern(self, other)

    def __add__(self, other: DFPattern) -> CallPattern:
        return _operator("add")(self, other)

    def __sub__(self, other: DFPattern) -> CallPattern:
        return _operator("subtract")(self, other)

    def __mul__(self, other: DFPattern) -> CallPattern:
        return _operator("multiply")(self, other)

    def __truediv__(self, other: DFPattern) -> CallPattern:
        return _operator("divide")(self, other)

    def has_attr(self, attrs: Mapping[str, Anything]) -> AttrPattern:
        """Restrict this pattern to expressions with the attributes: those of an operator (`{"TOpPattern":
        0}`), a call (`{"axis": 1}`) or a function (`{"Composite": "dense_relu"}`).
        """
        return AttrPattern(self, attrs)

    def has_type(self, ttype: Type) -> TypePattern:
        """Restrict this pattern to expressions of the type."""
        return TypePattern(self, ttype)

    def has_dtype(self, dtype: str) -> DataTypePattern:
        """Restrict this pattern to tensors of that element type."""
        return DataTypePattern(self, dtype)

    def has_shape(self, shape: Sequence[Anything]) -> ShapePattern:
        """Restrict this pattern to tensors of that shape."""
        return ShapePattern(self, shape)

    def optional(self, option_constructor: Callable[[Anything], DFPattern]) -> AltPattern:
        """Match this pattern, or the one that `option_constructor` returns for it:
        `p.optional(is_op("nn.relu"))`.
        """
        return self | option_constructor(self)

    def dominates(self, parent: DFPattern, path: DFPattern | None = None) -> DominatorPattern:
        """Match this pattern where every path back from its arguments leads, through expressions that match
        `path` (default: any), to one expression that matches `parent`. See DominatorPattern.
        """
        return DominatorPattern(parent, WildcardPattern() if path is None else path, self)

    def match(self, expr: Expr) -> bool:
        """Return whether `expr` itself, not an expression in it, matches."""
        from .matching import match

        return match(self, expr)

    def rewrite(self, callback: Callable[[Expr, Expr, NodeMap], Expr], expr: Expr) -> Expr:
        """Replace every match in `expr` by the result of `callback(pre, post, node_map)`; see
        DFPatternCallback.
        """
        from .rewriting import DFPatternCallback, rewrite

        class Callback(DFPatternCallback):
            def callback(self, pre: Expr, post: Expr, node_map: NodeMap) -> Expr:
                return callback(pre, post, node_map)

        rule = Callback()
        rule.pattern = self
        return rewrite(rule, expr)

    def partition(
        self,
        expr: Expr,
        attrs: Mapping[str, Anything] | None = None,
        check: Callable[[Expr], bool] = lambda expr: True,
    ) -> Expr:
        """Move every match in `expr` into a function of its own, which is called in its place; see
        `partition`.
        """
        from .partitioning import partition

        return partition(self, expr, attrs, check)

    def astext(self, show_meta_data: bool = True, annotate: object = None) -> str:
        """Return the Python expression that builds this pattern. The arguments are those of TVM's interface
        and have no effect.
        """
        return str(self)

    def __str__(self) -> str:
        from .show import show_pattern

        return show_pattern(self)

    __repr__ = __str__


class ExprPattern(DFPattern):
    """One expression: an operator or variable itself, or any expression that is structurally equal."""

    __slots__ = ("expr",)

    def __init__(self, expr: Expr) -> None:
        if not isinstance(expr, Expr):
            raise TypeError(f"is_expr takes an expression, not a {type(expr).__name__}: relay.const(…), say")
        self.expr = expr


class VarPattern(DFPattern):
    """A local variable; if `name` is not empty, only one of that name."""

    __slots__ = ("name",)

    def __init__(self, name_hint: str = "") -> None:
        self.name = name_hint


class ConstantPattern(DFPattern):
    """A constant."""

    __slots__ = ()


class CallPattern(DFPattern):
    """A call of `op` with `args`; None stands for any number of any arguments.

    `add` and `multiply` also match with their arguments exchanged. A pattern for the quotient of a product
    also matches the product of a quotient, and vice versa: `a * b / c` and `a * (b / c)`.
    """

    __slots__ = ("args", "op")
    FIELDS = ("op", "args")

    def __init__(self, op: DFPattern, args: Sequence[DFPattern] | None) -> None:
        self.op = _pattern(op, "the callee")
        self.args = None if args is None else _patterns(args, "an argument of a call")


class FunctionPattern(DFPattern):
    """A function with the parameters `params`, None for any, and the body `body`."""

    __slots__ = ("body", "params")
    FIELDS = ("params", "body")

    def __init__(self, params: Sequence[DFPattern] | None, body: DFPattern) -> None:
        self.params = None if params is None else _patterns(params, "a parameter of a function")
        self.body = _pattern(body, "the body of a function")


class IfPattern(DFPattern):
    """An `if`."""

    __slots__ = ("cond", "false_branch", "true_branch")
    FIELDS = ("cond", "true_branch", "false_branch")

    def __init__(self, cond: DFPattern, true_branch: DFPattern, false_branch: DFPattern) -> None:
        self.cond = _pattern(cond, "a condition")
        self.true_branch = _pattern(true_branch, "a branch")
        self.false_branch = _pattern(false_branch, "a branch")


class LetPattern(DFPattern):
    """A `let`: its variable, its value and its body."""

    __slots__ = ("body", "value", "var")
    FIELDS = ("var", "value", "body")

    def __init__(self, var: DFPattern, value: DFPattern, body: DFPattern) -> None:
        self.var = _pattern(var, "the variable of a let")
        self.value = _pattern(value, "the value of a let")
        self.body = _pattern(body, "the body of a let")


class TuplePattern(DFPattern):
    """A tuple of `fields`; any tuple if `fields` is None."""

    __slots__ = ("fields",)
    FIELDS = ("fields",)

    def __init__(self, fields: Sequence[DFPattern] | None) -> None:
        self.fields = None if fields is None else _patterns(fields, "a field of a tuple")

    def __getitem__(self, index: int) -> DFPattern:
        return (self.fields or ())[index]

    def __len__(self) -> int:
        return len(self.fields or ())


class TupleGetItemPattern(DFPattern):
    """Field `index` of a tuple that matches `tuple`; -1 means any field."""

    __slots__ = ("index", "tuple")
    FIELDS = ("tuple",)

    def __init__(self, tuple_value: DFPattern, index: int | None = None) -> None:
        self.tuple = _pattern(tuple_value, "a tuple")
        self.index = -1 if index is None else index


class AltPattern(DFPattern):
    """An alternative: `left`, or `right` where `left` does not match."""

    __slots__ = ("left", "right")
    FIELDS = ("left", "right")

    def __init__(self, left: DFPattern, right: DFPattern) -> None:
        self.left = _pattern(left, "the left of |")
        self.right = _pattern(right, "the right of |")


class WildcardPattern(DFPattern):
    """Any expression; after `redirect_to`, those that `pattern` matches."""

    __slots__ = ("pattern",)
    FIELDS = ("pattern",)

    def __init__(self) -> None:
        self.pattern: DFPattern | None = None

    def redirect_to(self, pat: DFPattern) -> None:
        """Redirect this wildcard to `pat`, which may contain it; this defines recursive patterns.

        more = wildcard()
        chain = is_op("nn.relu")(is_var() | more)
        more.redirect_to(chain)            # a variable under any number of relus
        """
        self.pattern = _pattern(pat, "the target of redirect_to")


class TypePattern(DFPattern):
    """Expressions that match `pattern` and have the type `type`."""

    __slots__ = ("pattern", "type")
    FIELDS = ("pattern",)

    def __init__(self, pattern: DFPattern, ttype: Type) -> None:
        if not isinstance(ttype, Type):
            raise TypeError(f"has_type takes a type, as relay.TensorType((1, 3)), not {ttype!r:.60}")
        self.pattern = _pattern(pattern, "the pattern of has_type")
        self.type = ttype


class DataTypePattern(DFPattern):
    """Tensors that match `pattern` and have the element type `dtype`."""

    __slots__ = ("dtype", "pattern")
    FIELDS = ("pattern",)

    def __init__(self, pattern: DFPattern, dtype: str) -> None:
        self.pattern = _pattern(pattern, "the pattern of has_dtype")
        self.dtype = str(dtype)


class ShapePattern(DFPattern):
    """Tensors that match `pattern` and have the shape `shape`."""

    __slots__ = ("pattern", "shape")
    FIELDS = ("pattern",)

    def __init__(self, pattern: DFPattern, shape: Sequence[Anything]) -> None:
        self.pattern = _pattern(pattern, "the pattern of has_shape")
        self.shape = tuple(shape)


class AttrPattern(DFPattern):
    """Operators, calls or functions that match `pattern` and have the attributes `attrs`."""

    __slots__ = ("attrs", "pattern")
    FIELDS = ("pattern",)

    def __init__(self, pattern: DFPattern, attrs: Attrs | Mapping[str, Anything]) -> None:
        if not isinstance(attrs, (Attrs, Mapping)):
            raise TypeError(f"has_attr takes a dict, as {{'axis': 1}}, not {attrs!r:.60}")
        self.pattern = _pattern(pattern, "the pattern of has_attr")
        self.attrs = DictAttrs(dict(attrs.items()))


class DominatorPattern(DFPattern):
    """`child`, where each path back from its arguments leads, through expressions that match `path`, to one
    `parent`, and all uses of that parent lead to the child.

        dominates(is_op("nn.conv2d")(wildcard(), wildcard()), elementwise, is_op("add")(None))

    matches a convolution, a diamond of element-wise operators below it, however wide and deep, and the
    addition where they meet. A path may also end at an expression without arguments that matches `path`.
    """

    __slots__ = ("child", "parent", "path")
    FIELDS = ("child", "parent", "path")

    def __init__(self, parent: DFPattern, path: DFPattern, child: DFPattern) -> None:
        self.parent = _pattern(parent, "a parent")
        self.path = _pattern(path, "a path")
        self.child = _pattern(child, "a child")


def _operator(name: str) -> ExprPattern:
    return ExprPattern(Op.get(name))


def _pattern(value: object, place: str) -> Anything:
    if isinstance(value, DFPattern):
        return value
    if isinstance(value, Expr):
        raise TypeError(f"{place} must be a pattern, but this is an expression: write is_expr({value!s:.40})")
    if isinstance(value, (bool, int, float)):
        raise TypeError(
            f"{place} must be a pattern, but this is a number: write is_expr(relay.const({value}))"
        )
    raise TypeError(f"{place} must be a pattern, as wildcard(), not a {type(value).__name__}")


def _patterns(values: object, place: str) -> tuple[DFPattern, ...]:
    if not isinstance(values, (tuple, list)):
        raise TypeError(f"{place}: a list of patterns is needed, or None for any, not {values!r:.40}")
    return tuple([_pattern(value, place) for value in values])


def pattern_order(pattern: DFPattern) -> list[DFPattern]:
    """Return `pattern` and all patterns that it contains in post-order, each once. The traversal also
    terminates for redirected wildcards, which may form cycles.
    """
    done: list[DFPattern] = []
    visited = {pattern}
    stack = [(pattern, iter(pattern.parts()))]
    while stack:
        current, rest = stack[-1]
        for part in rest:
            if part not in visited:
                visited.add(part)
                stack.append((part, iter(part.parts())))
                break
        else:
            done.append(current)
            stack.pop()
    return done
