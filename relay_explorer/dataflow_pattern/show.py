"""Print patterns as the Python expressions that build them. Shared parts are expanded at each use."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.expr import Var
from ..ir.op import Op
from ..ir.trampoline import Steps, run
from .patterns import (
    AltPattern,
    AttrPattern,
    CallPattern,
    ConstantPattern,
    DataTypePattern,
    DFPattern,
    DominatorPattern,
    ExprPattern,
    FunctionPattern,
    IfPattern,
    LetPattern,
    ShapePattern,
    TupleGetItemPattern,
    TuplePattern,
    TypePattern,
    VarPattern,
    WildcardPattern,
)

MAX_LENGTH = 4000  # characters; a pattern with much sharing would be too long to read


def show_pattern(pattern: DFPattern) -> str:
    """Write `pattern` as text, truncated where it is very long. A pattern inside itself is written as `…`."""
    writer = _Writer()
    text = run(writer.show(pattern))
    return text if len(text) <= MAX_LENGTH else text[: MAX_LENGTH - 1] + "…"


class _Writer:
    def __init__(self) -> None:
        self.inside: set[DFPattern] = set()
        self.written = 0

    def show(self, pattern: DFPattern) -> Steps[str]:
        if pattern in self.inside or self.written > MAX_LENGTH:
            return "…"
        self.inside.add(pattern)
        self.written += 8  # the minimum for a pattern; counted before recursing, so that the depth is bounded
        text: str = yield self.kind(pattern)
        self.inside.discard(pattern)
        return text

    def kind(self, p: DFPattern) -> Steps[str]:
        match p:
            case ExprPattern(expr=Op(name=name)):
                return f'is_op("{name}")'
            case ExprPattern():
                inner = p.expr.name_hint if isinstance(p.expr, Var) else " ".join(str(p.expr).split())
                return f"is_expr({inner if len(inner) <= 60 else inner[:59] + '…'})"
            case VarPattern():
                return f'is_var("{p.name}")' if p.name else "is_var()"
            case ConstantPattern():
                return "is_constant()"
            case CallPattern():
                op = yield self.show(p.op)
                args = yield self.several(p.args)
                return f"{op}({args})"
            case FunctionPattern():
                params = yield self.several(p.params)
                body = yield self.show(p.body)
                return f"FunctionPattern({'None' if p.params is None else f'[{params}]'}, {body})"
            case TuplePattern():
                fields = yield self.several(p.fields)
                return f"is_tuple({'None' if p.fields is None else f'[{fields}]'})"
            case TupleGetItemPattern():
                inner = yield self.show(p.tuple)
                return f"is_tuple_get_item({inner}{'' if p.index < 0 else f', {p.index}'})"
            case AltPattern():
                left = yield self.show(p.left)
                right = yield self.show(p.right)
                return f"({left} | {right})"
            case WildcardPattern():
                if p.pattern is None:
                    return "wildcard()"
                standing_for: str = yield self.show(p.pattern)
                return standing_for
        text: str = yield self.rest(p)
        return text

    def rest(self, p: DFPattern) -> Steps[str]:
        match p:
            case AttrPattern():
                inner = yield self.show(p.pattern)
                return f"{inner}.has_attr({dict(p.attrs.items())})"
            case TypePattern():
                inner = yield self.show(p.pattern)
                return f"{inner}.has_type({p.type})"
            case DataTypePattern():
                inner = yield self.show(p.pattern)
                return f'{inner}.has_dtype("{p.dtype}")'
            case ShapePattern():
                inner = yield self.show(p.pattern)
                return f"{inner}.has_shape({p.shape})"
            case DominatorPattern():
                inner = yield self.several((p.parent, p.path, p.child))
                return f"dominates({inner})"
            case IfPattern() | LetPattern():
                inner = yield self.several(p.parts())
                return f"{'is_if' if isinstance(p, IfPattern) else 'is_let'}({inner})"
        return type(p).__name__

    def several(self, patterns: Sequence[DFPattern] | None) -> Steps[str]:
        if patterns is None:
            return "None"
        shown = []
        for pattern in patterns:
            text = yield self.show(pattern)
            shown.append(text)
        return ", ".join(shown)
