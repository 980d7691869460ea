"""Prints tensor expressions in mathematical notation: `T[i, j] = sum over k of a[i, k] * b[k, j]`."""

from __future__ import annotations

from typing import Any

from ..compose import Composed
from ..require import tvm

MAX_DEPTH = 100  # of nested expressions; deeper ones are abbreviated
_INFIX = {
    "Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "Mod": "%", "FloorDiv": "//", "FloorMod": "%", "EQ": "==",
    "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">=", "And": "and", "Or": "or",
}  # fmt: skip
_RANK = {"or": 0, "and": 1, "==": 2, "!=": 2, "<": 2, "<=": 2, ">": 2, ">=": 2, "+": 3, "-": 3}
_HIGHEST = 5


def expressions(composed: Composed) -> str:
    """Print all expressions of a kernel, one operation per line, under the operators that they belong to."""
    lines: list[str] = []
    before = -1
    for number, text in stages_text(composed):
        if number != before:
            lines += ["", f"# {composed.stages[number].op.name}"] if number >= 0 else [""]
        before = number
        lines.append(text)
    return "\n".join(lines)


def stages_text(composed: Composed) -> list[tuple[int, str]]:
    """Return the lines of a kernel's tensor expressions, each with the index of the call that it belongs to,
    or -1 for the kernel's arguments and for copies.
    """
    lines = [(-1, f"{_declared(t)}  an argument") for t in composed.inputs]
    for number, stage in enumerate(composed.stages):
        lines += [(number, line) for op in stage.ops for line in _operation(op)]
    computed = {op for stage in composed.stages for op in stage.ops}
    copies = [t.op for t in composed.outputs if t.op not in computed]
    return [*lines, *((-1, line) for op in copies for line in _operation(op))]


def _declared(tensor: Any) -> str:
    return f"{tensor.op.name}: {tensor.dtype}[{', '.join(map(str, tensor.shape))}]"


def _operation(op: Any) -> list[str]:
    if not isinstance(op, tvm().te.ComputeOp):
        return [f"{_declared(op.output(0))}, written by loops"]
    index = ", ".join(str(axis.var.name) for axis in op.axis)
    return [f"{op.name}[{index}] = {_text(body, 0)[0]}" for body in op.body]


def expression(node: Any) -> str:
    """Print one expression, of tensors or of buffers."""
    return _text(node, 0)[0]


def _text(node: Any, depth: int) -> tuple[str, int]:
    """Print an expression; return the text and the precedence of its outermost operator."""
    kind = type(node).__name__
    if depth > MAX_DEPTH:
        return "…", _HIGHEST
    if kind in _INFIX:
        sign = _INFIX[kind]
        rank = _RANK.get(sign, 4)
        left, right = _inside(node.a, depth, rank), _inside(node.b, depth, rank + 1)
        return f"{left} {sign} {right}", rank
    if kind in ("IntImm", "FloatImm"):
        return _number(node), _HIGHEST
    if kind == "Var":
        return str(node.name), _HIGHEST
    if kind == "TensorLoad":
        index = ", ".join(_text(i, depth + 1)[0] for i in node.indices)
        return f"{node.source.name}[{index}]", _HIGHEST
    if kind in ("Min", "Max"):
        return _applied(kind.lower(), [node.a, node.b], depth), _HIGHEST
    if kind == "Not":
        return f"not {_inside(node.a, depth, _HIGHEST)}", 1
    if kind == "Cast":
        return _applied(str(node.ty), [node.value], depth), _HIGHEST
    if kind == "Select":
        return _choice(node.condition, node.true_value, node.false_value, depth), 0
    if kind == "Reduce":
        return _reduction(node, depth), 0
    if kind == "Call":
        return _call(node, depth)
    return str(node).partition("\n")[0], 0


def _inside(node: Any, depth: int, rank: int) -> str:
    """Print an operand, in parentheses if its precedence is lower than `rank`."""
    text, own = _text(node, depth + 1)
    return text if own >= rank else f"({text})"


def _number(node: Any) -> str:
    return repr(float(node.value)) if type(node).__name__ == "FloatImm" else str(int(node.value))


def _applied(name: str, args: list[Any], depth: int) -> str:
    return f"{name}({', '.join(_text(arg, depth + 1)[0] for arg in args)})"


def _choice(condition: Any, then: Any, otherwise: Any, depth: int) -> str:
    parts = [_inside(part, depth, 1) for part in (then, condition, otherwise)]
    return f"{parts[0]} if {parts[1]} else {parts[2]}"


def _call(node: Any, depth: int) -> tuple[str, int]:
    name = str(getattr(node.op, "name", node.op)).rpartition(".")[2]
    args = list(node.args)
    if name == "tensor_load":
        index = ", ".join(_text(arg, depth + 1)[0] for arg in args[1:])
        return f"{args[0].op.name}[{index}]", _HIGHEST
    if name == "if_then_else":
        return _choice(args[0], args[1], args[2], depth), 0
    return _applied(name, args, depth), _HIGHEST


_FOLDS = {"Add": "sum", "Mul": "product", "Max": "maximum", "Min": "minimum", "And": "all", "Or": "any"}


def _reduction(node: Any, depth: int) -> str:
    axes = ", ".join(f"{axis.var.name} < {axis.dom.extent}" for axis in node.axis)
    source = node.source[node.value_index]
    results = list(node.combiner.result)
    name = _FOLDS.get(type(results[0]).__name__) if len(results) == 1 else None
    if name is not None:
        return f"{name} over {axes} of {_inside(source, depth, 3)}"
    parts = ", ".join(_text(part, depth + 1)[0] for part in node.source)
    left = ", ".join(v.name for v in node.combiner.lhs)
    right = ", ".join(v.name for v in node.combiner.rhs)
    values = ", ".join(_text(result, depth + 1)[0] for result in results)
    return (
        f"field {node.value_index} of the fold over {axes} of ({parts}) by ({left}), ({right}) -> ({values})"
    )
