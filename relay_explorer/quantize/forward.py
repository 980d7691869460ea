"""Forward rewriting: a phase carries values in a form of its own from the calls that produce them to those
that use them.

Each call is rewritten after its operands. Its rule may return a *temporary* value: an expression together
with what the phase knows about it, such as integers and their scale. Rules of later calls receive the
temporary itself. Every other use, by a call without a rule, a branch, a function's result, realizes it: turns
it into an ordinary expression of the program's own type. Temporaries pass through `let` and through tuples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from ..ir.annotate import set_origin
from ..ir.expr import Call, Expr, Function, Let, Tuple, TupleGetItem, Var
from ..ir.narrow import as_function
from ..ir.op import Op
from ..ir.walk import children, post_order, rebuild


class Temporary:
    """A value in the form that a phase carries, as an expression and more. Subclasses are immutable.

    The expression of a *lazy* value depends on its use, so `let` does not bind it.
    """

    expr: Expr
    lazy: bool = False

    def realize(self) -> Expr:
        """Return the value as an expression of the program's own type."""
        raise NotImplementedError

    def over(self, expr: Expr) -> Temporary:
        """Return the same value with another expression, such as the variable that it is bound to."""
        raise NotImplementedError


class Fields(Temporary):
    """A tuple of values, some of them temporary."""

    def __init__(self, fields: Sequence[Value], origin: Expr) -> None:
        self.fields = tuple(fields)
        self.origin = origin

    def realize(self) -> Expr:
        return set_origin(Tuple([realized(field) for field in self.fields]), (self.origin,))


Value = Expr | Temporary
Rule = Callable[[Call, Sequence[Value]], Value | None]
Shared = Callable[[Value], Value]


def realized(value: Value) -> Expr:
    """Return a value as an ordinary expression."""
    return value if isinstance(value, Expr) else value.realize()


def rewrite_forward(function: Function, rule: Rule, shared: Shared | None = None) -> Function:
    """Rewrite the calls of operators in `function`, operands first.

    `rule(call, operands)` receives the original call and the values of its operands. It returns an expression
    or a temporary, or None: then the call is rebuilt on its realized operands. `shared` maps each value that
    is used more than once, before a rule receives it.
    """
    return as_function(realized(_Forward(rule, shared).run(function)))


class _Forward:
    """One rewriting of one function."""

    def __init__(self, rule: Rule, shared: Shared | None) -> None:
        self.rule = rule
        self.shared = shared
        self.values: dict[Expr, Value] = {}
        self.bound: dict[Var, Expr] = {}  # the values of `let`, before rewriting
        self.renamed: dict[Var, Value] = {}  # temporaries over the variables that hold them
        self.done: dict[int, tuple[Value, Expr]] = {}  # realized temporaries, by identity
        self.uses: Counter[int] = Counter()

    def run(self, root: Expr) -> Value:
        order = post_order(root)
        for node in order:
            if isinstance(node, Let):
                self.bound[node.var] = node.value
            self.uses.update(map(id, _used(node)))
        for node in order:
            value = self.rewritten(node)
            # A new expression has no type; those of the program have one. Operators, which all programs
            # share, have none either.
            if (
                isinstance(value, Expr)
                and value is not node
                and value._checked_type is None
                and not value.origin
            ):
                set_origin(value, (node,))
            self.values[node] = value
        return self.values[root]

    def rewritten(self, node: Expr) -> Value:
        match node:
            case Call(op=Op()):
                return self.call(node)
            case Tuple():
                fields = [self.operand(field) for field in node.fields]
                if any(isinstance(field, Temporary) for field in fields):
                    return Fields(fields, node)
                return rebuild(node, [realized(field) for field in fields])
            case TupleGetItem():
                value = self.operand(node.tuple_value)
                if isinstance(value, Fields):
                    return value.fields[node.index]
                return rebuild(node, [self.as_expr(value)])
            case Let():
                return self.let(node)
        return rebuild(node, [self.part(part) for part in children(node)])

    def call(self, node: Call) -> Value:
        """Apply the rule to a call, or rebuild it."""
        operands = [self.operand(argument) for argument in node.args]
        result = self.rule(node, operands)
        if result is not None:
            return result
        return rebuild(node, [node.op, *[self.as_expr(operand) for operand in operands]])

    def let(self, node: Let) -> Expr:
        """Bind a variable; to the expression of a temporary, where its value is one."""
        held, variable = self.value(node.value), self.variable(node.var)
        if not isinstance(variable, Temporary):
            return rebuild(node, [node.var, self.as_expr(held), self.part(node.body)])
        assert isinstance(held, Temporary)
        if held.lazy:
            return self.part(node.body)
        assert isinstance(variable.expr, Var)
        return set_origin(Let(variable.expr, held.expr, self.part(node.body), node.span), (node,))

    def operand(self, expr: Expr) -> Value:
        """Return the value of an operand, mapped if it has several uses."""
        value = self.value(expr)
        if self.shared is not None and self.uses[id(expr)] > 1:
            return self.shared(value)
        return value

    def value(self, expr: Expr) -> Value:
        """Return the value of an expression that has been rewritten."""
        return self.variable(expr) if isinstance(expr, Var) else self.values[expr]

    def variable(self, var: Var) -> Value:
        """Return the value that a variable stands for: a temporary over it, or the variable itself."""
        if var not in self.renamed:
            source = self.bound.get(var)
            if source not in self.values:  # a parameter, or a closure that refers to itself
                return var
            value = self.value(source)
            if not isinstance(value, Temporary) or isinstance(value, Fields):
                return var
            new = set_origin(Var(var.name_hint, None, var.span), (var,))
            self.renamed[var] = value if value.lazy else value.over(new)
        return self.renamed[var]

    def part(self, expr: Expr) -> Expr:
        """Return a part of an expression, realized."""
        return self.as_expr(self.value(expr))

    def as_expr(self, value: Value) -> Expr:
        """Realize a value; each temporary once."""
        if isinstance(value, Expr):
            return value
        if id(value) not in self.done:
            if isinstance(value, Fields):  # a field may also be used outside the tuple
                fields = [self.as_expr(field) for field in value.fields]
                expr: Expr = set_origin(Tuple(fields), (value.origin,))
            else:
                expr = value.realize()
            self.done[id(value)] = (value, expr)
        return self.done[id(value)][1]


def _used(node: Expr) -> Sequence[Expr]:
    """Return the parts of an expression that are uses: not parameters and bound variables."""
    match node:
        case Function():
            return [node.body]
        case Let():
            return [node.value, node.body]
    return children(node)


def flattened(arguments: Sequence[Expr], operands: Sequence[Value]) -> list[tuple[Expr, Value]]:
    """Pair each argument of a call with its value, the fields of explicit tuples in place of the tuples."""
    flat: list[tuple[Expr, Value]] = []
    for argument, operand in zip(arguments, operands, strict=True):
        if isinstance(argument, Tuple):
            assert isinstance(operand, (Fields, Tuple))
            flat += flattened(argument.fields, operand.fields)
        else:
            flat.append((argument, operand))
    return flat


def rebuilt(call: Call, flat: Sequence[Expr], **changed: object) -> Call:
    """Rebuild a call of an operator on flattened operands, with some attributes changed."""
    rest = list(flat)

    def take(argument: Expr) -> Expr:
        if isinstance(argument, Tuple):
            return Tuple([take(field) for field in argument.fields])
        return rest.pop(0)

    args = tuple([take(argument) for argument in call.args])
    attrs = call.attrs
    if changed:
        assert attrs is not None
        attrs = attrs.replace(**changed)
    return Call.of(call.op, args, attrs, call.type_args, call.span, (call,))
